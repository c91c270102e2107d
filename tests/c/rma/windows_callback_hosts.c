// A process waits for the elements of its window, which a neighbour holds for long, to carry out an accumulate of a member on
// another host. Meanwhile reductions with a function of the program are under way, and another thread puts into another window.
//
// hosts: 2
// time: 60
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
#include "../check.h"
#include <pthread.h>

enum { BIG = 1 << 22, AT_ONCE = 8, TURNS = 40 };

static MPI_Win win, other_win;
static volatile int stop;

/* Takes its time, as the functions of interpreters do. */
static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((long *)inout)[i] += ((long *)in)[i];
    for (double end = now() + 1e-3; now() < end;)
        ;
}

static void *put(void *nothing)
{
    long value = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, other_win);
    for (int n = 1; !stop; n++) {
        MPI_Put(&value, 1, MPI_LONG, 2, 0, 1, MPI_LONG, other_win);
        if (n % 16 == 0)
            MPI_Win_flush(2, other_win);
    }
    MPI_Win_unlock(2, other_win);
    return nothing;
}

/* Ranks 0 and 2: reductions, and accumulates of rank 2 to rank 0. */
static void reduce(MPI_Comm *comms, MPI_Op op)
{
    long one[2] = {1, 1}, sums[AT_ONCE][2];
    double ones[4] = {1, 1, 1, 1};
    MPI_Request requests[AT_ONCE];
    if (rank == 2)
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < AT_ONCE; i++) {
            if (rank == 2)
                MPI_Accumulate(ones, 4, MPI_DOUBLE, 0, 0, 4, MPI_DOUBLE, MPI_SUM, win);
            MPI_Iallreduce(one, sums[i], 2, MPI_LONG, op, comms[i], &requests[i]);
        }
        if (rank == 2)
            MPI_Win_flush(0, win);
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < AT_ONCE; i++)
            EQUAL(sums[i][0] + sums[i][1], 4);
    }
    if (rank == 2)
        MPI_Win_unlock(0, win);
    else
        MPI_Send(NULL, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
}

/* Rank 1: long accumulates to its neighbour, until the others are done. */
static void hold(void)
{
    int flag = 0;
    MPI_Request over;
    double *ones = malloc(BIG * sizeof *ones);
    for (int i = 0; i < BIG; i++)
        ones[i] = 1;
    MPI_Irecv(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &over);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    while (!flag) {
        MPI_Accumulate(ones, BIG, MPI_DOUBLE, 0, 0, BIG, MPI_DOUBLE, MPI_SUM, win);
        MPI_Test(&over, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock(0, win);
    free(ones);
}

int main(int argc, char **argv)
{
    int given;
    double *numbers;
    long *others;
    MPI_Comm comms[AT_ONCE];
    MPI_Op op;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    EQUAL(given, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(BIG * sizeof *numbers, sizeof *numbers, MPI_INFO_NULL, MPI_COMM_WORLD, &numbers, &win);
    MPI_Win_allocate(64, sizeof *others, MPI_INFO_NULL, MPI_COMM_WORLD, &others, &other_win);
    memset(numbers, 0, BIG * sizeof *numbers);
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, rank, &comms[i]);
    MPI_Op_create(add, 1, &op);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pthread_create(&thread, NULL, put, NULL);
    if (rank == 1)
        hold();
    else
        reduce(comms, op);
    stop = 1;
    if (rank == 0)
        pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < AT_ONCE && rank != 1; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Op_free(&op);
    MPI_Win_free(&win);
    MPI_Win_free(&other_win);
    return finish();
}
