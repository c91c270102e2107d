/* One-sided communication in pairs of ranks r and r + pairs, mostly one: the first acts on the
 * other's window, both on each other's for the bi-bandwidth. -w: how the window is made; -s: what opens and closes an epoch,
 * once for each operation, or for each window of them where it is about bandwidth. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 5, USUAL_WINDOW = 64 };

/* Whether it is about one element, and has no sizes. */
static bool has_one(const struct task *t)
{
    return !strchr(t->bench->options, 'm');
}

/* `own` of the task. */
struct region {
    MPI_Win win;
    MPI_Comm pair;
    int here, there; /* this rank in it, and the other */
    MPI_Group other;
    MPI_Aint at; /* of the other's memory */
    enum memory_of memory_of;
    char *room, *memory; /* `memory` in the midst of `room`, which is the window: nothing else of it is written */
};

static void prepare(struct task *t, int pairs, int window)
{
    struct region *r = must(calloc(1, sizeof *r));
    *r = (struct region){.win = MPI_WIN_NULL, .pair = MPI_COMM_NULL, .other = MPI_GROUP_NULL};
    t->own = r;
    t->window = window;
    t->gap = t->bytes ? t->bytes : sizeof(long);
    pair_up(t, pairs);
    r->here = !t->first;
    r->there = t->first;
    for (int e = 0; e < element_count && has_one(t); e++)
        if (elements[e].type == MPI_LONG)
            t->element = &elements[e]; /* of what has one element only */
    r->memory_of = opt.memory_of ? opt.memory_of : opt.device ? CREATED : ALLOCATED;
    if (r->memory_of == ALLOCATED && opt.device)
        t->skip = "MPI_Win_allocate gives memory of the host: -w create";
    MPI_Comm_split(world, t->peer < 0 ? MPI_UNDEFINED : t->first ? t->rank : t->peer, t->rank,
                   &r->pair);
}

static int window(void)
{
    return opt.window ? opt.window : USUAL_WINDOW;
}

static void one(struct task *t)
{
    prepare(t, 1, 1);
}

static void many(struct task *t)
{
    prepare(t, 1, window());
}

static int pairs(const struct task *t)
{
    return opt.pairs ? opt.pairs : t->size;
}

static void one_of_pairs(struct task *t)
{
    prepare(t, pairs(t), 1);
}

static void many_of_pairs(struct task *t)
{
    prepare(t, pairs(t), window());
}

static size_t bytes_of(const struct task *t)
{
    return (size_t)t->window * t->gap;
}

static step_fn load;

static void open(struct task *t)
{
    struct region *r = t->own;
    MPI_Aint bytes = (MPI_Aint)(bytes_of(t) + 2 * GUARD_ROOM), mine;
    MPI_Group both;
    if (t->peer < 0)
        return;
    errors_listen(r->pair);
    if (r->memory_of != ALLOCATED)
        r->room = memory_take(bytes, memory_on_device(t));
    if (r->memory_of == ALLOCATED)
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, r->pair, &r->room, &r->win);
    else if (r->memory_of == CREATED)
        MPI_Win_create(r->room, bytes, 1, MPI_INFO_NULL, r->pair, &r->win);
    else
        MPI_Win_create_dynamic(MPI_INFO_NULL, r->pair, &r->win);
    if (r->win == MPI_WIN_NULL)
        return;
    errors_listen_window(r->win);
    if (r->memory_of == DYNAMIC) {
        MPI_Win_attach(r->win, r->room, bytes);
        MPI_Get_address(r->room, &mine);
        MPI_Sendrecv(&mine, 1, MPI_AINT, r->there, TAG, &r->at, 1, MPI_AINT, r->there, TAG, r->pair,
                     MPI_STATUS_IGNORE);
    }
    r->memory = r->room + GUARD_ROOM;
    r->at += GUARD_ROOM;
    MPI_Comm_group(r->pair, &both);
    MPI_Group_incl(both, 1, &r->there, &r->other);
    MPI_Group_free(&both);
    load(t);
    if (opt.sync == FLUSH || opt.sync == FLUSH_LOCAL)
        MPI_Win_lock(MPI_LOCK_SHARED, r->there, 0, r->win);
}

static void open_bytes(struct task *t)
{
    t->parts = (double)t->window * t->pairs * t->bytes;
    open(t);
}

static void open_bytes_both_ways(struct task *t)
{
    t->parts = 2.0 * t->window * t->bytes;
    open(t);
}

static void unlock(struct task *t)
{
    struct region *r = t->own;
    if (t->peer < 0)
        return;
    if (opt.sync == FLUSH || opt.sync == FLUSH_LOCAL)
        MPI_Win_unlock(r->there, r->win);
    MPI_Barrier(r->pair);
    if (r->memory_of == DYNAMIC)
        MPI_Win_detach(r->win, r->room);
    MPI_Win_free(&r->win);
    MPI_Group_free(&r->other);
}

static void finish(struct task *t)
{
    struct region *r = t->own;
    if (r->pair != MPI_COMM_NULL)
        MPI_Comm_free(&r->pair);
    if (r->memory_of != ALLOCATED)
        memory_give_back(r->room);
    free(r);
}

static void begin(const struct task *t, MPI_Win win, bool acts, bool exposes)
{
    const struct region *r = t->own;
    switch (opt.sync) {
    case LOCK:
        if (acts)
            MPI_Win_lock(MPI_LOCK_SHARED, r->there, 0, win);
        break;
    case LOCK_ALL:
        if (acts)
            MPI_Win_lock_all(0, win);
        break;
    case PSCW:
        if (exposes)
            MPI_Win_post(r->other, 0, win);
        if (acts)
            MPI_Win_start(r->other, 0, win);
        break;
    case FENCE: MPI_Win_fence(0, win); break;
    default: break;
    }
}

static void end(const struct task *t, MPI_Win win, bool acts, bool exposes)
{
    const struct region *r = t->own;
    switch (opt.sync) {
    case FLUSH:
        if (acts)
            MPI_Win_flush(r->there, win);
        break;
    case FLUSH_LOCAL:
        if (acts)
            MPI_Win_flush_local(r->there, win);
        break;
    case LOCK:
        if (acts)
            MPI_Win_unlock(r->there, win);
        break;
    case LOCK_ALL:
        if (acts)
            MPI_Win_unlock_all(win);
        break;
    case PSCW:
        if (acts)
            MPI_Win_complete(win);
        if (exposes)
            MPI_Win_wait(win);
        break;
    case FENCE: MPI_Win_fence(0, win); break;
    }
}

#define OUT (t->out + k * t->gap), t->count, t->type
#define IN (t->in + k * t->gap), t->count, t->type
#define THERE r->there, r->at + (MPI_Aint)(k * t->gap), t->count, t->type

/* What an operation does to the window, and whether it brings what was there. */
enum effect { LEAVES, REPLACES, ADDS };

/* X(name, effect, brings, call): one operation, the k-th of the window. */
#define OPERATIONS(X)                                                                              \
    X(put, REPLACES, false, MPI_Put(OUT, THERE, r->win))                                           \
    X(get, LEAVES, true, MPI_Get(IN, THERE, r->win))                                               \
    X(accumulate, ADDS, false, MPI_Accumulate(OUT, THERE, MPI_SUM, r->win))                        \
    X(get_accumulate, ADDS, true, MPI_Get_accumulate(OUT, IN, THERE, MPI_SUM, r->win))             \
    X(fetch_and_op, ADDS, true,                                                                    \
      MPI_Fetch_and_op(t->out, t->in, MPI_LONG, r->there, r->at, MPI_SUM, r->win); (void)k)         \
    X(compare_and_swap, REPLACES, true,                                                            \
      MPI_Compare_and_swap(t->out, COMPARED, t->in, MPI_LONG, r->there, r->at, r->win); (void)k)

/* Behind the element that is swapped in. */
#define COMPARED (t->out + sizeof(long))

/* A process looks at its own window as at another's, where epochs are passive. */
static void look(const struct task *t, bool begins)
{
    const struct region *r = t->own;
    if (opt.sync == PSCW || opt.sync == FENCE)
        return;
    if (begins)
        MPI_Win_lock(MPI_LOCK_SHARED, r->here, 0, r->win);
    else
        MPI_Win_unlock(r->here, r->win);
}

static size_t elements_of(const struct task *t)
{
    return has_one(t) ? 1 : t->bytes / t->element->size;
}

/* A window holds what its owner has for the other. */
static void load(struct task *t)
{
    const struct region *r = t->own;
    if (t->peer < 0)
        return;
    look(t, true);
    for (int k = 0; k < t->window; k++)
        data_put(t, memory_view(r->memory + k * t->gap), t->rank, data_lane(t, t->peer, k), elements_of(t));
    data_guard(r->memory, bytes_of(t));
    memory_store();
    look(t, false);
    if (!has_one(t))
        return;
    t->element->put(memory_view(t->out), 0, data_value(t, t->rank, t->peer, 0));
    t->element->put(memory_view(COMPARED), 0, data_value(t, t->peer, t->rank, 0));
}

static run_fn put_both_ways;

/* One round later. */
static bool right(struct task *t, enum effect effect, bool brings, char *error, size_t room)
{
    const struct region *r = t->own;
    bool both = t->bench->run == put_both_ways, good = true;
    if (t->peer < 0)
        return true;
    if (opt.sync == FLUSH_LOCAL && (t->first || both))
        MPI_Win_flush(r->there, r->win);
    MPI_Barrier(r->pair);
    look(t, true);
    memory_load();
    for (int k = 0; k < t->window && good; k++) {
        const char *window = r->memory + k * t->gap;
        int mine = data_lane(t, t->peer, k), other = data_lane(t, t->rank, k);
        if (!both && t->first)
            good = !brings || data_same(t, t->in + k * t->gap, t->peer, other, elements_of(t), "what came", error, room);
        else if (effect == REPLACES)
            good = data_same(t, window, t->peer, other, elements_of(t), "the window", error, room);
        else if (effect == LEAVES)
            good = data_same(t, window, t->rank, mine, elements_of(t), "the window", error, room);
        else
            for (size_t i = 0; i < elements_of(t) && good; i++)
                good = data_equal(t, window, i, data_value(t, t->rank, mine, i) + data_value(t, t->peer, other, i),
                                  "the window", error, room);
    }
    good = good && data_guarded(t, r->memory, bytes_of(t), "the window", error, room);
    look(t, false);
    return good;
}

#define CALL(name, effect, brings, call)                                                           \
    static bool name##_right(struct task *t, char *error, size_t room)                             \
    {                                                                                              \
        return right(t, effect, brings, error, room);                                              \
    }                                                                                              \
    static void name##_by(struct task *t, int rounds, bool acts, bool exposes)                     \
    {                                                                                              \
        struct region *r = t->own;                                                                 \
        for (int i = 0; i < rounds && t->peer >= 0; i++) {                                         \
            begin(t, r->win, acts, exposes);                                                       \
            for (int k = 0; k < t->window && acts; k++) {                                          \
                call;                                                                              \
            }                                                                                      \
            end(t, r->win, acts, exposes);                                                         \
        }                                                                                          \
    }                                                                                              \
    static void name(struct task *t, int rounds)                                                   \
    {                                                                                              \
        name##_by(t, rounds, t->first, !t->first);                                                 \
    }

OPERATIONS(CALL)

static void put_both_ways(struct task *t, int rounds)
{
    put_by(t, rounds, true, true);
}

#define ROW(NAME, OPTIONS, UNIT, FROM, RUN, RIGHT, PREPARE, OPEN)                                  \
    {                                                                                              \
        .name = NAME, .family = "one-sided", .options = OPTIONS "ixcIMwsd", .unit = UNIT,          \
        .ranks = 2, .shape = {EVERYBODY, SINGLE, NOBODY, SINGLE, FROM}, .run = RUN,                \
        .prepare = PREPARE, .open = OPEN, .close = unlock, .finish = finish, .needs = "windows",   \
        .load = load, .check = RIGHT,                                                              \
    }

const struct bench one_sided[] = {
    ROW("put_latency", "mT", US, OF_PEER, put, put_right, one, open),
    ROW("get_latency", "mT", US, OF_PEER, get, get_right, one, open),
    ROW("accumulate_latency", "mT", US, OF_PEER_AND_ME, accumulate, accumulate_right, one, open),
    ROW("get_accumulate_latency", "mT", US, OF_PEER_AND_ME, get_accumulate, get_accumulate_right,
        one, open),
    ROW("fetch_and_op_latency", "", US, OF_PEER_AND_ME, fetch_and_op, fetch_and_op_right, one,
        open),
    ROW("compare_and_swap_latency", "", US, OF_PEER, compare_and_swap, compare_and_swap_right, one,
        open),
    ROW("put_bandwidth", "mTW", MB_S, OF_PEER, put, put_right, many, open_bytes),
    ROW("get_bandwidth", "mTW", MB_S, OF_PEER, get, get_right, many, open_bytes),
    ROW("put_bibandwidth", "mTW", MB_S, OF_PEER, put_both_ways, put_right, many,
        open_bytes_both_ways),
    ROW("put_multi_latency", "mTp", US, OF_PEER, put, put_right, one_of_pairs, open),
    ROW("get_multi_latency", "mTp", US, OF_PEER, get, get_right, one_of_pairs, open),
    ROW("put_multi_bandwidth", "mTWp", MB_S, OF_PEER, put, put_right, many_of_pairs, open_bytes),
    ROW("get_multi_bandwidth", "mTWp", MB_S, OF_PEER, get, get_right, many_of_pairs, open_bytes),
    {.name = NULL},
};
