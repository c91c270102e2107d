/* Who ran where, and how fast the ranks talk to each other: measured in this very run. */
#define _GNU_SOURCE
#include "tsunami.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
    char host[64];
    int pid, core, nx, ny, x0, y0;
    double speed;
};

/* Seconds per one-way message of n bytes, the median of batches; both ends call it. */
static double one_way(char *buf, int n, int peer, int first)
{
    enum { BATCHES = 9 };
    double took[BATCHES];
    int rounds = 8;
    for (int batch = -1; batch < BATCHES; batch++) {
        double begin = MPI_Wtime();
        for (int i = 0; i < rounds; i++) {
            if (first)
                MPI_Send(buf, n, MPI_BYTE, peer, 7, MPI_COMM_WORLD);
            MPI_Recv(buf, n, MPI_BYTE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (!first)
                MPI_Send(buf, n, MPI_BYTE, peer, 7, MPI_COMM_WORLD);
        }
        double each = (MPI_Wtime() - begin) / (2 * rounds);
        if (batch < 0) {
            /* A trial run warms up and tells how many rounds make about 3 ms. */
            double fit = 1.5e-3 / (each + 1e-9);
            int wish = fit > 5000 ? 5000 : fit < 2 ? 2 : (int)fit;
            if (first)
                MPI_Send(&wish, 1, MPI_INT, peer, 8, MPI_COMM_WORLD);
            else
                MPI_Recv(&wish, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            rounds = wish;
        } else {
            int at = batch;
            for (; at > 0 && took[at - 1] > each; at--)
                took[at] = took[at - 1];
            took[at] = each;
        }
    }
    return took[BATCHES / 2];
}

static void print_time(double s)
{
    if (s < 1e-6)
        printf("%6.0f ns", s * 1e9);
    else
        printf("%6.1f us", s * 1e6);
}

void measure_print(const struct sea *s, double updates_per_second)
{
    enum { LARGE = 1 << 20 };
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    struct place here = {.pid = getpid(), .core = sched_getcpu(), .nx = s->at.nx, .ny = s->at.ny,
                         .x0 = s->at.x0, .y0 = s->at.y0, .speed = updates_per_second};
    gethostname(here.host, sizeof here.host - 1);
    struct place *all = malloc(ranks * sizeof *all);
    MPI_Gather(&here, sizeof here, MPI_BYTE, all, sizeof here, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("\n  rank  host              pid  core  cells       from (x, y)    million cells/s\n");
        for (int r = 0; r < ranks; r++) {
            char from[32], cells[32];
            snprintf(from, sizeof from, "(%d, %d)", all[r].x0, all[r].y0);
            snprintf(cells, sizeof cells, "%d x %d", all[r].nx, all[r].ny);
            printf("  %4d  %-14s %6d  %4d  %-11s %-14s %8.1f\n", r, all[r].host, all[r].pid,
                   all[r].core, cells, from, all[r].speed / 1e6);
        }
        printf("\n  ranks    latency, 8 bytes    bandwidth, 1 MiB\n");
    }
    free(all);

    char *buf = calloc(1, LARGE);
    int shown = ranks < 4 ? ranks : 4;
    for (int a = 0; a < shown; a++)
        for (int b = a + 1; b < shown; b++) {
            double t[2] = {0, 0};
            if (rank == a || rank == b) {
                t[0] = one_way(buf, 8, rank == a ? b : a, rank == a);
                t[1] = one_way(buf, LARGE, rank == a ? b : a, rank == a);
            }
            /* The others wait here, so that pairs do not disturb each other. */
            MPI_Barrier(MPI_COMM_WORLD);
            if (a > 0 && rank == a)
                MPI_Send(t, 2, MPI_DOUBLE, 0, 10, MPI_COMM_WORLD);
            if (rank == 0) {
                if (a > 0)
                    MPI_Recv(t, 2, MPI_DOUBLE, a, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                printf("  %d - %d          ", a, b);
                print_time(t[0]);
                printf("          %6.2f GB/s\n", LARGE / t[1] / 1e9);
            }
        }
    free(buf);
}
