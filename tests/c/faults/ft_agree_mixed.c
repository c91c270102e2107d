// Members may agree by calls that block and by calls that do not, on one communicator and in one agreement, whether somebody
// has died or not. Calls that do not block may be under way at once, and other collectives with them.
//
// only: catena
// run: -n 2
// run: -n 3 --with-ft ulfm
// run: -n 5 --with-ft ulfm
// run: -n 3 --with-ft ulfm --set COLL_NODE=false
// run: -n 3 --with-ft ulfm --set LINK=tcp
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- death; exit 137; says 'rank 0 has agreed'; says 'rank 2 has agreed'
// run: -n 6 --with-ft ulfm --set FAULT_STATUS=first -- death; exit 137; says 'rank 0 has agreed'; says 'rank 5 has agreed'
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first -- late; exit 137; says 'rank 0 has agreed'; says 'rank 3 has agreed'
#include "../check.h"
#include "deaths.h"
#include <mpi-ext.h>
#include <sched.h>
#include <signal.h>

enum { TURNS = 100, VICTIM = 1 };

/* One agreement, by the call that this rank has in that turn. */
static int agree(MPI_Comm comm, int turn, int *flags)
{
    MPI_Request request;
    if ((rank + turn) % 3 == 0)
        return MPIX_Comm_agree(comm, flags);
    EQUAL(MPIX_Comm_iagree(comm, flags, &request), MPI_SUCCESS);
    if ((rank + turn) % 3 == 1)
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    int done = 0, code = MPI_SUCCESS;
    while (!done && !code)
        code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return code;
}

/* What the flags of that many ranks agree on. */
static int all_flags(int turn, int ranks)
{
    int all = -1;
    for (int k = 0; k < ranks; k++)
        all &= ~(1 << (k + turn) % 31);
    return all;
}

static void turns(MPI_Comm comm)
{
    for (int turn = 0; turn < TURNS; turn++) {
        int flags = ~(1 << (rank + turn) % 31);
        EQUAL(agree(comm, turn, &flags), MPI_SUCCESS);
        EQUAL(flags, all_flags(turn, size));
    }
}

/* Several at once, a blocking one behind them, and barriers between. */
static void at_once(MPI_Comm comm)
{
    int flags[4];
    MPI_Request requests[4];
    for (int k = 0; k < 4; k++)
        flags[k] = ~(1 << (rank + k) % 31);
    MPIX_Comm_iagree(comm, &flags[0], &requests[0]);
    MPI_Ibarrier(comm, &requests[1]);
    MPIX_Comm_iagree(comm, &flags[1], &requests[2]);
    MPI_Barrier(comm);
    if (rank == 0) {
        EQUAL(MPIX_Comm_agree(comm, &flags[2]), MPI_SUCCESS);
        requests[3] = MPI_REQUEST_NULL;
    } else {
        MPIX_Comm_iagree(comm, &flags[2], &requests[3]);
    }
    EQUAL(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int k = 0; k < 3; k++)
        EQUAL(flags[k], all_flags(k, size));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Comm comm, left;
    int acked;
    start(&argc, &argv);
    int flags = ~(1 << rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    turns(comm);
    at_once(comm);
    turns(comm);
    if (!*how) {
        /* One that is freed before it is over. */
        MPI_Request request;
        MPIX_Comm_iagree(comm, &flags, &request);
        MPI_Comm_free(&comm);
        EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        return finish();
    }
    if (rank == VICTIM)
        raise(SIGKILL);
    /* Some may wait already when they hear of it, and others know it before. */
    while (!strcmp(how, "late") && rank == 2 && !deaths(comm))
        sched_yield();
    int code = agree(comm, 1, &flags);
    EQUAL(code, MPIX_ERR_PROC_FAILED);
    MPIX_Comm_ack_failed(comm, size, &acked);
    EQUAL(acked, 1);
    for (int turn = 0; turn < 20; turn++) {
        flags = ~(1 << rank);
        EQUAL(agree(comm, turn, &flags), MPI_SUCCESS);
        for (int k = 0; k < size; k++)
            EQUAL(flags >> k & 1, k == VICTIM);
    }
    /* Of those that are left nobody has died. */
    EQUAL(MPIX_Comm_shrink(comm, &left), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    printf("rank %d has agreed\n", rank);
    fflush(stdout);
    MPI_Comm_rank(left, &rank);
    MPI_Comm_size(left, &size);
    turns(left);
    at_once(left);
    MPI_Comm_free(&left);
    MPI_Finalize();
    return 0;
}
