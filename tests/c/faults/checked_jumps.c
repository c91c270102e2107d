// Checked mode is quiet about a program whose error handler jumps out of calls: what they had completed is complete.
// Where ranks tell each other what they have done with a window, one that has jumped out of a fence does so as well.
// cc: -g -O0 -pthread
// run: -n 2 --check -- one ; says right ; never says check: \w+ \[(thread|leak|written|overlap|freed)\]
// run: -n 2 --check -- many ; says right ; never says check: \w+ \[(thread|leak|written|overlap|freed)\]
// run: -n 2 --check -- nested ; says right ; never says check: \w+ \[(thread|leak|written|overlap|freed)\]
// run: -n 2 --check --set LINK=tcp -- fence ; says right ; says rank 0 has jumped ; never says check:
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

static void jump_from_window(MPI_Win *of, int *code, ...)
{
    EQUAL(class_of(*code), MPI_ERR_RMA_RANGE);
    (void)of;
    longjmp(back, 1);
}

/* What rank 0 puts is not attached at rank 1, which it learns in the fence that succeeds elsewhere. */
static void fence(void)
{
    MPI_Win win;
    MPI_Errhandler handler;
    long memory[4] = {0}, more[8] = {0};
    MPI_Aint at, theirs;
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    MPI_Win_create_errhandler(jump_from_window, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &at);
    MPI_Sendrecv(&at, 1, MPI_AINT, !rank, 0, &theirs, 1, MPI_AINT, !rank, 0, comm, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    if (!setjmp(back)) {
        if (rank == 0)
            MPI_Put(more, 8, MPI_LONG, 1, theirs + 8, 8, MPI_LONG, win);
        MPI_Win_fence(0, win);
    } else {
        printf("rank %d has jumped\n", rank);
    }
    MPI_Barrier(comm);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
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
    } else if (!strcmp(argv[1], "fence")) {
        fence();
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
