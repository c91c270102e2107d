// A rank killed in the middle of its work: the job ends at once, says who, and leaves nothing.
// run: -n 4 -- send ; fails ; says (?i)rank 1\b.*(SIGKILL|signal 9|killed) ; ends 1.0
// run: -n 4 -- receive ; fails ; says (?i)rank 1\b.*(SIGKILL|signal 9|killed) ; ends 1.0
// run: -n 4 -- rendezvous ; fails ; says (?i)rank 1\b.*(SIGKILL|signal 9|killed) ; ends 1.0
// run: -n 4 -- told ; fails ; says (?i)rank 1\b.*(SIGKILL|signal 9|killed) ; ends 1.0
// run: -n 4 -- collective ; fails ; says (?i)rank 1\b.*(SIGKILL|signal 9|killed) ; ends 1.0
// run: -n 4 -- barrier ; fails ; says (?i)rank 1\b.*(SIGKILL|signal 9|killed) ; ends 1.0
// run: -n 4 -- compute ; fails ; says (?i)rank 1\b.*(SIGKILL|signal 9|killed) ; ends 1.0
// run: -n 16 -- barrier ; fails ; says (?i)rank 1\b.*(SIGKILL|signal 9|killed) ; ends 1.0
// run: -n 4 -- segfault ; fails ; says (?i)rank 1\b.*(SIGSEGV|signal 11|segmentation) ; ends 1.0
// run: -n 4 -- exit ; exit 7 ; says (?i)rank 1\b.*\b7\b ; ends 1.0
// only: catena
#include "../check.h"
#include <signal.h>

/* The time of death, for the test runner: it must be the last thing this rank says. */
static void die(const char *how)
{
    printf("dies at %.6f\n", now());
    fflush(stdout);
    if (!strcmp(how, "segfault"))
        raise(SIGSEGV);
    if (!strcmp(how, "exit"))
        _exit(7);
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    enum { BIG = 8 << 20 };
    char *buf = calloc(1, BIG);
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "told")) {
        /* Rank 0 tells of an end that the launcher may not have seen yet. */
        if (rank == 0) {
            printf("dies at %.6f\n", now());
            fflush(stdout);
            kill(pid, SIGKILL);
            MPI_Abort(MPI_COMM_WORLD, MPI_ERR_PROC_ABORTED);
        }
    } else if (rank == 1) {
        if (!strcmp(what, "rendezvous")) {
            /* Announced, never finished: the receiver waits for bytes that cannot come. */
            MPI_Request r[3];
            for (int i = 0, k = 0; i < 4; i++)
                if (i != 1)
                    MPI_Isend(buf, BIG, MPI_BYTE, i, 0, MPI_COMM_WORLD, &r[k++]);
        }
        die(what);
    }
    for (;;) {
        if (!strcmp(what, "send"))
            MPI_Send(buf, BIG, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else if (!strcmp(what, "collective"))
            MPI_Allreduce(MPI_IN_PLACE, buf, BIG / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        else if (!strcmp(what, "barrier"))
            MPI_Barrier(MPI_COMM_WORLD);
        else if (!strcmp(what, "compute"))
            for (volatile long i = 0; i < 1000000000; i++)
                ;
        else
            MPI_Recv(buf, BIG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
