// Collectives in which members have nothing for each other: nothing is written, arguments are still checked,
// those with something beside them come right, and a sum of nothing waits for nobody.
// run: -n 2
// run: -n 3
// run: -n 5
// run: -n 2 --set COLL_NODE=0
// run: -n 4 --set COLL_NODE=0
// run: -n 4 --set COLL_NODE=0 -- before
#include "../check.h"

enum { MOST = 8, ROUNDS = 200, LONGEST = 30000 };

static int in[MOST * MOST], out[MOST * MOST], none[MOST], counts[MOST], displs[MOST];

static void untouched(void)
{
    for (int i = 0; i < MOST * MOST; i++)
        EQUAL(in[i], -1);
}

/* All forms of nothing. */
static void nothing(MPI_Datatype type, int count, MPI_Comm comm)
{
    MPI_Bcast(in, count, type, size - 1, comm);
    MPI_Gather(out, count, type, in, count, type, 0, comm);
    MPI_Scatter(out, count, type, in, count, type, 0, comm);
    MPI_Allgather(out, count, type, in, count, type, comm);
    MPI_Alltoall(out, count, type, in, count, type, comm);
    MPI_Allgatherv(out, count, type, in, none, displs, type, comm);
    MPI_Alltoallv(out, none, displs, type, in, none, displs, type, comm);
    MPI_Alltoallv(MPI_IN_PLACE, none, displs, type, in, none, displs, type, comm);
    MPI_Gatherv(out, count, type, in, none, displs, type, 0, comm);
    MPI_Scatterv(out, none, displs, type, in, count, type, 0, comm);
    untouched();
}

static void no_reductions(MPI_Comm comm)
{
    MPI_Allreduce(out, in, 0, MPI_INT, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, in, 0, MPI_INT, MPI_SUM, comm);
    MPI_Reduce(out, in, 0, MPI_INT, MPI_SUM, 0, comm);
    MPI_Scan(out, in, 0, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(out, in, 0, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter(out, in, none, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(out, in, 0, MPI_INT, MPI_SUM, comm);
    untouched();
}

/* Each member has something for itself alone, in runs with gaps if that is told. */
static void own(MPI_Datatype type, int width, MPI_Comm comm)
{
    for (int r = 0; r < size; r++) {
        counts[r] = r == rank;
        displs[r] = 0;
    }
    MPI_Alltoallv(out, counts, displs, type, in, counts, displs, type, comm);
    for (int i = 0; i < MOST * MOST; i++) {
        EQUAL(in[i], i == 0 || i == width ? out[i] : -1);
        in[i] = -1;
    }
}

/* Whether members that have nothing for others have to be through before those begin: by messages they are. */
static int before;

/* Two members have something for each other, and the others nothing, or for themselves alone: no call is taken for
 * another one. */
static void some(int round, MPI_Comm comm)
{
    int a = round % size, b = (a + 1 + round % (size - 1)) % size, token = 0;
    int other = rank == a ? b : a, waits = rank == a || rank == b;
    for (int r = 0; r < size; r++) {
        counts[r] = (waits && r == other) || (round % 3 == 0 && r == rank);
        displs[r] = r;
    }
    if (before && waits)
        for (int r = 0; r < size; r++)
            if (r != a && r != b)
                MPI_Recv(&token, 1, MPI_INT, r, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm);
    for (int r = 0; r < size; r++) {
        EQUAL(in[r], counts[r] ? 100 * r + rank : -1);
        in[r] = -1;
    }
    if (before && !waits) {
        MPI_Send(&token, 1, MPI_INT, a, round, MPI_COMM_WORLD);
        MPI_Send(&token, 1, MPI_INT, b, round, MPI_COMM_WORLD);
    }
}

/* With a call of another kind in between, whose number is its own. */
static void some_of_all(MPI_Comm comm)
{
    int all;
    for (int round = 0; round < ROUNDS; round++) {
        some(round, comm);
        if (round % 4 == 0) {
            MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, comm);
            EQUAL(all, size * (size - 1) / 2);
        }
    }
}

/* Blocks of all lengths between two members, while the others call again and again with nothing. */
static void some_long(MPI_Comm comm)
{
    static int from[MOST * LONGEST], to[MOST * LONGEST];
    const int lengths[] = {1, 20, 300, 4000, LONGEST};
    for (int round = 0; round < 10 * ROUNDS; round++) {
        int a = round / 7 % size, b = (a + 1) % size, other = rank == a ? b : a;
        int len = rank == a || rank == b ? lengths[round / 3 % 5] : 0;
        for (int r = 0; r < size; r++) {
            counts[r] = r == other ? len : 0;
            displs[r] = r * LONGEST;
        }
        from[other * LONGEST] = from[other * LONGEST + (len ? len - 1 : 0)] = round + rank;
        MPI_Alltoallv(from, counts, displs, MPI_INT, to, counts, displs, MPI_INT, comm);
        if (len) {
            EQUAL(to[other * LONGEST], round + other);
            EQUAL(to[other * LONGEST + len - 1], round + other);
        }
    }
    memset(counts, 0, sizeof counts);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    before = argc > 1;
    MPI_Datatype empty, pair;
    MPI_Comm comm;
    int all;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < MOST * MOST; i++) {
        in[i] = -1;
        out[i] = 100 * rank + i;
    }
    for (int i = 0; i < ROUNDS; i++) {
        nothing(MPI_INT, 0, comm);
        no_reductions(comm);
        nothing(empty, 3, comm);
        own(MPI_INT, 0, comm);
        own(pair, 3, comm);
        MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(all, size * (size - 1) / 2);
    }
    some_of_all(comm);
    some_long(comm);
    /* Nobody waits: one member is through before the other one begins. */
    int token = 0;
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
    MPI_Allreduce(out, in, 0, MPI_INT, MPI_SUM, comm);
    if (rank + 1 < size)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 0, comm);
    /* Arguments are looked at all the same. */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Bcast(in, 0, MPI_INT, size, comm)), MPI_ERR_ROOT);
    EQUAL(class_of(MPI_Allreduce(out, in, 0, MPI_INT, MPI_OP_NULL, comm)), MPI_ERR_OP);
    EQUAL(class_of(MPI_Bcast(in, -1, MPI_INT, 0, comm)), MPI_ERR_COUNT);
    MPI_Type_free(&empty);
    MPI_Type_free(&pair);
    MPI_Comm_free(&comm);
    return finish();
}
