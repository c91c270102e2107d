// Long messages from devices in requests of all kinds: cancelled, too long for their room, from anybody, probed and
// matched, persistent, partitioned, to oneself, and of several threads at once, one of which has no context. Where one
// rank may not open memory, or lets nobody open its own, the others do as they would. After the end nothing is open.
// only: catena
// preload: device_driver
// cc: -pthread
// time: 60
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda
// run: -n 5 -x CATENA_DEVICE_MEMORY=cuda
// run: -n 3 -x CATENA_DEVICE_MEMORY=cuda -x CATENA_LINK=tcp
// run: -n 3 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=pool
// run: -n 1 -x CATENA_DEVICE_MEMORY=cuda -x CATENA_DEVICE_IPC=no @ : -n 2 -x CATENA_DEVICE_MEMORY=cuda
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda @ : -n 1 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=open
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda @ : -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=ipc
#define _GNU_SOURCE
#include "device.h"

#include <pthread.h>

enum { LONG = 100000, TAG = 3, OTHER = 4, THREADS = 4 };

static int is_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int is;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &is);
    return is;
}

/* Ranks 0 and 1: before anybody has received it, and while one may: either it comes as a whole, or never. */
static void cancelled(void)
{
    int *out = ints(LONG, 10), *in = ints(LONG, -1), is, flag;
    MPI_Request request;
    for (int round = 0; round < 60; round++) {
        const int is_early = round < 20;
        put(in, LONG, -1);
        if (rank == 0) {
            MPI_Isend(out, LONG, MPI_INT, 1, OTHER, MPI_COMM_WORLD, &request);
            for (int k = 0; !is_early && k < 10 * round; k++)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            is = request != MPI_REQUEST_NULL && is_cancelled(&request);
            CHECK(is || !is_early);
            MPI_Send(&is, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        } else if (rank == 1) {
            if (!is_early)
                MPI_Irecv(in, LONG, MPI_INT, 0, OTHER, MPI_COMM_WORLD, &request);
            MPI_Recv(&is, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Iprobe(0, OTHER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            if (!is_early && is)
                CHECK(is_cancelled(&request));
            if (!is) {
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                expect(in, LONG, 10, 1);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    give(out);
    give(in);
}

/* Ranks 0 and 1: no byte comes beyond the room. */
static void truncated(void)
{
    const int rooms[] = {0, 1000, LONG - 1};
    int *out = ints(LONG, 10);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int k = 0; k < 6; k++) {
        const int room = rooms[k / 2];
        int *far = ints(LONG, -7), *near = calloc(LONG, sizeof(int));
        if (rank == 0)
            MPI_Send(out, LONG, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        if (rank == 1) {
            int *in = k % 2 ? far : near;
            EQUAL(class_of(MPI_Recv(in, room, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
            for (int i = 0; i < room && !(k % 2); i++)
                EQUAL(near[i], 10 + i);
            EQUAL(near[room], 0);
            if (k % 2)
                expect(far, room, 10, 1);
            EQUAL(at(far, room), room - 7);
        }
        free(near);
        give(far);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    give(out);
}

/* Rank 0 receives two messages of each other one, whose buffers are written again as soon as they have been sent. */
static void anybody(void)
{
    for (int round = 0; round < 10; round++) {
        const int n = 2 * (size - 1);
        MPI_Request *requests = malloc(sizeof *requests * (size_t)(n + 2));
        int **in = malloc(sizeof *in * (size_t)(n + 2)), which;
        if (rank) {
            for (int k = 0; k < 2; k++) {
                in[k] = ints(LONG, 100 * rank + k);
                MPI_Isend(in[k], LONG, MPI_INT, 0, TAG, MPI_COMM_WORLD, &requests[k]);
            }
            for (int k = 0; k < 2; k++) {
                MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
                put(in[which], LONG, -1);
                give(in[which]);
            }
        } else {
            for (int k = 0; k < n; k++) {
                in[k] = ints(LONG, -5);
                MPI_Irecv(in[k], LONG, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[k]);
            }
            for (int k = 0; k < n; k++) {
                MPI_Status status;
                MPI_Waitany(n, requests, &which, &status);
                const int first = at(in[which], 0);
                CHECK(first / 100 == status.MPI_SOURCE && first % 100 < 2);
                expect(in[which], LONG, first, 1);
                give(in[which]);
            }
        }
        free(requests);
        free(in);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Ranks 0 and 1. */
static void probed(void)
{
    for (int round = 0; round < 10; round++) {
        int *memory = ints(LONG, rank == 1 ? round : -1), count;
        if (rank == 1)
            MPI_Send(memory, LONG, MPI_INT, 0, TAG, MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Message message;
            MPI_Request request;
            MPI_Status status;
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            EQUAL(count, LONG);
            MPI_Imrecv(memory, count, MPI_INT, &message, &request);
            MPI_Wait(&request, &status);
            expect(memory, LONG, round, 1);
        }
        give(memory);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same memory has other data each time. */
static void repeated(void)
{
    int *out = ints(LONG, 0), *in = ints(LONG, -1), *host = calloc(LONG, sizeof(int));
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request all[4];
    MPI_Send_init(out, LONG, MPI_INT, to, TAG, MPI_COMM_WORLD, &all[0]);
    MPI_Ssend_init(out, LONG, MPI_INT, to, OTHER, MPI_COMM_WORLD, &all[1]);
    MPI_Recv_init(in, LONG, MPI_INT, from, TAG, MPI_COMM_WORLD, &all[2]);
    MPI_Recv_init(host, LONG, MPI_INT, from, OTHER, MPI_COMM_WORLD, &all[3]);
    for (int k = 0; k < 15; k++) {
        put(out, LONG, 100 * k + rank);
        MPI_Startall(4, all);
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        expect(in, LONG, 100 * k + from, 1);
        EQUAL(host[LONG - 1], 100 * k + from + LONG - 1);
    }
    for (int k = 0; k < 4; k++)
        MPI_Request_free(&all[k]);
    free(host);
    enum { PARTS = 4, PART = LONG / PARTS };
    MPI_Psend_init(out, PARTS, PART, MPI_INT, to, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &all[0]);
    MPI_Precv_init(in, 2 * PARTS, PART / 2, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &all[1]);
    for (int k = 0; k < 15; k++) {
        put(in, LONG, -1);
        MPI_Startall(2, all);
        for (int p = PARTS - 1; p >= 0; p--) {
            put(out + p * PART, PART, k + rank + p * PART);
            MPI_Pready(p, all[0]);
        }
        MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
        expect(in, LONG, k + from, 1);
    }
    MPI_Request_free(&all[0]);
    MPI_Request_free(&all[1]);
    give(out);
    give(in);
}

static void to_oneself(void)
{
    int *far[2] = {ints(LONG, 3), ints(LONG, -1)}, *near = calloc(LONG, sizeof(int));
    int *const steps[] = {far[0], far[1], near, far[1]};
    for (int k = 0; k + 1 < 4; k++) {
        if (k)
            put(far[0], LONG, -1);
        MPI_Sendrecv(steps[k], LONG, MPI_INT, 0, TAG, steps[k + 1], LONG, MPI_INT, 0, TAG, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        if (k == 1)
            put(far[1], LONG, -1);
    }
    EQUAL(near[LONG - 1], LONG + 2);
    expect(far[1], LONG, 3, 1);
    MPI_Request request;
    MPI_Isend(far[0], LONG, MPI_INT, 0, TAG, MPI_COMM_SELF, &request);
    CHECK(is_cancelled(&request));
    MPI_Sendrecv(far[0], 0, MPI_INT, 0, TAG, far[1], 0, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    free(near);
    give(far[0]);
    give(far[1]);
}

/* A thread and its peers; the first one has no context when it receives. */
static void *exchange(void *number)
{
    const int n = *(int *)number, to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int k = 0; k < 20; k++) {
        set_context(context);
        int *out = ints(LONG, 1000 * n + k + rank), *in = ints(LONG, -1);
        if (n == 0)
            set_context(NULL);
        MPI_Request request;
        MPI_Isend(out, LONG, MPI_INT, to, 10 + n, MPI_COMM_WORLD, &request);
        MPI_Recv(in, LONG, MPI_INT, from, 10 + n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        set_context(context);
        expect(in, LONG, 1000 * n + k + from, 1);
        give(out);
        give(in);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, counts[2], numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    open_device();
    cancelled();
    truncated();
    anybody();
    probed();
    repeated();
    to_oneself();
    for (int n = 0; n < THREADS; n++) {
        numbers[n] = n;
        pthread_create(&threads[n], NULL, exchange, &numbers[n]);
    }
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
    set_context(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    /* What only the stand-in tells. */
    void (*opened)(int *) = dlsym(RTLD_DEFAULT, "device_opened");
    if (opened) {
        opened(counts);
        EQUAL(counts[0], counts[1]);
    }
    return 0;
}
