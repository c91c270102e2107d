// Checked mode tells apart what threads do at the same time: memory that one gives back and another one gets, and reads of a window that
// one completes and another one has just begun.
// cc: -g -O1 -pthread
// run: -n 1 --check -- moves ; says right ; never says catena: check
// run: -n 2 --check -- gets ; says right ; never says catena: check
// run: -n 2 --check --set LINK=tcp -- gets ; says right ; never says catena: check
#include "../check.h"
#include <malloc.h>
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 4000, GETS = 2000, LENGTH = 3000 };
static MPI_Win win;
static volatile int is_over;

/* Has blocks moved, as there is no room behind them. */
static void *move(void *unused)
{
    (void)unused;
    while (!is_over) {
        char *block = malloc(LENGTH), *behind = malloc(64);
        block = realloc(block, LENGTH + 6000);
        free(block);
        free(behind);
    }
    return NULL;
}

/* Receives into memory that others have given back. */
static void *receive(void *number)
{
    int tag = *(int *)number;
    for (int i = 0; i < ROUNDS; i++) {
        char *to = malloc(LENGTH), *from = calloc(16, 1);
        MPI_Request request;
        MPI_Irecv(to, LENGTH, MPI_CHAR, 0, tag, MPI_COMM_SELF, &request);
        MPI_Send(from, 16, MPI_CHAR, 0, tag, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(to);
        free(from);
    }
    return NULL;
}

/* Gets, and completes that itself. */
static void *get(void *number)
{
    int got[64];
    for (int i = 0; i < GETS; i++) {
        memset(got, 255, sizeof got);
        MPI_Get(got, 64, MPI_INT, 1, 0, 64, MPI_INT, win);
        if (*(int *)number == 0)
            MPI_Win_flush_all(win);
        else
            MPI_Win_flush_local(1, win);
        for (int j = 0; j < 64; j++)
            EQUAL(got[j], 1000 + j);
    }
    return NULL;
}

static void run(void *(*what)(void *), void *(*beside)(void *))
{
    pthread_t doers[THREADS], others[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&doers[i], NULL, what, &numbers[i]);
        if (beside)
            pthread_create(&others[i], NULL, beside, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(doers[i], NULL);
    is_over = 1;
    for (int i = 0; beside && i < THREADS; i++)
        pthread_join(others[i], NULL);
}

int main(int argc, char **argv)
{
    int provided, *base;
    /* All threads get memory from the same place. */
    mallopt(M_ARENA_MAX, 1);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "moves"))
        run(receive, move);
    else {
        MPI_Win_allocate(64 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        for (int i = 0; i < 64; i++)
            base[i] = 1000 + i;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        if (rank == 0)
            run(get, NULL);
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }
    if (rank == 0)
        puts("right");
    MPI_Finalize();
    return 0;
}
