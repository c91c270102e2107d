// Members of a collective that name other types than the others are told so, where the standard demands the same elements: of as
// many bytes nothing else would show it. Types that have the same elements, or only move bytes, are as good as ever.
// only: catena
// run: -n 2 -- alike
// run: -n 4 -- alike
// run: --set LINK=tcp -n 3 -- alike
// run: --set LINK=tcp --set COLL_NUMBER_BITS=4 -n 3 -- alike
// run: --set COLL_NODE_STARTED=0 -n 4 -- alike
// run: -n 2 -- reduce ; says each of 11 was told
// run: -n 4 -- reduce ; says each of 11 was told
// run: --set LINK=tcp -n 3 -- reduce ; says each of 11 was told
// run: --set LINK=shm -n 2 -- move ; says each of 13 was told
// run: --set LINK=shm -n 4 -- move ; says each of 13 was told
// run: -n 2 -- fatal ; fails ; says the arguments of MPI_Allreduce differ: rank [01] passed 4-byte (floating-point numbers, and rank [01] 4-byte integers|integers, and rank [01] 4-byte floating-point numbers). Types must agree
// run: -n 4 -- fatal ; fails ; says the arguments of MPI_Allreduce differ: rank 2 passed 4-byte floating-point numbers, and ranks 0, 1 and 3 4-byte integers
// run: --set LINK=tcp -n 4 -- fatal ; fails ; says the arguments of MPI_Allreduce differ: rank 2 passed 4-byte floating-point numbers, and ranks 0, 1 and 3 4-byte integers
#include "../check.h"

enum { N = 64 };

static MPI_Comm comm;
static int told, in[64 * N], out[64 * N], counts[64], places[64];
static MPI_Datatype types[64];
static MPI_Request request = MPI_REQUEST_NULL;

/* A call that must fail at one member at least, which says why; on a communicator of its own. */
static void must_fail(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, failed, any;
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    request = MPI_REQUEST_NULL;
    failed = code != MPI_SUCCESS;
    if (failed) {
        MPI_Error_string(code, text, &n);
        if (!strstr(text, "Types must agree"))
            fprintf(stderr, "rank %d: call %d: %s\n", rank, told, text);
        EQUAL(class_of(code), MPI_ERR_TYPE);
    }
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    told += any;
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static void reductions(MPI_Datatype mine)
{
    for (int n = 1; n <= N; n *= N) {
        must_fail(MPI_Allreduce(in, out, n, mine, MPI_SUM, comm));
        must_fail(MPI_Iallreduce(in, out, n, mine, MPI_SUM, comm, &request));
        must_fail(MPI_Reduce(in, out, n, mine, MPI_MAX, rank ? 0 : 0, comm));
        must_fail(MPI_Reduce_scatter_block(in, out, n, mine, MPI_SUM, comm));
        must_fail(MPI_Scan(in, out, n, mine, MPI_SUM, comm));
    }
    /* A pair of a value and an index is as a structure of both. */
    MPI_Datatype pair;
    MPI_Type_contiguous(1, MPI_FLOAT_INT, &pair);
    MPI_Type_commit(&pair);
    must_fail(MPI_Allreduce(in, out, 1, rank ? MPI_2INT : MPI_FLOAT_INT, MPI_MAXLOC, comm));
    MPI_Type_free(&pair);
}

static void moves(MPI_Datatype mine, MPI_Datatype other)
{
    MPI_Datatype mixed[2], both[2] = {MPI_INT, MPI_FLOAT};
    MPI_Comm ring;
    int last = size - 1;
    must_fail(MPI_Bcast(in, 1, mine, 0, comm));
    must_fail(MPI_Bcast(in, N, mine, last, comm));
    must_fail(MPI_Ibcast(in, N, mine, last, comm, &request));
    must_fail(MPI_Gather(in, 2, mine, out, 2, MPI_INT, 0, comm));
    must_fail(MPI_Scatter(in, 2, MPI_INT, out, 2, mine, 0, comm));
    must_fail(MPI_Allgather(in, 2, mine, out, 2, MPI_INT, comm));
    must_fail(MPI_Alltoall(in, 2, mine, out, 2, MPI_INT, comm));
    must_fail(MPI_Gatherv(in, 2, mine, out, counts, places, MPI_INT, 0, comm));
    must_fail(MPI_Scatterv(in, counts, places, MPI_INT, out, 2, mine, 0, comm));
    must_fail(MPI_Allgatherv(in, 2, mine, out, counts, places, MPI_INT, comm));
    must_fail(MPI_Alltoallv(in, counts, places, mine, out, counts, places, MPI_INT, comm));
    /* The order of elements counts. */
    for (int i = 0; i < 2; i++) {
        MPI_Aint at[2] = {0, 4};
        MPI_Datatype of[2] = {both[i], both[!i]};
        MPI_Type_create_struct(2, (int[]){1, 1}, at, of, &mixed[i]);
        MPI_Type_commit(&mixed[i]);
    }
    must_fail(MPI_Bcast(in, 4, mixed[mine == other], 0, comm));
    MPI_Cart_create(comm, 1, &size, (int[]){1}, 0, &ring);
    int code = MPI_Neighbor_alltoall(in, 2, mine, out, 2, MPI_INT, ring);
    must_fail(code);
    MPI_Comm_free(&ring);
    MPI_Type_free(&mixed[0]);
    MPI_Type_free(&mixed[1]);
}

/* What is built otherwise, or has another name. */
static void alike(void)
{
    MPI_Datatype four, pair, pairs;
    long sum[4], one[4] = {1, 2, 3, 4};
    struct { float value; int index; } best[4], own[4] = {{1, rank}, {2, rank}, {3, rank}, {4, rank}};
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_FLOAT, MPI_INT}, &pair);
    MPI_Type_contiguous(2, pair, &pairs);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&pairs);
    for (int turn = 0; turn < 2; turn++) {
        comm = MPI_COMM_WORLD;
        if (turn)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < 8; i++)
            in[i] = rank ? 0 : 10 + i;
        rank % 2 ? MPI_Bcast(in, 2, four, 0, comm) : MPI_Bcast(in, 8, MPI_INT, 0, comm);
        EQUAL(in[7], 17);
        in[0] = rank;
        rank % 2 ? MPI_Allgather(in, 1, four, out, 4, MPI_INT, comm) : MPI_Allgather(in, 4, MPI_INT, out, 1, four, comm);
        EQUAL(out[4 * (size - 1)], size - 1);
        rank % 2 ? MPI_Ibcast(own, 2, pairs, 0, comm, &request) : MPI_Ibcast(own, 4, pair, 0, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EQUAL(own[3].index, 0);
        own[3].index = rank;
        /* The same machine type by other names, also over networks. */
        MPI_Allreduce(one, sum, 4, rank % 2 ? MPI_LONG : MPI_INT64_T, MPI_SUM, comm);
        EQUAL(sum[3], 4 * size);
        MPI_Allreduce(own, best, 4, MPI_FLOAT_INT, MPI_MINLOC, comm);
        EQUAL(best[3].index, 0);
        /* Bytes are as good as anything, and so is nothing. */
        in[0] = rank ? 0 : 33;
        MPI_Bcast(in, rank % 2 ? 4 : 1, rank % 2 ? MPI_BYTE : MPI_INT, 0, comm);
        EQUAL(in[0], 33);
        MPI_Bcast(in, rank % 2 ? 4 : 1, rank % 2 ? MPI_CHAR : MPI_FLOAT, size - 1, comm);
        MPI_Gather(in, 4, MPI_BYTE, out, 1, MPI_FLOAT, 0, comm);
        MPI_Bcast(in, 0, rank % 2 ? MPI_DOUBLE : MPI_INT, 0, comm);
        MPI_Gather(in, 0, rank % 2 ? MPI_DOUBLE : MPI_INT, out, 0, MPI_FLOAT, 0, comm);
        MPI_Alltoall(in, 0, rank % 2 ? MPI_DOUBLE : MPI_INT, out, 0, MPI_FLOAT, comm);
        /* Who gives nothing may name anything; of an exchange only what meets counts. */
        for (int i = 0; i < size; i++)
            counts[i] = i == 1 ? 0 : 2;
        MPI_Gatherv(in, rank == 1 ? 0 : 2, rank == 1 ? MPI_DOUBLE : MPI_INT, out, counts, places, MPI_INT, 0, comm);
        MPI_Scatterv(in, counts, places, MPI_INT, out, rank == 1 ? 0 : 2, rank == 1 ? MPI_DOUBLE : MPI_INT, 0, comm);
        MPI_Allgatherv(in, rank == 1 ? 0 : 2, rank == 1 ? MPI_DOUBLE : MPI_INT, out, counts, places, MPI_INT, comm);
        int to[64] = {0}, from[64] = {0}, next = (rank + 1) % size, before = (rank + size - 1) % size;
        to[next] = from[before] = 1;
        /* Odd ranks send doubles, even ones two floats each; the last of an odd number is even, too. */
        MPI_Datatype mine = rank % 2 ? MPI_DOUBLE : MPI_FLOAT, theirs = before % 2 ? MPI_DOUBLE : MPI_FLOAT;
        MPI_Alltoallv(in, to, places, mine, out, from, places, theirs, comm);
        for (int i = 0; i < size; i++)
            types[i] = i % 2 ? MPI_DOUBLE : MPI_INT, counts[i] = 8 / (i % 2 ? 8 : 4) ;
        MPI_Datatype sent[64];
        int sends[64];
        for (int i = 0; i < size; i++)
            sent[i] = rank % 2 ? MPI_DOUBLE : MPI_INT, sends[i] = rank % 2 ? 1 : 2;
        MPI_Alltoallw(in, sends, places, sent, out, counts, places, types, comm);
        if (turn)
            MPI_Comm_free(&comm);
    }
    MPI_Type_free(&four);
    MPI_Type_free(&pair);
    MPI_Type_free(&pairs);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int odd = size > 2 ? rank == 2 : rank == 1;
    MPI_Datatype mine = odd ? MPI_FLOAT : MPI_INT;
    for (int i = 0; i < size; i++)
        counts[i] = 2, places[i] = 2 * i;
    if (!strcmp(argv[1], "alike")) {
        memset(places, 0, sizeof places);
        alike();
    } else if (!strcmp(argv[1], "fatal")) {
        MPI_Allreduce(in, out, 1, mine, MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        int all = !strcmp(argv[1], "reduce") ? 11 : 13;
        all == 11 ? reductions(mine) : moves(mine, MPI_FLOAT);
        EQUAL(told, all);
        if (rank == 0 && told == all)
            printf("each of %d was told\n", all);
        MPI_Comm_free(&comm);
    }
    return finish();
}
