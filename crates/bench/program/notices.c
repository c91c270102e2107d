/* Data that arrive in a window of the other of ranks 0 and 1, which waits for them: there and back. A put that notifies
 * (MPIX_Put_notify), where the library has it, and what programs do without: a put, a flush, and an empty message.
 * `latency` moves the same bytes by a message alone. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

enum { TAG = 9 };

/* This program runs on any library with the standard ABI, whichever it was built with. */
#ifdef MPIX_HAVE_NOTIFY
#pragma weak MPIX_Win_set_num_notify
#pragma weak MPIX_Put_notify
#pragma weak MPIX_Win_wait_notify
#define HAS_NOTIFY (MPIX_Win_set_num_notify && MPIX_Put_notify && MPIX_Win_wait_notify)
#else
#define HAS_NOTIFY 0
#define MPIX_Win_set_num_notify(...) ((void)0)
#define MPIX_Put_notify(...) ((void)0)
#define MPIX_Win_wait_notify(...) ((void)0)
#endif

/* `own` of the task. */
struct room {
    MPI_Win win;
    char *memory;
    MPI_Count arrived; /* notifications so far */
};

static void prepare(struct task *t)
{
    pair_up(t, 1);
    t->timers = 2;
    t->own = must(calloc(1, sizeof(struct room)));
}

static void open(struct task *t)
{
    struct room *r = t->own;
    t->parts = 2; /* there and back */
    MPI_Win_allocate((MPI_Aint)t->bytes, 1, MPI_INFO_NULL, t->comm, &r->memory, &r->win);
    errors_listen_window(r->win);
    memset(r->memory, 1, t->bytes); /* no zeros: see data_open */
    if (HAS_NOTIFY)
        MPIX_Win_set_num_notify(r->win, MPI_INFO_NULL, 1);
    MPI_Win_lock_all(0, r->win);
}

static void close(struct task *t)
{
    struct room *r = t->own;
    MPI_Win_unlock_all(r->win);
    MPI_Win_free(&r->win);
}

static void finish(struct task *t)
{
    free(t->own);
}

static void put_and_tell(struct task *t)
{
    struct room *r = t->own;
    MPI_Put(t->out, t->count, t->type, t->peer, 0, t->count, t->type, r->win);
    MPI_Win_flush(t->peer, r->win);
    MPI_Send(NULL, 0, MPI_BYTE, t->peer, TAG, t->comm);
}

static void hear(struct task *t)
{
    struct room *r = t->own;
    MPI_Recv(NULL, 0, MPI_BYTE, t->peer, TAG, t->comm, MPI_STATUS_IGNORE);
    MPI_Win_sync(r->win);
}

static void put_with_notice(struct task *t)
{
    struct room *r = t->own;
    if (HAS_NOTIFY)
        MPIX_Put_notify(t->out, t->count, t->type, t->peer, 0, t->count, t->type, 0, r->win);
    else
        put_and_tell(t);
}

static void await_notice(struct task *t)
{
    struct room *r = t->own;
    if (HAS_NOTIFY)
        MPIX_Win_wait_notify(r->win, 0, ++r->arrived);
    else
        hear(t);
}

#define THERE_AND_BACK(name, put, wait)                                                            \
    static void name(struct task *t, int rounds)                                                   \
    {                                                                                              \
        for (int i = 0; i < rounds && t->peer >= 0; i++)                                           \
            if (t->first) {                                                                        \
                put(t);                                                                            \
                wait(t);                                                                           \
            } else {                                                                               \
                wait(t);                                                                           \
                put(t);                                                                            \
            }                                                                                      \
    }

THERE_AND_BACK(notified, put_with_notice, await_notice)
THERE_AND_BACK(told, put_and_tell, hear)

/* What is in the window is to be what comes from the other one. */
static bool right(struct task *t, char *error, size_t room)
{
    const struct room *r = t->own;
    if (t->peer >= 0)
        memcpy(t->in, r->memory, t->bytes);
    return data_right(t, error, room);
}

/* What is there is not what comes; and the other one puts nothing more before this rank has looked. */
static void spoil(struct task *t)
{
    struct room *r = t->own;
    memset(r->memory, 0xff, t->bytes);
    MPI_Win_sync(r->win);
}

#define ROW(NAME, RUN)                                                                             \
    {                                                                                              \
        .name = NAME, .family = "one-sided", .options = "mixcTIM", .unit = US, .ranks = 2,         \
        .shape = {EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_PEER}, .run = RUN, .prepare = prepare,  \
        .open = open, .close = close, .finish = finish, .needs = "windows", .load = spoil,         \
        .check = right,                                                                            \
    }

const struct bench notices[] = {
    ROW("put_notify_latency", notified),
    ROW("put_message_latency", told),
    {.name = NULL},
};
