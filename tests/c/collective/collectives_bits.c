// A reduction gives the same bits each time that it is called on a communicator, whichever way its
// blocks go: the test forces them now this way, now that, between the calls of each series.
// only: catena
// run: -n 2
// run: -n 3
// run: -n 4
// run: -n 5
// run: -n 4 --set COLL_DIRECT=4096 --set COLL_WEIGH=0
// time: 120
#include "../check.h"

#define CALLS 400
#define SHORT_CALLS 24
#define MOST (256 << 10)
#define BYTES(n) ((n) * sizeof(double))

static double *in, *out, *first;
static MPI_T_cvar_handle weigh;

/* Whether two copies through shared memory are weighed against one by the kernel; all ranks know
   it when the allreduce is over. */
static void force(int yes)
{
    double some[16] = {0}, all[16];
    EQUAL(MPI_T_cvar_write(weigh, &yes), MPI_SUCCESS);
    MPI_Allreduce(some, all, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* What rank `r` contributes at place `i`: magnitudes are so far apart that each order and each
   grouping rounds otherwise. */
static double operand(int r, int i)
{
    static const double magnitude[] = {1, 1e16, -1e16, 3, -1e8, 1e8, 7e-9};
    return magnitude[(r * 3 + i) % 7] * (1 + (i * 31 + r * 17) % 101 / 97.0);
}

/* The result that the standard recommends: from rank 0 upwards. */
static double upwards(int ranks, int i)
{
    volatile double sum = operand(0, i);
    for (int r = 1; r < ranks; r++) {
        volatile double x = operand(r, i);
        sum += x;
    }
    return sum;
}

enum { REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN, EXSCAN, KINDS };

/* One call with `n` elements, of the form that blocks or of the other one. Tells how many elements of the
   result this rank has in `out`, and from which one on. */
static int call(int kind, int n, int root, int in_place, int blocks, int *from)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int block = n / size;
    int mine = kind != REDUCE || rank == root;
    void *send = in;
    *from = 0;
    memset(out, 0x5A, BYTES(n));
    if (in_place && mine) {
        memcpy(out, in, BYTES(n));
        send = MPI_IN_PLACE;
    }
    switch (kind) {
    case REDUCE:
        if (blocks)
            MPI_Reduce(send, mine ? out : NULL, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
        else
            MPI_Ireduce(send, mine ? out : NULL, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD,
                        &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return rank == root ? n : 0;
    case ALLREDUCE:
        if (blocks)
            MPI_Allreduce(send, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Iallreduce(send, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return n;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter_block(send, out, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        *from = rank * block;
        return block;
    case SCAN:
        MPI_Scan(send, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return n;
    default:
        MPI_Exscan(send, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return rank ? n : 0;
    }
}

/* A series of calls that are alike but for their form, and where operands lie. */
static void series(int kind, int n, int root, int calls)
{
    int from, got = 0;
    for (int i = 0; i < calls; i++) {
        if (i % 5 == 0)
            force(i / 5 % 2);
        got = call(kind, n, root, i % 3 == 2, i % 7 < 5, &from);
        if (i == 0)
            memcpy(first, out, BYTES(got));
        EQUAL(memcmp(out, first, BYTES(got)), 0);
    }
    /* By messages the grouping is that of the algorithm (decision 12). */
    const char *link = getenv("CATENA_LINK");
    if (link && strncmp(link, "shm", 3) != 0)
        return;
    int ranks = kind == SCAN ? rank + 1 : kind == EXSCAN ? rank : size;
    for (int i = 0; i < got; i++) {
        double want = upwards(ranks, from + i);
        EQUAL(memcmp(&first[i], &want, sizeof want), 0);
    }
}

int main(int argc, char **argv)
{
    int index, level, count;
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &level), MPI_SUCCESS);
    start(&argc, &argv);
    EQUAL(MPI_T_cvar_get_index("CATENA_COLL_WEIGH", &index), MPI_SUCCESS);
    EQUAL(MPI_T_cvar_handle_alloc(index, NULL, &weigh, &count), MPI_SUCCESS);
    in = malloc(MOST), out = malloc(MOST), first = malloc(MOST);
    for (int i = 0; i < (int)(MOST / sizeof *in); i++)
        in[i] = operand(rank, i);
    static const int bytes[] = {8, 48, 2040, 64 << 10, 160 << 10};
    for (int root = 0; root < size; root++) {
        series(REDUCE, MOST / sizeof *in, root, CALLS);
        for (int k = 0; k < 5; k++)
            series(REDUCE, bytes[k] / sizeof *in, root, SHORT_CALLS);
    }
    for (int kind = ALLREDUCE; kind < KINDS; kind++) {
        series(kind, MOST / sizeof *in, 0, SHORT_CALLS);
        for (int k = 0; k < 5; k++)
            series(kind, bytes[k] / sizeof *in, 0, SHORT_CALLS);
    }
    EQUAL(MPI_T_cvar_handle_free(&weigh), MPI_SUCCESS);
    MPI_T_finalize();
    return finish();
}
