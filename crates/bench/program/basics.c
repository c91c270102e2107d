/* What every file may use, and what uses no other file: options and ranks as they are known, memory
 * that must be there, cores, the clock, percentiles. */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct options opt = {.samples = 100, .seconds = 0.2, .least_size = 1, .most_size = SIZE_MAX, .memory = 512 << 20, .tests = -1,
                      .warmup = -1, .warm = 0.2, .checks = 1000, .checking = 2, .unchecked = 5, .apart = 10,
                      .start = BY_WINDOW};
int rank, size;
MPI_Comm world;
bool crowded;

void *must(void *memory)
{
    if (memory)
        return memory;
    fprintf(stderr, "bench: no memory\n");
    abort();
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The least of some tries; taken once. */
double clock_cost(void)
{
    enum { READS = 1000, TRIES = 10 };
    static double known;
    if (known)
        return known;
    for (int k = 0; k < TRIES; k++) {
        double begin = now(), end = begin;
        for (int i = 0; i < READS; i++)
            end = now();
        double each = (end - begin) / READS;
        known = k == 0 || each < known ? each : known;
    }
    return known;
}

void pin_to(int nth)
{
    cpu_set_t may, one;
    int seen = 0;
    sched_getaffinity(0, sizeof may, &may);
    nth %= CPU_COUNT(&may);
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &may) && seen++ == nth)
            CPU_SET(c, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static int ascending(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

double percentile(double *values, int n, double percent)
{
    double at = percent / 100 * (n - 1);
    int low = (int)at;
    qsort(values, n, sizeof *values, ascending);
    return low + 1 < n ? values[low] + (at - low) * (values[low + 1] - values[low]) : values[low];
}
