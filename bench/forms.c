/* How non-blocking and persistent operations are run, and what computing meanwhile saves. */
#include "forms.h"

void next_root(struct task *t)
{
    if (t->step)
        data_aim(t, (t->root + t->step) % t->size);
}

void run_started(struct task *t, int rounds)
{
    for (int i = 0; i < rounds; i++, next_root(t)) {
        t->bench->start(t);
        MPI_Wait(&t->request, MPI_STATUS_IGNORE);
    }
}

void run_again(struct task *t, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Start(&t->request);
        MPI_Wait(&t->request, MPI_STATUS_IGNORE);
    }
}

void close_request(struct task *t)
{
    MPI_Request_free(&t->request);
}

/* The computation: a chain of multiplications, `units` long. */
static volatile double sink;

static void compute(long units)
{
    double x = 1.0;
    for (long i = 0; i < units; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

/* Seconds of one unit while all ranks compute: ranks that share a core are not asked for more than
 * they can do. */
static double seconds_per_unit(const struct task *t)
{
    static double known;
    long units = 1000;
    double took = known;
    for (; !known && took < 0.01; units *= 2) {
        MPI_Barrier(t->comm);
        double begin = now();
        compute(units);
        MPI_Barrier(t->comm);
        took = now() - begin;
        MPI_Bcast(&took, 1, MPI_DOUBLE, 0, t->comm);
    }
    return known = known ? known : took / (units / 2);
}

/* Seconds of the operation around `pieces` of `units` each, with a test after each piece. */
static double around(struct task *t, int rounds, long pieces, long units)
{
    double took = 0;
    for (int i = 0; i < rounds; i++, next_root(t)) {
        int done = 0;
        MPI_Barrier(t->comm);
        double begin = now();
        t->bench->start(t);
        for (long p = 0; p < pieces; p++) {
            compute(units);
            if (!done)
                MPI_Test(&t->request, &done, MPI_STATUS_IGNORE);
        }
        if (!done)
            MPI_Wait(&t->request, MPI_STATUS_IGNORE);
        took += now() - begin;
    }
    return took;
}

/* Percent of the operation that a computation of its length hides; below 0 if they hinder each
 * other. */
double sample_overlap(struct task *t, int rounds)
{
    static const double between_tests = 10e-6;
    double unit = seconds_per_unit(t), pure = around(t, rounds, 0, 0), longest;
    MPI_Allreduce(&pure, &longest, 1, MPI_DOUBLE, MPI_MAX, t->comm);
    double each = longest / rounds;
    long pieces = opt.tests ? opt.tests : 1 + (long)(each / between_tests);
    long units = (long)(each / pieces / unit);
    double whole = around(t, rounds, pieces, units);
    return 100 * (1 - (whole - rounds * pieces * units * unit) / longest);
}
