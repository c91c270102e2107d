// The memory of a receive that has failed is the program's again: nothing is written there any more, though the network still
// has some of the message when its sender is given up, and is there again later.
//
// only: catena
// waits: for time limits of a network
// hosts: 2
// time: 60
// needs: libfabric.so.1
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first --set LINK=ofi:tcp --set TCP_TIMEOUT=1s; exit 1; says 'nothing was written'
#include "../check.h"
#include <mpi-ext.h>

enum { LENGTH = 64 << 20 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    unsigned char *data = calloc(LENGTH, 1);
    MPI_Request request;
    int flag, ready = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
        memset(data, 7, LENGTH);
        MPI_Send(data, LENGTH, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        MPI_Recv(&ready, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        /* It is given up, which it may know before the launcher has ended it. */
        for (;;)
            pause();
    }
    if (rank == 1) {
        MPI_Recv(&ready, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(ready, 1);
        MPI_Finalize();
        return 0;
    }
    MPI_Irecv(data, LENGTH, MPI_BYTE, 2, 2, MPI_COMM_WORLD, &request);
    /* As soon as some of it is there. */
    for (flag = 0; !((volatile unsigned char *)data)[0];)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag && system("ip link set eth0 down") == 0);
    EQUAL(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPIX_ERR_PROC_FAILED);
    memset(data, 1, LENGTH);
    CHECK(system("ip link set eth0 up") == 0);
    for (double end = now() + 3; now() < end;)
        MPI_Iprobe(0, 4, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    for (int at = 0; at < LENGTH; at++)
        EQUAL(data[at], 1);
    printf("nothing was written\n");
    ready = 1;
    MPI_Send(&ready, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
