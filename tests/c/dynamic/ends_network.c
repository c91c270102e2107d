// Whatever a process has sent arrives, whenever it ends: also where it leaves this process only while that one makes
// progress (libfabric, UCX), and where it ends beside processes that go on: those of another job, or of another session.
// An end is not a death: whoever waits for others of that job goes on waiting.
//
// only: catena
// time: 60
// needs: libfabric.so.1
// run: -n 1 --set LINK=ofi:tcp -- child 1
// run: -n 1 --set LINK=ofi:tcp -- child 150 disconnect
// run: -n 1 --set LINK=ofi:tcp -- parent 150
// run: -n 2 --set LINK=ofi:tcp -- parent 150 disconnect
// run: -n 1 --set LINK=ofi:tcp -- next
// run: -n 2 --set LINK=ofi:tcp -- session 150
//
// variant: ends_network_ucx
// only: catena
// time: 60
// needs: libucp.so.0
// run: -n 1 --set LINK=ucx:tcp -- child 1 disconnect
// run: -n 1 --set LINK=ucx:tcp -- child 150
// run: -n 1 --set LINK=ucx:tcp -- parent 150 disconnect
// run: -n 2 --set LINK=ucx:tcp -- parent 150
// run: -n 1 --set LINK=ucx:tcp -- next
// run: -n 2 --set LINK=ucx:tcp -- session 150 disconnect
#include "../check.h"

enum { LONGEST = 15000 };

static int count, disconnects;

/* All messages, each of some packets, and of a length of its own. */
static void send_all(MPI_Comm to, int whom)
{
    static int data[LONGEST];
    for (int k = 0; k < count; k++) {
        for (int at = 0; at < LONGEST; at++)
            data[at] = k * 31 + at;
        MPI_Send(data, LONGEST - k * 7, MPI_INT, whom, k, to);
    }
}

static void receive_all(MPI_Comm from, int whom)
{
    static int data[LONGEST];
    for (int k = 0; k < count; k++) {
        /* The sender comes to its end meanwhile. */
        for (double end = now() + (count == 1 ? 0.3 : 0.005); now() < end;)
            ;
        int len;
        MPI_Status status;
        MPI_Recv(data, LONGEST, MPI_INT, whom, k, from, &status);
        MPI_Get_count(&status, MPI_INT, &len);
        EQUAL(len, LONGEST - k * 7);
        for (int at = 0; at < len; at++)
            EQUAL(data[at], k * 31 + at);
    }
}

/* Leaves the other job, or not. */
static int leave(MPI_Comm inter)
{
    if (disconnects)
        MPI_Comm_disconnect(&inter);
    return finish();
}

static MPI_Comm another(char **argv)
{
    MPI_Comm inter;
    MPI_Comm_spawn(argv[0], argv + 1, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

/* One job sends all to the other one and ends. */
static int one_sends(MPI_Comm parent, char **argv, int by_child)
{
    MPI_Comm inter = parent == MPI_COMM_NULL ? another(argv) : parent;
    if (by_child == (parent != MPI_COMM_NULL))
        send_all(inter, rank);
    else
        receive_all(inter, rank);
    return leave(inter);
}

/* Two jobs are spawned. One ends, a receive from which is pending all the time; the other one sends when those who wait
 * have asked more than once after everybody. */
static int next(MPI_Comm parent, char **argv)
{
    int pid = getpid();
    if (parent == MPI_COMM_NULL) {
        MPI_Comm first = another(argv), second = another(argv);
        MPI_Request never;
        int word, cancelled;
        MPI_Status status;
        MPI_Recv(&pid, 1, MPI_INT, 0, 1, second, MPI_STATUS_IGNORE);
        MPI_Recv(&pid, 1, MPI_INT, 0, 1, first, MPI_STATUS_IGNORE);
        MPI_Send(&pid, 1, MPI_INT, 0, 1, second);
        MPI_Send(&pid, 0, MPI_INT, 0, 2, first);
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, first, &never);
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, second, MPI_STATUS_IGNORE);
        EQUAL(word, 7);
        MPI_Cancel(&never);
        MPI_Wait(&never, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled);
        return finish();
    }
    int word = 7;
    MPI_Status status;
    /* The parent tells the second one whose end it waits for. */
    MPI_Send(&pid, 1, MPI_INT, 0, 1, parent);
    MPI_Recv(&pid, 1, MPI_INT, 0, MPI_ANY_TAG, parent, &status);
    if (status.MPI_TAG == 1) {
        while (!has_ended(pid))
            ;
        for (double end = now() + 2.5; now() < end;)
            ;
        MPI_Send(&word, 1, MPI_INT, 0, 3, parent);
    }
    return finish();
}

/* Rank 0 sends all and ends its session, the only one, while others still receive. */
static int session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "ends", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        send_all(comm, 1);
    else
        receive_all(comm, 0);
    if (disconnects)
        MPI_Comm_disconnect(&comm);
    else
        MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Comm parent;
    count = argc > 2 ? atoi(argv[2]) : 150;
    disconnects = argc > 3;
    if (!strcmp(what, "session"))
        return session();
    start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (!strcmp(what, "next"))
        return next(parent, argv);
    return one_sends(parent, argv, !strcmp(what, "child"));
}
