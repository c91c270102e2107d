// Events: raised in order with their data, for the communicator and the safety level asked for.
// only: catena
// run: -n 2 --set LINK=shm
// run: -n 2 --set LINK=shm --set COLL_NODE=false -- messages
#include "../check.h"

static int called, freed, lost_calls;
static MPI_Count lost, last;
static int tags[64];
static MPI_T_event_registration self;

static void arrived(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety,
                    void *user)
{
    int source = -1, tag = -1, from = -1;
    unsigned long long bytes = 0;
    MPI_Count at = 0;
    struct {
        int source, tag;
        unsigned long long bytes;
    } whole;
    EQUAL(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    CHECK(r == self && user == &called);
    EQUAL(MPI_T_event_read(e, 0, &source), MPI_SUCCESS);
    EQUAL(MPI_T_event_read(e, 1, &tag), MPI_SUCCESS);
    EQUAL(MPI_T_event_read(e, 2, &bytes), MPI_SUCCESS);
    EQUAL(MPI_T_event_read(e, 3, &bytes), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_event_read(e, 0, NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_event_copy(e, &whole), MPI_SUCCESS);
    CHECK(whole.source == source && whole.tag == tag && whole.bytes == bytes);
    EQUAL(bytes, 4);
    EQUAL(source, 0);
    EQUAL(MPI_T_event_get_source(e, &from), MPI_SUCCESS);
    EQUAL(from, 0);
    EQUAL(MPI_T_event_get_timestamp(e, &at), MPI_SUCCESS);
    CHECK(at >= last);
    last = at;
    if (called < 64)
        tags[called] = tag;
    called++;
}

static void dropped(MPI_Count n, MPI_T_event_registration r, int source, MPI_T_cb_safety safety,
                    void *user)
{
    CHECK(r == self && source == 0 && user == &called);
    EQUAL(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    lost += n;
    lost_calls++;
}

static void gone(MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    CHECK(r == self && safety == MPI_T_CB_REQUIRE_NONE && user == &freed);
    freed++;
}

/* Messages with tags from 0, which find no receive on rank 1. */
static void surprise(int n, MPI_Comm comm)
{
    int x = 0, flag;
    if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            MPI_Send(&i, 1, MPI_INT, 1, i, comm);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 99, MPI_COMM_WORLD); /* not before this rank is ready */
        for (flag = 0; !flag;)
            MPI_Iprobe(0, n - 1, comm, &flag, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            MPI_Recv(&x, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
}

static MPI_T_event_registration allocate(const char *name, MPI_Comm comm)
{
    int at;
    MPI_T_event_registration r;
    EQUAL(MPI_T_event_get_index(name, &at), MPI_SUCCESS);
    EQUAL(MPI_T_event_handle_alloc(at, &comm, MPI_INFO_NULL, &r), MPI_SUCCESS);
    return r;
}

static void register_at(MPI_T_event_registration r, MPI_T_cb_safety level,
                        MPI_T_event_cb_function *f)
{
    EQUAL(MPI_T_event_register_callback(r, level, MPI_INFO_NULL, &called, f), MPI_SUCCESS);
}

static void hints_and_errors(void)
{
    MPI_Info info;
    int n, keys = -1;
    MPI_T_event_registration r = self;
    EQUAL(MPI_T_event_handle_get_info(r, &info), MPI_SUCCESS);
    MPI_Info_get_nkeys(info, &keys);
    EQUAL(keys, 0);
    /* A hint that nothing follows is not told as one in use. */
    MPI_Info_set(info, "colour", "green");
    EQUAL(MPI_T_event_handle_set_info(r, info), MPI_SUCCESS);
    EQUAL(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, info), MPI_SUCCESS);
    MPI_Info_free(&info);
    EQUAL(MPI_T_event_handle_get_info(r, &info), MPI_SUCCESS);
    MPI_Info_get_nkeys(info, &keys);
    EQUAL(keys, 0);
    MPI_Info_free(&info);
    EQUAL(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info), MPI_SUCCESS);
    MPI_Info_get_nkeys(info, &keys);
    EQUAL(keys, 0);
    MPI_Info_free(&info);
    EQUAL(MPI_T_event_register_callback(r, (MPI_T_cb_safety)5, MPI_INFO_NULL, 0, 0),
          MPI_T_ERR_INVALID);
    EQUAL(MPI_T_event_callback_get_info(r, (MPI_T_cb_safety)5, &info), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_event_handle_get_info(r, NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_event_handle_get_info(0, &info), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_event_handle_set_info(0, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_event_callback_set_info(0, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL),
          MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_event_register_callback(0, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, 0, 0),
          MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_event_set_dropped_handler(0, dropped), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_event_handle_free(0, 0, 0), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_event_read(0, 0, &n), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_event_copy(0, &n), MPI_T_ERR_INVALID_HANDLE);
    MPI_Count at;
    EQUAL(MPI_T_event_get_timestamp(0, &at), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_event_get_source(0, &n), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_event_get_num(&n);
    EQUAL(MPI_T_event_handle_alloc(n, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
}

static int ways[8], ran, by_messages;

static void collective(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety,
                       void *user)
{
    (void)r, (void)safety, (void)user;
    EQUAL(MPI_T_event_read(e, 0, &ways[ran++ % 8]), MPI_SUCCESS);
}

static void collectives(void)
{
    MPI_T_event_registration r = allocate("coll_allreduce", MPI_COMM_WORLD);
    register_at(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, collective);
    int one = 1, sum;
    MPI_Request q;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &sum, MPI_STATUS_IGNORE);
    EQUAL(ran, 3);
    for (int i = 0; i < 3; i++) /* the board, a persistent one of its own */
        CHECK(by_messages ? ways[i] > 0 : ways[i] == 0);
    EQUAL(MPI_T_event_handle_free(r, NULL, NULL), MPI_SUCCESS);
}

static int counted[2], last_told, told_dropped, end_came;

static void count(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    (void)e, (void)r, (void)safety;
    ++*(int *)user;
}

static void several(int n)
{
    int one = 1, sum;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void counted_by(MPI_T_event_registration r, MPI_T_event_cb_function *f, int *user)
{
    EQUAL(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, user, f), MPI_SUCCESS);
}

/* Whoever registers is told of what happens from then on; whoever frees has been told of all. */
static void who_comes_and_goes(void)
{
    MPI_T_event_registration first = allocate("coll_allreduce", MPI_COMM_WORLD), second;
    counted_by(first, count, &counted[0]);
    several(10);
    second = allocate("coll_allreduce", MPI_COMM_WORLD);
    EQUAL(counted[0], 10);
    several(3); /* without a callback */
    counted_by(second, count, &counted[1]);
    several(5);
    counted_by(first, NULL, NULL);
    EQUAL(counted[0], 18);
    several(2);
    counted_by(first, count, &counted[0]);
    EQUAL(MPI_T_event_handle_free(first, NULL, NULL), MPI_SUCCESS);
    EQUAL(counted[0], 18);
    EQUAL(MPI_T_event_handle_free(second, NULL, NULL), MPI_SUCCESS);
    EQUAL(counted[1], 7);
}

static void ended(MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    (void)r, (void)user;
    EQUAL(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    CHECK(!end_came);
    end_came = 1;
}

static void missed(MPI_Count n, MPI_T_event_registration r, int source, MPI_T_cb_safety safety, void *user)
{
    (void)r, (void)source, (void)safety;
    CHECK(user == &last_told && !end_came);
    told_dropped += n;
}

static void frees(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    (void)e, (void)safety;
    CHECK(user == &last_told && !end_came);
    last_told++;
    EQUAL(MPI_T_event_handle_free(r, NULL, ended), MPI_SUCCESS);
}

/* Whoever frees from within a callback is told how many events it misses. */
static void freed_by_a_callback(void)
{
    MPI_T_event_registration r = allocate("coll_allreduce", MPI_COMM_SELF);
    EQUAL(MPI_T_event_set_dropped_handler(r, missed), MPI_SUCCESS);
    counted_by(r, frees, &last_told);
    int one = 1, sum;
    for (int i = 0; i < 6; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &sum, MPI_STATUS_IGNORE);
    EQUAL(last_told, 1);
    EQUAL(told_dropped, 5);
    EQUAL(end_came, 1);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Comm other;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    start(&argc, &argv);
    by_messages = argc > 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    self = allocate("unexpected_message", other);
    hints_and_errors();
    surprise(3, other); /* nobody is registered */
    register_at(self, MPI_T_CB_REQUIRE_MPI_RESTRICTED, arrived);
    surprise(3, MPI_COMM_WORLD); /* of another communicator */
    EQUAL(called, 0);
    surprise(5, other);
    EQUAL(called, rank == 0 ? 0 : 5);
    for (int i = 0; i < called; i++)
        EQUAL(tags[i], i);

    /* A callback that asks for more freedom than there is does not get the event. */
    EQUAL(MPI_T_event_set_dropped_handler(self, dropped), MPI_SUCCESS);
    register_at(self, MPI_T_CB_REQUIRE_NONE, arrived);
    register_at(self, MPI_T_CB_REQUIRE_MPI_RESTRICTED, NULL);
    surprise(4, other);
    EQUAL(called, rank == 0 ? 0 : 5);
    EQUAL(lost_calls, 0);
    register_at(self, MPI_T_CB_REQUIRE_THREAD_SAFE, arrived);
    surprise(1, other); /* what was lost is told before the next one */
    EQUAL(called, rank == 0 ? 0 : 6);
    EQUAL(lost, rank == 0 ? 0 : 4);
    EQUAL(lost_calls, rank == 0 ? 0 : 1);

    EQUAL(MPI_T_event_handle_free(self, &freed, gone), MPI_SUCCESS);
    EQUAL(freed, 1);
    EQUAL(MPI_T_event_handle_free(self, &freed, gone), MPI_T_ERR_INVALID_HANDLE);
    surprise(3, other);
    EQUAL(called, rank == 0 ? 0 : 6);
    collectives();
    who_comes_and_goes();
    freed_by_a_callback();
    MPI_Comm_free(&other);
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    return finish();
}
