/* How far apart the two cores are just now: one-way time of one cache line between two threads.
 *
 *   probe [milliseconds]    prints `line <nanoseconds>`, the median of batches
 *
 * Machines whose virtual cores move between core complexes flip between a near and a far state;
 * figures of libraries are only comparable within one state.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 256, TRIPS = 500 };

static _Alignas(128) atomic_long ball;

static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *partner(void *arg)
{
    (void)arg;
    pin(1);
    for (long turn = 1;; turn += 2) {
        long seen;
        while ((seen = atomic_load_explicit(&ball, memory_order_acquire)) != turn)
            if (seen < 0)
                return NULL;
        atomic_store_explicit(&ball, turn + 1, memory_order_release);
    }
}

static int ascending(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

int main(int argc, char **argv)
{
    double limit = (argc > 1 ? atof(argv[1]) : 30) * 1e6, took[BATCHES];
    pthread_t thread;
    pin(0);
    if (pthread_create(&thread, NULL, partner, NULL))
        return 1;
    long turn = 0;
    int batches = 0;
    double begin = now();
    while (batches < BATCHES && (batches < 3 || now() - begin < limit)) {
        double start = now();
        for (int i = 0; i < TRIPS; i++, turn += 2) {
            atomic_store_explicit(&ball, turn + 1, memory_order_release);
            while (atomic_load_explicit(&ball, memory_order_acquire) != turn + 2)
                ;
        }
        took[batches++] = (now() - start) / (2 * TRIPS);
    }
    atomic_store(&ball, -1);
    pthread_join(thread, NULL);
    qsort(took, batches, sizeof *took, ascending);
    printf("line %.1f\n", took[batches / 2]);
    return 0;
}
