/* All ranks want one thing of rank 0's window: its exclusive lock, under which each adds to a number there, or that
 * number itself, to which each adds without a lock of its own. A value is the time of one such addition, all ranks
 * together. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

/* `own` of the task. */
struct number {
    MPI_Win win;
    long *at; /* here; that of rank 0 counts */
};

static void prepare(struct task *t)
{
    t->own = must(calloc(1, sizeof(struct number)));
}

static void open(struct task *t)
{
    struct number *n = t->own;
    t->parts = t->size;
    MPI_Win_allocate(sizeof *n->at, sizeof *n->at, MPI_INFO_NULL, t->comm, &n->at, &n->win);
    errors_listen_window(n->win);
}

static void open_counter(struct task *t)
{
    struct number *n = t->own;
    open(t);
    MPI_Win_lock_all(0, n->win);
}

static void close(struct task *t)
{
    struct number *n = t->own;
    MPI_Win_free(&n->win);
}

static void close_counter(struct task *t)
{
    struct number *n = t->own;
    MPI_Win_unlock_all(n->win);
    close(t);
}

static void finish(struct task *t)
{
    free(t->own);
}

static void lock(struct task *t, int rounds)
{
    struct number *n = t->own;
    for (int i = 0; i < rounds; i++) {
        long value = 0;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, n->win);
        MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, n->win);
        MPI_Win_flush(0, n->win);
        value++;
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, n->win);
        MPI_Win_unlock(0, n->win);
    }
}

static void count(struct task *t, int rounds)
{
    struct number *n = t->own;
    for (int i = 0; i < rounds; i++) {
        long one = 1, before;
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, n->win);
        MPI_Win_flush(0, n->win);
    }
}

static void load(struct task *t)
{
    struct number *n = t->own;
    bool locks = t->bench->run == lock;
    if (locks)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, n->win);
    *n->at = 0;
    if (locks)
        MPI_Win_unlock(t->rank, n->win);
    else
        MPI_Win_sync(n->win);
    MPI_Barrier(t->comm);
}

/* One round later. */
static bool right(struct task *t, char *error, size_t room)
{
    struct number *n = t->own;
    bool locks = t->bench->run == lock;
    long sum;
    MPI_Barrier(t->comm);
    if (locks)
        MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, n->win);
    else
        MPI_Win_sync(n->win);
    sum = *n->at;
    if (locks)
        MPI_Win_unlock(t->rank, n->win);
    if (t->rank || sum == t->size)
        return true;
    snprintf(error, room, "%d ranks have added 1 each, and the sum is %ld", t->size, sum);
    return false;
}

#define ROW(NAME, RUN, OPEN, CLOSE)                                                                \
    {                                                                                              \
        .name = NAME, .family = "one-sided", .options = "ixcI", .unit = US, .ranks = 2,            \
        .shape = {EVERYBODY, SINGLE, NOBODY, SINGLE, OF_ALL}, .run = RUN, .prepare = prepare,      \
        .open = OPEN, .close = CLOSE, .finish = finish, .needs = "windows", .load = load,          \
        .check = right,                                                                            \
    }

const struct bench contention[] = {
    ROW("contended_lock", lock, open, close),
    ROW("contended_counter", count, open_counter, close_counter),
    {.name = NULL},
};
