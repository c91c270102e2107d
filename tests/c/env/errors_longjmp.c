// An error handler need not return: it may jump out of the call, as libraries for recovery do. What was called can be called
// again, no lock is held, and nothing is lost.
//
// only: catena
// run: -n 2
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- death; exit 137; says 'rank 0 goes on'; says 'rank 2 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first --set COLL_NODE=false -- death; exit 137; says 'rank 0 goes on'; says 'rank 2 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- death; exit 137; says 'rank 0 goes on'; says 'rank 2 goes on'
#include "../check.h"
#include <mpi-ext.h>
#include <setjmp.h>
#include <signal.h>

enum { JUMPS = 20000 };

static jmp_buf back;
static int raised;

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    raised = class_of(*code);
    longjmp(back, 1);
}

/* KiB of this process's own memory. */
static long memory(void)
{
    char line[200];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %ld", &kib) == 1)
            break;
    fclose(file);
    return kib;
}

static void wrong(MPI_Comm comm, volatile int n)
{
    int word = 0;
    MPI_Request request;
    while (n-- > 0)
        if (!setjmp(back)) {
            switch (n % 3) {
            case 0: MPI_Send(&word, 1, MPI_INT, rank, -7, comm); break;
            case 1: MPI_Irecv(&word, 1, MPI_INT, size, 1, comm, &request); break;
            default: MPI_Recv(&word, 1, MPI_INT, rank, -9, comm, MPI_STATUS_IGNORE);
            }
            CHECK(!"the handler returned");
        }
}

/* Another call on `comm` that a death ends. */
static void lose(MPI_Comm comm, int which)
{
    int word = rank, all;
    MPI_Comm made;
    MPI_Request request;
    switch (which) {
    case 0: MPI_Recv(&word, 1, MPI_INT, 1, 3, comm, MPI_STATUS_IGNORE); break;
    case 1:
        MPI_Irecv(&word, 1, MPI_INT, 1, 3, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 2: MPI_Barrier(comm); break;
    case 3: MPI_Allreduce(&word, &all, 1, MPI_INT, MPI_SUM, comm); break;
    case 4:
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default: MPI_Comm_dup(comm, &made);
    }
    CHECK(!"the handler returned");
}

int main(int argc, char **argv)
{
    MPI_Comm comm, left;
    MPI_Errhandler handler;
    int got;
    start(&argc, &argv);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    if (argc < 2) {
        wrong(comm, JUMPS);
        long before = memory();
        wrong(comm, JUMPS);
        CHECK(memory() - before < 256);
        MPI_Comm_free(&comm);
        return finish();
    }
    MPI_Barrier(comm);
    if (rank == 1)
        raise(SIGKILL);
    for (volatile int which = 0; which < 6; which++) {
        if (!setjmp(back))
            lose(comm, which);
        /* Others may be further on. */
        CHECK(raised == MPIX_ERR_PROC_FAILED || raised == MPIX_ERR_REVOKED);
    }
    MPIX_Comm_revoke(comm);
    if (!setjmp(back))
        MPI_Barrier(comm);
    EQUAL(raised, MPIX_ERR_REVOKED);
    EQUAL(MPIX_Comm_shrink(comm, &left), MPI_SUCCESS);
    MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, left);
    EQUAL(got, 2);
    printf("rank %d goes on\n", rank);
    MPI_Comm_free(&left);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
