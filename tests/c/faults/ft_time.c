// How long it takes until a receive that waits ends with an error, from the death of the rank it waits for on. The last
// rank says that it goes, and does: as a rank, with its host's daemon, or with the network of its host.
// scripts/measure/death-times repeats this and shows it next to other libraries, so what is here needs the standard alone.
//
// only: catena
// hosts: 2
// time: 60
// run: -n 2 --with-ft ulfm --set FAULT_STATUS=first -- rank; exit 137; says '^death [0-9.]+ ms$'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- rank; exit 137; says '^death [0-9.]+ ms$'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- rank; exit 137; says '^death [0-9.]+ ms$'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- daemon; exit 1; says '^death [0-9.]+ ms$'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first --set TCP_TIMEOUT=2s -- network; exit 1; says '^death [0-9.]+ ms$'
#include "../check.h"
#include <signal.h>

static void die(const char *how)
{
    if (!strcmp(how, "rank"))
        raise(SIGKILL);
    else if (!strcmp(how, "daemon"))
        kill(getppid(), SIGKILL);
    else
        CHECK(system("ip link set eth0 down") == 0);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    int word = 0;
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    int last = size - 1;
    if (rank == last) {
        MPI_Ssend(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        die(argv[1]);
    }
    if (rank == 0)
        CHECK(MPI_Recv(&word, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    double begin = now();
    int failed = MPI_Recv(&word, 1, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double took = (now() - begin) * 1e3;
    CHECK(failed != MPI_SUCCESS);
    if (rank == 0) {
        printf("death %.3f ms\n", took);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
