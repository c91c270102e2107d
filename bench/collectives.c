/* The blocking collectives, over and over. Roots are rank 0, reductions sum doubles. */
#include "bench.h"

#include <mpi.h>

enum { MOST_RANKS = 256 };

#define WORLD MPI_COMM_WORLD
#define REPEAT for (int i = 0; i < rounds; i++)

/* Equal blocks of `n`, for the forms that take arrays. */
static int counts[MOST_RANKS], displs[MOST_RANKS];

static void cut(int n)
{
    for (int r = 0; r < size; r++) {
        counts[r] = n;
        displs[r] = r * n;
    }
}

void barrier(int n, int rounds)
{
    (void)n;
    REPEAT MPI_Barrier(WORLD);
}

void bcast(int n, int rounds) { REPEAT MPI_Bcast(out, n, MPI_BYTE, 0, WORLD); }

void reduce(int n, int rounds)
{
    REPEAT MPI_Reduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, 0, WORLD);
}

void allreduce(int n, int rounds)
{
    REPEAT MPI_Allreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, WORLD);
}

void reduce_scatter(int n, int rounds)
{
    cut(n / 8);
    REPEAT MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, WORLD);
}

void reduce_scatter_block(int n, int rounds)
{
    REPEAT MPI_Reduce_scatter_block(out, in, n / 8, MPI_DOUBLE, MPI_SUM, WORLD);
}

void scan(int n, int rounds)
{
    REPEAT MPI_Scan(out, in, n / 8, MPI_DOUBLE, MPI_SUM, WORLD);
}

void exscan(int n, int rounds)
{
    REPEAT MPI_Exscan(out, in, n / 8, MPI_DOUBLE, MPI_SUM, WORLD);
}

void gather(int n, int rounds)
{
    REPEAT MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, WORLD);
}

void gatherv(int n, int rounds)
{
    cut(n);
    REPEAT MPI_Gatherv(out, n, MPI_BYTE, in, counts, displs, MPI_BYTE, 0, WORLD);
}

void scatter(int n, int rounds)
{
    REPEAT MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, WORLD);
}

void scatterv(int n, int rounds)
{
    cut(n);
    REPEAT MPI_Scatterv(out, counts, displs, MPI_BYTE, in, n, MPI_BYTE, 0, WORLD);
}

void allgather(int n, int rounds)
{
    REPEAT MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, WORLD);
}

void allgatherv(int n, int rounds)
{
    cut(n);
    REPEAT MPI_Allgatherv(out, n, MPI_BYTE, in, counts, displs, MPI_BYTE, WORLD);
}

void alltoall(int n, int rounds)
{
    REPEAT MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, WORLD);
}

void alltoallv(int n, int rounds)
{
    cut(n);
    REPEAT MPI_Alltoallv(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, WORLD);
}
