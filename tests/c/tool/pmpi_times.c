// What a profiler of the usual kind measures: the time in some functions, by PMPI_.
// build: shared
// cc: -fPIC
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEND, RECV, ISEND, IRECV, WAITALL, WAIT, ALLREDUCE, BARRIER, ALLTOALL, FENCE, FUNCTIONS };

static const char *const names[] = {"MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Wait",
                                    "MPI_Allreduce", "MPI_Barrier", "MPI_Alltoall", "MPI_Win_fence"};
static double times[FUNCTIONS];
static long calls[FUNCTIONS];

#define TIMED(which, call)              \
    double from_ = PMPI_Wtime();        \
    int code_ = call;                   \
    times[which] += PMPI_Wtime() - from_; \
    calls[which]++;                     \
    return code_

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    TIMED(SEND, PMPI_Send(buf, count, type, dest, tag, comm));
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    TIMED(RECV, PMPI_Recv(buf, count, type, source, tag, comm, status));
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    TIMED(ISEND, PMPI_Isend(buf, count, type, dest, tag, comm, request));
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    TIMED(IRECV, PMPI_Irecv(buf, count, type, source, tag, comm, request));
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    TIMED(WAITALL, PMPI_Waitall(count, requests, statuses));
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    TIMED(WAIT, PMPI_Wait(request, status));
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    TIMED(ALLREDUCE, PMPI_Allreduce(in, out, count, type, op, comm));
}

int MPI_Barrier(MPI_Comm comm)
{
    TIMED(BARRIER, PMPI_Barrier(comm));
}

int MPI_Alltoall(const void *in, int count, MPI_Datatype type, void *out, int to, MPI_Datatype out_type, MPI_Comm comm)
{
    TIMED(ALLTOALL, PMPI_Alltoall(in, count, type, out, to, out_type, comm));
}

int MPI_Win_fence(int assertion, MPI_Win win)
{
    TIMED(FENCE, PMPI_Win_fence(assertion, win));
}

int MPI_Finalize(void)
{
    int rank;
    char text[FUNCTIONS * 80];
    int len = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < FUNCTIONS; i++)
        len += snprintf(text + len, sizeof text - len, "pmpi %d %s %ld %.9f\n", rank, names[i], calls[i], times[i]);
    fwrite(text, len, 1, stdout);
    fflush(stdout);
    return PMPI_Finalize();
}
