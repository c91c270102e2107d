// NaNs, infinities, zeros of both signs, subnormal numbers, and truth values other than 0 and 1: every
// rank gets the same bits, and those of one rule, by every form of a reduction.
// only: catena
// run: -n 1
// run: -n 2
// run: -n 3
// run: -n 4
// run: -n 5
// run: --set COLL_NODE=0 -n 4
// run: --set LINK=tcp -n 2
// run: --set LINK=tcp -n 5
// time: 120
#include "../check.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

enum { LONGEST = 70000, WIDEST = 32 };

/* A type with an operation: how operands are made and what two of them give. Gaps are no part of it. */
struct kind {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t size;
    void (*make)(void *element, int r, int i);
    /* b becomes the result of a and b. None: the result depends on how operands are grouped. */
    void (*apply)(MPI_Op op, const void *a, void *b);
};

static char in[LONGEST * WIDEST], out[LONGEST * WIDEST], want[LONGEST * WIDEST];

/* How many elements are made one by one. All of them repeat themselves after 2, 3, 5, 25 or 13 elements or some of these by turns,
   and some of that as often as there are ranks. */
static int made(int count)
{
    int period = 2 * 3 * 25 * 13 * size;
    return count < period ? count : period;
}

/* All elements, from those that are made. */
static void repeat(const struct kind *k, char *all, int count)
{
    for (size_t i = k->size * (size_t)made(count), period = i, end = k->size * (size_t)count; i < end; i += period)
        memcpy(all + i, all, end - i < period ? end - i : period);
}

/* The operands of one rank. */
static void make_all(const struct kind *k, char *all, int r, int count)
{
    memset(all, 0, k->size * (size_t)made(count));
    for (int i = 0; i < made(count); i++)
        k->make(all + k->size * (size_t)i, r, i);
    repeat(k, all, count);
}

/* What the ranks from `first` to `last` have together. */
static void combine(const struct kind *k, int first, int last, int count)
{
    make_all(k, want, first, made(count));
    for (int r = first + 1; r <= last; r++)
        for (int i = 0; i < made(count); i++) {
            _Alignas(16) char operand[WIDEST] = { 0 };
            k->make(operand, r, i);
            k->apply(k->op, operand, want + k->size * (size_t)i);
        }
    repeat(k, want, count);
}

static void compare(const struct kind *k, const char *form, size_t from, int count)
{
    const char *expected = want + k->size * from;
    if (memcmp(out, expected, k->size * (size_t)count) == 0)
        return;
    for (size_t i = 0; i < k->size * (size_t)count; i++)
        if (out[i] != expected[i]) {
            fprintf(stderr, "rank %d of %d: %s of %d %s: byte %zu of element %zu is %02x, not %02x\n", rank,
                    size, form, count, k->name, i % k->size, i / k->size, (unsigned char)out[i],
                    (unsigned char)expected[i]);
            fflush(stderr);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* The result of an allreduce is there: it is what is wanted, or at least the same on all ranks. */
static void same_on_all(const struct kind *k, const char *form, int count)
{
    if (!k->apply) {
        memcpy(want, out, k->size * (size_t)count);
        MPI_Bcast(want, (int)k->size * count, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    compare(k, form, 0, count);
    memset(out, 0, k->size * (size_t)count);
}

static void allreduce(const struct kind *k, int count)
{
    MPI_Request request;
    MPI_Allreduce(in, out, count, k->type, k->op, MPI_COMM_WORLD);
    same_on_all(k, "allreduce", count);
    memcpy(out, in, k->size * (size_t)count);
    MPI_Allreduce(MPI_IN_PLACE, out, count, k->type, k->op, MPI_COMM_WORLD);
    same_on_all(k, "allreduce in place", count);
    MPI_Iallreduce(in, out, count, k->type, k->op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    same_on_all(k, "non-blocking allreduce", count);
    MPI_Allreduce_init(in, out, count, k->type, k->op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int again = 0; again < 2; again++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        same_on_all(k, "persistent allreduce", count);
    }
    MPI_Request_free(&request);
}

/* The forms whose results only some ranks have. */
static void others(const struct kind *k, int count)
{
    MPI_Request request;
    int last = size - 1, block = count / size;
    MPI_Reduce(in, out, count, k->type, k->op, last, MPI_COMM_WORLD);
    if (rank == last)
        compare(k, "reduce", 0, count);
    memset(out, 0, k->size * (size_t)count);
    MPI_Ireduce(in, out, count, k->type, k->op, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        compare(k, "non-blocking reduce", 0, count);
    memset(out, 0, k->size * (size_t)count);
    MPI_Reduce_scatter_block(in, out, block, k->type, k->op, MPI_COMM_WORLD);
    compare(k, "reduce_scatter_block", (size_t)(rank * block), block);

    memset(out, 0, k->size * (size_t)count);
    combine(k, 0, rank, count);
    MPI_Scan(in, out, count, k->type, k->op, MPI_COMM_WORLD);
    compare(k, "scan", 0, count);
    memset(out, 0, k->size * (size_t)count);
    if (rank > 0)
        combine(k, 0, rank - 1, count);
    MPI_Exscan(in, out, count, k->type, k->op, MPI_COMM_WORLD);
    if (rank > 0)
        compare(k, "exscan", 0, count);

    /* Either operand may come first. */
    combine(k, 0, 1, count);
    for (int first = 0; first < 2; first++) {
        make_all(k, in, first, count);
        make_all(k, out, 1 - first, count);
        MPI_Reduce_local(in, out, count, k->type, k->op);
        compare(k, "reduce_local", 0, count);
    }
}

/* What one group has, every rank of the other gets. */
static void between_groups(const struct kind *k, int count)
{
    MPI_Comm group, both;
    int lower = size / 2, low = rank < lower;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, low ? lower : 0, 0, &both);
    combine(k, low ? lower : 0, low ? size - 1 : lower - 1, count);
    make_all(k, in, rank, count);
    memset(out, 0, k->size * (size_t)count);
    MPI_Allreduce(in, out, count, k->type, k->op, both);
    compare(k, "allreduce between groups", 0, count);
    MPI_Comm_free(&both);
    MPI_Comm_free(&group);
}

static void every_form(const struct kind *k)
{
    for (int n = 0; n < 4; n++) {
        int count = (int[]) { 1, 7, 1000, LONGEST }[n];
        make_all(k, in, rank, count);
        memset(out, 0, k->size * (size_t)count);
        if (k->apply)
            combine(k, 0, size - 1, count);
        allreduce(k, count);
        if (!k->apply)
            continue;
        others(k, count);
        if (size > 1)
            between_groups(k, count);
    }
}

/* A number of each kind: zeros of both signs; one NaN; infinities; several NaNs, some of which signal;
   subnormal numbers. All sums and products of these are exact. */
#define NUMBERS(T, name, SIGNIFICANT, TINY, NOT, ...)                                 \
    static T name##_nan(void)                                                         \
    {                                                                                 \
        static const unsigned char bytes[SIGNIFICANT] = { __VA_ARGS__ };              \
        T nan;                                                                        \
        memset(&nan, 0, sizeof nan);                                                  \
        memcpy(&nan, bytes, sizeof bytes);                                            \
        return nan;                                                                   \
    }                                                                                 \
    static void name##_store(void *element, const T *x)                               \
    {                                                                                 \
        memset(element, 0, sizeof(T));                                                \
        memcpy(element, x, SIGNIFICANT);                                              \
    }                                                                                 \
    static void name##_make(void *element, int r, int i)                              \
    {                                                                                 \
        int which = i / 5, own = which % size == r;                                   \
        T x = (T)(r % 3 + 1);                                                         \
        int nan = i % 5 == 1 ? own : i % 5 == 3 && (r + which) % 3 != 0;              \
        if (i % 5 == 0)                                                               \
            x = (r + which) % 2 ? (T)-0.0 : (T)0.0;                                   \
        if (i % 5 == 2 && own)                                                        \
            x = which % 2 ? (T)INFINITY : -(T)INFINITY;                               \
        if (i % 5 == 4)                                                               \
            x = (which + r) % 2 ? -x * TINY : x * TINY;                               \
        name##_store(element, &x);                                                    \
        if (nan) {                                                                    \
            unsigned char *bytes = element;                                           \
            T any = name##_nan();                                                     \
            name##_store(element, &any);                                              \
            bytes[0] = (unsigned char)(1 + r);                                        \
            bytes[SIGNIFICANT - 1] |= r % 2 ? 0x80 : 0;                               \
            if (r % 3 == 1)                                                           \
                bytes[SIGNIFICANT - NOT] &= (unsigned char)~name##_quiet;             \
        }                                                                             \
    }                                                                                 \
    static T name##_best(int least, T a, T b)                                         \
    {                                                                                 \
        if (isnan(a) || isnan(b))                                                     \
            return name##_nan();                                                      \
        if (a == b)                                                                   \
            return (signbit(a) != 0) == least ? a : b;                                \
        return (a < b) == least ? a : b;                                              \
    }                                                                                 \
    static void name##_apply(MPI_Op op, const void *a, void *b)                       \
    {                                                                                 \
        T x, y;                                                                       \
        memcpy(&x, a, sizeof x);                                                      \
        memcpy(&y, b, sizeof y);                                                      \
        if (op == MPI_MIN || op == MPI_MAX)                                           \
            y = name##_best(op == MPI_MIN, x, y);                                     \
        else                                                                          \
            y = op == MPI_SUM ? x + y : x * y;                                        \
        if (isnan(y))                                                                 \
            y = name##_nan();                                                         \
        name##_store(b, &y);                                                          \
    }

enum { float_quiet = 0x40, double_quiet = 0x08, longdouble_quiet = 0x40 };
NUMBERS(float, float, 4, FLT_TRUE_MIN, 2, 0, 0, 0xc0, 0x7f)
NUMBERS(double, double, 8, DBL_TRUE_MIN, 2, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)
NUMBERS(long double, longdouble, 10, LDBL_TRUE_MIN, 3, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x7f)

/* A number with an index; now and then two ranks have the same. */
#define LOCATED(T, name)                                                              \
    struct name##_int { T value; int index; };                                        \
    static void name##_int_make(void *element, int r, int i)                          \
    {                                                                                 \
        struct name##_int *x = element;                                               \
        name##_make(&x->value, r, i);                                                 \
        x->index = (i * 7 - r) % 3;                                                   \
    }                                                                                 \
    static void name##_int_apply(MPI_Op op, const void *a, void *b)                   \
    {                                                                                 \
        const struct name##_int *x = a;                                               \
        struct name##_int *y = b;                                                     \
        int least = op == MPI_MINLOC;                                                 \
        int nans = !!isnan(x->value) - !!isnan(y->value);                             \
        int better = nans > 0 || (nans == 0 && (least ? x->value < y->value : x->value > y->value)); \
        int worse = nans < 0 || (nans == 0 && (least ? x->value > y->value : x->value < y->value)); \
        if (better || (!worse && x->index < y->index))                                \
            y->index = x->index;                                                      \
        T best = name##_best(least, x->value, y->value);                              \
        name##_store(&y->value, &best);                                               \
    }
LOCATED(float, float)
LOCATED(double, double)
LOCATED(long double, longdouble)

/* Sums that are rounded, and products of complex numbers: they depend on the grouping, but not on the
   rank. */
static void rounded_make(void *element, int r, int i)
{
    *(double *)element = 0.1 * (r + 1) / (i % 13 + 1);
}
static void complex_make(void *element, int r, int i)
{
    double_make(element, r, i);
    double_make((double *)element + 1, r, i / 5);
}

static int truth(MPI_Op op, int a, int b)
{
    return op == MPI_LAND ? a && b : op == MPI_LOR ? a || b : !a != !b;
}
static void int_make(void *element, int r, int i)
{
    *(int *)element = (int[]) { 0, 2, 4, -1, 1 << 16 }[(r * 3 + i) % 5];
}
static void int_apply(MPI_Op op, const void *a, void *b)
{
    *(int *)b = truth(op, *(const int *)a, *(int *)b);
}
static void bool_make(void *element, int r, int i)
{
    *(unsigned char *)element = (unsigned char[]) { 0, 2, 4, 255, 128 }[(r * 3 + i) % 5];
}
static void bool_apply(MPI_Op op, const void *a, void *b)
{
    *(unsigned char *)b = (unsigned char)truth(op, *(const unsigned char *)a, *(unsigned char *)b);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
#define KIND(T, TYPE, OP, make, apply) every_form(&(struct kind) { #TYPE " " #OP, TYPE, OP, sizeof(T), make, apply })
#define FLOATING(T, TYPE, name)                                                       \
    KIND(T, TYPE, MPI_SUM, name##_make, name##_apply);                                \
    KIND(T, TYPE, MPI_PROD, name##_make, name##_apply);                               \
    KIND(T, TYPE, MPI_MIN, name##_make, name##_apply);                                \
    KIND(T, TYPE, MPI_MAX, name##_make, name##_apply)
#define PAIR(T, TYPE)                                                                 \
    KIND(struct T, TYPE, MPI_MINLOC, T##_make, T##_apply);                            \
    KIND(struct T, TYPE, MPI_MAXLOC, T##_make, T##_apply)
#define TRUTH(T, TYPE, name)                                                          \
    KIND(T, TYPE, MPI_LAND, name##_make, name##_apply);                               \
    KIND(T, TYPE, MPI_LOR, name##_make, name##_apply);                                \
    KIND(T, TYPE, MPI_LXOR, name##_make, name##_apply)
    FLOATING(float, MPI_FLOAT, float);
    FLOATING(double, MPI_DOUBLE, double);
    FLOATING(long double, MPI_LONG_DOUBLE, longdouble);
    PAIR(float_int, MPI_FLOAT_INT);
    PAIR(double_int, MPI_DOUBLE_INT);
    PAIR(longdouble_int, MPI_LONG_DOUBLE_INT);
    TRUTH(int, MPI_INT, int);
    TRUTH(unsigned char, MPI_C_BOOL, bool);
    KIND(double, MPI_DOUBLE, MPI_SUM, rounded_make, NULL);
    KIND(double complex, MPI_C_DOUBLE_COMPLEX, MPI_SUM, complex_make, NULL);
    KIND(double complex, MPI_C_DOUBLE_COMPLEX, MPI_PROD, complex_make, NULL);
    return finish();
}
