/* Processes that come and go: spawning, connecting, parting, and messages between two jobs.
 *
 * The children run this program, too: dynamic_child() does what their parents tell them over the
 * intercommunicator. Where the library cannot spawn, the rows are skipped with its words.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What children are told: this, how often, and how many bytes. */
enum order { END, CONNECT, PING };

static MPI_Comm children; /* of the row that is measured */
static char port[MPI_MAX_PORT_NAME];

static MPI_Comm spawn(const struct task *t, int n)
{
    static char self[4096];
    char *quiet[] = {"spawn_1", NULL}; /* a name, lest it prepares for all benchmarks */
    MPI_Comm made = MPI_COMM_NULL;
    if (!*self && readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        errors_note("/proc/self/exe cannot be read");
    else
        MPI_Comm_spawn(self, quiet, n, MPI_INFO_NULL, 0, t->comm, &made, MPI_ERRCODES_IGNORE);
    if (made != MPI_COMM_NULL)
        errors_listen(made);
    return made;
}

static void tell(const struct task *t, MPI_Comm to, enum order what, int rounds)
{
    int order[3] = {what, rounds, (int)t->bytes}, root = t->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(order, 3, MPI_INT, root, to);
    if (what == CONNECT)
        MPI_Bcast(port, sizeof port, MPI_CHAR, root, to);
}

/* So many children come and go, so often; seconds that it took to spawn them, and to part. */
static void come_and_go(struct task *t, int n, int rounds, double took[2])
{
    for (int i = 0; i < rounds; i++) {
        MPI_Barrier(t->comm);
        double begin = now();
        MPI_Comm made = spawn(t, n);
        took[0] += now() - begin;
        if (made == MPI_COMM_NULL)
            return;
        tell(t, made, END, 0);
        begin = now();
        MPI_Comm_disconnect(&made);
        took[1] += now() - begin;
    }
}

#define SPAWN(name, n, part)                                                                       \
    static double name(struct task *t, int rounds)                                                 \
    {                                                                                              \
        double took[2] = {0, 0};                                                                   \
        come_and_go(t, n, rounds, took);                                                           \
        return took[part];                                                                         \
    }

SPAWN(sample_1, 1, 0)
SPAWN(sample_8, 8, 0)
SPAWN(sample_parting, 1, 1)

static void run_1(struct task *t, int rounds)
{
    sample_1(t, rounds);
}

static void run_8(struct task *t, int rounds)
{
    sample_8(t, rounds);
}

static void open_child(struct task *t)
{
    t->timers = 1;
    t->parts = 2; /* there and back */
    t->own = must(calloc(1, t->bytes + 1));
    children = spawn(t, 1);
}

static void open_port(struct task *t)
{
    children = spawn(t, 1);
    if (t->rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
}

static void close_child(struct task *t)
{
    free(t->own);
    if (children == MPI_COMM_NULL)
        return;
    tell(t, children, END, 0);
    MPI_Comm_disconnect(&children);
}

static void close_port(struct task *t)
{
    close_child(t);
    if (t->rank == 0)
        MPI_Close_port(port);
}

/* Accepts a child that connects; seconds until both know each other. */
static double sample_accept(struct task *t, int rounds)
{
    double took = 0;
    tell(t, children, CONNECT, rounds);
    for (int i = 0; i < rounds; i++) {
        MPI_Comm made = MPI_COMM_NULL;
        double begin = now();
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, t->comm, &made);
        took += now() - begin;
        if (made != MPI_COMM_NULL)
            MPI_Comm_disconnect(&made);
    }
    return took;
}

static void run_accept(struct task *t, int rounds)
{
    sample_accept(t, rounds);
}

static void ping(MPI_Comm to, void *buffer, int bytes, int rounds, bool first)
{
    for (int i = 0; i < rounds; i++) {
        if (first)
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, to);
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, to, MPI_STATUS_IGNORE);
        if (!first)
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, to);
    }
}

static void run_ping(struct task *t, int rounds)
{
    tell(t, children, PING, rounds);
    if (t->rank == 0)
        ping(children, t->own, (int)t->bytes, rounds, true);
}

static double sample_ping(struct task *t, int rounds)
{
    tell(t, children, PING, rounds + 1);
    if (t->rank > 0)
        return 0;
    ping(children, t->own, (int)t->bytes, 1, true); /* it has heard what to do */
    double begin = now();
    ping(children, t->own, (int)t->bytes, rounds, true);
    return now() - begin;
}

bool dynamic_child(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    int order[3];
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        return false;
    do {
        MPI_Bcast(order, 3, MPI_INT, 0, parent);
        if (order[0] == CONNECT)
            MPI_Bcast(port, sizeof port, MPI_CHAR, 0, parent);
        for (int i = 0; order[0] == CONNECT && i < order[1]; i++) {
            MPI_Comm made = MPI_COMM_NULL;
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, world, &made);
            MPI_Comm_disconnect(&made);
        }
        if (order[0] == PING) {
            void *buffer = must(calloc(1, order[2] + 1));
            ping(parent, buffer, order[2], order[1], false);
            free(buffer);
        }
    } while (order[0] != END);
    MPI_Comm_disconnect(&parent);
    return true;
}

#define ROW(NAME, OPTIONS, ...)                                                                    \
    {.name = NAME, .family = "dynamic", .options = OPTIONS, .unit = US, .ranks = 1, __VA_ARGS__}

const struct bench dynamic[] = {
    ROW("spawn_1", "ix", .run = run_1, .sample = sample_1),
    ROW("spawn_8", "ix", .run = run_8, .sample = sample_8),
    ROW("disconnect", "ix", .run = run_1, .sample = sample_parting),
    ROW("accept", "ix", .run = run_accept, .sample = sample_accept, .open = open_port,
        .close = close_port),
    ROW("spawn_latency", "mix", .run = run_ping, .sample = sample_ping, .open = open_child,
        .close = close_child),
    {.name = NULL},
};
