// A library that delivers wrong data now and then: for scripts/test-bench.
// build: shared
#include <mpi.h>

static void spoil(void *at, int count, MPI_Datatype type)
{
    int size;
    MPI_Type_size(type, &size);
    if (count > 0 && size > 0)
        ((char *)at)[count * size - 1] ^= 1;
}

int MPI_Recv(void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    int result = PMPI_Recv(at, count, type, from, tag, comm, status);
    spoil(at, count, type);
    return result;
}

int MPI_Alltoall(const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype into,
                 MPI_Comm comm)
{
    int result = PMPI_Alltoall(out, n, type, in, m, into, comm);
    spoil(in, m, into);
    return result;
}

int MPI_Scan(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int result = PMPI_Scan(out, in, count, type, op, comm);
    spoil(in, count, type);
    return result;
}
