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

#define ROW(NAME, UNIT, RECEIVERS, RUN, OPEN)                                                      \
    {                                                                                              \
        .name = NAME, .family = "partitioned", .options = "mixcTIMWd", .unit = UNIT, .ranks = 2,    \
        .shape = {EVERYBODY, SINGLE, RECEIVERS, SINGLE, OF_PEER}, .run = RUN, .prepare = prepare,  \
        .open = OPEN, .finish = finish, .needs = "partitioned",                                    \
    }

const struct bench partitioned[] = {
    ROW("latency_partitioned", US, EVERYBODY, latency, open_latency),
    ROW("bandwidth_partitioned", MB_S, ROOT, one_way, open_bytes),
    {.name = NULL},
};
