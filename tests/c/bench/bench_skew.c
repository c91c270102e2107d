// A library whose barrier lets rank 1 go BENCH_SKEW ns later than it could, all else the same. For scripts/testing/test-bench.
// build: shared
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int MPI_Barrier(MPI_Comm comm)
{
    static double skew = -1;
    int rank, result = PMPI_Barrier(comm);
    if (skew < 0)
        skew = getenv("BENCH_SKEW") ? atof(getenv("BENCH_SKEW")) : 0;
    MPI_Comm_rank(comm, &rank);
    for (double begin = now(); rank == 1 && now() < begin + skew;)
        ;
    return result;
}
