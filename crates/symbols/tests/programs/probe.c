/* Stands for MPI: tells the addresses that its calls return to, and waits. */
#include <execinfo.h>
#include <stdio.h>
#include <unistd.h>

static int barrier(int comm)
{
    void *frames[32];
    char byte;
    int count = backtrace(frames, 32);
    for (int i = 0; i < count; i++)
        printf("%p%c", frames[i], i + 1 < count ? ' ' : '\n');
    fflush(stdout);
    return (int)read(0, &byte, 1) + comm;
}

int MPI_Barrier(int comm)
{
    return barrier(comm);
}

int PMPI_Barrier(int comm)
{
    return barrier(comm);
}

void mpi_barrier_(int *comm, int *error)
{
    *error = barrier(*comm);
}
