// A collective fails at one member, which has no memory for it. The others have their results, or an error if they needed what
// that one has; and the communicator is as good as before: the next calls on it succeed everywhere.
//
// only: catena
// run: -n 2
// run: -n 3
// run: -n 3 --set LINK=tcp
#include "../check.h"
#include <malloc.h>
#include <sys/resource.h>

enum { BLOCK = 2 << 20, PAIRS = BLOCK / 16, OPS = 12, FORMS = 3, PIECE = 32 << 10, PIECES = BLOCK / PIECE };
enum { BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, IN_PLACE, ALLTOALLV, REDUCE, ALLREDUCE, SCATTERED, SCAN, NEIGHBORS };

static MPI_Datatype pair; /* 8 bytes of 16 */
static MPI_Op add;

/* What the process has, and a little more. */
static void limit(struct rlimit limit)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + (768 << 10);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void sum(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len * 16; i++)
        if (i % 16 < 8)
            ((unsigned char *)inout)[i] += ((unsigned char *)in)[i];
}

#define FORM(name, ...)                                                                             \
    (form == 0   ? MPI_##name(__VA_ARGS__, comm)                                                    \
     : form == 1 ? MPI_I##name(__VA_ARGS__, comm, request)                                          \
                 : MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request))
/* Names whose forms differ in more than a letter before them. */
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IScatter MPI_Iscatter
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IScan MPI_Iscan
#define MPI_INeighbor_alltoall MPI_Ineighbor_alltoall

static int begin(int op, int form, int root, MPI_Comm comm, char *in, char *out, MPI_Request *request)
{
    int counts[16], displs[16], peers;
    MPI_Comm_size(comm, &peers);
    for (int i = 0; i < peers; i++)
        counts[i] = PAIRS, displs[i] = i * PAIRS;
    switch (op) {
    case BCAST: return FORM(Bcast, out, PAIRS, pair, root);
    case GATHER: return FORM(Gather, in, PAIRS, pair, out, PAIRS, pair, root);
    case SCATTER: return FORM(Scatter, in, PAIRS, pair, out, PAIRS, pair, root);
    case ALLGATHER: return FORM(Allgather, in, PAIRS, pair, out, PAIRS, pair);
    case ALLTOALL: return FORM(Alltoall, in, PAIRS, pair, out, PAIRS, pair);
    case IN_PLACE: return FORM(Alltoall, MPI_IN_PLACE, 0, pair, out, PAIRS, pair);
    case ALLTOALLV: return FORM(Alltoallv, in, counts, displs, pair, out, counts, displs, pair);
    case REDUCE: return FORM(Reduce, in, out, PAIRS, pair, add, root);
    case ALLREDUCE: return FORM(Allreduce, in, out, PAIRS, pair, add);
    case SCATTERED: return FORM(Reduce_scatter_block, in, out, PAIRS, pair, add);
    case SCAN: return FORM(Scan, in, out, PAIRS, pair, add);
    default: return FORM(Neighbor_alltoall, in, PAIRS, pair, out, PAIRS, pair);
    }
}

static int call(int op, int form, int root, MPI_Comm comm, char *in, char *out)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = begin(op, form, root, comm, in, out, &request);
    if (form > 0 && code == MPI_SUCCESS) {
        if (form == 2)
            code = MPI_Start(&request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (form == 2)
            MPI_Request_free(&request);
    }
    return code;
}

/* All members succeed in the calls that follow. */
static void whole(MPI_Comm comm)
{
    MPI_Request request;
    int one = 1, total = 0, all = 0, inter, others;
    MPI_Comm_test_inter(comm, &inter);
    (inter ? MPI_Comm_remote_size : MPI_Comm_size)(comm, &others);
    EQUAL(MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EQUAL(MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm, &request), MPI_SUCCESS);
    EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EQUAL(total, others);
    EQUAL(all, others);
}

/* What others send before a victim expects it needs room, too, which is kept for the next such messages: without it the
   process would have to end, as these cannot be given back. */
static void room_for_early(char *in, char *out)
{
    MPI_Request requests[16 * PIECES];
    int last = 0, sent = 0;
    for (int to = 0; to < size; to++) {
        for (int i = 0; i < PIECES && to != rank; i++)
            MPI_Isend(in, PIECE, MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests[sent++]);
        MPI_Isend(&last, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[sent++]);
    }
    for (int from = 0; from < size; from++)
        MPI_Recv(&last, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < PIECES * (size - 1); i++)
        MPI_Recv(out, PIECE, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE);
}

static void one(int op, int form, int victim, MPI_Comm comm, char *in, char *out, char *want)
{
    struct rlimit usual;
    size_t bytes = (size_t)size * BLOCK;
    for (size_t i = 0; i < bytes; i++)
        in[i] = (char)(i / 16 + 7 * rank), want[i] = out[i] = (char)(i / 32 - rank);
    EQUAL(call(op, form, 1, comm, in, want), MPI_SUCCESS);
    CHECK(getrlimit(RLIMIT_AS, &usual) == 0);
    if (rank == victim)
        limit(usual);
    int code = call(op, form, 1, comm, in, out);
    CHECK(setrlimit(RLIMIT_AS, &usual) == 0);
    if (rank == victim)
        EQUAL(class_of(code), MPI_ERR_NO_MEM);
    else if (code == MPI_SUCCESS)
        CHECK(memcmp(out, want, bytes) == 0);
    else
        EQUAL(class_of(code), MPI_ERR_OTHER);
    int failed = code != MPI_SUCCESS;
    whole(comm);
    EQUAL(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    /* Who needs what the victim has, and who does not. */
    int inter;
    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        CHECK(failed >= 2);
    else if (op == ALLGATHER || op == ALLTOALL || op == ALLTOALLV || op == ALLREDUCE || (op == BCAST && victim == 1))
        EQUAL(failed, size);
    else if (op == BCAST && size > 2)
        EQUAL(failed, 1); /* of two, both copy */
}

int main(int argc, char **argv)
{
    MPI_Comm ring;
    start(&argc, &argv);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype eight;
    MPI_Type_contiguous(8, MPI_BYTE, &eight);
    MPI_Type_create_resized(eight, 0, 16, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(sum, 1, &add);
    int neighbors[2] = {(rank + size - 1) % size, (rank + 1) % size}, degree = size > 2 ? 2 : 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, neighbors, MPI_UNWEIGHTED, degree, neighbors,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    size_t bytes = (size_t)size * BLOCK;
    char *in = malloc(bytes), *out = malloc(bytes), *want = malloc(bytes);
    CHECK(in && out && want);
    memset(in, 0, bytes);
    room_for_early(in, out);
    for (int op = 0; op < OPS; op++)
        for (int form = 0; form < FORMS; form++)
            for (int victim = 0; victim < 2; victim++)
                one(op, form, victim, op == NEIGHBORS ? ring : MPI_COMM_WORLD, in, out, want);
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    for (int form = 0; form < FORMS; form++)
        one(ALLTOALL, form, form % 2, inter, in, out, want);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&ring);
    MPI_Op_free(&add);
    MPI_Type_free(&pair);
    MPI_Type_free(&eight);
    free(in), free(out), free(want);
    MPI_Finalize();
    return 0;
}
