// Members that call different collectives, or with different arguments, are told who and what.
// only: catena
// waits: until a call counts as one that nobody answers
// run: -n 2 -- return
// run: --set LINK=shm -n 2 -- board
// run: -n 4 -- kind ; fails ; says rank 3 called MPI_Alltoall, and ranks? 0( to 2|, 1| and \d)? called MPI_Barrier
// run: -n 4 -- root ; fails ; says rank 3 called MPI_Bcast with root 1, and ranks 0 to 2 called MPI_Bcast with root 0
// run: -n 4 -- operation ; fails ; says MPI_Allreduce with MPI_MAX
// run: --set COLL_NODE_STARTED=0 -n 4 -- count ; fails ; says the arguments of MPI_Gather differ: rank 3 passed 16 bytes, and ranks 0 to 2 8
// run: --set LINK=shm -n 4 -- count ; fails ; says the arguments of MPI_Gather differ: rank 3 passed 16 bytes, and ranks (0 to|1 and) 2 8
// run: -n 2 -- silent board ; fails ; says cast with root 0.*cast with root 1|cast with root 1.*cast with root 0
// run: -n 5 -- silent board ; fails ; says MPI_Bcast with root 0.*MPI_Bcast with root 1|MPI_Bcast with root 1.*MPI_Bcast with root 0
// run: -n 5 -- silent started ; fails ; says MPI_Scatter with root 0.*MPI_Scatter with root 1|MPI_Scatter with root 1.*MPI_Scatter with root 0
// run: --set LINK=tcp -n 3 -- silent board ; fails ; says MPI_Bcast with root 0.*MPI_Bcast with root 1|MPI_Bcast with root 1.*MPI_Bcast with root 0
// run: -n 3 -- silent persistent ; fails ; says MPI_Bcast with root 0.*MPI_Bcast with root 1|MPI_Bcast with root 1.*MPI_Bcast with root 0
// run: --set LINK=shm -n 3 -- silent form ; fails ; says the blocking form of MPI_Barrier.*another form|another form.*the blocking form
// run: -n 3 -- silent kept ; fails ; says rank 0 called the persistent form of MPI_Allreduce( with MPI_SUM)?, and ranks 1 and 2 called MPI_Allreduce
// run: --set LINK=tcp -n 3 -- silent kept ; fails ; says rank 0 called the persistent form of MPI_Allreduce with MPI_SUM, and ranks 1 and 2 called MPI_Allreduce
// run: --set LINK=shm -n 4 -- silent kept dup ; fails ; says rank 0 called the persistent form of MPI_Allreduce( with MPI_SUM)?, and ranks 1 to 3 called MPI_Allreduce
// run: -n 3 -- silent kept_blocking ; fails ; says rank 0 called the persistent form of MPI_Allreduce( with MPI_SUM)?, and ranks 1 and 2 called MPI_Allreduce
// run: --set LINK=shm -n 2 -- silent kept_blocking dup ; fails ; says rank 0 called the persistent form of MPI_Allreduce.*rank [1-3] called (its first collective|MPI_Allreduce)|rank [1-3] called (its first collective|MPI_Allreduce).*rank 0 called the persistent form of MPI_Allreduce
// run: -n 2 -- silent kept_bcast ; fails ; says rank 0 called MPI_Bcast with root 0, and rank 1 called the persistent form of MPI_Bcast
// run: --set LINK=tcp -n 2 -- silent kept_bcast ; fails ; says rank 0 called MPI_Bcast with root 0, and rank 1 called the persistent form of MPI_Bcast with root 0
// run: -n 3 -- silent board dup ; fails ; says MPI_Bcast with root 0.*MPI_Bcast with root 1|MPI_Bcast with root 1.*MPI_Bcast with root 0
// run: -n 5 -- silent started dup ; fails ; says MPI_Scatter with root 0.*MPI_Scatter with root 1|MPI_Scatter with root 1.*MPI_Scatter with root 0
// run: --set LINK=tcp -n 3 -- silent persistent dup ; fails ; says MPI_Bcast with root 0.*MPI_Bcast with root 1|MPI_Bcast with root 1.*MPI_Bcast with root 0
// run: -n 4 -- silent board reversed ; fails ; says MPI_Bcast with root 0.*MPI_Bcast with root 1|MPI_Bcast with root 1.*MPI_Bcast with root 0
// run: -n 3 -- silent board late ; fails ; says MPI_Bcast with root 0.*MPI_Bcast with root 1|MPI_Bcast with root 1.*MPI_Bcast with root 0
// run: -n 3 -- silent behind dup ; fails ; says MPI_Bcast with root 0.*MPI_Bcast with root 1|MPI_Bcast with root 1.*MPI_Bcast with root 0
// run: -n 2 -- silent none ; fails ; says the arguments of MPI_Reduce differ: rank [01] passed 0 bytes, and rank [01] 160000|the arguments of MPI_Reduce differ: rank [01] passed 160000 bytes, and rank [01] 0\.
// run: -n 4 -- silent none dup ; fails ; says the arguments of MPI_Reduce differ: rank [0-3] passed (0|160000) bytes
// run: -n 3 -- silent nothing dup ; fails ; says rank [12] waits in MPI_Alltoallv .*for rank 0, which called something else, or had nothing
// run: --set LINK=shm -n 4 -- silent sum dup ; fails ; says the arguments of MPI_Allreduce differ: rank 0 passed 0 bytes, and ranks 1 to 3 more
// run: --set LINK=tcp -n 3 -- silent sum dup ; fails ; says the arguments of MPI_Allreduce differ: rank 0 passed 0 bytes, and ranks 1 and 2 160000
// run: --set LINK=shm -n 2 -- silent nothing dup ; fails ; says the arguments of MPI_Alltoallv or MPI_Alltoallw differ: rank 0 passed 0 bytes, and rank 1 more
// run: -n 3 -- silent few dup ; fails ; says rank 0 waits in MPI_Gatherv with root 0 for rank [12], which called something else, or had nothing|the arguments of MPI_Gatherv differ: rank [12] passed 0 bytes, and rank 0 16
// run: -n 3 -- silent ended dup ; fails ; says the arguments of MPI_Bcast differ: rank 0 passed 0 bytes, and ranks 1 and 2 160000
// run: --set LINK=tcp -n 4 -- silent ended ; fails ; says the arguments of MPI_Bcast differ: rank 0 passed 0 bytes, and ranks 1 to 3 160000
// run: -n 4 -- silent inter inter ; fails ; says of the remote group called MPI_(Bcast|Scatter) with root 0, and rank [01] called MPI_(Bcast|Scatter)
// run: --set LINK=shm -n 2 -- silent roots ; fails ; says MPI_Barrier: .*rank 1 called MPI_Bcast with root 1, and rank 0 called MPI_Bcast with root 0
// run: --set LINK=shm -n 4 -- silent roots ; fails ; says MPI_Barrier: .*rank [1-3] called MPI_Bcast with root [1-3], and rank 0 called MPI_Bcast with root 0
// run: --set LINK=shm -n 3 -- silent apart ; fails ; says MPI_Barrier: .*before this one, rank [0-2] called something else than rank [0-2]
#include "../check.h"
#include <unistd.h>

enum { N = 20000 };

static MPI_Comm comm;
static MPI_Request request;
static long in[2 * N], out[2 * N];
static char text[MPI_MAX_ERROR_STRING];

/* Waits for what must fail; its text is in `text`. */
static void told(int code, int class, const char *part, const char *other)
{
    int n;
    CHECK(code == MPI_SUCCESS);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(class_of(code), class);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Error_string(code, text, &n);
    if (!strstr(text, part) || !strstr(text, other))
        fprintf(stderr, "rank %d: \"%s\" or \"%s\" is missing in: %s\n", rank, part, other, text);
    CHECK(strstr(text, part) && strstr(text, other));
}

/* A communicator that is given up after each failure. */
static void again(void)
{
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

/* Short messages, and long ones that are only announced. Rank 1 calls it differently. */
static void returned(void)
{
    comm = MPI_COMM_NULL;
    for (int n = 2; n <= N; n *= N / 2) {
        again();
        told(rank ? MPI_Iallreduce(in, out, n, MPI_LONG, MPI_SUM, comm, &request)
                  : MPI_Ialltoall(in, n, MPI_LONG, out, n, MPI_LONG, comm, &request),
             MPI_ERR_OTHER, "MPI_Allreduce with MPI_SUM", "MPI_Alltoall");
        again();
        told(MPI_Iallreduce(in, out, n, MPI_LONG, rank ? MPI_SUM : MPI_MAX, comm, &request),
             MPI_ERR_OTHER, rank ? "rank 0 called MPI_Allreduce with MPI_MAX" : "MPI_SUM",
             rank ? "rank 1 called MPI_Allreduce with MPI_SUM" : "MPI_MAX");
        again();
        told(MPI_Iallgather(in, n - rank * n / 2, MPI_LONG, out, n - rank * n / 2, MPI_LONG, comm, &request),
             MPI_ERR_TRUNCATE, "the arguments of MPI_Allgather differ", "bytes");
        again();
        int rc = rank ? MPI_Iscan(in, out, n, MPI_LONG, MPI_SUM, comm, &request)
                      : MPI_Iexscan(in, out, n, MPI_LONG, MPI_SUM, comm, &request);
        if (rank)
            told(rc, MPI_ERR_OTHER, "rank 0 called MPI_Exscan", "rank 1 called MPI_Scan");
        else if (n == 2) /* a long one waits for rank 1, which will never take it */
            EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        else
            MPI_Request_free(&request);
        again();
        rc = MPI_Igather(in, n + rank, MPI_LONG, out, n, MPI_LONG, 0, comm, &request);
        if (rank == 0)
            told(rc, MPI_ERR_TRUNCATE, "the arguments of MPI_Gather differ: rank 1 ", "rank 0 ");
        else if ((rc = MPI_Wait(&request, MPI_STATUS_IGNORE)) != MPI_SUCCESS) /* perhaps it is told */
            EQUAL(class_of(rc), MPI_ERR_TRUNCATE);
        for (int whole = 0; whole < 2; whole++) {
            MPI_Op op = rank ? MPI_SUM : MPI_MAX;
            again();
            rc = whole ? MPI_Allreduce(in, out, n, MPI_LONG, op, comm)
                       : MPI_Reduce_scatter_block(in, out, n / 2, MPI_LONG, op, comm);
            EQUAL(class_of(rc), MPI_ERR_OTHER);
            MPI_Error_string(rc, text, &(int){0});
            CHECK(strstr(text, "with MPI_SUM") && strstr(text, "with MPI_MAX"));
        }
        again();
        MPI_Request r;
        MPI_Allreduce_init(in, out, n, MPI_LONG, rank ? MPI_MIN : MPI_PROD, comm, MPI_INFO_NULL, &r);
        for (int times = 0; times < 2; times++) {
            int is_told, length;
            MPI_Start(&r);
            is_told = MPI_Wait(&r, MPI_STATUS_IGNORE);
            EQUAL(class_of(is_told), MPI_ERR_OTHER);
            MPI_Error_string(is_told, text, &length);
            CHECK(strstr(text, "MPI_MIN") && strstr(text, "MPI_PROD"));
        }
        MPI_Request_free(&r);
        /* The others go on. */
        long sum, one = 1;
        MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EQUAL(sum, size);
    }
    MPI_Comm_free(&comm);
}

/* What blocking calls on a board see of each other, and messages do not. */
static void on_board(void)
{
    comm = MPI_COMM_NULL;
    for (int n = 2; n <= N; n *= N / 2) {
        again();
        int rc = MPI_Reduce(in, out, n, MPI_LONG, rank ? MPI_SUM : MPI_MAX, 0, comm);
        /* Who only gives its data sees nothing of the others. */
        if (rank == 0 || rc != MPI_SUCCESS) {
            EQUAL(class_of(rc), MPI_ERR_OTHER);
            MPI_Error_string(rc, text, &(int){0});
            CHECK(strstr(text, " MPI_SUM") && strstr(text, " MPI_MAX"));
        }
        /* Who has no data is through at once; the other one's must be its own again. */
        for (int which = 0; which < 3; which++) {
            again();
            int mine = rank ? n / 2 : 0, blocks[2] = {mine, mine}, places[2] = {0, n};
            rc = which == 0   ? MPI_Reduce_scatter(in, out, blocks, MPI_LONG, MPI_SUM, comm)
                 : which == 1 ? MPI_Exscan(in, out, mine, MPI_LONG, MPI_SUM, comm)
                              : MPI_Gatherv(in, mine, MPI_LONG, out, blocks, places, MPI_LONG, 1, comm);
            EQUAL(class_of(rc), rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        again();
        MPI_Comm ring;
        int mine = n / 2 + rank;
        MPI_Cart_create(comm, 1, &size, (int[]){1}, 0, &ring);
        rc = MPI_Neighbor_alltoall(in, mine, MPI_LONG, out, mine, MPI_LONG, ring);
        EQUAL(class_of(rc), MPI_ERR_TRUNCATE);
        MPI_Error_string(rc, text, &(int){0});
        CHECK(strstr(text, "the arguments of a neighborhood collective differ"));
        MPI_Comm_free(&ring);
    }
    MPI_Comm_free(&comm);
}

/* The communicator of a silent mismatch. */
static void choose(const char *which)
{
    MPI_Comm half;
    if (!strcmp(which, "dup"))
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (!strcmp(which, "reversed"))
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    else if (!strcmp(which, "inter")) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &comm);
    } else if (!strcmp(which, "late")) {
        /* The others ask the late one about what is freed when it looks. */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == 1)
            usleep(800000);
        MPI_Bcast(in, 2, MPI_LONG, 1, comm);
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else
        comm = MPI_COMM_WORLD;
}

/* A persistent operation, and another form of the same. */
static void kept(const char *how)
{
    int keeps = rank == 0;
    if (!strcmp(how, "kept_bcast")) {
        /* The root is through before anybody asks it. */
        keeps = rank != 0;
        if (keeps)
            MPI_Bcast_init(in, 2, MPI_LONG, 0, comm, MPI_INFO_NULL, &request);
        else
            MPI_Ibcast(in, 2, MPI_LONG, 0, comm, &request);
    } else if (keeps)
        MPI_Allreduce_init(in, out, 2, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &request);
    else if (!strcmp(how, "kept_blocking"))
        MPI_Allreduce(in, out, 2, MPI_LONG, MPI_SUM, comm);
    else
        MPI_Iallreduce(in, out, 2, MPI_LONG, MPI_SUM, comm, &request);
    if (keeps)
        MPI_Start(&request);
}

/* Nobody sends anything that could show it. */
static void silent(const char *how)
{
    MPI_Request other = MPI_REQUEST_NULL;
    int me, root;
    MPI_Comm_rank(comm, &me);
    root = me == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "board"))
        MPI_Bcast(in, N, MPI_LONG, root, comm);
    else if (!strcmp(how, "roots"))
        /* Nobody reads, so all are through. */
        MPI_Bcast(in, 2, MPI_LONG, rank, comm);
    else if (!strcmp(how, "apart")) {
        int none[8] = {0};
        if (rank < 2)
            MPI_Bcast(in, 2, MPI_LONG, 0, comm);
        else
            MPI_Alltoallv(in, none, none, MPI_LONG, out, none, none, MPI_LONG, comm);
    } else if (!strcmp(how, "none"))
        /* One has no data: it must not be through before the others have seen that. */
        MPI_Reduce(in, out, rank ? N : 0, MPI_LONG, MPI_SUM, size - 1, comm);
    else if (!strcmp(how, "nothing")) {
        int counts[8], places[8] = {0};
        for (int i = 0; i < size; i++)
            counts[i] = rank ? 2 : 0;
        MPI_Alltoallv(in, counts, places, MPI_LONG, out, counts, places, MPI_LONG, comm);
    } else if (!strcmp(how, "sum"))
        /* The one without data is through at once; the others learn of it when they ask. */
        MPI_Allreduce(in, out, rank ? N : 0, MPI_LONG, MPI_SUM, comm);
    else if (!strcmp(how, "few")) {
        int counts[8] = {2, 2, 2, 2}, places[8] = {0};
        MPI_Igatherv(in, rank ? 0 : 2, MPI_LONG, out, counts, places, MPI_LONG, 0, comm, &request);
    } else if (!strcmp(how, "ended"))
        MPI_Ibcast(in, rank ? N : 0, MPI_LONG, 0, comm, &request);
    else if (!strcmp(how, "started"))
        MPI_Iscatter(in, 2, MPI_LONG, out, 2, MPI_LONG, root, comm, &request);
    else if (!strncmp(how, "kept", 4))
        kept(how);
    else if (!strcmp(how, "persistent")) {
        MPI_Bcast_init(in, 2, MPI_LONG, root, comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    } else if (!strcmp(how, "behind")) {
        /* Behind another one that nobody ends. */
        if (rank == 0)
            MPI_Ibarrier(MPI_COMM_WORLD, &other);
        MPI_Ibcast(in, 2, MPI_LONG, root, comm, &request);
    } else if (!strcmp(how, "inter")) {
        if (rank % 2)
            MPI_Iscatter(NULL, 0, MPI_LONG, out, 2, MPI_LONG, 0, comm, &request);
        else
            MPI_Ibcast(in, 2, MPI_LONG, 0, comm, &request);
    } else if (rank)
        MPI_Ibarrier(comm, &request);
    else
        MPI_Barrier(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "return";
    int odd = rank == 3;
    if (!strcmp(what, "return"))
        returned();
    else if (!strcmp(what, "board"))
        on_board();
    else if (!strcmp(what, "silent")) {
        request = MPI_REQUEST_NULL;
        choose(argc > 3 ? argv[3] : "world");
        silent(argv[2]);
    } else if (!strcmp(what, "kind")) {
        if (odd)
            MPI_Ialltoall(in, 1, MPI_LONG, out, 1, MPI_LONG, MPI_COMM_WORLD, &request);
        else
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "root")) {
        MPI_Ibcast(in, 1, MPI_LONG, odd, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "operation")) {
        MPI_Iallreduce(in, out, 1, MPI_LONG, odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "count")) {
        MPI_Igather(in, 1 + odd, MPI_LONG, out, 1, MPI_LONG, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    /* Who notices nothing waits here for those who do. */
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
