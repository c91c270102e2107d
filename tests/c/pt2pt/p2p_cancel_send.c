// A cancelled send completes with nobody's help: it is gone, or it is received, never both.
// MPICH 5.0.2 never completes it.
// run: -n 2
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int data = 7, flag;
    MPI_Request r;
    MPI_Status s;
    /* A synchronous send: either it is cancelled and nobody gets it, or it is received. */
    if (rank == 0) {
        int gone;
        MPI_Issend(&data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        MPI_Send(NULL, 0, MPI_INT, 1, 4, MPI_COMM_WORLD);
        MPI_Wait(&r, &s);
        MPI_Test_cancelled(&s, &gone);
        MPI_Send(&gone, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        int gone;
        MPI_Recv(NULL, 0, MPI_INT, 0, 4, MPI_COMM_WORLD, &s);
        MPI_Recv(&gone, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &s);
        MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, &s);
        EQUAL(flag, !gone);
        if (!gone)
            MPI_Recv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &s);
    }
    return finish();
}
