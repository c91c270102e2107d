// The network between hosts goes away, although mpirun reaches all of them: those who wait for the lost find out, and
// mpirun says for all who is dead. Ranks that did not wait for anybody learn it, too, and those that are given up end.
// The arguments are the rank whose host is cut off, and how many ranks are left.
//
// only: catena
// waits: for time limits of a network
// hosts: 3
// time: 60
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first --set TCP_TIMEOUT=2s -- 2 2; exit 1; says 'host h1 is lost.*host h0 do not reach each other'; says 'survivor 0 done'; says 'survivor 1 done'; never says 'survivor 2'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first --set TCP_TIMEOUT=2s -- 2 2; exit 1; says 'host h1 is lost'; says 'survivor 0 done'; says 'survivor 1 done'
// run: -n 3 --host h0:1,h1:1,h2:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first --set TCP_TIMEOUT=2s -- 1 2; exit 1; says 'host h1 is lost'; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --host h0:1,h1:1,h2:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first --set TCP_TIMEOUT=2s -- 0 2; exit 1; says 'host h0 is lost'; says 'survivor 1 done'; says 'survivor 2 done'
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp --set TCP_TIMEOUT=2s -- 2 2; exit 1; says 'host h1 is lost'; says 'survivor 0 done'; says 'survivor 1 done'
#include "../check.h"
#include <mpi-ext.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int cut_off = atoi(argv[1]), left = atoi(argv[2]), got = 0, n;
    MPI_Comm survivors;
    MPI_Group failed;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == cut_off)
        CHECK(system("ip link set eth0 down") == 0);
    /* On the host that is cut off another rank waits as well. */
    if (rank == cut_off || rank > 2) {
        MPI_Recv(&got, 1, MPI_INT, cut_off ? 0 : 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (;;)
            pause();
    }
    if (rank == 1 && left == 2 && cut_off == 2) {
        /* It waits for nobody. */
        do {
            CHECK(MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed) == MPI_SUCCESS);
            MPI_Group_size(failed, &n);
            MPI_Group_free(&failed);
        } while (n == 0);
    } else {
        EQUAL(class_of(MPI_Recv(&got, 1, MPI_INT, cut_off, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
            MPIX_ERR_PROC_FAILED);
    }
    EQUAL(class_of(MPI_Barrier(MPI_COMM_WORLD)), MPIX_ERR_PROC_FAILED);
    CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors) == MPI_SUCCESS);
    MPI_Comm_size(survivors, &n);
    EQUAL(n, left);
    CHECK(MPI_Barrier(survivors) == MPI_SUCCESS);
    MPI_Comm_free(&survivors);
    printf("survivor %d done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
