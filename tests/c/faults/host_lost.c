// A host whose network goes away while its rank is waited for: the wait ends in an error that
// names the host. The arguments say how rank 0 waits, and whether the two have met before. A host
// whose rank is only busy is waited for.
// only: catena
// waits: for time limits of a network
// hosts: 2
// time: 60
// needs: libfabric.so.1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- recv; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- recv met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- any; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- test; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- probe; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- iprobe met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- send met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- stream met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- barrier met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set TCP_TIMEOUT=2s -- full met; exit 7; says on host h1; says 'after ([6-9]|1[0-4])\.'
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp --set TCP_TIMEOUT=2s -- recv; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp --set TCP_TIMEOUT=2s -- recv met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp --set TCP_TIMEOUT=2s -- send met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp --set TCP_TIMEOUT=2s -- stream met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp --set TCP_TIMEOUT=1s -- busy; exit 7; says after [\d.]+ s: $
//
// variant: host_lost_ucx --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp
// UCX does not notice a loss by itself while something is under way.
// only: catena
// waits: for time limits of a network
// hosts: 2
// time: 60
// needs: libucp.so.0
// run: --set TCP_TIMEOUT=2s -- recv; exit 7; says on host h1
// run: --set TCP_TIMEOUT=2s -- send; exit 7; says on host h1
// run: --set TCP_TIMEOUT=2s -- any met; exit 7; says on host h1
// run: --set TCP_TIMEOUT=2s -- probe met; exit 7; says on host h1
// run: --set TCP_TIMEOUT=2s -- stream met; exit 7; says on host h1
// run: --set TCP_TIMEOUT=2s -- barrier met; exit 7; says on host h1
// run: --set TCP_TIMEOUT=1s -- busy met; exit 7; says after [\d.]+ s: $
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const char *how = argv[1];
    static char out[1 << 24];
    int in = 0, done = 0, error = MPI_SUCCESS;
    if (argc > 2)
        MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &in, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    if (rank == 1 && !strcmp(how, "busy")) {
        sleep(5);
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        pause();
    }
    if (rank == 1 && !strcmp(how, "full"))
        sleep(6); /* Its window is full all the while, and its host answers. */
    if (rank == 1) {
        CHECK(system("ip link set eth0 down") == 0);
        pause();
    }
    double begin = MPI_Wtime();
    if (!strcmp(how, "send")) {
        error = MPI_Send(out, sizeof out, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (!strcmp(how, "stream") || !strcmp(how, "full")) {
        while (error == MPI_SUCCESS)
            error = MPI_Send(out, 1 << 16, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (!strcmp(how, "barrier")) {
        error = MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(how, "any")) {
        error = MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "probe")) {
        error = MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "iprobe")) {
        while (!done && error == MPI_SUCCESS)
            error = MPI_Iprobe(1, 0, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "test")) {
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        while (!done && error == MPI_SUCCESS)
            error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    } else {
        error = MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (!strcmp(how, "busy")) {
        EQUAL(error, MPI_SUCCESS);
    } else {
        EQUAL(class_of(error), MPI_ERR_PROC_ABORTED);
        MPI_Error_string(error, text, &length);
    }
    printf("after %.1f s: %s\n", MPI_Wtime() - begin, text);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 7);
}
