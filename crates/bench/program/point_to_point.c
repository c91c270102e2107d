/* Point to point: between ranks 0 and 1, or between pairs of ranks r and r + pairs. */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>

enum { TAG = 1, ACK = 2 };

#define EVERY_ROUND for (int i = 0; i < rounds; i++)
#define EVERY_MESSAGE for (int k = 0; k < t->window; k++)
#define AT(buffer) (buffer), t->count, t->type, t->peer, TAG, t->comm
#define OUT AT(t->out)
#define IN AT(t->in)
#define OUT_OF(k) AT(t->out + t->spots[k])
#define IN_OF(k) AT(t->in + t->spots[k])

void pair_up(struct task *t, int pairs)
{
    int most = t->size / 2;
    t->pairs = pairs > most ? most : pairs;
    t->first = t->rank < t->pairs;
    if (t->rank < 2 * t->pairs)
        t->peer = t->first ? t->rank + t->pairs : t->rank - t->pairs;
    t->timers = t->pairs;
}

static void one_pair(struct task *t)
{
    pair_up(t, 1);
}

static void pairs(struct task *t)
{
    pair_up(t, opt.pairs ? opt.pairs : t->size);
}

static void lanes_of_pair(struct task *t)
{
    one_pair(t);
    window_open(t, window_asked(), 2);
    window_lanes(t, 1);
}

static void lanes_of_pairs(struct task *t)
{
    pairs(t);
    window_open(t, window_asked(), 2);
    window_lanes(t, 1);
}

static void open_latency(struct task *t)
{
    t->parts = 2; /* there and back */
}

static void open_bytes(struct task *t)
{
    t->parts = (double)t->window * t->pairs * t->payload;
}

static void open_bytes_both_ways(struct task *t)
{
    t->parts = 2.0 * t->window * t->pairs * t->payload;
}

static void open_messages(struct task *t)
{
    t->parts = (double)t->window * t->pairs;
}

/* One message, which both sides start; who is `first` may be away alone (--away one). */
static void start_message(struct task *t, bool sends)
{
    if (t->peer < 0)
        return;
    if (sends)
        MPI_Isend(OUT, &t->request);
    else
        MPI_Irecv(IN, &t->request);
}

static void start_sending(struct task *t)
{
    start_message(t, t->first);
}

static void start_receiving(struct task *t)
{
    start_message(t, !t->first);
}

static void latency(struct task *t, int rounds)
{
    if (t->peer < 0)
        return;
    EVERY_ROUND
        if (t->first) {
            MPI_Send(OUT);
            MPI_Recv(IN, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(IN, MPI_STATUS_IGNORE);
            MPI_Send(OUT);
        }
}

/* The same with data that the sender has just written, and that the receiver reads. */

static void send_written(struct task *t, int i)
{
    for (size_t k = 0; k < t->bytes; k += sizeof(long))
        *(long *)(t->out + k) = 1 + i + t->stamp;
    MPI_Send(OUT);
}

static void recv_and_read(struct task *t)
{
    static volatile long sum;
    long s = 0;
    MPI_Recv(IN, MPI_STATUS_IGNORE);
    for (size_t k = 0; k < t->bytes; k += sizeof s)
        s += *(long *)(t->in + k);
    sum += s;
}

static void latency_touched(struct task *t, int rounds)
{
    if (t->peer < 0)
        return;
    EVERY_ROUND
        if (t->first) {
            send_written(t, i);
            recv_and_read(t);
        } else {
            recv_and_read(t);
            send_written(t, i);
        }
}

/* What is checked is one round: the sender writes `1 + stamp` everywhere. */
static bool is_touched(struct task *t, char *error, size_t room)
{
    for (size_t k = 0; k < t->bytes && t->peer >= 0; k++)
        if (t->in[k] != ((const char *)&(long){1 + t->stamp})[k % sizeof(long)]) {
            snprintf(error, room, "rank %d: byte %zu should be of the number %d", t->rank, k, 1 + t->stamp);
            return false;
        }
    return true;
}

/* A window of messages, then a word from who received them. */
static void one_way(struct task *t, int rounds)
{
    if (t->peer < 0)
        return;
    EVERY_ROUND
        if (t->first) {
            EVERY_MESSAGE MPI_Isend(OUT_OF(k), &t->requests[k]);
            MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, t->peer, ACK, t->comm, MPI_STATUS_IGNORE);
        } else {
            EVERY_MESSAGE MPI_Irecv(IN_OF(k), &t->requests[k]);
            MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, t->peer, ACK, t->comm);
        }
}

static void both_ways(struct task *t, int rounds)
{
    if (t->peer < 0)
        return;
    EVERY_ROUND {
        EVERY_MESSAGE MPI_Irecv(IN_OF(k), &t->requests[k]);
        EVERY_MESSAGE MPI_Isend(OUT_OF(k), &t->requests[t->window + k]);
        MPI_Waitall(2 * t->window, t->requests, MPI_STATUSES_IGNORE);
    }
}

/* Persistent requests: receives first, then sends. */

static void open_persistent(struct task *t)
{
    EVERY_MESSAGE {
        t->requests[k] = t->requests[t->window + k] = MPI_REQUEST_NULL;
        if (t->peer < 0)
            continue;
        MPI_Recv_init(IN_OF(k), &t->requests[k]);
        MPI_Send_init(OUT_OF(k), &t->requests[t->window + k]);
    }
}

static void free_requests(struct task *t)
{
    for (int k = 0; k < 2 * t->window; k++)
        if (t->requests[k] != MPI_REQUEST_NULL)
            MPI_Request_free(&t->requests[k]);
}

static void close_persistent(struct task *t)
{
    free_requests(t);
    window_close(t);
}

/* A persistent request knows its place. */
static void spread_persistent(struct task *t)
{
    free_requests(t);
    window_spread(t);
    open_persistent(t);
}

static void one_message(struct task *t)
{
    one_pair(t);
    window_open(t, 1, 2);
}

static void open_latency_persistent(struct task *t)
{
    open_latency(t);
    open_persistent(t);
}

static void open_bytes_persistent(struct task *t)
{
    open_bytes(t);
    open_persistent(t);
}

static void open_both_persistent(struct task *t)
{
    open_bytes_both_ways(t);
    open_persistent(t);
}

static void go(MPI_Request *requests, int n)
{
    MPI_Startall(n, requests);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void latency_persistent(struct task *t, int rounds)
{
    if (t->peer < 0)
        return;
    for (int i = 0; i < 2 * rounds; i++)
        go(&t->requests[t->first ^ (i & 1)], 1);
}

static void one_way_persistent(struct task *t, int rounds)
{
    if (t->peer < 0)
        return;
    EVERY_ROUND
        if (t->first) {
            go(t->requests + t->window, t->window);
            MPI_Recv(NULL, 0, MPI_BYTE, t->peer, ACK, t->comm, MPI_STATUS_IGNORE);
        } else {
            go(t->requests, t->window);
            MPI_Send(NULL, 0, MPI_BYTE, t->peer, ACK, t->comm);
        }
}

static void both_ways_persistent(struct task *t, int rounds)
{
    if (t->peer < 0)
        return;
    EVERY_ROUND go(t->requests, 2 * t->window);
}

#undef ROW
#define ROW(NAME, OPTIONS, UNIT, RECEIVERS, RUN, PREPARE, OPEN, CLOSE, ...)                        \
    {                                                                                              \
        .name = NAME, .family = "point-to-point", .options = "mixIM" OPTIONS, .unit = UNIT,        \
        .ranks = 2, .shape = {EVERYBODY, SINGLE, RECEIVERS, SINGLE, OF_PEER}, .run = RUN,          \
        .prepare = PREPARE, .open = OPEN, .close = CLOSE, __VA_ARGS__                              \
    }

/* `ROOT` receives where data goes one way. */
const struct bench point_to_point[] = {
    ROW("latency", "cTDd", US, EVERYBODY, latency, one_pair, open_latency, NULL, ),
    ROW("latency_touched", "c", US, EVERYBODY, latency_touched, one_pair, open_latency, NULL, .check = is_touched),
    ROW("latency_persistent", "cTDd", US, EVERYBODY, latency_persistent, one_message,
        open_latency_persistent, close_persistent, ),
    ROW("multi_latency", "cTDpd", US, EVERYBODY, latency, pairs, open_latency, NULL, ),
    ROW("bandwidth", "cTDWbd", MB_S, ROOT, one_way, lanes_of_pair, open_bytes, window_close, .spread = window_spread),
    ROW("bibandwidth", "cTDWbd", MB_S, EVERYBODY, both_ways, lanes_of_pair, open_bytes_both_ways,
        window_close, .spread = window_spread),
    ROW("bandwidth_persistent", "cTDWbd", MB_S, ROOT, one_way_persistent, lanes_of_pair,
        open_bytes_persistent, close_persistent, .spread = spread_persistent),
    ROW("bibandwidth_persistent", "cTDWbd", MB_S, EVERYBODY, both_ways_persistent, lanes_of_pair,
        open_both_persistent, close_persistent, .spread = spread_persistent),
    ROW("multi_bandwidth", "cTDWVbpd", MB_S, ROOT, one_way, lanes_of_pairs, open_bytes,
        window_close, .spread = window_spread),
    ROW("message_rate", "cTDWVbpd", PER_S, ROOT, one_way, lanes_of_pairs, open_messages,
        window_close, .spread = window_spread),
    {
        .name = "latency_first", .family = "first", .options = "mixFcTDIMd", .unit = US, .ranks = 2,
        .shape = {EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_PEER}, .run = latency, .prepare = one_pair,
        .open = open_latency, .sample = first_call,
    },
    {
        .name = "isend_overlap", .family = "overlap-point-to-point", .options = "mixTDtMd", .unit = PERCENT, .ranks = 2,
        .shape = {EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_PEER}, .run = run_around, .sample = sample_overlap,
        .prepare = one_pair, .start = start_sending,
    },
    {
        .name = "irecv_overlap", .family = "overlap-point-to-point", .options = "mixTDtMd", .unit = PERCENT, .ranks = 2,
        .shape = {EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_PEER}, .run = run_around, .sample = sample_overlap,
        .prepare = one_pair, .start = start_receiving,
    },
    {.name = NULL},
};
