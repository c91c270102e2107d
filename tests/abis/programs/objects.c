// What belongs to one object, or means something in one interface, in a program that each of their headers compiles.
// run: -n 1
// run: -n 3
#include "../../c/check.h"
#include <string.h>
#include <unistd.h>

/* Windows of two kinds tell their own, and go on to. */
static void flavors(void)
{
    MPI_Win created, allocated;
    int here[2], *base, *value, *first, flag, *model;
    MPI_Win_create(here, sizeof here, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_allocate(sizeof here, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
    EQUAL(MPI_Win_get_attr(created, MPI_WIN_CREATE_FLAVOR, &first, &flag), MPI_SUCCESS);
    CHECK(flag && *first == MPI_WIN_FLAVOR_CREATE);
    EQUAL(MPI_Win_get_attr(allocated, MPI_WIN_CREATE_FLAVOR, &value, &flag), MPI_SUCCESS);
    CHECK(flag && *value == MPI_WIN_FLAVOR_ALLOCATE);
    EQUAL(*first, MPI_WIN_FLAVOR_CREATE);
    EQUAL(MPI_Win_get_attr(created, MPI_WIN_MODEL, &model, &flag), MPI_SUCCESS);
    CHECK(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE));
    MPI_Win_free(&created);
    MPI_Win_free(&allocated);
}

/* Elements of a distributed array of 200 over two processes, at the first of them; its contents tell the argument. */
static int elements(int distribution, int argument)
{
    int all = 200, grid = 2, bytes, ni, na, nd, combiner, ints[8];
    MPI_Datatype type, inner;
    MPI_Aint none[1];
    EQUAL(MPI_Type_create_darray(2, 0, 1, &all, &distribution, &argument, &grid, MPI_ORDER_C, MPI_CHAR, &type), MPI_SUCCESS);
    MPI_Type_size(type, &bytes);
    MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner);
    EQUAL(ni, 8);
    EQUAL(MPI_Type_get_contents(type, ni, na, nd, ints, none, &inner), MPI_SUCCESS);
    EQUAL(ints[4], distribution);
    EQUAL(ints[5], argument);
    MPI_Type_free(&type);
    return bytes;
}

static void block_sizes(void)
{
    for (int size = 1; size < 40; size++) {
        int whole = 200 / (2 * size), rest = 200 % (2 * size);
        EQUAL(elements(MPI_DISTRIBUTE_CYCLIC, size), whole * size + (rest < size ? rest : size));
    }
    EQUAL(elements(MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG), 100);
    EQUAL(elements(MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG), 100);
}

/* The codes of processes that were not started are of the interface. */
static void codes_of_processes(void)
{
    char program[] = "/no/such/program", *programs[] = { program, program };
    int codes[5] = { 77, 77, 77, 77, 77 }, counts[2] = { 1, 2 };
    MPI_Comm children;
    MPI_Info infos[2] = { MPI_INFO_NULL, MPI_INFO_NULL };
    int rc = MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, codes);
    EQUAL(class_of(rc), MPI_ERR_SPAWN);
    EQUAL(class_of(codes[0]), MPI_ERR_SPAWN);
    EQUAL(class_of(codes[1]), MPI_ERR_SPAWN);
    EQUAL(codes[2], 77);
    rc = MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_SELF, &children, codes + 1);
    EQUAL(class_of(rc), MPI_ERR_SPAWN);
    EQUAL(class_of(codes[3]), MPI_ERR_SPAWN);
    EQUAL(codes[4], 77);
    CHECK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE));
}

/* A key that the interface could not give back whole is refused. */
static void keys(void)
{
    char key[MPI_MAX_INFO_KEY + 1], back[MPI_MAX_INFO_KEY], value[8];
    int flag, n;
    MPI_Info info;
    MPI_Info_create(&info);
    memset(key, 'k', sizeof key);
    key[MPI_MAX_INFO_KEY] = 0;
    EQUAL(class_of(MPI_Info_set(info, key, "long")), MPI_ERR_INFO_KEY);
    MPI_Info_get_nkeys(info, &n);
    EQUAL(n, 0);
    key[MPI_MAX_INFO_KEY - 1] = 0;
    EQUAL(MPI_Info_set(info, key, "whole"), MPI_SUCCESS);
    EQUAL(MPI_Info_get_nthkey(info, 0, back), MPI_SUCCESS);
    CHECK(!strcmp(key, back));
    EQUAL(MPI_Info_get(info, back, 7, value, &flag), MPI_SUCCESS);
    CHECK(flag && !strcmp(value, "whole"));
    MPI_Info_free(&info);
}

#ifdef OPEN_MPI
/* Members that share a resource, each of which is in exactly one part. */
static int part_size(int by)
{
    MPI_Comm part;
    int n = 0, me = -1, total = 1;
    EQUAL(MPI_Comm_split_type(MPI_COMM_WORLD, by, -rank, MPI_INFO_NULL, &part), MPI_SUCCESS);
    CHECK(part != MPI_COMM_NULL);
    MPI_Comm_size(part, &n);
    MPI_Comm_rank(part, &me);
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, part);
    EQUAL(total, n);
    /* The key is obeyed. */
    int first = rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, part);
    CHECK(first >= rank && (me > 0 || first == rank));
    MPI_Comm_free(&part);
    return n;
}

static void parts(void)
{
    static const int nested[] = { OMPI_COMM_TYPE_HWTHREAD, OMPI_COMM_TYPE_CORE, OMPI_COMM_TYPE_L1CACHE, OMPI_COMM_TYPE_L2CACHE,
        OMPI_COMM_TYPE_L3CACHE, OMPI_COMM_TYPE_SOCKET, OMPI_COMM_TYPE_HOST };
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++)
        CHECK(part_size(nested[i]) >= 1);
    CHECK(part_size(OMPI_COMM_TYPE_NUMA) >= 1);
    EQUAL(part_size(OMPI_COMM_TYPE_BOARD), size);
    EQUAL(part_size(OMPI_COMM_TYPE_HOST), size);
    EQUAL(part_size(OMPI_COMM_TYPE_CLUSTER), size);
    MPI_Comm none;
    EQUAL(class_of(MPI_Comm_split_type(MPI_COMM_WORLD, OMPI_COMM_TYPE_CU, 0, MPI_INFO_NULL, &none)), MPI_ERR_ARG);
}
#else
static void parts(void)
{
}
#endif

/* Variables of a file are found by the interface's handle of it. */
static void variables_of_files(void)
{
    char name[64], text[64];
    int level, n, found = 0;
    MPI_File file;
    MPI_T_pvar_session session;
    snprintf(name, sizeof name, "/tmp/catena-objects-%d", (int)getpid());
    EQUAL(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
          MPI_SUCCESS);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        int len = sizeof text, verbosity, class, none = 0, bind = -1, readonly, continuous, atomic, count = 0;
        MPI_Datatype type;
        MPI_T_enum values;
        MPI_T_pvar_handle handle;
        EQUAL(MPI_T_pvar_get_info(i, text, &len, &verbosity, &class, &type, &values, NULL, &none, &bind, &readonly, &continuous,
                                  &atomic), MPI_SUCCESS);
        if (bind != MPI_T_BIND_MPI_FILE)
            continue;
        found++;
        EQUAL(MPI_T_pvar_handle_alloc(session, i, &file, &handle, &count), MPI_SUCCESS);
        EQUAL(count, 1);
        MPI_T_pvar_handle_free(session, &handle);
    }
    CHECK(found > 0);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_File_close(&file);
}

static int handled;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* A handler that is called for a communicator whose handle was freed leaves the one that has its place alone. */
static void dead_handles(void)
{
    MPI_Comm old, now[4];
    MPI_Errhandler mine;
    MPI_Request requests[2];
    int in = 0, out[2] = { 1, 2 }, me = -1;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_dup(MPI_COMM_SELF, &old);
    MPI_Comm_set_errhandler(old, mine);
    MPI_Irecv(&in, 1, MPI_INT, 0, 0, old, &requests[0]);
    MPI_Comm_free(&old);
    for (int i = 0; i < 4; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &now[i]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_SELF, &old);
    MPI_Comm_set_errhandler(old, mine);
    MPI_Irecv(&in, 1, MPI_INT, 0, 0, old, &requests[0]);
    MPI_Isend(out, 2, MPI_INT, 0, 0, old, &requests[1]);
    MPI_Comm_free(&old);
    MPI_Comm later;
    MPI_Comm_dup(MPI_COMM_SELF, &later);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    CHECK(handled > 0);
    EQUAL(MPI_Comm_rank(later, &me), MPI_SUCCESS);
    EQUAL(me, 0);
    for (int i = 0; i < 4; i++) {
        EQUAL(MPI_Comm_rank(now[i], &me), MPI_SUCCESS);
        MPI_Comm_free(&now[i]);
    }
    MPI_Comm_free(&later);
    MPI_Errhandler_free(&mine);
}

static int refuse(MPI_Comm comm, int key, void *state, void *value, void *to, int *flag)
{
    (void)comm, (void)key, (void)state, (void)value, (void)to, (void)flag;
    return MPI_ERR_OTHER;
}

/* A duplicate that fails gives no handle; those after it do. */
static void failed_duplicate(void)
{
    int key, n = 0;
    MPI_Comm from, twin;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &from);
    MPI_Comm_set_attr(from, key, &n);
    int rc = MPI_Comm_idup(from, &twin, &request);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(rc != MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Comm_delete_attr(from, key);
    EQUAL(MPI_Comm_idup(from, &twin, &request), MPI_SUCCESS);
    EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EQUAL(MPI_Comm_size(twin, &n), MPI_SUCCESS);
    EQUAL(n, size);
    MPI_Comm_free(&twin);
    /* Who finds the request complete has the handle. */
    int flag = 0;
    twin = MPI_COMM_NULL;
    EQUAL(MPI_Comm_idup(from, &twin, &request), MPI_SUCCESS);
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    CHECK(twin != MPI_COMM_NULL);
    EQUAL(MPI_Comm_size(twin, &n), MPI_SUCCESS);
    EQUAL(n, size);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&from);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    flavors();
    block_sizes();
    codes_of_processes();
    keys();
    parts();
    variables_of_files();
    dead_handles();
    failed_duplicate();
    return finish();
}
