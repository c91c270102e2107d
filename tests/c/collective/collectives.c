// All blocking collectives against answers worked out by hand, small and large, every root.
// run: -n 1
// run: -n 2
// run: -n 3
// run: -n 4
// run: -n 7
//
// variant: collectives_ways
// Each way that blocks can go: copied through shared memory, read out of the other rank's buffer, or as messages.
// only: catena
// run: -n 2 --set COLL_DIRECT=unlimited
// run: -n 4 --set COLL_DIRECT=unlimited
// run: -n 2 --set COLL_DIRECT=100 --set COLL_WEIGH=0
// run: -n 3 --set COLL_DIRECT=100 --set COLL_WEIGH=0
// run: -n 7 --set COLL_DIRECT=100 --set COLL_WEIGH=0
// run: -n 4 --set SHM_SINGLE_COPY=never
// run: -n 3 --set COLL_NODE=0
#include "../check.h"

static long *in, *out;

/* What rank `r` contributes at place `i`. */
static long value(int r, int i) { return 1000L * r + i % 997; }

static long sum_at(int i)
{
    long s = 0;
    for (int r = 0; r < size; r++)
        s += value(r, i);
    return s;
}

static void rooted(int n, int root)
{
    for (int i = 0; i < n; i++)
        out[i] = rank == root ? value(root, i) : -1;
    MPI_Bcast(out, n, MPI_LONG, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        EQUAL(out[i], value(root, i));

    for (int i = 0; i < n; i++)
        in[i] = value(rank, i);
    MPI_Reduce(in, out, n, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank == root)
        for (int i = 0; i < n; i++)
            EQUAL(out[i], sum_at(i));
    memcpy(out, in, n * sizeof *in);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : out, rank == root ? out : NULL, n, MPI_LONG, MPI_MAX,
               root, MPI_COMM_WORLD);
    if (rank == root)
        for (int i = 0; i < n; i++)
            EQUAL(out[i], value(size - 1, i));

    MPI_Gather(in, n, MPI_LONG, out, n, MPI_LONG, root, MPI_COMM_WORLD);
    if (rank == root)
        for (int r = 0; r < size; r++)
            for (int i = 0; i < n; i++)
                EQUAL(out[r * n + i], value(r, i));

    if (rank == root)
        for (int r = 0; r < size; r++)
            for (int i = 0; i < n; i++)
                out[r * n + i] = value(r + 3, i);
    MPI_Scatter(out, n, MPI_LONG, in, n, MPI_LONG, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        EQUAL(in[i], value(rank + 3, i));
}

static void varying(int n, int root)
{
    /* Rank r gives r % 3 + n elements, spread with gaps. */
    int counts[64], at[64], total = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r % 3 + n;
        at[r] = total;
        total += counts[r] + 1;
    }
    for (int i = 0; i < counts[rank]; i++)
        in[i] = value(rank, i);
    for (int i = 0; i < total; i++)
        out[i] = -7;
    MPI_Gatherv(in, counts[rank], MPI_LONG, out, counts, at, MPI_LONG, root, MPI_COMM_WORLD);
    if (rank == root)
        for (int r = 0; r < size; r++) {
            for (int i = 0; i < counts[r]; i++)
                EQUAL(out[at[r] + i], value(r, i));
            EQUAL(out[at[r] + counts[r]], -7);
        }
    MPI_Scatterv(out, counts, at, MPI_LONG, in, counts[rank], MPI_LONG, root, MPI_COMM_WORLD);
    for (int i = 0; i < counts[rank]; i++)
        EQUAL(in[i], value(rank, i));
    for (int i = 0; i < total; i++)
        out[i] = -7;
    MPI_Allgatherv(in, counts[rank], MPI_LONG, out, counts, at, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            EQUAL(out[at[r] + i], value(r, i));
        EQUAL(out[at[r] + counts[r]], -7);
    }
}

static void everyone(int n)
{
    for (int i = 0; i < n; i++)
        in[i] = value(rank, i);
    MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        EQUAL(out[i], sum_at(i));
    memcpy(out, in, n * sizeof *in);
    MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        EQUAL(out[i], value(0, i));

    MPI_Allgather(in, n, MPI_LONG, out, n, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            EQUAL(out[r * n + i], value(r, i));
    for (int i = 0; i < n * size; i++)
        if (i / (n ? n : 1) != rank)
            out[i] = -1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            EQUAL(out[r * n + i], value(r, i));

    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            in[r * n + i] = value(rank, i) * 10 + r;
    MPI_Alltoall(in, n, MPI_LONG, out, n, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            EQUAL(out[r * n + i], value(r, i) * 10 + rank);
    memcpy(out, in, n * size * sizeof *in);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            EQUAL(out[r * n + i], value(r, i) * 10 + rank);

    /* Scans and reduce-scatters. */
    for (int i = 0; i < n; i++)
        in[i] = value(rank, i);
    MPI_Scan(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        long s = 0;
        for (int r = 0; r <= rank; r++)
            s += value(r, i);
        EQUAL(out[i], s);
    }
    MPI_Exscan(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank)
        for (int i = 0; i < n; i++) {
            long s = 0;
            for (int r = 0; r < rank; r++)
                s += value(r, i);
            EQUAL(out[i], s);
        }
    for (int i = 0; i < n * size; i++)
        in[i] = value(rank, i);
    MPI_Reduce_scatter_block(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        EQUAL(out[i], sum_at(rank * n + i));
    int counts[64], before = 0, total = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = n + r % 2 - (n && r % 3 == 2);
        if (r < rank)
            before += counts[r];
        total += counts[r];
    }
    for (int i = 0; i < total; i++)
        in[i] = value(rank, i);
    MPI_Reduce_scatter(in, out, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < counts[rank]; i++)
        EQUAL(out[i], sum_at(before + i));
}

static void alltoall_varying(int n)
{
    int give[64], take[64], gat[64], tat[64], g = 0, t = 0;
    for (int r = 0; r < size; r++) {
        give[r] = n + (rank + r) % 3;
        take[r] = n + (r + rank) % 3;
        gat[r] = g;
        tat[r] = t;
        g += give[r];
        t += take[r] + 1;
    }
    for (int r = 0; r < size; r++)
        for (int i = 0; i < give[r]; i++)
            in[gat[r] + i] = value(rank, i) * 10 + r;
    MPI_Alltoallv(in, give, gat, MPI_LONG, out, take, tat, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < take[r]; i++)
            EQUAL(out[tat[r] + i], value(r, i) * 10 + rank);
}

static void operations(void)
{
    int i = rank + 1, r;
    long product = 1;
    for (int k = 1; k <= size; k++)
        product *= k;
    MPI_Allreduce(&i, &r, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    EQUAL(r, product);
    MPI_Allreduce(&rank, &r, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    EQUAL(r, 0);
    MPI_Allreduce(&rank, &r, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    EQUAL(r, size > 1);
    unsigned bit = 1u << rank, bits;
    MPI_Allreduce(&bit, &bits, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD);
    EQUAL(bits, (1u << size) - 1);
    MPI_Allreduce(&bit, &bits, 1, MPI_UNSIGNED, MPI_BXOR, MPI_COMM_WORLD);
    EQUAL(bits, (1u << size) - 1);
    double d = 0.5 * rank, most;
    MPI_Allreduce(&d, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CHECK(most == 0.5 * (size - 1));
    float f = 1.0f, all;
    MPI_Allreduce(&f, &all, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size);
    struct { double v; int at; } mine = {rank == size / 2 ? -3.0 : 1.0, rank}, least;
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(least.v == -3.0 && least.at == size / 2);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    enum { MOST = 40000 };
    in = malloc((MOST + 4) * size * sizeof *in);
    out = malloc((MOST + 4) * size * sizeof *out);
    static const int sizes[] = {0, 1, 2, 9, 128, 1025, 8192, MOST};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int root = 0; root < size; root++)
            rooted(sizes[s], root);
        varying(sizes[s], size - 1);
        everyone(sizes[s]);
        alltoall_varying(sizes[s]);
    }
    operations();
    free(in);
    free(out);
    return finish();
}
