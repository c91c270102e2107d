/* Tsunami: a wave crosses an ocean with islands, computed by as many ranks as you like.
 *
 *   mpicc -O3 *.c -o tsunami -lm && mpirun -n 4 ./tsunami pacific.txt tsunami.png tsunami.frames frames.png
 *
 * Ends with 0 only if the answer is right: a standing wave must move as theory says, no water may
 * be lost, on the way or in the file of frames, and the tide gauges must read what the input file expects.
 */
#include "tsunami.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sum of the levels (the displaced water) and the highest wave, over all ranks. */
static void totals(const struct sea *s, double *water, double *highest)
{
    const struct block *b = &s->at;
    *water = 0;
    *highest = 0;
    for (int j = 0; j < b->ny; j++)
        for (int i = 0; i < b->nx; i++) {
            double h = s->level[cell(b, i, j)];
            *water += h;
            *highest = h > *highest ? h : *highest;
        }
    MPI_Allreduce(MPI_IN_PLACE, water, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, highest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* Prints the gauges; returns how many read something else than expected. */
static int gauges(const struct sea *s, const struct problem *p, int rank)
{
    const struct block *b = &s->at;
    double read[MAX_GAUGES];
    int wrong = 0;
    for (int k = 0; k < p->gauges; k++) {
        int i = (int)(p->gauge[k].x * 1000 / p->dx) - b->x0;
        int j = (int)(p->gauge[k].y * 1000 / p->dx) - b->y0;
        int here = i >= 0 && i < b->nx && j >= 0 && j < b->ny;
        read[k] = here ? s->highest[(long)j * b->nx + i] : -1;
    }
    MPI_Allreduce(MPI_IN_PLACE, read, p->gauges, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("\n  gauge        highest wave    expected\n");
    for (int k = 0; k < p->gauges; k++) {
        int right = fabs(read[k] - p->gauge[k].expected) < 1e-5;
        wrong += !right;
        if (rank == 0)
            printf("  %-10s  %9.5f m  %9.5f m   %s\n", p->gauge[k].name, read[k],
                   p->gauge[k].expected, right ? "right" : "WRONG");
    }
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5)
        give_up("usage: tsunami INPUT.txt PICTURE.png FRAMES FRAMES.png");

    struct problem p;
    struct sea s;
    memset(&s, 0, sizeof s);
    problem_read(&p, argv[1]);
    if (rank == 0)
        printf("Tsunami: %d x %d cells of %g km, %g minutes of waves, %d ranks\n\n", p.nx, p.ny,
               p.dx / 1000, p.steps * p.dt / 60, ranks);

    double error = check_standing_wave(240, 160);
    sea_open(&s, &p);
    struct frames frames;
    frames_open(&frames, &s, &p, argv[3]);
    double water, highest, begin_water, begin = MPI_Wtime();
    totals(&s, &begin_water, &highest);
    for (int t = 0; t < p.steps; t++) {
        sea_step(&s, p.dx, p.dt);
        if ((t + 1) * FRAMES / p.steps > t * FRAMES / p.steps)
            frames_add(&frames, &s); /* the last one after the last step */
        if ((t + 1) % ((p.steps + 4) / 5) == 0 || t + 1 == p.steps) {
            totals(&s, &water, &highest);
            if (rank == 0) {
                printf("  after %3.0f min: highest wave %5.2f m\n", (t + 1) * p.dt / 60, highest);
                fflush(stdout);
            }
        }
    }
    double took = MPI_Wtime() - begin;
    sea_exchange(&s); /* the picture shades seams with the neighbours' latest levels */
    picture_write(&s, &p, argv[2]);
    int wrong = gauges(&s, &p, rank);
    double lost = fabs(water - begin_water) / fabs(begin_water);
    double in_file = fabs(frames_close(&frames, &p, argv[4]) - begin_water) / fabs(begin_water);
    measure_print(&s, (double)s.at.nx * s.at.ny * p.steps / took);

    int good = error < 1e-3 && lost < 1e-9 && in_file < 1e-4 && !wrong;
    if (rank == 0) {
        printf("\n  computed in %.2f s, %.0f million cells per second in all\n", took,
               (double)p.nx * p.ny * p.steps / took / 1e6);
        printf("  standing wave against theory: %.4f %% off (at most 0.1)\n", 100 * error);
        printf("  water lost: %.1e of what moved (at most 1e-9), in the file %.1e (at most 1e-4)\n", lost, in_file);
        printf("  %s\n", good ? "All checks passed." : "THE ANSWER IS WRONG.");
    }
    sea_close(&s);
    MPI_Finalize();
    return good ? 0 : 1;
}
