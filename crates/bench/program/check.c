/* Whether what is measured delivers the right data (-c), untimed behind the values: the same function with the same
 * arguments, at least a thousand operations of it, each with data of its own (`stamp`), so that what an operation left
 * behind is not taken for the next one's. Every rank does all of them, whatever it finds, and all ranks tell the same.
 *
 * Ranks do not wait for each other in between, as they do not while it is measured, unless the data of one must lie
 * where others act on them (`load`).
 */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Barriers move nothing: that nobody leaves one before the last rank has come is seen by marks that ranks of a node
 * leave before it. Between nodes one rank of each tells the one that comes last when it has left, and that looks for
 * such words before it comes. Another rank is the last one each time, and late enough for others to be gone if nothing
 * held them. */
enum { LEFT = 81 };
static unsigned long barriers;
static bool left_early; /* whether another node has, before this rank came */

static bool is_barrier(const struct task *t)
{
    return t->bench->shape.from == OF_NOBODY;
}

/* Of the ranks that stand for a node, the one that comes last this time, and whether this is it. */
static int last_of(MPI_Comm between, bool *is_me, int *all)
{
    int me, last;
    MPI_Comm_rank(between, &me);
    MPI_Comm_size(between, all);
    last = (int)(barriers % (unsigned long)*all);
    *is_me = me == last;
    return last;
}

static void come_to_barrier(const struct task *t)
{
    static const double later = 20e-6, later_than_nodes = 1e-3;
    MPI_Comm between = meet_between();
    int all, early = 0;
    bool last = false;
    barriers++;
    left_early = false;
    if (between != MPI_COMM_NULL) {
        last_of(between, &last, &all);
        for (double until = now() + later_than_nodes; last && now() < until; left_early |= early)
            MPI_Iprobe(MPI_ANY_SOURCE, LEFT, between, &early, MPI_STATUS_IGNORE);
    } else if ((int)(barriers % (unsigned long)t->size) == t->rank && !crowded) {
        for (double until = now() + later; now() < until;)
            ;
    }
    meet_mark(barriers);
}

static bool barrier_right(struct task *t, char *error, size_t room)
{
    MPI_Comm between = meet_between();
    int missing = meet_unmarked(barriers), all, last;
    bool is_me;
    if (missing >= 0)
        snprintf(error, room, "rank %d left before rank %d of its node came", t->rank, missing);
    if (between == MPI_COMM_NULL)
        return missing < 0;
    last = last_of(between, &is_me, &all);
    if (!is_me)
        MPI_Send(NULL, 0, MPI_BYTE, last, LEFT, between);
    for (int k = 1; k < all && is_me; k++)
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, LEFT, between, MPI_STATUS_IGNORE);
    if (missing < 0 && left_early)
        snprintf(error, room, "ranks of another node left before rank %d came", t->rank);
    return missing < 0 && !left_early;
}

/* One operation; the first thing that is wrong stays in `error`. */
static void one(struct task *t, char *error, size_t room)
{
    const struct bench *b = t->bench;
    char unused[64];
    int root = t->root, next;
    data_fill(t);
    if (b->load)
        b->load(t);
    memory_store();
    if (b->load)
        calm_barrier(t->comm);
    if (is_barrier(t))
        come_to_barrier(t);
    b->run(t, 1);
    next = t->root;
    data_aim(t, root);
    memory_load();
    check_fn *right = is_barrier(t) ? barrier_right : b->check ? b->check : data_right;
    if (*error) {
        error = unused;
        room = sizeof unused;
    }
    if (right(t, error, room))
        data_guarded(t, t->in, t->guarded, "what is received", error, room);
    data_aim(t, next);
    if (b->load)
        calm_barrier(t->comm); /* before others spoil what was looked at */
}

/* Whether the time for it is half over, on the slowest rank. */
static bool is_long(const struct task *t, double began)
{
    double took = now() - began;
    calm_allreduce(&took, 1, MPI_DOUBLE, MPI_MAX, t->comm);
    return 2 * took > opt.checking;
}

/* Which messages of a window have a block each: `lanes` from this one on, as many as there is memory for. In turn that
 * is all. */
static void spread(struct task *t, long base)
{
    t->base = (int)base;
    t->bench->spread(t);
}

void check(struct task *t, struct samples *s)
{
    int each = t->lanes ? t->lanes : 1, rounds = (opt.checks + each - 1) / each, k;
    size_t gap = t->gap;
    double began = now();
    if (opt.unchecked && strchr(t->bench->options, 'x'))
        t->bench->run(t, opt.unchecked);
    calm_barrier(t->comm); /* what others still do would be found in what is checked */
    if (t->lanes)
        t->gap = t->bytes;
    t->inspect = true;
    for (k = 0; k < rounds; k++) {
        if (t->lanes)
            spread(t, (long)k * t->lanes % t->window);
        t->stamp++;
        one(t, s->wrong, sizeof s->wrong);
        if (k >= t->size && !(k & (k + 1)) && is_long(t, began))
            break;
    }
    t->inspect = false;
    t->gap = gap;
    if (t->lanes)
        spread(t, 0);
    t->stamp = 0;
    s->checked = (k < rounds ? k + 1 : rounds) * each;
    int first = *s->wrong ? t->rank : t->size;
    calm_allreduce(&first, 1, MPI_INT, MPI_MIN, t->comm);
    if (first < t->size)
        calm_bcast(s->wrong, sizeof s->wrong, MPI_CHAR, first, t->comm);
}
