// Checked mode is quiet about correct programs that do what is seldom done.
// cc: -g -O0 -pthread
// run: -n 2 --check -- handles ; says right ; never says catena: check
// run: -n 2 --check --set LINK=tcp -- handles ; says right ; never says catena: check
// run: -n 2 --check -- given_up ; says right ; never says catena: check
// run: -n 2 --check -- heap ; says right ; never says catena: check
// run: -n 2 --check -- apart ; says right ; never says catena: check
// run: -n 2 --check -- forked ; says right ; never says catena: check
// run: -n 2 --check --set LINK=tcp -- failed ; says right ; never says check: \w+ \[(leak|written|overlap|conflict|epoch)\]
// run: -n 2 --check -- any_thread ; says right ; never says catena: check
// run: -n 2 --check -- session ; fails ; says MPI_Session_init: another thread ; never says catena: check
// run: -n 2 --check -- late ; says right ; never says catena: check
// run: -n 2 --check -- never ; says warning \[leak\]: rank \d: MPI_Info_create .*: an info object that was made here ; says MPI_Comm_create_errhandler .*: an error handler that was ; lines 5 (catena: check|  what to do|right).*
//
// variant: checked_handles_fail
// What is wrong is found all the same, with handles that were copied.
// run: -n 2 --check -- copied_and_written ; says error \[written\]: rank \d: MPI_Wait \(checked_right.c:\d+\): the buffer buf of MPI_Isend ; says began in: MPI_Isend \(checked_right.c:\d+\) ; never says (?s)\[written\].*\[written\]
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD
enum { N = 6 };
static int rank, size, next, last;

/* Short sends are complete when they return. */
static void send_all(int *numbers, MPI_Request *requests)
{
    int got;
    for (int i = 0; i < N; i++) {
        numbers[i] = i;
        MPI_Isend(&numbers[i], 1, MPI_INT, next, i, WORLD, &requests[i]);
    }
    for (int i = 0; i < N; i++)
        MPI_Recv(&got, 1, MPI_INT, last, i, WORLD, MPI_STATUS_IGNORE);
}

static void finish(MPI_Request request)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Handles are copied, and waited for in other orders. */
static void handles(void)
{
    int numbers[N], of[N], flag, index;
    MPI_Request requests[N], copies[N];
    MPI_Status status;
    send_all(numbers, requests);
    for (int i = N - 1; i >= 0; i--) {
        finish(requests[i]);
        numbers[i] = 77;
    }
    send_all(numbers, requests);
    memcpy(copies, requests, sizeof copies);
    memset(requests, 0xff, sizeof requests);
    for (int i = N - 1; i >= 0; i--) {
        MPI_Wait(&copies[i], &status);
        MPI_Test_cancelled(&status, &flag);
        if (flag)
            printf("it is cancelled\n");
        numbers[i] = 78;
    }
    /* The last one fills the gap of each that is complete. */
    send_all(numbers, requests);
    for (int i = 0; i < N; i++)
        of[i] = i;
    for (int left = N; left > 0; left--) {
        MPI_Waitany(left, requests, &index, MPI_STATUS_IGNORE);
        numbers[of[index]] = 99;
        requests[index] = requests[left - 1];
        of[index] = of[left - 1];
    }
    send_all(numbers, requests);
    for (int i = 0; i < N; i++)
        copies[N - 1 - i] = requests[i];
    do
        MPI_Request_get_status(copies[2], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    numbers[N - 1 - 2] = 5;
    MPI_Request_free(&copies[3]);
    MPI_Cancel(&copies[4]);
    MPI_Testall(2, &copies[4], &flag, MPI_STATUSES_IGNORE);
    numbers[0] = numbers[1] = 6;
    MPI_Waitall(3, copies, MPI_STATUSES_IGNORE);
    /* What goes nowhere says so, whatever handle it has. */
    for (int i = 0; i < N; i++)
        MPI_Irecv(&numbers[i], 1, MPI_INT, MPI_PROC_NULL, i, WORLD, &requests[i]);
    for (int i = N - 1; i >= 0; i--) {
        MPI_Wait(&requests[i], &status);
        if (status.MPI_SOURCE != MPI_PROC_NULL)
            printf("the source is %d\n", status.MPI_SOURCE);
    }
}

static void copied_and_written(void)
{
    int numbers[N];
    MPI_Request requests[N];
    send_all(numbers, requests);
    for (int i = N - 1; i >= 0; i--) {
        if (i == 3)
            numbers[i] = 77;
        finish(requests[i]);
        numbers[i] = 77;
    }
}

/* A receive that was cancelled is given up. */
static void given_up(void)
{
    int number;
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, last, 50, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Barrier(WORLD);
}

/* Pointers that are older than the block, and a header in front of what is sent. */
static void heap(void)
{
    struct { double *numbers; } holder;
    float *stale = malloc(400);
    stale[0] = 1;
    free(stale);
    holder.numbers = calloc(50, sizeof(double));
    MPI_Bcast(holder.numbers, 50, MPI_DOUBLE, 0, WORLD);
    free(holder.numbers);
    double *long_and_stale = malloc(300000);
    long_and_stale[0] = 1;
    free(long_and_stale);
    holder.numbers = calloc(300000, 1);
    MPI_Bcast((char *)holder.numbers, 75000, MPI_INT, 0, WORLD);
    free(holder.numbers);
    int *header = calloc(1, 8 + 80);
    MPI_Bcast((double *)(header + 2), 10, MPI_DOUBLE, 0, WORLD);
    free(header);
}

/* Blocks of malloc that are gathered into at once, as displacements lead from one to the other. */
static void apart(void)
{
    char *blocks[2] = {calloc(1, 24), calloc(1, 24)};
    int counts[2] = {3, 3}, displs[2] = {0, (int)(blocks[1] - blocks[0])};
    MPI_Gatherv("me", 3, MPI_CHAR, blocks[0], counts, displs, MPI_CHAR, 0, WORLD);
    if (rank == 0 && (strcmp(blocks[0], "me") || strcmp(blocks[1], "me")))
        puts("not gathered");
    free(blocks[0]);
    free(blocks[1]);
}

/* A process that was forked frees its copy of a buffer in use. */
static void forked(void)
{
    int *buffer = calloc(100, sizeof *buffer), *others = calloc(100, sizeof *others), status;
    MPI_Request request;
    MPI_Irecv(buffer, 100, MPI_INT, last, 0, WORLD, &request);
    pid_t child = fork();
    if (child == 0) {
        free(buffer);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        printf("the child has failed\n");
    MPI_Send(others, 100, MPI_INT, next, 0, WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(buffer);
    free(others);
}

static void must_fail(int code, int expected)
{
    int class;
    MPI_Error_class(code, &class);
    if (class != expected)
        printf("the class of the error is %d\n", class);
}

/* What has failed is over all the same: a matched message is gone, and so is an epoch of which an access was wrong. */
static void failed(void)
{
    long value = 1, many[4] = {0}, few[2];
    MPI_Message message;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Send(many, 4, MPI_LONG, 0, 1, MPI_COMM_SELF);
    MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    must_fail(MPI_Mrecv(few, 2, MPI_LONG, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);

    /* Nothing is attached. */
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++) {
        value = i;
        MPI_Put(&value, 1, MPI_LONG, next, 4096, 1, MPI_LONG, win);
        must_fail(MPI_Win_fence(i == 2 ? MPI_MODE_NOSUCCEED : 0, win), MPI_ERR_RMA_RANGE);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
        for (int j = 0; j < 3; j++) {
            value = i + j;
            MPI_Put(&value, 1, MPI_LONG, next, 4096, 1, MPI_LONG, win);
            must_fail(j < 2 ? MPI_Win_flush(next, win) : MPI_Win_unlock(next, win), MPI_ERR_RMA_RANGE);
        }
    }
    MPI_Win_free(&win);
}

/* What any thread may call at any level. */
static void *any_thread(void *nothing)
{
    MPI_Info info, copy;
    int class, length, flag, version, level, size_of = 8;
    char text[MPI_MAX_ERROR_STRING], value[8];
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_dup(info, &copy);
    MPI_Info_get_string(copy, "key", &size_of, value, &flag);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    MPI_Initialized(&flag);
    MPI_Get_version(&version, &flag);
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&flag);
    MPI_Add_error_class(&class);
    MPI_Error_string(class, text, &length);
    return nothing;
}

/* Any thread may make a session, though the library refuses it where it could not serve both. */
static void *session(void *nothing)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
    return nothing;
}

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided;
    MPI_Init_thread(&argc, &argv, strcmp(what, "any_thread") ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    int outlives = !strcmp(what, "late") || !strcmp(what, "never");
    pthread_t thread;
    if (!strcmp(what, "handles"))
        handles();
    else if (!strcmp(what, "copied_and_written"))
        copied_and_written();
    else if (!strcmp(what, "given_up"))
        given_up();
    else if (!strcmp(what, "heap"))
        heap();
    else if (!strcmp(what, "apart"))
        apart();
    else if (!strcmp(what, "failed"))
        failed();
    else if (!strcmp(what, "forked"))
        forked();
    else if (outlives)
        ;
    else if (!pthread_create(&thread, NULL, strcmp(what, "session") ? any_thread : session, NULL))
        pthread_join(thread, NULL);
    MPI_Info info;
    MPI_Errhandler handler;
    if (outlives) {
        MPI_Info_create(&info);
        MPI_Comm_create_errhandler(ignore, &handler);
    }
    MPI_Barrier(WORLD);
    if (rank == 0)
        puts("right");
    MPI_Finalize();
    /* These may be given back later than MPI ends. */
    if (!strcmp(what, "late")) {
        MPI_Info_free(&info);
        MPI_Errhandler_free(&handler);
    }
    return 0;
}
