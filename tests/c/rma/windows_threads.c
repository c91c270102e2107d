// Threads of one process that use windows at the same time.
//
//   make    two threads make windows at once, each over a communicator of its own: every window is one of its own
//   lock    a thread that waits for a lock keeps no other one waiting: not for another target's lock, whose gate the same
//           rank keeps, nor for what a flush of all targets completes
//   same    two threads want the lock of one target: one of them is told that its process has it, or waits for it, already
//
// cc: -pthread
// time: 60
// run: -n 2 -- make 400
// run: -n 3 -x CATENA_LINK=tcp -- make 200
// run: -n 3 -x CATENA_LINK=tcp -- lock
// run: -n 3 -- lock
// run: -n 2 -- same
// run: -n 2 -x CATENA_LINK=tcp -- same
#include "../check.h"
#include <pthread.h>

enum { THREADS = 2 };

static int turns;
static MPI_Comm of_thread[THREADS];
static MPI_Win *made[THREADS];
static pthread_barrier_t together;

/* Tells the threads of this process apart, and the windows. */
static int value(int of, int thread, int turn)
{
    return of * 1000003 + thread * 500009 + turn;
}

static void *make(void *which)
{
    int me = *(int *)which;
    int **memory = calloc(turns, sizeof *memory);
    pthread_barrier_wait(&together);
    for (int i = 0; i < turns; i++)
        MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, of_thread[me], &memory[i], &made[me][i]);
    pthread_barrier_wait(&together);
    for (int i = 0; i < turns; i++) {
        int mine = value(rank, me, i);
        MPI_Win_fence(0, made[me][i]);
        MPI_Put(&mine, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, made[me][i]);
        MPI_Win_fence(0, made[me][i]);
        EQUAL(memory[i][1], value((rank + size - 1) % size, me, i));
    }
    pthread_barrier_wait(&together);
    for (int i = 0; i < turns; i++)
        MPI_Win_free(&made[me][i]);
    free(memory);
    return NULL;
}

static int by_handle(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)*(const MPI_Win *)a, y = (uintptr_t)*(const MPI_Win *)b;
    return (x > y) - (x < y);
}

static void run_make(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    pthread_barrier_init(&together, NULL, THREADS + 1);
    for (int t = 0; t < THREADS; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[t]);
        made[t] = calloc(turns, sizeof **made);
        numbers[t] = t;
        pthread_create(&threads[t], NULL, make, &numbers[t]);
    }
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    MPI_Win *all = calloc(THREADS * turns, sizeof *all);
    for (int t = 0; t < THREADS; t++)
        memcpy(all + t * turns, made[t], turns * sizeof *all);
    qsort(all, THREADS * turns, sizeof *all, by_handle);
    for (int i = 1; i < THREADS * turns; i++)
        CHECK(all[i] != all[i - 1]);
    free(all);
    pthread_barrier_wait(&together);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        MPI_Comm_free(&of_thread[t]);
        free(made[t]);
    }
    pthread_barrier_destroy(&together);
}

static MPI_Win win;
static int *memory;
static volatile int asks;

static void *wait_for_lock(void *unused)
{
    int two = 2;
    __atomic_store_n(&asks, 1, __ATOMIC_RELEASE);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(&two, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    return unused;
}

/* Messages there and back while the other thread asks for its lock. */
static void chat(int other, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(NULL, 0, MPI_INT, other, 7, NULL, 0, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void run_lock(void)
{
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory[0] = memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        chat(1, 1);
        chat(1, 200);
        /* The other thread there has done all it wants with rank 2. */
        chat(1, 1);
        EQUAL(memory[1], 0);
        MPI_Win_unlock(0, win);
    } else if (rank == 1) {
        pthread_t thread;
        int three = 3;
        chat(0, 1);
        pthread_create(&thread, NULL, wait_for_lock, NULL);
        while (!__atomic_load_n(&asks, __ATOMIC_ACQUIRE))
            ;
        chat(0, 200);
        for (int i = 0; i < 3; i++) {
            MPI_Win_lock(i == 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 2, 0, win);
            MPI_Put(&three, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
            MPI_Win_flush(2, win);
            MPI_Win_flush_local_all(win);
            MPI_Win_flush_all(win);
            MPI_Win_unlock(2, win);
        }
        chat(0, 1);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    EQUAL(memory[0], rank == 2 ? 3 : 0);
    EQUAL(memory[1], rank == 0 ? 2 : 0);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

static int refused, granted;

static void *want_lock(void *unused)
{
    pthread_barrier_wait(&together);
    int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    if (rc == MPI_SUCCESS)
        __atomic_fetch_add(&granted, 1, __ATOMIC_ACQ_REL);
    else {
        EQUAL(class_of(rc), MPI_ERR_RMA_SYNC);
        __atomic_fetch_add(&refused, 1, __ATOMIC_ACQ_REL);
    }
    return unused;
}

static void run_same(void)
{
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        /* One of them is refused while the other one waits. */
        MPI_Recv(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, win);
    } else if (rank == 1) {
        pthread_t threads[2];
        MPI_Barrier(MPI_COMM_WORLD);
        pthread_barrier_init(&together, NULL, 2);
        for (int t = 0; t < 2; t++)
            pthread_create(&threads[t], NULL, want_lock, NULL);
        int flag;
        while (!__atomic_load_n(&refused, __ATOMIC_ACQUIRE))
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        EQUAL(__atomic_load_n(&granted, __ATOMIC_ACQUIRE), 0);
        MPI_Send(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
        EQUAL(granted, 1);
        EQUAL(refused, 1);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    if (!strcmp(argv[1], "make")) {
        turns = atoi(argv[2]);
        run_make();
    } else if (!strcmp(argv[1], "lock"))
        run_lock();
    else
        run_same();
    return finish();
}
