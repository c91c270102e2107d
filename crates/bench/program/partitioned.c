/* Partitioned point to point between ranks 0 and 1: a message of -W partitions (8), each said to
 * be ready by itself. */
#include "bench.h"

#include <stdlib.h>

enum { TAG = 6, ACK = 7, USUAL_PARTITIONS = 8, RECEIVE = 0, SEND = 1 };

static void prepare(struct task *t)
{
    t->window = opt.window ? opt.window : USUAL_PARTITIONS;
    t->first = t->rank == 0;
    t->peer = t->rank < 2 ? 1 - t->rank : -1;
    t->timers = 1;
    t->requests = must(malloc(2 * sizeof *t->requests));
    t->requests[RECEIVE] = t->requests[SEND] = MPI_REQUEST_NULL;
    if (t->bytes / t->element->size % t->window)
        t->skip = "the size is no multiple of the partitions'";
}

static void open(struct task *t)
{
    int each = t->count / t->window;
    if (t->peer < 0)
        return;
    MPI_Psend_init(t->out, t->window, each, t->type, t->peer, TAG, t->comm, MPI_INFO_NULL,
                   &t->requests[SEND]);
    MPI_Precv_init(t->in, t->window, each, t->type, t->peer, TAG, t->comm, MPI_INFO_NULL,
                   &t->requests[RECEIVE]);
}

static void open_latency(struct task *t)
{
    t->parts = 2; /* there and back */
    open(t);
}

static void open_bytes(struct task *t)
{
    t->parts = (double)t->bytes;
    open(t);
}

static void finish(struct task *t)
{
    for (int k = 0; k < 2; k++)
        if (t->requests[k] != MPI_REQUEST_NULL)
            MPI_Request_free(&t->requests[k]);
    free(t->requests);
}

static void go(struct task *t, int which)
{
    MPI_Start(&t->requests[which]);
    for (int k = 0; k < t->window && which == SEND; k++)
        MPI_Pready(k, t->requests[SEND]);
    MPI_Wait(&t->requests[which], MPI_STATUS_IGNORE);
}

static void latency(struct task *t, int rounds)
{
    for (int i = 0; i < 2 * rounds && t->peer >= 0; i++)
        go(t, t->first ^ (i & 1));
}

static void one_way(struct task *t, int rounds)
{
    for (int i = 0; i < rounds && t->peer >= 0; i++)
        if (t->first) {
            go(t, SEND);
            MPI_Recv(NULL, 0, MPI_BYTE, t->peer, ACK, t->comm, MPI_STATUS_IGNORE);
        } else {
            go(t, RECEIVE);
            MPI_Send(NULL, 0, MPI_BYTE, t->peer, ACK, t->comm);
        }
}

/* How late the last partition is at most, in seconds. */
#define LATE 1e-4

/* Seconds between the last partition, which is late, and its arrival: there and back. All others have arrived by
 * then, where they leave before it. */
static double late_one(struct task *t, int rounds)
{
    double sum = 0;
    int last = t->window - 1;
    for (int i = 0; i < rounds && t->peer >= 0; i++) {
        MPI_Startall(2, t->requests);
        for (int k = 0; k < last; k++)
            MPI_Pready(k, t->requests[SEND]);
        /* A library may send nothing before all of it is ready. */
        double end = now() + LATE;
        for (int k = 0, there = 0; k < last && now() < end; k += there)
            MPI_Parrived(t->requests[RECEIVE], k, &there);
        MPI_Sendrecv(NULL, 0, MPI_BYTE, t->peer, ACK, NULL, 0, MPI_BYTE, t->peer, ACK, t->comm,
                     MPI_STATUS_IGNORE);
        double start = now();
        if (t->first)
            MPI_Pready(last, t->requests[SEND]);
        MPI_Wait(&t->requests[RECEIVE], MPI_STATUS_IGNORE);
        sum += now() - start;
        if (!t->first)
            MPI_Pready(last, t->requests[SEND]);
        MPI_Wait(&t->requests[SEND], MPI_STATUS_IGNORE);
    }
    return sum;
}

static void late(struct task *t, int rounds)
{
    late_one(t, rounds);
}

#define ROW(NAME, UNIT, RECEIVERS, RUN, OPEN, ...)                                                 \
    {                                                                                              \
        .name = NAME, .family = "partitioned", .options = "mixcTIMWd", .unit = UNIT, .ranks = 2,    \
        .shape = {EVERYBODY, SINGLE, RECEIVERS, SINGLE, OF_PEER}, .run = RUN, .prepare = prepare,  \
        .open = OPEN, .finish = finish, .needs = "partitioned", __VA_ARGS__                        \
    }

const struct bench partitioned[] = {
    ROW("latency_partitioned", US, EVERYBODY, latency, open_latency, ),
    ROW("late_partition", US, EVERYBODY, late, open_latency, .sample = late_one),
    ROW("bandwidth_partitioned", MB_S, ROOT, one_way, open_bytes, ),
    {.name = NULL},
};
