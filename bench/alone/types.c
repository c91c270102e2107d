/* One program for every MPI library: what packing costs, next to loops written by hand.
 *
 *   mpirun -n 2 types [seconds per figure] [line=FILE] [figure]...
 *
 * Prints `figure bytes value unit` per line; with `line=` also how far apart the cores were
 * before and after the layout (see line.c). `pack-NAME` and `unpack-NAME` are nanoseconds of
 * MPI_Pack and MPI_Unpack on rank 0, `loop-NAME` and `unloop-NAME` how many times as long as the
 * loop they take (the two alternate), `send-NAME` nanoseconds one way of a ping-pong between two
 * such layouts. A figure is asked for by its name or the beginning of it. Compiled with -O3, so
 * that the loops are as good as the compiler makes them.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <mpi.h>

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCHES = 15, MOST_SPAN = 256 << 20, MOST_BYTES = 2 << 20 };

struct particle {
    double x;
    int id;
    char kind;
};

/* What is packed: a type, so many elements of it, and the loops of a programmer who knows. */
struct layout {
    char name[40];
    MPI_Datatype type;
    int count, bytes;
    void (*pack)(const struct layout *l, const char *from, char *to);
    void (*unpack)(const struct layout *l, const char *from, char *to);
    long n, len, stride, rows, row_stride; /* what the loops need */
    int *at, *lens;
};

int rank, size;
static int wanted_count;
static char **wanted_names, *memory, *packed, *other;
static double budget = 0.02;

static void pin(void)
{
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(rank % cores, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* The loops. `rows` blocks of rows, each `n` blocks of `len` doubles. */

static void pack_single(const struct layout *l, const char *from, char *to)
{
    const double *restrict in = (const double *)from;
    double *restrict out = (double *)to;
    long n = l->n, stride = l->stride;
    for (long i = 0; i < n; i++)
        out[i] = in[i * stride];
}

static void unpack_single(const struct layout *l, const char *from, char *to)
{
    const double *restrict in = (const double *)from;
    double *restrict out = (double *)to;
    long n = l->n, stride = l->stride;
    for (long i = 0; i < n; i++)
        out[i * stride] = in[i];
}

static void pack_blocks(const struct layout *l, const char *from, char *to)
{
    const double *restrict in = (const double *)from;
    double *restrict out = (double *)to;
    long n = l->n, len = l->len, stride = l->stride;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < len; j++)
            *out++ = in[i * stride + j];
}

static void unpack_blocks(const struct layout *l, const char *from, char *to)
{
    const double *restrict in = (const double *)from;
    double *restrict out = (double *)to;
    long n = l->n, len = l->len, stride = l->stride;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < len; j++)
            out[i * stride + j] = *in++;
}

static void pack_rows(const struct layout *l, const char *from, char *to)
{
    const double *restrict in = (const double *)from;
    double *restrict out = (double *)to;
    for (long r = 0; r < l->rows; r++)
        for (long i = 0; i < l->n; i++)
            for (long j = 0; j < l->len; j++)
                *out++ = in[r * l->row_stride + i * l->stride + j];
}

static void unpack_rows(const struct layout *l, const char *from, char *to)
{
    const double *restrict in = (const double *)from;
    double *restrict out = (double *)to;
    for (long r = 0; r < l->rows; r++)
        for (long i = 0; i < l->n; i++)
            for (long j = 0; j < l->len; j++)
                out[r * l->row_stride + i * l->stride + j] = *in++;
}

static void pack_indexed(const struct layout *l, const char *from, char *to)
{
    const double *restrict in = (const double *)from;
    double *restrict out = (double *)to;
    for (long i = 0; i < l->n; i++)
        for (int j = 0; j < l->lens[i]; j++)
            *out++ = in[l->at[i] + j];
}

static void unpack_indexed(const struct layout *l, const char *from, char *to)
{
    const double *restrict in = (const double *)from;
    double *restrict out = (double *)to;
    for (long i = 0; i < l->n; i++)
        for (int j = 0; j < l->lens[i]; j++)
            out[l->at[i] + j] = *in++;
}

static void pack_particles(const struct layout *l, const char *from, char *to)
{
    const struct particle *p = (const struct particle *)from;
    for (long r = 0; r < l->rows; r++, p += l->row_stride)
        for (long i = 0; i < l->n; i++) {
            memcpy(to, &p[i].x, sizeof p->x);
            memcpy(to + 8, &p[i].id, sizeof p->id);
            to[12] = p[i].kind;
            to += 13;
        }
}

static void unpack_particles(const struct layout *l, const char *from, char *to)
{
    struct particle *p = (struct particle *)to;
    for (long r = 0; r < l->rows; r++, p += l->row_stride)
        for (long i = 0; i < l->n; i++) {
            memcpy(&p[i].x, from, sizeof p->x);
            memcpy(&p[i].id, from + 8, sizeof p->id);
            p[i].kind = from[12];
            from += 13;
        }
}

/* What is measured. */

static int ascending(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static double median(double *v)
{
    qsort(v, BATCHES, sizeof *v, ascending);
    return v[BATCHES / 2];
}

static int wanted(const char *kind, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%s-%s", kind, name);
    for (int i = 0; i < wanted_count; i++)
        if (!strncmp(full, wanted_names[i], strlen(wanted_names[i])))
            return 1;
    return !wanted_count;
}

/* Figures of a layout wait until it is known how far apart the cores are then. */
static struct {
    const char *kind, *unit;
    double value;
} figures[8];
static int figure_count;

static void report(const char *kind, double value, const char *unit)
{
    figures[figure_count].kind = kind;
    figures[figure_count].unit = unit;
    figures[figure_count++].value = value;
}

static void print_figures(const struct layout *l, double before, double after)
{
    for (int i = 0; i < figure_count; i++)
        printf("%s-%s %d %.5g %s %.1f %.1f\n", figures[i].kind, l->name, l->bytes,
               figures[i].value, figures[i].unit, before, after);
    fflush(stdout);
    figure_count = 0;
}

typedef void action(const struct layout *l);

static void mpi_pack(const struct layout *l)
{
    int at = 0;
    MPI_Pack(memory, l->count, l->type, packed, MOST_BYTES, &at, MPI_COMM_SELF);
}

static void mpi_unpack(const struct layout *l)
{
    int at = 0;
    MPI_Unpack(packed, MOST_BYTES, &at, memory, l->count, l->type, MPI_COMM_SELF);
}

static void loop_pack(const struct layout *l)
{
    l->pack(l, memory, packed);
}

static void loop_unpack(const struct layout *l)
{
    l->unpack(l, packed, memory);
}

/* Seconds of one round of `rounds`. */
static double batch(action *run, const struct layout *l, int rounds)
{
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        run(l);
    return (MPI_Wtime() - begin) / rounds;
}

/* Times `run` and the loop in turn; returns the median of their ratios. */
static double against(action *run, action *loop, const struct layout *l, double *seconds)
{
    double ours[BATCHES], ratios[BATCHES];
    int rounds = 1;
    while (batch(run, l, rounds) * rounds < budget / BATCHES / 2 && rounds < 1 << 20)
        rounds *= 2;
    for (int b = 0; b < BATCHES; b++) {
        double theirs = batch(loop, l, rounds);
        ours[b] = batch(run, l, rounds);
        ratios[b] = ours[b] / theirs;
    }
    *seconds = median(ours);
    return median(ratios);
}

static void ping_pong(const struct layout *l)
{
    if (rank == 0) {
        MPI_Send(memory, l->count, l->type, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(memory, l->count, l->type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(memory, l->count, l->type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(memory, l->count, l->type, 0, 1, MPI_COMM_WORLD);
    }
}

static double one_way(const struct layout *l)
{
    double took[BATCHES];
    int rounds = 1;
    for (;;) {
        int more = batch(ping_pong, l, rounds) * rounds < budget / BATCHES && rounds < 1 << 20;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!more)
            break;
        rounds *= 2;
    }
    for (int b = 0; b < BATCHES; b++)
        took[b] = batch(ping_pong, l, rounds);
    return median(took) / 2;
}

/* What MPI_Pack makes of it is what the loop makes of it, and back. */
static void check(const struct layout *l)
{
    mpi_pack(l);
    l->pack(l, memory, other);
    if (memcmp(packed, other, l->bytes)) {
        fprintf(stderr, "types: MPI_Pack and the loop differ for %s\n", l->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void measure(struct layout *l)
{
    double t, ratio, line = line_now();
    MPI_Type_commit(&l->type);
    if (rank == 0) {
        check(l);
        if (wanted("pack", l->name) || wanted("loop", l->name)) {
            ratio = against(mpi_pack, loop_pack, l, &t);
            if (wanted("pack", l->name))
                report("pack", t * 1e9, "ns");
            if (wanted("loop", l->name))
                report("loop", ratio, "x");
        }
        if (wanted("unpack", l->name) || wanted("unloop", l->name)) {
            ratio = against(mpi_unpack, loop_unpack, l, &t);
            if (wanted("unpack", l->name))
                report("unpack", t * 1e9, "ns");
            if (wanted("unloop", l->name))
                report("unloop", ratio, "x");
        }
    }
    if (size > 1 && wanted("send", l->name)) {
        MPI_Barrier(MPI_COMM_WORLD);
        t = one_way(l);
        if (rank == 0)
            report("send", t * 1e9, "ns");
    }
    double after = line_now();
    if (rank == 0)
        print_figures(l, line, after);
    MPI_Type_free(&l->type);
    free(l->at);
    free(l->lens);
}

/* The layouts. */

/* `bytes` of data, less where it would spread over too much memory. */
static void vector(int len, int stride, int bytes)
{
    long n = bytes / 8 / len;
    while (n * stride * 8 > MOST_SPAN)
        n /= 2;
    struct layout l = {.count = 1, .bytes = (int)(n * len * 8), .n = n, .len = len,
                       .stride = stride, .pack = len == 1 ? pack_single : pack_blocks,
                       .unpack = len == 1 ? unpack_single : unpack_blocks};
    snprintf(l.name, sizeof l.name, "vector-%dof%d", len, stride);
    MPI_Type_vector((int)n, len, stride, MPI_DOUBLE, &l.type);
    measure(&l);
}

/* A face, or a slab, of an array of doubles; C order. */
static void part(const char *name, int dims, const int *sizes, const int *sub, const int *start)
{
    struct layout l = {.count = 1, .pack = pack_rows, .unpack = unpack_rows};
    long plane = dims == 3 ? (long)sizes[1] * sizes[2] : 0;
    l.rows = dims == 3 ? sub[0] : 1;
    l.row_stride = plane;
    l.n = sub[dims - 2];
    l.len = sub[dims - 1];
    l.stride = sizes[dims - 1];
    l.bytes = (int)(l.rows * l.n * l.len * 8);
    snprintf(l.name, sizeof l.name, "%s", name);
    MPI_Type_create_subarray(dims, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &l.type);
    measure(&l);
}

static void indexed(const char *name, int least, int most)
{
    struct layout l = {.count = 1, .pack = pack_indexed, .unpack = unpack_indexed};
    int room = (1 << 20) / 8 / least, doubles = 0, at = 0;
    unsigned seed = 12345;
    l.at = malloc(room * sizeof *l.at);
    l.lens = malloc(room * sizeof *l.lens);
    while (doubles < (1 << 20) / 8) {
        seed = seed * 1103515245 + 12345;
        int len = least + (int)(seed >> 16) % (most - least + 1);
        seed = seed * 1103515245 + 12345;
        at += 1 + (int)(seed >> 16) % 16;
        l.at[l.n] = at;
        l.lens[l.n++] = len;
        at += len;
        doubles += len;
    }
    l.bytes = doubles * 8;
    snprintf(l.name, sizeof l.name, "%s", name);
    MPI_Type_indexed((int)l.n, l.lens, l.at, MPI_DOUBLE, &l.type);
    measure(&l);
}

static MPI_Datatype particle_type(void)
{
    int lens[] = {1, 1, 1};
    MPI_Aint at[] = {offsetof(struct particle, x), offsetof(struct particle, id),
                     offsetof(struct particle, kind)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, raw, type;
    MPI_Type_create_struct(3, lens, at, types, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct particle), &type);
    MPI_Type_free(&raw);
    return type;
}

static void particles(void)
{
    struct layout l = {.name = "structs", .count = 80000, .bytes = 80000 * 13, .rows = 1,
                       .n = 80000, .pack = pack_particles, .unpack = unpack_particles};
    l.type = particle_type();
    measure(&l);
}

static void particle_blocks(void)
{
    struct layout l = {.name = "vector-of-structs", .count = 1, .bytes = 80000 * 13, .rows = 10000,
                       .n = 8, .row_stride = 16, .pack = pack_particles,
                       .unpack = unpack_particles};
    MPI_Datatype one = particle_type();
    MPI_Type_vector(10000, 8, 16, one, &l.type);
    MPI_Type_free(&one);
    measure(&l);
}

/* Columns of a square matrix one after the other: all of them is its transpose. */
static void columns(int n, int of)
{
    struct layout l = {.count = n, .bytes = n * of * 8, .rows = n, .n = of, .len = 1,
                       .stride = of, .row_stride = 1, .pack = pack_rows, .unpack = unpack_rows};
    MPI_Datatype column;
    snprintf(l.name, sizeof l.name, "columns-%dof%d", n, of);
    MPI_Type_vector(of, 1, of, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &l.type);
    MPI_Type_free(&column);
    measure(&l);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pin();
    if (argc > 1)
        budget = atof(argv[1]);
    wanted_names = argc > 2 ? argv + 2 : argv + argc;
    if (*wanted_names && !strncmp(*wanted_names, "line=", 5))
        line_open(*wanted_names++ + 5);
    wanted_count = (int)(argv + argc - wanted_names);
    if (posix_memalign((void **)&memory, 4096, MOST_SPAN + MOST_BYTES) ||
        posix_memalign((void **)&packed, 4096, MOST_BYTES) ||
        posix_memalign((void **)&other, 4096, MOST_BYTES))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (long i = 0; i < (MOST_SPAN + MOST_BYTES) / 8; i++)
        ((double *)memory)[i] = (double)i;
    memset(packed, 0, MOST_BYTES);

    static const int lens[] = {1, 2, 8, 64, 512};
    for (int bytes = 256; bytes <= 1 << 20; bytes <<= 6)
        for (unsigned i = 0; i < sizeof lens / sizeof *lens && lens[i] * 8 <= bytes; i++) {
            vector(lens[i], 2 * lens[i], bytes);
            vector(lens[i], 16 * lens[i], bytes);
            if (16 * lens[i] < 1024)
                vector(lens[i], 1024, bytes);
        }
    part("tile-512x256", 2, (int[]){1024, 1024}, (int[]){512, 256}, (int[]){0, 0});
    part("face-x", 3, (int[]){128, 128, 128}, (int[]){1, 128, 128}, (int[]){0, 0, 0});
    part("face-y", 3, (int[]){128, 128, 128}, (int[]){128, 1, 128}, (int[]){0, 0, 0});
    part("face-z", 3, (int[]){128, 128, 128}, (int[]){128, 128, 1}, (int[]){0, 0, 0});
    part("slab-z3", 3, (int[]){128, 128, 128}, (int[]){128, 128, 3}, (int[]){0, 0, 0});
    part("inner-z", 3, (int[]){128, 128, 128}, (int[]){126, 126, 1}, (int[]){0, 0, 0});
    indexed("indexed-1to16", 1, 16);
    indexed("indexed-1", 1, 1);
    indexed("indexed-4", 4, 4);
    particles();
    particle_blocks();
    columns(1, 512);
    columns(8, 512);
    columns(512, 512);
    MPI_Finalize();
    return 0;
}
