/* How all ranks begin together: without the library that is measured, for a barrier of it that lets one rank go later
 * than another would be found again in every figure.
 *
 * On a node the ranks meet in memory that rank 0 of the node makes and the others open by its name; the library only
 * hands on that name. Each rank says that it has come; when all have, the leader of the node names a time
 * a little later, and all go on at that time of the clock that they share, within about one reading of it. Between
 * nodes the leaders tell one another by messages along a tree, and rank 0 names the time, which each leader translates
 * to its own clock (clocks.c). A rank that comes too late says so at the next meeting, and more time is left then: so
 * every start is planned anew, and an interruption costs one value.
 *
 * Where ranks outnumber cores nobody waits for a time: all go on when the last one has come (`--start barrier`).
 *
 * | field   | writer         | reader         | rule                                          |
 * |---------|----------------|----------------|-----------------------------------------------|
 * | `came`  | its rank       | leader         | Release when it has come, Acquire by leader    |
 * | `late`  | its rank       | leader         | before `came`                                 |
 * | `mark`  | its rank       | all            | Release before a barrier, Acquire behind it   |
 * | `start` | leader         | all            | before `go`                                   |
 * | `go`    | leader         | all            | Release, Acquire                              |
 */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 128, TAG = 79, NEVER = 80, SPINS = 64, NAP_US = 1000 };

struct slot {
    _Alignas(LINE) atomic_ulong came;
    atomic_long late; /* ns by which the rank missed the last start */
    _Alignas(LINE) atomic_ulong mark;
};

struct area {
    atomic_long token; /* paths may lead elsewhere */
    _Alignas(LINE) atomic_ulong go;
    atomic_long start; /* ns of this node's clock */
    struct slot slots[];
};

static struct area *area;
static int mine, members;                       /* of the node */
static MPI_Comm between = MPI_COMM_NULL;        /* of the leaders, */
static int leader, leaders;                     /* this process among them (-1: it is none), and their number */
static unsigned long meetings;
static long last_late, slack, least_slack;      /* ns */

/* Starts at which a rank is late by more than this are planned with more time. */
static const long late_on_node = 200, late_between = 2000;
/* After so long a wait the library gets its turn now and then, for others may need something of it. */
static const long patience = 50000, between_probes = 20000, sleep_after = 300000;

static long now_ns(void)
{
    return (long)(now() * 1e9);
}

static struct area *map(int file, size_t bytes)
{
    void *at = file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* A new file of this length, and its name; negative: there is none. */
static int make(char *path, size_t room, size_t bytes)
{
    const char *folders[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};
    int file = -1;
    for (size_t k = 0; k < sizeof folders / sizeof *folders && file < 0; k++) {
        if (!folders[k])
            continue;
        snprintf(path, room, "%s/catena-bench-%ld-%ld", folders[k], (long)getpid(), now_ns());
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file >= 0 && ftruncate(file, (off_t)bytes)) {
            close(file);
            unlink(path);
            file = -1;
        }
    }
    return file;
}

/* Makes the memory of a node, or opens that of its first rank by its name; NULL where some rank cannot. */
static struct area *share(MPI_Comm node)
{
    size_t bytes = sizeof(struct area) + members * sizeof(struct slot);
    char path[256] = "";
    long token = now_ns();
    int file = -1, good;
    struct area *at;
    if (mine == 0)
        file = make(path, sizeof path, bytes);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, node);
    MPI_Bcast(&token, 1, MPI_LONG, 0, node);
    if (mine)
        file = open(path, O_RDWR | O_CLOEXEC);
    at = map(file, bytes);
    if (at && mine == 0)
        atomic_store(&at->token, token);
    MPI_Barrier(node); /* now the token is there */
    good = at && atomic_load(&at->token) == token;
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, node);
    if (file >= 0)
        close(file);
    if (mine == 0 && *path)
        unlink(path);
    return good ? at : NULL;
}

void meet_open(MPI_Comm node)
{
    MPI_Comm_rank(node, &mine);
    MPI_Comm_size(node, &members);
    area = share(node);
    if (!area) { /* a node each */
        mine = 0;
        members = 1;
        area = must(memory_take(sizeof(struct area) + sizeof(struct slot), false));
        memory_zero(area, sizeof(struct area) + sizeof(struct slot));
    }
    leader = -1;
    MPI_Comm_split(world, mine ? MPI_UNDEFINED : 0, rank, &between);
    if (between != MPI_COMM_NULL) {
        MPI_Comm_rank(between, &leader);
        MPI_Comm_size(between, &leaders);
    }
    MPI_Bcast(&leaders, 1, MPI_INT, 0, world);
    if (leaders > 1 && leader >= 0)
        clocks_learn(between);
    least_slack = leaders > 1 ? 30000 : 1500;
    slack = least_slack;
}

void meet_close(void)
{
    if (between != MPI_COMM_NULL)
        MPI_Comm_free(&between);
}

int meet_nodes(void)
{
    return leaders;
}

MPI_Comm meet_between(void)
{
    return leaders > 1 ? between : MPI_COMM_NULL;
}

static bool at_once; /* whether nobody waits for a time any more, though it was asked for */

bool meet_at_a_time(void)
{
    return opt.start == BY_WINDOW && !crowded && !at_once;
}

/* Clocks drift: before each series they are compared again. */
void meet_plan(bool by_time)
{
    at_once = !by_time;
    if (leaders > 1 && leader >= 0)
        clocks_correct(between);
    slack = least_slack;
    last_late = 0;
}

/* Waits until a number is reached. What the library owes others it does meanwhile, if it takes long. Where ranks outnumber
 * cores, those that take no part in what others measure leave them the cores. */
static void await(atomic_ulong *number, unsigned long value)
{
    long since = 0, next = 0;
    bool sleeps = false;
    for (long spins = 1; atomic_load_explicit(number, memory_order_acquire) < value; spins++) {
        int flag;
        if (sleeps)
            usleep(NAP_US);
        else if (crowded)
            sched_yield();
        if (!sleeps && spins % SPINS)
            continue;
        long at = now_ns();
        since = since ? since : at;
        if (at - since > patience && at > next) {
            MPI_Iprobe(MPI_ANY_SOURCE, NEVER, world, &flag, MPI_STATUS_IGNORE);
            next = at + between_probes;
        }
        sleeps = crowded && at - since > sleep_after;
    }
}

/* Up and down the tree of leaders: the greatest lateness to rank 0, the start from it, on its clock in seconds. */
static double agree(long *late)
{
    double start = 0;
    int step = 1;
    for (; step < leaders && leader % (2 * step) == 0; step *= 2)
        if (leader + step < leaders) {
            long theirs;
            MPI_Recv(&theirs, 1, MPI_LONG, leader + step, TAG, between, MPI_STATUS_IGNORE);
            *late = theirs > *late ? theirs : *late;
        }
    if (leader) {
        MPI_Send(late, 1, MPI_LONG, leader - step, TAG, between);
        MPI_Recv(&start, 1, MPI_DOUBLE, leader - step, TAG, between, MPI_STATUS_IGNORE);
    } else {
        start = clocks_now() + (meet_at_a_time() ? slack * 1e-9 : 0);
    }
    while ((step /= 2))
        if (leader + step < leaders)
            MPI_Send(&start, 1, MPI_DOUBLE, leader + step, TAG, between);
    return start;
}

/* More time after a start that somebody missed, and a little less after each other. */
static void learn(long late)
{
    enum { MOST_ON_NODE = 50000, MOST_BETWEEN = 5000000 };
    long most = leaders > 1 ? MOST_BETWEEN : MOST_ON_NODE;
    if (late > (leaders > 1 ? late_between : late_on_node))
        slack = slack + slack / 2 < most ? slack + slack / 2 : most;
    else
        slack = slack - slack / 32 > least_slack ? slack - slack / 32 : least_slack;
}

static void lead(unsigned long number)
{
    long late = 0, start;
    for (int r = 0; r < members; r++) {
        await(&area->slots[r].came, number);
        long theirs = atomic_load_explicit(&area->slots[r].late, memory_order_relaxed);
        late = theirs > late ? theirs : late;
    }
    if (leaders > 1) {
        start = (long)(clocks_local(agree(&late)) * 1e9);
    } else {
        start = now_ns() + (meet_at_a_time() ? slack : 0);
    }
    learn(late);
    atomic_store_explicit(&area->start, start, memory_order_relaxed);
    atomic_store_explicit(&area->go, number, memory_order_release);
}

/* Waits for all ranks of the world; the time at which they were to go on, and `late`: seconds behind it. */
double meet(double *late)
{
    unsigned long number = ++meetings;
    struct slot *own = &area->slots[mine];
    atomic_store_explicit(&own->late, last_late, memory_order_relaxed);
    atomic_store_explicit(&own->came, number, memory_order_release);
    if (mine == 0)
        lead(number);
    else
        await(&area->go, number);
    double start = atomic_load_explicit(&area->start, memory_order_relaxed) * 1e-9, at;
    while ((at = now()) < start && meet_at_a_time())
        ;
    *late = at - start;
    if (!meet_at_a_time())
        return at;
    last_late = (long)(*late * 1e9);
    return start;
}

/* Whether a barrier holds: each rank leaves a mark before it, and finds that of all others on its node behind it. */
void meet_mark(unsigned long number)
{
    atomic_store_explicit(&area->slots[mine].mark, number, memory_order_release);
}

/* The rank of this node that has not left its mark yet; -1: there is none. */
int meet_unmarked(unsigned long number)
{
    for (int r = 0; r < members; r++)
        if (atomic_load_explicit(&area->slots[r].mark, memory_order_acquire) < number)
            return r;
    return -1;
}

double meet_for(struct task *t)
{
    double late, start = meet(&late);
    t->late = late > t->late ? late : t->late;
    return start;
}
