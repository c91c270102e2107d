// What arrives for a communicator that its receiver has freed reaches no later one, and whoever takes such a
// send back is told.
// run: -n 2
// run: --set LINK=tcp -n 2
// only: catena
#include "../check.h"

enum { ROUNDS = 2500, LONG = 100000 };

static char room[LONG];

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        MPI_Request r[2];
        MPI_Status s;
        int got = -1, gone;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == 1) {
            /* The first message of this communicator, and not one of an earlier one. */
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
            EQUAL(got, round);
            EQUAL(s.MPI_TAG, 1);
            MPI_Comm_free(&comm);
            continue;
        }
        MPI_Send(&round, 1, MPI_INT, 1, 1, comm);
        MPI_Issend(&round, 1, MPI_INT, 1, 2, comm, &r[0]);
        MPI_Isend(room, LONG, MPI_CHAR, 1, 3, comm, &r[1]);
        for (int i = 0; i < 2; i++)
            MPI_Cancel(&r[i]);
        MPI_Comm_free(&comm);
        for (int i = 0; i < 2; i++) {
            MPI_Wait(&r[i], &s);
            MPI_Test_cancelled(&s, &gone);
            CHECK(gone);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
