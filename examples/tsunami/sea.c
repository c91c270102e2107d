/* The linear shallow-water equations on a staggered grid, one block of it per rank.
 *
 *   du/dt = -g dh/dx,  dv/dt = -g dh/dy,  dh/dt = -d(Du)/dx - d(Dv)/dy
 *
 * Levels h live at cell centres, velocities on faces (Arakawa's C grid), both stepped in turn:
 * second order, no water is lost. Each step needs only the levels of the cells next door; the
 * velocities on the seams are worked out on both sides, bit for bit the same.
 */
#include "tsunami.h"

#include <stdlib.h>

static const double gravity = 9.81;

/* Splits the grid so that the seams between blocks are short. */
struct block block_of(int nx, int ny, int rank, int ranks)
{
    struct block b = {.px = 1, .py = ranks};
    double best = 1e30;
    for (int px = 1; px <= ranks; px++) {
        if (ranks % px)
            continue;
        double seams = (double)(px - 1) * ny + (double)(ranks / px - 1) * nx;
        if (seams < best) {
            best = seams;
            b.px = px;
            b.py = ranks / px;
        }
    }
    int i = rank % b.px, j = rank / b.px;
    b.x0 = (int)((long)nx * i / b.px);
    b.nx = (int)((long)nx * (i + 1) / b.px) - b.x0;
    b.y0 = (int)((long)ny * j / b.py);
    b.ny = (int)((long)ny * (j + 1) / b.py) - b.y0;
    b.west = i > 0 ? rank - 1 : MPI_PROC_NULL;
    b.east = i + 1 < b.px ? rank + 1 : MPI_PROC_NULL;
    b.south = j > 0 ? rank - b.px : MPI_PROC_NULL;
    b.north = j + 1 < b.py ? rank + b.px : MPI_PROC_NULL;
    return b;
}

static double *field(const struct block *b)
{
    double *f = calloc((size_t)(b->nx + 2) * (b->ny + 2), sizeof *f);
    if (!f)
        give_up("out of memory for a block of %d x %d cells", b->nx, b->ny);
    return f;
}

/* Allocates the fields and fixes the block's column type; ground and level are still flat. */
static void allocate(struct sea *s)
{
    struct block *b = &s->at;
    s->level = field(b);
    s->u = field(b);
    s->v = field(b);
    s->east_depth = field(b);
    s->north_depth = field(b);
    s->ground = field(b);
    s->highest = calloc((size_t)b->nx * b->ny, sizeof *s->highest);
    MPI_Type_vector(b->ny, 1, b->nx + 2, MPI_DOUBLE, &b->column);
    MPI_Type_commit(&b->column);
}

/* Depths on the faces, from the ground of the cells on both sides; land and the rim close them. */
static void sea_faces(struct sea *s)
{
    const struct block *b = &s->at;
    for (int j = -1; j < b->ny; j++)
        for (int i = -1; i < b->nx; i++) {
            double here = -s->ground[cell(b, i, j)];
            double east = -s->ground[cell(b, i + 1, j)], north = -s->ground[cell(b, i, j + 1)];
            int rim_e = (i == -1 && b->west < 0) || (i == b->nx - 1 && b->east < 0);
            int rim_n = (j == -1 && b->south < 0) || (j == b->ny - 1 && b->north < 0);
            s->east_depth[cell(b, i, j)] =
                rim_e || here <= 0 || east <= 0 ? 0 : (here + east) / 2;
            s->north_depth[cell(b, i, j)] =
                rim_n || here <= 0 || north <= 0 ? 0 : (here + north) / 2;
        }
}

void sea_open(struct sea *s, const struct problem *p)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    s->at = block_of(p->nx, p->ny, rank, ranks);
    if (s->at.nx < 1 || s->at.ny < 1)
        give_up("%d ranks are too many for %d x %d cells", ranks, p->nx, p->ny);
    allocate(s);
    const struct block *b = &s->at;
    double km = p->dx / 1000;
    for (int j = -1; j <= b->ny; j++)
        for (int i = -1; i <= b->nx; i++) {
            double x = (b->x0 + i + 0.5) * km, y = (b->y0 + j + 0.5) * km;
            double ground = problem_ground(p, x, y);
            /* Nearshore water stays a little deep: the equations do not know breaking waves. */
            if (ground < 0 && ground > -60)
                ground = -60;
            s->ground[cell(b, i, j)] = ground;
            if (ground < 0 && i >= 0 && i < b->nx && j >= 0 && j < b->ny)
                s->level[cell(b, i, j)] = problem_uplift(p, x, y);
        }
    sea_faces(s);
}

void sea_close(struct sea *s)
{
    MPI_Type_free(&s->at.column);
    free(s->level);
    free(s->u);
    free(s->v);
    free(s->east_depth);
    free(s->north_depth);
    free(s->ground);
    free(s->highest);
}

/* Swaps the outermost rows and columns of the levels with the neighbours. */
void sea_exchange(struct sea *s)
{
    const struct block *b = &s->at;
    double *h = s->level;
    MPI_Request r[8];
    MPI_Irecv(&h[cell(b, b->nx, 0)], 1, b->column, b->east, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&h[cell(b, -1, 0)], 1, b->column, b->west, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Irecv(&h[cell(b, 0, b->ny)], b->nx, MPI_DOUBLE, b->north, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Irecv(&h[cell(b, 0, -1)], b->nx, MPI_DOUBLE, b->south, 3, MPI_COMM_WORLD, &r[3]);
    MPI_Isend(&h[cell(b, 0, 0)], 1, b->column, b->west, 0, MPI_COMM_WORLD, &r[4]);
    MPI_Isend(&h[cell(b, b->nx - 1, 0)], 1, b->column, b->east, 1, MPI_COMM_WORLD, &r[5]);
    MPI_Isend(&h[cell(b, 0, 0)], b->nx, MPI_DOUBLE, b->south, 2, MPI_COMM_WORLD, &r[6]);
    MPI_Isend(&h[cell(b, 0, b->ny - 1)], b->nx, MPI_DOUBLE, b->north, 3, MPI_COMM_WORLD, &r[7]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
}

void sea_step(struct sea *s, double dx, double dt)
{
    const struct block *b = &s->at;
    const double push = gravity * dt / dx, flow = dt / dx;
    const long row = b->nx + 2;
    sea_exchange(s);
    for (int j = -1; j < b->ny; j++) {
        const double *restrict h = &s->level[cell(b, 0, j)];
        const double *restrict de = &s->east_depth[cell(b, 0, j)];
        const double *restrict dn = &s->north_depth[cell(b, 0, j)];
        double *restrict u = &s->u[cell(b, 0, j)], *restrict v = &s->v[cell(b, 0, j)];
        for (int i = -1; i < b->nx; i++) {
            u[i] = de[i] > 0 ? u[i] - push * (h[i + 1] - h[i]) : 0;
            v[i] = dn[i] > 0 ? v[i] - push * (h[i + row] - h[i]) : 0;
        }
    }
    for (int j = 0; j < b->ny; j++) {
        double *restrict h = &s->level[cell(b, 0, j)];
        const double *restrict u = &s->u[cell(b, 0, j)], *restrict v = &s->v[cell(b, 0, j)];
        const double *restrict de = &s->east_depth[cell(b, 0, j)];
        const double *restrict dn = &s->north_depth[cell(b, 0, j)];
        float *restrict top = &s->highest[(long)j * b->nx];
        for (int i = 0; i < b->nx; i++) {
            h[i] -= flow * (de[i] * u[i] - de[i - 1] * u[i - 1] + dn[i] * v[i] -
                            dn[i - row] * v[i - row]);
            top[i] = (float)h[i] > top[i] ? (float)h[i] : top[i];
        }
    }
}
