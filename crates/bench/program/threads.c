/* Latency between a process of several threads and another (-t SENDERS:RECEIVERS, 1:2), and between
 * processes that have forked so many others (1:1).
 *
 * Round trip i is begun by thread i mod SENDERS of rank 0 and answered by thread i mod RECEIVERS of
 * rank 1. A value is the time between a thread's messages. Forked processes only wait; but memory
 * that is shared with them is copied when it is written to, and libraries may have to know.
 */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAGS = 16384, RECEIVING_THREADS = 2 };

static atomic_int ready;

/* `own` of the task. */
struct crew {
    int senders, receivers, mine;
    int trips;   /* in a round */
    int pipe[2]; /* its end tells forked processes to end */
};

struct talker {
    struct task *task;
    int index, trips;
    double begin, end;
};

/* The part of a thread in `trips` round trips, of which each thread has its turn. */
static void talk(const struct task *t, int index, int trips)
{
    const struct crew *c = t->own;
    char *out = t->out + (size_t)index * t->bytes, *in = t->in + (size_t)index * t->bytes;
    for (int i = index; i < trips; i += c->mine)
        if (t->first) {
            MPI_Send(out, t->count, t->type, t->peer, i % TAGS, t->comm);
            MPI_Recv(in, t->count, t->type, t->peer, i % TAGS, t->comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, t->count, t->type, t->peer, i % TAGS, t->comm, MPI_STATUS_IGNORE);
            MPI_Send(out, t->count, t->type, t->peer, i % TAGS, t->comm);
        }
}

static void *thread(void *argument)
{
    struct talker *me = argument;
    const struct crew *c = me->task->own;
    memory_of_thread();
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < c->mine)
        sched_yield();
    talk(me->task, me->index, c->trips);
    me->begin = now();
    talk(me->task, me->index, me->trips);
    me->end = now();
    return NULL;
}

/* Seconds from the first thread's begin to the last one's end. */
static double sample(struct task *t, int rounds)
{
    const struct crew *c = t->own;
    pthread_t *handles = must(malloc(c->mine * sizeof *handles));
    struct talker *all = must(calloc(c->mine, sizeof *all));
    double begin = 0, end = 0;
    meet_for(t);
    if (t->peer >= 0) {
        atomic_store(&ready, 0);
        for (int k = 0; k < c->mine; k++) {
            all[k] = (struct talker){.task = t, .index = k, .trips = rounds * c->trips};
            must(pthread_create(&handles[k], NULL, thread, &all[k]) ? NULL : &all[k]);
        }
        for (int k = 0; k < c->mine; k++) {
            pthread_join(handles[k], NULL);
            begin = k == 0 || all[k].begin < begin ? all[k].begin : begin;
            end = all[k].end > end ? all[k].end : end;
        }
    }
    free(handles);
    free(all);
    return t->first ? end - begin : 0;
}

static void run_threads(struct task *t, int rounds)
{
    sample(t, rounds);
}

static void run_alone(struct task *t, int rounds)
{
    if (t->peer >= 0)
        talk(t, 0, rounds);
}

static void prepare(struct task *t, int receivers)
{
    struct crew *c = must(calloc(1, sizeof *c));
    t->own = c;
    c->senders = opt.senders ? opt.senders : 1;
    c->receivers = opt.tests > 0 ? opt.tests : receivers;
    t->first = t->rank == 0;
    t->peer = t->rank < 2 ? 1 - t->rank : -1;
    t->timers = 1;
}

/* A block for each thread. */
static void prepare_threads(struct task *t)
{
    prepare(t, RECEIVING_THREADS);
    struct crew *c = t->own;
    c->mine = t->first ? c->senders : c->receivers;
    c->trips = c->senders > c->receivers ? c->senders : c->receivers;
    t->parts = 2.0 * c->trips / c->senders;
    t->outs = t->ins = c->mine;
    t->to = must(calloc(c->mine, sizeof *t->to));
    t->from = must(calloc(c->mine, sizeof *t->from));
}

static void prepare_processes(struct task *t)
{
    prepare(t, 1);
    ((struct crew *)t->own)->mine = 1;
    t->parts = 2; /* there and back */
}

static void fork_processes(struct task *t)
{
    struct crew *c = t->own;
    char end;
    must(pipe(c->pipe) ? NULL : c);
    for (int left = t->peer < 0 ? 0 : t->first ? c->senders : c->receivers; left; left--) {
        pid_t child = fork();
        must(child < 0 ? NULL : c);
        if (child)
            continue;
        close(c->pipe[1]);
        _exit((int)read(c->pipe[0], &end, 1));
    }
    close(c->pipe[0]);
}

static void end_processes(struct task *t)
{
    struct crew *c = t->own;
    close(c->pipe[1]);
    for (int left = t->peer < 0 ? 0 : t->first ? c->senders : c->receivers; left; left--)
        wait(NULL);
}

static void finish(struct task *t)
{
    free(t->own);
}

#define ROW(NAME, FAMILY, RUN, PREPARE, ...)                                                       \
    {                                                                                              \
        .name = NAME, .family = FAMILY, .options = "mixcTDMtd", .unit = US, .ranks = 2,           \
        .shape = {EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_PEER}, .run = RUN, .prepare = PREPARE,  \
        .finish = finish, __VA_ARGS__                                                              \
    }

const struct bench threaded[] = {
    ROW("latency_mt", "threads", run_threads, prepare_threads, .sample = sample,
        .needs = "threads"),
    ROW("latency_mp", "processes", run_alone, prepare_processes, .open = fork_processes,
        .close = end_processes),
    {.name = NULL},
};
