// Members that are apart by more calls than the numbers of collectives can tell apart, and operations that stay
// while more come and go than there are numbers. Here numbers have few bits, so that they wrap soon.
// Two runs have the numbers that everybody has, and steps enough to wrap them.
// only: catena
// run: --set LINK=tcp -n 3 -- ahead all 200000
// run: -n 2 -- rounds all 2200000
// run: --set LINK=tcp --set COLL_NUMBER_BITS=4 -n 3 -- ahead
// run: --set COLL_NODE=0 --set COLL_NUMBER_BITS=4 -n 3 -- ahead
// run: --set LINK=tcp --set COLL_NUMBER_BITS=4 -n 3 -- behind
// run: --set COLL_NUMBER_BITS=4 -n 3 -- behind
// run: --set LINK=tcp --set COLL_NUMBER_BITS=4 -n 3 -- kept
// run: --set COLL_NUMBER_BITS=4 -n 3 -- kept
// run: --set COLL_NUMBER_BITS=4 -n 2 -- full
// run: --set LINK=tcp --set COLL_NUMBER_BITS=4 -n 2 -- full
// run: --set COLL_NUMBER_BITS=4 -n 4 -- full inter
// run: --set COLL_NUMBER_BITS=4 -n 3 -- random
// run: --set COLL_NUMBER_BITS=4 --set COLL_NODE=0 -n 4 -- random
// run: --set COLL_NUMBER_BITS=3 --set LINK=tcp -n 3 -- random
// run: --set COLL_NUMBER_BITS=4 --set LINK=tcp -n 5 -- random
// run: --set COLL_NUMBER_BITS=4 -n 5 -- random inter
// run: --set COLL_NUMBER_BITS=4 --set LINK=tcp -n 4 -- random inter
#include "../check.h"

enum { SLOTS = 16, LIVE = 40, EACH = 30 };

static MPI_Comm comm;
static int peers; /* ranks whose operands make a sum here */
static int inter;
static int steps = 100;

/* Rank 1 begins when rank 2 is through with all; rank 0 waits for it with what rank 2 has sent. */
static void ahead(void)
{
    int in = rank + 1, out;
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < steps; i++) {
        MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, comm);
        if (rank == 0)
            EQUAL(out, size * (size + 1) / 2);
        MPI_Reduce(&in, &out, 1, MPI_INT, MPI_MIN, 0, comm);
        if (rank == 0)
            EQUAL(out, 1);
        MPI_Reduce(&in, &out, 1, MPI_INT, MPI_MAX, 0, comm);
        if (rank == 0)
            EQUAL(out, size);
    }
    if (rank == 2)
        MPI_Send(NULL, 0, MPI_INT, 1, 0, comm);
}

/* Far more operations than numbers are started before anybody waits, and before rank 0 takes part at all. */
static void behind(void)
{
    static int value[LIVE], got[LIVE];
    MPI_Request all[LIVE];
    if (rank == 0)
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < LIVE; i++) {
        value[i] = i ? rank + i : rank == 0 ? 17 : -1;
        if (i == 0)
            MPI_Ibcast(value, 1, MPI_INT, 0, comm, &all[0]);
        else
            MPI_Ireduce(&value[i], &got[i], 1, MPI_INT, MPI_SUM, 0, comm, &all[i]);
    }
    if (rank == 1)
        MPI_Send(NULL, 0, MPI_INT, 0, 0, comm);
    MPI_Waitall(LIVE, all, MPI_STATUSES_IGNORE);
    EQUAL(value[0], 17);
    if (rank == 0)
        for (int i = 1; i < LIVE; i++)
            EQUAL(got[i], size * (size - 1) / 2 + size * i);
}

static int one, ones;

static void init(MPI_Request *request)
{
    MPI_Allreduce_init(&one, &ones, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, request);
}

static void round_of(MPI_Request *request)
{
    one = 1, ones = 0;
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    EQUAL(ones, peers);
}

/* A persistent operation that is under way, and one that is not, stay while others come and go. */
static void kept(void)
{
    MPI_Request first, pending, other;
    int value = rank, sum = -1;
    init(&first);
    MPI_Bcast_init(&value, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &pending);
    if (rank)
        MPI_Start(&pending);
    for (int i = 0; i < steps; i++) {
        init(&other);
        if (i == steps / 2 && rank == 0)
            MPI_Start(&pending);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(sum, size * (size - 1) / 2);
        round_of(&other);
        MPI_Request_free(&other);
        round_of(&first);
    }
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    EQUAL(value, 0);
    MPI_Request_free(&pending);
    MPI_Request_free(&first);
}

/* A persistent operation stays while more are made than there are numbers. */
static void rounds(void)
{
    MPI_Request first, other;
    init(&first);
    for (int i = 0; i < steps; i++) {
        init(&other);
        MPI_Request_free(&other);
    }
    round_of(&first);
    MPI_Request_free(&first);
}

/* There are 16 slots. What holds them all is told what to do, and everything works once some are free. */
static void full(void)
{
    MPI_Request all[SLOTS], more;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < SLOTS; i++)
        init(&all[i]);
    for (int again = 0; again < 2; again++) {
        char text[MPI_MAX_ERROR_STRING];
        int code = MPI_Allreduce_init(&one, &ones, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &more), n;
        EQUAL(class_of(code), MPI_ERR_NO_MEM);
        MPI_Error_string(code, text, &n);
        CHECK(strstr(text, "free some of them"));
    }
    for (int i = 0; i < steps; i++) {
        int at = i * 7 % SLOTS;
        MPI_Request_free(&all[at]);
        init(&all[at]);
        round_of(&all[(at + i) % SLOTS]);
    }
    for (int i = 0; i < SLOTS; i++)
        MPI_Request_free(&all[i]);
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 10;
}

/* Operations in random order, which `common` says alike at all members; which of those under way is waited for,
   and when, each decides alone. */
static void random_program(void)
{
    static struct { MPI_Request request; int in, out, kind, base; } at[LIVE];
    static MPI_Request persistent[4];
    static int gives[4], gets[4], active[4];
    unsigned common = 12345, own = 999 + rank;
    int me, all = peers * (peers - 1) / 2;
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < LIVE; i++)
        at[i].request = MPI_REQUEST_NULL;
    for (int i = 0; i < 4; i++)
        persistent[i] = MPI_REQUEST_NULL;
    for (int step = 0; step < EACH * steps; step++) {
        int base = next(&common) % 1000, what = next(&common) % 8, i = next(&common) % LIVE, p = base % 4;
        int root = base % peers, in = me + base, out = -1;
        if (what < 5 && at[i].request != MPI_REQUEST_NULL) {
            MPI_Wait(&at[i].request, MPI_STATUS_IGNORE);
        }
        if (what < 5 && at[i].base) {
            if (at[i].kind < 3)
                EQUAL(at[i].out, all + peers * (at[i].base - 1));
            at[i].base = 0;
        }
        switch (what) {
        case 0: case 1: case 2:
            at[i].in = in, at[i].base = base + 1, at[i].kind = what;
            MPI_Iallreduce(&at[i].in, &at[i].out, 1, MPI_INT, MPI_SUM, comm, &at[i].request);
            break;
        case 3:
            at[i].kind = 3, at[i].base = base + 1;
            MPI_Ibarrier(comm, &at[i].request);
            break;
        case 4:
            if (inter)
                break;
            at[i].in = in, at[i].base = base + 1, at[i].kind = me == root ? 0 : 3;
            MPI_Ireduce(&at[i].in, &at[i].out, 1, MPI_INT, MPI_SUM, root, comm, &at[i].request);
            break;
        case 5:
            if (inter) {
                MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
                EQUAL(out, all + peers * base);
                break;
            }
            MPI_Reduce(&in, &out, 1, MPI_INT, base % 2 ? MPI_SUM : MPI_MAX, root, comm);
            if (me == root)
                EQUAL(out, base % 2 ? all + peers * base : peers - 1 + base);
            break;
        default:
            if (persistent[p] != MPI_REQUEST_NULL && what == 7) {
                if (active[p]) {
                    MPI_Wait(&persistent[p], MPI_STATUS_IGNORE);
                    EQUAL(gets[p], all + peers * active[p]);
                }
                MPI_Request_free(&persistent[p]);
                active[p] = 0;
            }
            if (persistent[p] == MPI_REQUEST_NULL)
                MPI_Allreduce_init(&gives[p], &gets[p], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent[p]);
            if (active[p]) {
                MPI_Wait(&persistent[p], MPI_STATUS_IGNORE);
                EQUAL(gets[p], all + peers * active[p]);
            }
            active[p] = base + 1, gives[p] = me + active[p];
            MPI_Start(&persistent[p]);
        }
        int flag, mine = next(&own) % (4 * LIVE);
        if (mine < LIVE)
            MPI_Test(&at[mine].request, &flag, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < LIVE; i++) {
        MPI_Wait(&at[i].request, MPI_STATUS_IGNORE);
        if (at[i].base && at[i].kind < 3)
            EQUAL(at[i].out, all + peers * (at[i].base - 1));
    }
    for (int i = 0; i < 4; i++)
        if (persistent[i] != MPI_REQUEST_NULL) {
            MPI_Wait(&persistent[i], MPI_STATUS_IGNORE);
            MPI_Request_free(&persistent[i]);
        }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    comm = MPI_COMM_WORLD, peers = size, inter = argc > 2 && !strcmp(argv[2], "inter");
    if (argc > 3)
        steps = atoi(argv[3]);
    if (inter) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &comm);
        MPI_Comm_remote_size(comm, &peers);
        MPI_Comm_free(&half);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    if (!strcmp(argv[1], "ahead"))
        ahead();
    else if (!strcmp(argv[1], "behind"))
        behind();
    else if (!strcmp(argv[1], "kept"))
        kept();
    else if (!strcmp(argv[1], "rounds"))
        rounds();
    else if (!strcmp(argv[1], "full"))
        full();
    else if (!strcmp(argv[1], "random"))
        random_program();
    else
        CHECK(!"a mode");
    MPI_Comm_free(&comm);
    return finish();
}
