/*
 * Descriptors of buffers, as compilers make them for TYPE(*), DIMENSION(..) (TS 29113, C.F.I. of
 * Fortran 2018). Only fields on which compilers agree are read: the address, the length of an
 * element, the rank and the strides. Codes of types differ, the extents at a null address are
 * garbage, and the last extent of an array of assumed size is -1.
 */

#ifndef CATENA_FORTRAN_DESCRIPTOR_H
#define CATENA_FORTRAN_DESCRIPTOR_H

#include "fortran.h"

#include <stdatomic.h>

#ifdef CATENA_INTERFACE_MPICH
/* MPICH's modules of gfortran, version 8 and later, hand over that compiler's own descriptors, for their
 * procedures are not BIND(C). The last dimension of an array of assumed size ends at 0, or at -1. */
struct dimension {
    ptrdiff_t stride; /* in elements */
    ptrdiff_t lower_bound;
    ptrdiff_t upper_bound;
};

struct descriptor {
    void *base_addr;
    ptrdiff_t offset;
    size_t elem_len;
    int version;
    signed char rank;
    signed char unread[3];
    ptrdiff_t span; /* bytes from an element to the next one of the array */
    struct dimension dim[15];
};

_Static_assert(offsetof(struct descriptor, elem_len) == 16, "the layout that gfortran has");
_Static_assert(offsetof(struct descriptor, rank) == 28, "the layout that gfortran has");
_Static_assert(offsetof(struct descriptor, dim) == 40, "the layout that gfortran has");

static inline ptrdiff_t extent_of(const struct descriptor *d, int i)
{
    const struct dimension *dim = &d->dim[i];
    ptrdiff_t extent = dim->upper_bound - dim->lower_bound + 1;
    int assumed = i + 1 == d->rank
        && (dim->upper_bound == -1 || (dim->upper_bound == 0 && dim->lower_bound == 1));
    return assumed ? -1 : extent < 0 ? 0 : extent;
}

static inline ptrdiff_t stride_of(const struct descriptor *d, int i)
{
    return d->dim[i].stride * (d->span ? d->span : (ptrdiff_t)d->elem_len);
}
#else
struct dimension {
    ptrdiff_t lower_bound;
    ptrdiff_t extent;
    ptrdiff_t stride; /* in bytes */
};

struct descriptor {
    void *base_addr;
    size_t elem_len;
    int version;
    signed char rank;
    signed char unread[3];
    struct dimension dim[15];
};

_Static_assert(offsetof(struct descriptor, elem_len) == 8, "the layout that compilers have");
_Static_assert(offsetof(struct descriptor, rank) == 20, "the layout that compilers have");
_Static_assert(offsetof(struct descriptor, dim) == 24, "the layout that compilers have");

static inline ptrdiff_t extent_of(const struct descriptor *d, int i)
{
    return d->dim[i].extent;
}

static inline ptrdiff_t stride_of(const struct descriptor *d, int i)
{
    return d->dim[i].stride;
}
#endif

/* Texts beside buffers: BIND(C) makes descriptors of them, and else their length comes last. */
#ifdef CATENA_INTERFACE_MPICH
#define WORDS(name) const char *name
#define WORDS_LENGTH(name) , size_t l_##name
#define WORDS_AT(name) name
#define LENGTH(name) l_##name
#else
#define WORDS(name) const struct descriptor *name
#define WORDS_LENGTH(name)
#define WORDS_AT(name) name->base_addr
#define LENGTH(name) name->elem_len
#endif

#define HIDDEN __attribute__((visibility("hidden")))

/* Whether the elements follow each other in memory, for any rank. */
HIDDEN int mpifort_is_run(const struct descriptor *d);

struct typed;
/* Whether a run has as many bytes as the count and the type name, if the type is predefined. */
HIDDEN int mpifort_holds_run(const struct descriptor *d, const struct typed *typed);

static inline int is_run(const struct descriptor *d)
{
    return !d->rank || (d->rank == 1 && stride_of(d, 0) == (ptrdiff_t)d->elem_len)
        || mpifort_is_run(d);
}

/* A count and a type, and whether the type has been made for the call. */
struct typed {
    MPI_Count count;
    MPI_Datatype type;
    int made;
};

/* Sizes of predefined types, as far as they are known: 0 is not. */
enum { PREDEFINED = 0x1000 };
HIDDEN extern _Atomic unsigned char mpifort_sizes[PREDEFINED];
HIDDEN size_t mpifort_size(MPI_Datatype type);

/* The size of a predefined type; 0 for others, whose gaps may be more than the array, or lie elsewhere. */
static inline size_t predefined_size(MPI_Datatype type)
{
#ifdef CATENA_INTERFACE_MPICH
    return (unsigned)type >> 24 == 0x4c ? (unsigned)type >> 8 & 0xff : 0;
#else
    uintptr_t number = (uintptr_t)type;
    if (number >= PREDEFINED)
        return 0;
    size_t size = atomic_load_explicit(&mpifort_sizes[number], memory_order_relaxed);
    return size ? size : mpifort_size(type);
#endif
}

/* As is_run, for a buffer all of whose elements that the count and the type name are used: one with fewer is none, so that
 * mpifort_section refuses it. A single element may stand for an array (`REAL A(1)` of old programs), and so may none. */
static inline int is_checked_run(const struct descriptor *d, const struct typed *typed)
{
    if (d->rank != 1)
        return !d->rank || (mpifort_is_run(d) && mpifort_holds_run(d, typed));
    if (stride_of(d, 0) != (ptrdiff_t)d->elem_len && !mpifort_is_run(d))
        return 0;
    ptrdiff_t extent = extent_of(d, 0);
    return extent <= 1 || typed->count * (MPI_Count)predefined_size(typed->type) <= extent * (MPI_Count)d->elem_len
        || !d->base_addr;
}

static inline void free_typed(struct typed *typed)
{
    if (typed->made)
        PMPI_Type_free(&typed->type);
}

/* Makes the count and the type describe, from the address of the section on, those elements of it
 * that they name in an array without gaps. Returns an error class. These three leave what is no type as it is, without an error,
 * as the call itself tells. */
HIDDEN int mpifort_section(const struct descriptor *d, struct typed *typed);
/* Makes a type whose extent is the distance of two elements, so that counts and displacements
 * hold. Returns an error class: MPI_ERR_BUFFER if the distances differ. */
HIDDEN int mpifort_stride(const struct descriptor *d, struct typed *typed);
/* Makes the count and the type describe one partition, from whose extent on the next one lies alike. Returns an
 * error class: MPI_ERR_BUFFER if they lie differently. */
HIDDEN int mpifort_partitions(const struct descriptor *d, MPI_Count partitions, struct typed *typed);
/* Numbers of a kind that the compiler knows. */
struct numbers {
    const void *of;
    size_t width;
};
#define NUMBERS(name) ((struct numbers){name, sizeof *name})

/* The entry of this rank. */
#define own(counts, comm) ((counts)[own_rank(comm)])
static inline int own_rank(MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

/* Whether the section has all elements that the call names: as many as a count says, as many as the sum of `n` counts, those of
 * `n` counts from displacements on in elements, or in bytes with a type for each. What lies before the section is not in it.
 * Entries of `neighbors` that are nobody do not count; MPI_COMM_NULL says that entries are those of ranks.
 * What is wrong with types and counts the call itself tells: they hold. */
HIDDEN int mpifort_holds(const struct descriptor *d, MPI_Count count, MPI_Datatype type);
HIDDEN int mpifort_holds_all(const struct descriptor *d, struct numbers counts, ptrdiff_t n, MPI_Datatype type);
HIDDEN int mpifort_holds_parts(const struct descriptor *d, struct numbers counts, struct numbers displs, ptrdiff_t n,
    MPI_Datatype type, MPI_Comm neighbors);
HIDDEN int mpifort_holds_types(const struct descriptor *d, struct numbers counts, struct numbers displs, ptrdiff_t n,
    struct numbers types, MPI_Comm neighbors);
/* How many of the first `n` neighbours there are up to the last one that is somebody. */
HIDDEN int mpifort_reach(MPI_Comm comm, int n);
/* A copy of the section without gaps; NULL if there is no memory. */
HIDDEN void *mpifort_gather(const struct descriptor *d);
/* Fills the copy anew, and writes it back. */
HIDDEN void mpifort_refill(const struct descriptor *d, void *copy);
HIDDEN void mpifort_scatter(const struct descriptor *d, const void *copy);

/* Copies that a request uses: see pending.c. */
/* One more copy, of a section that the operation writes if `writes`. NULL if there is no memory. */
HIDDEN void *mpifort_later(struct pending **pending, const struct descriptor *d, int writes);

#endif
