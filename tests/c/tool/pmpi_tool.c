// build: shared
// A profiling tool: counts the program's MPI_Send calls and tells at the end.
#include <mpi.h>
#include <stdio.h>

static int sends;
static long long bytes;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    int size;
    PMPI_Type_size(type, &size);
    sends++;
    bytes += (long long)count * size;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("tool: rank %d sent %d messages, %lld bytes\n", rank, sends, bytes);
    return PMPI_Finalize();
}
