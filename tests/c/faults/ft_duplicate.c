// A duplicate that was made at one member is made at all others, although that one dies at once: they wait for each other
// only. And if one dies before, nobody waits for those who knew of it when they made the call.
//
// only: catena
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first; exit 137; says 'made by those that are left'
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp; exit 137; says 'made by those that are left'
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first -- before; exit 137; says 'failed at those that are left'
// run: -n 7 --with-ft ulfm --set FAULT_STATUS=first -- before; exit 137; says 'failed at those that are left'
// run: -n 5 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- before; exit 137; says 'failed at those that are left'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first -- often 1; exit 137; says '14 times made by those that are left'
// run: -n 11 --with-ft ulfm --set FAULT_STATUS=first -- often 2; exit 137; says '9 times made by those that are left'
// run: -n 8 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- often 3; exit 137; says '6 times made by those that are left'
#include "../check.h"
#include "deaths.h"
#include <mpi-ext.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum { VICTIM = 2, CALLS = 100 };

static char told[] = "ft_duplicate.XXXXXX";

/* Rank 1 has begun, and looks again only when rank 3, which waits for it, has heard of the death. */
static void after(void)
{
    MPI_Comm made;
    MPI_Request request;
    int done = 0, got;
    if (rank != 1)
        MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request), MPI_SUCCESS);
    if (rank == 1) {
        MPI_Send(NULL, 0, MPI_INT, 3, 1, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_INT, VICTIM, 1, MPI_COMM_WORLD);
        while (access(told, F_OK) == 0)
            sched_yield();
    }
    if (rank == 3) {
        while (!deaths(MPI_COMM_WORLD))
            EQUAL(MPI_Test(&request, &done, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EQUAL(MPI_Test(&request, &done, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(!done);
        CHECK(unlink(told) == 0);
    }
    EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (rank == VICTIM)
        raise(SIGKILL);
    int next = rank == 0 ? 1 : rank == 1 ? 3 : 0, before = rank == 0 ? 3 : rank == 1 ? 0 : 1;
    EQUAL(MPI_Sendrecv(&rank, 1, MPI_INT, next, 2, &got, 1, MPI_INT, before, 2, made, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EQUAL(got, before);
    MPI_Comm_free(&made);
    if (rank == 0)
        printf("made by those that are left\n");
}

/* All but rank 0 know of the death when they make the call. */
static void before(void)
{
    MPI_Comm made;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == VICTIM)
        raise(SIGKILL);
    while (rank != 0 && !deaths(MPI_COMM_WORLD))
        sched_yield();
    for (int i = 0; i < CALLS; i++)
        EQUAL(MPI_Comm_dup(MPI_COMM_WORLD, &made), MPIX_ERR_PROC_FAILED);
    if (rank == 0)
        printf("failed at those that are left\n");
}

/* One after the other dies as soon as its call is over, at a time and after a number of calls that the seed says. All that
   are left have made what it has made. */
static void often(unsigned seed)
{
    MPI_Comm comm, left, made;
    int times = 0, victim, least;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (; size > 2; times++) {
        seed = seed * 1103515245u + 12345u;
        victim = seed / 65536 % size;
        const int last = seed / 256 % 64 + 1;
        int calls = 0;
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (;; calls++) {
            const int error = calls % 2 ? MPI_Comm_dup(comm, &made) : MPI_Comm_split(comm, 0, -rank, &made);
            if (error != MPI_SUCCESS) {
                EQUAL(error, MPIX_ERR_PROC_FAILED);
                break;
            }
            if (rank == victim && calls + 1 == last)
                raise(SIGKILL);
            EQUAL(MPI_Comm_free(&made), MPI_SUCCESS);
        }
        EQUAL(MPIX_Comm_shrink(comm, &left), MPI_SUCCESS);
        MPI_Comm_free(&comm);
        comm = left;
        MPI_Allreduce(&calls, &least, 1, MPI_INT, MPI_MIN, comm);
        EQUAL(least, last);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
    }
    if (rank == 0)
        printf("%d times made by those that are left\n", times);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 2) {
        often(atoi(argv[2]));
    } else if (argc > 1) {
        before();
    } else {
        if (rank == 0)
            CHECK(close(mkstemp(told)) == 0);
        MPI_Bcast(told, sizeof told, MPI_CHAR, 0, MPI_COMM_WORLD);
        after();
    }
    MPI_Finalize();
    return 0;
}
