// Persistent collectives of all kinds, several under way at once, which members start and complete in different orders,
// with blocking and started ones in between on the same communicator. Mode `ways` (of Catena alone): they need no messages.
// Mode `many`: more of them than there is room for boards. Mode `freed`: before they were started, after it, while others go on
// and after the communicator was freed. Mode `dies`: a member dies before it starts, and while others have started.
// run: -n 2 -- mixed
// run: -n 3 -- mixed
// run: -n 8 -- mixed
// run: -n 3 --set COLL_DIRECT=100 --set COLL_WEIGH=0 -- mixed
// run: -n 4 --set COLL_NODE=0 -- mixed
// run: -n 2 -- many
// run: -n 5 -- many
// run: -n 4 -- freed
// run: -n 2 --set LINK=shm -- ways
// run: -n 5 --set LINK=shm -- ways
// run: -n 66 --set LINK=shm -- ways
// run: -n 2 --with-ft ulfm --set FAULT_STATUS=first --set LINK=shm -- dies ; exit 137 ; says 'rank 0 was told'
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first --set LINK=shm -- dies ; exit 137 ; says 'rank 0 was told' ; says 'rank 2 was told'
#include "../check.h"

#include <signal.h>

enum { KINDS = 12, LENGTHS = 3, MOST = 20000, ROUNDS = 12, RANKS = 66 };

/* A persistent operation and its buffers: blocks of `n` numbers for each rank. */
typedef struct {
    int kind, n, root, number;
    int *in, *out;
    int counts[RANKS], places[RANKS];
    MPI_Request request;
} operation;

static MPI_Comm ring; /* all ranks on a line that is closed */

/* What rank `r` has at place `i` in a round. */
static int value(const operation *o, int r, int round, int i)
{
    return 31 * r + 1009 * o->number + 7 * round + i % 127;
}

/* The block of rank `r` where lengths differ. */
static int length(const operation *o, int r) { return r % 3 == 2 ? 0 : o->n - r % 2; }

static void make(operation *o, MPI_Comm comm, int number, int n)
{
    int *c = o->counts, *d = o->places, all = size * n;
    o->kind = number % KINDS;
    o->number = number;
    o->n = n;
    o->root = number % size;
    o->in = malloc((all + 1) * sizeof(int));
    o->out = malloc((all + 1) * sizeof(int));
    CHECK(o->in && o->out);
    for (int r = 0; r < size; r++)
        c[r] = length(o, r), d[r] = r * n;
    MPI_Request *q = &o->request;
    int *in = o->in, *out = o->out;
#define INFO MPI_INFO_NULL
    switch (o->kind) {
    case 0: MPI_Bcast_init(out, n, MPI_INT, o->root, comm, INFO, q); break;
    case 1: MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, comm, INFO, q); break;
    case 2: MPI_Reduce_init(in, out, n, MPI_INT, MPI_SUM, o->root, comm, INFO, q); break;
    case 3: MPI_Scan_init(in, out, n, MPI_INT, MPI_SUM, comm, INFO, q); break;
    case 4: MPI_Gather_init(in, n, MPI_INT, out, n, MPI_INT, o->root, comm, INFO, q); break;
    case 5: MPI_Gatherv_init(in, c[rank], MPI_INT, out, c, d, MPI_INT, o->root, comm, INFO, q); break;
    case 6: MPI_Scatterv_init(in, c, d, MPI_INT, out, c[rank], MPI_INT, o->root, comm, INFO, q); break;
    case 7: MPI_Allgather_init(in, n, MPI_INT, out, n, MPI_INT, comm, INFO, q); break;
    case 8: MPI_Alltoall_init(in, n, MPI_INT, out, n, MPI_INT, comm, INFO, q); break;
    case 9: MPI_Reduce_scatter_block_init(in, out, n, MPI_INT, MPI_SUM, comm, INFO, q); break;
    case 10: MPI_Barrier_init(comm, INFO, q); break;
    default: MPI_Neighbor_alltoall_init(in, n, MPI_INT, out, n, MPI_INT, ring, INFO, q);
    }
}

/* Block b of what a rank has to give begins at b * n. */
static void begin(operation *o, int round)
{
    for (int i = 0; i < size * o->n; i++) {
        o->in[i] = value(o, rank, round, i);
        o->out[i] = o->kind == 0 && rank == o->root ? value(o, rank, round, i) : -1;
    }
    EQUAL(MPI_Start(&o->request), MPI_SUCCESS);
}

static void check_block(const operation *o, int at, int n, int from, int block, int round)
{
    for (int i = 0; i < n; i++)
        EQUAL(o->out[at + i], value(o, from, round, block * o->n + i));
}

static void check_sum(const operation *o, int block, int last, int round)
{
    for (int i = 0; i < o->n; i++) {
        int sum = 0;
        for (int r = 0; r <= last; r++)
            sum += value(o, r, round, block * o->n + i);
        EQUAL(o->out[i], sum);
    }
}

static void check(const operation *o, int round)
{
    int n = o->n, last = size - 1;
    switch (o->kind) {
    case 0: check_block(o, 0, n, o->root, 0, round); break;
    case 1: check_sum(o, 0, last, round); break;
    case 2:
        if (rank == o->root)
            check_sum(o, 0, last, round);
        break;
    case 3: check_sum(o, 0, rank, round); break;
    case 4: case 5:
        for (int r = 0; r < size && rank == o->root; r++)
            check_block(o, r * n, o->kind == 4 ? n : o->counts[r], r, 0, round);
        break;
    case 6: check_block(o, 0, o->counts[rank], o->root, rank, round); break;
    case 7:
        for (int r = 0; r < size; r++)
            check_block(o, r * n, n, r, 0, round);
        break;
    case 8:
        for (int r = 0; r < size; r++)
            check_block(o, r * n, n, r, rank, round);
        break;
    case 9: check_sum(o, rank, last, round); break;
    case 10: break;
    default: /* what goes up arrives from below */
        check_block(o, 0, n, (rank + last) % size, 1, round);
        check_block(o, n, n, (rank + 1) % size, 0, round);
    }
}

static void drop(operation *o)
{
    MPI_Request_free(&o->request);
    free(o->in);
    free(o->out);
}

/* A blocking call of all, one of those that others may start before or behind. */
static void call(int number)
{
    int one = number, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(all, size * number);
}

static void mixed(void)
{
    enum { ALL = KINDS * LENGTHS };
    static const int lengths[LENGTHS] = {1, 1500, MOST};
    static operation all[ALL];
    for (int i = 0; i < ALL; i++)
        make(&all[i], MPI_COMM_WORLD, i, lengths[i / KINDS]);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request other;
        int mine = rank, sum = -1, first = round * 5 % ALL, n = 1 + round * 7 % ALL;
        for (int k = 0; k < n; k++) {
            if (k == n / 2)
                MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &other);
            begin(&all[(first + (rank % 2 ? n - 1 - k : k)) % ALL], round);
            if (k == n / 3)
                call(round);
        }
        for (int k = 0; k < n; k++) {
            operation *o = &all[(first + (rank % 3 == 1 ? n - 1 - k : k)) % ALL];
            int done = 0, index;
            if (k % 3 == 0)
                MPI_Wait(&o->request, MPI_STATUS_IGNORE);
            else if (k % 3 == 1)
                MPI_Waitany(1, &o->request, &index, MPI_STATUS_IGNORE);
            else
                while (!done)
                    MPI_Test(&o->request, &done, MPI_STATUS_IGNORE);
            check(o, round);
        }
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        EQUAL(sum, size * (size - 1) / 2);
        call(round + 1);
    }
    for (int i = 0; i < ALL; i++)
        drop(&all[i]);
}

static void many(void)
{
    enum { ALL = 400 };
    static operation all[ALL];
    for (int i = 0; i < ALL; i++)
        make(&all[i], MPI_COMM_WORLD, i, i % 7 ? 40 : 5000);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < ALL; i++)
            begin(&all[rank % 2 ? ALL - 1 - i : i], round);
        for (int i = 0; i < ALL; i++) {
            MPI_Wait(&all[i].request, MPI_STATUS_IGNORE);
            check(&all[i], round);
        }
    }
    for (int i = 0; i < ALL; i++)
        drop(&all[i]);
}

static void freed(void)
{
    operation never, once, last;
    for (int round = 0; round < 200; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        make(&never, comm, round, 30);
        make(&once, comm, round + 1, 3000);
        make(&last, comm, round + 2, 300);
        drop(&never);
        begin(&once, round);
        begin(&last, round);
        MPI_Comm_free(&comm);
        MPI_Wait(&once.request, MPI_STATUS_IGNORE);
        check(&once, round);
        drop(&once);
        MPI_Wait(&last.request, MPI_STATUS_IGNORE);
        check(&last, round);
        begin(&last, round + 1);
        MPI_Wait(&last.request, MPI_STATUS_IGNORE);
        check(&last, round + 1);
        drop(&last);
    }
}

/* How many messages this process has sent so far. */
static unsigned long long messages(void)
{
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle handle;
    static int is_open;
    unsigned long long sent;
    if (!is_open) {
        int index, provided, n;
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        CHECK(MPI_T_pvar_get_index("sent_messages", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &n);
        MPI_T_pvar_start(session, handle);
        is_open = 1;
    }
    MPI_T_pvar_read(session, handle, &sent);
    return sent;
}

static void ways(void)
{
    for (int i = 0; i < KINDS; i++) {
        operation o;
        make(&o, MPI_COMM_WORLD, i, 1000);
        begin(&o, 0);
        MPI_Wait(&o.request, MPI_STATUS_IGNORE);
        call(1);
        unsigned long long before = messages();
        for (int round = 1; round < 4; round++) {
            begin(&o, round);
            MPI_Wait(&o.request, MPI_STATUS_IGNORE);
            check(&o, round);
        }
        EQUAL(messages() - before, 0);
        drop(&o);
    }
}

/* All others are told; whoever only sends may be through before. */
static void dies(void)
{
    operation all[4];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) {
        make(&all[i], MPI_COMM_WORLD, (int[]){1, 7, 8, 10}[i], i % 2 ? 20 : 20000);
        begin(&all[i], 0);
        MPI_Wait(&all[i].request, MPI_STATUS_IGNORE);
        check(&all[i], 0);
    }
    if (rank == size - 1) {
        begin(&all[0], 1);
        raise(SIGKILL);
    }
    for (int i = 1; i < 4; i++)
        begin(&all[i], 1);
    for (int i = 1; i < 4; i++)
        EQUAL(class_of(MPI_Wait(&all[i].request, MPI_STATUS_IGNORE)), MPI_ERR_PROC_FAILED);
    /* From now on it fails at once. */
    CHECK(MPI_Start(&all[1].request) == MPI_SUCCESS);
    EQUAL(class_of(MPI_Wait(&all[1].request, MPI_STATUS_IGNORE)), MPI_ERR_PROC_FAILED);
    for (int i = 0; i < 4; i++)
        drop(&all[i]);
    printf("rank %d was told\n", rank);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(argc == 2 && size <= RANKS);
    int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    if (!strcmp(argv[1], "mixed"))
        mixed();
    else if (!strcmp(argv[1], "many"))
        many();
    else if (!strcmp(argv[1], "freed"))
        freed();
    else if (!strcmp(argv[1], "dies"))
        dies();
    else
        ways();
    MPI_Comm_free(&ring);
    return finish();
}
