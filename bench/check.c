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
 * leave before it, and between nodes by the common clock. Another rank is the last one each time, and late enough for
 * others to be gone if nothing held them. */
static unsigned long barriers;
static double entered, left;

static bool is_barrier(const struct task *t)
{
    return t->bench->shape.from == OF_NOBODY;
}

static void come_to_barrier(const struct task *t)
{
    double late = crowded ? 0 : meet_between() != MPI_COMM_NULL ? 1e-3 : 20e-6, until = now() + late;
    barriers++;
    while ((int)(barriers % (unsigned long)t->size) == t->rank && now() < until)
        ;
    entered = clocks_now();
    meet_mark(barriers);
}

static bool barrier_right(struct task *t, char *error, size_t room)
{
    static const double clocks_differ = 200e-6;
    int missing = meet_unmarked(barriers);
    MPI_Comm between = meet_between();
    double last = entered;
    if (missing >= 0)
        snprintf(error, room, "rank %d left before rank %d of its node came", t->rank, missing);
    if (between == MPI_COMM_NULL)
        return missing < 0;
    calm_allreduce(&last, 1, MPI_DOUBLE, MPI_MAX, between);
    if (missing < 0 && left < last - clocks_differ)
        snprintf(error, room, "rank %d left %.0f us before the last rank of another node came", t->rank,
                 1e6 * (last - left));
    return !*error;
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
    left = clocks_now();
    next = t->root;
    data_aim(t, root);
    memory_load();
    check_fn *right = is_barrier(t) ? barrier_right : b->check ? b->check : data_right;
    right(t, *error ? unused : error, *error ? sizeof unused : room);
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
        t->stamp++;
        one(t, s->wrong, sizeof s->wrong);
        if (k >= t->size && !(k & (k + 1)) && is_long(t, began))
            break;
    }
    t->inspect = false;
    t->gap = gap;
    t->stamp = 0;
    s->checked = (k < rounds ? k + 1 : rounds) * each;
    int first = *s->wrong ? t->rank : t->size;
    calm_allreduce(&first, 1, MPI_INT, MPI_MIN, t->comm);
    if (first < t->size)
        calm_bcast(s->wrong, sizeof s->wrong, MPI_CHAR, first, t->comm);
}
