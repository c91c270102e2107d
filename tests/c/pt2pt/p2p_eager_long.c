// The longest eager messages, many of them: the ways in which they travel change on the way.
// run: -n 2
#include "../check.h"

enum { N = 65536, ROUNDS = 1500, WINDOW = 8 };

static unsigned char out[N], in[WINDOW][N];

static void send(int seed)
{
    fill(out, N, seed);
    MPI_Send(out, N, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
}

static void receive(int seed)
{
    MPI_Recv(in[0], N, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(wrong_at(in[0], N, seed), N);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int i = 0; i < ROUNDS && rank < 2; i++) {
        /* A receive waits. */
        if (rank == 0)
            send(3 * i);
        receive(3 * i);
        if (rank == 1)
            send(3 * i);
        /* None waits, as both send first. */
        MPI_Request sending;
        fill(out, N, 3 * i + 1 + rank);
        MPI_Isend(out, N, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &sending);
        receive(3 * i + 2 - rank);
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    }
    /* Some wait. */
    for (int i = 0; i < ROUNDS / WINDOW && rank < 2; i++) {
        MPI_Request requests[2 * WINDOW];
        for (int k = 0; k < WINDOW; k++)
            MPI_Irecv(in[k], N, MPI_BYTE, 1 - rank, k, MPI_COMM_WORLD, &requests[k]);
        fill(out, N, i);
        for (int k = 0; k < WINDOW; k++)
            MPI_Isend(out, N, MPI_BYTE, 1 - rank, k, MPI_COMM_WORLD, &requests[WINDOW + k]);
        MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < WINDOW; k++)
            EQUAL(wrong_at(in[k], N, i), N);
    }
    return finish();
}
