// Checked mode sees what a program calls by the names of the profiling interface, by itself or in a wrapper that is linked into it, once, and
// takes no request for pending that such a call has completed.
// run: -n 2 --check -- right; says all is well; never says catena: check
// run: -n 2 --check -- wrapped; says all is well; never says catena: check
// run: -n 2 --check -- written; says error \[written\]: rank 0: MPI_Wait \(checked_profiled.c:\d+\): the buffer buf of MPI_Isend was changed; says began in: MPI_Isend \(checked_profiled.c:\d+\)
// run: -n 2 --check -- leak; says warning \[leak\]: rank \d: MPI_Comm_dup \(checked_profiled.c:\d+\); never says (?s)\[leak\].*\[leak\]
// run: -n 2 --check -- unmatched; says error \[unmatched\]: rank 1: MPI_Finalize \(checked_profiled.c:\d+\): a message of 4 bytes from rank 0
#include "../check.h"

static int is_wrapping, wrapped;

/* As in a tool that is a part of the program. */
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    wrapped++;
    return PMPI_Waitall(count, requests, statuses);
}

static void exchange(int *out, int *in)
{
    MPI_Request requests[2];
    MPI_Irecv(in, 100, MPI_INT, !rank, 1, MPI_COMM_WORLD, requests);
    if (is_wrapping)
        MPI_Isend(out, 100, MPI_INT, !rank, 1, MPI_COMM_WORLD, requests + 1);
    else
        PMPI_Isend(out, 100, MPI_INT, !rank, 1, MPI_COMM_WORLD, requests + 1);
    if (is_wrapping)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    else {
        PMPI_Wait(requests, MPI_STATUS_IGNORE);
        MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
    }
}

static void right(void)
{
    for (int i = 0; i < 3; i++) {
        int *out = calloc(100, sizeof *out), *in = malloc(100 * sizeof *in);
        out[7] = i;
        exchange(out, in);
        EQUAL(in[7], i);
        free(out);
        free(in);
    }
    MPI_Comm one, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    PMPI_Comm_dup(MPI_COMM_WORLD, &other);
    PMPI_Comm_free(&one);
    MPI_Comm_free(&other);
    EQUAL(wrapped, is_wrapping ? 3 : 0);
}

int main(int argc, char **argv)
{
    const char *mode = argv[1];
    int value[100] = {0};
    MPI_Request request;
    MPI_Comm made;
    PMPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    is_wrapping = !strcmp(mode, "wrapped");
    if (is_wrapping || !strcmp(mode, "right"))
        right();
    if (!strcmp(mode, "written") && rank == 0) {
        PMPI_Isend(value, 100, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        value[0] = 1;
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "written") && rank == 1)
        PMPI_Recv(value, 100, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(mode, "leak"))
        PMPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (!strcmp(mode, "unmatched") && rank == 0)
        PMPI_Send(value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && strcmp(mode, "written"))
        printf("all is well\n");
    PMPI_Finalize();
    return 0;
}
