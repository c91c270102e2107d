/*
 * Sections of arrays whose elements do not follow each other in memory.
 *
 * A count and a type name elements of an array without gaps, whose elements lie in memory as the
 * descriptor says. Three things are made of that: a type that describes them in place, a type that
 * steps from element to element, and a copy.
 */

#include "descriptor.h"

static int rank_of(const struct descriptor *d)
{
    return d->rank;
}

/* Elements of the section; -1 for an array of assumed size. */
static ptrdiff_t elements(const struct descriptor *d)
{
    ptrdiff_t count = 1;
    for (int i = 0; i < rank_of(d); i++) {
        if (extent_of(d, i) < 0)
            return -1;
        count *= extent_of(d, i);
    }
    return count;
}

int mpifort_is_run(const struct descriptor *d)
{
    /* Nothing can be said of what is not there, and nothing is to be done. */
    if (!d->base_addr)
        return 1;
    ptrdiff_t next = (ptrdiff_t)d->elem_len;
    int is_run = 1;
    for (int i = 0; i < rank_of(d); i++) {
        ptrdiff_t extent = extent_of(d, i);
        if (!extent)
            return 1;
        if (extent != 1 && stride_of(d, i) != next)
            is_run = 0;
        next *= extent;
    }
    return is_run;
}

_Atomic unsigned char mpifort_sizes[PREDEFINED];

size_t mpifort_size(MPI_Datatype type)
{
    /* Those that programs in Fortran name. Of a number that means no type nothing is asked, as the call itself tells. */
    static const MPI_Datatype named[] = {MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX,
        MPI_DOUBLE_COMPLEX, MPI_BYTE, MPI_PACKED, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_REAL4,
        MPI_REAL8, MPI_COMPLEX8, MPI_COMPLEX16, MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_2INTEGER, MPI_2REAL,
        MPI_2DOUBLE_PRECISION, MPI_CHAR, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_INT8_T, MPI_INT16_T,
        MPI_INT32_T, MPI_INT64_T, MPI_C_BOOL};
    MPI_Count size = 0;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i] == type && !PMPI_Type_size_c(type, &size) && size > 0 && size < 256) {
            atomic_store_explicit(&mpifort_sizes[(uintptr_t)type % PREDEFINED], (unsigned char)size, memory_order_relaxed);
            return (size_t)size;
        }
    return 0;
}

int mpifort_holds_run(const struct descriptor *d, const struct typed *typed)
{
    ptrdiff_t there = d->base_addr ? elements(d) : -1;
    return there >= 0 && there <= 1
        ? 1
        : there < 0 || typed->count * (MPI_Count)predefined_size(typed->type) <= there * (MPI_Count)d->elem_len;
}

/* The first `count` of the elements that dimensions from `first` to before `rank` span, of type `unit`. */
static int spanned(const struct descriptor *d, int first, int rank, MPI_Count count, MPI_Datatype unit,
    MPI_Datatype *type)
{
    if (rank <= first)
        return PMPI_Type_contiguous_c(1, unit, type);
    MPI_Count below = 1, stride = stride_of(d, rank - 1);
    for (int i = first; i < rank - 1; i++)
        below *= extent_of(d, i);
    MPI_Count whole = count / below, rest = count % below;
    MPI_Datatype block = MPI_DATATYPE_NULL, blocks[2];
    int error = spanned(d, first, rank - 1, below, unit, &block);
    if (error)
        return error;
    error = PMPI_Type_create_hvector_c(whole, 1, stride, block, type);
    PMPI_Type_free(&block);
    if (error || !rest)
        return error;
    blocks[0] = *type;
    error = spanned(d, first, rank - 1, rest, unit, &blocks[1]);
    if (!error) {
        error = PMPI_Type_create_struct_c(2, (MPI_Count[]){1, 1},
            (MPI_Count[]){0, whole * stride}, blocks, type);
        PMPI_Type_free(&blocks[1]);
    }
    PMPI_Type_free(&blocks[0]);
    return error;
}

/* Those of all dimensions below `rank`. */
static int prefix(const struct descriptor *d, int rank, MPI_Count count, MPI_Datatype unit, MPI_Datatype *type)
{
    return spanned(d, 0, rank, count, unit, type);
}

/* Where byte `at` of the array without gaps lies, from the address of the section on. */
static MPI_Count place_of(const struct descriptor *d, MPI_Count at)
{
    MPI_Count element = at / (MPI_Count)d->elem_len, place = at % (MPI_Count)d->elem_len;
    for (int i = 0; i < rank_of(d); i++) {
        MPI_Count index = element;
        if (i + 1 < rank_of(d)) {
            index = element % extent_of(d, i);
            element /= extent_of(d, i);
        }
        place += index * stride_of(d, i);
    }
    return place;
}

/* For each byte that the type names, in its order, where it is in the array without gaps. MPI
 * itself tells: it packs arrays whose bytes are those of their numbers. */
static MPI_Count *bytes_named(const struct typed *typed, MPI_Count span, MPI_Count size)
{
    MPI_Count *bytes = calloc((size_t)size + 1, sizeof *bytes);
    MPI_Datatype all = MPI_DATATYPE_NULL;
    /* MPI packs what is committed alone. */
    int error = PMPI_Type_contiguous_c(typed->count, typed->type, &all);
    if (!error)
        error = PMPI_Type_commit(&all);
    unsigned char *plane = malloc((size_t)span), *packed = malloc((size_t)size + 1);
    for (int shift = 0; !error && bytes && plane && packed && shift < 64 && (span - 1) >> shift; shift += 8) {
        MPI_Count position = 0;
        for (MPI_Count i = 0; i < span; i++)
            plane[i] = (unsigned char)(i >> shift);
        error = PMPI_Pack_c(plane, 1, all, packed, size, &position, MPI_COMM_SELF) || position != size;
        if (error)
            break;
        for (MPI_Count i = 0; i < size; i++)
            bytes[i] |= (MPI_Count)packed[i] << shift;
    }
    if (error || !plane || !packed) {
        free(bytes);
        bytes = NULL;
    }
    if (all != MPI_DATATYPE_NULL)
        PMPI_Type_free(&all);
    free(plane);
    free(packed);
    return bytes;
}

/* A type of bytes: for types with gaps of their own. It takes 16 bytes for each of them. */
static int mapped(const struct descriptor *d, const struct typed *typed, MPI_Count span,
    MPI_Count size, MPI_Datatype *type)
{
    MPI_Count *bytes = bytes_named(typed, span, size), runs = 0;
    MPI_Count *lengths = malloc(sizeof *lengths * ((size_t)size + 1));
    int error = MPI_ERR_NO_MEM;
    if (bytes && lengths) {
        /* The displacements replace the bytes: there are no more of them. */
        for (MPI_Count i = 0; i < size; i++) {
            MPI_Count at = place_of(d, bytes[i]);
            if (runs && bytes[runs - 1] + lengths[runs - 1] == at) {
                lengths[runs - 1]++;
            } else {
                bytes[runs] = at;
                lengths[runs++] = 1;
            }
        }
        error = PMPI_Type_create_hindexed_c(runs, lengths, bytes, MPI_BYTE, type);
    }
    free(bytes);
    free(lengths);
    return error;
}

/* Size and bounds of a type. */
struct measures {
    MPI_Count size, lb, extent, true_lb, true_extent;
};

/* Those that the standard names; MPI_LONG_LONG and others that have two names stand here once. */
static int is_predefined(MPI_Datatype type)
{
    static const MPI_Datatype all[] = {MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_PACKED, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG,
        MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_C_COMPLEX,
        MPI_CXX_FLOAT_COMPLEX, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_LOGICAL, MPI_INTEGER, MPI_REAL,
        MPI_COMPLEX, MPI_DOUBLE_PRECISION, MPI_DOUBLE_COMPLEX, MPI_CHARACTER, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX,
        MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT,
        MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER, MPI_C_BOOL, MPI_CXX_BOOL, MPI_WCHAR, MPI_INT8_T, MPI_UINT8_T, MPI_CHAR,
        MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_INT16_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T,
        MPI_UINT64_T, MPI_LOGICAL1, MPI_INTEGER1, MPI_LOGICAL2, MPI_INTEGER2, MPI_LOGICAL4, MPI_INTEGER4, MPI_REAL4, MPI_LOGICAL8,
        MPI_INTEGER8, MPI_REAL8, MPI_COMPLEX8, MPI_REAL16, MPI_COMPLEX16, MPI_COMPLEX32,
#ifndef CATENA_INTERFACE_OPENMPI
        /* Open MPI has none of these. */
        MPI_REAL2, MPI_COMPLEX4, MPI_LOGICAL16, MPI_INTEGER16,
#endif
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == type)
            return 1;
    return 0;
}

#ifdef CATENA_INTERFACE_MPICH
/* Of Catena's library: whether a number is that of a type. */
extern int catena_is_type(MPI_Datatype number) __attribute__((weak));
#endif

/* Whether a handle is that of a type. None is asked for in a way that would raise an error in the name of another call. */
static int is_type(MPI_Datatype type)
{
    if (!type || type == MPI_DATATYPE_NULL)
        return 0;
    if (is_predefined(type))
        return 1;
#ifdef CATENA_INTERFACE_MPICH
    return !catena_is_type || catena_is_type(type);
#else
    /* Others come from numbers, and a number that no type has becomes a null handle. */
    return (uintptr_t)type >= PREDEFINED;
#endif
}

/* Whether there is such a type, and its measures. */
static int measure(MPI_Datatype type, struct measures *m)
{
    return is_type(type) && !PMPI_Type_size_c(type, &m->size) && !PMPI_Type_get_extent_c(type, &m->lb, &m->extent)
        && !PMPI_Type_get_true_extent_c(type, &m->true_lb, &m->true_extent);
}

/* Where the bytes of some elements begin and end, from the place of the first element on; 0 if that is too far for a number.
 * The last one lies before the first where the extent is negative. Of one element the extent does not matter. */
static int reach_of(MPI_Count count, const struct measures *m, MPI_Count *begin, MPI_Count *end)
{
    MPI_Count last = 0;
    if (count > 1 && (__builtin_mul_overflow(count - 1, m->extent, &last) || last > INT64_MAX / 4 || last < INT64_MIN / 4))
        return 0;
    *begin = (last < 0 ? last : 0) + m->true_lb;
    *end = (last > 0 ? last : 0) + m->true_lb + m->true_extent;
    return 1;
}

static int is_dense(const struct measures *m)
{
    return !m->lb && !m->true_lb && m->extent == m->size && m->true_extent == m->size;
}

/* What an element of the section is, if the type has no gaps: of one or more of the type, or,
 * where the type has more than one element, of bytes. */
static int unit_of(const struct descriptor *d, const struct typed *typed, MPI_Count size,
    MPI_Datatype *unit)
{
    MPI_Count length = (MPI_Count)d->elem_len;
    return size && length % size == 0 ? PMPI_Type_contiguous_c(length / size, typed->type, unit)
                                      : PMPI_Type_contiguous_c(length, MPI_BYTE, unit);
}

/* The most elements of a type that are looked at one by one, to find after how many the same places come again. */
enum { MOST_ALIKE = 64 };

/* A type of bytes for a type with gaps, of which the same places come again after some elements: `alike` of the array, which are
 * `m->extent` or a few times that. A map of these bytes is repeated. If nothing is alike, the map is of all of them. */
static int repeated(const struct descriptor *d, const struct typed *typed, const struct measures *m, MPI_Count span,
    MPI_Datatype *type)
{
    MPI_Count length = (MPI_Count)d->elem_len, each = 1;
    /* Elements that lie one before the other, or all in one place, are looked at one by one. */
    while (each <= MOST_ALIKE && (m->extent <= 0 || each * m->extent % length))
        each++;
    MPI_Count alike = each * m->extent / length, row = extent_of(d, 0), times = typed->count / each;
    int is_row = rank_of(d) == 1;
    /* Of more dimensions a row has a number of them, and none goes on in the next. */
    if (each > MOST_ALIKE || !alike || times < 2 || (!is_row && (row % alike || m->true_lb + m->true_extent > m->extent)))
        return mapped(d, typed, span, typed->count * m->size, type);
    struct descriptor one;
    memcpy(&one, d, offsetof(struct descriptor, dim) + sizeof *d->dim);
    one.rank = 1;
    struct typed part = {each, typed->type, 0}, rest = {typed->count % each, typed->type, 0};
    MPI_Count step = alike * stride_of(d, 0), in_row = is_row ? times : row / alike, rows = times / in_row;
    MPI_Datatype block = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL, parts[3] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL,
        MPI_DATATYPE_NULL};
    MPI_Count lengths[3] = {1, 1, 1}, places[3] = {0};
    int n = 0;
    int error = mapped(&one, &part, (each - 1) * m->extent + m->true_lb + m->true_extent, each * m->size, &block);
    /* Whole rows, what is left of one more, and what is left of one more block. */
    if (!error && rows) {
        error = PMPI_Type_create_hvector_c(in_row, 1, step, block, &whole);
        if (!error)
            error = spanned(d, 1, rank_of(d), rows, whole, &parts[n]);
        n += !error;
    }
    if (!error && times % in_row) {
        places[n] = place_of(d, rows * in_row * alike * length);
        error = PMPI_Type_create_hvector_c(times % in_row, 1, step, block, &parts[n]);
        n += !error;
    }
    if (!error && rest.count) {
        places[n] = place_of(d, times * alike * length);
        error = mapped(&one, &rest, (rest.count - 1) * m->extent + m->true_lb + m->true_extent, rest.count * m->size,
            &parts[n]);
        n += !error;
    }
    if (!error)
        error = PMPI_Type_create_struct_c(n, lengths, places, parts, type);
    for (int i = 0; i < n; i++)
        PMPI_Type_free(&parts[i]);
    if (whole != MPI_DATATYPE_NULL)
        PMPI_Type_free(&whole);
    if (block != MPI_DATATYPE_NULL)
        PMPI_Type_free(&block);
    return error;
}

int mpifort_section(const struct descriptor *d, struct typed *typed)
{
    struct measures m;
    if (typed->count <= 0 || !measure(typed->type, &m) || !m.size)
        return MPI_SUCCESS;
    MPI_Count length = (MPI_Count)d->elem_len, size = typed->count * m.size, begin, span;
    ptrdiff_t there = elements(d);
    if (!reach_of(typed->count, &m, &begin, &span) || begin < 0 || !length || (there >= 0 && span > there * length))
        return MPI_ERR_BUFFER;
    int error;
    MPI_Datatype type = MPI_DATATYPE_NULL, unit = MPI_DATATYPE_NULL;
    if (is_dense(&m) && size % length == 0) {
        error = unit_of(d, typed, m.size, &unit);
        if (!error)
            error = prefix(d, rank_of(d), size / length, unit, &type);
        if (unit != MPI_DATATYPE_NULL)
            PMPI_Type_free(&unit);
    } else {
        error = repeated(d, typed, &m, span, &type);
    }
    if (!error)
        error = PMPI_Type_commit(&type);
    if (!error)
        *typed = (struct typed){1, type, 1};
    return error;
}

/* Whether elements of the dimensions from `rank` on are equally far apart: each dimension goes on where the one
 * before ends. */
static int is_even_from(const struct descriptor *d, int rank, ptrdiff_t *step)
{
    ptrdiff_t next = 0;
    *step = 0;
    for (int i = rank; i < rank_of(d); i++) {
        ptrdiff_t extent = extent_of(d, i), stride = stride_of(d, i);
        if (extent == 1)
            continue;
        if (!*step)
            *step = stride;
        else if (stride != next)
            return 0;
        next = stride * extent;
    }
    return 1;
}

int mpifort_stride(const struct descriptor *d, struct typed *typed)
{
    struct measures m;
    ptrdiff_t step = 0;
    if (!measure(typed->type, &m))
        return MPI_SUCCESS;
    if (!is_even_from(d, 0, &step) || !is_dense(&m) || m.size != (MPI_Count)d->elem_len)
        return MPI_ERR_BUFFER;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int error = PMPI_Type_create_resized_c(typed->type, 0, step, &type);
    if (!error)
        error = PMPI_Type_commit(&type);
    if (!error)
        *typed = (struct typed){0, type, 1};
    return error;
}

int mpifort_partitions(const struct descriptor *d, MPI_Count partitions, struct typed *typed)
{
    struct measures m;
    if (typed->count <= 0 || partitions <= 0)
        return MPI_SUCCESS;
    if (partitions == 1)
        return mpifort_section(d, typed);
    if (!measure(typed->type, &m) || !m.size)
        return MPI_SUCCESS;
    MPI_Count length = (MPI_Count)d->elem_len, size = typed->count * m.size, below = 1;
    ptrdiff_t there = elements(d), step = 0;
    if (!is_dense(&m) || !length || size % length || (there >= 0 && partitions * size > there * length))
        return MPI_ERR_BUFFER;
    /* A partition is a number of blocks, each of all elements in the first dimensions, that are equally far apart. */
    int rank = 0;
    while (rank < rank_of(d) && !is_even_from(d, rank, &step))
        below *= extent_of(d, rank++);
    MPI_Count blocks = size / length / below;
    if (size / length % below)
        return MPI_ERR_BUFFER;
    MPI_Datatype unit = MPI_DATATYPE_NULL, block = MPI_DATATYPE_NULL, row = MPI_DATATYPE_NULL,
                 type = MPI_DATATYPE_NULL;
    int error = unit_of(d, typed, m.size, &unit);
    if (!error)
        error = prefix(d, rank, below, unit, &block);
    if (!error)
        error = PMPI_Type_create_hvector_c(blocks, 1, step, block, &row);
    if (!error)
        error = PMPI_Type_create_resized_c(row, 0, blocks * step, &type);
    if (!error)
        error = PMPI_Type_commit(&type);
    MPI_Datatype *const parts[] = {&unit, &block, &row};
    for (int i = 0; i < 3; i++)
        if (*parts[i] != MPI_DATATYPE_NULL)
            PMPI_Type_free(parts[i]);
    if (!error)
        *typed = (struct typed){1, type, 1};
    return error;
}

static MPI_Count number_of(struct numbers numbers, ptrdiff_t i)
{
    return numbers.width == sizeof(int64_t) ? (MPI_Count)((const int64_t *)numbers.of)[i] : ((const int32_t *)numbers.of)[i];
}

/* Whether elements of a type lie in the section, the first of which begins at a byte. */
static int holds_from(const struct descriptor *d, MPI_Count at, MPI_Count count, const struct measures *m)
{
    MPI_Count begin, end;
    ptrdiff_t there = elements(d);
    if (count <= 0 || !m->size || there < 0)
        return 1;
    return at <= INT64_MAX / 4 && at >= INT64_MIN / 4 && reach_of(count, m, &begin, &end) && at + begin >= 0
        && at + end <= there * (MPI_Count)d->elem_len;
}

int mpifort_holds(const struct descriptor *d, MPI_Count count, MPI_Datatype type)
{
    struct measures m;
    return count <= 0 || !measure(type, &m) || holds_from(d, 0, count, &m);
}

int mpifort_holds_all(const struct descriptor *d, struct numbers counts, ptrdiff_t n, MPI_Datatype type)
{
    MPI_Count sum = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        sum += number_of(counts, i);
    return mpifort_holds(d, sum, type);
}

/* Whether an entry is that of a neighbour who is nobody. Only in grids that do not go round there are such, of which each
 * dimension has two neighbours. */
static int is_nobody(MPI_Comm comm, ptrdiff_t i)
{
    int kind = MPI_UNDEFINED, neighbors[2] = {0, 0};
    if (comm == MPI_COMM_NULL || PMPI_Topo_test(comm, &kind) || kind != MPI_CART)
        return 0;
    return !PMPI_Cart_shift(comm, (int)(i / 2), 1, &neighbors[0], &neighbors[1]) && neighbors[i % 2] == MPI_PROC_NULL;
}

int mpifort_reach(MPI_Comm comm, int n)
{
    while (n > 0 && is_nobody(comm, n - 1))
        n--;
    return n;
}

int mpifort_holds_parts(const struct descriptor *d, struct numbers counts, struct numbers displs, ptrdiff_t n,
    MPI_Datatype type, MPI_Comm neighbors)
{
    struct measures m;
    for (ptrdiff_t i = 0, measured = 0; i < n; i++) {
        MPI_Count at = 0;
        if (number_of(counts, i) <= 0 || is_nobody(neighbors, i))
            continue;
        if (!measured && !measure(type, &m))
            return 1;
        measured = 1;
        if (m.size && (__builtin_mul_overflow(number_of(displs, i), m.extent, &at) || !holds_from(d, at, number_of(counts, i), &m)))
            return 0;
    }
    return 1;
}

int mpifort_holds_types(const struct descriptor *d, struct numbers counts, struct numbers displs, ptrdiff_t n,
    struct numbers types, MPI_Comm neighbors)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        struct measures m;
        /* Where nothing is meant, there need be no type. */
        if (number_of(counts, i) > 0 && !is_nobody(neighbors, i) && measure(Type_of((Fint)number_of(types, i)), &m)
            && !holds_from(d, number_of(displs, i), number_of(counts, i), &m))
            return 0;
    }
    return 1;
}

/* The most bytes of a number: longer elements are structures, of which an operation may have changed some components,
 * while others are the program's. */
enum { LONGEST_NUMBER = 32 };

static void write_changed(char *to, const char *from, const char *before, size_t length)
{
    if (length <= LONGEST_NUMBER) {
        memcpy(to, from, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        if (from[i] != before[i])
            to[i] = from[i];
}

/* Copies rows of the first dimension from the section to an array without gaps; or back, where the array differs
 * from `before`. */
static void copy_rows(const struct descriptor *d, char *copy, const char *before)
{
    ptrdiff_t index[15] = {0}, length = (ptrdiff_t)d->elem_len;
    ptrdiff_t row = extent_of(d, 0), stride = stride_of(d, 0);
    char *at = d->base_addr;
    for (;;) {
        for (ptrdiff_t i = 0; i < row; i++, copy += length) {
            char *element = at + i * stride;
            if (!before) {
                memcpy(copy, element, d->elem_len);
                continue;
            }
            if (memcmp(copy, before, d->elem_len))
                write_changed(element, copy, before, d->elem_len);
            before += length;
        }
        int k = 1;
        for (; k < rank_of(d); k++) {
            at += stride_of(d, k);
            if (++index[k] < extent_of(d, k))
                break;
            at -= stride_of(d, k) * index[k];
            index[k] = 0;
        }
        if (k >= rank_of(d))
            return;
    }
}

/* A copy has what the section was behind it. */
static size_t bytes_of(const struct descriptor *d)
{
    return (size_t)elements(d) * d->elem_len;
}

void *mpifort_gather(const struct descriptor *d)
{
    char *copy = elements(d) < 0 ? NULL : malloc(2 * bytes_of(d) + 1);
    if (copy)
        mpifort_refill(d, copy);
    return copy;
}

void mpifort_refill(const struct descriptor *d, void *copy)
{
    if (!bytes_of(d))
        return;
    copy_rows(d, copy, NULL);
    memcpy((char *)copy + bytes_of(d), copy, bytes_of(d));
}

void mpifort_scatter(const struct descriptor *d, const void *copy)
{
    if (bytes_of(d))
        copy_rows(d, (char *)copy, (const char *)copy + bytes_of(d));
}
