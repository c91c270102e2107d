// What was started arrives while no rank calls MPI: long messages and collectives. No function of the program runs
// beside it, signals reach its own threads alone, and copies that fork makes have no part in it.
// run: -n 2 --set PROGRESS=thread
// run: -n 4 --set PROGRESS=thread
// run: -n 2 --set PROGRESS=thread -- multiple
// run: -n 2 --set PROGRESS=thread --set LINK=tcp
// run: -n 2 --set PROGRESS=thread --set LINK=tcp -- multiple
// run: -n 2 --set PROGRESS=none -- none
// only: catena
#include "../check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#define LENGTH (1 << 20)

static pthread_t program;
static int calls_of_op;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    CHECK(pthread_equal(pthread_self(), program));
    calls_of_op++;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void noted(int signal)
{
    (void)signal;
    if (!pthread_equal(pthread_self(), program))
        abort();
}

/* Waits without MPI until all of `data` is `value`. */
static void await(volatile int *data, int count, int value)
{
    for (int i = 0; i < count; i++)
        while (data[i] != value)
            sched_yield();
}

static int *awaited;

/* A function of the program that waits for a message without MPI. */
static void wait_in(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
    await(awaited, LENGTH, -1);
}

static void set_all(int *data, int count, int value)
{
    for (int i = 0; i < count; i++)
        data[i] = value;
}

static MPI_T_pvar_session session;

static MPI_T_pvar_handle counter(const char *name)
{
    int index, count;
    MPI_T_pvar_handle handle;
    CHECK(!MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK(!MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK(!MPI_T_pvar_start(session, handle));
    return handle;
}

static unsigned long long value(MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    CHECK(!MPI_T_pvar_read(session, handle, &value));
    return value;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided, needs = strcmp(what, "multiple") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, needs, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    program = pthread_self();
    signal(SIGUSR1, noted);
    CHECK(!MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK(!MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle wakes = counter("beside_wakes"), useful = counter("beside_useful");

    int *out = malloc(LENGTH * sizeof *out), *in = malloc(LENGTH * sizeof *in);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request both[2], started;
    MPI_Op op;
    MPI_Op_create(add, 1, &op);

    if (!strcmp(what, "none")) {
        set_all(out, LENGTH, 1);
        MPI_Irecv(in, LENGTH, MPI_INT, from, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, LENGTH, MPI_INT, to, 0, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        EQUAL(value(wakes), 0);
        MPI_Finalize();
        return 0;
    }

    for (int round = 1; round <= 20; round++) {
        set_all(out, LENGTH, round);
        set_all(in, LENGTH, 0);
        MPI_Irecv(in, LENGTH, MPI_INT, from, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, LENGTH, MPI_INT, to, 0, MPI_COMM_WORLD, &both[1]);
        if (round == 5) {
            pid_t copy = fork();
            if (!copy)
                _exit(0);
            int status;
            CHECK(waitpid(copy, &status, 0) == copy && !status);
        }
        kill(getpid(), SIGUSR1);
        await(in, LENGTH, round);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);

        set_all(in, LENGTH, 0);
        MPI_Iallreduce(out, in, LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &started);
        await(in, LENGTH, round * size);
        MPI_Wait(&started, MPI_STATUS_IGNORE);

        set_all(in, LENGTH, rank ? 0 : round);
        MPI_Ibcast(in, LENGTH, MPI_INT, 0, MPI_COMM_WORLD, &started);
        await(in, LENGTH, round);
        MPI_Wait(&started, MPI_STATUS_IGNORE);

        MPI_Iallreduce(out, in, 1000, MPI_INT, op, MPI_COMM_WORLD, &started);
        MPI_Wait(&started, MPI_STATUS_IGNORE);
        for (int i = 0; i < 1000; i++)
            EQUAL(in[i], round * size);
    }
    MPI_Op_free(&op);

    /* Messages go on while the program is in a function of its own that the library has called. */
    MPI_Op_create(wait_in, 1, &op);
    set_all(out, LENGTH, -1);
    set_all(in, LENGTH, 0);
    awaited = in;
    MPI_Irecv(in, LENGTH, MPI_INT, from, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, LENGTH, MPI_INT, to, 0, MPI_COMM_WORLD, &both[1]);
    MPI_Reduce_local(&rank, &provided, 1, MPI_INT, op);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Op_free(&op);
    CHECK(size == 1 || calls_of_op > 0);
    CHECK(value(useful) > 0);

    /* One that nobody completes: nobody is woken for it, and the end waits for nothing. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(in, LENGTH, MPI_INT, from, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Cancel(&both[0]);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
