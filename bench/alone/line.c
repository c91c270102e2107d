/* How far apart the cores of ranks 0 and 1 are just now: one-way time of one cache line.
 *
 * Machines whose virtual cores move between core complexes flip between a near and a far state;
 * figures of libraries are only comparable within one state. The line is in a file that the
 * caller provides, for the benchmark must not depend on what it measures.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 16, TRIPS = 100, OTHERS_SLEEP_US = 3000 };

static atomic_long *ball;
static long turn;

/* `path` names a file of zeros, 4 KiB long, the same for all ranks. */
void line_open(const char *path)
{
    int file = open(path, O_RDWR);
    void *at = file < 0 ? MAP_FAILED
                        : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(file);
    ball = at;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void trip(int me)
{
    if (me == 0)
        atomic_store_explicit(ball, turn + 1, memory_order_release);
    while (atomic_load_explicit(ball, memory_order_acquire) < turn + 1)
        ;
    if (me == 1)
        atomic_store_explicit(ball, turn + 2, memory_order_release);
    else
        while (atomic_load_explicit(ball, memory_order_acquire) < turn + 2)
            ;
    turn += 2;
}

/* The best of some batches in ns (others may have lost the core); 0 if not asked for. Ranks
 * beyond the second keep out of the way. */
double line_now(void)
{
    double best = 0;
    if (!ball)
        return 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 1) {
        usleep(OTHERS_SLEEP_US);
        return 0;
    }
    for (int b = 0; b < BATCHES; b++) {
        double begin = now();
        for (int i = 0; i < TRIPS; i++)
            trip(rank);
        double took = (now() - begin) / (2 * TRIPS);
        best = b == 0 || took < best ? took : best;
    }
    return best;
}
