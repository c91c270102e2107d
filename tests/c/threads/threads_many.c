// MPI_THREAD_MULTIPLE: threads on communicators of their own do collectives of every kind, make and
// free communicators, types and requests, all at once.
// run: -n 2
// run: -n 3
// cc: -pthread
// time: 60
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, N = 60 };

static MPI_Comm comms[THREADS];

static void *work(void *arg)
{
    MPI_Comm comm = comms[(long)arg];
    for (int i = 0; i < N; i++) {
        long n = i % 3 == 2 ? 5000 : 1, *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
        for (long k = 0; k < n; k++)
            in[k] = rank + k + i;
        MPI_Request r[2];
        MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, comm);
        EQUAL(out[n - 1], size * (size - 1) / 2 + size * (n - 1 + i));
        MPI_Comm inner;
        MPI_Comm_split(comm, 0, -rank, &inner);
        MPI_Ibcast(in, n, MPI_LONG, 0, inner, &r[0]);
        MPI_Ibarrier(comm, &r[1]);
        MPI_Comm_free(&inner);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        EQUAL(in[0], size - 1 + i);
        MPI_Datatype type;
        MPI_Type_vector(1, 1, 2, MPI_LONG, &type);
        MPI_Type_commit(&type);
        MPI_Bcast(in, 1, type, i % size, comm);
        MPI_Type_free(&type);
        MPI_Barrier(comm);
        free(in);
        free(out);
    }
    return NULL;
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int freed;

static int release(void *state)
{
    (void)state;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void *finisher(void *arg)
{
    MPI_Grequest_complete(*(MPI_Request *)arg);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);

    MPI_Request request, copy;
    MPI_Status status;
    int count;
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    copy = request;
    pthread_create(&t[0], NULL, finisher, &copy);
    MPI_Wait(&request, &status);
    pthread_join(t[0], NULL);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 3);
    EQUAL(freed, 1);
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    copy = request;
    MPI_Request_free(&request);
    EQUAL(freed, 1);
    MPI_Grequest_complete(copy);
    EQUAL(freed, 2);
    return finish();
}
