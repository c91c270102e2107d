/* What scripts/clients/beside-omb loads under a program of OMB, to find out what of its figures comes from how it measures.
 *
 * BESIDE_WAY=together  in place of each barrier of the library all ranks go on at one time, as the ruler's do (crates/bench/program/meet.c);
 *                      the clock is the ruler's, and, asked then, says when that was
 * BESIDE_WAY=streaming barriers do nothing, and the clock is read at the first and last of 64 calls: so operations follow one
 *                      another, and nothing is between them. OMB calls the clock twice for each operation
 *
 * BESIDE_AREA is a file of a page of zeros, BESIDE_RANKS how many ranks there are. Any library: handles are not looked at.
 *
 * With -DLINE it is a program: how many nanoseconds a cache line takes between the first two cores, which changes on virtual
 * machines, and all figures with it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000l + t.tv_nsec;
}

#ifdef LINE

enum { TRIPS = 20000 };
static _Alignas(128) atomic_int turn;

/* One of two that hand a line to each other. */
static void *play(void *which)
{
    int me = which != NULL;
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(me, &core);
    sched_setaffinity(0, sizeof core, &core);
    for (int k = 0; k < TRIPS; k++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != 2 * k + me)
            ;
        atomic_store_explicit(&turn, 2 * k + me + 1, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    double best = 0;
    for (int k = 0; k < 8; k++) {
        atomic_store(&turn, 0);
        if (pthread_create(&other, NULL, play, &turn))
            return 1;
        long begin = now();
        play(NULL);
        pthread_join(other, NULL);
        double each = (double)(now() - begin) / (2 * TRIPS);
        best = best == 0 || each < best ? each : best;
    }
    printf("%.1f\n", best);
    return 0;
}

#else

enum { PAGE = 4096, CALLS = 64 };

static struct area {
    _Alignas(128) atomic_ulong came;
    _Alignas(128) atomic_ulong go; /* after `start` */
    atomic_long start;
} *area;
static unsigned long ranks, meetings, calls;
static enum { TOGETHER, STREAMING } way;
static long agreed; /* when the ranks went on, until the clock is asked for it */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("BESIDE_AREA"), *many = getenv("BESIDE_RANKS"), *word = getenv("BESIDE_WAY");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = file < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED || !many || !word)
        _exit(2);
    close(file);
    area = at;
    ranks = strtoul(many, NULL, 10);
    way = !strcmp(word, "streaming") ? STREAMING : TOGETHER;
}

/* All ranks go on 1.5 us after the last one has come. */
static void meet(void)
{
    static const long later = 1500;
    unsigned long number = ++meetings;
    if (atomic_fetch_add(&area->came, 1) + 1 == number * ranks) {
        atomic_store(&area->start, now() + later);
        atomic_store(&area->go, number);
    }
    while (atomic_load_explicit(&area->go, memory_order_acquire) < number)
        ;
    agreed = atomic_load(&area->start);
    while (now() < agreed)
        ;
}

int MPI_Barrier(void *comm)
{
    (void)comm;
    if (way == TOGETHER)
        meet();
    return 0;
}

double MPI_Wtime(void)
{
    static double known;
    unsigned long call = calls++ % CALLS;
    if (agreed) {
        known = agreed * 1e-9;
        agreed = 0;
        return known;
    }
    if (way == TOGETHER || call == 0 || call == CALLS - 1)
        known = now() * 1e-9;
    return known;
}

#endif
