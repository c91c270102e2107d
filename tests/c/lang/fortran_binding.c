// What MPICH's stand-alone Fortran binding asks for: functions with a state that ends with them, and
// attributes as Fortran has them, next to the same attributes in C.
//
// only: catena
// run: -n 1 ; says ok
// run: -n 3 ; says ok
#include "../check.h"
#include <mpi-ext.h>

struct state {
    int calls, ended;
};

static void end(void *state)
{
    ((struct state *)state)->ended++;
}

static void sum(void *in, void *inout, MPI_Count count, MPI_Datatype type, void *state)
{
    ((struct state *)state)->calls++;
    CHECK(type == MPI_INT);
    for (MPI_Count i = 0; i < count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void operations(void)
{
    struct state state = {0, 0};
    MPI_Op op;
    int mine[3] = {rank, 1, 2 * rank}, all[3];
    CHECK(!MPIX_Op_create_x(sum, end, 1, &state, &op));
    CHECK(!MPI_Allreduce(mine, all, 3, MPI_INT, op, MPI_COMM_WORLD));
    EQUAL(all[0], size * (size - 1) / 2);
    EQUAL(all[1], size);
    EQUAL(all[2], size * (size - 1));
    CHECK(!MPI_Reduce_local(mine, all, 3, MPI_INT, op));
    CHECK(state.calls > 0 && !state.ended);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!MPI_Op_free(&op));
    EQUAL(state.ended, 1);
}

static MPI_Comm at_comm;
static MPI_Win at_win;
static MPI_File at_file;
static MPI_Session at_session;

#define HANDLER(kind, Kind) \
    static void kind##_error(MPI_##Kind object, int code, void *state) \
    { \
        ((struct state *)state)->calls++; \
        CHECK(object == at_##kind && class_of(code) == MPI_ERR_OTHER); \
    }
HANDLER(comm, Comm)
HANDLER(win, Win)
HANDLER(file, File)
HANDLER(session, Session)

/* Sets a handler on an object, calls it, and ends it with the object. */
#define RAISE(kind, Kind, free) \
    do { \
        struct state state = {0, 0}; \
        MPI_Errhandler handler; \
        CHECK(!MPIX_##Kind##_create_errhandler_x(kind##_error, end, &state, &handler)); \
        CHECK(!MPI_##Kind##_set_errhandler(at_##kind, handler)); \
        CHECK(!MPI_Errhandler_free(&handler)); \
        CHECK(!MPI_##Kind##_call_errhandler(at_##kind, MPI_ERR_OTHER)); \
        EQUAL(state.calls, 1); \
        EQUAL(state.ended, 0); \
        free; \
        EQUAL(state.ended, 1); \
    } while (0)

static void errors(void)
{
    static int memory[4];
    char name[256];
    snprintf(name, sizeof name, "%s/catena-fortran-binding-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    int fd = mkstemp(name);
    CHECK(fd >= 0 && !close(fd));
    MPI_Comm_dup(MPI_COMM_WORLD, &at_comm);
    RAISE(comm, Comm, CHECK(!MPI_Comm_free(&at_comm)));
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at_win);
    RAISE(win, Win, CHECK(!MPI_Win_free(&at_win)));
    CHECK(!MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
        &at_file));
    RAISE(file, File, CHECK(!MPI_File_close(&at_file)));
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &at_session);
    RAISE(session, Session, CHECK(!MPI_Session_finalize(&at_session)));
}

/* Values as the functions of a key see them: integers, in the place of addresses. */
static void *copied, *deleted;

#define CALLBACKS(name, Handle) \
    static int name##_copy(MPI_##Handle object, int key, void *state, void *in, void *out, int *flag) \
    { \
        (void)object, (void)key; \
        ((struct state *)state)->calls++; \
        copied = in; \
        *(MPI_Aint *)out = (MPI_Aint)in + 1; \
        *flag = 1; \
        return MPI_SUCCESS; \
    } \
    static int name##_delete(MPI_##Handle object, int key, void *value, void *state) \
    { \
        (void)object, (void)key; \
        ((struct state *)state)->calls++; \
        deleted = value; \
        return MPI_SUCCESS; \
    }
CALLBACKS(comm, Comm)
CALLBACKS(type, Datatype)
CALLBACKS(win, Win)

/* The same attribute in both languages, on `object`. */
#define BOTH(name, Name, object) \
    do { \
        struct state state = {0, 0}; \
        int key, flag, here = 5, *there; \
        MPI_Aint value; \
        CHECK(!MPIX_##Name##_create_keyval_x(name##_copy, name##_delete, end, &key, &state)); \
        CHECK(!MPIX_##Name##_get_attr_as_fortran(object, key, &value, &flag)); \
        CHECK(!flag); \
        CHECK(!MPIX_##Name##_set_attr_as_fortran(object, key, (void *)(MPI_Aint)-77)); \
        CHECK(!MPIX_##Name##_get_attr_as_fortran(object, key, &value, &flag)); \
        CHECK(flag); \
        EQUAL(value, -77); \
        MPI_Aint *in_c; \
        CHECK(!MPI_##Name##_get_attr(object, key, &in_c, &flag) && flag); \
        EQUAL(*in_c, -77); \
        CHECK(!MPI_##Name##_set_attr(object, key, &here)); \
        CHECK(deleted == (void *)(MPI_Aint)-77); \
        CHECK(!MPI_##Name##_get_attr(object, key, &there, &flag) && flag); \
        CHECK(there == &here); \
        CHECK(!PMPIX_##Name##_get_attr_as_fortran(object, key, &value, &flag) && flag); \
        CHECK(value == (MPI_Aint)&here); \
        CHECK(!MPI_##Name##_delete_attr(object, key)); \
        CHECK(deleted == (void *)&here); \
        CHECK(!MPIX_##Name##_set_attr_as_fortran(object, key, (void *)(MPI_Aint)12)); \
        CHECK(!MPI_##Name##_free_keyval(&key)); \
        EQUAL(state.ended, 0); \
        kept = &state; \
        free_object; \
        CHECK(deleted == (void *)(MPI_Aint)12); \
        EQUAL(kept->ended, 1); \
    } while (0)

static void attributes(void)
{
    static int memory[4];
    struct state *kept, state = {0, 0};
    MPI_Comm comm, twin;
    MPI_Datatype type;
    MPI_Win win;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
#define free_object CHECK(!MPI_Comm_free(&comm))
    BOTH(comm, Comm, comm);
#undef free_object
    MPI_Type_contiguous(2, MPI_INT, &type);
#define free_object CHECK(!MPI_Type_free(&type))
    BOTH(type, Type, type);
#undef free_object
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);

    /* Predefined attributes are values. */
    MPI_Aint value;
    int flag, *bound;
    CHECK(!MPIX_Win_get_attr_as_fortran(win, MPI_WIN_BASE, &value, &flag) && flag);
    CHECK(value == (MPI_Aint)memory);
    CHECK(!MPIX_Win_get_attr_as_fortran(win, MPI_WIN_SIZE, &value, &flag) && flag);
    EQUAL(value, sizeof memory);
    CHECK(!MPIX_Win_get_attr_as_fortran(win, MPI_WIN_DISP_UNIT, &value, &flag) && flag);
    EQUAL(value, 4);
    CHECK(!MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag) && flag);
    CHECK(!MPIX_Comm_get_attr_as_fortran(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag) && flag);
    EQUAL(value, *bound);
#define free_object CHECK(!MPI_Win_free(&win))
    BOTH(win, Win, win);
#undef free_object

    /* Copies have cells of their own, by a function and by the predefined one. */
    int key, same;
    CHECK(!MPIX_Comm_create_keyval_x(comm_copy, comm_delete, end, &key, &state));
    CHECK(!MPIX_Comm_create_keyval_x(
        MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, NULL, &same, NULL));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(!MPIX_Comm_set_attr_as_fortran(comm, key, (void *)(MPI_Aint)40));
    CHECK(!MPIX_Comm_set_attr_as_fortran(comm, same, (void *)(MPI_Aint)9));
    MPI_Comm_dup(comm, &twin);
    CHECK(copied == (void *)(MPI_Aint)40);
    CHECK(!MPI_Comm_free(&comm));
    CHECK(!MPIX_Comm_get_attr_as_fortran(twin, key, &value, &flag) && flag);
    EQUAL(value, 41);
    CHECK(!MPIX_Comm_get_attr_as_fortran(twin, same, &value, &flag) && flag);
    EQUAL(value, 9);
    CHECK(!MPI_Comm_free(&twin));
    CHECK(deleted == (void *)(MPI_Aint)41);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&same);
    EQUAL(state.ended, 1);

    /* What may not be set in C, may not be in Fortran. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPIX_Comm_set_attr_as_fortran(MPI_COMM_WORLD, MPI_TAG_UB, NULL)) == MPI_ERR_KEYVAL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    operations();
    errors();
    attributes();
    if (!rank)
        puts("ok");
    return finish();
}
