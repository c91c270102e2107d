/* A number travels round a ring of ranks, and each adds its own rank to it.
 *
 *     mpicc ring.c -o ring
 *     mpirun -n 4 ./ring 1000
 *
 * The argument is how often the number goes round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = argc > 1 ? atoi(argv[1]) : 1, left = (rank + size - 1) % size, right = (rank + 1) % size;
    long number = 0;
    double begin = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        /* Rank 0 starts each round, and gets the number back from the last rank. */
        if (rank > 0)
            MPI_Recv(&number, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        number += rank;
        if (size > 1)
            MPI_Send(&number, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
        if (rank == 0 && size > 1)
            MPI_Recv(&number, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        long expected = (long)rounds * size * (size - 1) / 2;
        printf("%d ranks, %d %s: the number is %ld, which is %s\n", size, rounds, rounds == 1 ? "round" : "rounds",
               number, number == expected ? "right" : "wrong");
        if (rounds >= 1000)
            printf("%.2f us from one rank to the next\n", (MPI_Wtime() - begin) * 1e6 / rounds / size);
    }
    MPI_Finalize();
    return 0;
}
