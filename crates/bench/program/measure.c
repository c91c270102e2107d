/* Samples: all ranks begin together (meet.c), do it `batch` times, and each knows how long it took.
 *
 * First each row warms up, as OMB does and until its own times are steady. What is too short for the clock is done
 * several times for one value, `batch`; how often is found from the difference between some operations and twice as
 * many, in which the time of beginning together is not. Nothing is exchanged between two values but what makes the
 * ranks begin together.
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
enum { LEAST_CLOCKS = 400, LEAST_CLOCKS_OF_STREAMS = 10000 };
/* Ranks that share a core leave a barrier one after another, and each might find what the others
 * did meanwhile: a value spans several turns of all, seconds. */
static const double least_of_crowds = 1e-3;
/* A value is left out where a rank began later than this, and than this share of the value. */
static const double late_at_least = 500e-9, late_share = 0.02;
/* By so much ranks may begin apart, seconds, and by a twentieth of a value. */
static const double apart_at_most = 100e-9;
/* Two windows of warm-up agree within this share. */
static const double steady_share = 0.1;
/* A sample is begun so often at most until enough of them began in time. */
enum { PLANS = 4 };

/* One sample of this rank. */
struct one {
    double took, late; /* seconds, of this rank; how late it began */
};

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static bool is_rate(const struct task *t)
{
    return t->bench->unit == MB_S || t->bench->unit == PER_S;
}

/* OMB's numbers of operations before the first that is measured: small messages and large ones. */
static int usual_warmup(const struct task *t)
{
    enum { LARGE = 8192, SMALL_STREAMS = 10, LARGE_STREAMS = 2, SMALL_ONES = 200, LARGE_ONES = 10 };
    bool large = t->bytes > LARGE;
    return is_rate(t) ? large ? LARGE_STREAMS : SMALL_STREAMS : large ? LARGE_ONES : SMALL_ONES;
}

static bool has(const struct task *t, char letter)
{
    return strchr(t->bench->options, letter);
}

/* Where ranks outnumber cores, those that take no part in what was measured wait for the others without the library, before
 * they exchange what all have seen: to wait in it takes turns and caches from those that are still measuring. */
static void settle(void)
{
    double late;
    if (crowded)
        meet(&late);
}

/* Until the library has come, too, where it has to go on for others who act on this rank's memory. */
static void part(const struct task *t)
{
    if (t->bench->needs && !strcmp(t->bench->needs, "windows"))
        calm_barrier(t->comm);
}

/* Seconds of `rounds` on this rank. */
static struct one timed(struct task *t, int rounds)
{
    struct one it = {0, 0};
    if (t->bench->sample) {
        t->late = 0;
        it.took = t->bench->sample(t, rounds);
        it.late = t->late;
        return it;
    }
    double begin = meet(&it.late);
    t->bench->run(t, rounds);
    it.took = now() - begin;
    part(t);
    if (has(t, '1') && it.took > clock_cost())
        it.took -= clock_cost();
    if (t->rank >= t->timers)
        it.took = 0;
    return it;
}

static double longest(const struct task *t, double mine)
{
    calm_allreduce(&mine, 1, MPI_DOUBLE, MPI_MAX, t->comm);
    return mine;
}

/* Seconds of `rounds` that begin together: the slowest rank's. */
static double roughly(struct task *t, int rounds)
{
    double late, begin = meet(&late);
    t->bench->run(t, rounds);
    double took = now() - begin;
    part(t);
    settle();
    return longest(t, took);
}

/* As many operations as OMB does first, and then windows, each twice as long as the one before, until two of them agree and
 * a thousand operations are done (a hundred windows of streams): libraries change their ways after some hundred, at all
 * sizes. All in at most `--warm` seconds. */
static void warm_up(struct task *t, struct samples *s)
{
    enum { FEWEST = 1000, FEWEST_OF_STREAMS = 100 };
    double spent = 0, took, each = 0, before = 0;
    int rest = usual_warmup(t), fewest = is_rate(t) ? FEWEST_OF_STREAMS : FEWEST, n;
    s->steady = ASKED_FOR;
    if (opt.warmup >= 0) {
        if (opt.warmup)
            t->bench->run(t, opt.warmup);
        s->warmup = opt.warmup;
        return;
    }
    s->steady = UNSTEADY;
    for (n = 1; rest && spent < opt.warm;) {
        int these = n < rest ? n : rest;
        took = roughly(t, these);
        spent += took;
        each = took / these;
        s->warmup += these;
        rest -= these;
        if (2 * n * each <= opt.warm - spent)
            n *= 2;
    }
    for (n = usual_warmup(t); spent + n * each < opt.warm && n < 1 << 22; n *= 2) {
        took = roughly(t, n);
        spent += took;
        each = took / n;
        s->warmup += n;
        s->steady = before && fabs(each - before) <= steady_share * greater(each, before) ? STEADY : UNSTEADY;
        if (s->steady == STEADY && s->warmup >= fewest)
            return;
        before = each;
    }
    if (s->steady == STEADY)
        return;
    snprintf(s->warning, sizeof s->warning, "not steady after %d operations to warm up: --warm takes more than %g s",
             s->warmup, opt.warm);
}

/* How many rounds a value needs to take `least` seconds, of what twice as many take longer; the time of a value goes to
 * `took`. It has to be long enough twice: once, somebody may have been held up. */
static int batch_of(struct task *t, double least, double *took)
{
    enum { SURELY = 50, MOST = 1 << 24 };
    int rounds = 1, sure = 0;
    if (opt.rounds) {
        *took = roughly(t, opt.rounds);
        return opt.rounds;
    }
    *took = roughly(t, 1);
    if (*took > SURELY * least)
        *took = lesser(*took, roughly(t, 1));
    if (*took > SURELY * least)
        return 1;
    for (;;) {
        double one = roughly(t, rounds), more = roughly(t, 2 * rounds) - one;
        *took = one;
        if ((more >= least && sure++) || rounds >= MOST)
            return rounds;
        if (more < least)
            rounds *= more < least / 8 ? 4 : 2;
    }
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

/* The slowest rank's and the mean; values of which some rank began late are left out. What the starts were like goes to
 * `skews`, which has room for all. */
static void gather(struct task *t, struct samples *s, const struct one *mine, int n, double *skews)
{
    double *most = must(calloc(3 * (size_t)n, sizeof *most)), *means = most + n, *late = means + n;
    double bound = greater(late_at_least, late_share * s->took);
    struct overlap *overlaps = s->overlaps ? s->overlaps + s->count : NULL;
    for (int i = 0; i < n; i++) {
        most[i] = means[i] = mine[i].took;
        late[i] = mine[i].late;
    }
    calm_allreduce(most, n, MPI_DOUBLE, MPI_MAX, t->comm);
    calm_allreduce(means, n, MPI_DOUBLE, MPI_SUM, t->comm);
    calm_allreduce(late, n, MPI_DOUBLE, MPI_MAX, t->comm);
    int from = s->count;
    for (int i = 0; i < n; i++) {
        bool in_time = !meet_at_a_time() || late[i] <= bound;
        skews[s->starts++] = late[i];
        if (!in_time || (t->bench->unit != US && t->bench->unit != PERCENT && most[i] <= 0))
            continue;
        s->values[s->count] = in_unit(t, most[i], s->batch);
        s->means[s->count] = in_unit(t, means[i] / t->timers, s->batch);
        if (overlaps)
            s->overlaps[s->count] = s->overlaps[from + i];
        s->count++;
    }
    s->late += n - (s->count - from);
    free(most);
}

/* Whether messages stream, or some ranks go on before others: of a pair one may be no rank here. */
static bool streams(const struct task *t)
{
    return t->timers < t->size || t->bench->shape.from == OF_PEER || is_rate(t);
}

/* Takes `wanted` samples, and more for those that began late, as long as half of them are missing. */
static void take(struct task *t, struct samples *s, int wanted)
{
    struct one *mine = must(calloc(wanted, sizeof *mine));
    double *skews = must(calloc((size_t)PLANS * wanted, sizeof *skews));
    int least = (wanted + 1) / 2;
    for (int plan = 0; plan < PLANS && s->count < least; plan++) {
        int n = wanted - s->count;
        meet_plan(plan < PLANS / 2);
        for (int i = 0; i < n; i++) {
            mine[i] = timed(t, s->batch);
            if (s->overlaps)
                s->overlaps[s->count + i] = t->overlap;
        }
        settle();
        gather(t, s, mine, n, skews);
    }
    if (2 * s->late > s->starts)
        snprintf(s->warning, sizeof s->warning,
                 "%d of %d repetitions began late and are left out, and others began when the last rank had come: give "
                 "each rank a core", s->late, s->starts);
    s->skew = percentile(skews, s->starts, 50);
    if (s->skew > greater(0.05 * s->took, apart_at_most) && t->timers == t->size && !*s->warning && !crowded)
        snprintf(s->warning, sizeof s->warning,
                 "ranks begin up to %.2g us apart, which is more than 5 %% of a value: -i makes values longer",
                 s->skew * 1e6);
    if (crowded && has(t, '1') && !*s->warning)
        snprintf(s->warning, sizeof s->warning, "ranks outnumber cores, so they cannot begin together: `%s` means little here",
                 t->bench->name);
    free(mine);
    free(skews);
}

/* How many samples are taken: those that are asked for, as far as there is time. Where each is one operation there are
 * more of them; of the first operation there are few, for each takes a communicator of its own. */
static int samples_in(const struct task *t, double took)
{
    enum { SINGLES = 10, FIRSTS = 20 };
    static const double meeting = 5e-6;
    int most = opt.samples;
    if (has(t, 'F'))
        return most < FIRSTS ? most : FIRSTS;
    if (has(t, '1'))
        most *= SINGLES;
    double room = opt.seconds / (took + (has(t, '1') ? meeting : 0));
    return room < 1 ? 1 : room < most ? (int)room : most;
}

void measure(struct task *t, struct samples *s)
{
    double least = opt.least * 1e-6, took = 1;
    bool once = !has(t, 'i');
    if (!least)
        least = clock_cost() * (streams(t) ? LEAST_CLOCKS_OF_STREAMS : LEAST_CLOCKS);
    if (!opt.least && crowded && least < least_of_crowds)
        least = least_of_crowds;
    least = longest(t, least);
    meet_plan(true);
    s->steady = ASKED_FOR;
    if (has(t, 'x') && !has(t, 'F'))
        warm_up(t, s);
    s->batch = 1;
    if (has(t, '1'))
        took = roughly(t, 1);
    else if (!once && !has(t, 'F'))
        s->batch = batch_of(t, least, &took);
    s->took = took;
    int wanted = once ? 1 : samples_in(t, took);
    s->values = must(calloc(wanted, sizeof *s->values));
    s->means = must(calloc(wanted, sizeof *s->means));
    if (overlaps(t->bench))
        s->overlaps = must(calloc(wanted, sizeof *s->overlaps));
    s->line[0] = line_now();
    take(t, s, wanted);
    s->line[1] = line_now();
    if (s->overlaps)
        overlap_gather(t, s);
    if (opt.counters && !once && !has(t, 'F'))
        counters_count(t, s->batch * (s->count + s->late), s->counts);
    if (opt.percent_count && s->count)
        tails(t, s);
}
