/* The clock of the first of some ranks, one of each node, as each of them knows it, for starts at an agreed time.
 *
 * As in HCA3 (Hunold and Carpen-Amarie, Hierarchical Clock Synchronization in MPI, 2018): ranks
 * learn from one another along a binomial tree, so in log2 p rounds, and a rank that has learnt teaches
 * the clock of rank 0. A rank fits a line through offsets that it sees over some time, each the
 * one of the quickest of some round trips. Before each series the line is shifted to what a few
 * more round trips say.
 */
#include "bench.h"

#include <float.h>

enum { TAG = 77, POINTS = 20, TRIPS = 20 };
static const double between_points = 2e-3;

/* The clock of rank 0 is now() + offset + slope * (now() - base). */
static double offset, slope, base;
static MPI_Comm among; /* those that compare their clocks */

static double global(double local)
{
    return local + offset + slope * (local - base);
}

double clocks_now(void)
{
    return global(now());
}

double clocks_local(double at)
{
    return (at - offset + slope * base) / (1 + slope);
}

static void wait_until(double local)
{
    while (now() < local)
        ;
}

static void teach(int pupil, int points)
{
    double at;
    for (int i = 0; i < points * TRIPS; i++) {
        MPI_Recv(&at, 1, MPI_DOUBLE, pupil, TAG, among, MPI_STATUS_IGNORE);
        at = clocks_now();
        MPI_Send(&at, 1, MPI_DOUBLE, pupil, TAG, among);
    }
}

/* Offset of the teacher's idea of the time, seen at the local time `when`. */
static double look(int teacher, double *when)
{
    double quickest = DBL_MAX, best = 0, there = 0;
    for (int i = 0; i < TRIPS; i++) {
        double begin = now(), end;
        MPI_Send(&begin, 1, MPI_DOUBLE, teacher, TAG, among);
        MPI_Recv(&there, 1, MPI_DOUBLE, teacher, TAG, among, MPI_STATUS_IGNORE);
        end = now();
        if (end - begin < quickest) {
            quickest = end - begin;
            *when = (begin + end) / 2;
            best = there - *when;
        }
    }
    return best;
}

static void learn_line(int teacher)
{
    double x[POINTS], y[POINTS], mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (int i = 0; i < POINTS; i++) {
        wait_until(now() + between_points);
        y[i] = look(teacher, &x[i]);
        mean_x += x[i] / POINTS;
        mean_y += y[i] / POINTS;
    }
    for (int i = 0; i < POINTS; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    slope = xy / xx;
    offset = mean_y;
    base = mean_x;
}

static void learn_offset(int teacher)
{
    double when, seen = look(teacher, &when);
    offset += when + seen - global(when);
}

/* Down the tree; a rank learns before it teaches. */
static void spread(void (*learn)(int teacher), int points)
{
    int top = 1, me, all;
    MPI_Comm_rank(among, &me);
    MPI_Comm_size(among, &all);
    while (top < all)
        top *= 2;
    for (int step = top / 2; step; step /= 2)
        if (me % (2 * step) == step)
            learn(me - step);
        else if (me % (2 * step) == 0 && me + step < all)
            teach(me + step, points);
}

void clocks_learn(MPI_Comm of)
{
    among = of;
    spread(learn_line, POINTS);
}

void clocks_correct(MPI_Comm of)
{
    among = of;
    spread(learn_offset, 1);
}
