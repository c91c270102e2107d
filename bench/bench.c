/* One program for every MPI library: what messages and collectives cost.
 *
 *   mpirun -n 2 bench [seconds per figure] [figure[:bytes]]...
 *
 * Prints `figure bytes value unit` per line, medians of batches. Every rank pins itself to core
 * rank % cores, so that all libraries run on the same places. Written against the standard
 * alone; Open MPI compiles it with its own header.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8 << 20, BATCHES = 15, WINDOW = 64 };

static int rank, size, peer;
static char *out, *in;
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

static void barrier(int n, int rounds)
{
    (void)n;
    for (int i = 0; i < rounds; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        MPI_Bcast(out, n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void reduce(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        MPI_Reduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        MPI_Allreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, MPI_COMM_WORLD);
}

static void gather(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(int n, int rounds)
{
    for (int i = 0; i < rounds; i++)
        MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

enum unit { ONE_WAY_NS, MESSAGES, BYTES, BYTES_BOTH, EACH_NS };

static const struct figure {
    const char *name;
    void (*run)(int n, int rounds);
    enum unit unit;
    int sizes[8]; /* ends with -1 */
} figures[] = {
    {"latency", ping_pong, ONE_WAY_NS, {0, 8, 64, 1024, 8192, 65536, 1 << 20, -1}},
    {"rate", one_way, MESSAGES, {8, -1}},
    {"bandwidth", one_way, BYTES, {4096, 65536, 1 << 20, 4 << 20, -1}},
    {"both-ways", both_ways, BYTES_BOTH, {65536, 1 << 20, -1}},
    {"barrier", barrier, EACH_NS, {0, -1}},
    {"bcast", bcast, EACH_NS, {8, 65536, 1 << 20, -1}},
    {"reduce", reduce, EACH_NS, {8, 65536, 1 << 20, -1}},
    {"allreduce", allreduce, EACH_NS, {8, 65536, 1 << 20, -1}},
    {"allgather", allgather, EACH_NS, {8, 65536, -1}},
    {"alltoall", alltoall, EACH_NS, {8, 1024, 65536, -1}},
    {"gather", gather, EACH_NS, {8, 65536, -1}},
    {"scatter", scatter, EACH_NS, {8, 65536, -1}},
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
    int rounds = 1, batches = BATCHES;
    MPI_Barrier(MPI_COMM_WORLD);
    /* Doubles the rounds until a batch is long enough; rank 0 decides for all. */
    for (;;) {
        double begin = MPI_Wtime();
        f->run(n, rounds);
        int plan[2] = {0, BATCHES};
        double t = MPI_Wtime() - begin;
        if (t < budget / BATCHES && rounds < 1 << 24)
            plan[0] = t < budget / BATCHES / 8 ? rounds * 4 : rounds * 2;
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
        took[b] = (MPI_Wtime() - begin) / rounds;
    }
    qsort(took, batches, sizeof *took, ascending);
    return took[batches / 2];
}

static void report(const struct figure *f, int n, double t)
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
    printf("%s %d %.5g %s\n", f->name, n, value, unit);
    fflush(stdout);
}

/* Is this figure asked for: by `name`, or by `name:bytes`? */
static int wanted(int argc, char **argv, const char *name, int n)
{
    char exact[64];
    snprintf(exact, sizeof exact, "%s:%d", name, n);
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], name) || !strcmp(argv[i], exact))
            return 1;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = 1 - rank;
    pin();
    double budget = argc > 1 ? atof(argv[1]) : 0.05;
    size_t room = MOST > 65536L * size ? MOST : 65536L * size;
    if (posix_memalign((void **)&out, 4096, room) || posix_memalign((void **)&in, 4096, room))
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 0, room); /* zero bytes are doubles that sum to 0 */
    memset(in, 0, room);
    for (unsigned i = 0; i < sizeof figures / sizeof *figures; i++)
        for (const int *n = figures[i].sizes; *n >= 0; n++) {
            if (!wanted(argc, argv, figures[i].name, *n) || (size < 2 && i < 4))
                continue;
            double t = median_round(&figures[i], *n, budget);
            if (rank == 0)
                report(&figures[i], *n, t);
        }
    MPI_Finalize();
    return 0;
}
