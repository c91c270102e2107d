// A library that takes longer: allreduce by so many nanoseconds (BENCH_DELAY). For scripts/measure/test-verdicts.
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

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static double delay = -1;
    if (delay < 0)
        delay = getenv("BENCH_DELAY") ? atof(getenv("BENCH_DELAY")) : 0;
    int result = PMPI_Allreduce(in, out, n, type, op, comm);
    for (double begin = now(); delay > 0 && now() < begin + delay;)
        ;
    return result;
}
