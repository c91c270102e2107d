// One side of a collective in one run of bytes, the other with gaps: members with different types
// take part in the same operation.
// run: -n 2
// run: -n 3
// run: -n 4
// time: 20
#include "../check.h"

enum { N = 5 };

static long value(int r, int i) { return 100L * r + i; }

/* Values with an index: 12 bytes of data every 16. */
static void indexed(int n)
{
    struct pair { double value; int index; } *in = calloc(n, sizeof *in);
    struct pair *out = calloc(n, sizeof *out), *local = calloc(n, sizeof *local);
    for (int i = 0; i < n; i++) {
        in[i].value = (rank * 7 + i * 3) % size;
        in[i].index = 10 * rank + i;
        local[i].value = i % 2 ? 1e9 : -1e9;
        local[i].index = -i;
    }
    MPI_Allreduce(in, out, n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        double best = -1;
        int at = -1;
        for (int r = 0; r < size; r++)
            if ((r * 7 + i * 3) % size > best) {
                best = (r * 7 + i * 3) % size;
                at = 10 * r + i;
            }
        CHECK(out[i].value == best);
        EQUAL(out[i].index, at);
    }
    MPI_Reduce_local(in, local, n, MPI_DOUBLE_INT, MPI_MAXLOC);
    for (int i = 0; i < n; i++) {
        EQUAL(local[i].index, i % 2 ? -i : in[i].index);
        CHECK(local[i].value == (i % 2 ? 1e9 : in[i].value));
    }
    free(in);
    free(out);
    free(local);
}

/* The very first collective of a communicator, with gaps at the root only. */
static void first(MPI_Datatype spread)
{
    long plain[N], *wide = calloc(2 * N * size, sizeof *wide);
    int *ones = malloc(size * sizeof *ones), *places = malloc(size * sizeof *places);
    for (int r = 0; r < size; r++) {
        ones[r] = 1, places[r] = r;
        for (int i = 0; i < N; i++)
            wide[2 * (r * N + i)] = value(r, i);
    }
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    MPI_Scatterv(wide, ones, places, spread, plain, N, MPI_LONG, 0, fresh);
    for (int i = 0; i < N; i++)
        EQUAL(plain[i], value(rank, i));
    MPI_Comm_free(&fresh);

    memset(wide, 0, 2 * N * size * sizeof *wide);
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    MPI_Gatherv(plain, N, MPI_LONG, wide, ones, places, spread, 0, fresh);
    for (int r = 0; r < size && rank == 0; r++)
        for (int i = 0; i < N; i++)
            EQUAL(wide[2 * (r * N + i)], value(r, i));
    MPI_Comm_free(&fresh);
    free(wide), free(ones), free(places);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype spread; /* N numbers, every second place */
    MPI_Type_vector(N, 1, 2, MPI_LONG, &spread);
    MPI_Type_create_resized(spread, 0, 2 * N * sizeof(long), &spread);
    MPI_Type_commit(&spread);
    long *wide = malloc(2 * N * size * sizeof *wide), plain[N], *all = malloc(N * size * sizeof *all);

    for (int root = 0; root < size; root++) {
        /* Before and after, so that a member that went another way is noticed. */
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) {
            wide[2 * i] = rank == root ? value(root, i) : -1;
            wide[2 * i + 1] = -7;
            plain[i] = -1;
        }
        if (rank == root)
            MPI_Bcast(wide, 1, spread, root, MPI_COMM_WORLD);
        else
            MPI_Bcast(plain, N, MPI_LONG, root, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) {
            EQUAL(rank == root ? wide[2 * i] : plain[i], value(root, i));
            EQUAL(wide[2 * i + 1], -7);
        }

        for (int i = 0; i < N; i++)
            plain[i] = value(rank, i);
        for (int i = 0; i < 2 * N * size; i++)
            wide[i] = -7;
        MPI_Gather(plain, N, MPI_LONG, wide, 1, spread, root, MPI_COMM_WORLD);
        for (int r = 0; r < size && rank == root; r++)
            for (int i = 0; i < N; i++) {
                EQUAL(wide[2 * (r * N + i)], value(r, i));
                EQUAL(wide[2 * (r * N + i) + 1], -7);
            }

        for (int r = 0; r < size; r++)
            for (int i = 0; i < N; i++)
                wide[2 * (r * N + i)] = value(r + 9, i);
        MPI_Scatter(wide, 1, spread, plain, N, MPI_LONG, root, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++)
            EQUAL(plain[i], value(rank + 9, i));

        /* The root receives with gaps by MPI_Allgather, the others without. */
        for (int i = 0; i < 2 * N * size; i++)
            wide[i] = -7;
        if (rank == root)
            MPI_Allgather(plain, N, MPI_LONG, wide, 1, spread, MPI_COMM_WORLD);
        else
            MPI_Allgather(plain, N, MPI_LONG, all, N, MPI_LONG, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < N; i++)
                EQUAL(rank == root ? wide[2 * (r * N + i)] : all[r * N + i], value(r + 9, i));

        if (rank == root)
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, wide, 1, spread, MPI_COMM_WORLD);
        else
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, N, MPI_LONG, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < N; i++)
                EQUAL(rank == root ? wide[2 * (r * N + i)] : all[r * N + i],
                      value(rank + 9, i));
    }

    indexed(3);
    indexed(3000);
    first(spread);

    /* The root of MPI_Bcast only reads. */
    static const long fixed[2 * N] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0};
    if (rank == 0)
        MPI_Bcast((void *)fixed, 1, spread, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(plain, N, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Request r;
    if (rank == 0)
        MPI_Ibcast((void *)fixed, 1, spread, 0, MPI_COMM_WORLD, &r);
    else
        MPI_Ibcast(plain, N, MPI_LONG, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EQUAL(rank ? plain[N - 1] : N, N);

    /* Rank 0 of MPI_Exscan has no receive buffer. */
    long mine = rank + 1, below = -1;
    MPI_Exscan(&mine, rank ? &below : NULL, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(below, rank ? (long)rank * (rank + 1) / 2 : -1);

    /* Predefined operations take predefined types only. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Reduce_local(plain, wide, 1, spread, MPI_SUM)), MPI_ERR_OP);

    MPI_Type_free(&spread);
    free(wide);
    free(all);
    return finish();
}
