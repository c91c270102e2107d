/* How much of an operation a computation of its length hides, and how much it leaves.
 *
 * As the OSU micro-benchmarks define it: with the operation by itself taking `pure`, and the same
 * around a computation that takes `computed` taking `whole`, each the mean of all ranks, it is
 * 100 (1 - (whole - computed) / pure) percent; what is left exposed is whole - computed. The
 * computation is the same work for every rank and sample, as long as the slowest rank needs for the
 * operation when nothing interferes; what it really takes is measured, for a rank may lose its core
 * meanwhile. Tests between its pieces count as communication. Less than nothing is hidden where the
 * two hinder each other: it is told as it is, and so are causes of doubt. What is over within some
 * microseconds is in doubt: it is as long as the calls themselves.
 *
 * The ranks are away in one of three ways (--away): all compute; all sleep as long, so that their cores
 * are free for whoever moves the data; or one side computes, rank 0 of a collective, who sends of
 * isend_overlap, who receives of irecv_overlap, and the others wait in the library. What counts is then
 * what the side that computes loses.
 */
#define _GNU_SOURCE
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static const double between_tests = 10e-6;
static const double least_us = 5;

/* The computation: a chain of multiplications, `units` long. */
static volatile double sink;

static void compute(long units)
{
    double x = 1.0;
    for (long i = 0; i < units; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

/* Seconds of one unit on the slowest rank; the best of some tries, as others lost the core. */
static double seconds_per_unit(const struct task *t)
{
    enum { TRIES = 50, UNITS = 20000 };
    static double known;
    double best = 0;
    for (int i = 0; i < TRIES && !known; i++) {
        double begin = now();
        compute(UNITS);
        double took = now() - begin;
        best = i == 0 || took < best ? took : best;
    }
    if (!known) {
        calm_allreduce(&best, 1, MPI_DOUBLE, MPI_MAX, t->comm);
        known = best;
    }
    return known / UNITS;
}

static void doze(double seconds)
{
    struct timespec span = {.tv_sec = (time_t)seconds};
    span.tv_nsec = (long)((seconds - span.tv_sec) * 1e9);
    prctl(PR_SET_TIMERSLACK, 1000);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
}

/* Whether this rank is away during the operation; if not, it waits. */
static bool goes_away(const struct task *t)
{
    return opt.away != ONE_SIDE || (t->pairs ? t->peer >= 0 && t->first : t->rank == 0);
}

/* Calls of MPI_Test while this rank is away; negative: one now and then. */
static int tests_meanwhile(void)
{
    return opt.tests < 0 && opt.away != BURNING ? 0 : opt.tests;
}

/* Seconds of the operation around `pieces` of `units` each, with a test after each piece, and of
 * these alone. */
static double around(struct task *t, int rounds, long pieces, long units, double *computed)
{
    double took = 0;
    int tests = tests_meanwhile();
    *computed = 0;
    if (!goes_away(t))
        pieces = 0;
    for (int i = 0; i < rounds; i++, next_root(t)) {
        int done = 0;
        /* What is checked is not begun together: nobody but the operation itself is to hold anybody. */
        double begin = t->inspect ? now() : meet_for(t);
        t->bench->start(t);
        for (long p = 0; p < pieces; p++) {
            double from = now();
            if (opt.away == SLEEPING)
                doze(units * seconds_per_unit(t));
            else
                compute(units);
            *computed += now() - from;
            if (!done && tests)
                MPI_Test(&t->request, &done, MPI_STATUS_IGNORE);
        }
        if (!done)
            MPI_Wait(&t->request, MPI_STATUS_IGNORE);
        took += now() - begin;
    }
    return took;
}

/* Cuts a computation as long as the operation into `pieces` of `units`. */
static void cut(struct task *t, int rounds, double unit)
{
    enum { TRIES = 10 };
    double shortest = 0, spent = 0, nothing;
    int tests = tests_meanwhile();
    for (int i = 0; i < TRIES && spent <= opt.seconds; i++) {
        double took = around(t, rounds, 0, 0, &nothing) / rounds;
        calm_allreduce(&took, 1, MPI_DOUBLE, MPI_MAX, t->comm);
        spent += took * rounds;
        shortest = i == 0 || took < shortest ? took : shortest;
    }
    t->pieces = tests < 0 ? 1 + (long)(shortest / between_tests) : tests ? tests : 1;
    t->units = (long)(shortest / t->pieces / unit);
}

/* What is measured, in turn by itself and around its computation, once that is known. */
void run_around(struct task *t, int rounds)
{
    double nothing;
    for (int i = 0; i < rounds; i++)
        around(t, 1, (t->stamp & 1) && t->pieces ? t->pieces : 0, t->units, &nothing);
}

bool overlaps(const struct bench *b)
{
    return b->sample == sample_overlap;
}

double sample_overlap(struct task *t, int rounds)
{
    double unit = seconds_per_unit(t), nothing, computed;
    if (!t->pieces)
        cut(t, rounds, unit);
    double pure = around(t, rounds, 0, 0, &nothing);
    double whole = around(t, rounds, t->pieces, t->units, &computed);
    t->overlap = (struct overlap){0};
    if (goes_away(t))
        t->overlap = (struct overlap){.pure = pure, .whole = whole, .computed = computed,
                                      .wanted = rounds * t->pieces * t->units * unit};
    return pure + whole;
}

/* Ranks that are away. */
static int ranks_away(const struct task *t)
{
    int each = opt.away == ONE_SIDE ? 1 : 2;
    return t->pairs ? each * t->pairs : opt.away == ONE_SIDE ? 1 : t->size;
}

/* Causes of doubt, the worst first. */
static void doubt(const struct task *t, struct samples *s)
{
    size_t n = s->count;
    double *pure = must(malloc(n * sizeof *pure)), *stretched = must(malloc(n * sizeof *pure));
    for (size_t i = 0; i < n; i++) {
        pure[i] = s->overlaps[i].pure * 1e6 / s->batch;
        stretched[i] = s->overlaps[i].computed / s->overlaps[i].wanted;
    }
    double middle = percentile(pure, s->count, 50), clocks = 2e6 * t->pieces * clock_cost() / middle;
    double stretch = percentile(stretched, s->count, 50);
    double low = percentile(pure, s->count, 25), high = percentile(pure, s->count, 75);
    if (t->bench->unit == PERCENT && middle < least_us)
        snprintf(s->warning, sizeof s->warning,
                 "too short to be overlapped: it takes %.1f us, less than %.0f", middle, least_us);
    else if (clocks > 0.1)
        snprintf(s->warning, sizeof s->warning,
                 "too short to be overlapped: reading the clock alone takes %.0f %% of it",
                 100 * clocks);
    else if (stretch > 1.25 && opt.away != SLEEPING)
        snprintf(s->warning, sizeof s->warning,
                 "computing took %.1f times as long as it should: ranks share cores, with one "
                 "another or with other programs", stretch);
    else if (high > 2 * low)
        snprintf(s->warning, sizeof s->warning,
                 "unsteady: by itself the operation took %.3g us in a quarter of the samples, and "
                 "%.3g us or more in another", low, high);
    free(pure);
    free(stretched);
}

/* From each rank's seconds to the value of all. */
void overlap_gather(struct task *t, struct samples *s)
{
    enum { NUMBERS = sizeof(struct overlap) / sizeof(double) };
    calm_allreduce(s->overlaps, s->count * NUMBERS, MPI_DOUBLE, MPI_SUM, t->comm);
    int ranks = ranks_away(t);
    for (int i = 0; i < s->count; i++) {
        struct overlap *o = &s->overlaps[i];
        *o = (struct overlap){.pure = o->pure / ranks, .whole = o->whole / ranks,
                              .computed = o->computed / ranks, .wanted = o->wanted / ranks};
        double exposed = o->whole - o->computed;
        s->values[i] = t->bench->unit == PERCENT ? 100 * (1 - exposed / o->pure)
                                                 : exposed * 1e6 / s->batch;
    }
    doubt(t, s);
}
