/* Percentiles of single operations (-z): a histogram of their times, each without the time of reading the clock.
 *
 * Buckets are a nanosecond wide up to 64 ns, and then 64 to each doubling, so a percentile is known within 1.6 %. The
 * clock is read once between two operations, which follow each other as in a batch. Operations of all ranks that keep
 * time count alike.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 6, PER_DOUBLING = 1 << BITS, DOUBLINGS = 40, BUCKETS = PER_DOUBLING * (DOUBLINGS + 1), FEWEST = 1000, MOST = 100000 };

static int bucket(double seconds)
{
    unsigned long ns = seconds > 0 ? (unsigned long)(seconds * 1e9 + 0.5) : 0;
    int doublings = 0;
    while (ns >= 2 * PER_DOUBLING) {
        ns >>= 1;
        doublings++;
    }
    if (ns < PER_DOUBLING)
        return (int)ns;
    int at = PER_DOUBLING * (doublings + 1) + (int)(ns - PER_DOUBLING);
    return at < BUCKETS ? at : BUCKETS - 1;
}

/* The middle of a bucket in ns. */
static double middle(int at)
{
    if (at < PER_DOUBLING)
        return at;
    int doublings = at / PER_DOUBLING - 1;
    double width = (double)(1ul << doublings);
    return (PER_DOUBLING + at % PER_DOUBLING) * width + (width - 1) / 2;
}

static double value_at(const long counts[BUCKETS], long all, double percent)
{
    double want = percent / 100 * (double)all;
    long seen = 0;
    int last = 0;
    for (int k = 0; k < BUCKETS; k++) {
        if (!counts[k])
            continue;
        seen += counts[k];
        last = k;
        if ((double)seen >= want)
            break;
    }
    return middle(last);
}

/* So many operations as fit into `--seconds`, and a thousand at least where they are not asked for, as far as two seconds go.
 * Where a row begins each operation together, so it does here, and one that a rank begins late is not its. */
void tails(struct task *t, struct samples *s)
{
    if (t->bench->unit != US || t->bench->sample || !strchr(t->bench->options, 'i'))
        return;
    long *counts = must(calloc(BUCKETS, sizeof *counts)), all = 0;
    static const double longest_part = 2, too_late = 0.5e-6;
    double each = s->took / s->batch, late;
    each = each > 1e-9 ? each : 1e-9;
    double room = opt.seconds / each, most = longest_part / each;
    int fewest = opt.rounds ? opt.rounds : most < FEWEST ? (int)most + 1 : FEWEST;
    int n = room > MOST ? MOST : room > fewest ? (int)room : fewest;
    bool together = strchr(t->bench->options, '1');
    double cost = clock_cost(), from = meet(&late);
    for (int i = 0; i < n; i++) {
        if (together && i)
            from = meet(&late);
        t->bench->run(t, 1);
        double to = now();
        if (!together || late < too_late)
            counts[bucket((to - from - cost) / t->parts)]++;
        from = to;
    }
    if (t->rank >= t->timers)
        memset(counts, 0, BUCKETS * sizeof *counts);
    calm_barrier(t->comm);
    calm_allreduce(counts, BUCKETS, MPI_LONG, MPI_SUM, t->comm);
    for (int k = 0; k < BUCKETS; k++)
        all += counts[k];
    for (int p = 0; p < opt.percent_count; p++)
        s->tails[p] = value_at(counts, all, opt.percents[p]) * 1e-3;
    s->tail_count = (int)all;
    free(counts);
}
