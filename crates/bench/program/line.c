/* How far apart the cores of ranks 0 and 1 are just now: one-way time of one cache line.
 *
 * Machines whose virtual cores move between core complexes flip between a near and a far state;
 * figures are only comparable within one state. The line lies in memory that rank 0 makes and
 * rank 1 opens by its path below /proc, for the benchmark must not depend on what it measures.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCHES = 16, TRIPS = 100, BYTES = 4096, TAG = 78, SPINS = 1000, OTHERS_SLEEP_US = 3000 };

static atomic_long *ball;
static long turn;
static int usable; /* alike on all ranks */

static void *map(int file)
{
    void *at = file < 0 ? MAP_FAILED
                        : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

void line_open(void)
{
    int file = -1;
    long told[3]; /* process, file, and what the memory begins with: paths may lead elsewhere */
    char path[64];
    MPI_Comm node;
    int together = 0, mine;
    if (size < 2 || crowded)
        return; /* who shares a core waits longer for that */
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &mine);
    MPI_Comm_free(&node);
    if (rank == 0) {
        file = (int)syscall(SYS_memfd_create, "line", 0); /* a function only since glibc 2.27 */
        ball = file >= 0 && !ftruncate(file, BYTES) ? map(file) : NULL;
        turn = (long)(now() * 1e9);
        if (ball)
            atomic_store(ball, turn);
        memcpy(told, (long[]){getpid(), file, turn}, sizeof told);
        MPI_Send(told, 3, MPI_LONG, 1, TAG, world);
    } else if (rank == 1) {
        MPI_Recv(told, 3, MPI_LONG, 0, TAG, world, MPI_STATUS_IGNORE);
        snprintf(path, sizeof path, "/proc/%ld/fd/%ld", told[0], told[1]);
        file = mine == 1 ? open(path, O_RDWR) : -1;
        ball = map(file);
        turn = told[2];
        if (ball && atomic_load(ball) != turn)
            ball = NULL;
    }
    together = rank > 1 || ball;
    MPI_Allreduce(&together, &usable, 1, MPI_INT, MPI_MIN, world);
    if (file >= 0)
        close(file);
}

/* Ranks that share a core let each other go on. */
static void wait_for(long value)
{
    for (long spins = 1; atomic_load_explicit(ball, memory_order_acquire) < value; spins++)
        if (spins % SPINS == 0)
            sched_yield();
}

static void trip(void)
{
    if (rank == 0)
        atomic_store_explicit(ball, turn + 1, memory_order_release);
    wait_for(turn + 1);
    if (rank == 1)
        atomic_store_explicit(ball, turn + 2, memory_order_release);
    wait_for(turn + 2);
    turn += 2;
}

/* The best of some batches in ns (others may have lost the core). Ranks beyond the second keep
 * out of the way. */
double line_now(void)
{
    double best = -1;
    if (!usable)
        return -1;
    MPI_Barrier(world);
    if (rank > 1) {
        usleep(OTHERS_SLEEP_US);
        return -1;
    }
    for (int b = 0; b < BATCHES; b++) {
        double begin = now();
        for (int i = 0; i < TRIPS; i++)
            trip();
        double took = (now() - begin) * 1e9 / (2 * TRIPS);
        best = b == 0 || took < best ? took : best;
    }
    return best;
}
