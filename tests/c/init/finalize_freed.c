// Messages whose requests were given up, as MPI-5 11.2.2 allows, are under way when processes come to MPI_Finalize or
// MPI_Session_finalize: nobody leaves while they need it, in the world, a session, and towards a job that was spawned. Those that
// nobody receives keep nobody.
// waits: where a process is between a session and the world
// run: -n 2 -- both 1500000
// run: -n 3 -- both 1500000
// run: -n 3 -- both 65536
// run: -n 2 --set SHM_SINGLE_COPY=always -- both 1500000
// run: --set LINK=tcp -n 3 -- both 1500000
// run: --set FAULT_TOLERANCE=true -n 2 -- both 1500000
// run: --set FAULT_TOLERANCE=true -n 3 -- both 8000000
// run: -n 3 -- session 1500000
// run: -n 2 -- session-freed 1500000
// run: --set LINK=tcp -n 2 -- session 1500000
// run: -n 2 -- one 1500000
// run: --set LINK=tcp -n 2 -- one 1500000
// run: -n 2 -- nobody 1500000
// run: -n 2 -- synchronous 100
// run: -n 2 -- probed 100000
// run: -n 2 -- buffered 100000
// run: --set LINK=tcp -n 2 -- buffered 1500000
// run: -n 1 -- child-sends 100000
// run: -n 1 -- child-sends 1500000
// run: -n 1 --set LINK=tcp -- child-sends 1500000
// run: -n 1 -- child-sends-freed 1500000
// run: -n 1 -- parent-sends 1500000
// run: -n 1 --set LINK=tcp -- parent-sends 1500000
// run: -n 1 -- child-both 1500000
// run: -n 1 --set LINK=tcp -- child-both 1500000
// run: -n 1 --on-hang nothing -- child-returns 1
// run: -n 1 --on-hang nothing --set LINK=tcp -- child-returns 1
// run: -n 1 -- child-ended 1; exit 58; says 'MPI_Recv: process 1 is gone.*it has ended'; ends 10
// run: -n 1 -- child-ended-tests 1; exit 58; says 'process 1 is gone.*it has ended'; ends 10
// run: -n 1 -- child-ended-probes 1; exit 58; says 'process 1 is gone.*it has ended'; ends 10
// run: -n 1 --set LINK=tcp -- child-ended-tests 1; exit 58; says 'process 1 is gone'; ends 20
#include "../check.h"

static char *out, *in;
static int len;

static void give_up_send(int to, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Isend(out, len, MPI_BYTE, to, 3, comm, &request);
    MPI_Request_free(&request);
}

static void give_up_receive(int from, MPI_Comm comm, char *into)
{
    MPI_Request request;
    MPI_Irecv(into, len, MPI_BYTE, from, 3, comm, &request);
    MPI_Request_free(&request);
}

/* All give up a send to the next one and a receive from the one before. */
static void both(MPI_Comm comm)
{
    for (int n = 0; n < 5; n++) {
        give_up_receive((rank + size - 1) % size, comm, in + (size_t)n * len);
        give_up_send((rank + 1) % size, comm);
    }
}

static void receive(int from, MPI_Comm comm)
{
    MPI_Recv(in, len, MPI_BYTE, from, 3, comm, MPI_STATUS_IGNORE);
    CHECK(in[0] == 7 && in[len - 1] == 7);
}

/* A job of one process and the one that it spawns. */
static void spawn(char **argv)
{
    const char *mode = argv[1];
    char *words[] = {argv[1], argv[2], "child", NULL};
    MPI_Comm parent, other;
    MPI_Comm_get_parent(&parent);
    int is_child = parent != MPI_COMM_NULL;
    if (is_child)
        other = parent;
    else
        MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
    if (!strncmp(mode, "child-ended", 11)) {
        MPI_Request request;
        int done = is_child;
        if (strstr(mode, "probes"))
            while (!done)
                MPI_Iprobe(0, 3, other, &done, MPI_STATUS_IGNORE);
        else if (strstr(mode, "tests") && !is_child) {
            MPI_Irecv(in, len, MPI_BYTE, 0, 3, other, &request);
            while (!done)
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        } else if (!is_child)
            receive(0, other);
    } else if (!strcmp(mode, "child-both")) {
        if (is_child)
            give_up_send(0, other);
        else
            give_up_receive(0, other, in);
    } else if (is_child == (!strncmp(mode, "child-sends", 11) || !strcmp(mode, "child-returns")))
        give_up_send(0, other);
    else
        receive(0, other);
    if (strstr(mode, "freed"))
        MPI_Comm_free(&other);
}

static void session(const char *mode)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "finalize", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    both(comm);
    if (strstr(mode, "freed"))
        MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    CHECK(argc > 2);
    const char *mode = argv[1];
    len = atoi(argv[2]);
    out = malloc(len);
    in = calloc(5, len);
    memset(out, 7, len);
    if (!strcmp(mode, "child-returns") && argc > 3) {
        /* The parent waits while this process is in no session, and not in the world yet. */
        MPI_Session none;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &none);
        MPI_Session_finalize(&none);
        sleep(2);
    }
    if (!strncmp(mode, "session", 7)) {
        session(mode);
    } else {
        start(&argc, &argv);
        if (!strcmp(mode, "both"))
            both(MPI_COMM_WORLD);
        else if (!strcmp(mode, "one") && rank == 0)
            give_up_send(1, MPI_COMM_WORLD);
        else if (!strcmp(mode, "one"))
            receive(0, MPI_COMM_WORLD);
        else if (!strcmp(mode, "nobody"))
            give_up_send(1 - rank, MPI_COMM_WORLD);
        else if (!strcmp(mode, "probed") && rank == 0)
            give_up_send(1, MPI_COMM_WORLD);
        else if (!strcmp(mode, "probed")) {
            MPI_Message message;
            MPI_Mprobe(0, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        } else if (!strcmp(mode, "synchronous")) {
            MPI_Request request;
            MPI_Issend(out, len, MPI_BYTE, 1 - rank, 3, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        } else if (!strcmp(mode, "buffered") && rank == 0) {
            int bytes = len + MPI_BSEND_OVERHEAD;
            MPI_Comm_attach_buffer(MPI_COMM_WORLD, malloc(bytes), bytes);
            MPI_Bsend(out, len, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
        } else if (!strcmp(mode, "buffered"))
            receive(0, MPI_COMM_WORLD);
        else
            spawn(argv);
        MPI_Finalize();
    }
    /* What was under way to a receive is there, whoever has given it up. */
    if (!strcmp(mode, "session") || !strcmp(mode, "both"))
        for (int n = 0; n < 5; n++)
            CHECK(in[(size_t)n * len] == 7 && in[(size_t)(n + 1) * len - 1] == 7);
    return 0;
}
