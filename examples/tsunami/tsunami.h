/* What the parts of the example share. */
#ifndef TSUNAMI_H
#define TSUNAMI_H

#include <mpi.h>

enum { MAX_FEATURES = 64, MAX_GAUGES = 16, FRAMES = 12, FRAME_COLUMNS = 4 };

/* The input file, the same on every rank. */
struct problem {
    int nx, ny, steps;
    double dx, dt; /* metres, seconds */
    double depth, rough;
    int seed;
    int islands, quakes, gauges, coasts;
    struct { double x, y, radius, height; } island[MAX_FEATURES];
    struct { int side; double reach, height; } coast[4];
    struct { double x, y, length, width, angle, uplift; } quake[MAX_FEATURES];
    struct { char name[24]; double x, y, expected; } gauge[MAX_GAUGES];
};

/* One rank's block of the grid, with one row or column of its neighbours' cells around it. */
struct block {
    int px, py;           /* blocks in each direction */
    int x0, y0, nx, ny;   /* first cell, number of cells */
    int east, west, north, south; /* neighbours' ranks, or MPI_PROC_NULL */
    MPI_Datatype column;  /* one column of cells of a field */
};

/* The state: level above rest at cell centres, velocities on the east and north faces. */
struct sea {
    struct block at;
    double *level, *u, *v;
    double *east_depth, *north_depth; /* of water on the faces; 0 where land closes them */
    double *ground;                   /* height of land or, negative, of the sea floor */
    float *highest;                   /* level ever reached */
};

/* Index of a cell; -1 and nx (ny) are the neighbours' cells. */
static inline long cell(const struct block *b, int i, int j)
{
    return (long)(j + 1) * (b->nx + 2) + i + 1;
}

/* problem.c */
void problem_read(struct problem *p, const char *path);
double problem_ground(const struct problem *p, double x, double y);
double problem_uplift(const struct problem *p, double x, double y);
_Noreturn void give_up(const char *format, ...);

/* sea.c */
struct block block_of(int nx, int ny, int rank, int ranks);
void sea_open(struct sea *s, const struct problem *p);
void sea_close(struct sea *s);
void sea_step(struct sea *s, double dx, double dt);
void sea_exchange(struct sea *s);

/* check.c */
double check_standing_wave(int nx, int ny);

/* picture.c */
void picture_write(const struct sea *s, const struct problem *p, const char *path);
void picture_colour(double ground, double level, unsigned char *rgb);
void picture_png(const char *path, const unsigned char *rgb, int width, int height);

/* frames.c */
struct frames {
    const char *path;
    MPI_File file;
    MPI_Request under_way; /* the frame that is being written */
    float *levels;         /* this rank's part of it */
    int count;
};

void frames_open(struct frames *f, const struct sea *s, const struct problem *p, const char *path);
void frames_add(struct frames *f, const struct sea *s);
/* Makes the picture; returns the displaced water of the last frame, as the file has it, on every rank. */
double frames_close(struct frames *f, const struct problem *p, const char *picture);

/* measure.c */
void measure_print(const struct sea *s, double updates_per_second);

#endif
