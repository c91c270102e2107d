// More ranks than cores: a ring, an all-to-all of messages, collectives. Must not crawl.
// run: -n 16
// time: 30
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int lap = 0; lap < 50; lap++) {
        int token = lap;
        if (rank == 0)
            MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(token, lap);
        if (rank)
            MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    }
    static int in[64][4000], out[4000];
    MPI_Request r[128];
    for (int n = 1; n <= 4000; n = n * 8) {
        for (int i = 0; i < n; i++)
            out[i] = rank + i;
        for (int i = 0; i < size; i++)
            MPI_Irecv(in[i], n, MPI_INT, i, n, MPI_COMM_WORLD, &r[i]);
        for (int i = 0; i < size; i++)
            MPI_Isend(out, n, MPI_INT, i, n, MPI_COMM_WORLD, &r[size + i]);
        MPI_Waitall(2 * size, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < size; i++)
            EQUAL(in[i][n - 1], i + n - 1);
    }
    for (int i = 0; i < 500; i++) {
        int sum, one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EQUAL(sum, size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish();
}
