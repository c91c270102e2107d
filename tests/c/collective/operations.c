// Every predefined operation on every kind of type it allows, and functions of the program: not
// commutative, on types with gaps, and calling MPI themselves. Blocking and not.
// run: -n 1
// run: -n 2
// run: -n 3
// run: -n 4
// time: 30
#include "../check.h"

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

enum { N = 5 };

/* Whether operands of `type` are refused by `op`. */
static int refused(MPI_Op op, MPI_Datatype type)
{
    long double in[8] = { 0 }, out[8] = { 0 };
    MPI_Request request = MPI_REQUEST_NULL;
    int blocking = class_of(MPI_Allreduce(in, out, 1, type, op, MPI_COMM_SELF));
    int started = class_of(MPI_Iallreduce(in, out, 1, type, op, MPI_COMM_SELF, &request));
    if (started == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(blocking, started);
    CHECK(blocking == MPI_SUCCESS || blocking == MPI_ERR_OP);
    return blocking == MPI_ERR_OP;
}

/* Reduces operands x(rank, i) both ways, and compares with `expr` of a and b applied in order. */
#define REDUCE(T, type, op, operand, expr)                                            \
    do {                                                                              \
        T in_[N], out_[N], late_[N];                                                  \
        MPI_Request r_;                                                               \
        for (int i = 0; i < N; i++) {                                                 \
            int r = rank;                                                             \
            in_[i] = (T)(operand);                                                    \
        }                                                                             \
        MPI_Allreduce(in_, out_, N, type, op, MPI_COMM_WORLD);                        \
        MPI_Iallreduce(in_, late_, N, type, op, MPI_COMM_WORLD, &r_);                 \
        MPI_Wait(&r_, MPI_STATUS_IGNORE);                                             \
        for (int i = 0; i < N; i++) {                                                 \
            int r = 0;                                                                \
            T a = (T)(operand);                                                       \
            for (r = 1; r < size; r++) {                                              \
                T b = (T)(operand);                                                   \
                a = (T)(expr);                                                        \
            }                                                                         \
            CHECK(out_[i] == a && late_[i] == a);                                     \
        }                                                                             \
    } while (0)

#define ARITHMETIC(T, type)                                                           \
    REDUCE(T, type, MPI_SUM, 1 + (r + i) % 3, a + b);                                 \
    REDUCE(T, type, MPI_PROD, 1 + (r + i) % 2, a * b)
#define ORDER(T, type)                                                                \
    REDUCE(T, type, MPI_MAX, (r * 3 + i) % 4, a > b ? a : b);                         \
    REDUCE(T, type, MPI_MIN, (r * 3 + i) % 4 + 1, a < b ? a : b)
#define LOGIC(T, type)                                                                \
    REDUCE(T, type, MPI_LAND, (r + i) % 3 != 0, a && b);                              \
    REDUCE(T, type, MPI_LOR, (r + i) % 3 == 0, a || b);                               \
    REDUCE(T, type, MPI_LXOR, (r + i) % 2, !a != !b)
#define BITS(T, type)                                                                 \
    REDUCE(T, type, MPI_BAND, 7 - (r + i) % 3, a & b);                                \
    REDUCE(T, type, MPI_BOR, 1 << (r + i) % 3, a | b);                                \
    REDUCE(T, type, MPI_BXOR, 5 + r + i, a ^ b)
#define NO_INDEX(type)                                                                \
    CHECK(refused(MPI_MAXLOC, type) && refused(MPI_MINLOC, type))
#define NO_BITS(type)                                                                 \
    CHECK(refused(MPI_BAND, type) && refused(MPI_BOR, type) && refused(MPI_BXOR, type))
#define NO_ORDER(type) CHECK(refused(MPI_MAX, type) && refused(MPI_MIN, type))
#define NO_ARITHMETIC(type) CHECK(refused(MPI_SUM, type) && refused(MPI_PROD, type))

#define INTEGER(T, type)                                                              \
    ARITHMETIC(T, type); ORDER(T, type); BITS(T, type); NO_INDEX(type)
#define C_INTEGER(T, type) INTEGER(T, type); LOGIC(T, type)
#define FLOATING(T, type)                                                             \
    ARITHMETIC(T, type); ORDER(T, type); NO_BITS(type); NO_INDEX(type)
#define COMPLEX(T, type)                                                              \
    ARITHMETIC(T, type); NO_ORDER(type); NO_BITS(type); NO_INDEX(type)
#define LOGICAL(T, type)                                                              \
    LOGIC(T, type); NO_ARITHMETIC(type); NO_ORDER(type); NO_INDEX(type)

static void predefined(void)
{
    C_INTEGER(int, MPI_INT);
    C_INTEGER(long, MPI_LONG);
    C_INTEGER(short, MPI_SHORT);
    C_INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
    C_INTEGER(unsigned, MPI_UNSIGNED);
    C_INTEGER(unsigned long, MPI_UNSIGNED_LONG);
    C_INTEGER(long long, MPI_LONG_LONG);
    C_INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    C_INTEGER(signed char, MPI_SIGNED_CHAR);
    C_INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
    C_INTEGER(int8_t, MPI_INT8_T);
    C_INTEGER(int16_t, MPI_INT16_T);
    C_INTEGER(int32_t, MPI_INT32_T);
    C_INTEGER(int64_t, MPI_INT64_T);
    C_INTEGER(uint8_t, MPI_UINT8_T);
    C_INTEGER(uint16_t, MPI_UINT16_T);
    C_INTEGER(uint32_t, MPI_UINT32_T);
    C_INTEGER(uint64_t, MPI_UINT64_T);
    INTEGER(MPI_Aint, MPI_AINT);
    INTEGER(MPI_Offset, MPI_OFFSET);
    INTEGER(MPI_Count, MPI_COUNT);
    INTEGER(int, MPI_INTEGER);
    FLOATING(float, MPI_FLOAT);
    FLOATING(double, MPI_DOUBLE);
    FLOATING(long double, MPI_LONG_DOUBLE);
    FLOATING(float, MPI_REAL);
    FLOATING(double, MPI_DOUBLE_PRECISION);
    COMPLEX(float complex, MPI_C_FLOAT_COMPLEX);
    COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX);
    COMPLEX(float complex, MPI_COMPLEX);
    COMPLEX(double complex, MPI_DOUBLE_COMPLEX);
    LOGICAL(bool, MPI_C_BOOL);
    LOGICAL(int, MPI_LOGICAL);
    BITS(unsigned char, MPI_BYTE);
    NO_ARITHMETIC(MPI_BYTE);
    NO_ORDER(MPI_BYTE);
    NO_ARITHMETIC(MPI_DOUBLE_INT);
}

/* The greatest and the least, with the lowest index among equals. */
#define PAIR(T, I, type)                                                              \
    do {                                                                              \
        struct { T value; I index; } in_[N], most_[N], least_[N];                     \
        MPI_Request r_[2];                                                            \
        memset(in_, 0, sizeof in_);                                                   \
        for (int i = 0; i < N; i++) {                                                 \
            in_[i].value = (T)((rank + i) % 2);                                       \
            in_[i].index = (I)(10 * rank + i);                                        \
        }                                                                             \
        MPI_Iallreduce(in_, most_, N, type, MPI_MAXLOC, MPI_COMM_WORLD, &r_[0]);      \
        MPI_Iallreduce(in_, least_, N, type, MPI_MINLOC, MPI_COMM_WORLD, &r_[1]);     \
        MPI_Waitall(2, r_, MPI_STATUSES_IGNORE);                                      \
        for (int i = 0; i < N; i++) {                                                 \
            int odd = (i + 1) % 2, even = i % 2; /* the first rank with value 1, 0 */ \
            CHECK(most_[i].value == (odd < size) && least_[i].value == (even >= size)); \
            CHECK(most_[i].index == (I)(10 * (odd < size ? odd : 0) + i));            \
            CHECK(least_[i].index == (I)(10 * (even < size ? even : 0) + i));         \
        }                                                                             \
        MPI_Allreduce(MPI_IN_PLACE, in_, N, type, MPI_MAXLOC, MPI_COMM_WORLD);        \
        for (int i = 0; i < N; i++)                                                   \
            CHECK(in_[i].value == most_[i].value && in_[i].index == most_[i].index);  \
        CHECK(refused(MPI_MAX, type));                                                \
    } while (0)

static void pairs(void)
{
    PAIR(float, int, MPI_FLOAT_INT);
    PAIR(double, int, MPI_DOUBLE_INT);
    PAIR(long, int, MPI_LONG_INT);
    PAIR(int, int, MPI_2INT);
    PAIR(short, int, MPI_SHORT_INT);
    PAIR(long double, int, MPI_LONG_DOUBLE_INT);
    PAIR(float, float, MPI_2REAL);
    PAIR(double, double, MPI_2DOUBLE_PRECISION);
    PAIR(int, int, MPI_2INTEGER);
}

/* x ↦ a x + b, one after the other: the order of the ranks shows. With a gap. */
struct map {
    unsigned a;
    char gap[12];
    unsigned b;
};

static MPI_Request pending;
static int calls;

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct map *x = in, *y = inout;
    int bytes, r;
    MPI_Aint low, extent;
    calls++;
    /* What a function may well ask. */
    MPI_Type_size(*type, &bytes);
    EQUAL(bytes, 2 * sizeof(unsigned));
    MPI_Type_get_extent(*type, &low, &extent);
    EQUAL(extent, sizeof(struct map));
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    EQUAL(r, rank);
    CHECK(MPI_Wtime() > 0);
    /* What fails in it is its own affair. */
    EQUAL(class_of(MPI_Type_size(MPI_DATATYPE_NULL, &bytes)), MPI_ERR_TYPE);
    /* Its own operation is not complete while it runs. */
    if (pending != MPI_REQUEST_NULL) {
        int done = 1;
        MPI_Request_get_status(pending, &done, MPI_STATUS_IGNORE);
        CHECK(!done);
    }
    for (int i = 0; i < *n; i++)
        y[i] = (struct map){ x[i].a * y[i].a, "", x[i].a * y[i].b + x[i].b };
}

static struct map map_of(int r, int i) { return (struct map){ 3 + 2 * r + i, "", 7 * r + i + 1 }; }

static void same(const struct map *got, const char *gaps, int from, int to, int n)
{
    for (int i = 0; i < n; i++) {
        struct map want = map_of(from, i);
        for (int r = from + 1; r < to; r++) {
            struct map next = map_of(r, i);
            want.b += want.a * next.b;
            want.a *= next.a;
        }
        EQUAL(got[i].a, want.a);
        EQUAL(got[i].b, want.b);
        CHECK(!memcmp(got[i].gap, gaps, sizeof got[i].gap));
    }
}

static void own(int n)
{
    static const char gaps[12] = "do not write";
    struct map *in = calloc(n, sizeof *in), *out = calloc(n, sizeof *out);
    MPI_Datatype type, pair;
    MPI_Op op;
    int commutes = 1;
    MPI_Type_create_indexed_block(2, 1, (int[]){ 0, 4 }, MPI_UNSIGNED, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(struct map), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(!commutes);
    for (int i = 0; i < n; i++) {
        in[i] = map_of(rank, i);
        memcpy(in[i].gap, gaps, sizeof gaps);
        memcpy(out[i].gap, gaps, sizeof gaps);
    }
    pending = MPI_REQUEST_NULL;
    MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD);
    same(out, gaps, 0, size, n);
    MPI_Scan(in, out, n, type, op, MPI_COMM_WORLD);
    same(out, gaps, 0, rank + 1, n);
    MPI_Exscan(in, out, n, type, op, MPI_COMM_WORLD);
    if (rank)
        same(out, gaps, 0, rank, n);
    for (int root = 0; root < size; root++) {
        MPI_Reduce(in, out, n, type, op, root, MPI_COMM_WORLD);
        if (rank == root)
            same(out, gaps, 0, size, n);
    }
    MPI_Iallreduce(in, out, n, type, op, MPI_COMM_WORLD, &pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    same(out, gaps, 0, size, n);
    MPI_Iscan(in, out, n, type, op, MPI_COMM_WORLD, &pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    same(out, gaps, 0, rank + 1, n);
    MPI_Request again;
    MPI_Allreduce_init(in, out, n, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &again);
    MPI_Op_free(&op); /* the persistent operation keeps it */
    MPI_Type_free(&pair);
    for (int times = 0; times < 3; times++) {
        for (int i = 0; i < n; i++)
            out[i].a = out[i].b = 0;
        MPI_Start(&again);
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        same(out, gaps, 0, size, n);
    }
    MPI_Request_free(&again);
    MPI_Type_free(&type);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    predefined();
    pairs();
    own(1);
    own(60);
    own(3000);
    CHECK(calls > 0 || size == 1);
    return finish();
}
