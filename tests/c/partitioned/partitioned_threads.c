// Partitions that threads say are ready at the same time and ask for at the same time, on every way that a
// message may go: through memory of both ends, straight into the receiver's, by the kernel, as messages.
// cc: -pthread
// run: -n 2
// run: -n 2 --set SHM_SINGLE_COPY=never
// run: -n 2 -- funneled
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, TAG = 3 };

struct part {
    MPI_Request request;
    int first, step, partitions, bytes, round;
    unsigned char *at;
};

static unsigned char value(int round, long byte)
{
    return (unsigned char)(31 * round + byte % 251);
}

static void *send(void *arg)
{
    struct part *p = arg;
    for (int k = p->first; k < p->partitions; k += p->step) {
        for (long b = (long)k * p->bytes; b < (long)(k + 1) * p->bytes; b++)
            p->at[b] = value(p->round, b);
        MPI_Pready(k, p->request);
    }
    return NULL;
}

/* Every thread asks for all partitions, from a place of its own on. */
static void *receive(void *arg)
{
    struct part *p = arg;
    for (int i = 0; i < p->partitions; i++) {
        int k = (i + p->first * p->partitions / THREADS) % p->partitions, there = 0;
        while (!there)
            MPI_Parrived(p->request, k, &there);
        for (long b = (long)k * p->bytes; b < (long)(k + 1) * p->bytes; b++)
            if (p->at[b] != value(p->round, b)) {
                fprintf(stderr, "round %d, partition %d, byte %ld: %d\n", p->round, k, b, p->at[b]);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    }
    return NULL;
}

static void exchange(int many, int partitions, int bytes, int of_mpi, int rounds)
{
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    unsigned char *at;
    long all = (long)partitions * bytes;
    if (of_mpi)
        MPI_Alloc_mem(all + 1, MPI_INFO_NULL, &at);
    else
        at = malloc(all + 1);
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(at, partitions, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(at, partitions, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < rounds; round++) {
        if (rank)
            memset(at, 0xee, all);
        MPI_Start(&request);
        for (int i = 0; i < many; i++)
            parts[i] = (struct part){request, i, many, partitions, bytes, round, at};
        for (int i = 1; i < many; i++)
            pthread_create(&threads[i], NULL, rank ? receive : send, &parts[i]);
        /* The message may be waited for before its partitions are ready. */
        int waits_first = many > 1 && round % 2;
        if (!waits_first)
            (rank ? receive : send)(&parts[0]);
        else if (rank == 0)
            pthread_create(&threads[0], NULL, send, &parts[0]);
        if (rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 1; i < many; i++)
            pthread_join(threads[i], NULL);
        if (waits_first && rank == 0)
            pthread_join(threads[0], NULL);
        if (rank == 1) {
            MPI_Status status;
            int count;
            MPI_Wait(&request, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            EQUAL(count, all);
            receive(&parts[0]);
        }
    }
    /* The sender's may be gone before the receiver has looked. */
    MPI_Request_free(&request);
    if (of_mpi)
        MPI_Free_mem(at);
    else
        free(at);
}

/* A sender that is rounds ahead, and gone when the receiver comes. */
static void ahead(void)
{
    int number[2] = {0, 0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(number, 2, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        for (int round = 0; round < 5; round++) {
            MPI_Start(&request);
            number[0] = number[1] = round;
            MPI_Pready_range(0, 1, request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (round == 0)
                MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Precv_init(number, 2, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        for (int round = 0; round < 5; round++) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            EQUAL(number[0], round);
            EQUAL(number[1], round);
            if (round == 0) {
                MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
                /* Where the two ends share memory all other rounds are there by now. */
            }
        }
        MPI_Request_free(&request);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Each partition arrives although the next one will not be ready before the receiver has said so, and the sender
 * makes no call about the message meanwhile. */
static void one_by_one(int partitions, int bytes)
{
    char *at = calloc(partitions, bytes + 1);
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(at, partitions, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(at, partitions, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&request);
        for (int k = partitions - 1; k >= 0; k--) {
            if (rank == 0) {
                MPI_Pready(k, request);
                MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                for (int there = 0; !there;)
                    MPI_Parrived(request, k, &there);
                MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    free(at);
}

int main(int argc, char **argv)
{
    int given, asked = argc > 1 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, asked, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int many = asked == MPI_THREAD_MULTIPLE ? THREADS : 1;
    for (int of_mpi = 0; of_mpi < 2; of_mpi++) {
        exchange(many, 8, 1, of_mpi, 50);
        exchange(many, 100, 33, of_mpi, 20);
        exchange(many, 8, 8192, of_mpi, 20);
        exchange(many, 5, 100001, of_mpi, 6);
        exchange(many, 3, 3 << 20, of_mpi, 4);
        exchange(many, 3, 0, of_mpi, 3);
    }
    ahead();
    one_by_one(8, 1);
    one_by_one(70, 100);
    one_by_one(5, 100000);
    one_by_one(3, 3 << 20);
    MPI_Finalize();
    return 0;
}
