// Blocking, started and persistent collectives of several communicators in one random order, alike
// for all ranks, often several of a kind in a row; between them messages, for which some ranks wait
// that are far ahead. Each rank waits for calls under way when and how it likes, and some communicators
// are freed before. Arguments: how many calls, and the seed.
// run: -n 2
// run: -n 3 -- 1000 2
// run: -n 4 -- 1000 3
// run: -n 5 -- 600 4
// run: -n 8 -- 400 5
// run: -n 3 --set COLL_DIRECT=0 --set COLL_WEIGH=0 -- 1000 6
// run: -n 4 --set COLL_NODE_STARTED=0 -- 600 7
// run: -n 4 --set COLL_NODE=0 -- 600 8
// time: 60
#include "../check.h"

enum { RANKS = 8, COMMS = 4, SLOTS = 48, MOST = 12000, ROOM = RANKS * (MOST + RANKS) };

enum kind {
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV,
    REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, KINDS
};

enum form { BLOCKING, STARTED, PERSISTENT };

/* A call and its buffers. */
typedef struct {
    enum kind kind;
    int number, n, root, me, ranks;
    unsigned *in, *out;
    int to[RANKS], to_at[RANKS], from[RANKS], from_at[RANKS];
    MPI_Request request; /* of a persistent one */
} call;

static call calls[SLOTS];
static MPI_Request requests[SLOTS];
static MPI_Op compose;
static MPI_Datatype map;

/* One for what all ranks do, and one of this rank. */
static unsigned long long shared, own;

static unsigned below(unsigned long long *state, unsigned n)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(*state >> 33) % n;
}

/* What member `r` has at place `i` of a call. */
static unsigned value(const call *c, int r, int i) { return 7919u * r + 104729u * c->number + 3u * i + 1; }

/* Functions x -> ax + b as pairs (a, b): the order matters. */
static void composed(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    unsigned *f = in, *g = inout;
    for (int i = 0; i < 2 * *n; i += 2) {
        g[i + 1] = f[i] * g[i + 1] + f[i + 1];
        g[i] *= f[i];
    }
}

/* What ranks 0 to `last` have at place `i`, together. */
static unsigned together(const call *c, int last, int i)
{
    unsigned a = 1, b = 0;
    for (int r = 0; r <= last; r++) {
        b += a * value(c, r, i | 1);
        a *= value(c, r, i & ~1);
    }
    return i & 1 ? b : a;
}

/* Elements that `from` has for `to` where lengths differ. */
static int length(const call *c, int from, int to)
{
    switch (c->kind) {
    case GATHERV: case ALLGATHERV: return from % 3 == 1 ? 0 : c->n + from;
    case SCATTERV: return to % 3 == 1 ? 0 : c->n + to;
    case ALLTOALLV: return (from + to) % 3 == 1 ? 0 : c->n + to - from * (c->n >= RANKS);
    default: return c->n;
    }
}

static void expect(const call *c, int at, int n, int from, int first)
{
    for (int i = 0; i < n; i++)
        if (c->out[at + i] != value(c, from, first + i)) {
            fprintf(stderr, "call %d (kind %d, n %d, root %d), rank %d of %d: element %d from %d is wrong\n",
                    c->number, c->kind, c->n, c->root, c->me, c->ranks, i, from);
            CHECK(c->out[at + i] == value(c, from, first + i));
        }
}

/* Where the standard lets ranks differ in it, each is in place as it likes; a persistent one would lose
   its operand. */
static const void *operand(const call *c, enum form form)
{
    if (form == PERSISTENT || below(&own, 2))
        return c->in;
    memcpy(c->out, c->in, ROOM * sizeof(unsigned));
    return MPI_IN_PLACE;
}

/* Whether the result is there. */
static void check(const call *c)
{
    int me = c->me, is_root = me == c->root, n = c->n;
    switch (c->kind) {
    case BCAST: expect(c, 0, n, c->root, 0); break;
    case SCATTER: expect(c, 0, n, c->root, me * n); break;
    case SCATTERV: expect(c, 0, length(c, c->root, me), c->root, me * (MOST + RANKS)); break;
    case GATHER: case GATHERV:
        if (!is_root)
            break; /* fall through */
    case ALLGATHER: case ALLGATHERV:
        for (int r = 0; r < c->ranks; r++)
            expect(c, c->from_at[r], length(c, r, me), r, 0);
        break;
    case ALLTOALL: case ALLTOALLV:
        for (int r = 0; r < c->ranks; r++)
            expect(c, c->from_at[r], length(c, r, me), r, c->kind == ALLTOALL ? me * n : me * (MOST + RANKS));
        break;
    case REDUCE: case ALLREDUCE: case SCAN: case EXSCAN:
        if ((c->kind == REDUCE && !is_root) || (c->kind == EXSCAN && me == 0))
            break;
        for (int i = 0; i < 2 * (n / 2); i++)
            EQUAL(c->out[i], together(c, c->kind == SCAN ? me : c->kind == EXSCAN ? me - 1 : c->ranks - 1, i));
        break;
    case REDUCE_SCATTER: case REDUCE_SCATTER_BLOCK:
        for (int i = 0; i < 2 * (n / 2); i++)
            EQUAL(c->out[i], together(c, c->ranks - 1, me * 2 * (n / 2) + i));
        break;
    default: break;
    }
}

#define CALL(Name, name, ...)                                                                  \
    (form == BLOCKING  ? MPI_##Name(__VA_ARGS__, comm)                                         \
     : form == STARTED ? MPI_I##name(__VA_ARGS__, comm, &c->request)                           \
                       : MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &c->request))

static void make(call *c, enum form form, MPI_Comm comm)
{
    int n = c->n, root = c->root, half = n / 2, halves[RANKS];
    unsigned *in = c->in, *out = c->out;
    for (int r = 0; r < c->ranks; r++) {
        int is_v = c->kind == GATHERV || c->kind == SCATTERV || c->kind == ALLGATHERV || c->kind == ALLTOALLV;
        c->to[r] = length(c, c->me, r);
        c->from[r] = length(c, r, c->me);
        c->to_at[r] = c->from_at[r] = r * (is_v ? MOST + RANKS : n);
        halves[r] = half;
    }
    switch (c->kind) {
    case BARRIER: form == BLOCKING ? MPI_Barrier(comm) : form == STARTED ? MPI_Ibarrier(comm, &c->request)
            : MPI_Barrier_init(comm, MPI_INFO_NULL, &c->request); break;
    case BCAST: CALL(Bcast, bcast, out, n, MPI_UNSIGNED, root); break;
    case GATHER: CALL(Gather, gather, in, n, MPI_UNSIGNED, out, n, MPI_UNSIGNED, root); break;
    case GATHERV: CALL(Gatherv, gatherv, in, c->to[0], MPI_UNSIGNED, out, c->from, c->from_at, MPI_UNSIGNED, root); break;
    case SCATTER: CALL(Scatter, scatter, in, n, MPI_UNSIGNED, out, n, MPI_UNSIGNED, root); break;
    case SCATTERV: CALL(Scatterv, scatterv, in, c->to, c->to_at, MPI_UNSIGNED, out, c->from[0], MPI_UNSIGNED, root); break;
    case ALLGATHER: CALL(Allgather, allgather, in, n, MPI_UNSIGNED, out, n, MPI_UNSIGNED); break;
    case ALLGATHERV: CALL(Allgatherv, allgatherv, in, c->to[0], MPI_UNSIGNED, out, c->from, c->from_at, MPI_UNSIGNED); break;
    case ALLTOALL: CALL(Alltoall, alltoall, in, n, MPI_UNSIGNED, out, n, MPI_UNSIGNED); break;
    case ALLTOALLV: CALL(Alltoallv, alltoallv, in, c->to, c->to_at, MPI_UNSIGNED, out, c->from, c->from_at, MPI_UNSIGNED); break;
    case REDUCE: CALL(Reduce, reduce, in, out, half, map, compose, root); break;
    case ALLREDUCE: CALL(Allreduce, allreduce, in, out, half, map, compose); break;
    case REDUCE_SCATTER: CALL(Reduce_scatter, reduce_scatter, operand(c, form), out, halves, map, compose); break;
    case REDUCE_SCATTER_BLOCK: CALL(Reduce_scatter_block, reduce_scatter_block, in, out, half, map, compose); break;
    case SCAN: CALL(Scan, scan, operand(c, form), out, half, map, compose); break;
    default: CALL(Exscan, exscan, operand(c, form), out, half, map, compose); break;
    }
}

/* The call in that place is over. */
static void over(int at)
{
    check(&calls[at]);
    requests[at] = MPI_REQUEST_NULL;
}

/* Makes room for another one there, which all ranks do in the same order: a persistent one runs again. */
static void vacate(int at)
{
    call *c = &calls[at];
    if (requests[at] != MPI_REQUEST_NULL) {
        MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
        over(at);
    }
    if (c->request == MPI_REQUEST_NULL)
        return;
    if (c->kind != BCAST || c->me != c->root)
        memset(c->out, 0, ROOM * sizeof(unsigned));
    MPI_Start(&c->request);
    MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    check(c);
    MPI_Request_free(&c->request);
}

/* One way to wait, or not to, for some that are under way. */
static void look(void)
{
    int at = (int)below(&own, SLOTS), flag, n, places[SLOTS];
    switch (below(&own, 7)) {
    case 0:
        MPI_Waitany(SLOTS, requests, &at, MPI_STATUS_IGNORE);
        if (at != MPI_UNDEFINED)
            over(at);
        break;
    case 1:
        MPI_Testsome(SLOTS, requests, &n, places, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n && n != MPI_UNDEFINED; i++)
            over(places[i]);
        break;
    case 2:
        if (requests[at] == MPI_REQUEST_NULL)
            break;
        MPI_Request_get_status(requests[at], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
        over(at);
        break;
    case 3: MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); break;
    case 4: usleep(below(&own, 100)); break;
    default: break;
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int count = argc > 1 ? atoi(argv[1]) : 1500, seed = argc > 2 ? atoi(argv[2]) : 1;
    static unsigned char out[150000], in[150000];
    MPI_Comm comms[COMMS];
    shared = seed;
    own = seed * 100 + rank;
    CHECK(size <= RANKS);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &map);
    MPI_Type_commit(&map);
    MPI_Op_create(composed, 0, &compose);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
    MPI_Comm_dup(MPI_COMM_SELF, &comms[3]);
    for (int i = 0; i < SLOTS; i++) {
        calls[i].in = malloc(ROOM * sizeof(unsigned));
        calls[i].out = malloc(ROOM * sizeof(unsigned));
        requests[i] = calls[i].request = MPI_REQUEST_NULL;
    }
    enum kind kind = BARRIER;
    int which = 0, longest = 1;
    for (int number = 0; number < count; number++) {
        int at = number % SLOTS, form = (int)below(&shared, 5);
        const int most[] = {1, 8, 100, 2000, MOST};
        if (below(&shared, 2)) {
            kind = below(&shared, KINDS);
            which = (int)below(&shared, COMMS + 1);
            longest = most[below(&shared, 5)];
        }
        vacate(at);
        call *c = &calls[at];
        MPI_Comm comm;
        if (which == COMMS)
            MPI_Comm_dup(comms[number % 2], &comm);
        else
            comm = comms[which];
        c->kind = kind;
        c->number = number;
        c->n = (int)below(&shared, (unsigned)longest + 1);
        form = form < 2 ? BLOCKING : form < 4 ? STARTED : PERSISTENT;
        unsigned wish = below(&shared, RANKS);
        MPI_Comm_rank(comm, &c->me);
        MPI_Comm_size(comm, &c->ranks);
        c->root = (int)wish % c->ranks;
        for (int i = 0; i < ROOM; i++)
            c->in[i] = value(c, c->me, i);
        memset(c->out, 0, ROOM * sizeof(unsigned));
        if (c->kind == BCAST && c->me == c->root)
            memcpy(c->out, c->in, ROOM * sizeof(unsigned));
        c->request = MPI_REQUEST_NULL;
        make(c, (enum form)form, comm);
        if (form == BLOCKING)
            check(c);
        else {
            if (form == PERSISTENT)
                MPI_Start(&c->request);
            requests[at] = c->request;
            if (form == STARTED)
                c->request = MPI_REQUEST_NULL;
        }
        if (which == COMMS)
            MPI_Comm_free(&comm);
        look();
        if (below(&shared, 4) == 0) {
            int n = (int)below(&shared, sizeof out), right = (rank + 1) % size, left = (rank + size - 1) % size;
            fill(out, n, number + rank);
            MPI_Sendrecv(out, n, MPI_BYTE, right, 0, in, n, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(wrong_at(in, n, number + left), n);
        }
        int from = (int)below(&shared, (unsigned)size), to = (int)below(&shared, (unsigned)size);
        if (from != to && rank == from)
            MPI_Send(&number, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        if (from != to && rank == to)
            MPI_Recv(&at, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int at = 0; at < SLOTS; at++)
        vacate(at);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    for (int i = 0; i < SLOTS; i++) {
        free(calls[i].in);
        free(calls[i].out);
    }
    MPI_Op_free(&compose);
    MPI_Type_free(&map);
    return finish();
}
