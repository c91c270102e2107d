/*
 * What the modules of MPICH and of Open MPI define themselves, under the names that gfortran gives it:
 * comparisons and conversions of handles, copies of statuses, sizes. Handles are integers in each of
 * them, so that few functions have many names.
 */

#include "fortran.h"

static Flogical equal(const Fint *a, const Fint *b)
{
    return logical(*a == *b);
}

static Flogical different(const Fint *a, const Fint *b)
{
    return logical(*a != *b);
}

#define TYPES(X) X(comm) X(datatype) X(errhandler) X(file) X(group) X(info) X(message) X(op) X(request) X(win)

#ifdef CATENA_INTERFACE_OPENMPI
#define COMPARE(type) \
    SAME(equal, __mpi_f08_types_MOD_ompi_##type##_op_eq) \
    SAME(different, __mpi_f08_types_MOD_ompi_##type##_op_ne)
/* Since Open MPI 5 another module has the types. */
#define COMPARE_5(type) \
    SAME(equal, __mpi_types_MOD_ompi_##type##_op_eq) \
    SAME(different, __mpi_types_MOD_ompi_##type##_op_ne)
TYPES(COMPARE)
COMPARE(session)
TYPES(COMPARE_5)
#else
/* Handles with handles, and with the integers of mpif.h. */
#define COMPARE_F08(type) \
    SAME(equal, __mpi_f08_types_MOD_mpi_##type##_eq) \
    SAME(different, __mpi_f08_types_MOD_mpi_##type##_neq) \
    SAME(equal, __mpi_f08_types_MOD_mpi_##type##_f08_eq_f) \
    SAME(different, __mpi_f08_types_MOD_mpi_##type##_f08_neq_f) \
    SAME(equal, __mpi_f08_types_MOD_mpi_##type##_f_eq_f08) \
    SAME(different, __mpi_f08_types_MOD_mpi_##type##_f_neq_f08)
/* The types of the module mpi. */
#define COMPARE(type) \
    SAME(equal, __mpi_constants_MOD_##type##eq) \
    SAME(different, __mpi_constants_MOD_##type##neq)
TYPES(COMPARE)
TYPES(COMPARE_F08)
COMPARE_F08(session)

/* From and to C: the number is the same, and comes by value. */
static Fint number(Fint handle)
{
    return handle;
}

#define CONVERT(type) \
    SAME(number, __mpi_f08_types_MOD_mpi_##type##_c2f) \
    SAME(number, __mpi_f08_types_MOD_mpi_##type##_f2c)
CONVERT(comm)
CONVERT(datatype)
CONVERT(errhandler)
CONVERT(group)
CONVERT(info)
CONVERT(message)
CONVERT(op)
CONVERT(request)
CONVERT(session)
CONVERT(win)

/* All forms of a status have the same layout. */
static void copied(const struct mpifort_status *from, struct mpifort_status *to, Fint *ierror)
{
    *to = *from;
    finish(ierror, MPI_SUCCESS);
}
SAME(copied, __mpi_f08_types_MOD_mpi_status_f2f08)
SAME(copied, __mpi_f08_types_MOD_mpi_status_f082f)

static void assigned(struct mpifort_status *to, const struct mpifort_status *from)
{
    *to = *from;
}
SAME(assigned, __mpi_f08_types_MOD_mpi_status_c_assign_f08)
SAME(assigned, __mpi_f08_types_MOD_mpi_status_f08_assign_c)

#define SIZEOF(bytes) \
    static void has_##bytes(const void *x, Fint *size, Fint *ierror) \
    { \
        (void)x; \
        *size = bytes; \
        finish(ierror, MPI_SUCCESS); \
    }
SIZEOF(1)
SIZEOF(2)
SIZEOF(4)
SIZEOF(8)
SIZEOF(16)
SIZEOF(32)

#define SIZEOF_F08(type, bytes) SAME(has_##bytes, __mpi_f08_types_MOD_mpi_sizeof_##type)
SIZEOF_F08(character, 1)
SIZEOF_F08(logical, 4)
SIZEOF_F08(xint8, 1)
SIZEOF_F08(xint16, 2)
SIZEOF_F08(xint32, 4)
SIZEOF_F08(xint64, 8)
SIZEOF_F08(xreal32, 4)
SIZEOF_F08(xreal64, 8)
SIZEOF_F08(xreal128, 16)
SIZEOF_F08(xcomplex32, 8)
SIZEOF_F08(xcomplex64, 16)
SIZEOF_F08(xcomplex128, 32)

/* One for numbers and one for arrays. */
#define SIZEOF_OLD(type, bytes) \
    SAME(has_##bytes, __mpi_sizeofs_MOD_mpi_sizeof_##type) \
    SAME(has_##bytes, __mpi_sizeofs_MOD_mpi_sizeof_##type##v)
SIZEOF_OLD(ch, 1)
SIZEOF_OLD(l, 4)
SIZEOF_OLD(i1, 1)
SIZEOF_OLD(i2, 2)
SIZEOF_OLD(i, 4)
SIZEOF_OLD(i8, 8)
SIZEOF_OLD(r, 4)
SIZEOF_OLD(d, 8)
SIZEOF_OLD(cx, 8)
#endif
