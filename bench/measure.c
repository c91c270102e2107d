/* Samples: all ranks begin together, do it `batch` times, and each knows how long it took.
 *
 * What is too short for the clock is done several times for one value, `batch`; how often is
 * found before the first. Nothing is exchanged between two values but what makes the ranks begin
 * together: a barrier, or a time on the clock of rank 0 that all have learnt (clocks.c).
 */
#define _GNU_SOURCE
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A clock is read in `clock_cost`. A value of something where all begin together takes at least
 * so many times that; where messages stream, longer, for the first ones find the others idle. */
enum { LEAST_CLOCKS = 100, LEAST_CLOCKS_OF_STREAMS = 10000 };
/* Ranks that share a core leave a barrier one after another, and each might find what the others
 * did meanwhile: a value spans several turns of all, seconds. */
static const double least_of_crowds = 1e-3;
static const double window_slack = 20e-6;

/* The next start that all have agreed upon, and how far apart they are. */
static double next_start, start_every;

/* Waits for the others; when it began, or NAN if that was too late. */
static double begin_together(const struct task *t)
{
    if (opt.start == BY_BARRIER) {
        MPI_Barrier(t->comm);
        return now();
    }
    double start = next_start, at = clocks_now();
    next_start += start_every;
    if (at > start)
        return NAN;
    while (clocks_now() < start)
        ;
    return start;
}

/* Seconds of `rounds`; NAN if it began late. */
static double timed(struct task *t, int rounds)
{
    if (t->bench->sample)
        return t->bench->sample(t, rounds);
    double begin = begin_together(t);
    t->bench->run(t, rounds);
    double end = opt.start == BY_BARRIER ? now() : clocks_now();
    return t->rank < t->timers ? end - begin : 0;
}

static double longest(const struct task *t, double mine)
{
    calm_allreduce(&mine, 1, MPI_DOUBLE, MPI_MAX, t->comm);
    return mine;
}

/* Seconds of `rounds` that begin together: the slowest rank's. */
static double roughly(struct task *t, int rounds)
{
    calm_barrier(t->comm);
    double begin = now();
    t->bench->run(t, rounds);
    return longest(t, now() - begin);
}

/* How many rounds a value needs to take `least` seconds; the time of a value goes to `took`. It
 * has to be long enough twice: once, somebody may have been held up. */
static int batch_of(struct task *t, double least, double *took)
{
    int rounds = opt.rounds ? opt.rounds : 1, sure = 0;
    for (;;) {
        *took = roughly(t, rounds);
        if (opt.rounds || (*took >= least && sure++) || rounds >= 1 << 24)
            return rounds;
        if (*took < least)
            rounds *= *took < least / 8 ? 4 : 2;
    }
}

/* All agree on the first start, and on time enough for each. */
static void plan_starts(const struct task *t, double took)
{
    clocks_correct();
    start_every = 1.5 * took + window_slack;
    next_start = clocks_now() + 10 * start_every;
    calm_bcast(&next_start, 1, MPI_DOUBLE, 0, t->comm);
}

static double in_unit(const struct task *t, double seconds, int batch)
{
    switch (t->bench->unit) {
    case US: return seconds / batch / t->parts * 1e6;
    case MB_S: return t->parts * batch / seconds * 1e-6;
    case PER_S: return t->parts * batch / seconds;
    default: return 0; /* PERCENT is no time */
    }
}

/* The slowest rank's and the mean; values of which some rank began late are left out. */
static void gather(struct task *t, struct samples *s, double *mine)
{
    int n = s->count;
    double *late = must(calloc(n, sizeof *late));
    for (int i = 0; i < n; i++)
        if (isnan(mine[i])) {
            late[i] = 1;
            mine[i] = 0;
        }
    memcpy(s->values, mine, n * sizeof *mine);
    memcpy(s->means, mine, n * sizeof *mine);
    calm_allreduce(late, n, MPI_DOUBLE, MPI_MAX, t->comm);
    calm_allreduce(s->values, n, MPI_DOUBLE, MPI_MAX, t->comm);
    calm_allreduce(s->means, n, MPI_DOUBLE, MPI_SUM, t->comm);
    s->count = 0;
    for (int i = 0; i < n; i++)
        if (!late[i]) {
            s->values[s->count] = in_unit(t, s->values[i], s->batch);
            s->means[s->count++] = in_unit(t, s->means[i] / t->timers, s->batch);
        }
    s->late = n - s->count;
    if (s->late)
        snprintf(s->warning, sizeof s->warning,
                 "%d of %d repetitions began late and are left out: give each rank a core, or take "
                 "--start barrier", s->late, n);
    free(late);
}

/* Whether messages stream, or some ranks go on before others: of a pair one may be no rank here. */
static bool streams(const struct task *t)
{
    enum unit unit = t->bench->unit;
    return t->timers < t->size || t->bench->shape.from == OF_PEER || unit == MB_S || unit == PER_S;
}

void measure(struct task *t, struct samples *s)
{
    double least = opt.least * 1e-6, took = 1;
    if (!least)
        least = clock_cost() * (streams(t) ? LEAST_CLOCKS_OF_STREAMS : LEAST_CLOCKS);
    if (!opt.least && crowded && least < least_of_crowds)
        least = least_of_crowds;
    least = longest(t, least);
    if (opt.warmup)
        t->bench->run(t, opt.warmup);
    bool once = !strchr(t->bench->options, 'i');
    s->batch = once ? 1 : batch_of(t, least, &took);
    double room = opt.seconds / took;
    s->count = once || room < 1 ? 1 : room < opt.samples ? (int)room : opt.samples;
    s->values = must(calloc(s->count, sizeof *s->values));
    s->means = must(calloc(s->count, sizeof *s->means));
    if (overlaps(t->bench))
        s->overlaps = must(calloc(s->count, sizeof *s->overlaps));
    double *mine = must(calloc(s->count, sizeof *mine));
    s->line[0] = line_now();
    if (opt.start == BY_WINDOW)
        plan_starts(t, took);
    for (int i = 0; i < s->count; i++) {
        mine[i] = timed(t, s->batch);
        if (s->overlaps)
            s->overlaps[i] = t->overlap;
    }
    s->line[1] = line_now();
    gather(t, s, mine);
    if (s->overlaps)
        overlap_gather(t, s);
    if (opt.counters && !once)
        counters_count(t, s->batch * (s->count + s->late), s->counts);
    free(mine);
}
