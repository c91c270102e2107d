/* Threads that all talk at once: each of rank 0 has a partner on rank 1 (-t: how many). */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { USUAL_THREADS = 2 };

static atomic_int ready;
static int threads, told_rounds;

struct talker {
    struct task *task;
    int tag;
    double begin, end;
};

static void ping_pong(const struct task *t, int tag, int rounds)
{
    char *out = t->out + (size_t)tag * t->bytes, *in = t->in + (size_t)tag * t->bytes;
    for (int i = 0; i < rounds; i++)
        if (t->first) {
            MPI_Send(out, t->count, t->type, t->peer, tag, t->comm);
            MPI_Recv(in, t->count, t->type, t->peer, tag, t->comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, t->count, t->type, t->peer, tag, t->comm, MPI_STATUS_IGNORE);
            MPI_Send(out, t->count, t->type, t->peer, tag, t->comm);
        }
}

static void alone(struct task *t, int rounds)
{
    for (int tag = 0; tag < threads && t->peer >= 0; tag++)
        ping_pong(t, tag, rounds);
}

static void *talk(void *argument)
{
    struct talker *me = argument;
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < threads)
        sched_yield();
    ping_pong(me->task, me->tag, 1);
    me->begin = now();
    ping_pong(me->task, me->tag, told_rounds);
    me->end = now();
    return NULL;
}

/* From the first thread's begin to the last one's end, shared among the messages of one. */
static double sample(struct task *t, int rounds)
{
    pthread_t *handles = must(malloc(threads * sizeof *handles));
    struct talker *all = must(calloc(threads, sizeof *all));
    double begin = 0, end = 0;
    MPI_Barrier(t->comm);
    if (t->peer >= 0) {
        atomic_store(&ready, 0);
        told_rounds = rounds;
        for (int k = 0; k < threads; k++) {
            all[k] = (struct talker){.task = t, .tag = k};
            must(pthread_create(&handles[k], NULL, talk, &all[k]) ? NULL : &all[k]);
        }
        for (int k = 0; k < threads; k++) {
            pthread_join(handles[k], NULL);
            begin = k == 0 || all[k].begin < begin ? all[k].begin : begin;
            end = all[k].end > end ? all[k].end : end;
        }
    }
    free(handles);
    free(all);
    return t->first ? end - begin : 0;
}

static void prepare(struct task *t)
{
    threads = opt.tests ? opt.tests : USUAL_THREADS;
    t->first = t->rank == 0;
    t->peer = t->rank < 2 ? 1 - t->rank : -1;
    t->timers = 1;
    t->window = threads;
    t->gap = t->bytes;
    t->parts = 2;
}

const struct bench threaded[] = {
    {.name = "latency_mt", .family = "threads", .options = "mixcTDMt", .unit = US, .ranks = 2,
     .shape = {EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_PEER}, .run = alone, .prepare = prepare,
     .sample = sample, .needs = "threads"},
    {.name = NULL},
};
