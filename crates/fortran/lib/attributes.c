/*
 * Attributes (MPI 5.0, 7.7 and 19.3.7). In Fortran a value is an integer that is as long as an
 * address, in what older standards had a default integer; in C it is a pointer.
 *
 * What Fortran sets, C gets as a pointer to the integer; what C sets, Fortran gets as the address.
 * So an attribute of Fortran is a pointer to a cell with the integer, and cells lie where nothing
 * else does: that tells whose an attribute is. A cell is free again when the attribute is deleted
 * by a procedure of Fortran. The predefined attributes have in C a pointer to their value, and in
 * Fortran the value.
 */

#include "fortran.h"

#include <pthread.h>

typedef void procedure(void);

#define HIDDEN __attribute__((visibility("hidden")))

/* A cell with the value; NULL if there is no memory. A default integer is read in its first half. */
HIDDEN void *mpifort_cell(MPI_Aint value);
/* Whether the attribute is a cell. */
HIDDEN int mpifort_is_cell(const void *attribute);
/* The attribute is deleted. */
HIDDEN void mpifort_free_cell(void *attribute);

#if !defined(PROFILE) && !defined(INTEGER_8)
enum { CELLS = 4096 };
union cell {
    MPI_Aint value;
    union cell *next;
};
struct block {
    struct block *next;
    union cell cells[CELLS];
};
static struct block *blocks;
static union cell *free_cells;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *mpifort_cell(MPI_Aint value)
{
    pthread_mutex_lock(&lock);
    if (!free_cells) {
        struct block *block = malloc(sizeof *block);
        for (int i = 0; block && i < CELLS; i++) {
            block->cells[i].next = free_cells;
            free_cells = &block->cells[i];
        }
        if (block) {
            block->next = blocks;
            blocks = block;
        }
    }
    union cell *cell = free_cells;
    if (cell) {
        free_cells = cell->next;
        cell->value = value;
    }
    pthread_mutex_unlock(&lock);
    return cell;
}

int mpifort_is_cell(const void *attribute)
{
    uintptr_t at = (uintptr_t)attribute;
    int found = 0;
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block && !found; block = block->next)
        found = at - (uintptr_t)block->cells < sizeof block->cells;
    pthread_mutex_unlock(&lock);
    return found;
}

void mpifort_free_cell(void *attribute)
{
    if (!mpifort_is_cell(attribute))
        return;
    union cell *cell = attribute;
    pthread_mutex_lock(&lock);
    cell->next = free_cells;
    free_cells = cell;
    pthread_mutex_unlock(&lock);
}
#endif

/* What Fortran sees of an attribute that is not predefined. */
static MPI_Aint seen(void *attribute)
{
    return mpifort_is_cell(attribute) ? *(MPI_Aint *)attribute : (MPI_Aint)attribute;
}

/* What the library keeps with a key. It lasts as long as the process, for attributes may outlive
 * their key. */
struct key {
    procedure *copy, *delete;
    MPI_Aint extra_state;
};

static struct key *new_key(procedure *copy, procedure *delete, MPI_Aint extra_state)
{
    struct key *key = malloc(sizeof *key);
    if (key) {
        key->copy = copy;
        key->delete = delete;
        key->extra_state = extra_state;
    }
    return key;
}

/* Value is the type of values and of the state in Fortran. */
#define KEYVAL(name, NAME, Name, Handle, class, Value) \
    static int name##_copy(MPI_##Handle object, int keyval, void *state, void *from, void *to, \
        int *flag) \
    { \
        struct key *key = state; \
        Fint handle = class##_int(object), number = keyval, code = MPI_SUCCESS; \
        Value extra_state = (Value)key->extra_state, in = (Value)seen(from), out = 0; \
        Flogical copied = logical(0); \
        ((void (*)(Fint *, Fint *, Value *, Value *, Value *, Flogical *, Fint *))key->copy)( \
            &handle, &number, &extra_state, &in, &out, &copied, &code); \
        *flag = truth(copied); \
        if (code || !*flag) \
            return code; \
        /* A copy of what C has set remains C's. */ \
        void *copy = out == in && !mpifort_is_cell(from) ? from : mpifort_cell(out); \
        *(void **)to = copy; \
        return copy || !out ? MPI_SUCCESS : MPI_ERR_NO_MEM; \
    } \
    static int name##_delete(MPI_##Handle object, int keyval, void *value, void *state) \
    { \
        struct key *key = state; \
        Fint handle = class##_int(object), number = keyval, code = MPI_SUCCESS; \
        Value extra_state = (Value)key->extra_state, old = (Value)seen(value); \
        ((void (*)(Fint *, Fint *, Value *, Value *, Fint *))key->delete)( \
            &handle, &number, &old, &extra_state, &code); \
        if (!code) \
            mpifort_free_cell(value); \
        return code; \
    } \
    void F(name)(procedure *copy, procedure *delete, Fint *keyval, const Value *extra_state, \
        Fint *ierror) \
    { \
        struct key *key = new_key(copy, delete, *extra_state); \
        INTEGER(keyval) \
        int code = key ? C(Name)(name##_copy, name##_delete, AT(keyval), key) \
                       : mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM); \
        RETURN_INTEGER(keyval) \
        if (code) \
            free(key); \
        finish(ierror, code); \
    } \
    NAMES(name, NAME)
KEYVAL(comm_create_keyval, COMM_CREATE_KEYVAL, Comm_create_keyval, Comm, Comm, MPI_Aint)
NAMES_F08(comm_create_keyval, COMM_CREATE_KEYVAL)
KEYVAL(type_create_keyval, TYPE_CREATE_KEYVAL, Type_create_keyval, Datatype, Type, MPI_Aint)
NAMES_F08(type_create_keyval, TYPE_CREATE_KEYVAL)
KEYVAL(win_create_keyval, WIN_CREATE_KEYVAL, Win_create_keyval, Win, Win, MPI_Aint)
NAMES_F08(win_create_keyval, WIN_CREATE_KEYVAL)
KEYVAL(keyval_create, KEYVAL_CREATE, Comm_create_keyval, Comm, Comm, Fint)

/* The key in C. The predefined ones of MPICH are by one more in Fortran. */
static int keyval_of(int keyval)
{
#ifdef CATENA_INTERFACE_MPICH
    if ((keyval > MPI_TAG_UB && keyval <= MPI_APPNUM + 1)
        || (keyval > MPI_WIN_BASE && keyval <= MPI_WIN_MODEL + 1))
        return keyval - 1;
#endif
    return keyval;
}

/* The value behind what C gets. */
static MPI_Aint value_of(int keyval, void *value)
{
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
        return *(int *)value;
    case MPI_WIN_SIZE:
        return *(MPI_Aint *)value;
    case MPI_WIN_BASE:
        return (MPI_Aint)value;
    default:
        return seen(value);
    }
}

#define ATTR(name, NAME, Name, class, Value, verb, VERB, Verb) \
    void F(name##_get##verb)(const Fint *object, const Fint *keyval, Value *value, \
        Flogical *flag, Fint *ierror) \
    { \
        void *c_value = NULL; \
        int c_flag = 0; \
        int c_keyval = keyval_of(INT(*keyval)); \
        int code = C(Name##_get##Verb)(class##_of(*object), c_keyval, &c_value, &c_flag); \
        if (!code && c_flag) \
            *value = (Value)value_of(c_keyval, c_value); \
        *flag = logical(c_flag); \
        finish(ierror, code); \
    } \
    NAMES(name##_get##verb, NAME##_GET##VERB)
#define SET_ATTR(name, NAME, Name, class, Value) \
    void F(name)(const Fint *object, const Fint *keyval, const Value *value, Fint *ierror) \
    { \
        void *cell = mpifort_cell(*value); \
        int code = cell ? C(Name)(class##_of(*object), INT(*keyval), cell) \
                        : mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM); \
        if (code) \
            mpifort_free_cell(cell); \
        finish(ierror, code); \
    } \
    NAMES(name, NAME)
ATTR(comm, COMM, Comm, Comm, MPI_Aint, _attr, _ATTR, _attr)
NAMES_F08(comm_get_attr, COMM_GET_ATTR)
SET_ATTR(comm_set_attr, COMM_SET_ATTR, Comm_set_attr, Comm, MPI_Aint)
NAMES_F08(comm_set_attr, COMM_SET_ATTR)
ATTR(type, TYPE, Type, Type, MPI_Aint, _attr, _ATTR, _attr)
NAMES_F08(type_get_attr, TYPE_GET_ATTR)
SET_ATTR(type_set_attr, TYPE_SET_ATTR, Type_set_attr, Type, MPI_Aint)
NAMES_F08(type_set_attr, TYPE_SET_ATTR)
ATTR(win, WIN, Win, Win, MPI_Aint, _attr, _ATTR, _attr)
NAMES_F08(win_get_attr, WIN_GET_ATTR)
SET_ATTR(win_set_attr, WIN_SET_ATTR, Win_set_attr, Win, MPI_Aint)
NAMES_F08(win_set_attr, WIN_SET_ATTR)
ATTR(attr, ATTR, Attr, Comm, Fint, , , )
SET_ATTR(attr_put, ATTR_PUT, Attr_put, Comm, Fint)

/* The predefined procedures. A program hands them over, or calls them in its own. */

#ifndef PROFILE
/* As gfortran names it in the modules of other libraries. */
#ifdef CATENA_INTERFACE_FOREIGN
#define NAMES_MODULE(name) SAME(F(name), JOIN(__mpi_f08_callbacks_MOD_, JOIN(mpi_, name)))
#else
#define NAMES_MODULE(name)
#endif
#define COPY_FN(name, NAME, Value, copies) \
    void F(name)(Fint *object, Fint *keyval, Value *extra_state, Value *in, Value *out, \
        Flogical *flag, Fint *ierror) \
    { \
        (void)object, (void)keyval, (void)extra_state; \
        if (copies) \
            *out = *in; \
        *flag = logical(copies); \
        finish(ierror, MPI_SUCCESS); \
    } \
    NAMES(name, NAME)
#define DELETE_FN(name, NAME, Value) \
    void F(name)(Fint *object, Fint *keyval, Value *value, Value *extra_state, Fint *ierror) \
    { \
        (void)object, (void)keyval, (void)value, (void)extra_state; \
        finish(ierror, MPI_SUCCESS); \
    } \
    NAMES(name, NAME)
COPY_FN(null_copy_fn, NULL_COPY_FN, Fint, 0)
COPY_FN(dup_fn, DUP_FN, Fint, 1)
DELETE_FN(null_delete_fn, NULL_DELETE_FN, Fint)
COPY_FN(comm_null_copy_fn, COMM_NULL_COPY_FN, MPI_Aint, 0)
NAMES_MODULE(comm_null_copy_fn)
COPY_FN(comm_dup_fn, COMM_DUP_FN, MPI_Aint, 1)
NAMES_MODULE(comm_dup_fn)
DELETE_FN(comm_null_delete_fn, COMM_NULL_DELETE_FN, MPI_Aint)
NAMES_MODULE(comm_null_delete_fn)
COPY_FN(type_null_copy_fn, TYPE_NULL_COPY_FN, MPI_Aint, 0)
NAMES_MODULE(type_null_copy_fn)
COPY_FN(type_dup_fn, TYPE_DUP_FN, MPI_Aint, 1)
NAMES_MODULE(type_dup_fn)
DELETE_FN(type_null_delete_fn, TYPE_NULL_DELETE_FN, MPI_Aint)
NAMES_MODULE(type_null_delete_fn)
COPY_FN(win_null_copy_fn, WIN_NULL_COPY_FN, MPI_Aint, 0)
NAMES_MODULE(win_null_copy_fn)
COPY_FN(win_dup_fn, WIN_DUP_FN, MPI_Aint, 1)
NAMES_MODULE(win_dup_fn)
DELETE_FN(win_null_delete_fn, WIN_NULL_DELETE_FN, MPI_Aint)
NAMES_MODULE(win_null_delete_fn)

/* Stands for no conversion: a library never calls it. */
#define CONVERSION_FN(name, NAME, Count) \
    void F(name)(void *userbuf, Fint *datatype, Count *count, void *filebuf, MPI_Offset *at, \
        MPI_Aint *extra_state, Fint *ierror) \
    { \
        (void)userbuf, (void)datatype, (void)count, (void)filebuf, (void)at, (void)extra_state; \
        finish(ierror, MPI_ERR_CONVERSION); \
    } \
    NAMES(name, NAME)
CONVERSION_FN(conversion_fn_null, CONVERSION_FN_NULL, Fint)
NAMES_MODULE(conversion_fn_null)
CONVERSION_FN(conversion_fn_null_c, CONVERSION_FN_NULL_C, MPI_Count)
NAMES_MODULE(conversion_fn_null_c)
#endif
