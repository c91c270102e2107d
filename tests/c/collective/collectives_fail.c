// Where members call different collectives, or one of them runs out of memory, nobody waits for ever.
// Every member that takes part is told who called what, blocking or not, and the program goes on with
// other communicators.
// only: catena
// run: --set LINK=shm -n 3
// run: --set LINK=shm -n 4
// run: --set LINK=shm -n 5
// run: --set COLL_ALLREDUCE=ring --set COLL_ALLTOALL=pairwise --set COLL_ALLGATHER=ring --set COLL_BCAST=scatter_ring --set COLL_GATHERV=linear --set COLL_BARRIER=dissemination --set COLL_REDUCE=binomial -n 4 -- plans
// run: --set LINK=shm --set COLL_NODE_STARTED=0 -n 4
// run: --set LINK=shm --set COLL_NODE_STARTED=0 -n 3 -- mixed
// run: --set LINK=shm --set COLL_NODE_STARTED=0 -n 5 -- mixed
// run: --set LINK=shm -n 2 -- first
// run: --set LINK=shm -n 5 -- first
#include "../check.h"

enum { N = 40000 };

static MPI_Comm comm;
static long *in, *out;
static char text[MPI_MAX_ERROR_STRING];
static int told, plans;

/* A communicator that is given up after each failure. */
static void again(void)
{
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    told = 0;
}

/* Notes the outcome; the words that must be in the text of an error. */
static void ended(int code, const char *part, const char *other)
{
    int n;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &n);
    if (!strstr(text, part) || !strstr(text, other))
        fprintf(stderr, "rank %d: \"%s\" or \"%s\" is missing in: %s\n", rank, part, other, text);
    CHECK(strstr(text, part) && strstr(text, other));
    told = 1;
}

/* So many members were told at least. */
static void heard(int least)
{
    int all;
    MPI_Allreduce(&told, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all < least)
        fprintf(stderr, "%d of %d members were told, of %d\n", all, least, size);
    CHECK(all >= least);
}

static int waited(int code, MPI_Request *request)
{
    return code ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int persistent(int code, MPI_Request *request)
{
    if (code)
        return code;
    MPI_Start(request);
    code = MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
    return code;
}

/* The last rank calls something else; everybody hears of it. */
static void kinds(int n)
{
    int odd = rank == size - 1;
    MPI_Request r;
    again();
    ended(odd ? MPI_Alltoall(in, n, MPI_LONG, out, n, MPI_LONG, comm)
              : MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, comm), "ll", "ll");
    heard(size);
    again();
    ended(waited(odd ? MPI_Ialltoall(in, n, MPI_LONG, out, n, MPI_LONG, comm, &r)
                     : MPI_Iallreduce(in, out, n, MPI_LONG, MPI_SUM, comm, &r), &r),
          "MPI_Alltoall", "MPI_Allreduce");
    heard(size);
    again();
    ended(persistent(
              odd ? MPI_Alltoall_init(in, n, MPI_LONG, out, n, MPI_LONG, comm, MPI_INFO_NULL, &r)
                  : MPI_Allreduce_init(in, out, n, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &r), &r),
          "MPI_Alltoall", "MPI_Allreduce");
    heard(size);
}

/* The last rank names another root, operation or count. */
static void arguments(int n)
{
    int odd = rank == size - 1;
    MPI_Request r;
    /* Who sends to a root may be done before anything is wrong. */
    again();
    ended(MPI_Allgather(in, n - odd, MPI_LONG, out, n - odd, MPI_LONG, comm), "all", "bytes");
    heard(2);
    again();
    ended(waited(MPI_Iallreduce(in, out, n, MPI_LONG, odd ? MPI_MAX : MPI_SUM, comm, &r), &r),
          "MPI_MAX", "MPI_SUM");
    heard(size);
    MPI_Op op = odd ? MPI_MAX : MPI_SUM;
    again();
    ended(MPI_Reduce(in, out, n, MPI_LONG, op, 1, comm), "root 1 and MPI_MAX", "root 1 and MPI_SUM");
    heard(1);
    again();
    ended(waited(MPI_Ireduce(in, out, n, MPI_LONG, op, 0, comm, &r), &r),
          "root 0 and MPI_MAX", "root 0 and MPI_SUM");
    heard(1);
    again();
    int code = MPI_Bcast(in, n, MPI_LONG, odd ? 1 : 0, comm);
    int next = MPI_Barrier(comm);
    ended(code ? code : next, "cast", "root 1");
    /* Who is done with one plan may begin another; a board fails as a whole. */
    heard(plans ? 1 : size);
    again();
    code = waited(MPI_Ibcast(in, n, MPI_LONG, odd ? 1 : 0, comm, &r), &r);
    ended(code, "MPI_Bcast with root 0", "MPI_Bcast with root 1");
    heard(1);
    if (n < 100)
        return;
    /* Blocks that are copied straight into the root's buffer: nothing comes after the error. */
    again();
    int counts[8], displs[8];
    for (int i = 0; i < size; i++)
        counts[i] = n, displs[i] = i * n;
    memset(in, 1, n * sizeof *in);
    code = MPI_Gatherv(in, n - odd, MPI_LONG, out, counts, displs, MPI_LONG, 0, comm);
    if (rank == 0) {
        CHECK(code != MPI_SUCCESS);
        memset(out, 0, size * n * sizeof *out);
    }
    ended(code, "ather", "bytes");
    heard(1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size * n; i++)
        EQUAL(out[i], 0);
}

/* One member lacks memory for what it does, which is not what the others do (no_memory_one has calls that match). */
static void memory(void)
{
    MPI_Datatype holey;
    MPI_Type_create_hvector(2, 1, 2, MPI_CHAR, &holey);
    MPI_Type_commit(&holey);
    MPI_Count many = (MPI_Count)1 << 48;
    MPI_Request r;
    int odd = rank == size - 1;
    again();
    int code = odd ? MPI_Iallgather_c((void *)64, many, holey, (void *)128, many, holey, comm, &r)
                   : MPI_Iallgather(in, 1, MPI_LONG, out, 1, MPI_LONG, comm, &r);
    ended(waited(code, &r), "", "bytes");
    heard(size);
    again();
    code = odd ? MPI_Allgather_c((void *)64, many, holey, (void *)128, many, holey, comm)
               : MPI_Allgather(in, 1, MPI_LONG, out, 1, MPI_LONG, comm);
    ended(code, "", "bytes");
    heard(size);
    MPI_Type_free(&holey);
}

/* After a failure a communicator says so, and stays silent never. */
static void afterwards(void)
{
    again();
    if (rank == 0)
        ended(MPI_Bcast(in, 1, MPI_LONG, 0, comm), "", "");
    else
        ended(MPI_Reduce(in, out, 1, MPI_LONG, MPI_SUM, 1, comm), "", "");
    for (int i = 0; i < 3; i++)
        ended(MPI_Barrier(comm), "", "");
    heard(size);
}

/* The same if that was the first call, of which one member's took messages: there was no board. */
static void first(void)
{
    int odd = rank == size - 1, periodic = 1;
    MPI_Request r;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    told = 0;
    ended(waited(odd ? MPI_Ineighbor_alltoall(in, 1, MPI_LONG, out, 1, MPI_LONG, comm, &r)
                     : MPI_Ibarrier(comm, &r), &r), "neighborhood", "call");
    heard(size);
    told = 0;
    ended(waited(MPI_Ibarrier(comm, &r), &r), "earlier collective", "failed");
    heard(size);
    told = 0;
    ended(MPI_Barrier(comm), "earlier collective", "failed");
    heard(size);
}

/* Some wait on the board, and others for messages. */
static void mixed(void)
{
    MPI_Datatype holey;
    MPI_Request r;
    MPI_Type_create_hvector(2, 1, 2, MPI_CHAR, &holey);
    MPI_Type_commit(&holey);
    MPI_Count many = (MPI_Count)1 << 48;
    int odd = rank == size - 1;
    again();
    MPI_Barrier(comm);
    int code = odd ? MPI_Iallgather_c((void *)64, many, holey, (void *)128, many, holey, comm, &r)
                   : rank ? MPI_Ibarrier(comm, &r) : MPI_Barrier(comm);
    ended(rank ? waited(code, &r) : code, "rank", "");
    heard(size);
    ended(MPI_Barrier(comm), "earlier collective", "failed");
    again();
    MPI_Bcast(out, N, MPI_LONG, 1, comm);
    code = odd ? waited(MPI_Iallreduce(in, out, N, MPI_LONG, MPI_SUM, comm, &r), &r)
           : rank ? MPI_Allgather(in, N, MPI_LONG, out, N, MPI_LONG, comm) : MPI_Barrier(comm);
    ended(code, "called", "rank");
    heard(size);
    /* Before they have met on the board. */
    again();
    ended(rank ? waited(MPI_Ibarrier(comm, &r), &r) : MPI_Barrier(comm),
          "its first collective through shared memory", "MPI_Barrier");
    heard(size);
    MPI_Type_free(&holey);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    in = calloc(8 * N, sizeof *in);
    out = calloc(8 * N, sizeof *out);
    comm = MPI_COMM_NULL;
    const char *what = argc > 1 ? argv[1] : "";
    plans = !strcmp(what, "plans");
    if (!strcmp(what, "mixed"))
        mixed();
    else if (!strcmp(what, "first"))
        first();
    else {
        for (int n = 2; n <= N; n *= N / 2) {
            kinds(n);
            arguments(n);
        }
        memory();
        if (!plans)
            afterwards();
    }
    MPI_Comm_free(&comm);
    free(in);
    free(out);
    return finish();
}
