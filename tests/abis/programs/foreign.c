// What differs most between binary interfaces, in one program that each of their headers compiles.
// run: -n 1
// run: -n 4
#include "../../c/check.h"
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* What MPI 3.0 has removed, and some headers refuse to name. */
#if defined OPEN_MPI
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#define OLD_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define OLD_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
#elif defined MPICH_VERSION
#define OLD_LB ((MPI_Datatype)0x4c000010)
#define OLD_UB ((MPI_Datatype)0x4c000011)
#endif

static int seen_types, copied, deleted;

/* The handle must be one of this interface: MPI is called with it. */
static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int size;
    EQUAL(MPI_Type_size(*type, &size), MPI_SUCCESS);
    EQUAL(size, 2 * (int)sizeof(int));
    seen_types++;
    for (int i = 0; i < 2 * *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static int copy(MPI_Comm comm, int key, void *state, void *value, void *to, int *flag)
{
    int me;
    EQUAL(MPI_Comm_rank(comm, &me), MPI_SUCCESS);
    EQUAL(state == &copied, 1);
    CHECK(key != MPI_KEYVAL_INVALID);
    *(void **)to = (char *)value + 1;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static int delete_value(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    deleted++;
    return MPI_SUCCESS;
}

static int handled, handled_class;

static void handler(MPI_Comm *comm, int *code, ...)
{
    int me;
    EQUAL(MPI_Comm_rank(*comm, &me), MPI_SUCCESS);
    MPI_Error_class(*code, &handled_class);
    handled++;
}

/* The code that it stores is what the call returns. */
static void forgive(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handled++;
    *code = handled_class == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 7;
    status->MPI_TAG = *(int *)state;
    return MPI_SUCCESS;
}

static int free_state(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel_it(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void callbacks(void)
{
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    EQUAL(MPI_Op_create(add, 1, &op), MPI_SUCCESS);
    int x[4] = { rank, 1, 2 * rank, 3 }, sum[4] = { 0 };
    EQUAL(MPI_Allreduce(x, sum, 2, pair, op, MPI_COMM_WORLD), MPI_SUCCESS);
    EQUAL(sum[0], size * (size - 1) / 2);
    EQUAL(sum[3], 3 * size);
    MPI_Request request;
    /* The operation goes before the reduction is complete. */
    int late[4] = { 0 };
    MPI_Iallreduce(x, late, 2, pair, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&pair);
    CHECK(pair == MPI_DATATYPE_NULL);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(!memcmp(sum, late, sizeof sum));
    CHECK(size == 1 || seen_types > 0);

    int key;
    MPI_Comm twin;
    EQUAL(MPI_Comm_create_keyval(copy, delete_value, &key, &copied), MPI_SUCCESS);
    EQUAL(MPI_Comm_set_attr(MPI_COMM_WORLD, key, "abc"), MPI_SUCCESS);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    EQUAL(copied, 1);
    char *value;
    int flag;
    MPI_Comm_get_attr(twin, key, &value, &flag);
    CHECK(flag && !strcmp(value, "bc"));
    MPI_Comm_free_keyval(&key);
    EQUAL(key, MPI_KEYVAL_INVALID);
    MPI_Comm_free(&twin);
    EQUAL(deleted, 1);

    MPI_Errhandler mine;
    MPI_Comm_dup(MPI_COMM_SELF, &twin);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(twin, mine);
    int code = MPI_Send(x, 1, MPI_INT, 5, 0, twin);
    EQUAL(handled, 1);
    EQUAL(handled_class, MPI_ERR_RANK);
    EQUAL(class_of(code), MPI_ERR_RANK);
    MPI_Errhandler_free(&mine);
    CHECK(mine == MPI_ERRHANDLER_NULL);
    MPI_Comm_create_errhandler(forgive, &mine);
    MPI_Comm_set_errhandler(twin, mine);
    EQUAL(class_of(MPI_Send(x, 1, MPI_INT, 5, 0, twin)), MPI_ERR_OTHER);
    handled_class = MPI_SUCCESS;
    EQUAL(MPI_Send(x, 1, MPI_INT, 5, 0, twin), MPI_SUCCESS);
    EQUAL(handled, 3);
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&twin);

    int state = 11;
    MPI_Status status;
    MPI_Grequest_start(query, free_state, cancel_it, &state, &request);
    MPI_Test(&request, &flag, &status);
    EQUAL(flag, 0);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    int count;
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 3);
    EQUAL(status.MPI_SOURCE, 7);
    EQUAL(status.MPI_TAG, 11);
    EQUAL(state, -1);
}

/* Statuses are written where the standard says, and nowhere else. */
static void statuses(void)
{
    struct { MPI_Status status; unsigned guard; } one;
    MPI_Request requests[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status all[4];
    int x = rank, y = -1, flag, to = (rank + 1) % size, from = (rank + size - 1) % size;
    memset(&one, 0x5a, sizeof one);
    MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 1) {
        MPI_Status untouched = one.status;
        MPI_Test(&requests[1], &flag, &one.status);
        EQUAL(flag, 0);
        CHECK(!memcmp(&untouched, &one.status, sizeof untouched));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&x, 1, MPI_INT, to, 42, MPI_COMM_WORLD);
    one.status.MPI_ERROR = 1234;
    MPI_Wait(&requests[1], &one.status);
    EQUAL(one.status.MPI_SOURCE, from);
    EQUAL(one.status.MPI_TAG, 42);
    EQUAL(one.status.MPI_ERROR, 1234);
    EQUAL(one.guard, 0x5a5a5a5a);
    EQUAL(y, from);

    memset(all, 0x5a, sizeof all);
    MPI_Irecv(&y, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Waitall(3, requests, all);
    EQUAL(all[0].MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(all[0].MPI_TAG, MPI_ANY_TAG);
    EQUAL(all[1].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    unsigned char *behind = (unsigned char *)&all[3];
    for (size_t i = 0; i < sizeof all[3]; i++)
        EQUAL(behind[i], 0x5a);

    /* More than a layer has room for without allocating. */
    enum { MANY = 300 };
    static MPI_Request lots[MANY];
    static MPI_Status told[MANY];
    static int in[MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &lots[i]);
    for (int i = MANY; i-- > 0;)
        MPI_Send(&i, 1, MPI_INT, to, i, MPI_COMM_WORLD);
    MPI_Waitall(MANY, lots, told);
    for (int i = 0; i < MANY; i++) {
        EQUAL(in[i], i);
        EQUAL(told[i].MPI_TAG, i);
        CHECK(lots[i] == MPI_REQUEST_NULL);
    }
}

static void names(void)
{
    /* What is longer here than there is cut, and the rest of the program's memory stays. */
    char long_name[1024], back[MPI_MAX_OBJECT_NAME + 1];
    int len;
    memset(long_name, 'n', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_SELF, &twin);
    MPI_Comm_set_name(twin, long_name);
    memset(back, 'x', sizeof back);
    MPI_Comm_get_name(twin, back, &len);
    EQUAL(len, MPI_MAX_OBJECT_NAME - 1);
    EQUAL(strlen(back), MPI_MAX_OBJECT_NAME - 1);
    EQUAL(back[MPI_MAX_OBJECT_NAME], 'x');
    MPI_Comm_free(&twin);

    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(version, &len);
    EQUAL(strlen(version), len);
    CHECK(strstr(version, "Catena"));
    char text[MPI_MAX_ERROR_STRING + 1];
    text[MPI_MAX_ERROR_STRING] = 'x';
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &len);
    CHECK(strstr(text, "MPI_ERR_TRUNCATE"));
    EQUAL(text[MPI_MAX_ERROR_STRING], 'x');
}

/* Numbers that mean something in another interface are errors here, not crashes. */
static void garbage(void)
{
    int x = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    uintptr_t bad[] = { 0, 1, 0x101, 0x102, 0x209, 0x5000, 0x44000007, 0x08000003, 0x8c000077,
                        (uintptr_t)&x, (uintptr_t)bad, (uintptr_t)garbage, 0x7fffdeadbee0,
                        (uintptr_t)-1, (uintptr_t)1 << 63 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        MPI_Comm comm = (MPI_Comm)bad[i];
        MPI_Datatype type = (MPI_Datatype)bad[i];
        MPI_Op op = (MPI_Op)bad[i];
        int y;
        EQUAL(class_of(MPI_Comm_rank(comm, &y)), MPI_ERR_COMM);
        EQUAL(class_of(MPI_Type_size(type, &y)), MPI_ERR_TYPE);
        EQUAL(class_of(MPI_Allreduce(&x, &y, 1, MPI_INT, op, MPI_COMM_SELF)), MPI_ERR_OP);
    }
    /* A handle of another kind. */
    int y;
    union { MPI_Datatype type; MPI_Comm comm; } as = { .type = MPI_INT };
    EQUAL(class_of(MPI_Comm_rank(as.comm, &y)), MPI_ERR_COMM);
    /* One that was freed. */
    MPI_Comm twin, old;
    MPI_Comm_dup(MPI_COMM_SELF, &twin);
    old = twin;
    MPI_Comm_free(&twin);
    EQUAL(class_of(MPI_Comm_rank(old, &y)), MPI_ERR_COMM);
    EQUAL(class_of(MPI_Send(&x, 1, MPI_INT, -7, 0, MPI_COMM_SELF)), MPI_ERR_RANK);
    EQUAL(class_of(MPI_Send(&x, 1, MPI_INT, 0, -7, MPI_COMM_SELF)), MPI_ERR_TAG);
    EQUAL(class_of(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF)), MPI_ERR_RANK);
}

/* A constant among displacements. */
static void view_at_present(void)
{
    char name[64];
    MPI_File file;
    snprintf(name, sizeof name, "/tmp/catena-view-%d", (int)getpid());
    EQUAL(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL
                        | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file), MPI_SUCCESS);
    EQUAL(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
          MPI_SUCCESS);
    CHECK(MPI_File_set_view(file, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) != MPI_SUCCESS);
    EQUAL(MPI_File_close(&file), MPI_SUCCESS);
}

#ifdef OLD_LB
/* Structures of programs from before MPI 3.0. */
static void markers(void)
{
    MPI_Datatype type, twice;
    MPI_Datatype types[] = { OLD_LB, MPI_INT, MPI_CHAR, OLD_UB };
    int lens[] = { 1, 1, 1, 1 };
    MPI_Aint at[] = { -8, 0, 4, 24 }, lb, extent;
    EQUAL(MPI_Type_create_struct(4, lens, at, types, &type), MPI_SUCCESS);
    MPI_Type_get_extent(type, &lb, &extent);
    EQUAL(lb, -8);
    EQUAL(extent, 32);
    int size;
    MPI_Type_size(type, &size);
    EQUAL(size, 5);
    /* One of the two; markers of parts stay. */
    MPI_Aint places[] = { 0, 20 };
    MPI_Datatype parts[] = { type, OLD_UB };
    EQUAL(MPI_Type_create_struct(2, lens, places, parts, &twice), MPI_SUCCESS);
    MPI_Type_get_extent(twice, &lb, &extent);
    EQUAL(lb, -8);
    EQUAL(extent, 32);
    MPI_Type_free(&twice);
    places[1] = 40;
    EQUAL(MPI_Type_create_struct(2, lens, places, parts, &twice), MPI_SUCCESS);
    MPI_Type_get_extent(twice, &lb, &extent);
    EQUAL(lb, -8);
    EQUAL(extent, 48);
    MPI_Type_free(&twice);
    MPI_Type_free(&type);
    EQUAL(MPI_Type_create_struct(3, lens + 1, at + 1, types + 1, &type), MPI_SUCCESS);
    MPI_Type_get_extent(type, &lb, &extent);
    EQUAL(lb, 0);
    EQUAL(extent, 24);
    MPI_Type_free(&type);
    /* Elsewhere a marker is no type. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Type_size(OLD_UB, &size)), MPI_ERR_TYPE);
}
#endif

static void integers(void)
{
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(twin)) == twin);
    MPI_Comm_free(&twin);
}

static void in_place(void)
{
    int x = rank + 1;
    EQUAL(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    EQUAL(x, size * (size + 1) / 2);
    int out[64], counts[64], displs[64];
    MPI_Datatype types[64];
    for (int i = 0; i < size; i++) {
        out[i] = rank * 100 + i;
        counts[i] = 1;
        displs[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    /* What tells of the send buffer is not looked at, and may be anything. */
    MPI_Datatype *volatile nowhere = (MPI_Datatype *)(uintptr_t)16;
    EQUAL(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, nowhere, out, counts, displs, types,
                        MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < size; i++)
        EQUAL(out[i], i * 100 + rank);
    MPI_Comm twin;
    MPI_Request request;
    EQUAL(MPI_Comm_idup(MPI_COMM_WORLD, &twin, &request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int n = 0;
    EQUAL(MPI_Comm_size(twin, &n), MPI_SUCCESS);
    EQUAL(n, size);
    MPI_Comm_free(&twin);
}

static void attributes(void)
{
    int *value, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    CHECK(!flag || *value == MPI_PROC_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    CHECK(!flag || *value == MPI_ANY_SOURCE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value >= MPI_ERR_LASTCODE);
    int added, code, class;
    MPI_Add_error_class(&added);
    CHECK(added > MPI_ERR_LASTCODE);
    MPI_Add_error_code(added, &code);
    MPI_Error_class(code, &class);
    EQUAL(class, added);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value >= code);
    int result, topology;
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
    EQUAL(result, size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    MPI_Topo_test(MPI_COMM_WORLD, &topology);
    EQUAL(topology, MPI_UNDEFINED);
    int ints[8], dims[2] = { 4, 6 }, sub[2] = { 2, 3 }, start[2] = { 1, 1 }, ni, na, nd, combiner;
    MPI_Datatype type, inner;
    MPI_Aint none[1];
    MPI_Type_create_subarray(2, dims, sub, start, MPI_ORDER_FORTRAN, MPI_INT, &type);
    MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner);
    EQUAL(combiner, MPI_COMBINER_SUBARRAY);
    MPI_Type_get_contents(type, ni, na, nd, ints, none, &inner);
    EQUAL(ints[7], MPI_ORDER_FORTRAN);
    CHECK(inner == MPI_INT);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    CHECK(level >= MPI_THREAD_FUNNELED && level <= MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    callbacks();
    statuses();
    names();
    integers();
    view_at_present();
#ifdef OLD_LB
    markers();
#endif
    in_place();
    attributes();
    garbage();
    MPI_Finalize();
    return 0;
}
