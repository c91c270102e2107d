// Long messages by each way that they can go, in all forms, from programs for which different ways are the
// quickest. What arrives does not depend on the way, nor on when it changes.
// run: -n 2
// only: catena
// run: -n 2 --set SHM_SINGLE_COPY=never
// run: -n 2 --set SHM_SINGLE_COPY=always
// run: -n 2 --set SHM_COPY=plain
// run: -n 2 --set SHM_COPY=stream --set SHM_SINGLE_COPY=never
// run: -n 2 --set SHM_COPY=take --set SHM_EAGER_MAX=4K
// run: -n 2 --set SHM_PACKET=2K --set SHM_DATA=16K
#include "../check.h"

enum { MOST = 1 << 20, WINDOW = 4, SIZES = 6, MANY = 40 };

static const int sizes[SIZES] = { 8192, 32768, 65536 + 8, 200000, 1 << 19, MOST };
static unsigned char *out, *in;

static unsigned char *at(unsigned char *memory, int k)
{
    return memory + (size_t)k * MOST;
}

/* One that computes: the other one waits for it. */
static void compute(void)
{
    static volatile double sink;
    for (int i = 1; i < 20000; i++)
        sink += 1.0 / i;
}

/* One message back and forth. */
static void back_and_forth(int n, int seed)
{
    for (int turn = 0; turn < 2; turn++)
        if (rank == turn) {
            fill(out, n, seed + turn);
            MPI_Send(out, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(in, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(wrong_at(in, n, seed + turn), n);
        }
}

/* Several both ways at once, received in another order, from a sender that computes meanwhile if that
 * is told. */
static void both_ways(int n, int seed, int computes)
{
    MPI_Request requests[2 * WINDOW];
    for (int k = 0; k < WINDOW; k++)
        MPI_Irecv(at(in, k), n, MPI_BYTE, 1 - rank, WINDOW - k, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < WINDOW; k++) {
        fill(at(out, k), n, seed + 10 * rank + k);
        MPI_Isend(at(out, k), n, MPI_BYTE, 1 - rank, k + 1, MPI_COMM_WORLD, &requests[WINDOW + k]);
        if (computes)
            compute();
    }
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < WINDOW; k++)
        EQUAL(wrong_at(at(in, k), n, seed + 10 * (1 - rank) + WINDOW - k - 1), n);
}

/* Every other run of eight bytes, by a request that stays. */
static void with_gaps(int n, int seed, int rounds)
{
    MPI_Datatype gaps;
    MPI_Request request;
    int blocks = n / 16;
    MPI_Type_vector(blocks, 8, 16, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    if (rank == 0)
        MPI_Send_init(out, 1, gaps, 1, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(in, 1, gaps, 0, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < rounds; i++) {
        if (rank == 0)
            fill(out, n, seed + i);
        else
            memset(in, 0, n);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int k = 0; rank == 1 && k < 16 * blocks; k++)
            EQUAL(in[k], k % 16 < 8 ? byte_at(seed + i, k) : 0);
    }
    MPI_Request_free(&request);
    MPI_Type_free(&gaps);
}

/* In parts, the last one first. */
static void in_parts(int n, int seed)
{
    enum { PARTS = 8 };
    MPI_Request request;
    n = n / PARTS * PARTS;
    if (rank == 0) {
        MPI_Psend_init(out, PARTS, n / PARTS, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        fill(out, n, seed);
    } else {
        MPI_Precv_init(in, PARTS, n / PARTS, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    }
    MPI_Start(&request);
    for (int k = PARTS; rank == 0 && k-- > 0;)
        MPI_Pready(k, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        EQUAL(wrong_at(in, n, seed), n);
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    out = malloc((size_t)MOST * WINDOW);
    in = malloc((size_t)MOST * WINDOW);
    CHECK(out && in);
    for (int s = 0; s < SIZES && rank < 2; s++) {
        int n = sizes[s];
        /* The shorter the more of them, so that each way is tried and left. */
        for (int i = 0; i < MANY / (s + 1); i++)
            back_and_forth(n, 7 * i);
        for (int i = 0; i < MANY / (s + 1) / WINDOW + 1; i++)
            both_ways(n, 100 + 7 * i, i % 2);
        with_gaps(n, 200, 6);
        in_parts(n, 300);
    }
    free(out);
    free(in);
    return finish();
}
