// One thread flushes all targets while another one moves long data by remote access and gives a lock back: who gets the lock next
// finds all of it, and what is got was not changed meanwhile.
//
// needs: libfabric.so.1
// time: 60
// run: --set LINK=ofi:tcp -n 3 -- put
// run: --set LINK=ofi:tcp -n 3 -- get
#include "../check.h"
#include <pthread.h>

enum { LONG = 200000, TURNS = 150 };

static MPI_Win win;
static volatile int stop;

static void *flush(void *nothing)
{
    while (!stop)
        MPI_Win_flush_all(win);
    return nothing;
}

static void uniform(const long *numbers)
{
    for (int i = 1; i < LONG; i++)
        EQUAL(numbers[i], numbers[0]);
}

/* Moves an array in or out of that of rank 0, under its lock. */
static void move(int puts)
{
    pthread_t other;
    long *own = malloc(LONG * sizeof *own);
    MPI_Win_lock(MPI_LOCK_SHARED, 2, MPI_MODE_NOCHECK, win);
    pthread_create(&other, NULL, flush, NULL);
    for (int turn = 1; turn <= TURNS; turn++) {
        for (int i = 0; i < LONG; i++)
            own[i] = turn;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        if (puts)
            MPI_Put(own, LONG, MPI_LONG, 0, 0, LONG, MPI_LONG, win);
        else
            MPI_Get(own, LONG, MPI_LONG, 0, 0, LONG, MPI_LONG, win);
        MPI_Win_unlock(0, win);
        uniform(own);
    }
    stop = 1;
    pthread_join(other, NULL);
    MPI_Win_unlock(2, win);
    free(own);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int given, flag = 0;
    long *numbers;
    MPI_Request over;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    EQUAL(given, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int puts = argc > 1 && !strcmp(argv[1], "put");
    MPI_Win_allocate(LONG * sizeof *numbers, sizeof *numbers, MPI_INFO_NULL, MPI_COMM_WORLD, &numbers, &win);
    memset(numbers, 0, LONG * sizeof *numbers);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        move(puts);
    if (rank == 0) {
        MPI_Irecv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &over);
        for (long turn = 0; !flag; turn++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            if (puts)
                uniform(numbers);
            else
                for (int i = 0; i < LONG; i++)
                    numbers[i] = turn;
            MPI_Win_unlock(0, win);
            MPI_Test(&over, &flag, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return finish();
}
