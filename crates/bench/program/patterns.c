/* What applications do, without the applications: exchanges as in plane-wave codes (CASTEP, VASP),
 * ocean models (NEMO) and molecular dynamics (GROMACS).
 *
 * Each comes in two sizes: `_weak`, where a rank's share of the data has the size that is said,
 * however many ranks there are; and `_strong`, where all the data has it, in shares that differ by
 * an element at most. A value is the time of one step of the application's communication.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 8, MOST_DIMENSIONS = 3, BLOCKS = 7 };

/* `own` of the task. */
struct grid {
    bool strong;
    MPI_Comm comm, rows, columns; /* all of it, and the lines that this rank is on */
    int n, dims[MOST_DIMENSIONS];
    int lower[MOST_DIMENSIONS], upper[MOST_DIMENSIONS];
    int *out_counts, *out_displs, *in_counts, *in_displs;
    int *origins, *members; /* what comes from the members of `rows`: where it was, whose */
    int line;               /* so many members */
    int mine, least, side;  /* elements of this rank, of any, and of what it shows a neighbour */
    double sum;             /* of a one from each rank */
};

static struct grid *new_grid(struct task *t, int n)
{
    struct grid *g = must(calloc(1, sizeof *g));
    int periods[MOST_DIMENSIONS] = {1, 1, 1};
    t->own = g;
    g->strong = strstr(t->bench->name, "_strong");
    t->outs = 2; /* as much room again for what is not shared out evenly */
    t->ins = BLOCKS;
    t->to = must(calloc(2, sizeof *t->to));
    t->from = must(calloc(BLOCKS, sizeof *t->from));
    g->n = n;
    g->rows = g->columns = MPI_COMM_NULL;
    MPI_Dims_create(t->size, n, g->dims);
    MPI_Cart_create(world, n, g->dims, periods, 0, &g->comm);
    for (int d = 0; d < n; d++)
        MPI_Cart_shift(g->comm, d, 1, &g->lower[d], &g->upper[d]);
    return g;
}

static void finish(struct task *t)
{
    struct grid *g = t->own;
    MPI_Comm_free(&g->comm);
    if (g->rows != MPI_COMM_NULL) {
        MPI_Comm_free(&g->rows);
        MPI_Comm_free(&g->columns);
    }
    free(g->out_counts);
    free(g->out_displs);
    free(g->in_counts);
    free(g->in_displs);
    free(g->origins);
    free(g->members);
    free(g);
}

/* Elements of this rank; those on the side of a cube of them, or of a square of `levels`. */
static void size_up(struct task *t, int dimensions, int levels)
{
    struct grid *g = t->own;
    g->mine = g->strong ? data_share(t->count, t->size, t->rank) : t->count;
    g->least = g->strong ? t->count / t->size : t->count;
    if (g->least < levels)
        levels = 1;
    for (long edge = 1; edge * edge * (dimensions == 3 ? edge : levels) <= g->least; edge++)
        g->side = (int)(edge * (dimensions == 3 ? edge : levels));
}

/* Transposes. A rank's share is cut among the members of `comm` so that pieces differ by one at
 * most, and not all ranks have the same. */
static void cut(struct task *t, MPI_Comm comm)
{
    struct grid *g = t->own;
    int p, me, out = 0, in = 0;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    size_up(t, 2, 1);
    int **arrays[] = {&g->out_counts, &g->out_displs, &g->in_counts,
                      &g->in_displs,  &g->origins,    &g->members};
    g->line = p;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = must(realloc(*arrays[i], p * sizeof **arrays[i]));
    for (int r = 0; r < p; r++) {
        g->out_counts[r] = data_share(g->mine, p, (r + me) % p);
        g->out_displs[r] = out;
        out += g->out_counts[r];
    }
    MPI_Alltoall(g->out_counts, 1, MPI_INT, g->in_counts, 1, MPI_INT, comm);
    MPI_Alltoall(g->out_displs, 1, MPI_INT, g->origins, 1, MPI_INT, comm);
    MPI_Allgather(&t->rank, 1, MPI_INT, g->members, 1, MPI_INT, comm);
    for (int r = 0; r < p; r++) {
        g->in_displs[r] = in;
        in += g->in_counts[r];
    }
}

static void transpose(struct task *t, MPI_Comm comm)
{
    struct grid *g = t->own;
    MPI_Alltoallv(t->out, g->out_counts, g->out_displs, t->type, t->in, g->in_counts, g->in_displs,
                  t->type, comm);
}

/* Element i of what rank r sends. */
static int sent(const struct task *t, int r, int i)
{
    return data_value(t, r, 0, i % t->count);
}

static char *block(const struct task *t, int k)
{
    return t->in + k * t->bytes;
}

/* Whether n elements of rank r, from `first` on, are at `at` from `to` on. */
static bool came(const struct task *t, const char *at, int to, int r, int first, int n,
                 const char *what, char *error, size_t room)
{
    for (int i = 0; i < n; i++)
        if (!data_equal(t, at, to + i, sent(t, r, first + i), what, error, room))
            return false;
    return true;
}

static bool transposed(struct task *t, char *error, size_t room)
{
    const struct grid *g = t->own;
    for (int r = 0; r < g->line; r++)
        if (!came(t, t->in, g->in_displs[r], g->members[r], g->origins[r], g->in_counts[r],
                  "the transposed", error, room))
            return false;
    return true;
}

/* CASTEP: the three-dimensional transform of a wave function, there and back, among all ranks. */
static void castep_grid(struct task *t)
{
    new_grid(t, 1);
}

static void castep_cut(struct task *t)
{
    cut(t, t->comm);
}

static void castep(struct task *t, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        transpose(t, t->comm);
        transpose(t, t->comm);
    }
}

/* VASP: ranks stand in a grid; bands are shared out along one side, plane waves along the other.
 * Data goes from one distribution to the other, and what bands have in common is summed up. */
static void vasp_grid(struct task *t)
{
    struct grid *g = new_grid(t, 2);
    MPI_Cart_sub(g->comm, (int[]){0, 1}, &g->rows);
    MPI_Cart_sub(g->comm, (int[]){1, 0}, &g->columns);
}

/* What is transposed fills the first block, or a little more. */
enum { SUMS = 2 };

static void vasp_cut(struct task *t)
{
    cut(t, ((struct grid *)t->own)->rows);
}

static void vasp(struct task *t, int rounds)
{
    struct grid *g = t->own;
    for (int i = 0; i < rounds; i++) {
        transpose(t, g->rows);
        MPI_Allreduce(t->out, block(t, SUMS), g->least / g->dims[1], t->type, MPI_SUM, g->columns);
        transpose(t, g->rows);
    }
}

/* Members of a column are as far apart as a row is long. */
static bool vasp_right(struct task *t, char *error, size_t room)
{
    const struct grid *g = t->own;
    int n = g->least / g->dims[1], row = g->dims[1];
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int r = t->rank % row; r < t->size; r += row)
            sum += sent(t, r, i);
        if (!data_equal(t, block(t, SUMS), i, sum, "the sum of bands", error, room))
            return false;
    }
    return transposed(t, error, room);
}

/* Halos. */

/* Both sides of a dimension at once; who has no neighbour there has itself. */
static void exchange(struct task *t, int d)
{
    struct grid *g = t->own;
    MPI_Request requests[4];
    char *high = t->out + (size_t)g->side * t->element->size;
    MPI_Irecv(block(t, 2 * d), g->side, t->type, g->lower[d], TAG, g->comm, &requests[0]);
    MPI_Irecv(block(t, 2 * d + 1), g->side, t->type, g->upper[d], TAG + 1, g->comm, &requests[1]);
    MPI_Isend(high, g->side, t->type, g->upper[d], TAG, g->comm, &requests[2]);
    MPI_Isend(t->out, g->side, t->type, g->lower[d], TAG + 1, g->comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* NEMO: a part of the ocean, as deep everywhere, exchanges its edges: first east and west, then
 * north and south, which carry the corners; then all agree upon a norm. */
static void nemo_grid(struct task *t)
{
    new_grid(t, 2);
}

static void nemo_cut(struct task *t)
{
    enum { LEVELS = 75 };
    size_up(t, 2, LEVELS);
}

static void nemo(struct task *t, int rounds)
{
    struct grid *g = t->own;
    double norm = 1;
    for (int i = 0; i < rounds; i++) {
        exchange(t, 0);
        exchange(t, 1);
        MPI_Allreduce(&norm, &g->sum, 1, MPI_DOUBLE, MPI_SUM, t->comm);
    }
}

static bool nemo_right(struct task *t, char *error, size_t room)
{
    const struct grid *g = t->own;
    for (int d = 0; d < g->n; d++)
        if (!came(t, block(t, 2 * d), 0, g->lower[d], g->side, g->side, "a lower halo", error,
                  room) ||
            !came(t, block(t, 2 * d + 1), 0, g->upper[d], 0, g->side, "an upper halo", error, room))
            return false;
    if (g->sum == t->size)
        return true;
    snprintf(error, room, "rank %d: the norm should be %d", t->rank, t->size);
    return false;
}

/* GROMACS: the root deals out the particles now and then; in each step of those between, positions
 * go to the neighbours dimension by dimension, and forces come back the other way. */
static void gromacs_grid(struct task *t)
{
    new_grid(t, 3);
}

static void gromacs_cut(struct task *t)
{
    struct grid *g = t->own;
    int at = 0;
    size_up(t, 3, 1);
    g->out_counts = must(malloc(t->size * sizeof *g->out_counts));
    g->out_displs = must(malloc(t->size * sizeof *g->out_displs));
    for (int r = 0; r < t->size; r++) {
        g->out_counts[r] = data_share(t->count, t->size, r);
        g->out_displs[r] = at;
        at += g->out_counts[r];
    }
}

/* Blocks: particles come first. */
enum { POSITIONS = 1, FORCES = POSITIONS + MOST_DIMENSIONS };

static void gromacs(struct task *t, int rounds)
{
    enum { STEPS = 10 }; /* between two deals */
    struct grid *g = t->own;
    for (int i = 0; i < rounds; i++) {
        MPI_Scatterv(t->out, g->out_counts, g->out_displs, t->type, t->in, g->out_counts[t->rank],
                     t->type, 0, t->comm);
        for (int step = 0; step < STEPS; step++) {
            for (int d = 0; d < g->n; d++)
                MPI_Sendrecv(t->out, g->side, t->type, g->lower[d], TAG, block(t, POSITIONS + d),
                             g->side, t->type, g->upper[d], TAG, g->comm, MPI_STATUS_IGNORE);
            for (int d = g->n; d-- > 0;)
                MPI_Sendrecv(t->out, g->side, t->type, g->upper[d], TAG, block(t, FORCES + d),
                             g->side, t->type, g->lower[d], TAG, g->comm, MPI_STATUS_IGNORE);
        }
    }
}

static bool gromacs_right(struct task *t, char *error, size_t room)
{
    const struct grid *g = t->own;
    for (int d = 0; d < g->n; d++)
        if (!came(t, block(t, POSITIONS + d), 0, g->upper[d], 0, g->side, "the positions", error,
                  room) ||
            !came(t, block(t, FORCES + d), 0, g->lower[d], 0, g->side, "the forces", error, room))
            return false;
    return came(t, t->in, 0, 0, g->out_displs[t->rank], g->out_counts[t->rank], "the particles",
                error, room);
}

#define ROW(NAME, RUN, PREPARE, OPEN, RIGHT)                                                       \
    {                                                                                              \
        .name = NAME, .family = "application", .options = "mixcIMd", .unit = US, .ranks = 1,        \
        .shape = {EVERYBODY, SINGLE, NOBODY, SINGLE, OF_ALL}, .run = RUN, .prepare = PREPARE,      \
        .open = OPEN, .finish = finish, .check = RIGHT,                                            \
    }

const struct bench patterns[] = {
    ROW("castep_weak", castep, castep_grid, castep_cut, transposed),
    ROW("castep_strong", castep, castep_grid, castep_cut, transposed),
    ROW("vasp_weak", vasp, vasp_grid, vasp_cut, vasp_right),
    ROW("vasp_strong", vasp, vasp_grid, vasp_cut, vasp_right),
    ROW("nemo_weak", nemo, nemo_grid, nemo_cut, nemo_right),
    ROW("nemo_strong", nemo, nemo_grid, nemo_cut, nemo_right),
    ROW("gromacs_weak", gromacs, gromacs_grid, gromacs_cut, gromacs_right),
    ROW("gromacs_strong", gromacs, gromacs_grid, gromacs_cut, gromacs_right),
    {.name = NULL},
};
