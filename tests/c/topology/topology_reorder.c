// With reorder, neighbours of a topology share a node although ranks were dealt out in turn; without
// it, ranks stay. Two hosts, which are both this one: an agent that drops the name of the host.
// only: catena
// run: --launcher-agent timeout --host 100:4,101:4 --map-by node --set LINK=shm+tcp -- 4
// run: --launcher-agent timeout --host 100:5,101:4 --map-by node --set LINK=shm+tcp -- 5
//
// variant: topology_hosts
// only: catena
// hosts: 2
// time: 60
// run: --host h0:4,h1:4 --map-by node --launcher-agent scripts/hosts -- 4
#include "../check.h"

static int *node_of; /* By rank in MPI_COMM_WORLD: the lowest rank of its node. */

/* The process that has each rank of a communicator, as its rank in MPI_COMM_WORLD. */
static void members(MPI_Comm comm, int *who)
{
    MPI_Allgather(&rank, 1, MPI_INT, who, 1, MPI_INT, comm);
}

/* How many of these edges between ranks cross nodes. */
static int crossing(const int *who, int from[][2], int edges)
{
    int n = 0;
    for (int i = 0; i < edges; i++)
        n += node_of[who[from[i][0]]] != node_of[who[from[i][1]]];
    return n;
}

static int grid_edges[10][2] = {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6},
                                {6, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};

/* Every process has a rank, and messages reach who has the rank. */
static void grid(void)
{
    int dims[2] = {2, 4}, periods[2] = {0, 0}, who[8], mapped, me, before, after;
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    CHECK((cart == MPI_COMM_NULL) == (rank >= 8));
    if (cart != MPI_COMM_NULL) {
        members(cart, who);
        for (int r = 0; r < 8; r++)
            EQUAL(who[r], r);
        before = crossing(who, grid_edges, 10);
        MPI_Comm_free(&cart);
    }
    /* Before anybody has told where within its node it is, and after. */
    for (int round = 0; round < 2; round++) {
        if (round)
            MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped);
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
        CHECK((cart == MPI_COMM_NULL) == (rank >= 8));
        if (cart == MPI_COMM_NULL) {
            CHECK(!round || mapped == MPI_UNDEFINED);
            continue;
        }
        MPI_Comm_rank(cart, &me);
        CHECK(!round || mapped == me);
        members(cart, who);
        EQUAL(who[me], rank);
        after = crossing(who, grid_edges, 10);
        EQUAL(before, 6);
        EQUAL(after, 2);
        int got[4] = {-1, -1, -1, -1}, want[4], at[2];
        MPI_Cart_coords(cart, me, 2, at);
        want[0] = at[0] > 0 ? me - 4 : -1, want[1] = at[0] < 1 ? me + 4 : -1;
        want[2] = at[1] > 0 ? me - 1 : -1, want[3] = at[1] < 3 ? me + 1 : -1;
        MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, cart);
        CHECK(!memcmp(got, want, sizeof got));
        MPI_Comm_free(&cart);
    }
}

/* A line of all ranks of a graph, of which neighbours are told twice. */
static void graph(void)
{
    int index[8], edges[14], line[7][2], n = 0, who[8], me, mapped, count, got[2];
    for (int r = 0; r < 8; r++) {
        if (r > 0)
            edges[n++] = r - 1;
        if (r < 7)
            edges[n++] = r + 1, line[r][0] = r, line[r][1] = r + 1;
        index[r] = n;
    }
    MPI_Comm comm;
    MPI_Graph_map(MPI_COMM_WORLD, 8, index, edges, &mapped);
    MPI_Graph_create(MPI_COMM_WORLD, 8, index, edges, 1, &comm);
    if (comm == MPI_COMM_NULL) {
        EQUAL(mapped, MPI_UNDEFINED);
        return;
    }
    MPI_Comm_rank(comm, &me);
    EQUAL(me, mapped);
    members(comm, who);
    EQUAL(crossing(who, line, 7), 1);
    MPI_Graph_neighbors_count(comm, me, &count);
    MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm);
    EQUAL(count, 2 - (me == 0 || me == 7));
    EQUAL(got[0], me ? me - 1 : 1);
    MPI_Comm_free(&comm);
}

/* Two rings, of the ranks below `half` and of the others, whose edges weigh much; those between the
   rings weigh nothing to speak of. The lists of a rank are with whoever has it. */
static void rings(int half, int adjacent)
{
    int n = rank < half ? half : size - half, first = rank < half ? 0 : half;
    int next = first + (rank - first + 1) % n, across = (rank + half) % size;
    int ends[2] = {next, across}, weights[2] = {100 + rank, 1}, degree = 2, me, in, out, weighted;
    MPI_Comm comm;
    if (adjacent) {
        int last = first + (rank - first + n - 1) % n, from = (rank + size - half) % size;
        int sources[2] = {last, from}, sourceweights[2] = {100 + last, 1};
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, sourceweights, 2, ends, weights,
                                       MPI_INFO_NULL, 1, &comm);
    } else {
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, ends, weights, MPI_INFO_NULL, 1,
                              &comm);
    }
    int who[9], sources[2], destinations[2], w[2], v[2];
    MPI_Comm_rank(comm, &me);
    members(comm, who);
    EQUAL(who[me], rank);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 2 && out == 2 && weighted);
    MPI_Dist_graph_neighbors(comm, 2, sources, w, 2, destinations, v);
    n = me < half ? half : size - half, first = me < half ? 0 : half;
    EQUAL(destinations[0], first + (me - first + 1) % n);
    EQUAL(destinations[1], (me + half) % size);
    CHECK(v[0] == 100 + me && v[1] == 1);
    int heavy = w[0] > w[1] ? 0 : 1;
    EQUAL(sources[heavy], first + (me - first + n - 1) % n);
    EQUAL(w[heavy], 100 + sources[heavy]);
    /* Each ring has a node to itself. */
    EQUAL(node_of[who[destinations[0]]], node_of[rank]);
    int got[2];
    MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm);
    CHECK(got[0] == sources[0] && got[1] == sources[1]);
    MPI_Comm_free(&comm);
}

/* An argument that is bad at one process, which therefore has no edges to tell. */
static void mistake(void)
{
    int ends[1] = {rank == size - 1 ? size : (rank + 1) % size};
    int from[1] = {(rank + size - 1) % size};
    MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, ends,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &comm);
    EQUAL(class_of(rc), rank == size - 1 ? MPI_ERR_ARG : MPI_ERR_OTHER);
    /* Who does not want to be reordered keeps all others from it. */
    int dims[1] = {size}, periods[1] = {0}, me;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, rank != 2, &comm);
    MPI_Comm_rank(comm, &me);
    EQUAL(me, rank);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(argc == 2);
    int first = rank;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    node_of = malloc(size * sizeof *node_of);
    MPI_Allgather(&first, 1, MPI_INT, node_of, 1, MPI_INT, MPI_COMM_WORLD);
    EQUAL(node_of[0], 0);
    EQUAL(node_of[1], 1);
    EQUAL(node_of[2], 0);
    grid();
    graph();
    rings(atoi(argv[1]), 0);
    rings(atoi(argv[1]), 1);
    mistake();
    free(node_of);
    return finish();
}
