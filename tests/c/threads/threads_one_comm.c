// Two threads are in collectives on one communicator at once, which no program may do, or in MPI while a third one ends it: the
// library says so or goes on, and never breaks.
// only: catena
// run: -n 2 -- 0 ; never says panicked
// run: -n 2 -- 1 ; never says panicked
// run: -n 3 -- 2 ; never says panicked
// run: -n 2 -- 3 ; never says panicked
// run: --set LINK=tcp -n 2 -- 0 ; never says panicked
// run: -n 1 -- 4 ; fails ; never says panicked ; says MPI_Finalize was called already|from MPI_Init to MPI_Finalize
// run: -n 2 -- 4 ; fails ; never says panicked ; says MPI_Finalize was called already|from MPI_Init to MPI_Finalize
// run: --set LINK=tcp -n 2 -- 4 ; fails ; never says panicked ; says MPI_Finalize was called already|from MPI_Init to MPI_Finalize
// cc: -pthread
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

enum { ROUNDS = 3000, LAST = 4 };

static int mode;
static sem_t begun;

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Both threads make the same calls, so whichever two meet, the result is one. */
static void *calls(void *op)
{
    for (int i = 0; i < ROUNDS; i++) {
        int one = 1, ones = size;
        MPI_Request request;
        if (mode == 0)
            MPI_Allreduce(&one, &ones, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else if (mode == 1)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (mode == 2)
            MPI_Allreduce(&one, &ones, 1, MPI_INT, *(MPI_Op *)op, MPI_COMM_WORLD);
        else {
            MPI_Iallreduce(&one, &ones, 1, MPI_INT, *(MPI_Op *)op, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        EQUAL(ones, size);
    }
    return NULL;
}

static void *asks(void *none)
{
    int n;
    sem_post(&begun);
    for (;;)
        MPI_Comm_size(MPI_COMM_WORLD, &n);
    return none;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Op op;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mode = atoi(argv[1]);
    if (mode == LAST) {
        sem_init(&begun, 0, 0);
        pthread_create(&thread, NULL, asks, NULL);
        sem_wait(&begun);
        MPI_Finalize();
        pthread_join(thread, NULL);
        return 0;
    }
    MPI_Op_create(sum, 1, &op);
    pthread_create(&thread, NULL, calls, &op);
    calls(&op);
    pthread_join(thread, NULL);
    MPI_Op_free(&op);
    return finish();
}
