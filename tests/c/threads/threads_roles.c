// MPI_THREAD_MULTIPLE: on each rank a thread that sends, one that receives, one that probes, one that
// makes communicators, names and frees them, and one that does collectives, all at once.
// run: -n 2
// run: -n 4
// cc: -pthread
// time: 60
#include "../check.h"
#include <pthread.h>

enum { ROUNDS = 300, ROLES = 5, LONG = 3000 };

static MPI_Comm comms[ROLES];

/* Short and long ones, to the next rank. */
static int length(int i)
{
    return i % 10 == 9 ? LONG : 1 + i % 5;
}

static void *sends(void *none)
{
    (void)none;
    long data[LONG];
    for (int i = 0; i < ROUNDS; i++) {
        int next = (rank + 1) % size, n = length(i);
        for (int k = 0; k < n; k++)
            data[k] = rank + i + k;
        MPI_Request r;
        MPI_Isend(data, n, MPI_LONG, next, i, comms[0], &r);
        MPI_Send(data, n, MPI_LONG, next, i, comms[1]);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void took(const long *data, int n, int from, int i)
{
    EQUAL(n, length(i));
    EQUAL(data[0], from + i);
    EQUAL(data[n - 1], from + i + n - 1);
}

static void *receives(void *none)
{
    (void)none;
    long data[LONG];
    int from = (rank + size - 1) % size, n;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Status status;
        MPI_Recv(data, LONG, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[0], &status);
        MPI_Get_count(&status, MPI_LONG, &n);
        EQUAL(status.MPI_TAG, i);
        took(data, n, from, i);
    }
    return NULL;
}

static void *probes(void *none)
{
    (void)none;
    long data[LONG];
    int from = (rank + size - 1) % size, n;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Status status;
        MPI_Message message;
        if (i % 2) {
            MPI_Mprobe(from, MPI_ANY_TAG, comms[1], &message, &status);
            MPI_Get_count(&status, MPI_LONG, &n);
            MPI_Mrecv(data, n, MPI_LONG, &message, MPI_STATUS_IGNORE);
        } else {
            MPI_Probe(MPI_ANY_SOURCE, i, comms[1], &status);
            MPI_Get_count(&status, MPI_LONG, &n);
            MPI_Recv(data, n, MPI_LONG, status.MPI_SOURCE, i, comms[1], MPI_STATUS_IGNORE);
        }
        EQUAL(status.MPI_TAG, i);
        took(data, n, from, i);
    }
    return NULL;
}

static void *makes(void *none)
{
    (void)none;
    for (int i = 0; i < ROUNDS / 3; i++) {
        MPI_Comm dup, part;
        MPI_Request r;
        long sum, one = 1;
        char name[MPI_MAX_OBJECT_NAME];
        int n;
        MPI_Comm_idup(comms[2], &dup, &r);
        MPI_Comm_split(comms[3], rank % 2, rank, &part);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Comm_set_name(dup, "dup");
        MPI_Comm_get_name(dup, name, &n);
        EQUAL(n, 3);
        MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, dup, &r);
        MPI_Comm_free(&dup);
        MPI_Barrier(part);
        MPI_Comm_free(&part);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        EQUAL(sum, size);
    }
    return NULL;
}

static void *collects(void *none)
{
    (void)none;
    long in[LONG], out[LONG];
    for (int i = 0; i < ROUNDS; i++) {
        int n = length(i);
        for (int k = 0; k < n; k++)
            in[k] = rank + k;
        MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, comms[4]);
        EQUAL(out[n - 1], size * (size - 1) / 2 + size * (n - 1));
        MPI_Bcast(out, n, MPI_LONG, i % size, comms[4]);
        MPI_Barrier(comms[4]);
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
    for (int i = 0; i < ROLES; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    void *(*roles[ROLES])(void *) = {sends, receives, probes, makes, collects};
    pthread_t threads[ROLES];
    for (int i = 0; i < ROLES; i++)
        pthread_create(&threads[i], NULL, roles[i], NULL);
    for (int i = 0; i < ROLES; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ROLES; i++)
        MPI_Comm_free(&comms[i]);
    return finish();
}
