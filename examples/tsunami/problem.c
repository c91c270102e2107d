/* Reads the input file and turns it into land, sea floor and the earthquake's uplift. */
#include "tsunami.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void give_up(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("tsunami: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static const char *const sides[] = {"west", "east", "south", "north"};

/* One line of the file; returns whether it was understood. */
static int understand(struct problem *p, const char *line)
{
    char key[16] = "", side[16];
    int at = 0;
    if (sscanf(line, " %15s %n", key, &at) != 1 || key[0] == '#')
        return 1;
    const char *rest = line + at;
    if (!strcmp(key, "grid"))
        return sscanf(rest, "%d %d", &p->nx, &p->ny) == 2 && p->nx > 7 && p->ny > 7;
    if (!strcmp(key, "cell"))
        return sscanf(rest, "%lf", &p->dx) == 1 && (p->dx *= 1000) > 0;
    if (!strcmp(key, "steps"))
        return sscanf(rest, "%d", &p->steps) == 1 && p->steps > 0;
    if (!strcmp(key, "step"))
        return sscanf(rest, "%lf", &p->dt) == 1 && p->dt > 0;
    if (!strcmp(key, "depth"))
        return sscanf(rest, "%lf", &p->depth) == 1 && p->depth > 0;
    if (!strcmp(key, "rough"))
        return sscanf(rest, "%lf", &p->rough) == 1;
    if (!strcmp(key, "seed"))
        return sscanf(rest, "%d", &p->seed) == 1;
    if (!strcmp(key, "island") && p->islands < MAX_FEATURES) {
        int i = p->islands++;
        return sscanf(rest, "%lf %lf %lf %lf", &p->island[i].x, &p->island[i].y,
                      &p->island[i].radius, &p->island[i].height) == 4;
    }
    if (!strcmp(key, "coast") && p->coasts < 4) {
        int i = p->coasts++;
        if (sscanf(rest, "%15s %lf %lf", side, &p->coast[i].reach, &p->coast[i].height) != 3)
            return 0;
        for (int k = 0; k < 4; k++)
            if (!strcmp(side, sides[k])) {
                p->coast[i].side = k;
                return 1;
            }
        return 0;
    }
    if (!strcmp(key, "quake") && p->quakes < MAX_FEATURES) {
        int i = p->quakes++;
        return sscanf(rest, "%lf %lf %lf %lf %lf %lf", &p->quake[i].x, &p->quake[i].y,
                      &p->quake[i].length, &p->quake[i].width, &p->quake[i].angle,
                      &p->quake[i].uplift) == 6;
    }
    if (!strcmp(key, "gauge") && p->gauges < MAX_GAUGES) {
        int i = p->gauges++;
        return sscanf(rest, "%23s %lf %lf %lf", p->gauge[i].name, &p->gauge[i].x,
                      &p->gauge[i].y, &p->gauge[i].expected) == 4;
    }
    return 0;
}

/* Rank 0 reads, everybody gets a copy. */
void problem_read(struct problem *p, const char *path)
{
    int rank, number = 0;
    char line[256];
    memset(p, 0, sizeof *p);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        FILE *file = fopen(path, "r");
        if (!file)
            give_up("cannot read the input file %s", path);
        while (fgets(line, sizeof line, file)) {
            number++;
            if (!understand(p, line))
                give_up("%s, line %d: not understood: %s", path, number, line);
        }
        fclose(file);
        if (!p->nx || !p->steps || !p->dx || !p->dt || !p->depth)
            give_up("%s: grid, cell, steps, step and depth are all needed", path);
        double fastest = p->dx / sqrt(2 * 9.81 * (p->depth + fabs(p->rough)));
        if (p->dt > fastest)
            give_up("%s: a step of %g s is too long for these cells: at most %.2f s", path,
                    p->dt, fastest);
    }
    MPI_Bcast(p, sizeof *p, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* A number in [0, 1) for a point of the lattice. */
static double lattice(int x, int y, int seed)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca6bu ^
                 (uint32_t)seed * 0xc2b2ae35u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (h ^ h >> 15) / 4294967296.0;
}

/* Smooth random hills of several sizes, between -1 and 1 (value noise). */
static double hills(double x, double y, int seed)
{
    double sum = 0, weight = 0.5, scale = 1 / 180.0;
    for (int octave = 0; octave < 6; octave++, weight /= 2, scale *= 2.1) {
        double fx = x * scale, fy = y * scale;
        int ix = (int)floor(fx), iy = (int)floor(fy), s = seed + 101 * octave;
        double a = fx - ix, b = fy - iy;
        a = a * a * (3 - 2 * a);
        b = b * b * (3 - 2 * b);
        double low = lattice(ix, iy, s) * (1 - a) + lattice(ix + 1, iy, s) * a;
        double high = lattice(ix, iy + 1, s) * (1 - a) + lattice(ix + 1, iy + 1, s) * a;
        sum += weight * (2 * (low * (1 - b) + high * b) - 1);
    }
    return sum;
}

/* Height of the ground at a point (km): negative under water. */
double problem_ground(const struct problem *p, double x, double y)
{
    double width = p->nx * p->dx / 1000, height = p->ny * p->dx / 1000;
    double h = -p->depth + p->rough * hills(x, y, p->seed);
    /* Bent coordinates: coasts and islands get bays and capes. */
    double bend = 0.06 * p->rough;
    double east = bend * hills(x, y, p->seed + 1), north = bend * hills(x, y, p->seed + 2);
    x += east;
    y += north;
    for (int i = 0; i < p->islands; i++) {
        double dx = x - p->island[i].x, dy = y - p->island[i].y, r = p->island[i].radius;
        h += p->island[i].height * exp(-(dx * dx + dy * dy) / (r * r));
    }
    for (int i = 0; i < p->coasts; i++) {
        double off[] = {x, width - x, y, height - y};
        double t = off[p->coast[i].side] / p->coast[i].reach;
        h += p->coast[i].height * exp(-t * t);
    }
    return h;
}

/* How far the earthquakes lift the water at a point (km). */
double problem_uplift(const struct problem *p, double x, double y)
{
    double up = 0;
    for (int i = 0; i < p->quakes; i++) {
        double a = p->quake[i].angle * 3.14159265358979323846 / 180;
        double dx = x - p->quake[i].x, dy = y - p->quake[i].y;
        double along = (dx * cos(a) + dy * sin(a)) / (p->quake[i].length / 2);
        double across = (dy * cos(a) - dx * sin(a)) / (p->quake[i].width / 2);
        /* One side of the fault rises, the other sinks, less. */
        up += p->quake[i].uplift * exp(-along * along * along * along) *
              (exp(-across * across) - 0.4 * exp(-(across + 2) * (across + 2)));
    }
    return up;
}
