// Performance variables: they tell what happened; sessions do not touch each other.
// only: catena
// run: -n 2 --set LINK=shm
#include "../check.h"

typedef unsigned long long number;

static int find(const char *name, int class)
{
    int at = -1;
    EQUAL(MPI_T_pvar_get_index(name, class, &at), MPI_SUCCESS);
    return at;
}

static MPI_T_pvar_handle bound(MPI_T_pvar_session s, const char *name, int class, MPI_Comm *comm)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    EQUAL(MPI_T_pvar_handle_alloc(s, find(name, class), comm, &h, &count), MPI_SUCCESS);
    EQUAL(count, 1);
    return h;
}

static MPI_T_pvar_handle counter(MPI_T_pvar_session s, const char *name)
{
    MPI_T_pvar_handle h = bound(s, name, MPI_T_PVAR_CLASS_COUNTER, NULL);
    EQUAL(MPI_T_pvar_start(s, h), MPI_SUCCESS);
    return h;
}

static number value(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
    number n = -1;
    EQUAL(MPI_T_pvar_read(s, h, &n), MPI_SUCCESS);
    return n;
}

/* Sends `n` bytes to the other rank. */
static void swap(int n, MPI_Comm comm)
{
    static char out[1 << 20], in[1 << 20];
    MPI_Sendrecv(out, n, MPI_BYTE, 1 - rank, 0, in, n, MPI_BYTE, 1 - rank, 0, comm,
                 MPI_STATUS_IGNORE);
}

static void protocols(MPI_T_pvar_session s)
{
    MPI_T_pvar_handle in = counter(s, "sent_inline_messages"), eager = counter(s, "sent_eager_messages"),
                      rendezvous = counter(s, "received_rendezvous_messages"),
                      shm = counter(s, "shm_messages"), own = counter(s, "self_messages"),
                      streamed = counter(s, "received_streamed_messages"),
                      once = counter(s, "received_read_messages");
    MPI_T_pvar_handle bytes = bound(s, "sent_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    EQUAL(MPI_T_pvar_start(s, bytes), MPI_SUCCESS);
    swap(0, MPI_COMM_WORLD);
    swap(32, MPI_COMM_WORLD);
    swap(33, MPI_COMM_WORLD);
    swap(1 << 14, MPI_COMM_WORLD);
    swap((1 << 16) + 1, MPI_COMM_WORLD);
    int a = 1, b = 0;
    MPI_Sendrecv(&a, 1, MPI_INT, 0, 0, &b, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EQUAL(value(s, in), 3);
    EQUAL(value(s, eager), 2);
    EQUAL(value(s, rendezvous), 1);
    EQUAL(value(s, streamed) + value(s, once), 1);
    EQUAL(value(s, shm), 5);
    EQUAL(value(s, own), 1);
    EQUAL(value(s, bytes), 32 + 33 + (1 << 14) + (1 << 16) + 1 + 4);
}

static void queues(MPI_T_pvar_session s)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle length = bound(s, "unexpected_length", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle here = bound(s, "comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &world);
    MPI_T_pvar_handle posted = bound(s, "posted_length", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle peak = bound(s, "unexpected_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    MPI_T_pvar_handle late = bound(s, "unexpected_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    MPI_T_pvar_handle total = counter(s, "unexpected_messages");
    EQUAL(MPI_T_pvar_start(s, peak), MPI_SUCCESS);
    int x = 0, flag;
    MPI_Request r;
    if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 5; i++)
            MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        MPI_Recv(&x, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        EQUAL(value(s, length), 0);
        MPI_Send(&x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD); /* not before this rank is ready */
        for (flag = 0; !flag;)
            MPI_Iprobe(0, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        EQUAL(value(s, length), 5);
        EQUAL(value(s, here), 5);
        EQUAL(value(s, total), 5);
        MPI_Recv(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&x, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(MPI_T_pvar_start(s, late), MPI_SUCCESS);
        EQUAL(value(s, length), 3);
        EQUAL(value(s, late), 3); /* knows nothing of what was before */
        EQUAL(value(s, peak), 5);
        EQUAL(MPI_T_pvar_reset(s, peak), MPI_SUCCESS);
        EQUAL(value(s, peak), 3);
        for (int i = 0; i < 4; i++)
            if (i != 2)
                MPI_Recv(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(value(s, length), 0);
        EQUAL(value(s, peak), 3);
        MPI_Irecv(&x, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, &r);
        EQUAL(value(s, posted), 1);
        MPI_Cancel(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        EQUAL(value(s, posted), 0);
        MPI_Send(&x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void start_stop_reset(MPI_T_pvar_session s)
{
    MPI_T_pvar_session other;
    EQUAL(MPI_T_pvar_session_create(&other), MPI_SUCCESS);
    MPI_T_pvar_handle a = bound(s, "sent_messages", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle b = counter(other, "sent_messages");
    number n = -1;
    swap(8, MPI_COMM_WORLD); /* not started */
    EQUAL(value(s, a), 0);
    EQUAL(value(other, b), 1);
    EQUAL(MPI_T_pvar_start(s, a), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(s, a), MPI_SUCCESS);
    swap(8, MPI_COMM_WORLD);
    EQUAL(MPI_T_pvar_stop(s, a), MPI_SUCCESS);
    swap(8, MPI_COMM_WORLD);
    EQUAL(value(s, a), 1);
    EQUAL(MPI_T_pvar_start(s, a), MPI_SUCCESS); /* goes on where it was */
    swap(8, MPI_COMM_WORLD);
    EQUAL(value(s, a), 2);
    EQUAL(MPI_T_pvar_readreset(s, a, &n), MPI_SUCCESS);
    EQUAL(n, 2);
    EQUAL(value(s, a), 0);
    n = 40;
    EQUAL(MPI_T_pvar_write(s, a, &n), MPI_SUCCESS);
    swap(8, MPI_COMM_WORLD);
    EQUAL(value(s, a), 41);
    EQUAL(value(other, b), 5); /* untouched by all that */

    EQUAL(MPI_T_pvar_stop(other, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    swap(8, MPI_COMM_WORLD);
    EQUAL(value(other, b), 5);
    EQUAL(MPI_T_pvar_reset(other, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    swap(8, MPI_COMM_WORLD);
    EQUAL(value(other, b), 1);

    /* A handle belongs to its session, and ends with it. */
    EQUAL(MPI_T_pvar_read(s, b, &n), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_pvar_handle_free(s, &b), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_session gone = other;
    EQUAL(MPI_T_pvar_session_free(&other), MPI_SUCCESS);
    CHECK(other == MPI_T_PVAR_SESSION_NULL);
    EQUAL(MPI_T_pvar_read(gone, b, &n), MPI_T_ERR_INVALID_SESSION);
    EQUAL(MPI_T_pvar_read(s, b, &n), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_pvar_session_free(&gone), MPI_T_ERR_INVALID_SESSION);
}

static void errors(MPI_T_pvar_session s)
{
    int n = 0, count;
    number v = 0;
    MPI_T_pvar_handle h, null = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_handle level = bound(s, "requests", MPI_T_PVAR_CLASS_LEVEL, NULL);
    EQUAL(MPI_T_pvar_start(s, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
    EQUAL(MPI_T_pvar_stop(s, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
    EQUAL(MPI_T_pvar_write(s, level, &v), MPI_T_ERR_PVAR_NO_WRITE);
    EQUAL(MPI_T_pvar_reset(s, level), MPI_T_ERR_PVAR_NO_WRITE);
    EQUAL(MPI_T_pvar_readreset(s, level, &v), MPI_T_ERR_PVAR_NO_ATOMIC);
    EQUAL(MPI_T_pvar_read(s, level, NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, &v), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_pvar_write(s, MPI_T_PVAR_ALL_HANDLES, &v), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_pvar_readreset(s, MPI_T_PVAR_ALL_HANDLES, &v), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_pvar_read(s, null, &v), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_pvar_start(MPI_T_PVAR_SESSION_NULL, MPI_T_PVAR_ALL_HANDLES),
          MPI_T_ERR_INVALID_SESSION);
    MPI_T_pvar_get_num(&n);
    EQUAL(MPI_T_pvar_handle_alloc(s, n, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_pvar_handle_alloc(MPI_T_PVAR_SESSION_NULL, 0, NULL, &h, &count),
          MPI_T_ERR_INVALID_SESSION);
    EQUAL(MPI_T_pvar_handle_alloc(s, 0, NULL, NULL, &count), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_handle_alloc(s, 0, NULL, &h, NULL), MPI_T_ERR_INVALID);
    MPI_Comm nothing = MPI_COMM_NULL;
    int at = find("comm_sent_messages", MPI_T_PVAR_CLASS_COUNTER);
    EQUAL(MPI_T_pvar_handle_alloc(s, at, NULL, &h, &count), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_handle_alloc(s, at, &nothing, &h, &count), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_session_free(NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_handle_free(s, NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_handle_free(s, &level), MPI_SUCCESS);
    CHECK(level == MPI_T_PVAR_HANDLE_NULL);
}

static void communicators_and_objects(MPI_T_pvar_session s)
{
    MPI_T_pvar_handle alive = bound(s, "communicators", MPI_T_PVAR_CLASS_LEVEL, NULL);
    number before = value(s, alive);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    EQUAL(value(s, alive), before + 1);
    MPI_T_pvar_handle sent = bound(s, "comm_sent_messages", MPI_T_PVAR_CLASS_COUNTER, &comm);
    MPI_T_pvar_handle ran = bound(s, "comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &comm);
    EQUAL(MPI_T_pvar_start(s, sent), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(s, ran), MPI_SUCCESS);
    swap(8, MPI_COMM_WORLD);
    EQUAL(value(s, sent), 0);
    swap(8, comm);
    EQUAL(value(s, sent), 1);
    MPI_Request r;
    MPI_Ibarrier(comm, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EQUAL(value(s, ran), 1);
    MPI_Comm_free(&comm);
    EQUAL(value(s, alive), before);
    number n;
    EQUAL(MPI_T_pvar_read(s, sent, &n), MPI_T_ERR_INVALID_HANDLE); /* bound to what is gone */
    EQUAL(MPI_T_pvar_handle_free(s, &sent), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_handle_free(s, &ran), MPI_SUCCESS);

    MPI_T_pvar_handle used = bound(s, "bsend_used", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle room = bound(s, "bsend_size", MPI_T_PVAR_CLASS_SIZE, NULL);
    static char memory[1 << 18], data[1 << 17], in[1 << 17];
    MPI_Buffer_attach(memory, sizeof memory);
    EQUAL(value(s, room), sizeof memory);
    EQUAL(value(s, used), 0);
    if (rank == 0)
        MPI_Bsend(data, sizeof data, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    number pending = value(s, used);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(pending > sizeof data && pending <= sizeof data + MPI_BSEND_OVERHEAD);
    else
        MPI_Recv(in, sizeof in, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    void *where;
    int bytes;
    MPI_Buffer_detach(&where, &bytes);
    EQUAL(value(s, room), 0);
}

static void waits(MPI_T_pvar_session s)
{
    MPI_T_pvar_handle sleeps = counter(s, "wait_sleeps");
    MPI_T_pvar_handle asleep = bound(s, "wait_asleep", MPI_T_PVAR_CLASS_TIMER, NULL);
    double seconds = -1, wrong = -1;
    EQUAL(MPI_T_pvar_start(s, asleep), MPI_SUCCESS);
    /* Rank 1 gives up spinning if it waits for long enough, however busy the machine is. */
    int slept = 0;
    for (double pause = 0.01; !slept && pause < 6; pause *= 2) {
        int x = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            double until = MPI_Wtime() + pause;
            while (MPI_Wtime() < until)
                ;
            MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            slept = value(s, sleeps) > 0;
        }
        MPI_Bcast(&slept, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    CHECK(slept);
    if (rank == 1) {
        EQUAL(MPI_T_pvar_read(s, asleep, &seconds), MPI_SUCCESS);
        CHECK(seconds > 0);
    }
    EQUAL(MPI_T_pvar_write(s, asleep, &wrong), MPI_T_ERR_INVALID);
    seconds = 2.5;
    EQUAL(MPI_T_pvar_stop(s, asleep), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_write(s, asleep, &seconds), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_read(s, asleep, &seconds), MPI_SUCCESS);
    CHECK(seconds == 2.5);
}

int main(int argc, char **argv)
{
    int provided, state = -1;
    MPI_T_pvar_session s;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    EQUAL(MPI_T_pvar_session_create(&s), MPI_SUCCESS);
    MPI_T_pvar_handle what = bound(s, "state", MPI_T_PVAR_CLASS_STATE, NULL);
    MPI_T_pvar_handle all = counter(s, "sent_messages"); /* started before MPI_Init */
    EQUAL(MPI_T_pvar_read(s, what, &state), MPI_SUCCESS);
    EQUAL(state, 0);
    EQUAL(value(s, all), 0);
    start(&argc, &argv);
    EQUAL(MPI_T_pvar_read(s, what, &state), MPI_SUCCESS);
    EQUAL(state, 1);
    protocols(s);
    queues(s);
    start_stop_reset(s);
    errors(s);
    communicators_and_objects(s);
    waits(s);
    EQUAL(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(s, all), MPI_SUCCESS);
    finish();
    EQUAL(MPI_T_pvar_read(s, what, &state), MPI_SUCCESS);
    EQUAL(state, 2);
    CHECK(value(s, all) > 10); /* what happened stays known */
    EQUAL(MPI_T_pvar_session_free(&s), MPI_SUCCESS);
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    return 0;
}
