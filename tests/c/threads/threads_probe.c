// MPI_THREAD_MULTIPLE: threads of one communicator send, take what comes from anywhere by matched
// probes, probe for one tag, and make communicators, all at once; every message arrives once.
// run: -n 2
// run: -n 4
// cc: -pthread
// time: 60
#include "../check.h"
#include <pthread.h>

enum { TAKERS = 2, N = 300, TAG = 5, PROBED = 6, LONGEST = 20000, END = 7 };

static MPI_Comm comm, mine;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static long long taken, sum;

static int length_of(int i)
{
    return i % 10 == 9 ? LONGEST : i % 40 + 1;
}

/* Sends N messages of TAG to each rank, and ends the takers there. */
static void *send_all(void *arg)
{
    int *out = calloc(LONGEST, sizeof *out);
    for (int i = 0; i < N; i++)
        for (int to = 0; to < size; to++) {
            int n = length_of(i);
            out[0] = out[n - 1] = i;
            MPI_Send(out, n, MPI_INT, to, TAG, comm);
        }
    for (int to = 0; to < size; to++)
        MPI_Send(NULL, 0, MPI_INT, to, END, mine);
    free(out);
    return arg;
}

/* Takes whatever of TAG comes until all have come. */
static void *take(void *arg)
{
    int *in = malloc(LONGEST * sizeof *in);
    for (;;) {
        pthread_mutex_lock(&counting);
        int all = taken == (long long)N * size;
        pthread_mutex_unlock(&counting);
        if (all)
            break;
        int found, count;
        MPI_Message message;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, TAG, comm, &found, &message, &status);
        if (!found)
            continue;
        MPI_Get_count(&status, MPI_INT, &count);
        int from = status.MPI_SOURCE;
        MPI_Mrecv(in, count, MPI_INT, &message, &status);
        EQUAL(status.MPI_SOURCE, from);
        EQUAL(length_of(in[0]), count);
        EQUAL(in[count - 1], in[0]);
        pthread_mutex_lock(&counting);
        taken++;
        sum += in[0];
        pthread_mutex_unlock(&counting);
    }
    free(in);
    return arg;
}

/* Talks to itself of each other rank: a blocking probe, then an ordinary receive. */
static void *probe(void *arg)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < N; i++) {
        int in = -1, count;
        MPI_Status status;
        MPI_Request request;
        MPI_Isend(&i, 1, MPI_INT, right, PROBED, comm, &request);
        MPI_Probe(left, PROBED, comm, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        EQUAL(count, 1);
        MPI_Recv(&in, 1, MPI_INT, left, PROBED, comm, MPI_STATUS_IGNORE);
        EQUAL(in, i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return arg;
}

/* Makes communicators from one that no other thread uses, and talks on them. */
static void *make(void *arg)
{
    MPI_Comm parent = *(MPI_Comm *)arg;
    for (int i = 0; i < N / 10; i++) {
        MPI_Comm same, half;
        int one = 1, all;
        MPI_Comm_dup(parent, &same);
        MPI_Comm_split(same, rank % 2, -rank, &half);
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, half);
        EQUAL(all, (size + 1 - rank % 2) / 2);
        MPI_Comm_free(&half);
        MPI_Comm_free(&same);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm parent;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    pthread_t t[TAKERS + 3];
    pthread_create(&t[0], NULL, send_all, NULL);
    pthread_create(&t[1], NULL, probe, NULL);
    pthread_create(&t[2], NULL, make, &parent);
    for (int i = 0; i < TAKERS; i++)
        pthread_create(&t[3 + i], NULL, take, NULL);
    for (int i = 0; i < size; i++)
        MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, END, mine, MPI_STATUS_IGNORE);
    for (int i = 0; i < TAKERS + 3; i++)
        pthread_join(t[i], NULL);
    EQUAL(taken, (long long)N * size);
    EQUAL(sum, (long long)N * (N - 1) / 2 * size);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&mine);
    MPI_Comm_free(&parent);
    return finish();
}
