/* What packing costs, next to the loops of a programmer who knows the pattern. Each rank packs memory
 * of its own; the size is that of the packed data. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct particle {
    double x;
    int id;
    char kind;
};
enum { PARTICLE = sizeof(double) + sizeof(int) + sizeof(char), LONGEST = 16 };

struct pattern;
typedef void move_fn(const struct pattern *l, char *memory, char *packed);

/* Rows of `n` blocks of `len` doubles, or `n` blocks that are listed, or `n` particles. */
struct pattern {
    MPI_Datatype type;
    int count, bytes;
    size_t span; /* of the memory */
    long rows, row_stride, n, stride, len;
    int *at, *lens;
    move_fn *pack, *unpack;
    char *memory, *packed;
};

/* A loop, both ways; IN is where it is in memory. */
#define BOTH_WAYS(name, IN, ...)                                                                   \
    static void pack_##name(const struct pattern *l, char *memory, char *packed)                    \
    {                                                                                              \
        const double *restrict from = (const double *)memory;                                      \
        double *restrict to = (double *)packed;                                                    \
        __VA_ARGS__ *to++ = from[IN];                                                              \
    }                                                                                              \
    static void unpack_##name(const struct pattern *l, char *memory, char *packed)                  \
    {                                                                                              \
        const double *restrict from = (const double *)packed;                                      \
        double *restrict to = (double *)memory;                                                    \
        __VA_ARGS__ to[IN] = *from++;                                                              \
    }
#define FOR(i, n) for (long i = 0, i##_end = n; i < i##_end; i++)

BOTH_WAYS(single, i * l->stride, FOR(i, l->n))
BOTH_WAYS(blocks, i * l->stride + j, FOR(i, l->n) FOR(j, l->len))
BOTH_WAYS(rows, r * l->row_stride + i * l->stride, FOR(r, l->rows) FOR(i, l->n))
BOTH_WAYS(indexed, l->at[i] + j, FOR(i, l->n) FOR(j, l->lens[i]))

static void pack_particles(const struct pattern *l, char *memory, char *packed)
{
    const struct particle *p = (const struct particle *)memory;
    for (long i = 0; i < l->n; i++, p++, packed += PARTICLE) {
        memcpy(packed, &p->x, sizeof p->x);
        memcpy(packed + sizeof p->x, &p->id, sizeof p->id);
        packed[PARTICLE - 1] = p->kind;
    }
}

static void unpack_particles(const struct pattern *l, char *memory, char *packed)
{
    struct particle *p = (struct particle *)memory;
    for (long i = 0; i < l->n; i++, p++, packed += PARTICLE) {
        memcpy(&p->x, packed, sizeof p->x);
        memcpy(&p->id, packed + sizeof p->x, sizeof p->id);
        p->kind = packed[PARTICLE - 1];
    }
}

/* The patterns, of so many doubles at most; a type only where there are some. */

static void vector(struct pattern *l, int doubles, int len, int stride)
{
    *l = (struct pattern){.count = 1, .n = doubles / len, .len = len, .stride = stride,
                         .pack = len == 1 ? pack_single : pack_blocks,
                         .unpack = len == 1 ? unpack_single : unpack_blocks};
    l->bytes = (int)(l->n * len * sizeof(double));
    l->span = l->n * stride * sizeof(double);
    if (l->bytes)
        MPI_Type_vector((int)l->n, len, stride, MPI_DOUBLE, &l->type);
}

static void of_vector(struct pattern *l, int doubles)
{
    vector(l, doubles, 1, 16);
}

static void of_blocks(struct pattern *l, int doubles)
{
    vector(l, doubles, 8, 64);
}

static int root_of(int n)
{
    int root = 0;
    while ((root + 1) * (root + 1) <= n)
        root++;
    return root;
}

/* The side of a cube in which no two doubles stand together; its rows are FACE deep. */
static void of_face(struct pattern *l, int doubles)
{
    enum { DEEP = 8 };
    int side = root_of(doubles);
    *l = (struct pattern){.count = 1, .rows = side, .row_stride = (long)side * DEEP, .n = side,
                         .stride = DEEP, .pack = pack_rows, .unpack = unpack_rows};
    l->bytes = side * side * (int)sizeof(double);
    l->span = (size_t)side * side * DEEP * sizeof(double);
    int whole[] = {side, side, DEEP}, part[] = {side, side, 1}, first[] = {0, 0, 0};
    if (l->bytes)
        MPI_Type_create_subarray(3, whole, part, first, MPI_ORDER_C, MPI_DOUBLE, &l->type);
}

/* A square matrix column by column: its transpose. */
static void of_columns(struct pattern *l, int doubles)
{
    int side = root_of(doubles);
    *l = (struct pattern){.count = side, .rows = side, .row_stride = 1, .n = side, .stride = side,
                         .pack = pack_rows, .unpack = unpack_rows};
    l->bytes = side * side * (int)sizeof(double);
    l->span = l->bytes;
    MPI_Datatype column;
    if (!l->bytes)
        return;
    MPI_Type_vector(side, 1, side, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &l->type);
    MPI_Type_free(&column);
}

/* Blocks of 1 to 16 doubles, as far apart, without any order in it. */
static void of_indexed(struct pattern *l, int doubles)
{
    int at = 0, rest = doubles;
    unsigned seed = 1;
    *l = (struct pattern){.count = 1, .pack = pack_indexed, .unpack = unpack_indexed};
    l->at = must(malloc((doubles + 1) * sizeof *l->at));
    l->lens = must(malloc((doubles + 1) * sizeof *l->lens));
    for (; rest > 0; l->n++) {
        seed = seed * 1664525 + 1013904223;
        int len = 1 + (seed >> 16) % LONGEST, gap = 1 + (seed >> 24) % LONGEST;
        len = len < rest ? len : rest;
        l->at[l->n] = at;
        l->lens[l->n] = len;
        rest -= len;
        at += len + gap;
    }
    l->bytes = doubles * (int)sizeof(double);
    l->span = (at + 1) * sizeof(double);
    if (l->bytes)
        MPI_Type_indexed((int)l->n, l->lens, l->at, MPI_DOUBLE, &l->type);
}

static void of_structs(struct pattern *l, int doubles)
{
    int n = doubles * (int)sizeof(double) / PARTICLE, lens[] = {1, 1, 1};
    MPI_Aint at[] = {offsetof(struct particle, x), offsetof(struct particle, id),
                     offsetof(struct particle, kind)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, raw;
    *l = (struct pattern){.count = n, .bytes = n * PARTICLE, .span = n * sizeof(struct particle),
                         .n = n, .pack = pack_particles, .unpack = unpack_particles};
    if (!l->bytes)
        return;
    MPI_Type_create_struct(3, lens, at, types, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct particle), &l->type);
    MPI_Type_free(&raw);
}

static void close_pattern(struct task *t)
{
    struct pattern *l = t->own;
    if (l->bytes)
        MPI_Type_free(&l->type);
    memory_give_back(l->memory);
    memory_give_back(l->packed);
    free(l->at);
    free(l->lens);
    free(l);
}

static void open_pattern(struct task *t, void of(struct pattern *l, int doubles))
{
    struct pattern *l = must(calloc(1, sizeof *l));
    t->own = l;
    of(l, (int)(t->bytes / sizeof(double)));
    if (!l->bytes) {
        t->skip = "nothing of this size is in the pattern";
        close_pattern(t);
        return;
    }
    MPI_Type_commit(&l->type);
    t->payload = l->bytes;
    l->memory = memory_take(l->span, memory_on_device(t));
    l->packed = memory_take(l->bytes, memory_on_device(t));
    char *view = memory_view(l->memory);
    for (size_t i = 0; i < l->span; i++)
        view[i] = (char)(i % 251);
    memset(memory_view(l->packed), 1, l->bytes); /* no zeros: see data_open */
    memory_store();
}

static void mpi_pack(struct task *t, int rounds)
{
    struct pattern *l = t->own;
    for (int i = 0, at = 0; i < rounds; i++, at = 0)
        MPI_Pack(l->memory, l->count, l->type, l->packed, l->bytes, &at, t->comm);
}

static void mpi_unpack(struct task *t, int rounds)
{
    struct pattern *l = t->own;
    for (int i = 0, at = 0; i < rounds; i++, at = 0)
        MPI_Unpack(l->packed, l->bytes, &at, l->memory, l->count, l->type, t->comm);
}

static void pack_by_hand(struct task *t, int rounds)
{
    struct pattern *l = t->own;
    for (int i = 0; i < rounds; i++)
        l->pack(l, l->memory, l->packed);
}

static void unpack_by_hand(struct task *t, int rounds)
{
    struct pattern *l = t->own;
    for (int i = 0; i < rounds; i++)
        l->unpack(l, l->memory, l->packed);
}

/* Data of their own in memory, where they are packed, or packed, where they are unpacked; nothing in the other. */
static void load_pattern(struct task *t)
{
    struct pattern *l = t->own;
    bool unpacks = t->bench->run == mpi_unpack || t->bench->run == unpack_by_hand;
    char *memory = memory_view(l->memory), *packed = memory_view(l->packed);
    char *from = unpacks ? packed : memory, *to = unpacks ? memory : packed;
    size_t n = unpacks ? (size_t)l->bytes : l->span, m = unpacks ? l->span : (size_t)l->bytes;
    for (size_t i = 0; i < n; i++)
        from[i] = (char)((i + 7 * (size_t)t->stamp) % 251);
    memset(to, 0, m);
}

/* What MPI packs and unpacks is what the loop does, and the other way round: what was measured has left it, and the
 * other one does the same once more, in memory of its own. */
static bool check_packing(struct task *t, char *error, size_t room)
{
    struct pattern *l = t->own;
    bool unpacks = t->bench->run == mpi_unpack || t->bench->run == unpack_by_hand;
    bool by_mpi = t->bench->run == mpi_pack || t->bench->run == mpi_unpack;
    char *memory = memory_view(l->memory), *packed = memory_view(l->packed);
    size_t n = unpacks ? l->span : (size_t)l->bytes;
    char *again = must(calloc(n + 1, 1));
    int at = 0;
    if (by_mpi)
        (unpacks ? l->unpack : l->pack)(l, unpacks ? again : memory, unpacks ? packed : again);
    else if (unpacks)
        MPI_Unpack(packed, l->bytes, &at, again, l->count, l->type, t->comm);
    else
        MPI_Pack(memory, l->count, l->type, again, l->bytes, &at, t->comm);
    bool alike = !memcmp(unpacks ? memory : packed, again, n);
    free(again);
    if (!alike)
        snprintf(error, room, "rank %d: MPI and the loop %s different data", t->rank, unpacks ? "unpack" : "pack");
    return alike;
}

#define PATTERNS(X) X(vector) X(blocks) X(face) X(columns) X(indexed) X(structs)
#define OPEN(name)                                                                                 \
    static void open_##name(struct task *t)                                                        \
    {                                                                                              \
        open_pattern(t, of_##name);                                                                 \
    }
PATTERNS(OPEN)

#define ROW(NAME, RUN, OPEN, OPTIONS)                                                              \
    {.name = NAME, .family = "packing", .options = OPTIONS, .unit = US, .ranks = 1, .run = RUN,    \
     .open = OPEN, .close = close_pattern, .load = load_pattern, .check = check_packing},
#define ROWS(name)                                                                                 \
    ROW("pack_" #name, mpi_pack, open_##name, "mixcd")                                              \
    ROW("pack_" #name "_by_hand", pack_by_hand, open_##name, "mixc")                                \
    ROW("unpack_" #name, mpi_unpack, open_##name, "mixcd")                                          \
    ROW("unpack_" #name "_by_hand", unpack_by_hand, open_##name, "mixc")

const struct bench packing[] = {
    PATTERNS(ROWS)
    {.name = NULL},
};
