/* What ranks tell one another beside what is measured. Where they outnumber cores, who waits sleeps, so
 * that the others can come: a library that spins takes tens of milliseconds there for what these have in
 * one. */
#define _GNU_SOURCE
#include "bench.h"

#include <unistd.h>

static void await(MPI_Request *request)
{
    enum { NAP_US = 50 };
    for (int done = 0;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        usleep(NAP_US);
    }
}

void calm_barrier(MPI_Comm comm)
{
    MPI_Request request;
    if (!crowded) {
        MPI_Barrier(comm);
        return;
    }
    MPI_Ibarrier(comm, &request);
    await(&request);
}

void calm_allreduce(void *data, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    if (!crowded) {
        MPI_Allreduce(MPI_IN_PLACE, data, n, type, op, comm);
        return;
    }
    MPI_Iallreduce(MPI_IN_PLACE, data, n, type, op, comm, &request);
    await(&request);
}

void calm_bcast(void *data, int n, MPI_Datatype type, int from, MPI_Comm comm)
{
    MPI_Request request;
    if (!crowded) {
        MPI_Bcast(data, n, type, from, comm);
        return;
    }
    MPI_Ibcast(data, n, type, from, comm, &request);
    await(&request);
}
