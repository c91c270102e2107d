/* One program for every MPI library: what messages and collectives cost.
 *
 *   mpirun -n 2 bench [seconds per figure] [line=FILE] [figure[:bytes]]...
 *
 * Prints `figure bytes value unit` per line, medians of batches; with `line=` also how far apart
 * the cores were before and after (see line.c). Every rank pins itself to core rank % cores, so
 * that all libraries run on the same places. Written against the standard alone; Open MPI
 * compiles it with its own header.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCHES = 15, WINDOW = 64 };

int rank, size;
char *out, *in;
static int peer;
static MPI_Request requests[2 * WINDOW];

static void pin(void)
{
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(rank % cores, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Messages in flight at once: 64, but never more than 16 MiB of them. */
static int window(int n)
{
    int w = n > 0 ? (16 << 20) / n : WINDOW;
    return w > WINDOW ? WINDOW : w < 4 ? 4 : w;
}

/* What is measured: `rounds` times something that both ranks (or all) take part in. */

static void ping_pong(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        if (rank == 0) {
            MPI_Send(out, n, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, n, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(in, n, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, n, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
}

/* The same with data that the sender has just written, and that the receiver reads. */

static void send_written(int n)
{
    memset(out, rank, n);
    MPI_Send(out, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void recv_and_read(int n)
{
    static volatile long sum;
    long s = 0;
    MPI_Recv(in, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i += sizeof s)
        s += *(long *)(in + i);
    sum += s;
}

static void touched(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        if (rank == 0) {
            send_written(n);
            recv_and_read(n);
        } else if (rank == 1) {
            recv_and_read(n);
            send_written(n);
        }
}

static void one_way(int n, int rounds)
{
    int w = window(n);
    for (int i = 0; i < rounds; i++)
        if (rank == 0) {
            for (int k = 0; k < w; k++)
                MPI_Isend(out, n, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[k]);
            MPI_Waitall(w, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(in, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            for (int k = 0; k < w; k++)
                MPI_Irecv(in, n, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[k]);
            MPI_Waitall(w, requests, MPI_STATUSES_IGNORE);
            MPI_Send(out, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
}

static void both_ways(int n, int rounds)
{
    int w = window(n);
    if (rank > 1)
        return;
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < w; k++)
            MPI_Irecv(in, n, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[k]);
        for (int k = 0; k < w; k++)
            MPI_Isend(out, n, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[w + k]);
        MPI_Waitall(2 * w, requests, MPI_STATUSES_IGNORE);
    }
}

enum unit { ONE_WAY_NS, MESSAGES, BYTES, BYTES_BOTH, EACH_NS };

#define COLLECTIVE_SIZES {8, 1024, 65536, 1 << 20, -1}

static const struct figure {
    const char *name;
    run_fn *run;
    enum unit unit;
    int sizes[8]; /* ends with -1 */
} figures[] = {
    {"latency", ping_pong, ONE_WAY_NS, {0, 8, 64, 1024, 8192, 65536, 1 << 20, -1}},
    {"touched", touched, ONE_WAY_NS, {8192, 65536, 1 << 20, -1}},
    {"rate", one_way, MESSAGES, {8, -1}},
    {"bandwidth", one_way, BYTES, {4096, 65536, 1 << 20, 4 << 20, -1}},
    {"both-ways", both_ways, BYTES_BOTH, {65536, 1 << 20, -1}},
    {"barrier", barrier, EACH_NS, {0, -1}},
    {"bcast", bcast, EACH_NS, COLLECTIVE_SIZES},
    {"reduce", reduce, EACH_NS, COLLECTIVE_SIZES},
    {"allreduce", allreduce, EACH_NS, COLLECTIVE_SIZES},
    {"reduce_scatter", reduce_scatter, EACH_NS, COLLECTIVE_SIZES},
    {"reduce_scatter_block", reduce_scatter_block, EACH_NS, COLLECTIVE_SIZES},
    {"scan", scan, EACH_NS, COLLECTIVE_SIZES},
    {"exscan", exscan, EACH_NS, COLLECTIVE_SIZES},
    {"gather", gather, EACH_NS, COLLECTIVE_SIZES},
    {"gatherv", gatherv, EACH_NS, COLLECTIVE_SIZES},
    {"scatter", scatter, EACH_NS, COLLECTIVE_SIZES},
    {"scatterv", scatterv, EACH_NS, COLLECTIVE_SIZES},
    {"allgather", allgather, EACH_NS, COLLECTIVE_SIZES},
    {"allgatherv", allgatherv, EACH_NS, COLLECTIVE_SIZES},
    {"alltoall", alltoall, EACH_NS, COLLECTIVE_SIZES},
    {"alltoallv", alltoallv, EACH_NS, COLLECTIVE_SIZES},
};

static int ascending(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

/* Seconds of one round on rank 0: the median of batches that fill `budget` seconds together. */
static double median_round(const struct figure *f, int n, double budget)
{
    double took[BATCHES];
    int rounds = 1, batches = BATCHES, sure = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    /* Doubles the rounds until a batch is long enough, twice: once, somebody may have been held
     * up. Rank 0 decides for all. */
    for (;;) {
        double begin = MPI_Wtime();
        f->run(n, rounds);
        int plan[2] = {0, BATCHES};
        double t = MPI_Wtime() - begin;
        if (t < budget / BATCHES && rounds < 1 << 24)
            plan[0] = t < budget / BATCHES / 8 ? rounds * 4 : rounds * 2;
        else if (!sure++)
            plan[0] = rounds;
        else if (t * BATCHES > 3 * budget)
            plan[1] = 3 * budget > 4 * t ? (int)(3 * budget / t) : 3;
        MPI_Bcast(plan, 2, MPI_INT, 0, MPI_COMM_WORLD);
        batches = plan[1] > BATCHES ? BATCHES : plan[1];
        if (!plan[0])
            break;
        rounds = plan[0];
    }
    for (int b = 0; b < batches; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        f->run(n, rounds);
        /* Who only sends may be far ahead of the others. */
        MPI_Barrier(MPI_COMM_WORLD);
        took[b] = (MPI_Wtime() - begin) / rounds;
    }
    qsort(took, batches, sizeof *took, ascending);
    return took[batches / 2];
}

static void report(const struct figure *f, int n, double t, double before, double after)
{
    double w = window(n), value = 0;
    const char *unit = "ns";
    switch (f->unit) {
    case ONE_WAY_NS: value = t * 1e9 / 2; break;
    case EACH_NS: value = t * 1e9; break;
    case MESSAGES: value = w / t / 1e6; unit = "M/s"; break;
    case BYTES: value = w * n / t / 1e9; unit = "GB/s"; break;
    case BYTES_BOTH: value = 2 * w * n / t / 1e9; unit = "GB/s"; break;
    }
    printf("%s %d %.5g %s", f->name, n, value, unit);
    if (before > 0)
        printf(" %.1f %.1f", before, after);
    printf("\n");
    fflush(stdout);
}

/* The figures asked for, by `name` or `name:bytes`; all if there are none. */
static char **asked;

static int wanted(const struct figure *f, int n)
{
    char exact[64];
    if (size < 2 && f->unit != EACH_NS)
        return 0;
    snprintf(exact, sizeof exact, "%s:%d", f->name, n);
    for (char **a = asked; *a; a++)
        if (!strcmp(*a, f->name) || !strcmp(*a, exact))
            return 1;
    return !*asked;
}

/* Calls `visit` for every figure and size that is wanted. */
static void each(void (*visit)(const struct figure *f, int n))
{
    for (unsigned i = 0; i < sizeof figures / sizeof *figures; i++)
        for (const int *n = figures[i].sizes; *n >= 0; n++)
            if (wanted(&figures[i], *n))
                visit(&figures[i], *n);
}

static size_t room = 4096;
static double budget = 0.05, line;

/* A block for each rank is the most that a figure needs. */
static void make_room(const struct figure *f, int n)
{
    size_t need = (f->unit == EACH_NS ? size : 1) * (size_t)n;
    if (need > room)
        room = need;
}

static void measure(const struct figure *f, int n)
{
    double t = median_round(f, n, budget), before = line;
    line = line_now();
    if (rank == 0)
        report(f, n, t, before, line);
}

static char *buffer(void)
{
    void *at = NULL;
    if (posix_memalign(&at, 4096, room))
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memset(at, 0, room); /* zero bytes are doubles that sum to 0 */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = 1 - rank;
    pin();
    asked = argv + 1;
    if (*asked)
        budget = atof(*asked++);
    if (*asked && !strncmp(*asked, "line=", 5))
        line_open(*asked++ + 5);
    each(make_room);
    out = buffer();
    in = buffer();
    line = line_now();
    each(measure);
    MPI_Finalize();
    return 0;
}
