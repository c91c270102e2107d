// Checked mode is quiet about a program whose error handler jumps out of calls: what they had completed is complete.
// cc: -g -O0 -pthread
// run: -n 2 --check -- one ; says right ; never says check: \w+ \[(thread|leak|written|overlap|freed)\]
// run: -n 2 --check -- many ; says right ; never says check: \w+ \[(thread|leak|written|overlap|freed)\]
// run: -n 2 --check -- nested ; says right ; never says check: \w+ \[(thread|leak|written|overlap|freed)\]
#include "../check.h"
#include <pthread.h>
#include <setjmp.h>

static __thread jmp_buf back;
static MPI_Comm comm;

static void jump(MPI_Comm *of, int *code, ...)
{
    (void)of, (void)code;
    longjmp(back, 1);
}

/* The next calls are made by a function that is called where that was left. */
static void receive_deeper(int *numbers)
{
    MPI_Request request;
    MPI_Irecv(numbers + 4, 2, MPI_INT, !rank, 1, comm, &request);
    MPI_Send(numbers, 2, MPI_INT, !rank, 1, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The message is longer than the receive, which is complete, with an error. */
static void truncate_one(int *numbers)
{
    MPI_Request requests[2];
    MPI_Isend(numbers, 4, MPI_INT, !rank, 0, comm, requests);
    MPI_Irecv(numbers + 4, 2, MPI_INT, !rank, 0, comm, requests + 1);
    if (!setjmp(back)) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(!"the handler returned");
    }
    memset(numbers, 0, 8 * sizeof *numbers);
    receive_deeper(numbers);
}

/* Calls that are refused at once: a collective one, and one that only asks. */
static void refuse(void)
{
    int number = 0, size;
    if (!setjmp(back))
        MPI_Bcast(&number, -1, MPI_INT, 0, comm);
    if (!setjmp(back))
        MPI_Cart_rank(comm, &number, &size);
    MPI_Barrier(comm);
}

static void *call(void *unused)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return unused;
}

/* The function is called in a call, and calls MPI itself, which fails. */
static int copy(MPI_Comm of, int key, void *state, void *in, void *out, int *flag)
{
    int number = 0;
    (void)of, (void)key, (void)state, (void)in, (void)out;
    if (!setjmp(back))
        MPI_Send(&number, 1, MPI_INT, rank, -7, comm);
    *flag = 0;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    int level = !strcmp(argv[1], "many") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    if (!strcmp(argv[1], "nested")) {
        MPI_Comm other;
        int key;
        MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
        MPI_Comm_set_attr(comm, key, &key);
        MPI_Comm_dup(comm, &other);
        MPI_Comm_free(&other);
        MPI_Comm_free_keyval(&key);
    } else {
        pthread_t thread;
        int *numbers = calloc(8, sizeof *numbers);
        truncate_one(numbers);
        truncate_one(numbers);
        refuse();
        MPI_Barrier(comm);
        free(numbers);
        pthread_create(&thread, NULL, call, NULL);
        pthread_join(thread, NULL);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    if (rank == 0)
        puts("right");
    return 0;
}
