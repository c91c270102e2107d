/* One program for every MPI library: what a program saves by computing while a collective runs.
 *
 *   mpirun -n 2 overlap [seconds per figure] [line=FILE] [every=US] [figure[:bytes]]...
 *
 * Prints `figure bytes value unit` per line; with `line=` also how far apart the cores were before
 * and after (see line.c). For each collective:
 *
 *   NAME          nanoseconds to start it and wait for it
 *   NAME-whole    the same around a computation that takes as long by itself, in which MPI_Test is
 *                 called every few microseconds (`every=`, 10)
 *   NAME-overlap  percent of the collective that the computation hid: 1 - (whole - computation) /
 *                 NAME; below 0 if they hinder each other
 *
 * Each round begins with a barrier, which counts. Every rank pins itself to core rank % cores; the
 * speed of the computation is measured while all ranks compute, so that ranks that share a core
 * are not asked for more than they can do.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCHES = 15, MOST = 1 << 20 };

int rank, size;
char *out, *in;
static double every = 10e-6;
static char **asked;

/* What is measured: starts the operation on `n` bytes. */
typedef void start_fn(int n, MPI_Request *request);

static void iallreduce(int n, MPI_Request *r)
{
    MPI_Iallreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r);
}

static void ialltoall(int n, MPI_Request *r)
{
    MPI_Ialltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, MPI_COMM_WORLD, r);
}

static void ibcast(int n, MPI_Request *r) { MPI_Ibcast(out, n, MPI_BYTE, 0, MPI_COMM_WORLD, r); }

static const struct figure {
    const char *name;
    start_fn *start;
} figures[] = {{"iallreduce", iallreduce}, {"ialltoall", ialltoall}, {"ibcast", ibcast}};

/* The computation: a chain of multiplications, `units` long. */
static volatile double sink;

static void compute(long units)
{
    double x = 1.0;
    for (long i = 0; i < units; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

/* Seconds of one unit while all ranks compute. */
static double seconds_per_unit(void)
{
    long units = 1000;
    double took = 0;
    for (; took < 0.01; units *= 2) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        compute(units);
        MPI_Barrier(MPI_COMM_WORLD);
        took = MPI_Wtime() - begin;
        MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    return took / (units / 2);
}

/* `rounds` rounds of the operation around `pieces` of `units` each. */
static void run(start_fn *start, int n, int rounds, long pieces, long units)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Request request;
        int done = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        start(n, &request);
        for (long p = 0; p < pieces; p++) {
            compute(units);
            if (!done)
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        if (!done)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static int ascending(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

/* Seconds of one round, alike on all ranks: the median of batches that fill `budget` seconds. */
static double median_round(start_fn *start, int n, double budget, long pieces, long units)
{
    double took[BATCHES];
    int rounds = 1;
    for (int b = -1; b < BATCHES; b++) { /* batch -1 finds how many rounds fit */
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        run(start, n, b < 0 ? 4 : rounds, pieces, units);
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime() - begin;
        if (b >= 0)
            took[b] = t / rounds;
        else
            rounds = 1 + (int)(budget / BATCHES / (t / 4));
        MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    qsort(took, BATCHES, sizeof *took, ascending);
    MPI_Bcast(&took[BATCHES / 2], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return took[BATCHES / 2];
}

static void report(const char *name, const char *what, int n, double value, const char *unit,
                   double before, double after)
{
    if (rank)
        return;
    printf("%s%s %d %.5g %s", name, what, n, value, unit);
    if (before > 0)
        printf(" %.1f %.1f", before, after);
    printf("\n");
    fflush(stdout);
}

static void measure(const struct figure *f, int n, double budget)
{
    double before = line_now();
    double unit = seconds_per_unit(), pure = median_round(f->start, n, budget / 2, 0, 0);
    /* Pieces between two tests, and at least one. */
    long pieces = 1 + (long)(pure / every), units = (long)(pure / pieces / unit);
    double whole = median_round(f->start, n, budget / 2, pieces, units);
    double alone = pieces * units * unit, after = line_now();
    report(f->name, "", n, pure * 1e9, "ns", before, after);
    report(f->name, "-whole", n, whole * 1e9, "ns", before, after);
    report(f->name, "-overlap", n, 100 * (1 - (whole - alone) / pure), "%", before, after);
}

static int wanted(const char *name, int n)
{
    char exact[64];
    snprintf(exact, sizeof exact, "%s:%d", name, n);
    for (char **a = asked; *a; a++)
        if (!strcmp(*a, name) || !strcmp(*a, exact))
            return 1;
    return !*asked;
}

static char *buffer(void)
{
    void *at = NULL;
    size_t room = (size_t)size * MOST;
    if (posix_memalign(&at, 4096, room))
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memset(at, 0, room); /* zero bytes are doubles that sum to 0 */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(rank % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
    sched_setaffinity(0, sizeof set, &set);
    double budget = argc > 1 ? atof(argv[1]) : 0.2;
    asked = argv + (argc > 1 ? 2 : 1);
    for (; *asked && strchr(*asked, '='); asked++) {
        if (!strncmp(*asked, "line=", 5))
            line_open(*asked + 5);
        else if (!strncmp(*asked, "every=", 6))
            every = atof(*asked + 6) * 1e-6;
    }
    out = buffer(), in = buffer();
    for (unsigned i = 0; i < sizeof figures / sizeof *figures; i++)
        for (int n = 64 << 10; n <= MOST; n *= 16)
            if (wanted(figures[i].name, n))
                measure(&figures[i], n, budget);
    MPI_Finalize();
    free(out), free(in);
    return 0;
}
