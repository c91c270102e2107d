// Deaths on other hosts: of a rank, and of a host's daemon, which takes its ranks along. Those that are left go on.
//
// only: catena
// hosts: 3
// time: 60
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- rank 1; exit 137; says 'survivor 0 done'; says 'survivor 1 done'; says 'survivor 2 done'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- daemon 2; exit 1; says 'host h1 is lost'; says 'survivor 0 done'; says 'survivor 1 done'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first --set LINK=ofi:tcp -- daemon 2; exit 1; says 'survivor 0 done'; says 'survivor 1 done'
// run: -n 3 --host h0:1,h1:1,h2:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- daemon 1; exit 1; says 'host h2 is lost'; says 'survivor 0 done'; says 'survivor 1 done'
// run: -n 3 --host h0:1,h1:1,h2:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- again 1; exit 1; says 'survivor 0 done'; says 'child done'
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>

/* The last rank dies, or its host's daemon does, as `how` says. */
static void die(const char *how)
{
    if (!strcmp(how, "rank"))
        raise(SIGKILL);
    kill(getppid(), SIGKILL);
    for (;;)
        pause();
}

/* Those that are left spawn a process on the host that was lost. */
static void start_again(MPI_Comm left, char *program)
{
    MPI_Comm child;
    MPI_Info info;
    int word = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "host", "h2");
    CHECK(MPI_Comm_spawn(program, (char *[]){"child", NULL}, 1, info, 0, left, &child, MPI_ERRCODES_IGNORE)
        == MPI_SUCCESS);
    MPI_Info_free(&info);
    if (rank == 0)
        CHECK(MPI_Recv(&word, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE) == MPI_SUCCESS && word == 5);
    CHECK(MPI_Comm_disconnect(&child) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (!strcmp(argv[1], "child")) {
        MPI_Comm parent;
        int word = 5;
        MPI_Comm_get_parent(&parent);
        MPI_Send(&word, 1, MPI_INT, 0, 1, parent);
        MPI_Comm_disconnect(&parent);
        printf("child done\n");
        fflush(stdout);
        MPI_Finalize();
        return 0;
    }
    const char *how = argv[1];
    int dead = atoi(argv[2]), got = 0, n, flag;
    MPI_Comm left;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        die(how);
    if (rank >= size - dead)
        for (;;)
            pause();
    CHECK(MPI_Recv(&got, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPIX_ERR_PROC_FAILED);
    flag = ~(1 << rank);
    CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPIX_ERR_PROC_FAILED);
    EQUAL(flag, ~((1 << (size - dead)) - 1));
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &left) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    MPI_Comm_size(left, &n);
    EQUAL(n, size - dead);
    CHECK(MPI_Barrier(left) == MPI_SUCCESS);
    if (!strcmp(how, "again"))
        start_again(left, argv[0]);
    printf("survivor %d done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
