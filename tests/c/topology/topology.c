// Grids, graphs and distributed graphs: made, asked, cut, duplicated; bad arguments.
// run: -n 1
// run: -n 6
// run: -n 7
#include "../check.h"
#include <limits.h>

static int kind_of(MPI_Comm comm)
{
    int kind;
    MPI_Topo_test(comm, &kind);
    return kind;
}

/* The last call failed with this class, and made nothing. */
#define FAILS(call, class) EQUAL(class_of(call), class)

static void dims(void)
{
    int d[3] = {0, 0, 0};
    MPI_Dims_create(24, 3, d);
    CHECK(d[0] == 4 && d[1] == 3 && d[2] == 2);
    int e[3] = {0, 2, 0};
    MPI_Dims_create(12, 3, e);
    CHECK(e[0] == 3 && e[1] == 2 && e[2] == 2);
    int f[2] = {0, 5};
    FAILS(MPI_Dims_create(12, 2, f), MPI_ERR_DIMS);
    FAILS(MPI_Dims_create(0, 2, f), MPI_ERR_ARG);
    FAILS(MPI_Dims_create(12, -1, f), MPI_ERR_ARG);
}

/* A grid of 2 by 3 whose columns are rings. */
static void grid(void)
{
    if (size < 6)
        return;
    int d[2] = {2, 3}, periods[2] = {0, 1}, got[2], ring[2], at[2], r;
    MPI_Comm cart, copy, row;
    MPI_Cart_create(MPI_COMM_WORLD, 2, d, periods, 0, &cart);
    MPI_Cart_map(MPI_COMM_WORLD, 2, d, periods, &r);
    /* On several nodes a rank may be advised to move: each of the first six gets a rank of its own. */
    int mine = rank < 6 ? 1 << r : 0, all;
    CHECK((r == MPI_UNDEFINED) == (rank >= 6));
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
    EQUAL(all, 63);
    MPI_Comm node;
    int near;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &near);
    MPI_Comm_free(&node);
    CHECK(near < size || rank >= 6 || r == rank);
    CHECK((cart == MPI_COMM_NULL) == (rank >= 6));
    if (cart == MPI_COMM_NULL)
        return;
    EQUAL(kind_of(cart), MPI_CART);
    MPI_Comm_dup(cart, &copy);
    EQUAL(kind_of(copy), MPI_CART);
    MPI_Comm_free(&cart);
    int n;
    MPI_Cartdim_get(copy, &n);
    EQUAL(n, 2);
    MPI_Cart_get(copy, 2, got, ring, at);
    CHECK(got[0] == 2 && got[1] == 3 && !ring[0] && ring[1]);
    CHECK(at[0] == rank / 3 && at[1] == rank % 3);
    for (r = 0; r < 6; r++) {
        int back;
        MPI_Cart_coords(copy, r, 2, at);
        CHECK(at[0] == r / 3 && at[1] == r % 3);
        at[1] -= 3;
        MPI_Cart_rank(copy, at, &back);
        EQUAL(back, r);
    }
    int up, down;
    MPI_Cart_shift(copy, 0, 1, &up, &down);
    EQUAL(up, rank < 3 ? MPI_PROC_NULL : rank - 3);
    EQUAL(down, rank < 3 ? rank + 3 : MPI_PROC_NULL);
    MPI_Cart_shift(copy, 1, -4, &up, &down);
    EQUAL(up, rank / 3 * 3 + (rank + 1) % 3);
    EQUAL(down, rank / 3 * 3 + (rank + 2) % 3);
    /* As far as can be said: 2^31 is 2 more than a multiple of 3, and 2^31 - 1 is 1 more. */
    for (int far = 0; far < 2; far++) {
        MPI_Cart_shift(copy, 1, far ? INT_MAX : INT_MIN, &up, &down);
        EQUAL(up, rank / 3 * 3 + (rank + 2) % 3);
        EQUAL(down, rank / 3 * 3 + (rank + 1) % 3);
        MPI_Cart_shift(copy, 0, far ? INT_MAX : INT_MIN, &up, &down);
        EQUAL(up, MPI_PROC_NULL);
        EQUAL(down, MPI_PROC_NULL);
    }

    int remain[2] = {0, 1};
    MPI_Cart_sub(copy, remain, &row);
    MPI_Cart_get(row, 1, got, ring, at);
    CHECK(got[0] == 3 && ring[0] && at[0] == rank % 3);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
    EQUAL(sum, 9 * (rank / 3) + 3);

    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    at[0] = 2;
    FAILS(MPI_Cart_rank(copy, at, &r), MPI_ERR_ARG);
    FAILS(MPI_Cart_coords(copy, 6, 2, at), MPI_ERR_RANK);
    FAILS(MPI_Cart_coords(copy, 0, 1, at), MPI_ERR_ARG);
    FAILS(MPI_Cart_shift(copy, 2, 1, &up, &down), MPI_ERR_ARG);
    FAILS(MPI_Graphdims_get(copy, &up, &down), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&copy), MPI_Comm_free(&row);
}

/* A grid without dimensions is one process. */
static void point(void)
{
    MPI_Comm cart, sub;
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart);
    CHECK((cart == MPI_COMM_NULL) == (rank != 0));
    if (rank)
        return;
    int n = -1;
    MPI_Cart_get(cart, 0, NULL, NULL, NULL);
    MPI_Cart_rank(cart, NULL, &n);
    EQUAL(n, 0);
    MPI_Cart_sub(cart, NULL, &sub);
    MPI_Cartdim_get(sub, &n);
    EQUAL(n, 0);
    MPI_Comm_free(&cart), MPI_Comm_free(&sub);
}

/* A star whose centre is rank 0, of all processes but the last. */
static void star(void)
{
    int nodes = size > 1 ? size - 1 : 1, leaves = nodes - 1;
    int index[8], edges[16], got[8], ends[16], n, m;
    for (int i = 0; i < nodes; i++) {
        index[i] = leaves + i;
        edges[leaves - 1 + i + (leaves == 0)] = 0;
    }
    for (int i = 0; i < leaves; i++)
        edges[i] = i + 1;
    MPI_Comm graph;
    MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &graph);
    CHECK(graph == MPI_COMM_NULL);
    MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &graph);
    MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &n);
    CHECK(rank < nodes ? n == rank : n == MPI_UNDEFINED);
    CHECK((graph == MPI_COMM_NULL) == (rank >= nodes));
    if (graph == MPI_COMM_NULL)
        return;
    EQUAL(kind_of(graph), MPI_GRAPH);
    MPI_Graphdims_get(graph, &n, &m);
    CHECK(n == nodes && m == 2 * leaves);
    MPI_Graph_get(graph, n, m, got, ends);
    CHECK(!memcmp(got, index, sizeof *got * n) && !memcmp(ends, edges, sizeof *ends * m));
    MPI_Graph_neighbors_count(graph, 0, &n);
    EQUAL(n, leaves);
    MPI_Graph_neighbors(graph, 0, n, ends);
    for (int i = 0; i < n; i++)
        EQUAL(ends[i], i + 1);
    if (leaves) {
        MPI_Graph_neighbors_count(graph, leaves, &n);
        EQUAL(n, 1);
    }
    MPI_Comm_free(&graph);
}

/* Rank 0 tells of a ring of edges i -> i+1 whose weight is i. */
static void ring(void)
{
    int n = rank == 0 ? size : 0, in, out, weighted, from, to, w[2];
    int sources[8], degrees[8], ends[8], weights[8];
    for (int i = 0; i < n; i++) {
        sources[i] = i, degrees[i] = 1;
        ends[i] = (i + 1) % size, weights[i] = i;
    }
    MPI_Comm graph;
    int me;
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, ends,
                          n ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &graph);
    EQUAL(kind_of(graph), MPI_DIST_GRAPH);
    /* Ranks may be reordered: the edges are those of the new rank. */
    MPI_Comm_rank(graph, &me);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted);
    MPI_Dist_graph_neighbors(graph, 1, &from, w, 1, &to, w + 1);
    CHECK(from == (me + size - 1) % size && to == (me + 1) % size);
    CHECK(w[0] == from && w[1] == me);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, ends, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 1, &graph);
    MPI_Comm_rank(graph, &me);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && !weighted);
    MPI_Dist_graph_neighbors(graph, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED);
    CHECK(from == (me + size - 1) % size && to == (me + 1) % size);
    MPI_Comm_free(&graph);
}

/* What is wrong at one process fails at all of them. */
static void mistakes(void)
{
    MPI_Comm graph;
    int last = rank == size - 1, self = last ? size : rank, minus = -1, zero = 0, one = 1;
    int d[2] = {size + 1, 1}, periods[2] = {0, 0};
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, d, periods, 0, &graph), MPI_ERR_ARG);
    d[0] = 0;
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, d, periods, 0, &graph), MPI_ERR_DIMS);
    CHECK(graph == MPI_COMM_NULL);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, &minus, NULL, 0, &graph), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, &one, &size, 0, &graph), MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &self, MPI_UNWEIGHTED, 1, &rank,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
          last ? MPI_ERR_ARG : MPI_ERR_OTHER);
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &self, MPI_UNWEIGHTED,
                                MPI_INFO_NULL, 0, &graph),
          last ? MPI_ERR_ARG : MPI_ERR_OTHER);
    FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &rank, &zero, 0, NULL,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
          MPI_ERR_ARG);
    FAILS(MPI_Cartdim_get(MPI_COMM_WORLD, &zero), MPI_ERR_TOPOLOGY);
    EQUAL(kind_of(MPI_COMM_WORLD), MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    dims();
    grid();
    point();
    star();
    ring();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    mistakes();
    return finish();
}
