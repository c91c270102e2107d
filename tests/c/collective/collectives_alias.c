// Collectives refuse a send buffer that is also where this rank receives, and name the remedy; blocks
// of one buffer that do not overlap, and types with addresses of their own, are no such case.
// only: catena
// run: -n 1
// run: -n 3
#include "../check.h"

enum { N = 4, MOST = 16 };

static int data[4 * MOST * N], counts[MOST], displs[MOST], offsets[MOST];
static MPI_Datatype types[MOST];

static void refused(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    CHECK(class_of(code) == MPI_ERR_BUFFER);
    MPI_Error_string(code, text, &n);
    CHECK(strstr(text, "MPI_IN_PLACE"));
}

/* What the members of a communicator that see their own block twice are told. */
static void blocks_of(MPI_Comm comm)
{
    int me, members;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &members);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < members; i++) {
        counts[i] = N, displs[i] = i * N, offsets[i] = i * N * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    int *mine = data + displs[me];
    refused(MPI_Allgather(data, N, MPI_INT, data, N, MPI_INT, comm));
    refused(MPI_Allgatherv(mine, N, MPI_INT, data, counts, displs, MPI_INT, comm));
    refused(MPI_Alltoall(data, N, MPI_INT, data, N, MPI_INT, comm));
    refused(MPI_Alltoallv(data, counts, displs, MPI_INT, data, counts, displs, MPI_INT, comm));
    refused(MPI_Alltoallw(data, counts, offsets, types, data, counts, offsets, types, comm));
    MPI_Request request;
    refused(MPI_Iallgatherv(mine, N, MPI_INT, data, counts, displs, MPI_INT, comm, &request));
    refused(MPI_Ialltoallv(data, counts, displs, MPI_INT, data, counts, displs, MPI_INT, comm, &request));

    // One buffer, and no byte of it twice.
    int *there = data + members * N;
    for (int i = 0; i < N; i++)
        mine[i] = 100 * me + i;
    CHECK(MPI_Allgatherv(mine, N, MPI_INT, there, counts, displs, MPI_INT, comm) == MPI_SUCCESS);
    for (int i = 0; i < members * N; i++)
        CHECK(there[i] == 100 * (i / N) + i % N);
    int behind[MOST];
    for (int i = 0; i < members; i++)
        behind[i] = (members + i) * N;
    for (int i = 0; i < members * N; i++)
        data[i] = 1000 * me + i;
    CHECK(MPI_Alltoallv(data, counts, displs, MPI_INT, data, counts, behind, MPI_INT, comm) == MPI_SUCCESS);
    for (int i = 0; i < members * N; i++)
        CHECK(there[i] == 1000 * (i / N) + me * N + i % N);

    // Empty blocks may lie anywhere.
    memset(counts, 0, sizeof counts);
    CHECK(MPI_Allgatherv(data, 0, MPI_INT, data, counts, displs, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(MPI_Alltoallv(data, counts, displs, MPI_INT, data, counts, displs, MPI_INT, comm) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm own, all;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    blocks_of(own);
    blocks_of(all);

    // Of those with a root only the root has two buffers.
    int n = N, from = 0;
    refused(MPI_Gather(data, N, MPI_INT, data, N, MPI_INT, 0, own));
    refused(MPI_Gatherv(data, N, MPI_INT, data, &n, &from, MPI_INT, 0, own));
    refused(MPI_Scatter(data, N, MPI_INT, data, N, MPI_INT, 0, own));
    refused(MPI_Scatterv(data, &n, &from, MPI_INT, data, N, MPI_INT, 0, own));
    from = 1;
    refused(MPI_Gatherv(data + 1, N, MPI_INT, data, &n, &from, MPI_INT, 0, own));
    refused(MPI_Scatterv(data, &n, &from, MPI_INT, data + 1, N, MPI_INT, 0, own));

    // Both at MPI_BOTTOM, with addresses in the types.
    MPI_Datatype here, there;
    MPI_Aint address;
    MPI_Get_address(data, &address);
    MPI_Type_create_hindexed(1, &n, &address, MPI_INT, &here);
    MPI_Get_address(data + N, &address);
    MPI_Type_create_hindexed(1, &n, &address, MPI_INT, &there);
    MPI_Type_commit(&here);
    MPI_Type_commit(&there);
    for (int i = 0; i < N; i++)
        data[i] = i + 7, data[N + i] = 0;
    CHECK(MPI_Gather(MPI_BOTTOM, 1, here, MPI_BOTTOM, 1, there, 0, own) == MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        CHECK(data[N + i] == i + 7);
    MPI_Type_free(&here);
    MPI_Type_free(&there);
    MPI_Comm_free(&own);
    MPI_Comm_free(&all);
    return finish();
}
