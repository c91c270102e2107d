/*
 * Procedures of the program that MPI calls (MPI 5.0, 6.9.5, 7.7, 9.3, 13.2 and 14.5.3).
 *
 * Attributes, generalized requests and representations of data come with a state, in which the
 * procedure is kept. Operations and error handlers have none in C: each procedure gets one of SLOTS
 * functions of C that calls it. The same procedure has the same function however often it is given,
 * so slots are never freed: an operation that is freed may still be in use.
 */

#include "fortran.h"

#include <stdatomic.h>

typedef void procedure(void);

#define HIDDEN __attribute__((visibility("hidden")))
enum { SLOTS = 128 };

/* Procedures with longer integers have functions of their own. */
#ifdef INTEGER_8
#define mpifort_op mpifort_i8_op
#define mpifort_op_c mpifort_i8_op_c
#define mpifort_comm_error mpifort_i8_comm_error
#define mpifort_file_error mpifort_i8_file_error
#define mpifort_win_error mpifort_i8_win_error
#define mpifort_session_error mpifort_i8_session_error
#endif

/* The functions for procedure `f`; NULL if there are SLOTS others. */
HIDDEN MPI_User_function *mpifort_op(procedure *f);
HIDDEN MPI_User_function_c *mpifort_op_c(procedure *f);
HIDDEN MPI_Comm_errhandler_function *mpifort_comm_error(procedure *f);
HIDDEN MPI_File_errhandler_function *mpifort_file_error(procedure *f);
HIDDEN MPI_Win_errhandler_function *mpifort_win_error(procedure *f);
HIDDEN MPI_Session_errhandler_function *mpifort_session_error(procedure *f);

#ifndef PROFILE

static int slot(_Atomic(procedure *) *slots, procedure *f)
{
    for (int i = 0; i < SLOTS; i++) {
        procedure *there = atomic_load(&slots[i]);
        if (there == f || (!there && (atomic_compare_exchange_strong(&slots[i], &there, f)
                                      || there == f)))
            return i;
    }
    return -1;
}

#define SIXTEEN(X, h) X(0x##h##0) X(0x##h##1) X(0x##h##2) X(0x##h##3) X(0x##h##4) X(0x##h##5) \
    X(0x##h##6) X(0x##h##7) X(0x##h##8) X(0x##h##9) X(0x##h##a) X(0x##h##b) X(0x##h##c) \
    X(0x##h##d) X(0x##h##e) X(0x##h##f)
#define EACH(X) SIXTEEN(X, 0) SIXTEEN(X, 1) SIXTEEN(X, 2) SIXTEEN(X, 3) SIXTEEN(X, 4) \
    SIXTEEN(X, 5) SIXTEEN(X, 6) SIXTEEN(X, 7)

#define OP(kind, Len, Flen, Type) \
    static _Atomic(procedure *) kind##_slots[SLOTS]; \
    static void kind##_run(procedure *f, void *in, void *inout, Len *len, MPI_Datatype *type) \
    { \
        Fint datatype = Type_int(*type); \
        Flen count = *len; \
        ((void (*)(void *, void *, Flen *, Fint *))f)(in, inout, &count, &datatype); \
    } \
    EACH(kind##_FUNCTION) \
    static Type *const kind##_functions[SLOTS] = {EACH(kind##_ENTRY)}; \
    Type *mpifort_##kind(procedure *f) \
    { \
        int i = slot(kind##_slots, f); \
        return i < 0 ? NULL : kind##_functions[i]; \
    }
#define op_FUNCTION(i) static void op_##i(void *in, void *inout, int *len, MPI_Datatype *type) \
    { op_run(op_slots[i], in, inout, len, type); }
#define op_ENTRY(i) op_##i,
OP(op, int, Fint, MPI_User_function)
#define op_c_FUNCTION(i) \
    static void op_c_##i(void *in, void *inout, MPI_Count *len, MPI_Datatype *type) \
    { op_c_run(op_c_slots[i], in, inout, len, type); }
#define op_c_ENTRY(i) op_c_##i,
OP(op_c, MPI_Count, MPI_Count, MPI_User_function_c)

#define ERRHANDLER(kind, Handle) \
    static _Atomic(procedure *) kind##_slots[SLOTS]; \
    static void kind##_run(procedure *f, MPI_##Handle *handle, int *code) \
    { \
        Fint number = Handle##_int(*handle), reason = *code; \
        ((void (*)(Fint *, Fint *))f)(&number, &reason); \
        *code = INT(reason); \
    } \
    EACH(kind##_FUNCTION) \
    static MPI_##Handle##_errhandler_function *const kind##_functions[SLOTS] = { \
        EACH(kind##_ENTRY)}; \
    MPI_##Handle##_errhandler_function *mpifort_##kind(procedure *f) \
    { \
        int i = slot(kind##_slots, f); \
        return i < 0 ? NULL : kind##_functions[i]; \
    }
#define comm_error_FUNCTION(i) static void comm_error_##i(MPI_Comm *comm, int *code, ...) \
    { comm_error_run(comm_error_slots[i], comm, code); }
#define comm_error_ENTRY(i) comm_error_##i,
ERRHANDLER(comm_error, Comm)
#define file_error_FUNCTION(i) static void file_error_##i(MPI_File *file, int *code, ...) \
    { file_error_run(file_error_slots[i], file, code); }
#define file_error_ENTRY(i) file_error_##i,
ERRHANDLER(file_error, File)
#define win_error_FUNCTION(i) static void win_error_##i(MPI_Win *win, int *code, ...) \
    { win_error_run(win_error_slots[i], win, code); }
#define win_error_ENTRY(i) win_error_##i,
ERRHANDLER(win_error, Win)
#define session_error_FUNCTION(i) \
    static void session_error_##i(MPI_Session *session, int *code, ...) \
    { session_error_run(session_error_slots[i], session, code); }
#define session_error_ENTRY(i) session_error_##i,
ERRHANDLER(session_error, Session)

#endif

#define OP_CREATE(name, NAME, Name, function) \
    void F(name)(procedure *user_fn, const Flogical *commute, Fint *op, Fint *ierror) \
    { \
        MPI_Op c_op = MPI_OP_NULL; \
        int code = function(user_fn) ? C(Name)(function(user_fn), truth(*commute), &c_op) \
                                     : mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM); \
        *op = Op_int(c_op); \
        finish(ierror, code); \
    } \
    NAMES_F08(name, NAME)
OP_CREATE(op_create, OP_CREATE, Op_create, mpifort_op)
NAMES(op_create, OP_CREATE)
OP_CREATE(op_create_c, OP_CREATE_C, Op_create_c, mpifort_op_c)

#define CREATE_ERRHANDLER(name, NAME, Name, function) \
    void F(name)(procedure *handler, Fint *errhandler, Fint *ierror) \
    { \
        MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL; \
        int code = function(handler) ? C(Name)(function(handler), &c_errhandler) \
                                     : mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM); \
        *errhandler = Errhandler_int(c_errhandler); \
        finish(ierror, code); \
    } \
    NAMES(name, NAME)
CREATE_ERRHANDLER(comm_create_errhandler, COMM_CREATE_ERRHANDLER, Comm_create_errhandler,
    mpifort_comm_error)
NAMES_F08(comm_create_errhandler, COMM_CREATE_ERRHANDLER)
CREATE_ERRHANDLER(errhandler_create, ERRHANDLER_CREATE, Comm_create_errhandler, mpifort_comm_error)
CREATE_ERRHANDLER(file_create_errhandler, FILE_CREATE_ERRHANDLER, File_create_errhandler,
    mpifort_file_error)
NAMES_F08(file_create_errhandler, FILE_CREATE_ERRHANDLER)
CREATE_ERRHANDLER(win_create_errhandler, WIN_CREATE_ERRHANDLER, Win_create_errhandler,
    mpifort_win_error)
NAMES_F08(win_create_errhandler, WIN_CREATE_ERRHANDLER)
CREATE_ERRHANDLER(session_create_errhandler, SESSION_CREATE_ERRHANDLER, Session_create_errhandler,
    mpifort_session_error)
NAMES_F08(session_create_errhandler, SESSION_CREATE_ERRHANDLER)

/* Generalized requests. The state lives until the request is freed. */

struct request_state {
    void (*query)(MPI_Aint *extra_state, Fint *status, Fint *ierror);
    void (*free)(MPI_Aint *extra_state, Fint *ierror);
    void (*cancel)(MPI_Aint *extra_state, Flogical *complete, Fint *ierror);
    MPI_Aint extra_state;
};

static int query(void *state, MPI_Status *status)
{
    struct request_state *s = state;
    Fint code = MPI_SUCCESS;
    FORTRAN_STATUS(of, status)
    s->query(&s->extra_state, of, &code);
    C_STATUS(status, of)
    return INT(code);
}

static int free_request(void *state)
{
    struct request_state *s = state;
    Fint code = MPI_SUCCESS;
    s->free(&s->extra_state, &code);
    free(s);
    return INT(code);
}

static int cancel(void *state, int complete)
{
    struct request_state *s = state;
    Flogical is_complete = logical(complete);
    Fint code = MPI_SUCCESS;
    s->cancel(&s->extra_state, &is_complete, &code);
    return INT(code);
}

void F(grequest_start)(procedure *query_fn, procedure *free_fn, procedure *cancel_fn,
    const MPI_Aint *extra_state, Fint *request, Fint *ierror)
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    struct request_state *state = malloc(sizeof *state);
    int code;
    if (state) {
        state->query = (void (*)(MPI_Aint *, Fint *, Fint *))query_fn;
        state->free = (void (*)(MPI_Aint *, Fint *))free_fn;
        state->cancel = (void (*)(MPI_Aint *, Flogical *, Fint *))cancel_fn;
        state->extra_state = *extra_state;
        code = C(Grequest_start)(query, free_request, cancel, state, &c_request);
        if (code)
            free(state);
    } else {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    }
    *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(grequest_start, GREQUEST_START)
NAMES_F08(grequest_start, GREQUEST_START)

/* Representations of data. They last as long as the process. */

#ifdef INTEGER_8
#define conversion_fn_null __wrap_mpi_conversion_fn_null_
#define conversion_fn_null_c __wrap_mpi_conversion_fn_null_c_
#else
#define conversion_fn_null mpi_conversion_fn_null_
#define conversion_fn_null_c mpi_conversion_fn_null_c_
#endif
void conversion_fn_null(void *userbuf, Fint *datatype, Fint *count, void *filebuf,
    MPI_Offset *at, MPI_Aint *extra_state, Fint *ierror);
void conversion_fn_null_c(void *userbuf, Fint *datatype, MPI_Count *count, void *filebuf,
    MPI_Offset *at, MPI_Aint *extra_state, Fint *ierror);

struct representation {
    procedure *read, *write;
    void (*extent)(Fint *datatype, MPI_Aint *extent, MPI_Aint *extra_state, Fint *ierror);
    MPI_Aint extra_state;
};

static int extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    struct representation *r = state;
    Fint datatype = Type_int(type), code = MPI_SUCCESS;
    r->extent(&datatype, extent, &r->extra_state, &code);
    return INT(code);
}

#define CONVERT(name, Count, Fcount, which) \
    static int name(void *userbuf, MPI_Datatype type, Count count, void *filebuf, \
        MPI_Offset at, void *state) \
    { \
        struct representation *r = state; \
        Fint datatype = Type_int(type), code = MPI_SUCCESS; \
        Fcount elements = count; \
        ((void (*)(void *, Fint *, Fcount *, void *, MPI_Offset *, MPI_Aint *, Fint *))r->which)( \
            userbuf, &datatype, &elements, filebuf, &at, &r->extra_state, &code); \
        return INT(code); \
    }
CONVERT(read_converted, int, Fint, read)
CONVERT(write_converted, int, Fint, write)
CONVERT(read_converted_c, MPI_Count, MPI_Count, read)
CONVERT(write_converted_c, MPI_Count, MPI_Count, write)

#define REGISTER(name, NAME, Name, null, reader, writer) \
    void F(name)(const char *datarep, procedure *read_fn, procedure *write_fn, \
        procedure *extent_fn, const MPI_Aint *extra_state, Fint *ierror, size_t length) \
    { \
        char few[SHORT], *text = mpifort_text(datarep, length, few); \
        struct representation *r = malloc(sizeof *r); \
        int code = MPI_ERR_NO_MEM; \
        if (text && r) { \
            r->read = read_fn; \
            r->write = write_fn; \
            r->extent = (void (*)(Fint *, MPI_Aint *, MPI_Aint *, Fint *))extent_fn; \
            r->extra_state = *extra_state; \
            code = C(Name)(text, read_fn == (procedure *)null ? NULL : reader, \
                write_fn == (procedure *)null ? NULL : writer, extent, r); \
        } else { \
            code = mpifort_raise(MPI_COMM_SELF, code); \
        } \
        if (code) \
            free(r); \
        leave(few, text); \
        finish(ierror, code); \
    } \
    NAMES_F08(name, NAME)
REGISTER(register_datarep, REGISTER_DATAREP, Register_datarep, conversion_fn_null,
    read_converted, write_converted)
NAMES(register_datarep, REGISTER_DATAREP)
REGISTER(register_datarep_c, REGISTER_DATAREP_C, Register_datarep_c, conversion_fn_null_c,
    read_converted_c, write_converted_c)
