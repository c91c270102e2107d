// A library in whose 1000th allreduce rank 1 is stopped for 30 ms. For scripts/testing/test-bench.
// build: shared
#include <mpi.h>
#include <unistd.h>

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static int calls;
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (++calls == 1000 && rank == 1)
        usleep(30000);
    return PMPI_Allreduce(in, out, n, type, op, comm);
}
