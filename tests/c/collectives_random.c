// A random program, the same on all ranks: blocking and started collectives of all lengths on
// several communicators, also overlapping ones, persistent ones, and messages that ranks wait for
// between them, so that some are far ahead of others. Arguments: how many steps, and the first seed.
// run: -n 2 -- 1500 1
// run: -n 3 -- 1500 2
// run: -n 4 -- 1000 3
// run: -n 7 -- 400 4
// run: --set LINK=shm --set COLL_NODE_STARTED=0 -n 4 -- 1000 5
#include "check.h"

enum { COMMS = 4, OPEN = 24, LONGEST = 96 << 10 };

/* A started collective, the buffers it uses, and what must come out. */
struct call {
    MPI_Request request;
    MPI_Comm comm;
    int what, count, root, me, members;
    unsigned seed;
    int *in, *out;
    int active;
};

static unsigned long long state;

static unsigned below(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

static int value(unsigned seed, int member, int i)
{
    return (int)((seed * 31u + (unsigned)member * 1009u + (unsigned)i * 7u) & 0xffff);
}

enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, BLOCK, SCAN, KINDS };

/* Blocks in the send and in the receive buffer. */
static int blocks_in(int what, int members)
{
    return what == SCATTER || what == ALLTOALL || what == BLOCK ? members : 1;
}

static int blocks_out(int what, int members)
{
    return what == GATHER || what == ALLGATHER || what == ALLTOALL ? members : 1;
}

static void prepare(struct call *c)
{
    int in = c->count * blocks_in(c->what, c->members), out = c->count * blocks_out(c->what, c->members);
    for (int i = 0; i < in; i++)
        c->in[i] = value(c->seed, c->me, i);
    for (int i = 0; i < out; i++)
        c->out[i] = c->what == BCAST && c->me == c->root ? value(c->seed, c->me, i) : -1;
}

/* How: blocking, started, or persistent. */
static void call(struct call *c, int how)
{
    int n = c->count, root = c->root, *in = c->in, *out = c->out;
    MPI_Comm comm = c->comm;
    MPI_Request *r = &c->request;
#define FORMS(name, started, ...)                \
    how == 0 ? MPI_##name(__VA_ARGS__) :         \
    how == 1 ? MPI_##started(__VA_ARGS__, r) :   \
               MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, r)
    switch (c->what) {
    case BARRIER: FORMS(Barrier, Ibarrier, comm); break;
    case BCAST: FORMS(Bcast, Ibcast, out, n, MPI_INT, root, comm); break;
    case REDUCE: FORMS(Reduce, Ireduce, in, out, n, MPI_INT, MPI_SUM, root, comm); break;
    case ALLREDUCE: FORMS(Allreduce, Iallreduce, in, out, n, MPI_INT, MPI_SUM, comm); break;
    case GATHER: FORMS(Gather, Igather, in, n, MPI_INT, out, n, MPI_INT, root, comm); break;
    case SCATTER: FORMS(Scatter, Iscatter, in, n, MPI_INT, out, n, MPI_INT, root, comm); break;
    case ALLGATHER: FORMS(Allgather, Iallgather, in, n, MPI_INT, out, n, MPI_INT, comm); break;
    case ALLTOALL: FORMS(Alltoall, Ialltoall, in, n, MPI_INT, out, n, MPI_INT, comm); break;
    case BLOCK: FORMS(Reduce_scatter_block, Ireduce_scatter_block, in, out, n, MPI_INT, MPI_SUM, comm); break;
    case SCAN: FORMS(Scan, Iscan, in, out, n, MPI_INT, MPI_SUM, comm); break;
    }
}

static int sum(const struct call *c, int members, int i)
{
    int all = 0;
    for (int m = 0; m < members; m++)
        all += value(c->seed, m, i);
    return all;
}

static int expected(const struct call *c, int i)
{
    int block = c->count ? i / c->count : 0, at = c->count ? i % c->count : 0;
    switch (c->what) {
    case BCAST: return value(c->seed, c->root, i);
    case REDUCE: return c->me == c->root ? sum(c, c->members, i) : -1;
    case ALLREDUCE: return sum(c, c->members, i);
    case GATHER: return c->me == c->root ? value(c->seed, block, at) : -1;
    case SCATTER: return value(c->seed, c->root, c->me * c->count + i);
    case ALLGATHER: return value(c->seed, block, at);
    case ALLTOALL: return value(c->seed, block, c->me * c->count + at);
    case BLOCK: return sum(c, c->members, c->me * c->count + i);
    case SCAN: return sum(c, c->me + 1, i);
    }
    return -1;
}

static void compare(struct call *c)
{
    int n = c->what == BARRIER ? 0 : c->count * blocks_out(c->what, c->members);
    for (int i = 0; i < n; i++)
        EQUAL(c->out[i], expected(c, i));
}

static void end(struct call *c, int how)
{
    if (!c->active)
        return;
    /* Test moves it on as well as Wait. */
    for (int done = how; !done;)
        MPI_Test(&c->request, &done, MPI_STATUS_IGNORE);
    if (how)
        MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    if (c->request != MPI_REQUEST_NULL)
        MPI_Request_free(&c->request);
    compare(c);
    c->active = 0;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int steps = atoi(argv[1]);
    state = strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ull + 1;
    MPI_Comm comms[COMMS];
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &comms[3]);
    struct call open[OPEN], now = { 0 };
    size_t room = (size_t)LONGEST * (size_t)size;
    for (int i = 0; i < OPEN; i++) {
        open[i] = (struct call){ .in = malloc(room), .out = malloc(room) };
        CHECK(open[i].in && open[i].out);
    }
    now.in = malloc(room);
    now.out = malloc(room);
    CHECK(now.in && now.out);
    static const int lengths[] = { 0, 1, 2, 12, 13, 100, 256, 1000, 3000, 4096, 8192, 16384, 24576 };
    int length = 1, what = 0, root = 0, comm = 0;
    for (int step = 0; step < steps; step++) {
        /* Mostly like the call before. */
        if (!below(4))
            what = (int)below(KINDS);
        if (!below(4))
            length = lengths[below(sizeof lengths / sizeof *lengths)];
        if (!below(6))
            root = (int)below((unsigned)size);
        if (!below(6))
            comm = (int)below(COMMS);
        unsigned form = below(10), seed = below(1 << 20), slot = below(OPEN), wait = below(2);
        unsigned token = below(6), from = below((unsigned)size), to = below((unsigned)size);
        struct call *c = form < 6 ? &now : &open[slot];
        if (form >= 6)
            end(c, (int)wait);
        c->comm = comms[comm];
        MPI_Comm_rank(c->comm, &c->me);
        MPI_Comm_size(c->comm, &c->members);
        c->what = what;
        c->count = length;
        c->seed = seed;
        /* Members of one communicator agree; the smallest has one member. */
        int least = comm < 2 ? size : 1;
        c->root = root % least;
        prepare(c);
        int how = form < 6 ? 0 : form < 9 ? 1 : 2;
        call(c, how);
        if (how == 2)
            MPI_Start(&c->request);
        if (how == 0)
            compare(c);
        else
            c->active = 1;
        /* One waits for another. */
        if (!token && from != to) {
            int word = step;
            if (rank == (int)from)
                MPI_Send(&word, 1, MPI_INT, (int)to, 7, MPI_COMM_WORLD);
            if (rank == (int)to) {
                MPI_Recv(&word, 1, MPI_INT, (int)from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                EQUAL(word, step);
            }
        }
    }
    for (int i = 0; i < OPEN; i++)
        end(&open[i], 1);
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    for (int i = 0; i < OPEN; i++) {
        free(open[i].in);
        free(open[i].out);
    }
    free(now.in);
    free(now.out);
    return finish();
}
