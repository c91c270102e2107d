// Collectives between two groups: blocking, non-blocking and persistent, roots on either side,
// few and many bytes, bad roots and MPI_IN_PLACE.
// run: -n 2
// run: -n 3
// run: -n 5
// run: -n 8
// time: 60
#include "../check.h"

enum { BLOCKING, STARTED, PERSISTENT, FORMS };

static MPI_Comm half, inter; /* my group, and both joined */
static int here, mine, ours, theirs; /* which group, my rank in it, the two sizes */
static int form;
static MPI_Request request;

/* Ends a call in the form that is being tested. */
static void end(void)
{
    if (form == BLOCKING)
        return;
    for (int times = form == PERSISTENT ? 2 : 1; times > 0; times--) {
        if (form == PERSISTENT)
            MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (form == PERSISTENT)
        MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
}

#define CALL(name, lower, ...)                                                       \
    do {                                                                             \
        if (form == BLOCKING)                                                        \
            MPI_##name(__VA_ARGS__, inter);                                          \
        else if (form == STARTED)                                                    \
            MPI_I##lower(__VA_ARGS__, inter, &request);                              \
        else                                                                         \
            MPI_##name##_init(__VA_ARGS__, inter, MPI_INFO_NULL, &request);          \
        end();                                                                       \
    } while (0)

/* What process `r` of group `g` contributes at place `i`. */
static long value(int g, int r, int i) { return 1000000L * g + 1000L * r + i % 997; }

static long sum(int g, int ranks, int i)
{
    long s = 0;
    for (int r = 0; r < ranks; r++)
        s += value(g, r, i);
    return s;
}

/* The root argument of process `root` of group `g`. */
static int root_of(int g, int root)
{
    return here != g ? root : mine == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(int n, int g, int root)
{
    int to = root_of(g, root), is_root = to == MPI_ROOT, is_leaf = to >= 0, all = ours + theirs;
    long *in = malloc((all * n + 1) * sizeof *in), *out = malloc((all * n + 1) * sizeof *out);
    for (int i = 0; i < n; i++)
        in[i] = is_root ? value(g, root, i) : -1;
    CALL(Bcast, bcast, in, n, MPI_LONG, to);
    for (int i = 0; i < n; i++)
        EQUAL(in[i], is_root || is_leaf ? value(g, root, i) : -1);

    for (int i = 0; i < n; i++)
        in[i] = value(here, mine, i);
    memset(out, 0, all * n * sizeof *out);
    CALL(Reduce, reduce, in, out, n, MPI_LONG, MPI_SUM, to);
    for (int i = 0; i < n; i++)
        EQUAL(out[i], is_root ? sum(!g, theirs, i) : 0);

    memset(out, 0, all * n * sizeof *out);
    CALL(Gather, gather, in, n, MPI_LONG, out, n, MPI_LONG, to);
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < n; i++)
            EQUAL(out[r * n + i], is_root ? value(!g, r, i) : 0);

    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < n; i++)
            out[r * n + i] = value(g, r + 5, i);
    memset(in, 0, all * n * sizeof *in);
    CALL(Scatter, scatter, out, n, MPI_LONG, in, n, MPI_LONG, to);
    for (int i = 0; i < n; i++)
        EQUAL(in[i], is_leaf ? value(g, mine + 5, i) : 0);
    free(in);
    free(out);
}

/* Rank r gives r % 3 blocks of n, and the root lays them out with gaps. */
static void varying(int n, int g, int root)
{
    int to = root_of(g, root), is_root = to == MPI_ROOT, is_leaf = to >= 0;
    int *counts = calloc(theirs, sizeof *counts), *displs = calloc(theirs, sizeof *displs), at = 1;
    for (int r = 0; r < theirs; r++) {
        counts[r] = r % 3 * n;
        displs[r] = at;
        at += counts[r] + 1;
    }
    int me = mine % 3 * n;
    long *in = malloc((me + 1) * sizeof *in), *out = malloc(at * sizeof *out);
    for (int i = 0; i < me; i++)
        in[i] = value(here, mine, i);
    for (int i = 0; i < at; i++)
        out[i] = -1;
    CALL(Gatherv, gatherv, in, me, MPI_LONG, out, is_root ? counts : NULL, is_root ? displs : NULL,
         MPI_LONG, to);
    EQUAL(out[0], -1);
    for (int r = 0; r < theirs; r++) {
        for (int i = 0; i < counts[r]; i++)
            EQUAL(out[displs[r] + i], is_root ? value(!g, r, i) : -1);
        EQUAL(out[displs[r] + counts[r]], -1);
    }
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < counts[r]; i++)
            out[displs[r] + i] = value(g, r + 7, i);
    memset(in, 0, (me + 1) * sizeof *in);
    CALL(Scatterv, scatterv, out, is_root ? counts : NULL, is_root ? displs : NULL, MPI_LONG, in,
         me, MPI_LONG, to);
    for (int i = 0; i < me; i++)
        EQUAL(in[i], is_leaf ? value(g, mine + 7, i) : 0);
    free(in), free(out), free(counts), free(displs);
}

/* The two groups give blocks of different lengths: n of group 0, 2 n of group 1. */
static void everyone(int n)
{
    int give = n * (1 + here), get = n * (2 - here);
    long *in = malloc((give * theirs + 1) * sizeof *in), *out = malloc((get * theirs + 1) * sizeof *out);
    for (int i = 0; i < give; i++)
        in[i] = value(here, mine, i);
    CALL(Allgather, allgather, in, give, MPI_LONG, out, get, MPI_LONG);
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < get; i++)
            EQUAL(out[r * get + i], value(!here, r, i));

    int *counts = malloc(theirs * sizeof *counts), *displs = malloc(theirs * sizeof *displs);
    int *given = malloc(theirs * sizeof *given), *from = malloc(theirs * sizeof *from);
    for (int r = 0; r < theirs; r++) {
        counts[r] = get - (r % 2 && get ? 1 : 0);
        displs[r] = (theirs - 1 - r) * get;
        given[r] = give - (mine % 2 && give ? 1 : 0);
        from[r] = r * give;
    }
    memset(out, 0, get * theirs * sizeof *out);
    CALL(Allgatherv, allgatherv, in, given[0], MPI_LONG, out, counts, displs, MPI_LONG);
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < counts[r]; i++)
            EQUAL(out[displs[r] + i], value(!here, r, i));

    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < give; i++)
            in[r * give + i] = value(here, mine, i) + 17 * r;
    CALL(Alltoall, alltoall, in, give, MPI_LONG, out, get, MPI_LONG);
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < get; i++)
            EQUAL(out[r * get + i], value(!here, r, i) + 17 * mine);

    memset(out, 0, get * theirs * sizeof *out);
    CALL(Alltoallv, alltoallv, in, given, from, MPI_LONG, out, counts, displs, MPI_LONG);
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < counts[r]; i++)
            EQUAL(out[displs[r] + i], value(!here, r, i) + 17 * mine);

    MPI_Datatype *types = malloc(theirs * sizeof *types);
    for (int r = 0; r < theirs; r++) {
        types[r] = MPI_LONG;
        displs[r] *= sizeof(long);
        from[r] *= sizeof(long);
    }
    memset(out, 0, get * theirs * sizeof *out);
    CALL(Alltoallw, alltoallw, in, given, from, types, out, counts, displs, types);
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < counts[r]; i++)
            EQUAL(out[displs[r] / sizeof(long) + i], value(!here, r, i) + 17 * mine);
    free(in), free(out), free(counts), free(displs), free(given), free(from), free(types);
}

/* Each group gets what the other one combined, and cuts it in its own way. */
static void reductions(int n)
{
    int total = n * ours * theirs;
    long *in = malloc((total + 1) * sizeof *in), *out = malloc((total + 1) * sizeof *out);
    for (int i = 0; i < total; i++)
        in[i] = value(here, mine, i);
    CALL(Allreduce, allreduce, in, out, n, MPI_LONG, MPI_SUM);
    for (int i = 0; i < n; i++)
        EQUAL(out[i], sum(!here, theirs, i));

    CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n * theirs, MPI_LONG, MPI_SUM);
    for (int i = 0; i < n * theirs; i++)
        EQUAL(out[i], sum(!here, theirs, mine * n * theirs + i));

    int *counts = calloc(ours, sizeof *counts), before = 0;
    for (int r = 0; r < ours; r++)
        counts[r] = n * theirs;
    counts[ours - 1] += counts[0]; /* all to the last, nothing to the first */
    counts[0] = ours > 1 ? 0 : n * theirs;
    for (int r = 0; r < mine; r++)
        before += counts[r];
    CALL(Reduce_scatter, reduce_scatter, in, out, counts, MPI_LONG, MPI_SUM);
    for (int i = 0; i < counts[mine]; i++)
        EQUAL(out[i], sum(!here, theirs, before + i));
    free(in), free(out), free(counts);
}

/* Operands of the other group, in the order of its ranks. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (unsigned *x = in, *y = inout; *n > 0; (*n)--, x += 2, y += 2) {
        unsigned a = x[0] * y[0], b = x[0] * y[1] + x[1];
        y[0] = a, y[1] = b;
    }
}

static void ordered(void)
{
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    unsigned in[6] = { 3 + mine, 7 * mine + here, 5, 11 + mine, 9, mine }, out[6];
    unsigned want[6] = { 3, !here, 5, 11, 9, 0 };
    for (int r = 1; r < theirs; r++) {
        unsigned next[6] = { 3 + r, 7 * r + !here, 5, 11 + r, 9, r };
        int n = 3;
        compose(want, next, &n, &pair);
        memcpy(want, next, sizeof want);
    }
    CALL(Allreduce, allreduce, in, out, 3, pair, op);
    CHECK(!memcmp(out, want, sizeof want));
    memset(out, 0, sizeof out);
    for (int g = 0; g < 2; g++) {
        int to = root_of(g, 0);
        CALL(Reduce, reduce, in, out, 3, pair, op, to);
        CHECK(to != MPI_ROOT || !memcmp(out, want, sizeof want));
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

/* Nobody leaves before the other group has entered. */
static void barrier(void)
{
    for (int g = 0; g < 2; g++) {
        int late = 0, n = 0;
        if (here == g)
            for (int r = 0; r < theirs; r++)
                MPI_Send(&here, 1, MPI_INT, r, 4, inter);
        if (form == BLOCKING)
            MPI_Barrier(inter);
        else if (form == STARTED)
            MPI_Ibarrier(inter, &request);
        else
            MPI_Barrier_init(inter, MPI_INFO_NULL, &request);
        end();
        if (here != g)
            for (int r = 0; r < theirs; r++, n++) {
                MPI_Iprobe(r, 4, inter, &late, MPI_STATUS_IGNORE);
                CHECK(late);
                MPI_Recv(&late, 1, MPI_INT, r, 4, inter, MPI_STATUS_IGNORE);
            }
    }
}

/* Several at once, of different kinds. */
static void together(void)
{
    enum { MANY = 20 };
    long in[MANY], out[MANY];
    MPI_Request r[MANY];
    for (int i = 0; i < MANY; i++) {
        int to = root_of(i / 3 % 2, 0);
        in[i] = value(here, mine, i);
        out[i] = to == MPI_ROOT ? 77 + i : -1;
        if (i % 3 == 0)
            MPI_Iallreduce(&in[i], &out[i], 1, MPI_LONG, MPI_SUM, inter, &r[i]);
        else if (i % 3 == 1)
            MPI_Ibcast(&out[i], 1, MPI_LONG, to, inter, &r[i]);
        else
            MPI_Ireduce(&in[i], &out[i], 1, MPI_LONG, MPI_MAX, to, inter, &r[i]);
    }
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        int to = root_of(i / 3 % 2, 0);
        if (i % 3 == 0)
            EQUAL(out[i], sum(!here, theirs, i));
        else if (i % 3 == 1)
            EQUAL(out[i], to == MPI_PROC_NULL ? -1 : 77 + i);
        else
            EQUAL(out[i], to == MPI_ROOT ? value(!here, theirs - 1, i) : -1);
    }
}

static void refused(void)
{
    int x = 1, y = 2, one[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, zero[8] = { 0 };
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Bcast(&x, 1, MPI_INT, theirs, inter)), MPI_ERR_ROOT);
    EQUAL(class_of(MPI_Bcast(&x, 1, MPI_INT, -17, inter)), MPI_ERR_ROOT);
    EQUAL(class_of(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, theirs, inter)), MPI_ERR_ROOT);
    EQUAL(class_of(MPI_Igather(&x, 1, MPI_INT, &y, 1, MPI_INT, theirs, inter, &none)), MPI_ERR_ROOT);
    EQUAL(class_of(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, inter)), MPI_ERR_COMM);
    EQUAL(class_of(MPI_Iexscan(&x, &y, 1, MPI_INT, MPI_SUM, inter, &none)), MPI_ERR_COMM);
    EQUAL(class_of(MPI_Allreduce(MPI_IN_PLACE, &y, 1, MPI_INT, MPI_SUM, inter)), MPI_ERR_BUFFER);
    EQUAL(class_of(MPI_Reduce_scatter_block(MPI_IN_PLACE, &y, 1, MPI_INT, MPI_SUM, inter)),
          MPI_ERR_BUFFER);
    EQUAL(class_of(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, &y, 1, MPI_INT, inter)), MPI_ERR_BUFFER);
    EQUAL(class_of(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, &y, 1, MPI_INT, inter)), MPI_ERR_BUFFER);
    EQUAL(class_of(MPI_Alltoallv(MPI_IN_PLACE, one, zero, MPI_INT, &y, one, zero, MPI_INT, inter)),
          MPI_ERR_BUFFER);
    EQUAL(class_of(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, &y, 1, MPI_INT, 0, inter)), MPI_ERR_BUFFER);
    EQUAL(class_of(MPI_Reduce(MPI_IN_PLACE, &y, 1, MPI_INT, MPI_SUM, 0, inter)), MPI_ERR_BUFFER);
    /* None of these has taken part in anything: the next call is the same everywhere. */
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, inter);
    EQUAL(y, theirs);
    /* On one group the special roots mean nothing. */
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Bcast(&x, 1, MPI_INT, MPI_ROOT, half)), MPI_ERR_ROOT);
    EQUAL(class_of(MPI_Gatherv(&x, 1, MPI_INT, &y, one, zero, MPI_INT, MPI_PROC_NULL, half)),
          MPI_ERR_ROOT);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    here = rank % 3 == 1;
    MPI_Comm_split(MPI_COMM_WORLD, here, rank, &half);
    MPI_Comm_rank(half, &mine);
    MPI_Comm_size(half, &ours);
    theirs = size - ours;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, here ? 0 : 1, 3, &inter);
    refused();
    for (form = BLOCKING; form < FORMS; form++) {
        int sizes[2] = { here ? theirs : ours, here ? ours : theirs };
        for (int k = 0; k < 4; k++) {
            int n = (int[]){ 0, 1, 30, 20000 }[k];
            for (int g = 0; g < 2; g++)
                for (int root = 0; root < sizes[g]; root += n > 1000 ? 3 : 1) {
                    rooted(n, g, root);
                    varying(n, g, root);
                }
            everyone(n);
            reductions(n);
        }
        ordered();
        barrier();
    }
    together();
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return finish();
}
