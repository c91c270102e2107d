// Every collective in its six forms: blocking, non-blocking and persistent, each also with large
// counts; against answers worked out by hand, short and long, with gaps where there are vectors.
// run: -n 1
// run: -n 2
// run: -n 3
// run: -n 4
// run: -n 4 --set COLL_DIRECT=100 --set COLL_WEIGH=0
// run: -n 8
#include "../check.h"

enum { RANKS = 8, MOST = 9000, ROOM = RANKS * (MOST + RANKS) };

static int in[ROOM], out[ROOM], want[ROOM];
static int n, root;

/* Counts and places of blocks of `n + k` elements in either width, and those in bytes. */
static int ci[RANKS], di[RANKS], bi[RANKS];
static MPI_Count cc[RANKS];
static MPI_Aint dc[RANKS], bc[RANKS];
static MPI_Datatype types[RANKS];

/* What rank `r` has at place `i`: no two ranks and neighbours have the same. */
static int value(int r, int i) { return 7919 * r + 3 * i + 1; }

static void same(const char *what, int form)
{
    for (int i = 0; i < ROOM; i++)
        if (out[i] != want[i]) {
            fprintf(stderr, "%s, form %d, n = %d, root %d: rank %d has %d at %d, not %d\n", what, form, n,
                    root, rank, out[i], i, want[i]);
            CHECK(out[i] == want[i]);
        }
}

static void clear(int bcast)
{
    for (int i = 0; i < ROOM; i++)
        out[i] = bcast && rank == root && i < n ? value(root, i) : -1;
}

static void twice(MPI_Request *request, int bcast)
{
    for (int i = 0; i < 2; i++) {
        clear(bcast);
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(request);
}

/* ARGS takes counts and places of the width that the form wants. */
#define FORMS(Name, name, ARGS)                                                              \
    for (int form = 0; form < 6; form++) {                                                   \
        MPI_Request r = MPI_REQUEST_NULL;                                                    \
        int bcast = #Name[0] == 'B';                                                         \
        clear(bcast);                                                                        \
        if (form == 0)                                                                       \
            MPI_##Name(ARGS(ci, di, bi), MPI_COMM_WORLD);                                    \
        else if (form == 1)                                                                  \
            MPI_##Name##_c(ARGS(cc, dc, bc), MPI_COMM_WORLD);                                \
        else if (form == 2)                                                                  \
            MPI_I##name(ARGS(ci, di, bi), MPI_COMM_WORLD, &r);                               \
        else if (form == 3)                                                                  \
            MPI_I##name##_c(ARGS(cc, dc, bc), MPI_COMM_WORLD, &r);                           \
        else if (form == 4)                                                                  \
            MPI_##Name##_init(ARGS(ci, di, bi), MPI_COMM_WORLD, MPI_INFO_NULL, &r);          \
        else                                                                                 \
            MPI_##Name##_init_c(ARGS(cc, dc, bc), MPI_COMM_WORLD, MPI_INFO_NULL, &r);        \
        if (form < 4)                                                                        \
            MPI_Wait(&r, MPI_STATUS_IGNORE);                                                 \
        else                                                                                 \
            twice(&r, bcast);                                                                \
        same(#Name, form);                                                                   \
    }

/* The answer is `e` at each `i` below `count`, for the ranks that have one. */
#define WANT(has, count, e)                                                                  \
    for (int i = 0; i < ROOM; i++)                                                           \
        want[i] = (has) && i < (count) ? (e) : -1;

/* Likewise in blocks of block(k) elements at di[k]. */
#define WANT_BLOCKS(has, block, e)                                                           \
    memset(want, -1, sizeof want);                                                           \
    for (int k = 0; (has) && k < size; k++)                                                  \
        for (int i = 0; i < (block); i++)                                                    \
            want[di[k] + i] = (e);

static int sum_at(int i, int ranks)
{
    int sum = 0;
    for (int r = 0; r < ranks; r++)
        sum += value(r, i);
    return sum;
}

#define BCAST(c, d, b) out, n, MPI_INT, root
#define REDUCE(c, d, b) in, out, n, MPI_INT, MPI_SUM, root
#define ALLREDUCE(c, d, b) in, out, n, MPI_INT, MPI_SUM
#define BLOCK(c, d, b) in, out, n, MPI_INT, MPI_SUM
#define SCATTERED(c, d, b) in, out, c, MPI_INT, MPI_SUM
#define GATHER(c, d, b) in, n, MPI_INT, out, n, MPI_INT, root
#define ALLGATHER(c, d, b) in, n, MPI_INT, out, n, MPI_INT
#define GATHERV(c, d, b) in, c[rank], MPI_INT, out, c, d, MPI_INT, root
#define SCATTERV(c, d, b) in, c, d, MPI_INT, out, c[rank], MPI_INT, root
#define ALLGATHERV(c, d, b) in, c[rank], MPI_INT, out, c, d, MPI_INT
#define ALLTOALLV(c, d, b) in, c, d, MPI_INT, out, same_##c, d, MPI_INT
#define ALLTOALLW(c, d, b) in, c, b, types, out, same_##c, b, types

static void reductions(void)
{
    WANT(1, n, value(root, i));
    FORMS(Bcast, bcast, BCAST);
    WANT(rank == root, n, sum_at(i, size));
    FORMS(Reduce, reduce, REDUCE);
    WANT(1, n, sum_at(i, size));
    FORMS(Allreduce, allreduce, ALLREDUCE);
    WANT(1, n, sum_at(i, rank + 1));
    FORMS(Scan, scan, ALLREDUCE);
    WANT(rank > 0, n, sum_at(i, rank));
    FORMS(Exscan, exscan, ALLREDUCE);
    WANT(1, n, sum_at(rank * n + i, size));
    FORMS(Reduce_scatter_block, reduce_scatter_block, BLOCK);
    int before = 0;
    for (int k = 0; k < rank; k++)
        before += ci[k];
    WANT(1, ci[rank], sum_at(before + i, size));
    FORMS(Reduce_scatter, reduce_scatter, SCATTERED);
}

static void moves(void)
{
    WANT(rank == root, n * size, value(i / n, i % n));
    FORMS(Gather, gather, GATHER);
    WANT(1, n, value(root, rank * n + i));
    FORMS(Scatter, scatter, GATHER);
    WANT(1, n * size, value(i / n, i % n));
    FORMS(Allgather, allgather, ALLGATHER);
    WANT(1, n * size, value(i / n, rank * n + i % n));
    FORMS(Alltoall, alltoall, ALLGATHER);
}

static void vectors(void)
{
    int same_ci[RANKS];
    MPI_Count same_cc[RANKS];
    WANT_BLOCKS(rank == root, ci[k], value(k, i));
    FORMS(Gatherv, gatherv, GATHERV);
    WANT(1, ci[rank], value(root, di[rank] + i));
    FORMS(Scatterv, scatterv, SCATTERV);
    WANT_BLOCKS(1, ci[k], value(k, i));
    FORMS(Allgatherv, allgatherv, ALLGATHERV);
    /* From each rank come as many as this one has in its own place there. */
    for (int k = 0; k < size; k++)
        same_cc[k] = same_ci[k] = ci[rank];
    WANT_BLOCKS(1, ci[rank], value(k, di[rank] + i));
    FORMS(Alltoallv, alltoallv, ALLTOALLV);
    FORMS(Alltoallw, alltoallw, ALLTOALLW);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 3, 200, MOST};
    start(&argc, &argv);
    for (int i = 0; i < ROOM; i++)
        in[i] = value(rank, i);
    for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        n = lengths[l];
        for (int k = 0, at = 0; k < size; k++, at += n + 3) {
            types[k] = MPI_INT;
            cc[k] = ci[k] = n + k % 3;
            dc[k] = di[k] = at;
            bc[k] = bi[k] = at * (int)sizeof(int);
        }
        root = l % size;
        reductions();
        moves();
        vectors();
    }
    return finish();
}
