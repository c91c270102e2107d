/*
 * Descriptors of buffers, as compilers make them for TYPE(*), DIMENSION(..) (TS 29113, C.F.I. of
 * Fortran 2018). Only fields on which compilers agree are read: the address, the length of an
 * element, the rank and the strides. Codes of types differ, the extents at a null address are
 * garbage, and the last extent of an array of assumed size is -1.
 */

#ifndef CATENA_FORTRAN_DESCRIPTOR_H
#define CATENA_FORTRAN_DESCRIPTOR_H

#include "fortran.h"

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

#define HIDDEN __attribute__((visibility("hidden")))

/* Whether the elements follow each other in memory, for any rank. */
HIDDEN int mpifort_is_run(const struct descriptor *d);

static inline int is_run(const struct descriptor *d)
{
    return !d->rank || (d->rank == 1 && d->dim[0].stride == (ptrdiff_t)d->elem_len)
        || mpifort_is_run(d);
}

/* A count and a type, and whether the type has been made for the call. */
struct typed {
    MPI_Count count;
    MPI_Datatype type;
    int made;
};

static inline void free_typed(struct typed *typed)
{
    if (typed->made)
        PMPI_Type_free(&typed->type);
}

/* Makes the count and the type describe, from the address of the section on, those elements of it
 * that they name in an array without gaps. Returns an error class. */
HIDDEN int mpifort_section(const struct descriptor *d, struct typed *typed);
/* Makes a type whose extent is the distance of two elements, so that counts and displacements
 * hold. Returns an error class: MPI_ERR_BUFFER if the distances differ. */
HIDDEN int mpifort_stride(const struct descriptor *d, struct typed *typed);
/* Whether the section has as many elements as the count and the type name. */
HIDDEN int mpifort_holds(const struct descriptor *d, MPI_Count count, MPI_Datatype type);
/* A copy of the section without gaps; NULL if there is no memory. */
HIDDEN void *mpifort_gather(const struct descriptor *d);
/* Fills the copy anew, and writes it back. */
HIDDEN void mpifort_refill(const struct descriptor *d, void *copy);
HIDDEN void mpifort_scatter(const struct descriptor *d, const void *copy);

/* Copies that a request uses: see pending.c. */
struct pending;
/* One more copy, of a section that the operation writes if `writes`. NULL if there is no memory. */
HIDDEN void *mpifort_later(struct pending **pending, const struct descriptor *d, int writes);
/* Keeps the copies until the request is complete, or, if it is persistent, is freed. Without a
 * request (0) they are freed. */
HIDDEN void mpifort_keep(struct pending *pending, int request, int persistent);

#endif
