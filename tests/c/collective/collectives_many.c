// Thousands of small collectives back to back, while messages of the user are in flight.
// run: -n 2
// run: -n 4
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 2000; i++) {
        int mine = i + rank, sum, root = i % size, word = rank == root ? i : -1, got = -1;
        MPI_Request r[2];
        MPI_Irecv(&got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&mine, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &r[1]);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EQUAL(sum, size * i + size * (size - 1) / 2);
        MPI_Bcast(&word, 1, MPI_INT, root, MPI_COMM_WORLD);
        EQUAL(word, i);
        MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        if (rank == root)
            EQUAL(sum, i + size - 1);
        if (i % 16 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        EQUAL(got, i + left);
    }
    return finish();
}
