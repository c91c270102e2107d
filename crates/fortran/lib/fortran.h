/*
 * What all parts of libmpifort_abi have in common: names, handles, sentinels, logicals, texts.
 *
 * Each part is compiled twice. The plain pass makes mpi_* procedures, which call MPI_*; the pass
 * with PROFILE makes pmpi_*, which call PMPI_*. So a tool in C or in Fortran sees each call once.
 * Only the C ABI of MPI 5 (chapter 20) is used: any library that has it will do.
 *
 * With the mpi.h of another interface (made/mpich, made/openmpi), which says CATENA_INTERFACE_FOREIGN,
 * the same sources are libmpifort.so.12 or libmpi_mpifh.so.40. There constants are alike in C and in
 * Fortran, and so is the layout of a status. What differs is in foreign.h.
 */

#ifndef CATENA_FORTRAN_H
#define CATENA_FORTRAN_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Predefined callbacks are macros in C and procedures in Fortran. */
#undef MPI_NULL_COPY_FN
#undef MPI_DUP_FN
#undef MPI_NULL_DELETE_FN
#undef MPI_COMM_NULL_COPY_FN
#undef MPI_COMM_DUP_FN
#undef MPI_COMM_NULL_DELETE_FN
#undef MPI_TYPE_NULL_COPY_FN
#undef MPI_TYPE_DUP_FN
#undef MPI_TYPE_NULL_DELETE_FN
#undef MPI_WIN_NULL_COPY_FN
#undef MPI_WIN_DUP_FN
#undef MPI_WIN_NULL_DELETE_FN
#undef MPI_CONVERSION_FN_NULL
#undef MPI_CONVERSION_FN_NULL_C

/* INTEGER and LOGICAL. With INTEGER_8 the procedures are those of compilers whose default kinds have 8
 * bytes, as by -fdefault-integer-8; their names are other ones, and integer8.h has what differs. */
#ifdef INTEGER_8
typedef int64_t Fint;
typedef int64_t Flogical;
#else
typedef int Fint;
typedef int Flogical;
#endif

/* Names. F is the procedure that is called by address, D the one with descriptors; compilers
 * change the name of the former in one of four ways. */

#ifdef PROFILE
#define C(name) PMPI_##name
#else
#define C(name) MPI_##name
#endif
#ifdef INTEGER_8
/* The linker's option --wrap makes mpi_send_ of a program __wrap_mpi_send_. */
#ifdef PROFILE
#define LOWER(name) __wrap_pmpi_##name
#define DESCRIBED(name, suffix) i8pmpi_##name##suffix
#else
#define LOWER(name) __wrap_mpi_##name
#define DESCRIBED(name, suffix) i8mpi_##name##suffix
#endif
#elif defined(PROFILE)
#define LOWER(name) pmpi_##name
#define LOWER_X(name) pmpix_##name
#define UPPER(name) PMPI_##name
#define DESCRIBED(name, suffix) pmpi_##name##suffix
#else
#define LOWER(name) mpi_##name
#define LOWER_X(name) mpix_##name
#define UPPER(name) MPI_##name
#define DESCRIBED(name, suffix) mpi_##name##suffix
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define F(name) JOIN(LOWER(name), _)
#ifdef CATENA_INTERFACE_MPICH
#define D(name) DESCRIBED(name, _f08ts_)
#define D_LARGE(name) DESCRIBED(name, _f08ts_large_)
#else
#define D(name) DESCRIBED(name, _f08ts)
/* The one with large counts. */
#define D_LARGE(name) DESCRIBED(name, _c_f08ts)
#endif
#define TEXT_OF_(text) #text
#define TEXT_OF(text) TEXT_OF_(text)
#define SAME(target, name) \
    extern __typeof__(target) name __attribute__((alias(TEXT_OF(target)), visibility("default")));

/* The other names of F(name). */
#ifdef INTEGER_8
#define NAMES(name, NAME)
#define NAMES_F08(name, NAME) SAME(F(name), JOIN(LOWER(name), _f08_))
#define NAMES_F08_LARGE(small, name, NAME) NAMES_F08(name, NAME)
#define NAMES_F08_CHOICE(name, NAME)
#define NAMES_MPIX(name)
#define NAMES_CPTR(name, NAME) SAME(F(name), JOIN(LOWER(name), _cptr_))
#define NAMES_FTS(name) SAME(D(name), DESCRIBED(name, _fts))
#else
/* Of the pmpi_* there is only the name that gfortran, flang, ifx and nvfortran give them: others serve
 * programs whose compiler has been told to change names, which do not call these. */
#ifdef PROFILE
#define NAMES(name, NAME)
#else
#define NAMES(name, NAME) \
    SAME(F(name), LOWER(name)) \
    SAME(F(name), JOIN(LOWER(name), __)) \
    SAME(F(name), UPPER(NAME))
#endif
#ifdef CATENA_INTERFACE_FOREIGN
#define NAMES_F08(name, NAME) SAME(F(name), JOIN(LOWER(name), _f08_))
#ifdef CATENA_INTERFACE_OPENMPI
/* In Open MPI's mpi_f08 buffers are addresses, too. */
#define NAMES_F08_LARGE(small, name, NAME) NAMES_F08(name, NAME)
#define NAMES_F08_CHOICE NAMES_F08
/* Of persistent collectives, which version 4 has outside the standard. */
#define NAMES_MPIX(name) \
    SAME(F(name), JOIN(LOWER_X(name), _)) \
    SAME(F(name), JOIN(LOWER_X(name), _f08_))
#else
#define NAMES_F08_LARGE(small, name, NAME) SAME(F(name), JOIN(LOWER(small), _f08_large_))
#define NAMES_F08_CHOICE(name, NAME)
#define NAMES_MPIX(name)
#endif
#define NAMES_CPTR(name, NAME) SAME(F(name), JOIN(LOWER(name), _cptr_))
#define NAMES_FTS(name)
#else
/* Those of the interface in mpi_f08, and those of the one where addresses are TYPE(C_PTR), in mpi. */
#ifdef PROFILE
#define NAMES_F08(name, NAME) SAME(F(name), JOIN(LOWER(name), _f08_))
#define NAMES_CPTR(name, NAME) SAME(F(name), JOIN(LOWER(name), _cptr_))
#else
#define NAMES_F08(name, NAME) \
    SAME(F(name), JOIN(LOWER(name), _f08)) \
    SAME(F(name), JOIN(LOWER(name), _f08_)) \
    SAME(F(name), JOIN(LOWER(name), _f08__)) \
    SAME(F(name), JOIN(UPPER(NAME), _F08))
#define NAMES_CPTR(name, NAME) \
    SAME(F(name), JOIN(LOWER(name), _cptr)) \
    SAME(F(name), JOIN(LOWER(name), _cptr_)) \
    SAME(F(name), JOIN(LOWER(name), _cptr__)) \
    SAME(F(name), JOIN(UPPER(NAME), _CPTR))
#endif
#define NAMES_F08_LARGE(small, name, NAME) NAMES_F08(name, NAME)
/* Those of procedures with choice buffers, which get descriptors there. */
#define NAMES_F08_CHOICE(name, NAME)
#define NAMES_MPIX(name)
/* That of the procedure with descriptors in mpi. */
#define NAMES_FTS(name) SAME(D(name), DESCRIBED(name, _fts))
#endif
#endif

/* Integers as C has them, which are those of Fortran but for INTEGER_8. A macro in the place of a
 * declaration or a statement has the semicolon in it. */
#ifdef INTEGER_8
#include "integer8.h"
#else
#define L(name) C(name)
#define INT(value) (value)
#define NUMBER(count) (int)(count)
#define INTEGER(name)
#define AT(name) name
#define VALUE(name) *name
#define RETURN_INTEGER(name)
#define INTEGERS(name, count)
#define NO_INTEGERS(name) 0
#define ENTRIES(name) name
#define WEIGHTS(name) weights_at(name)
#define RETURN_INTEGERS(name)
#define LEAVE_INTEGERS(name)
#define STATUS(name)
#define STATUS_AT(name) status_at(name)
#define STATUS_IN(name) (MPI_Status *)(name)
#define RETURN_STATUS(name)
#define STATUSES(name, count)
#define NO_STATUSES(name) 0
#define STATUSES_AT(name) statuses_at(name)
#define RETURN_STATUSES(name)
#define LEAVE_STATUSES(name)
#define FORTRAN_STATUS(name, status) Fint *name = (Fint *)(status);
#define C_STATUS(status, name)
#define ERRCODES(name) errcodes_at(name)
#endif

#ifdef CATENA_INTERFACE_FOREIGN
#include "foreign.h"
#else

/* Handles. Those that are predefined have the same number in both languages; zero is none. Other
 * numbers are the library's, or, where these are of no use, our own: see numbers.c. */

extern int mpifort_own_numbers __attribute__((visibility("hidden")));
/* The number of a handle; 0 if there is no memory. */
int mpifort_number(uintptr_t handle) __attribute__((visibility("hidden")));
/* The handle of a number; 0 if none has it. */
uintptr_t mpifort_handle(int number) __attribute__((visibility("hidden")));
/* The number has no handle any more. */
void mpifort_forget(int number) __attribute__((visibility("hidden")));

#define PREDEFINED(number) ((number) < 0x1000)
/* There is one file handle alone, and libraries may count files from 1, as Intel MPI 2021.19 does. */
#define NO_FILE(number) (!(number) || (number) == (uintptr_t)MPI_FILE_NULL)

#define HANDLE(Type, Name, predefined) \
    static inline MPI_##Type Name##_of(Fint handle) \
    { \
        if (predefined((uint64_t)handle)) \
            return (MPI_##Type)(intptr_t)handle; \
        return mpifort_own_numbers ? (MPI_##Type)mpifort_handle(INT(handle)) \
                                   : PMPI_##Name##_fromint(INT(handle)); \
    } \
    static inline Fint Name##_int(MPI_##Type handle) \
    { \
        if (predefined((uintptr_t)handle)) \
            return (Fint)(intptr_t)handle; \
        return mpifort_own_numbers ? mpifort_number((uintptr_t)handle) \
                                   : PMPI_##Name##_toint(handle); \
    } \
    /* What a call has made of a handle. */ \
    static inline void Name##_put(Fint *to, MPI_##Type handle) \
    { \
        if (mpifort_own_numbers && predefined((uintptr_t)handle)) \
            mpifort_forget(INT(*to)); \
        *to = Name##_int(handle); \
    }
HANDLE(Comm, Comm, PREDEFINED)
HANDLE(Datatype, Type, PREDEFINED)
HANDLE(Errhandler, Errhandler, PREDEFINED)
HANDLE(File, File, NO_FILE)
HANDLE(Group, Group, PREDEFINED)
HANDLE(Info, Info, PREDEFINED)
HANDLE(Message, Message, PREDEFINED)
HANDLE(Op, Op, PREDEFINED)
HANDLE(Request, Request, PREDEFINED)
HANDLE(Session, Session, PREDEFINED)
HANDLE(Win, Win, PREDEFINED)
#undef HANDLE

#endif

/* Arrays of handles are converted in place on the stack, if they have few entries. */
enum { FEW = 32 };

static inline void *room(void *few, size_t size, ptrdiff_t count)
{
    if (count <= FEW)
        return few;
    return (size_t)count > PTRDIFF_MAX / size ? NULL : malloc(size * (size_t)count);
}

static inline void leave(void *few, void *used)
{
    if (used != few)
        free(used);
}

/* Sentinels: variables that are known by their addresses. */

#ifndef CATENA_INTERFACE_FOREIGN
struct mpifort_status {
    Fint entry[8];
};
#ifdef INTEGER_8
/* They have other addresses, as they have another size in COMMON. */
#define mpifort_bottom mpif8_bottom
#define mpifort_in_place mpif8_in_place
#define mpifort_automatic mpif8_automatic
#define mpifort_errcodes_ignore mpif8_errcodes_ignore
#define mpifort_unweighted mpif8_unweighted
#define mpifort_weights_empty mpif8_weights_empty
#define mpifort_argv_null mpif8_argv_null
#define mpifort_argvs_null mpif8_argvs_null
#define mpifort_status_ignore mpif8_status_ignore
#define mpifort_statuses_ignore mpif8_statuses_ignore
#define mpifort_f08_status_ignore mpif8_f08_status_ignore
#define mpifort_f08_statuses_ignore mpif8_f08_statuses_ignore
#define mpifort_true mpifort_i8_true
#define mpifort_false mpifort_i8_false
#endif
extern Fint mpifort_bottom, mpifort_in_place, mpifort_automatic, mpifort_errcodes_ignore,
    mpifort_unweighted, mpifort_weights_empty;
extern char mpifort_argv_null, mpifort_argvs_null;
extern struct mpifort_status mpifort_status_ignore, mpifort_statuses_ignore,
    mpifort_f08_status_ignore, mpifort_f08_statuses_ignore;
#endif

/* Those of the module mpi_f08, where it has its own. */
#ifndef CATENA_INTERFACE_MPICH
#define mpifort_f08_bottom mpifort_bottom
#define mpifort_f08_in_place mpifort_in_place
#define mpifort_f08_errcodes_ignore mpifort_errcodes_ignore
#define mpifort_f08_unweighted mpifort_unweighted
#define mpifort_f08_weights_empty mpifort_weights_empty
#define mpifort_f08_argv_null mpifort_argv_null
#define mpifort_f08_argvs_null mpifort_argvs_null
#endif
#define IS(at, sentinel) \
    ((const void *)(at) == &mpifort_##sentinel || (const void *)(at) == &mpifort_f08_##sentinel)

static inline void *buffer(const void *buf)
{
    return IS(buf, bottom) ? MPI_BOTTOM : (void *)buf;
}

/* In collectives. */
static inline void *place(const void *buf)
{
    return IS(buf, in_place) ? MPI_IN_PLACE : buffer(buf);
}

/* To buffer sends in. */
static inline void *attached(const void *buf)
{
#ifdef MPI_BUFFER_AUTOMATIC
    if (buf == &mpifort_automatic)
        return MPI_BUFFER_AUTOMATIC;
#endif
    return (void *)buf;
}

#ifndef INTEGER_8
static inline MPI_Status *status_at(const Fint *status)
{
    return IS(status, status_ignore) ? MPI_STATUS_IGNORE : (MPI_Status *)status;
}

static inline MPI_Status *statuses_at(const Fint *statuses)
{
    return IS(statuses, statuses_ignore) ? MPI_STATUSES_IGNORE : (MPI_Status *)statuses;
}

static inline int *weights_at(const Fint *weights)
{
    if (IS(weights, unweighted))
        return MPI_UNWEIGHTED;
    return IS(weights, weights_empty) ? MPI_WEIGHTS_EMPTY : (int *)weights;
}
static inline int *errcodes_at(const Fint *errcodes)
{
    return IS(errcodes, errcodes_ignore) ? MPI_ERRCODES_IGNORE : (int *)errcodes;
}
#endif

/* Logicals, as the compiler has them: see begin.c. */

extern Flogical mpifort_true __attribute__((visibility("hidden")));
extern Flogical mpifort_false __attribute__((visibility("hidden")));

static inline Flogical logical(int truth)
{
    return truth ? mpifort_true : mpifort_false;
}

static inline int truth(Flogical logical)
{
    return logical != mpifort_false;
}

/* Texts: in Fortran they have a length and end with blanks, in C with a zero. */

enum { SHORT = 256 };

/* The text without the blanks behind it, in `few` or in memory of its own; NULL if there is none. */
char *mpifort_text(const char *text, size_t length, char few[SHORT])
    __attribute__((visibility("hidden")));
/* As a key of an info object, where the blanks before it do not count either. */
char *mpifort_word(const char *text, size_t length, char few[SHORT])
    __attribute__((visibility("hidden")));
/* Writes a text of C and blanks after it; returns what it has of the former. */
int mpifort_fill(char *text, size_t length, const char *from)
    __attribute__((visibility("hidden")));

/* Positions begin at 1. */
/* Whether a call that completes some of several requests has said how many. */
static inline int counted(int code)
{
    int class = code;
    if (code)
        PMPI_Error_class(code, &class);
    return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}

static inline void position(int *at)
{
    if (*at != MPI_UNDEFINED)
        ++*at;
}

/* Lengths of arrays that no argument tells. */

static inline int ranks(MPI_Comm comm)
{
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

/* Sums of arrays, and their last entries. */
static inline ptrdiff_t sum_of(const Fint *entries, ptrdiff_t count)
{
    ptrdiff_t sum = 0;
    for (ptrdiff_t i = 0; i < count; i++)
        sum += entries[i];
    return sum;
}

static inline ptrdiff_t last_of(const Fint *entries, ptrdiff_t count)
{
    return count > 0 ? entries[count - 1] : 0;
}

/* Members of the group of this rank. */
static inline int members(MPI_Comm comm)
{
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

/* Whether this rank is the root: of an intercommunicator, `root` is a rank of the other group in all others' calls. */
static inline int receives(MPI_Comm comm, Fint root)
{
    int rank = MPI_PROC_NULL, inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &rank);
    return inter ? INT(root) == MPI_ROOT : INT(root) == rank;
}

/* Whether another rank comes before this one. */
static inline int is_behind(MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank > 0;
}

/* Neighbours that send to this rank, and those that it sends to. */
void mpifort_neighbors(MPI_Comm comm, int *sources, int *destinations)
    __attribute__((visibility("hidden")));

static inline int sources(MPI_Comm comm)
{
    int from = 0, to = 0;
    mpifort_neighbors(comm, &from, &to);
    return from;
}

static inline int destinations(MPI_Comm comm)
{
    int from = 0, to = 0;
    mpifort_neighbors(comm, &from, &to);
    return to;
}

static inline int dims(MPI_Comm comm)
{
    int number = 0;
    PMPI_Cartdim_get(comm, &number);
    return number;
}

/* Raises an error that this library finds: the handler of the communicator decides. */
int mpifort_raise(MPI_Comm comm, int class) __attribute__((visibility("hidden")));

/* Requests of which copies of sections wait for their end: see pending.c. Each number has `width` bytes. */
extern _Atomic int mpifort_pending __attribute__((visibility("hidden")));
void mpifort_restart(const void *numbers, size_t width, ptrdiff_t n)
    __attribute__((visibility("hidden")));
/* What is left of these requests is put aside before a call that may complete them; NULL if nothing is. */
struct held;
struct held *mpifort_hold(const void *numbers, size_t width, ptrdiff_t n)
    __attribute__((visibility("hidden")));
/* What was put aside is done for those that are complete, of which `now` are the handles after the call. */
void mpifort_complete(struct held *held, const MPI_Request *now, ptrdiff_t n)
    __attribute__((visibility("hidden")));

/* The copies of those that are complete are written back; the requests stay. */
void mpifort_seen(const void *numbers, size_t width, const MPI_Request *now, ptrdiff_t n)
    __attribute__((visibility("hidden")));

static inline void start(const Fint *numbers, ptrdiff_t n)
{
    if (__builtin_expect(mpifort_pending != 0, 0))
        mpifort_restart(numbers, sizeof *numbers, n);
}

static inline struct held *hold(const Fint *numbers, ptrdiff_t n)
{
    return __builtin_expect(mpifort_pending != 0, 0) ? mpifort_hold(numbers, sizeof *numbers, n) : NULL;
}

static inline void look(struct held *held, const MPI_Request *now, ptrdiff_t n)
{
    if (__builtin_expect(held != NULL, 0))
        mpifort_complete(held, now, n);
}

static inline void look_only(const Fint *numbers, const MPI_Request *now, ptrdiff_t n)
{
    if (__builtin_expect(mpifort_pending != 0, 0))
        mpifort_seen(numbers, sizeof *numbers, now, n);
}

/* What is left until a request is complete. */
struct pending;
/* Where the call is to write a communicator that is made later: once the request is complete its number is written
 * to `to`, which has `width` bytes. NULL if there is no memory. */
MPI_Comm *mpifort_later_comm(struct pending **pending, void *to, size_t width) __attribute__((visibility("hidden")));
/* Keeps what is left until the request is complete, or, if it is persistent, is freed. Without a
 * request (0) it is freed. */
void mpifort_keep(struct pending *pending, int request, int persistent) __attribute__((visibility("hidden")));

/* In mpi_f08 ierror may be absent. */
static inline void finish(Fint *ierror, int code)
{
    if (ierror)
        *ierror = code;
}

#endif
