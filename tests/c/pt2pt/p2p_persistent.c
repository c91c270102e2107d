// Persistent requests of every mode: started often, waited for, freed.
// run: -n 2
// run: -n 4
#include "../check.h"

enum { N = 2500 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    static int out[4][N], in[4][N];
    MPI_Request r[8];
    int room = 4 * (N * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void *buffer = malloc(room);
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(in[i], N, MPI_INT, left, i, MPI_COMM_WORLD, &r[i]);
    MPI_Send_init(out[0], N, MPI_INT, right, 0, MPI_COMM_WORLD, &r[4]);
    MPI_Ssend_init(out[1], N, MPI_INT, right, 1, MPI_COMM_WORLD, &r[5]);
    MPI_Bsend_init(out[2], N, MPI_INT, right, 2, MPI_COMM_WORLD, &r[6]);
    MPI_Rsend_init(out[3], N, MPI_INT, right, 3, MPI_COMM_WORLD, &r[7]);

    /* An inactive persistent request is complete with an empty status. */
    MPI_Status s;
    int flag = 0;
    MPI_Test(&r[0], &flag, &s);
    CHECK(flag);
    EQUAL(s.MPI_SOURCE, MPI_ANY_SOURCE);
    EQUAL(s.MPI_TAG, MPI_ANY_TAG);

    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < N; k++)
                out[i][k] = rank * 1000000 + round * 10000 + i * 3000 + k;
        MPI_Startall(4, r);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 4; i < 8; i++)
            MPI_Start(&r[i]);
        MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 8; i++)
            CHECK(r[i] != MPI_REQUEST_NULL);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < N; k++)
                EQUAL(in[i][k], left * 1000000 + round * 10000 + i * 3000 + k);
    }
    for (int i = 0; i < 8; i++) {
        MPI_Request_free(&r[i]);
        CHECK(r[i] == MPI_REQUEST_NULL);
    }
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
    return finish();
}
