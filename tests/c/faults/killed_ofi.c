// A rank that dies by a signal is said to have died by it, also if libfabric is open: some of its
// providers handle signals, and end the process with status 1. The program's own handler stays.
// only: catena
// waits: for a provider that notices an end late
// needs: libfabric.so.1
// run: -n 2 --set LINK=ofi:tcp -- SIGSEGV ; fails ; says (?i)rank 1\b.*(SIGSEGV|signal 11|segmentation) ; never says exited with code
// run: -n 2 --set LINK=ofi:tcp -- SIGABRT ; fails ; says (?i)rank 1\b.*(SIGABRT|signal 6|abort) ; never says exited with code
// run: -n 2 --set LINK=ofi:tcp -- handled ; says 'rank 1 has handled it'
#include "../check.h"
#include <signal.h>

static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled = signal;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    struct sigaction own = {.sa_handler = handle};
    sigaction(SIGTERM, &own, NULL);
    start(&argc, &argv);
    /* Over the network, which is open then. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && !strcmp(how, "SIGSEGV"))
        *(volatile int *)NULL = 1;
    if (rank == 1 && !strcmp(how, "SIGABRT"))
        abort();
    if (rank == 1) {
        raise(SIGTERM);
        CHECK(handled == SIGTERM);
        printf("rank 1 has handled it\n");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
