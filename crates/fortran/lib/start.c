/*
 * Procedures whose arguments differ from those in C in more than their types: start, clocks,
 * addresses, detached buffers, and texts of which the caller gives the length.
 */

#include "descriptor.h"

/* Called when MPI has been started, with what that has answered, and the bytes of an INTEGER. */
HIDDEN void mpifort_begin(int code, size_t integer);

void F(init)(Fint *ierror)
{
    int code = C(Init)(NULL, NULL);
    mpifort_begin(code, sizeof(Fint));
    finish(ierror, code);
}
NAMES(init, INIT)
NAMES_F08(init, INIT)

void F(init_thread)(const Fint *required, Fint *provided, Fint *ierror)
{
    INTEGER(provided)
    int code = C(Init_thread)(NULL, NULL, INT(*required), AT(provided));
    RETURN_INTEGER(provided)
    mpifort_begin(code, sizeof(Fint));
    finish(ierror, code);
}
NAMES(init_thread, INIT_THREAD)
NAMES_F08(init_thread, INIT_THREAD)

void F(session_init)(const Fint *info, const Fint *errhandler, Fint *session, Fint *ierror)
{
    MPI_Session c_session = MPI_SESSION_NULL;
    int code = C(Session_init)(Info_of(*info), Errhandler_of(*errhandler), &c_session);
    mpifort_begin(code, sizeof(Fint));
    *session = Session_int(c_session);
    finish(ierror, code);
}
NAMES(session_init, SESSION_INIT)
NAMES_F08(session_init, SESSION_INIT)

void F(info_create_env)(Fint *info, Fint *ierror)
{
    MPI_Info c_info = MPI_INFO_NULL;
    int code = C(Info_create_env)(0, NULL, &c_info);
    *info = Info_int(c_info);
    finish(ierror, code);
}
NAMES(info_create_env, INFO_CREATE_ENV)
NAMES_F08(info_create_env, INFO_CREATE_ENV)

void F(pcontrol)(const Fint *level)
{
    C(Pcontrol)(INT(*level));
}
NAMES(pcontrol, PCONTROL)
NAMES_F08(pcontrol, PCONTROL)

double F(wtime)(void)
{
    return C(Wtime)();
}
NAMES(wtime, WTIME)
NAMES_F08(wtime, WTIME)

double F(wtick)(void)
{
    return C(Wtick)();
}
NAMES(wtick, WTICK)
NAMES_F08(wtick, WTICK)

MPI_Aint F(aint_add)(const MPI_Aint *base, const MPI_Aint *disp)
{
    return C(Aint_add)(*base, *disp);
}
NAMES(aint_add, AINT_ADD)
NAMES_F08(aint_add, AINT_ADD)

MPI_Aint F(aint_diff)(const MPI_Aint *addr1, const MPI_Aint *addr2)
{
    return C(Aint_diff)(*addr1, *addr2);
}
NAMES(aint_diff, AINT_DIFF)
NAMES_F08(aint_diff, AINT_DIFF)

/* Detached buffers. The address goes to a TYPE(C_PTR) in mpi_f08; without that module the argument
 * is of no use, says the standard, and is not touched. */

#define DETACH(name, NAME, Name, Size, parameters, arguments) \
    static void name##_to(parameters void *address, Size *size, Fint *ierror) \
    { \
        finish(ierror, Name(arguments address, size)); \
    }
#define DETACH_NAMES(name, NAME) \
    SAME(F(name), DESCRIBED(name, _fts)) \
    NAMES(name, NAME)
#if defined(INTEGER_8) || defined(PROFILE)
#define DETACH_F08(name, NAME)
#else
#define DETACH_F08(name, NAME) \
    SAME(JOIN(LOWER(name), _f08_), JOIN(LOWER(name), _f08)) \
    SAME(JOIN(LOWER(name), _f08_), JOIN(LOWER(name), _f08__)) \
    SAME(JOIN(LOWER(name), _f08_), JOIN(UPPER(NAME), _F08))
#endif

#define COMMA ,
#define DETACH_BOTH(name, NAME, Name, Size) \
    DETACH(name, NAME, Name, Size, , ) \
    void JOIN(LOWER(name), _f08_)(void *address, Size *size, Fint *ierror) \
    { \
        name##_to(address, size, ierror); \
    } \
    DETACH_F08(name, NAME)
#define DETACH_OF(name, NAME, Name, Size, Handle) \
    DETACH(name, NAME, Name, Size, MPI_##Handle object COMMA, object COMMA) \
    void JOIN(LOWER(name), _f08_)(const Fint *object, void *address, Size *size, Fint *ierror) \
    { \
        name##_to(Handle##_of(*object), address, size, ierror); \
    } \
    DETACH_F08(name, NAME)
DETACH_BOTH(buffer_detach, BUFFER_DETACH, L(Buffer_detach), Fint)
DETACH_BOTH(buffer_detach_c, BUFFER_DETACH_C, C(Buffer_detach_c), MPI_Count)
DETACH_OF(comm_detach_buffer, COMM_DETACH_BUFFER, L(Comm_detach_buffer), Fint, Comm)
DETACH_OF(comm_detach_buffer_c, COMM_DETACH_BUFFER_C, C(Comm_detach_buffer_c), MPI_Count, Comm)
DETACH_OF(session_detach_buffer, SESSION_DETACH_BUFFER, L(Session_detach_buffer), Fint, Session)
DETACH_OF(session_detach_buffer_c, SESSION_DETACH_BUFFER_C, C(Session_detach_buffer_c),
    MPI_Count, Session)

void F(buffer_detach)(void *unused, Fint *size, Fint *ierror)
{
    void *address;
    (void)unused;
    buffer_detach_to(&address, size, ierror);
}
DETACH_NAMES(buffer_detach, BUFFER_DETACH)

void F(comm_detach_buffer)(const Fint *comm, void *unused, Fint *size, Fint *ierror)
{
    void *address;
    (void)unused;
    comm_detach_buffer_to(Comm_of(*comm), &address, size, ierror);
}
DETACH_NAMES(comm_detach_buffer, COMM_DETACH_BUFFER)

void F(session_detach_buffer)(const Fint *session, void *unused, Fint *size, Fint *ierror)
{
    void *address;
    (void)unused;
    session_detach_buffer_to(Session_of(*session), &address, size, ierror);
}
DETACH_NAMES(session_detach_buffer, SESSION_DETACH_BUFFER)
#if defined(CATENA_INTERFACE_MPICH)
SAME(JOIN(LOWER(buffer_detach_c), _f08_), JOIN(LOWER(buffer_detach), _f08_large_))
#elif defined(CATENA_INTERFACE_OPENMPI) && defined(PROFILE)
SAME(pmpi_buffer_detach_f08_, pompi_buffer_detach_f08)
#elif defined(CATENA_INTERFACE_OPENMPI)
SAME(mpi_buffer_detach_f08_, ompi_buffer_detach_f08)
#endif

/* Keeps the compiler from moving accesses to a buffer across the call: that is all it is for. */
void F(f_sync_reg)(const void *buf)
{
    (void)buf;
}
NAMES(f_sync_reg, F_SYNC_REG)
NAMES_F08_CHOICE(f_sync_reg, F_SYNC_REG)
#ifndef CATENA_INTERFACE_OPENMPI
void D(f_sync_reg)(const struct descriptor *buf)
{
    (void)buf;
}
NAMES_FTS(f_sync_reg)
#endif

/* Texts whose length the program gives: in C with the zero at the end, here without. */

void F(info_get_string)(const Fint *info, const char *key, Fint *buflen, char *value,
    Flogical *flag, Fint *ierror, size_t l_key, size_t l_value)
{
    char few_key[SHORT], few_value[FEW];
    int length = *buflen ? INT(*buflen) + 1 : 0, c_flag = 0, code = MPI_ERR_NO_MEM;
    char *c_key = mpifort_word(key, l_key, few_key), *c_value = room(few_value, 1, length);
    if (!c_key || !c_value) {
        code = mpifort_raise(MPI_COMM_SELF, code);
        goto done;
    }
    code = C(Info_get_string)(Info_of(*info), c_key, &length, c_value, &c_flag);
    if (!code && c_flag) {
        if (*buflen)
            mpifort_fill(value, l_value, c_value);
        *buflen = length ? length - 1 : 0;
    }
    *flag = logical(c_flag);
done:
    leave(few_key, c_key);
    leave(few_value, c_value);
    finish(ierror, code);
}
NAMES(info_get_string, INFO_GET_STRING)
NAMES_F08(info_get_string, INFO_GET_STRING)

void F(session_get_nth_pset)(const Fint *session, const Fint *info, const Fint *n, Fint *pset_len,
    char *pset_name, Fint *ierror, size_t l_pset_name)
{
    char few[FEW];
    int length = *pset_len ? INT(*pset_len) + 1 : 0, code = MPI_ERR_NO_MEM;
    char *name = room(few, 1, length);
    if (!name) {
        code = mpifort_raise(MPI_COMM_SELF, code);
        goto done;
    }
    code = C(Session_get_nth_pset)(Session_of(*session), Info_of(*info), INT(*n), &length, name);
    if (!code) {
        if (*pset_len)
            mpifort_fill(pset_name, l_pset_name, name);
        *pset_len = length ? length - 1 : 0;
    }
done:
    leave(few, name);
    finish(ierror, code);
}
NAMES(session_get_nth_pset, SESSION_GET_NTH_PSET)
NAMES_F08(session_get_nth_pset, SESSION_GET_NTH_PSET)

/* What Fortran has for true and false. */

void F(abi_set_fortran_booleans)(const Fint *size, void *logical_true, void *logical_false,
    Fint *ierror)
{
    finish(ierror, C(Abi_set_fortran_booleans)(INT(*size), logical_true, logical_false));
}
NAMES(abi_set_fortran_booleans, ABI_SET_FORTRAN_BOOLEANS)

void F(abi_get_fortran_booleans)(const Fint *size, void *logical_true, void *logical_false,
    Flogical *is_set, Fint *ierror)
{
    int known = 0;
    int code = C(Abi_get_fortran_booleans)(INT(*size), logical_true, logical_false, &known);
    *is_set = logical(known);
    finish(ierror, code);
}
NAMES(abi_get_fortran_booleans, ABI_GET_FORTRAN_BOOLEANS)

#ifndef CATENA_INTERFACE_FOREIGN
void D(abi_set_fortran_booleans)(const Fint *size, const struct descriptor *logical_true,
    const struct descriptor *logical_false, Fint *ierror)
{
    F(abi_set_fortran_booleans)(size, logical_true->base_addr, logical_false->base_addr, ierror);
}
NAMES_FTS(abi_set_fortran_booleans)

void D(abi_get_fortran_booleans)(const Fint *size, const struct descriptor *logical_true,
    const struct descriptor *logical_false, Flogical *is_set, Fint *ierror)
{
    F(abi_get_fortran_booleans)(size, logical_true->base_addr, logical_false->base_addr, is_set,
        ierror);
}
NAMES_FTS(abi_get_fortran_booleans)

/* What C does not have. */

void D(sizeof)(const struct descriptor *x, Fint *size, Fint *ierror)
{
    *size = (Fint)x->elem_len;
    finish(ierror, MPI_SUCCESS);
}
NAMES_FTS(sizeof)
#endif

/* The two forms of a status have the same layout. */
void F(status_f2f08)(const Fint *f_status, Fint *f08_status, Fint *ierror)
{
    memcpy(f08_status, f_status, sizeof(struct mpifort_status));
    finish(ierror, MPI_SUCCESS);
}
NAMES(status_f2f08, STATUS_F2F08)
NAMES_F08(status_f2f08, STATUS_F2F08)
SAME(F(status_f2f08), F(status_f082f))
NAMES(status_f082f, STATUS_F082F)
NAMES_F08(status_f082f, STATUS_F082F)

#if !defined(PROFILE) && !defined(CATENA_INTERFACE_FOREIGN)
#define COMPARE(name, NAME) \
    Flogical F(name##_eq_f08)(const Fint *a, const Fint *b) \
    { \
        return logical(*a == *b); \
    } \
    NAMES(name##_eq_f08, NAME##_EQ_F08) \
    Flogical F(name##_ne_f08)(const Fint *a, const Fint *b) \
    { \
        return logical(*a != *b); \
    } \
    NAMES(name##_ne_f08, NAME##_NE_F08)
COMPARE(comm, COMM)
COMPARE(datatype, DATATYPE)
COMPARE(errhandler, ERRHANDLER)
COMPARE(file, FILE)
COMPARE(group, GROUP)
COMPARE(info, INFO)
COMPARE(message, MESSAGE)
COMPARE(op, OP)
COMPARE(request, REQUEST)
COMPARE(session, SESSION)
COMPARE(win, WIN)
#endif
