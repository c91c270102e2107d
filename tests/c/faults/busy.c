// A rank that computes for longer than a host may be silent is sent to all the while: its kernel answers that there is no
// room, so nobody has died. The arguments are how many messages there are, and of how many bytes.
// only: catena
// waits: for a rank that computes
// hosts: 2
// time: 30
// run: -n 2 --set LINK=tcp --set TCP_TIMEOUT=1s -- 300 1000
// run: -n 2 --set LINK=tcp --set TCP_TIMEOUT=1s -- 1 65536
// run: -n 2 --set LINK=tcp --set TCP_TIMEOUT=1s -- 100 60000
// run: -n 2 --set LINK=tcp --set TCP_TIMEOUT=1s -- 40 60000 stopped
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=1s -- 300 60000
#include "../check.h"
#include <signal.h>
#include <sys/wait.h>

enum { SECONDS = 4 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int count = atoi(argv[1]), length = atoi(argv[2]), peer = getpid();
    char *bytes = malloc(length);
    /* They have met. */
    MPI_Sendrecv_replace(&peer, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        MPI_Request *requests = malloc(count * sizeof *requests);
        memset(bytes, 5, length);
        for (int at = 0; at < count; at++)
            MPI_Isend(bytes, length, MPI_CHAR, 1, at, MPI_COMM_WORLD, &requests[at]);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        free(requests);
    } else {
        int child = argc > 3 ? fork() : -1;
        if (child == 0) {
            kill(getppid(), SIGSTOP);
            sleep(SECONDS);
            kill(getppid(), SIGCONT);
            _exit(0);
        }
        double end = MPI_Wtime() + SECONDS;
        while (MPI_Wtime() < end)
            ;
        if (child > 0)
            waitpid(child, NULL, 0);
        for (int at = 0; at < count; at++) {
            memset(bytes, 0, length);
            MPI_Recv(bytes, length, MPI_CHAR, 0, at, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(bytes[0], 5);
            EQUAL(bytes[length - 1], 5);
        }
    }
    free(bytes);
    return finish();
}
