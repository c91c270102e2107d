// A process that ends, as it is free to do, is none that has died: whoever looks for messages of any source goes on. A
// process that waits for that one alone learns that it is gone.
// only: catena
// waits: for the end of a process, while others look for messages
// hosts: 2
// time: 30
// run: -n 1 -- worker; says fine
// run: -n 1 --set LINK=tcp -- worker; says fine
// run: -n 1 --set LINK=tcp -- worker disconnect; says fine
// run: -n 1 --set LINK=tcp -- worker silent; says fine
// run: -n 1 --set LINK=tcp -- worker late; says fine
// run: -n 1 --set LINK=ofi:tcp -- worker; says fine
// run: -n 1 --host h0:1,h1:1 --launcher-agent scripts/hosts -- worker; says fine
// run: -n 1 --host h0:1,h1:1 --launcher-agent scripts/hosts -- worker silent; says fine
// run: -n 1 --set LINK=tcp -- named; exit 1; says is gone
// run: -n 2 --set LINK=tcp -- sent silent; says fine
// run: -n 2 --set LINK=ofi:tcp -- sent silent; says fine
// run: -n 1 --set LINK=tcp -- killed; fails; says killed by signal 9; never says fine
// run: -n 3 --set LINK=tcp -- session; says fine
// run: -n 3 --set LINK=tcp -- session again; says fine
// run: -n 3 --set LINK=tcp -- session killed; fails; says killed by signal 9; never says fine
//
// variant: ends_well_ucx
// only: catena
// waits: for the end of a process, while others look for messages
// time: 30
// needs: libucp.so.0
// run: -n 1 --set LINK=ucx:tcp -- worker; says fine
// run: -n 1 --set LINK=ucx:tcp -- worker disconnect; says fine
// run: -n 1 --set LINK=ucx:tcp -- worker late; says fine
// run: -n 3 --set LINK=ucx:tcp -- session; says fine
// run: -n 3 --set LINK=ucx:tcp -- session again; says fine
#include "../check.h"
#include <signal.h>

/* A closed connection counts for half a second, and whom one waits for is asked once a second. */
enum { WHILE = 2 };

/* How many there are of those that end while others send to them. */
enum { WORKERS = 6 };

static const char *how, *more = "";

/* Waits in all ways for what anybody may send. */
static void look_on(MPI_Comm comm)
{
    int in, flag;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &request);
    double end = MPI_Wtime() + WHILE;
    while (MPI_Wtime() < end) {
        MPI_Iprobe(MPI_ANY_SOURCE, 6, comm, &flag, MPI_STATUS_IGNORE);
        EQUAL(flag, 0);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        EQUAL(flag, 0);
    }
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void work(MPI_Comm parent)
{
    int in = 7;
    if (strcmp(more, "silent"))
        MPI_Send(&in, 1, MPI_INT, 0, 3, parent);
    if (!strcmp(how, "killed"))
        raise(SIGKILL);
    if (!strcmp(more, "disconnect"))
        MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    exit(0);
}

static void master(const char *program)
{
    MPI_Comm inter;
    MPI_Info info;
    int in = 0;
    char *arguments[] = {(char *)how, (char *)more, NULL};
    MPI_Info_create(&info);
    if (getenv("CATENA_TEST_HOST"))
        MPI_Info_set(info, "host", getenv("CATENA_TEST_HOST"));
    int workers = strcmp(how, "sent") ? 1 : WORKERS;
    MPI_Comm_spawn(program, arguments, workers, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Info_free(&info);
    if (!strcmp(more, "late")) {
        /* All that it sent, its end and that of the connection are found at once. */
        double end = MPI_Wtime() + 1;
        while (MPI_Wtime() < end)
            ;
    }
    if (strcmp(more, "silent"))
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, MPI_STATUS_IGNORE);
    if (!strcmp(more, "disconnect")) {
        /* The worker is in the call, or beyond it: this one has not come to it. */
        look_on(inter);
        MPI_Comm_disconnect(&inter);
        look_on(MPI_COMM_WORLD);
    } else if (!strcmp(how, "named")) {
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        int error = MPI_Recv(&in, 1, MPI_INT, 0, 4, inter, MPI_STATUS_IGNORE), length;
        char text[MPI_MAX_ERROR_STRING];
        EQUAL(class_of(error), MPI_ERR_PROC_ABORTED);
        MPI_Error_string(error, text, &length);
        puts(text);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    } else if (!strcmp(how, "sent")) {
        /* Nothing has ever come from it, and what is sent to it does not leave. */
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        MPI_Request requests[WORKERS];
        for (int to = 0; to < WORKERS; to++)
            EQUAL(MPI_Issend(&in, 1, MPI_INT, to, 4, inter, &requests[to]), MPI_SUCCESS);
        for (int to = 0; to < WORKERS; to++)
            EQUAL(class_of(MPI_Wait(&requests[to], MPI_STATUS_IGNORE)), MPI_ERR_PROC_ABORTED);
    } else {
        look_on(inter);
    }
    puts("fine");
    MPI_Finalize();
}

/* The last rank ends its session, and then its process, while the others go on. */
static int sessions(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int in = 1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(in, size);
    if (rank == size - 1) {
        if (!strcmp(more, "killed"))
            raise(SIGKILL);
        for (int turn = 0; turn < 5 && !strcmp(more, "again"); turn++) {
            MPI_Session other;
            MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &other);
            MPI_Session_finalize(&other);
        }
        MPI_Comm_free(&comm);
    } else {
        look_on(comm);
        /* The free of all is of those that are left: the others did theirs. */
        MPI_Comm_free(&comm);
    }
    MPI_Session_finalize(&session);
    if (rank == 0)
        puts("fine");
    return 0;
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "worker";
    more = argc > 2 ? argv[2] : "";
    if (!strcmp(how, "session"))
        return sessions();
    MPI_Init(&argc, &argv);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        work(parent);
    master(argv[0]);
    return 0;
}
