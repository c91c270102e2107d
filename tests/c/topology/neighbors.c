// Neighbourhood collectives on grids and graphs: all forms, gaps, rings of one and two.
// run: -n 1
// run: -n 2
// run: -n 6
#include "../check.h"

#include <sys/mman.h>

/* Completes one of the three forms of a call. */
#define ALL_FORMS(name, comm, ...)                                              \
    for (int form = 0; form < 3; form++) {                                      \
        MPI_Request request;                                                    \
        clear();                                                                \
        if (form == 0) {                                                        \
            MPI_Neighbor_##name(__VA_ARGS__, comm);                             \
        } else if (form == 1) {                                                 \
            MPI_Ineighbor_##name(__VA_ARGS__, comm, &request);                  \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                              \
        } else {                                                                \
            MPI_Neighbor_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
            for (int i = 0; i < 2; i++) {                                       \
                clear();                                                        \
                MPI_Start(&request);                                            \
                MPI_Wait(&request, MPI_STATUS_IGNORE);                          \
            }                                                                   \
            MPI_Request_free(&request);                                         \
        }                                                                       \
        check();                                                                \
    }

enum { MOST = 64 };
static int out[MOST], in[MOST], want[MOST];

static void clear(void)
{
    for (int i = 0; i < MOST; i++)
        in[i] = -1;
}

static void check(void)
{
    for (int i = 0; i < MOST; i++)
        EQUAL(in[i], want[i]);
}

static void expect_nothing(void)
{
    for (int i = 0; i < MOST; i++)
        want[i] = -1;
}

/* On a grid, what goes down in a dimension comes from above there. */
static void grid(int rows, int columns, int ring)
{
    int d[2] = {rows, columns}, periods[2] = {0, ring};
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 2, d, periods, 0, &cart);
    for (int i = 0; i < 4; i++)
        out[i] = 10 * rank + i;
    int neighbor[4];
    for (int dim = 0; dim < 2; dim++)
        MPI_Cart_shift(cart, dim, 1, &neighbor[2 * dim], &neighbor[2 * dim + 1]);

    expect_nothing();
    for (int i = 0; i < 4; i++)
        want[i] = neighbor[i] == MPI_PROC_NULL ? -1 : 10 * neighbor[i] + (i ^ 1);
    ALL_FORMS(alltoall, cart, out, 1, MPI_INT, in, 1, MPI_INT)

    for (int i = 0; i < 4; i++)
        want[i] = neighbor[i] == MPI_PROC_NULL ? -1 : 10 * neighbor[i];
    ALL_FORMS(allgather, cart, out, 1, MPI_INT, in, 1, MPI_INT)

    /* Every block two words apart from the next, in falling order. */
    int counts[4] = {1, 1, 1, 1}, displs[4] = {9, 6, 3, 0};
    expect_nothing();
    for (int i = 0; i < 4; i++)
        if (neighbor[i] != MPI_PROC_NULL)
            want[displs[i]] = 10 * neighbor[i];
    ALL_FORMS(allgatherv, cart, out, 1, MPI_INT, in, counts, displs, MPI_INT)
    MPI_Comm_free(&cart);
}

/* Each rank has two edges to the next one, one of three words and one of none
   or one, and one to itself. */
static void graph(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int to[3] = {next, rank, next}, from[3] = {rank, before, before};
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, MPI_UNWEIGHTED, 3, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    for (int i = 0; i < MOST; i++)
        out[i] = 100 * rank + i;
    int sent[3] = {3, 2, rank % 2}, sdispls[3] = {0, 5, 10};
    int got[3] = {2, 3, before % 2}, rdispls[3] = {20, 30, 40};
    expect_nothing();
    if (size == 1) {
        /* All are edges to itself: they meet in order. */
        got[0] = 3, got[1] = 2;
        want[20] = 0, want[21] = 1, want[22] = 2, want[30] = 5, want[31] = 6;
    } else {
        want[20] = 100 * rank + 5, want[21] = want[20] + 1;
        for (int i = 0; i < 3; i++)
            want[30 + i] = 100 * before + i;
        if (before % 2)
            want[40] = 100 * before + 10;
    }
    ALL_FORMS(alltoallv, comm, out, sent, sdispls, MPI_INT, in, got, rdispls, MPI_INT)

    MPI_Datatype types[3], pair;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &pair);
    MPI_Type_commit(&pair);
    MPI_Aint at[3], into[3];
    for (int i = 0; i < 3; i++) {
        types[i] = i == 1 ? pair : MPI_INT;
        at[i] = sdispls[i] * sizeof(int);
        into[i] = rdispls[i] * sizeof(int);
    }
    MPI_Datatype plain[3] = {MPI_INT, MPI_INT, MPI_INT};
    int second = size == 1 ? 30 : 20;
    want[second + 1] = out[7];
    ALL_FORMS(alltoallw, comm, out, sent, at, types, in, got, into, plain)
    MPI_Type_free(&pair);
    MPI_Comm_free(&comm);
}

/* The end of memory, behind which nothing may be read or written. */
static int *end_of_memory(void)
{
    size_t page = sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && !mprotect(pages + page, page, PROT_NONE));
    return (int *)(pages + page);
}

/* On a line, of elements with gaps: the blocks of neighbours that are not there need no memory. */
static void beyond_the_edge(void)
{
    int d = size, ring = 0, is[2] = {rank > 0, rank < size - 1};
    int blocks = is[1] ? 2 : is[0];
    MPI_Comm line;
    MPI_Datatype gap;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &d, &ring, 0, &line);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap);
    MPI_Type_commit(&gap);
    int *from = end_of_memory() - 2 * blocks, *to = end_of_memory() - 2 * blocks;
    for (int i = 0; i < blocks; i++)
        from[2 * i] = 10 * rank + i;
    expect_nothing();
    ALL_FORMS(alltoall, line, from, 1, gap, to, 1, gap)
    for (int i = 0; i < 2; i++)
        if (is[i])
            EQUAL(to[2 * i], 10 * (rank + 2 * i - 1) + 1 - i);
    ALL_FORMS(allgather, line, &rank, 1, MPI_INT, to, 1, gap)
    for (int i = 0; i < 2; i++)
        if (is[i])
            EQUAL(to[2 * i], rank + 2 * i - 1);
    int counts[2], displs[2];
    MPI_Aint bytes[2];
    MPI_Datatype types[2] = {gap, gap};
    for (int i = 0; i < 2; i++) {
        counts[i] = is[i] ? 1 : 999999;
        displs[i] = i;
        bytes[i] = 2 * i * sizeof(int);
    }
    ALL_FORMS(alltoallv, line, from, counts, displs, gap, to, counts, displs, gap)
    for (int i = 0; i < 2; i++)
        if (is[i])
            EQUAL(to[2 * i], 10 * (rank + 2 * i - 1) + 1 - i);
    ALL_FORMS(allgatherv, line, &rank, 1, MPI_INT, to, counts, displs, gap)
    ALL_FORMS(alltoallw, line, from, counts, bytes, types, to, counts, bytes, types)
    for (int i = 0; i < 2; i++)
        if (is[i])
            EQUAL(to[2 * i], 10 * (rank + 2 * i - 1) + 1 - i);
    MPI_Type_free(&gap);
    MPI_Comm_free(&line);
}

/* Long blocks, many calls under way at once. */
static void long_ones(void)
{
    enum { N = 200000, CALLS = 4 };
    int d = size, ring = 1;
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &d, &ring, 0, &cart);
    int *from = malloc(2 * N * sizeof *from), *to = malloc(CALLS * 2 * N * sizeof *to);
    for (int i = 0; i < 2 * N; i++)
        from[i] = i * 7 + rank;
    MPI_Request requests[CALLS];
    for (int c = 0; c < CALLS; c++)
        MPI_Ineighbor_alltoall(from, N, MPI_INT, to + c * 2 * N, N, MPI_INT, cart, &requests[c]);
    MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
    int below = (rank + size - 1) % size, above = (rank + 1) % size;
    for (int c = 0; c < CALLS; c++)
        for (int i = 0; i < N; i++) {
            EQUAL(to[c * 2 * N + i], (N + i) * 7 + below);
            EQUAL(to[c * 2 * N + N + i], i * 7 + above);
        }
    free(from), free(to);
    MPI_Comm_free(&cart);
}

static void mistakes(void)
{
    int n = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Neighbor_allgather(&n, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD)),
          MPI_ERR_TOPOLOGY);
    EQUAL(class_of(MPI_Neighbor_alltoallv(out, &n, &n, MPI_INT, in, &n, &n, MPI_INT,
                                          MPI_COMM_WORLD)),
          MPI_ERR_TOPOLOGY);
}

/* Who has no neighbours has no blocks: their addresses may be null, as those of empty vectors are. */
static void nobody(void)
{
    int own = rank;
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_alltoall(NULL, 5, MPI_INT, NULL, 5, MPI_INT, comm);
    MPI_Neighbor_allgather(&own, 1, MPI_INT, NULL, 1, MPI_INT, comm);
    MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, comm);
    MPI_Neighbor_allgatherv(&own, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, comm);
    MPI_Neighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, comm);
    MPI_Request request;
    MPI_Ineighbor_alltoall(NULL, 5, MPI_INT, NULL, 5, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int d[2] = {0, 0};
    MPI_Dims_create(size, 2, d);
    grid(d[0], d[1], 0);
    grid(d[0], d[1], 1);
    grid(1, size, 1);
    graph();
    beyond_the_edge();
    nobody();
    long_ones();
    mistakes();
    return finish();
}
