// Threads that start collectives, each on a communicator of its own, and wait for those that another
// thread has started, beside blocking ones and messages.
// run: -n 2
// run: -n 3
// run: -n 2 --set COLL_NODE_STARTED=0
// cc: -pthread
// time: 60
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, EACH = 5, MOST = 20000 };

static MPI_Comm comms[THREADS];
static MPI_Request requests[THREADS][EACH];
static int *in[THREADS][EACH], *out[THREADS][EACH];
static pthread_barrier_t all;

static int length(int round, int k) { return (round * 977 + k * 4001) % (round % 3 ? 100 : MOST) + 1; }

static void begin(int thread, int round)
{
    for (int k = 0; k < EACH; k++) {
        int n = length(round, k), root = (round + k) % size, *from = in[thread][k], *to = out[thread][k];
        MPI_Request *r = &requests[thread][k];
        for (int i = 0; i < n; i++) {
            from[i] = rank + thread + i;
            to[i] = (round + k) % 3 == 0 && rank == root ? round + i : -1;
        }
        if ((round + k) % 3 == 0)
            MPI_Ibcast(to, n, MPI_INT, root, comms[thread], r);
        else if ((round + k) % 3 == 1)
            MPI_Iallreduce(from, to, n, MPI_INT, MPI_SUM, comms[thread], r);
        else
            MPI_Iscan(from, to, n, MPI_INT, MPI_SUM, comms[thread], r);
    }
}

static void check(int thread, int round, int k)
{
    int n = length(round, k), *to = out[thread][k];
    for (int i = 0; i < n; i++) {
        int last = (round + k) % 3 == 1 ? size - 1 : rank;
        EQUAL(to[i], (round + k) % 3 == 0 ? round + i : (last + 1) * (thread + i) + last * (last + 1) / 2);
    }
}

static void *work(void *arg)
{
    int me = (int)(size_t)arg, other = (me + 1) % THREADS, word, at;
    for (int round = 0; round < ROUNDS; round++) {
        begin(me, round);
        pthread_barrier_wait(&all);
        if (round % 4 == 0)
            MPI_Barrier(comms[me]);
        if (round % 4 == 1)
            MPI_Sendrecv(&round, 1, MPI_INT, (rank + 1) % size, 0, &word, 1, MPI_INT, (rank + size - 1) % size,
                         0, comms[me], MPI_STATUS_IGNORE);
        if (round % 2)
            MPI_Waitall(EACH, requests[other], MPI_STATUSES_IGNORE);
        else
            for (int k = 0; k < EACH; k++) {
                MPI_Waitany(EACH, requests[other], &at, MPI_STATUS_IGNORE);
                check(other, round, at);
            }
        for (int k = 0; k < EACH; k++)
            check(other, round, k);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_t threads[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
        for (int k = 0; k < EACH; k++) {
            in[t][k] = malloc(MOST * sizeof(int));
            out[t][k] = malloc(MOST * sizeof(int));
        }
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, (void *)(size_t)t);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        MPI_Comm_free(&comms[t]);
        for (int k = 0; k < EACH; k++) {
            free(in[t][k]);
            free(out[t][k]);
        }
    }
    return finish();
}
