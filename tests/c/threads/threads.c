// MPI_THREAD_MULTIPLE: threads of two ranks talk pairwise, others do collectives on a duplicate.
// run: -n 2
// cc: -pthread
// time: 60
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, N = 400 };

static void *talk(void *arg)
{
    int tag = (int)(long)arg, peer = 1 - rank;
    static int sizes[] = {1, 500, 30000};
    int *out = malloc(30000 * sizeof *out), *in = malloc(30000 * sizeof *in);
    for (int i = 0; i < N; i++) {
        int n = sizes[i % 3];
        out[0] = out[n - 1] = i * 10 + tag;
        MPI_Sendrecv(out, n, MPI_INT, peer, tag, in, n, MPI_INT, peer, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        EQUAL(in[0], i * 10 + tag);
        EQUAL(in[n - 1], i * 10 + tag);
    }
    free(out);
    free(in);
    return NULL;
}

static void *reduce(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *)arg;
    for (int i = 0; i < N; i++) {
        int sum;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(sum, 2 * i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, main_thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_t t[THREADS + 1];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, talk, (void *)i);
    pthread_create(&t[THREADS], NULL, reduce, &comm);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(t[i], NULL);
    MPI_Comm_free(&comm);
    return finish();
}
