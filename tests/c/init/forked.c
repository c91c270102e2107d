// A copy of a rank that fork makes is no rank: what it does at its end, and what it calls of MPI, reaches nobody, and does not
// wait for anybody. Beside it the rank goes on.
//
// only: catena
// cc: -pthread
// run: -n 3 -- finalize
// run: -n 3 -- exit
// run: -n 3 -initial-errhandler mpi_errors_return -- calls
// run: -n 3 -- session
// run: -n 2 -- fatal; says this process is a copy that fork has made of rank [01]
// run: -n 2 -- abort
// run: -n 2 -- threads
// run: -n 2 --set FAULT_TOLERANCE=true -- finalize
// run: --set LINK=tcp -n 2 -- finalize
// run: --set LINK=ofi:tcp -n 2 -- finalize
// run: --set LINK=ucx:tcp -n 2 -- finalize
#include <pthread.h>
#include <sys/wait.h>

#include "../check.h"

static const char *mode;
static pid_t original;
static volatile int stop;

static int is(const char *name) { return strcmp(mode, name) == 0; }

/* As mpi4py does at the end of the interpreter, and as destructors of C++ do. */
static void at_the_end(void)
{
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (getpid() != original && initialized != 1)
        _exit(10);
    if (getpid() != original && !is("session") && finalized != 1)
        _exit(11);
    if (initialized && (!finalized || (is("finalize") && getpid() != original)) && MPI_Finalize() != MPI_SUCCESS)
        _exit(12);
}

/* What the child does before it exits; the rank expects the status. */
static int in_child(MPI_Win win, MPI_Session session)
{
    int flag = 0, value = 0, n = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info info;
    MPI_Request request;
    if (is("calls")) {
        if (MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD) == MPI_SUCCESS) return 1;
        if (MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS) return 2;
        if (MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS) return 3;
        if (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS) return 4;
        if (MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS) return 5;
        if (MPI_Win_free(&win) == MPI_SUCCESS) return 6;
        if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS) return 7;
        /* What is of this process alone works. */
        if (MPI_Info_create(&info) || MPI_Info_set(info, "a", "b") || MPI_Info_get_nkeys(info, &n) || n != 1) return 8;
        if (MPI_Info_free(&info)) return 9;
    } else if (is("session")) {
        if (MPI_Session_finalize(&session) != MPI_SUCCESS || session != MPI_SESSION_NULL) return 1;
        if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS) return 2;
    } else if (is("fatal")) {
        MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
        return 99;
    } else if (is("abort")) {
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    return 0;
}

/* Is inside MPI most of the time. */
static void *calls(void *unused)
{
    int flag;
    while (!stop) MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return unused;
}

static void ring(MPI_Comm comm, int *buffer, int *sent, int n)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Irecv(buffer, n, MPI_INT, last, 5, comm, &requests[0]);
    MPI_Isend(sent, n, MPI_INT, next, 5, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) EQUAL(buffer[i], last * 3 + i);
}

int main(int argc, char **argv)
{
    enum { N = 100000 };
    static int data[2 * N];
    int provided, status, forks = 1, code = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Win win = MPI_WIN_NULL;
    pthread_t thread;
    mode = argv[1];
    original = getpid();
    if (is("session")) {
        MPI_Group group;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "forked", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Group_free(&group);
    } else {
        MPI_Init_thread(&argc, &argv, is("threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
        atexit(at_the_end);
        MPI_Win_create(data, sizeof data, sizeof(int), MPI_INFO_NULL, comm, &win);
        if (is("calls")) MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (is("threads")) {
        forks = 30;
        CHECK(pthread_create(&thread, NULL, calls, NULL) == 0);
    }
    for (int i = 0; i < N; i++) data[N + i] = rank * 3 + i;
    /* Something is under way while the copy is made. */
    MPI_Request early;
    int from_last = -1, next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Irecv(&from_last, 1, MPI_INT, last, 6, comm, &early);
    for (int i = 0; i < forks; i++) {
        fflush(NULL);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            code = in_child(win, session);
            exit(code);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        code = WEXITSTATUS(status);
        if (is("fatal"))
            CHECK(code != 0 && code != 99);
        else
            EQUAL(code, is("abort") ? 7 : 0);
    }
    MPI_Send(&rank, 1, MPI_INT, next, 6, comm);
    MPI_Wait(&early, MPI_STATUS_IGNORE);
    EQUAL(from_last, last);
    ring(comm, data, data + N, 10);
    ring(comm, data, data + N, N);
    if (is("threads")) {
        stop = 1;
        CHECK(pthread_join(thread, NULL) == 0);
    }
    if (is("session")) {
        MPI_Comm_disconnect(&comm);
        MPI_Session_finalize(&session);
        return 0;
    }
    MPI_Win_free(&win);
    /* The end is in the handler. */
    return 0;
}
