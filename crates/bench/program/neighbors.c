/* Neighbourhood collectives, on a periodic grid or on a graph of a file (-N). */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_DIMENSIONS = 8 };

#define PLACED t->counts, t->places, t->types

#define NEIGHBORS(X)                                                                               \
    X(Neighbor_allgather, neighbor_allgather, MOVES "N", EVERYBODY, SINGLE, EVERYBODY, EACH,       \
      OF_BLOCK, t->send, ONE, t->recv, ONE, t->comm)                                               \
    X(Neighbor_allgatherv, neighbor_allgatherv, MOVES "N", EVERYBODY, SINGLE, EVERYBODY, EACH,     \
      OF_BLOCK, t->send, ONE, t->recv, MANY, t->comm)                                              \
    X(Neighbor_alltoall, neighbor_alltoall, MOVES "N", EVERYBODY, EACH, EVERYBODY, EACH, OF_BLOCK, \
      t->send, ONE, t->recv, ONE, t->comm)                                                         \
    X(Neighbor_alltoallv, neighbor_alltoallv, MOVES "N", EVERYBODY, EACH, EVERYBODY, EACH,         \
      OF_BLOCK, t->send, MANY, t->recv, MANY, t->comm)                                             \
    X(Neighbor_alltoallw, neighbor_alltoallw, MOVES "N", EVERYBODY, EACH, EVERYBODY, EACH,         \
      OF_BLOCK, t->send, PLACED, t->recv, PLACED, t->comm)

static void add(int **list, int *n, int who)
{
    *list = must(realloc(*list, (*n + 1) * sizeof **list));
    (*list)[(*n)++] = who;
}

/* All that are up to `radius` away along one dimension, in the order of MPI_Cart_create. */
static void grid(struct task *t, int *outs)
{
    int dims[MOST_DIMENSIONS] = {0}, periods[MOST_DIMENSIONS], lower, upper;
    int n = opt.dimensions ? opt.dimensions : 1, radius = opt.radius ? opt.radius : 1;
    MPI_Comm cart;
    for (int d = 0; d < n; d++)
        periods[d] = 1;
    MPI_Dims_create(t->size, n, dims);
    MPI_Cart_create(world, n, dims, periods, 0, &cart);
    for (int d = 0; d < n; d++)
        for (int away = 1; away <= radius; away++) {
            MPI_Cart_shift(cart, d, away, &lower, &upper);
            add(&t->to, outs, lower);
            add(&t->from, &t->ins, lower);
            add(&t->to, outs, upper);
            add(&t->from, &t->ins, upper);
        }
    t->comm = cart;
    if (radius == 1)
        return;
    MPI_Dist_graph_create_adjacent(cart, t->ins, t->from, MPI_UNWEIGHTED, *outs, t->to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &t->comm);
    MPI_Comm_free(&cart);
}

/* A line of the file: source, destination. */
static void graph(struct task *t, int *outs)
{
    FILE *file = fopen(opt.graph_file, "r");
    char line[256];
    int source, destination;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%d , %d", &source, &destination) == 2 && source >= 0 &&
            destination >= 0 && source < t->size && destination < t->size) {
            if (source == t->rank)
                add(&t->to, outs, destination);
            if (destination == t->rank)
                add(&t->from, &t->ins, source);
        }
    if (file)
        fclose(file);
    else
        t->skip = "the file of -N graph cannot be read";
    t->to = must(realloc(t->to, (*outs + 1) * sizeof *t->to));
    t->from = must(realloc(t->from, (t->ins + 1) * sizeof *t->from));
    MPI_Dist_graph_create_adjacent(world, t->ins, t->from, MPI_UNWEIGHTED, *outs, t->to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &t->comm);
}

static void gather_round(struct task *t)
{
    int outs = 0;
    (opt.graph_file ? graph : grid)(t, &outs);
    t->outs = t->bench->shape.sends == EACH ? outs : 1;
    errors_listen(t->comm);
}

static void leave(struct task *t)
{
    MPI_Comm_free(&t->comm);
}

#define FAMILY "neighborhood"
#define PREPARE gather_round
#define FINISH leave

NEIGHBORS(CALLS)

const struct bench neighbors[] = {
    NEIGHBORS(BLOCKING_ROW)
    NEIGHBORS(STARTING_ROW)
    NEIGHBORS(OVERLAP_ROW)
    NEIGHBORS(EXPOSED_ROW)
    NEIGHBORS(PERSISTENT_ROW)
    {.name = NULL},
};
