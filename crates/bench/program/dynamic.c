/* Processes that come and go: spawning, connecting, parting, and messages between two jobs.
 *
 * The children run this program, too: dynamic_child() does what their parents tell them over the
 * intercommunicator. Where the library cannot spawn, the rows are skipped with its words.
 *
 * Messages go between rank 0 and a child as between ranks 0 and 1 of point_to_point.c: the same calls, buffers
 * alike, and the child has the core that rank 1 has there. So what differs is the intercommunicator.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What children are told. */
enum order { END, CONNECT, COUNT, PING, STREAM, ECHO };
enum { TAG = 1, ACK = 2 };

/* This, how often, how many bytes, how many messages of them at once; whether they are looked at, and how many of them
 * have a block each, from which one on. */
enum { WHAT, ROUNDS, BYTES, WINDOW, INSPECT, LANES, BASE, WORDS };

static MPI_Comm children; /* of the row that is measured */
static char port[MPI_MAX_PORT_NAME];

static MPI_Comm spawn(const struct task *t, int n)
{
    static char self[4096];
    /* A name, lest it prepares for all benchmarks. */
    char *quiet[] = {"spawn_1", opt.pin ? "--pin" : NULL, NULL};
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
    int order[WORDS] = {what, rounds, (int)t->bytes, t->window, t->inspect, t->inspect ? t->lanes : 0, t->base};
    int root = t->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(order, WORDS, MPI_INT, root, to);
    if (what == CONNECT)
        MPI_Bcast(port, sizeof port, MPI_CHAR, root, to);
}

/* Both ends of an intercommunicator count the ranks of the other, by a sum over them; `others`: negative where it is
 * not judged. */
static char wrong[96];

static void count(MPI_Comm made, int others)
{
    int one = 1, theirs = 0;
    MPI_Allreduce(&one, &theirs, 1, MPI_INT, MPI_SUM, made);
    if (others >= 0 && theirs != others && !*wrong)
        snprintf(wrong, sizeof wrong, "of %d processes on the other side %d are heard", others, theirs);
}

static bool is_counted(struct task *t, char *error, size_t room)
{
    (void)t;
    snprintf(error, room, "%s", wrong);
    bool good = !*wrong;
    *wrong = 0;
    return good;
}

/* So many children come and go, so often; seconds that it took to spawn them, and to part. */
static void come_and_go(struct task *t, int n, int rounds, double took[2])
{
    for (int i = 0; i < rounds; i++) {
        double begin = meet_for(t);
        MPI_Comm made = spawn(t, n);
        took[0] += now() - begin;
        if (made == MPI_COMM_NULL)
            return;
        if (t->inspect) {
            tell(t, made, COUNT, 0);
            count(made, n);
        }
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

static void open_latency(struct task *t)
{
    t->timers = 1;
    t->parts = 2; /* there and back */
    children = spawn(t, 1);
}

static void with_window(struct task *t)
{
    window_open(t, window_asked(), 1);
    window_lanes(t, 1);
}

static void open_bandwidth(struct task *t)
{
    t->timers = 1;
    t->parts = (double)t->window * t->bytes;
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
        if (made != MPI_COMM_NULL && t->inspect)
            count(made, 1);
        if (made != MPI_COMM_NULL)
            MPI_Comm_disconnect(&made);
    }
    return took;
}

static void run_accept(struct task *t, int rounds)
{
    sample_accept(t, rounds);
}

/* The two ends of what is measured: rank 0 is `first`, a child is not. */
struct talk {
    MPI_Comm to;
    char *out, *in;
    int bytes, window;
    const size_t *spots; /* of the messages of a window */
    MPI_Request *requests;
    bool first;
};

static void ping(const struct talk *with, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        if (with->first)
            MPI_Send(with->out, with->bytes, MPI_CHAR, 0, TAG, with->to);
        MPI_Recv(with->in, with->bytes, MPI_CHAR, 0, TAG, with->to, MPI_STATUS_IGNORE);
        if (!with->first)
            MPI_Send(with->out, with->bytes, MPI_CHAR, 0, TAG, with->to);
    }
}

/* A window of messages, then a word from who received them. */
static void stream(const struct talk *with, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < with->window; k++)
            if (with->first)
                MPI_Isend(with->out + with->spots[k], with->bytes, MPI_CHAR, 0, TAG, with->to, &with->requests[k]);
            else
                MPI_Irecv(with->in + with->spots[k], with->bytes, MPI_CHAR, 0, TAG, with->to, &with->requests[k]);
        MPI_Waitall(with->window, with->requests, MPI_STATUSES_IGNORE);
        if (with->first)
            MPI_Recv(NULL, 0, MPI_BYTE, 0, ACK, with->to, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, ACK, with->to);
    }
}

typedef void talk_fn(const struct talk *with, int rounds);

static struct talk talk_of(const struct task *t)
{
    return (struct talk){children, t->out, t->in, (int)t->bytes, t->window, t->spots, t->requests, true};
}

/* The other ranks have no part in it: they leave the cores to those two. */
static void await_rank_0(const struct task *t)
{
    enum { NAP_US = 1000 };
    MPI_Request request;
    MPI_Ibarrier(t->comm, &request);
    for (int done = 0; !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        if (t->rank > 0)
            usleep(NAP_US);
}

/* Seconds of `rounds` after a first one, once the child has heard what to do. */
static double time_talk(struct task *t, enum order what, talk_fn *talk, int rounds)
{
    double took = 0;
    tell(t, children, what, rounds + 1);
    if (t->rank == 0) {
        const struct talk with = talk_of(t);
        talk(&with, 1);
        double begin = now();
        talk(&with, rounds);
        took = now() - begin;
    }
    await_rank_0(t);
    return took;
}

static double sample_ping(struct task *t, int rounds)
{
    return time_talk(t, PING, ping, rounds);
}

static double sample_stream(struct task *t, int rounds)
{
    return time_talk(t, STREAM, stream, rounds);
}

static void run_talk(struct task *t, enum order what, talk_fn *talk, int rounds)
{
    tell(t, children, what, rounds);
    if (t->rank == 0) {
        const struct talk with = talk_of(t);
        talk(&with, rounds);
    }
}

static void run_ping(struct task *t, int rounds)
{
    run_talk(t, PING, ping, rounds);
}

static void run_stream(struct task *t, int rounds)
{
    run_talk(t, STREAM, stream, rounds);
}

/* The child returns what it has received last, block by block: by other calls than those that are measured, which could
 * spoil it twice. */
static bool check_echo(struct task *t, char *error, size_t room)
{
    tell(t, children, ECHO, 1);
    if (t->rank > 0)
        return true;
    for (int k = 0; k < t->ins; k++) {
        MPI_Request request;
        MPI_Irecv(t->in + k * t->bytes, (int)t->bytes, MPI_CHAR, 0, TAG, children, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (size_t i = 0; i < t->ins * t->bytes; i++)
        if (t->in[i] != t->out[i]) {
            snprintf(error, room, "byte %zu of block %zu that the child received should be %d", i % t->bytes, i / t->bytes,
                     t->out[i]);
            return false;
        }
    return true;
}

/* The child's side of a benchmark. */
static struct task near;
static size_t room; /* bytes of each of its buffers */

/* Buffers that are there, as those of the parents. */
static char *child_room(char *old)
{
    memory_give_back(old);
    char *made = memory_take(room, false);
    memset(made, 1, room); /* no zeros: see data_open */
    return made;
}

/* Makes room for what is told, and gives the messages of a window the places that they have with who sends them. */
static void make_room(const int order[WORDS])
{
    near.inspect = order[INSPECT];
    near.lanes = order[LANES];
    near.base = order[BASE];
    near.bytes = order[BYTES];
    near.gap = near.lanes ? near.bytes : 0;
    if (near.window != order[WINDOW] || !near.spots) {
        near.window = order[WINDOW];
        window_close(&near);
        near.requests = must(malloc((near.window + 1) * sizeof *near.requests));
        near.spots = must(malloc((near.window + 1) * sizeof *near.spots));
    }
    window_spread(&near);
    size_t wanted = window_blocks(&near) * near.bytes;
    if (wanted > room || !near.in) {
        room = wanted;
        near.in = child_room(near.in);
        near.out = child_room(near.out);
    }
}

static void answer(MPI_Comm parent, const int order[WORDS])
{
    make_room(order);
    const struct talk with = {parent, near.out, near.in, order[BYTES], near.window, near.spots, near.requests, false};
    switch (order[WHAT]) {
    case PING: ping(&with, order[ROUNDS]); break;
    case STREAM: stream(&with, order[ROUNDS]); break;
    case ECHO:
        for (int k = 0; k < window_blocks(&near); k++)
            MPI_Send(with.in + k * near.bytes, with.bytes, MPI_CHAR, 0, TAG, parent);
        break;
    }
}

/* On the core that the next rank of the world has in other benchmarks. */
static void pin_child(void)
{
    int mine;
    MPI_Comm_rank(world, &mine);
    pin_to(mine + 1);
}

bool dynamic_child(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    int order[WORDS];
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        return false;
    if (opt.pin)
        pin_child();
    do {
        MPI_Bcast(order, WORDS, MPI_INT, 0, parent);
        if (order[WHAT] == CONNECT)
            MPI_Bcast(port, sizeof port, MPI_CHAR, 0, parent);
        for (int i = 0; order[WHAT] == CONNECT && i < order[ROUNDS]; i++) {
            MPI_Comm made = MPI_COMM_NULL;
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, world, &made);
            if (order[INSPECT])
                count(made, -1);
            MPI_Comm_disconnect(&made);
        }
        if (order[WHAT] == COUNT)
            count(parent, -1);
        if (order[WHAT] >= PING)
            answer(parent, order);
    } while (order[WHAT] != END);
    MPI_Comm_disconnect(&parent);
    return true;
}

#define ROW(NAME, OPTIONS, ...)                                                                    \
    {.name = NAME, .family = "dynamic", .options = OPTIONS, .unit = US, .ranks = 1, __VA_ARGS__}

#define TALK(NAME, OPTIONS, UNIT, ...)                                                             \
    {.name = NAME, .family = "dynamic", .options = OPTIONS, .unit = UNIT, .ranks = 1,              \
     .shape = {EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_PEER}, .check = check_echo,                \
     .close = close_child, __VA_ARGS__}

const struct bench dynamic[] = {
    ROW("spawn_1", "ixc", .run = run_1, .sample = sample_1, .check = is_counted),
    ROW("spawn_8", "ixc", .run = run_8, .sample = sample_8, .check = is_counted),
    ROW("disconnect", "ixc", .run = run_1, .sample = sample_parting, .check = is_counted),
    ROW("accept", "ixc", .check = is_counted, .run = run_accept, .sample = sample_accept, .open = open_port,
        .close = close_port),
    TALK("spawn_latency", "mixc", US, .run = run_ping, .sample = sample_ping, .open = open_latency),
    TALK("spawn_bandwidth", "mixcW", MB_S, .run = run_stream, .sample = sample_stream,
         .prepare = with_window, .open = open_bandwidth, .finish = window_close, .spread = window_spread),
    {.name = NULL},
};
