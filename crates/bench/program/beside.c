/* What messages and probes cost beside many objects: windows, communicators, requests of each kind that are pending,
 * messages that nobody has received. The message has nothing to do with any of them, so a library that keeps no list that
 * it walks over takes as long beside 10,000 as beside one. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

/* Tags: of what is measured, of what is never sent, and from where on those of the objects are. */
enum { TAG = 1, NEVER = 2, FAR = 1000 };

struct beside;
struct kind {
    void (*make)(struct beside *b, int i); /* one of them; all ranks do, in one order */
    void (*undo)(struct beside *b);        /* all */
};

/* `own` of the task. */
struct beside {
    const struct kind *kind;
    int many;
    MPI_Comm on, apart; /* the task's, and one that nothing is measured on */
    int rank, left, right;
    MPI_Win *windows;
    MPI_Comm *comms;
    MPI_Request *requests, *others;
    char *bytes; /* 8 for each */
    long out, in; /* the message that is measured; what came of it */
    bool found;   /* whether a probe found what is not there */
};

#define EVERY for (int i = 0; i < b->many; i++)
#define EIGHT(i) b->bytes + 8 * (i), 8, MPI_BYTE

static void complete(struct beside *b)
{
    MPI_Waitall(b->many, b->requests, MPI_STATUSES_IGNORE);
}

static void make_window(struct beside *b, int i)
{
    void *at;
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, b->on, &at, &b->windows[i]);
}

static void undo_windows(struct beside *b)
{
    EVERY MPI_Win_free(&b->windows[i]);
}

static void make_comm(struct beside *b, int i)
{
    MPI_Comm_dup(b->on, &b->comms[i]);
}

static void undo_comms(struct beside *b)
{
    EVERY MPI_Comm_free(&b->comms[i]);
}

static void make_receive(struct beside *b, int i)
{
    MPI_Irecv(EIGHT(i), b->left, FAR + i, b->on, &b->requests[i]);
}

static void make_any_receive(struct beside *b, int i)
{
    MPI_Irecv(EIGHT(i), MPI_ANY_SOURCE, FAR + i, b->on, &b->requests[i]);
}

static void cancel(struct beside *b)
{
    EVERY MPI_Cancel(&b->requests[i]);
    complete(b);
}

static void make_message(struct beside *b, int i)
{
    MPI_Send(EIGHT(i), b->right, FAR + i, b->on);
}

static void receive_messages(struct beside *b)
{
    EVERY MPI_Recv(EIGHT(i), b->left, FAR + i, b->on, MPI_STATUS_IGNORE);
}

static void make_send(struct beside *b, int i)
{
    MPI_Issend(EIGHT(i), b->right, FAR + i, b->on, &b->requests[i]);
}

static void undo_sends(struct beside *b)
{
    receive_messages(b);
    complete(b);
}

static void make_persistent(struct beside *b, int i)
{
    MPI_Send_init(EIGHT(i), b->right, FAR + i, b->on, &b->requests[i]);
}

static void undo_persistent(struct beside *b)
{
    EVERY MPI_Request_free(&b->requests[i]);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int ignore(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void make_generalized(struct beside *b, int i)
{
    MPI_Grequest_start(query, release, ignore, NULL, &b->requests[i]);
}

static void undo_generalized(struct beside *b)
{
    EVERY MPI_Grequest_complete(b->requests[i]);
    complete(b);
}

/* Rank 0 joins in when they are undone. */
static void make_barrier(struct beside *b, int i)
{
    if (b->rank)
        MPI_Ibarrier(b->apart, &b->requests[i]);
}

static void undo_barriers(struct beside *b)
{
    if (!b->rank)
        EVERY MPI_Ibarrier(b->apart, &b->requests[i]);
    complete(b);
}

static void make_duplicate(struct beside *b, int i)
{
    if (b->rank)
        MPI_Comm_idup(b->apart, &b->comms[i], &b->requests[i]);
}

static void undo_duplicates(struct beside *b)
{
    if (!b->rank)
        EVERY MPI_Comm_idup(b->apart, &b->comms[i], &b->requests[i]);
    complete(b);
    undo_comms(b);
}

/* The senders start when they are undone. */
static void make_partitioned(struct beside *b, int i)
{
    MPI_Psend_init(b->bytes, 1, 8, MPI_BYTE, b->right, i, b->on, MPI_INFO_NULL, &b->others[i]);
    MPI_Precv_init(b->bytes + 8 * (size_t)i, 1, 8, MPI_BYTE, b->left, i, b->on, MPI_INFO_NULL, &b->requests[i]);
    MPI_Start(&b->requests[i]);
}

static void undo_partitioned(struct beside *b)
{
    MPI_Startall(b->many, b->others);
    EVERY MPI_Pready(0, b->others[i]);
    MPI_Waitall(b->many, b->others, MPI_STATUSES_IGNORE);
    complete(b);
    EVERY {
        MPI_Request_free(&b->others[i]);
        MPI_Request_free(&b->requests[i]);
    }
}

static const struct kind windows = {make_window, undo_windows},
                         communicators = {make_comm, undo_comms},
                         receives = {make_receive, cancel},
                         any_receives = {make_any_receive, cancel},
                         unexpected = {make_message, receive_messages},
                         sends = {make_send, undo_sends},
                         persistent = {make_persistent, undo_persistent},
                         generalized = {make_generalized, undo_generalized},
                         barriers = {make_barrier, undo_barriers},
                         duplicates = {make_duplicate, undo_duplicates},
                         partitioned_receives = {make_partitioned, undo_partitioned};

static void prepare(struct task *t, const struct kind *kind, int many)
{
    struct beside *b = t->own = must(calloc(1, sizeof *b));
    pair_up(t, 1);
    b->kind = kind;
    b->many = many;
    b->on = t->comm;
    b->rank = t->rank;
    b->left = (t->rank + t->size - 1) % t->size;
    b->right = (t->rank + 1) % t->size;
    b->windows = must(calloc(many, sizeof *b->windows));
    b->comms = must(calloc(many, sizeof *b->comms));
    b->requests = must(calloc(many, sizeof *b->requests));
    b->others = must(calloc(many, sizeof *b->others));
    b->bytes = must(calloc(many, 8));
    for (int i = 0; i < many; i++)
        b->requests[i] = b->others[i] = MPI_REQUEST_NULL;
}

static void open(struct task *t)
{
    struct beside *b = t->own;
    MPI_Comm_dup(t->comm, &b->apart);
    EVERY b->kind->make(b, i);
    MPI_Barrier(t->comm);
}

static void open_latency(struct task *t)
{
    open(t);
    t->parts = 2; /* there and back */
}

static void close(struct task *t)
{
    struct beside *b = t->own;
    MPI_Barrier(t->comm);
    b->kind->undo(b);
    MPI_Comm_free(&b->apart);
}

static void finish(struct task *t)
{
    struct beside *b = t->own;
    free(b->windows);
    free(b->comms);
    free(b->requests);
    free(b->others);
    free(b->bytes);
    free(b);
}

static void latency(struct task *t, int rounds)
{
    struct beside *b = t->own;
    b->out = t->stamp;
    for (int i = 0; i < rounds && t->peer >= 0; i++)
        if (t->first) {
            MPI_Send(&b->out, 8, MPI_BYTE, t->peer, TAG, t->comm);
            MPI_Recv(&b->in, 8, MPI_BYTE, t->peer, TAG, t->comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&b->in, 8, MPI_BYTE, t->peer, TAG, t->comm, MPI_STATUS_IGNORE);
            MPI_Send(&b->out, 8, MPI_BYTE, t->peer, TAG, t->comm);
        }
}

static bool came(struct task *t, char *error, size_t room)
{
    const struct beside *b = t->own;
    if (t->peer < 0 || b->in == t->stamp)
        return true;
    snprintf(error, room, "rank %d: the message should be the number %d", t->rank, t->stamp);
    return false;
}

static void probe(struct task *t, int rounds)
{
    struct beside *b = t->own;
    int flag = 0;
    for (int i = 0; i < rounds && t->peer >= 0; i++) {
        MPI_Iprobe(t->peer, NEVER, t->comm, &flag, MPI_STATUS_IGNORE);
        b->found |= flag;
    }
}

static bool found_nothing(struct task *t, char *error, size_t room)
{
    const struct beside *b = t->own;
    if (b->found)
        snprintf(error, room, "rank %d: a probe found a message that nobody sent", t->rank);
    return !b->found;
}

#define BESIDE(X, KIND)                                                                                                \
    X(KIND, 1)                                                                                                         \
    X(KIND, 100)                                                                                                       \
    X(KIND, 10000)
#define KINDS(X)                                                                                                       \
    BESIDE(X, windows)                                                                                                 \
    BESIDE(X, communicators)                                                                                           \
    BESIDE(X, receives)                                                                                                \
    BESIDE(X, any_receives)                                                                                            \
    BESIDE(X, unexpected)                                                                                              \
    BESIDE(X, sends)                                                                                                   \
    BESIDE(X, persistent)                                                                                              \
    BESIDE(X, generalized)                                                                                             \
    BESIDE(X, barriers)                                                                                                \
    BESIDE(X, duplicates)                                                                                              \
    BESIDE(X, partitioned_receives)

#define PREPARE(KIND, MANY)                                                                                            \
    static void prepare_##KIND##_##MANY(struct task *t)                                                               \
    {                                                                                                                  \
        prepare(t, &KIND, MANY);                                                                                       \
    }
KINDS(PREPARE)

#define ROW(NAME, KIND, MANY, RUN, OPEN, RIGHT)                                                                        \
    {                                                                                                                  \
        .name = NAME "_" #MANY "_" #KIND, .family = "counts", .options = "ixcI", .unit = US, .ranks = 2,               \
        .shape = {NOBODY, SINGLE, NOBODY, SINGLE, OF_ALL}, .run = RUN, .prepare = prepare_##KIND##_##MANY,             \
        .open = OPEN, .close = close, .finish = finish, .check = RIGHT,                                                \
    },
#define ROWS(KIND, MANY)                                                                                               \
    ROW("latency", KIND, MANY, latency, open_latency, came)                                                                  \
    ROW("iprobe", KIND, MANY, probe, open, found_nothing)

const struct bench beside[] = {
    KINDS(ROWS)
    {.name = NULL},
};
