/*
 * What differs where INTEGER and LOGICAL have 8 bytes: C has 4, so integers are narrowed and widened.
 * Where a function with large counts does the same, it is called, so counts keep all their bits.
 */

#ifndef CATENA_FORTRAN_INTEGER8_H
#define CATENA_FORTRAN_INTEGER8_H

#include <limits.h>

#define L(name) C(name##_c)
#define NUMBER(count) (count)

/* A number that C has no room for becomes one that is wrong everywhere. */
static inline int INT(Fint value)
{
    return value < INT_MIN || value > INT_MAX ? INT_MIN : (int)value;
}

/* Arrays are converted on the stack if they have few entries, as those of handles are. */
static inline int *mpifort_ints(int *few, const Fint *from, ptrdiff_t count)
{
    int *ints = few;
    if (count > 32)
        ints = (size_t)count > PTRDIFF_MAX / sizeof *ints ? NULL : malloc(sizeof *ints * (size_t)count);
    for (ptrdiff_t i = 0; ints && i < count; i++)
        ints[i] = INT(from[i]);
    return ints;
}

#define INTEGER(name) int i_##name = (int)*(name);
#define AT(name) &i_##name
#define VALUE(name) i_##name
#define RETURN_INTEGER(name) *(name) = i_##name;
#define INTEGERS(name, count) \
    int few_##name[FEW], *i_##name = few_##name; \
    ptrdiff_t n_##name = (count);
#define NO_INTEGERS(name) !(i_##name = mpifort_ints(few_##name, name, n_##name))
#define ENTRIES(name) i_##name
#define WEIGHTS(name) (is_weights(name) ? i_##name : weights_at(name))
#define RETURN_INTEGERS(name) \
    for (ptrdiff_t i = 0; i < n_##name; i++) \
        (name)[i] = i_##name[i];
#define LEAVE_INTEGERS(name) leave(few_##name, i_##name);

/* Statuses. One that a call does not write keeps its numbers, as MPI_ERROR does in most calls. */
#define is_ignored(name) \
    ((const void *)(name) == &mpifort_status_ignore \
        || (const void *)(name) == &mpifort_f08_status_ignore \
        || (const void *)(name) == &mpifort_statuses_ignore \
        || (const void *)(name) == &mpifort_f08_statuses_ignore)
#define is_weights(name) \
    ((const void *)(name) != &mpifort_unweighted && (const void *)(name) != &mpifort_weights_empty)
#define weights_at(name) \
    ((const void *)(name) == &mpifort_unweighted ? MPI_UNWEIGHTED : MPI_WEIGHTS_EMPTY)
/* Those of spawned processes come at the root, where it is known how many there are. */
#define errcodes_here(name, count) \
    ((const void *)(name) == &mpifort_errcodes_ignore ? 0 : (count))
#define ERRCODES(name) (n_##name > 0 ? i_##name : MPI_ERRCODES_IGNORE)

enum { STATUS_INTS = sizeof(MPI_Status) / sizeof(int) };

static inline void mpifort_narrow_status(MPI_Status *to, const Fint *from, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count * STATUS_INTS; i++)
        ((int *)to)[i] = (int)from[i];
}

static inline void mpifort_widen_status(Fint *to, const MPI_Status *from, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count * STATUS_INTS; i++)
        to[i] = ((const int *)from)[i];
}

static inline MPI_Status *mpifort_statuses(MPI_Status *few, const Fint *from, ptrdiff_t count)
{
    MPI_Status *statuses = few;
    if (count > 32)
        statuses = malloc(sizeof *statuses * (size_t)count);
    if (statuses)
        mpifort_narrow_status(statuses, from, count);
    return statuses;
}

#define STATUS(name) \
    MPI_Status s_##name; \
    if (!is_ignored(name)) \
        mpifort_narrow_status(&s_##name, name, 1);
#define STATUS_AT(name) (is_ignored(name) ? MPI_STATUS_IGNORE : &s_##name)
#define STATUS_IN(name) &s_##name
#define RETURN_STATUS(name) \
    if (!is_ignored(name)) \
        mpifort_widen_status(name, &s_##name, 1);
#define STATUSES(name, count) \
    MPI_Status few_##name[FEW], *s_##name = few_##name; \
    ptrdiff_t n_##name = is_ignored(name) ? 0 : (count);
#define NO_STATUSES(name) !(s_##name = mpifort_statuses(few_##name, name, n_##name))
#define STATUSES_AT(name) (is_ignored(name) ? MPI_STATUSES_IGNORE : s_##name)
#define RETURN_STATUSES(name) mpifort_widen_status(name, s_##name, n_##name);
#define LEAVE_STATUSES(name) leave(few_##name, s_##name);
/* For a procedure of the program, and what that has made of it. */
#define FORTRAN_STATUS(name, status) \
    Fint name[STATUS_INTS]; \
    mpifort_widen_status(name, status, 1);
#define C_STATUS(status, name) mpifort_narrow_status(status, name, 1);

#endif
