/* The check against theory: a standing wave in a basin, whose motion is known exactly. */
#include "tsunami.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Lets the mode (3, 2) of a closed flat basin swing for 9/8 of a period with the solver itself.
 *
 * Theory (Lamb, Hydrodynamics, art. 190): h = cos(kx) cos(ly) cos(wt), w^2 = gD(k^2 + l^2).
 * Returns the root mean square error over the root mean square of the wave, on every rank. */
double check_standing_wave(int nx, int ny)
{
    struct problem p = {.nx = nx, .ny = ny, .dx = 1000, .depth = 1000};
    struct sea s;
    memset(&s, 0, sizeof s);
    sea_open(&s, &p);
    const struct block *b = &s.at;
    double k = 3 * pi / (nx * p.dx), l = 2 * pi / (ny * p.dx);
    double w = sqrt(9.81 * p.depth * (k * k + l * l)), period = 2 * pi / w;
    int steps = 9 * (int)ceil(period / 8 / 3.0);
    double dt = 1.125 * period / steps, end = cos(w * dt * steps);

    /* Velocities are half a step behind the levels: start them where theory has them then. */
    for (int j = -1; j <= b->ny; j++)
        for (int i = -1; i <= b->nx; i++) {
            double x = (b->x0 + i + 0.5) * p.dx, y = (b->y0 + j + 0.5) * p.dx, half = -dt / 2;
            s.level[cell(b, i, j)] = cos(k * x) * cos(l * y);
            s.u[cell(b, i, j)] =
                9.81 * k / w * sin(k * (x + p.dx / 2)) * cos(l * y) * sin(w * half);
            s.v[cell(b, i, j)] =
                9.81 * l / w * cos(k * x) * sin(l * (y + p.dx / 2)) * sin(w * half);
        }
    for (int t = 0; t < steps; t++)
        sea_step(&s, p.dx, dt);

    double sums[2] = {0, 0}; /* squares of the error, squares of the wave */
    for (int j = 0; j < b->ny; j++)
        for (int i = 0; i < b->nx; i++) {
            double x = (b->x0 + i + 0.5) * p.dx, y = (b->y0 + j + 0.5) * p.dx;
            double exact = end * cos(k * x) * cos(l * y), error = s.level[cell(b, i, j)] - exact;
            sums[0] += error * error;
            sums[1] += exact * exact;
        }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sea_close(&s);
    return sqrt(sums[0] / sums[1]);
}
