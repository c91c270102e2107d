// Persistent barriers: nobody is through before all have come, in whatever order they are started, among other
// collectives, in more of them than a communicator has room to count, and after it was freed.
// run: -n 2
// run: -n 3
// run: -n 7
// run: -n 2 --set COLL_NODE=0
// run: -n 4 --set COLL_NODE_STARTED=0
#include "../check.h"

enum { ROUNDS = 60, BARRIERS = 20 };

static int *begun; /* a row of numbers of each rank: how often it has begun each barrier */

static int *row(MPI_Win win, int r)
{
    MPI_Aint bytes;
    int unit, *at;
    MPI_Win_shared_query(win, r, &bytes, &unit, &at);
    return at;
}

static void start_one(MPI_Request *barriers, int i)
{
    __atomic_add_fetch(&begun[i], 1, __ATOMIC_RELEASE);
    MPI_Start(&barriers[i]);
}

/* It is over: all have begun it as often as this rank. */
static void all_have(MPI_Win win, int i)
{
    for (int r = 0; r < size; r++)
        CHECK(__atomic_load_n(&row(win, r)[i], __ATOMIC_ACQUIRE) >= begun[i]);
}

static void complete(MPI_Request *request, int how)
{
    int done = 0;
    if (how % 3 == 0)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else if (how % 3 == 1)
        while (!done)
            MPI_Test(request, &done, MPI_STATUS_IGNORE);
    else
        MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
    CHECK(*request != MPI_REQUEST_NULL);
}

/* Several under way at a time, which ranks start in different orders. */
static void in_any_order(MPI_Win win, MPI_Request *barriers, MPI_Comm comm)
{
    for (int round = 0; round < ROUNDS; round++) {
        int n = 1 + round % 3, first = round % BARRIERS, all;
        for (int k = 0; k < n; k++)
            start_one(barriers, (first + (rank % 2 ? n - 1 - k : k)) % BARRIERS);
        if (round % 5 == 0) {
            MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, comm);
            EQUAL(all, size * (size - 1) / 2);
        }
        for (int k = 0; k < n; k++) {
            int i = (first + (round % 2 ? n - 1 - k : k)) % BARRIERS;
            complete(&barriers[i], round + k);
            all_have(win, i);
        }
    }
}

/* One that waits sleeps at last; the others come one by one. */
static void late(MPI_Win win, MPI_Request *barriers, MPI_Comm comm)
{
    for (int round = 0; round < 5; round++) {
        if (rank)
            MPI_Recv(NULL, 0, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
        double until = MPI_Wtime() + .01;
        while (rank && MPI_Wtime() < until)
            ;
        start_one(barriers, 0);
        if (rank + 1 < size)
            MPI_Send(NULL, 0, MPI_INT, rank + 1, 0, comm);
        MPI_Wait(&barriers[0], MPI_STATUS_IGNORE);
        all_have(win, 0);
    }
}

/* It is used after its communicator was freed; one with the same members has another board then. */
static void freed(void)
{
    MPI_Comm comm, next;
    MPI_Request barrier, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &barrier);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Barrier_init(next, MPI_INFO_NULL, &other);
    for (int round = 0; round < 20; round++) {
        MPI_Request both[] = {barrier, other};
        if (rank % 2 == round % 2)
            MPI_Start(&both[0]);
        MPI_Barrier(next);
        if (rank % 2 != round % 2)
            MPI_Start(&both[0]);
        MPI_Start(&both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&barrier);
    MPI_Request_free(&other);
    MPI_Comm_free(&next);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm comm;
    MPI_Win win;
    MPI_Request barriers[BARRIERS];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_allocate_shared(BARRIERS * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &begun, &win);
    memset(begun, 0, BARRIERS * sizeof(int));
    MPI_Barrier(comm);
    for (int i = 0; i < BARRIERS; i++)
        MPI_Barrier_init(comm, MPI_INFO_NULL, &barriers[i]);
    in_any_order(win, barriers, comm);
    late(win, barriers, comm);
    /* A request that was freed leaves the others as they are. */
    MPI_Request_free(&barriers[1]);
    MPI_Request_free(&barriers[BARRIERS - 1]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &barriers[1]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &barriers[BARRIERS - 1]);
    in_any_order(win, barriers, comm);
    for (int i = 0; i < BARRIERS; i++)
        MPI_Request_free(&barriers[i]);
    for (int i = 0; i < 10; i++)
        freed();
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
    return finish();
}
