// Wrong use of windows gets its error class and goes to the window's error handler; nobody hangs.
// run: -n 2
// run: -n 2 --set LINK=tcp
// only: catena
//
// variant: windows_errors_hosts
// hosts: 2
// time: 60
// only: catena
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts
//
// variant: windows_errors_remote
// needs: libfabric.so.1
// only: catena
// run: -n 2 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0
#include "../check.h"

#define RAISES(call, class) raises(__LINE__, #call, (call), (class))

static int wrong, handled;

/* The error has this class, and its text says which call it was, and of windows which one. */
static void raises(int line, const char *call, int rc, int class)
{
    char text[MPI_MAX_ERROR_STRING], name[64];
    int len, found = class_of(rc);
    MPI_Error_string(rc, text, &len);
    snprintf(name, sizeof name, "%.*s", (int) strcspn(call, "("), call);
    int is_rma = (class >= MPI_ERR_RMA_ATTACH && class <= MPI_ERR_RMA_SYNC) || class == MPI_ERR_RMA_FLAVOR;
    if (found == class && strstr(text, name)
        && (!is_rma || strstr(text, "on window 0x") || strstr(text, "on the halo")))
        return;
    fprintf(stderr, "%s:%d: %s: class %d, expected %d, and the call and its window: %s\n", __FILE__, line,
            call, found, class, text);
    wrong++;
}

static void handler(MPI_Win *win, int *code, ...)
{
    (void) win, (void) code;
    handled++;
}

static int kept, refuse;

static int keep(MPI_Win win, int key, void *value, void *extra)
{
    (void) win, (void) key, (void) value, (void) extra;
    return refuse ? MPI_ERR_OTHER : (kept--, MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Win win = MPI_WIN_NULL, other;
    int shares = one_node();
    long x[16] = {0}, y[16] = {0}, *memory;
    int unit, flag;
    MPI_Aint bytes;
    void *at;

    /* No window. */
    RAISES(MPI_Put(x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_WIN_NULL), MPI_ERR_WIN);
    RAISES(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    RAISES(MPI_Win_free(&win), MPI_ERR_WIN);

    /* Arguments of which one member's is wrong: the call fails at both. */
    RAISES(MPI_Win_create(x, rank ? -1 : 8, 1, MPI_INFO_NULL, w, &win), rank ? MPI_ERR_SIZE : MPI_ERR_OTHER);
    RAISES(MPI_Win_create(x, 8, rank, MPI_INFO_NULL, w, &win), rank ? MPI_ERR_OTHER : MPI_ERR_DISP);
    RAISES(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, w, &win), MPI_ERR_BASE);
    RAISES(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &memory, &win), MPI_ERR_COMM);
    RAISES(MPI_Win_allocate((MPI_Aint) 1 << 60, 1, MPI_INFO_NULL, w, &memory, &win), MPI_ERR_NO_MEM);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "perhaps");
    RAISES(MPI_Win_create(x, 8, 1, info, w, &win), MPI_ERR_INFO_VALUE);
    CHECK(win == MPI_WIN_NULL);
    /* A promise that is not kept does no harm here, as in MPICH. */
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_create(x, 8, 1, info, w, &win);
    MPI_Win_lock_all(0, win);
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);

    MPI_Win_allocate(sizeof x, sizeof(long), MPI_INFO_NULL, w, &memory, &win);
    MPI_Errhandler counting;
    MPI_Win_create_errhandler(handler, &counting);
    MPI_Win_set_errhandler(win, counting);
    RAISES(MPI_Put(x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    EQUAL(handled, 1);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&counting);

    /* The text names the rank, the call says itself. */
    char text[MPI_MAX_ERROR_STRING];
    int len, code = MPI_Get(x, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, "MPI_Get") && strstr(text, "rank 1"));
    MPI_Win_set_name(win, "the halo");
    code = MPI_Win_unlock(1, win);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, "MPI_Win_unlock") && strstr(text, "the halo"));

    /* No epoch, or the wrong one. */
    RAISES(MPI_Accumulate(x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_flush_local(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    RAISES(MPI_Put(x, 1, MPI_LONG, 1 - rank, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_start(MPI_GROUP_EMPTY, 0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_unlock(1 - rank, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_flush(1 - rank, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK(win != MPI_WIN_NULL);
    MPI_Win_unlock(rank, win);
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    RAISES(MPI_Win_post(MPI_GROUP_EMPTY, 0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_wait(win);
    /* One that is in an epoch keeps both from freeing. */
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    int key, has;
    void *value;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, keep, &key, NULL);
    MPI_Win_set_attr(win, key, x);
    kept = 1;
    RAISES(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    MPI_Win_get_attr(win, key, &value, &has);
    CHECK(has && value == x && kept == 1);
    if (rank == 0)
        MPI_Win_unlock(0, win);
    /* So does one whose callback refuses. */
    refuse = rank == 0;
    MPI_Win_free(&win) == MPI_SUCCESS ? wrong++ : 0;
    CHECK(win != MPI_WIN_NULL);
    MPI_Win_get_attr(win, key, &value, &has);
    EQUAL(has, rank == 0);
    refuse = 0;
    MPI_Win_free_keyval(&key);
    MPI_Win_fence(0, win);
    x[0] = 1;
    EQUAL(MPI_Put(x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win), MPI_SUCCESS);
    RAISES(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    MPI_Win_fence(0, win);

    /* Kinds of locks, assertions, ranks. */
    RAISES(MPI_Win_lock(77, 0, 0, win), MPI_ERR_LOCKTYPE);
    RAISES(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    RAISES(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    RAISES(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOSUCCEED, win), MPI_ERR_ASSERT);
    RAISES(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);

    MPI_Win_lock_all(0, win);
    RAISES(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    RAISES(MPI_Put(x, 1, MPI_LONG, size, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    RAISES(MPI_Put(x, -1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_COUNT);
    RAISES(MPI_Put(x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_LONG, win), MPI_ERR_TYPE);
    RAISES(MPI_Put(NULL, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_BUFFER);
    RAISES(MPI_Put(x, 2, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_TYPE);
    /* Outside. */
    RAISES(MPI_Put(x, 1, MPI_LONG, 0, 16, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    RAISES(MPI_Put(x, 2, MPI_LONG, 0, 15, 2, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    RAISES(MPI_Get(x, 1, MPI_LONG, 1, -1, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    RAISES(MPI_Get(x, 1, MPI_LONG, 1, (MPI_Aint) 1 << 62, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    EQUAL(MPI_Put(x, 1, MPI_LONG, 0, 15, 1, MPI_LONG, win), MPI_SUCCESS);
    /* Operations. */
    MPI_Op mine;
    MPI_Op_create((MPI_User_function *) handler, 1, &mine);
    RAISES(MPI_Accumulate(x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, mine, win), MPI_ERR_OP);
    RAISES(MPI_Accumulate(x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_NO_OP, win), MPI_ERR_OP);
    RAISES(MPI_Accumulate(x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    RAISES(MPI_Accumulate(x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_OP_NULL, win), MPI_ERR_OP);
    RAISES(MPI_Accumulate(x, 1, MPI_LONG, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win), MPI_ERR_TYPE);
    /* No elements are of any type. */
    EQUAL(MPI_Accumulate(x, 0, MPI_LONG, 0, 0, 0, MPI_DOUBLE, MPI_SUM, win), MPI_SUCCESS);
    EQUAL(MPI_Get_accumulate(x, 0, MPI_LONG, y, 0, MPI_INT, 0, 0, 0, MPI_DOUBLE, MPI_SUM, win), MPI_SUCCESS);
    RAISES(MPI_Compare_and_swap(x, x, y, MPI_DOUBLE, 0, 0, win), MPI_ERR_TYPE);
    RAISES(MPI_Compare_and_swap(NULL, x, y, MPI_LONG, 0, 0, win), MPI_ERR_ARG);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    RAISES(MPI_Fetch_and_op(x, y, pair, 0, 0, MPI_SUM, win), MPI_ERR_TYPE);
    MPI_Type_free(&pair);
    MPI_Op_free(&mine);
    MPI_Win_unlock_all(win);

    /* Attributes of its own cannot change; only dynamic windows have memory attached. */
    RAISES(MPI_Win_set_attr(win, MPI_WIN_BASE, x), MPI_ERR_KEYVAL);
    RAISES(MPI_Win_delete_attr(win, MPI_WIN_SIZE), MPI_ERR_KEYVAL);
    RAISES(MPI_Win_attach(win, x, 8), MPI_ERR_RMA_FLAVOR);
    RAISES(MPI_Win_detach(win, x), MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&win);

    MPI_Win_create_dynamic(info, w, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    MPI_Win_unlock_all(win);
    RAISES(MPI_Win_shared_query(win, 0, &bytes, &unit, &at), MPI_ERR_RMA_FLAVOR);
    RAISES(MPI_Win_detach(win, x), MPI_ERR_RMA_ATTACH);
    MPI_Win_attach(win, x, 64);
    RAISES(MPI_Win_attach(win, x + 7, 64), MPI_ERR_RMA_ATTACH);
    RAISES(MPI_Win_attach(win, x, -1), MPI_ERR_SIZE);
    MPI_Aint address, theirs[2];
    MPI_Get_address(x, &address);
    MPI_Allgather(&address, 1, MPI_AINT, theirs, 1, MPI_AINT, w);
    MPI_Win_fence(0, win);
    EQUAL(MPI_Put(y, 8, MPI_LONG, 1 - rank, theirs[1 - rank], 8, MPI_LONG, win), MPI_SUCCESS);
    /* What is attached elsewhere only the target knows: the next synchronization tells. */
    const MPI_Aint bad[] = {theirs[1 - rank] + 8, 0};
    for (int i = 0; i < 2; i++) {
        if (shares) {
            RAISES(MPI_Put(y, 8, MPI_LONG, 1 - rank, bad[i], 8, MPI_LONG, win), MPI_ERR_RMA_RANGE);
        } else {
            EQUAL(MPI_Put(y, 8, MPI_LONG, 1 - rank, bad[i], 8, MPI_LONG, win), MPI_SUCCESS);
            RAISES(MPI_Win_fence(0, win), MPI_ERR_RMA_RANGE);
            EQUAL(MPI_Get(y, 8, MPI_LONG, 1 - rank, bad[i], 8, MPI_LONG, win), MPI_SUCCESS);
            RAISES(MPI_Win_fence(0, win), MPI_ERR_RMA_RANGE);
        }
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_detach(win, x);
    MPI_Win_free(&win);
    MPI_Info_free(&info);

    /* An intercommunicator has no windows. */
    MPI_Comm inter;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, w, 1 - rank, 3, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    RAISES(MPI_Win_create(x, 8, 1, MPI_INFO_NULL, inter, &other), MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    EQUAL(wrong, 0);
    finish();
    return 0;
}
