// Cancel: an unmatched receive always, a matched one never; and requests set free.
// run: -n 2
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int data = 7, flag;
    MPI_Request r;
    MPI_Status s;

    MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 1234, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
    CHECK(r == MPI_REQUEST_NULL);

    /* A receive that matched is not cancelled. */
    if (rank == 0)
        MPI_Send(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    if (rank == 1) {
        data = 0;
        MPI_Irecv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r);
        do
            MPI_Request_get_status(r, &flag, &s);
        while (!flag);
        MPI_Cancel(&r);
        MPI_Wait(&r, &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(!flag);
        EQUAL(data, 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    /* A request set free completes by itself. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int out = 41;
        MPI_Isend(&out, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
        CHECK(r == MPI_REQUEST_NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        if (rank == 1) {
            MPI_Recv(&data, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &s);
            EQUAL(data, 41);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish();
}
