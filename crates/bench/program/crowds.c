/* Point to point among all ranks at once: fan-in and fan-out on one rank, and the rings of the HPC
 * Challenge (Luszczek et al., Introduction to the HPC Challenge Benchmark Suite, 2005). */
#include "bench.h"

#include <stdlib.h>

enum { TAG = 3, ACK = 4, PATTERNS = 30 };

#define EVERY_ROUND for (int i = 0; i < rounds; i++)
#define OTHERS(r) for (int r = 1; r < t->size; r++)

/* Each message has a block on who sends it, or on each who receives it, and on rank 0 one of each of the others. */
static void with_window(struct task *t, int sides)
{
    window_open(t, window_asked(), t->size);
    window_lanes(t, t->size - 1); /* as rank 0 has it, lest ranks check differently */
    t->timers = 1;
    t->outs = window_blocks(t);
    t->ins = sides * t->outs;
    t->to = must(calloc(t->outs, sizeof *t->to));
    t->from = must(calloc(t->ins + 1, sizeof *t->from));
}

static void fan_in_blocks(struct task *t)
{
    with_window(t, t->size - 1);
    for (int k = 0; k < t->ins; k++)
        t->from[k] = 1 + k % (t->size - 1);
}

static void fan_out_blocks(struct task *t)
{
    with_window(t, 1);
}

static void open_bytes(struct task *t)
{
    t->parts = (double)t->window * (t->size - 1) * t->payload;
}

static void fan_in(struct task *t, int rounds)
{
    EVERY_ROUND {
        int n = 0;
        for (int k = 0; k < t->window; k++)
            if (t->rank)
                MPI_Isend(t->out + t->spots[k], t->count, t->type, 0, TAG, t->comm, &t->requests[n++]);
            else
                OTHERS(r) MPI_Irecv(t->in + (t->size - 1) * t->spots[k] + (r - 1) * t->bytes, t->count, t->type, r, TAG,
                                    t->comm, &t->requests[n++]);
        MPI_Waitall(n, t->requests, MPI_STATUSES_IGNORE);
        if (t->rank)
            MPI_Recv(NULL, 0, MPI_BYTE, 0, ACK, t->comm, MPI_STATUS_IGNORE);
        else
            OTHERS(r) MPI_Send(NULL, 0, MPI_BYTE, r, ACK, t->comm);
    }
}

static void fan_out(struct task *t, int rounds)
{
    EVERY_ROUND {
        int n = 0;
        for (int k = 0; k < t->window; k++)
            if (t->rank)
                MPI_Irecv(t->in + t->spots[k], t->count, t->type, 0, TAG, t->comm, &t->requests[n++]);
            else
                OTHERS(r) MPI_Isend(t->out + t->spots[k], t->count, t->type, r, TAG, t->comm, &t->requests[n++]);
        MPI_Waitall(n, t->requests, MPI_STATUSES_IGNORE);
        if (t->rank)
            MPI_Send(NULL, 0, MPI_BYTE, 0, ACK, t->comm);
        else
            OTHERS(r) MPI_Recv(NULL, 0, MPI_BYTE, r, ACK, t->comm, MPI_STATUS_IGNORE);
    }
}

/* A ring: everybody sends to both neighbours and receives from both. `own`: both neighbours in
 * each of the patterns, taken in turn. */
struct ring {
    int sides[PATTERNS][2], patterns, now;
};

static struct ring *new_ring(struct task *t, int patterns)
{
    struct ring *ring = must(calloc(1, sizeof *ring));
    ring->patterns = patterns;
    t->own = ring;
    t->outs = 1;
    t->ins = 2;
    t->to = must(calloc(2, sizeof *t->to));
    t->from = must(calloc(2, sizeof *t->from));
    return ring;
}

static void take_sides(struct task *t)
{
    struct ring *ring = t->own;
    t->from[0] = ring->sides[ring->now][0];
    t->from[1] = ring->sides[ring->now][1];
    ring->now = (ring->now + 1) % ring->patterns;
}

static void natural_ring(struct task *t)
{
    struct ring *ring = new_ring(t, 1);
    ring->sides[0][0] = (t->rank + t->size - 1) % t->size;
    ring->sides[0][1] = (t->rank + 1) % t->size;
}

/* Permutations that all ranks draw alike. */
static void random_ring(struct task *t)
{
    struct ring *ring = new_ring(t, PATTERNS);
    int *order = must(malloc(t->size * sizeof *order));
    unsigned seed = 1;
    for (int r = 0; r < t->size; r++)
        order[r] = r;
    for (int p = 0; p < PATTERNS; p++) {
        for (int left = t->size; left > 1; left--) {
            seed = seed * 1103515245 + 12345;
            int k = (int)((seed >> 16) % left), last = order[left - 1];
            order[left - 1] = order[k];
            order[k] = last;
        }
        for (int k = 0; k < t->size; k++)
            if (order[k] == t->rank) {
                ring->sides[p][0] = order[(k + t->size - 1) % t->size];
                ring->sides[p][1] = order[(k + 1) % t->size];
            }
    }
    free(order);
}

static void close_ring(struct task *t)
{
    free(t->own);
}

static void open_ring(struct task *t)
{
    t->parts = 2; /* messages of a rank */
}

static void open_ring_bytes(struct task *t)
{
    t->parts = 2.0 * t->size * t->payload;
}

static void go_around(struct task *t, int rounds)
{
    MPI_Request requests[4];
    EVERY_ROUND {
        take_sides(t);
        for (int side = 0; side < 2; side++) {
            MPI_Irecv(t->in + side * t->bytes, t->count, t->type, t->from[side], TAG, t->comm,
                      &requests[side]);
            MPI_Isend(t->out, t->count, t->type, t->from[1 - side], TAG, t->comm,
                      &requests[2 + side]);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

#define CONGESTION(NAME, SENDER, RECEIVER, RECEIVES, FROM, PREPARE)                                \
    {                                                                                              \
        .name = #NAME, .family = "congestion", .options = "mixcTDIMWd", .unit = MB_S, .ranks = 2,   \
        .shape = {SENDER, SINGLE, RECEIVER, RECEIVES, FROM}, .run = NAME, .prepare = PREPARE,      \
        .open = open_bytes, .close = window_close, .spread = window_spread,                        \
    }
#define RING(NAME, UNIT, PREPARE, OPEN)                                                            \
    {                                                                                              \
        .name = NAME, .family = "ring", .options = "mixcTDIMd", .unit = UNIT, .ranks = 2,           \
        .shape = {EVERYBODY, SINGLE, EVERYBODY, EACH, OF_BLOCK}, .run = go_around,                 \
        .prepare = PREPARE, .open = OPEN, .finish = close_ring,                                    \
    }

const struct bench crowds[] = {
    CONGESTION(fan_in, EVERYBODY, ROOT, EACH, OF_BLOCK, fan_in_blocks),
    CONGESTION(fan_out, ROOT, EVERYBODY, SINGLE, OF_ROOT, fan_out_blocks),
    RING("natural_ring", US, natural_ring, open_ring),
    RING("random_ring", US, random_ring, open_ring),
    RING("natural_ring_bandwidth", MB_S, natural_ring, open_ring_bytes),
    RING("random_ring_bandwidth", MB_S, random_ring, open_ring_bytes),
    {.name = NULL},
};
