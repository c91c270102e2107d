/* The collectives of the standard: a line for each says what it moves and what it is called with;
 * its blocking, non-blocking and persistent forms follow from that. `bytes` is the size of a
 * block: what one rank has for another, or the whole vector where everybody has but one, also if
 * it is dealt out afterwards. */
#include "forms.h"

#define FAMILY "collective"
#define PREPARE NULL
#define FINISH NULL

/* MPI_..., MPI_I..., options, what is sent by whom, received by whom, of whom, arguments */
#define COLLECTIVES(X)                                                                             \
    X(Barrier, barrier, "ixcI", NOBODY, SINGLE, NOBODY, SINGLE, OF_NOBODY, t->comm)                   \
    X(Bcast, bcast, MOVES "k", ROOT, SINGLE, EVERYBODY, SINGLE, OF_ROOT,                           \
      t->in, ONE, t->root, t->comm)                                                                \
    X(Gather, gather, MOVES "kl", EVERYBODY, SINGLE, ROOT, EACH, OF_BLOCK,                         \
      t->send, ONE, t->recv, ONE, t->root, t->comm)                                                \
    X(Gatherv, gatherv, MOVES "kl", EVERYBODY, SINGLE, ROOT, EACH, OF_BLOCK,                       \
      t->send, ONE, t->recv, MANY, t->root, t->comm)                                               \
    X(Scatter, scatter, MOVES "kl", ROOT, EACH, EVERYBODY, SINGLE, OF_ROOT,                        \
      t->send, ONE, t->recv, ONE, t->root, t->comm)                                                \
    X(Scatterv, scatterv, MOVES "kl", ROOT, EACH, EVERYBODY, SINGLE, OF_ROOT,                      \
      t->send, MANY, t->recv, ONE, t->root, t->comm)                                               \
    X(Allgather, allgather, MOVES "l", EVERYBODY, SINGLE, EVERYBODY, EACH, OF_BLOCK,               \
      t->send, ONE, t->recv, ONE, t->comm)                                                         \
    X(Allgatherv, allgatherv, MOVES "l", EVERYBODY, SINGLE, EVERYBODY, EACH, OF_BLOCK,             \
      t->send, ONE, t->recv, MANY, t->comm)                                                        \
    X(Alltoall, alltoall, MOVES "l", EVERYBODY, EACH, EVERYBODY, EACH, OF_BLOCK,                   \
      t->send, ONE, t->recv, ONE, t->comm)                                                         \
    X(Alltoallv, alltoallv, MOVES "l", EVERYBODY, EACH, EVERYBODY, EACH, OF_BLOCK,                 \
      t->send, MANY, t->recv, MANY, t->comm)                                                       \
    X(Alltoallw, alltoallw, MOVES "l", EVERYBODY, EACH, EVERYBODY, EACH, OF_BLOCK,                 \
      t->send, TYPED, t->recv, TYPED, t->comm)                                                     \
    X(Reduce, reduce, ADDS "k", EVERYBODY, SINGLE, ROOT, SINGLE, OF_ALL,                           \
      t->send, t->recv, ONE, t->op, t->root, t->comm)                                              \
    X(Allreduce, allreduce, ADDS, EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_ALL,                    \
      t->send, t->recv, ONE, t->op, t->comm)                                                       \
    X(Reduce_scatter, reduce_scatter, ADDS, EVERYBODY, SINGLE, EVERYBODY, PART, OF_ALL,            \
      t->send, t->recv, t->counts, t->type, t->op, t->comm)                                        \
    X(Reduce_scatter_block, reduce_scatter_block, ADDS, EVERYBODY, SINGLE, EVERYBODY, EQUAL_PART,  \
      OF_ALL, t->send, t->recv, *t->counts, t->type, t->op, t->comm)                               \
    X(Scan, scan, ADDS, EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_UP_TO_ME,                         \
      t->send, t->recv, ONE, t->op, t->comm)                                                       \
    X(Exscan, exscan, ADDS, EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_LOWER,                        \
      t->send, t->recv, ONE, t->op, t->comm)

COLLECTIVES(CALLS)

static void reduce_local(struct task *t, int rounds)
{
    for (int i = 0; i < rounds; i++)
        MPI_Reduce_local(t->out, t->in, ONE, t->op);
}

/* The other operand is what rank 1 would have for this one. */
static void load_operand(struct task *t)
{
    data_put(t, memory_view(t->in), 1, 0, t->bytes / t->element->size);
}

static bool is_reduced(struct task *t, char *error, size_t room)
{
    for (size_t i = 0; i < t->bytes / t->element->size; i++)
        if (!data_equal(t, t->in, i, data_value(t, t->rank, 0, i) + data_value(t, 1, 0, i), "the result", error, room))
            return false;
    return true;
}

const struct bench collectives[] = {
    COLLECTIVES(BLOCKING_ROW)
    ROW("reduce_local", FAMILY, "mixcTIMd", SHAPE(EVERYBODY, SINGLE, NOBODY, SINGLE, OF_ALL),
        .unit = US, .run = reduce_local, .load = load_operand, .check = is_reduced)
    COLLECTIVES(FIRST_ROW)
    COLLECTIVES(ISOLATED_ROW)
    COLLECTIVES(LATE_ROW)
    COLLECTIVES(STARTING_ROW)
    COLLECTIVES(OVERLAP_ROW)
    COLLECTIVES(EXPOSED_ROW)
    COLLECTIVES(PERSISTENT_ROW)
    {.name = NULL},
};
