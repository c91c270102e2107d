/* Buffers: what is sent, and whether the right thing arrived.
 *
 * Element i of the block that rank s has for rank d is `data_value(t, s, d, i)`, a small number that
 * every type can hold; who sends the same to everybody sends what is for rank 0. Whatever arrives
 * is a sum of those, so a shape (see bench.h) is all that has to be known of an operation.
 */
#include "bench.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENT(suffix, ctype)                                                                     \
    static void put_##suffix(void *at, size_t i, int value) { ((ctype *)at)[i] = (ctype)value; }   \
    static bool is_##suffix(const void *at, size_t i, int value)                                   \
    {                                                                                              \
        return ((const ctype *)at)[i] == (ctype)value;                                             \
    }

ELEMENT(char, signed char)
ELEMENT(int, int)
ELEMENT(long, long)
ELEMENT(float, float)
ELEMENT(double, double)

#define ROW(NAME, SUMS, suffix, ctype)                                                             \
    {#NAME, NAME, SUMS, sizeof(ctype), put_##suffix, is_##suffix}

const struct element elements[] = {
    ROW(MPI_CHAR, MPI_SIGNED_CHAR, char, signed char),
    ROW(MPI_INT, MPI_INT, int, int),
    ROW(MPI_LONG, MPI_LONG, long, long),
    ROW(MPI_FLOAT, MPI_FLOAT, float, float),
    ROW(MPI_DOUBLE, MPI_DOUBLE, double, double),
};
const int element_count = sizeof elements / sizeof *elements;

static bool adds(const struct bench *b)
{
    return b->shape.from == OF_ALL || b->shape.from == OF_LOWER || b->shape.from == OF_UP_TO_ME ||
           b->shape.from == OF_PEER_AND_ME;
}

static bool of_pair(const struct bench *b)
{
    return b->shape.from == OF_PEER || b->shape.from == OF_PEER_AND_ME;
}

/* What is used where nothing else is asked for: bytes, or what is worth adding. */
const struct element *data_usual(const struct bench *b)
{
    return adds(b) && !of_pair(b) ? &elements[element_count - 1] : elements;
}

enum { PADDING = 128, UNTOUCHED = -1, PERIOD = 127, KEPT = 0x5a };

/* Sums of short integers stay within them: what lies beyond is not the same in all libraries. */
static size_t period_of(const struct task *t)
{
    if (adds(t->bench) && t->element->size == 1)
        return t->size < PERIOD ? PERIOD / (size_t)t->size : 1;
    return PERIOD;
}

/* From which value on a block goes through the period. */
static size_t first_of(const struct task *t, int s, int d)
{
    return 31 * (size_t)s + 17 * (size_t)d + 7 * (size_t)t->stamp;
}

int data_value(const struct task *t, int s, int d, size_t i)
{
    size_t period = period_of(t);
    return 1 + (int)((first_of(t, s, d) + i) % period);
}

/* Whom block k is for, or of whom: the same rank by another number where each message has a block of its own. */
int data_lane(const struct task *t, int whom, int k)
{
    return t->gap ? whom + t->size * k : whom;
}

/* The message of a window to which block k of `blocks` belongs: each message has as many blocks as there are ranks on the
 * other side. */
static int lane_of(const struct task *t, int blocks, int k)
{
    return t->lanes ? k / (blocks / window_blocks(t)) : k;
}

/* Elements that go through the period, twice: one for what ranks send, one for sums of it. A block of any rank is a
 * piece of them, and copied and compared as a whole. */
static struct pattern {
    char *at;
    size_t elements, period;
    const struct element *of;
    int below; /* ranks that are summed up; 0: none */
} single, sum;

static int summed(const struct task *t, int below, size_t i)
{
    int all = 0;
    for (int r = 0; r < below; r++)
        all += 1 + (int)((31 * (size_t)r + i) % period_of(t));
    return all;
}

/* From the value `first` of the period on, `elements` of it. */
static const char *pattern(struct pattern *p, const struct task *t, int below, size_t first, size_t elements)
{
    size_t period = period_of(t), size = t->element->size, all = elements + period;
    if (p->of != t->element || p->period != period || p->below != below || p->elements < all) {
        free(p->at);
        *p = (struct pattern){must(malloc(all * size)), all, period, t->element, below};
        for (size_t i = 0; i < period; i++)
            t->element->put(p->at, i, below ? summed(t, below, i) : 1 + (int)i);
        for (size_t i = period; i < all; i++)
            memcpy(p->at + i * size, p->at + (i - period) * size, size);
    }
    return p->at + first % period * size;
}

/* Puts what rank s has for rank d at a place of the host's. */
void data_put(const struct task *t, void *at, int s, int d, size_t elements)
{
    memcpy(at, pattern(&single, t, 0, first_of(t, s, d), elements), elements * t->element->size);
}

/* Whether what rank s has for rank d has come; after `memory_load`. */
bool data_same(const struct task *t, const void *at, int s, int d, size_t elements, const char *what, char *error,
               size_t room)
{
    const char *want = pattern(&single, t, 0, first_of(t, s, d), elements);
    if (!memcmp(memory_view(at), want, elements * t->element->size))
        return true;
    for (size_t i = 0; i < elements; i++)
        if (!data_equal(t, (const char *)at, i, data_value(t, s, d, i), what, error, room))
            break;
    return false;
}

/* Pairs of displacement and length from the file of -D indx; read once. */
static int *index_at, *index_length, indexes;

static void read_indexes(struct task *t)
{
    FILE *file = fopen(opt.layout_file, "r");
    char line[256];
    int at, length;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%d , %d", &at, &length) == 2 && at >= 0 && length > 0) {
            index_at = must(realloc(index_at, (indexes + 1) * sizeof *index_at));
            index_length = must(realloc(index_length, (indexes + 1) * sizeof *index_length));
            index_at[indexes] = at;
            index_length[indexes++] = length;
        }
    if (file)
        fclose(file);
    else
        t->skip = "the file of -D indx cannot be read";
}

/* Makes one type of `n` elements' room; returns how many of them it moves. */
static size_t layout_type(struct task *t, int n)
{
    MPI_Datatype base = t->type, raw = MPI_DATATYPE_NULL;
    int blocks = 0;
    size_t moved = 0;
    switch (opt.layout) {
    case PLAIN: return n;
    case CONTIGUOUS:
        MPI_Type_contiguous(n, base, &raw);
        moved = n;
        break;
    case VECTOR:
        MPI_Type_vector(n / opt.stride, opt.block, opt.stride, base, &raw);
        moved = (size_t)(n / opt.stride) * opt.block;
        break;
    case INDEXED:
        if (!indexes)
            read_indexes(t);
        for (; blocks < indexes && index_at[blocks] + index_length[blocks] <= n; blocks++)
            moved += index_length[blocks];
        MPI_Type_indexed(blocks, index_length, index_at, base, &raw);
        break;
    }
    if (!moved && !t->skip)
        t->skip = "nothing of this size is in the derived type";
    MPI_Type_create_resized(raw, 0, (MPI_Aint)t->bytes, &t->type);
    MPI_Type_free(&raw);
    MPI_Type_commit(&t->type);
    t->count = 1;
    return moved;
}

/* Whether the derived type moves element i of a block. */
static bool moves(size_t n, size_t i)
{
    if (opt.layout == VECTOR)
        return i % opt.stride < (size_t)opt.block && i / opt.stride < n / opt.stride;
    if (opt.layout != INDEXED)
        return true;
    for (int k = 0; k < indexes && (size_t)(index_at[k] + index_length[k]) <= n; k++)
        if (i >= (size_t)index_at[k] && i < (size_t)(index_at[k] + index_length[k]))
            return true;
    return false;
}

/* Buffers stay from task to task, and grow: page faults are not what is measured. */
static struct room {
    char *at;
    size_t bytes;
    bool on_device;
} rooms[2];

static char *room_of(struct room *r, size_t bytes, bool on_device)
{
    if (bytes > r->bytes || on_device != r->on_device) {
        memory_give_back(r->at);
        *r = (struct room){memory_take(bytes, on_device), bytes, on_device};
    }
    memory_zero(r->at, bytes);
    return r->at;
}

static int *numbers(size_t n, int first, int step)
{
    int *array = must(malloc((n + 1) * sizeof *array));
    for (size_t i = 0; i < n; i++)
        array[i] = first + (int)i * step;
    return array;
}

/* So many of `total` has part r of p. */
int data_share(int total, int p, int r)
{
    return total / p + (r < total % p);
}

static bool dealt_out(const struct task *t)
{
    return t->bench->shape.receives == PART || t->bench->shape.receives == EQUAL_PART;
}

/* Counts and displacements of parts of the vector. */
static void deal_out(struct task *t)
{
    bool equal = t->bench->shape.receives == EQUAL_PART;
    int at = 0;
    for (int r = 0; r < t->size; at += t->counts[r++]) {
        t->counts[r] = equal ? t->count / t->size : data_share(t->count, t->size, r);
        t->displs[r] = at;
    }
    t->payload = at * t->element->size;
    if (!t->payload && t->count)
        t->skip = "there are fewer elements than ranks";
}

/* Needs rank, size, bytes and element, and a pair its peer and window. Where there are no
 * neighbours (`to`), every rank is one. */
void data_open(struct task *t)
{
    const struct shape *s = &t->bench->shape;
    bool pair = of_pair(t->bench);
    if (!t->to) {
        t->outs = pair ? window_blocks(t) : s->sends == EACH ? t->size : 1;
        t->ins = pair ? t->outs : s->receives == EACH ? t->size : 1;
        t->to = numbers(t->outs, 0, !pair);
        t->from = numbers(t->ins, 0, !pair);
    }
    size_t most = t->outs > t->ins ? t->outs : t->ins;
    size_t blocks = dealt_out(t) ? (size_t)t->size : most;
    if (t->bytes > INT32_MAX || most * t->bytes > INT32_MAX)
        t->skip = "is more than 2 GiB in all blocks together, which this program does not count";
    else if (most * t->bytes > opt.memory / 2)
        t->skip = t->lanes != 1 || t->window == 1 || most * t->bytes > opt.memory
                      ? "needs more memory than -M allows"
                      : "needs more memory than -M allows where each message of a window is checked";
    if (t->skip)
        t->bytes = 0;
    t->type = adds(t->bench) ? t->element->sums : t->element->type;
    t->count = (int)(t->bytes / t->element->size);
    t->payload = layout_type(t, t->count) * t->element->size;
    t->counts = numbers(blocks, t->count, 0);
    t->displs = numbers(blocks, 0, t->count);
    if (dealt_out(t))
        deal_out(t);
    t->offsets = numbers(most, 0, (int)t->bytes);
    t->types = must(malloc((most + 1) * sizeof *t->types));
    t->places = must(malloc((most + 1) * sizeof *t->places));
    for (size_t k = 0; k < most; k++) {
        t->types[k] = t->type;
        t->places[k] = (MPI_Aint)(k * t->bytes);
    }
    t->out = room_of(&rooms[0], most * t->bytes + PADDING, memory_on_device(t));
    t->in = room_of(&rooms[1], GUARD_ROOM + most * t->bytes + PADDING, memory_on_device(t)) + GUARD_ROOM;
    /* Processors may copy zeros quicker than what programs send: see docs/beside-omb.md. */
    for (char **at = (char *[]){t->out, t->in, NULL}; *at && t->bytes; at++)
        data_put(t, memory_view(*at), t->rank, 0, most * t->bytes / t->element->size);
    memory_store();
    t->guarded = t->bytes ? t->ins * t->bytes : sizeof(long); /* what has no sizes has an element */
    data_aim(t, t->root);
}

void data_close(struct task *t)
{
    if (opt.layout != PLAIN)
        MPI_Type_free(&t->type);
    free(t->to);
    free(t->from);
    free(t->counts);
    free(t->displs);
    free(t->offsets);
    free(t->types);
    free(t->places);
}

/* Makes `root` the root; a root may have nothing to send to itself, or nothing to receive. */
void data_aim(struct task *t, int root)
{
    const struct shape *s = &t->bench->shape;
    bool me = t->rank == root;
    t->root = root;
    t->send = t->in_place && s->sender == EVERYBODY && (s->receiver == EVERYBODY || me)
                  ? MPI_IN_PLACE : t->out;
    t->recv = t->in_place && s->sender == ROOT && me ? MPI_IN_PLACE : t->in;
}

/* Without gaps nobody looks for what was there before. */
static void spoil(const struct task *t, char *at)
{
    char *view = memory_view(at);
    if (opt.layout == PLAIN)
        memset(view, 0xff, t->bytes);
    else
        for (size_t i = 0; i < t->bytes / t->element->size; i++)
            t->element->put(view, i, UNTOUCHED);
}

void data_guard(char *at, size_t bytes)
{
    memset(memory_view(at - GUARD), KEPT, GUARD);
    memset(memory_view(at + bytes), KEPT, GUARD);
}

/* Whether nothing was written before and behind `bytes` at `at`; after `memory_load`. */
bool data_guarded(const struct task *t, const char *at, size_t bytes, const char *what, char *error, size_t room)
{
    const char *sides[] = {memory_view(at - GUARD), memory_view(at + bytes)};
    for (int side = 0; side < 2; side++)
        if (*sides[side] != KEPT || memcmp(sides[side], sides[side] + 1, GUARD - 1)) {
            snprintf(error, room, "rank %d: something is written %s %s", t->rank, side ? "behind" : "before", what);
            return false;
        }
    return true;
}

void data_fill(struct task *t)
{
    const struct shape *s = &t->bench->shape;
    bool sends = s->sender == EVERYBODY || (s->sender == ROOT && t->rank == t->root);
    bool from_in = t->send == MPI_IN_PLACE || s->from == OF_ROOT;
    size_t elements = t->bytes / t->element->size;
    data_guard(t->in, t->guarded);
    for (int k = 0; k < t->ins; k++)
        spoil(t, t->in + k * t->bytes);
    for (int k = 0; k < t->outs && sends; k++) {
        int for_whom = s->sends == EACH ? t->to[k]
                                           : data_lane(t, of_pair(t->bench) ? t->peer : 0, lane_of(t, t->outs, k));
        char *own = t->in + (s->sends == SINGLE && s->receives == EACH ? t->rank : k) * t->bytes;
        data_put(t, memory_view(t->out + k * t->bytes), t->rank, for_whom, elements);
        /* A broadcast has one buffer. */
        if (from_in && !(s->from == OF_ROOT && s->sends == EACH))
            memcpy(memory_view(own), memory_view(t->out + k * t->bytes), t->bytes);
    }
}

/* The number of ranks, from rank 0 on, whose data a block is the sum of; 0: it has the data of one rank. */
static int below(const struct task *t)
{
    switch (t->bench->shape.from) {
    case OF_ALL: return t->size;
    case OF_UP_TO_ME: return t->rank + 1;
    case OF_LOWER: return t->rank;
    default: return 0;
    }
}

/* Whom what is in block k was for, as who sent it calls it. */
static int mine(const struct task *t, int k)
{
    const struct shape *s = &t->bench->shape;
    return data_lane(t, s->sends == EACH || s->from == OF_PEER ? t->rank : 0, lane_of(t, t->ins, k));
}

/* What element i of block k has to be. */
static int expected(const struct task *t, int k, size_t i)
{
    const struct shape *s = &t->bench->shape;
    int for_whom = mine(t, k), sum = 0;
    switch (s->from) {
    case OF_ROOT: return data_value(t, t->root, for_whom, i);
    case OF_BLOCK: return data_value(t, t->from[k], for_whom, i);
    case OF_PEER: return data_value(t, t->peer, for_whom, i);
    default: break;
    }
    for (int r = 0; r < below(t); r++)
        sum += data_value(t, r, for_whom, dealt_out(t) ? i + t->displs[t->rank] : i);
    return sum;
}

/* Whether element i of the block at `at` is as it has to be; after `memory_load`. */
bool data_equal(const struct task *t, const void *at, size_t i, int want, const char *what,
                char *error, size_t room)
{
    if (t->element->is(memory_view(at), i, want))
        return true;
    snprintf(error, room, "rank %d: element %zu of %s should be %d", t->rank, i, what, want);
    return false;
}

/* Whether this rank receives anything that is defined. */
static bool receives(const struct task *t)
{
    const struct shape *s = &t->bench->shape;
    if (s->from == OF_PEER)
        return t->peer >= 0 && (s->receiver == EVERYBODY || !t->first);
    return t->recv != MPI_IN_PLACE && !(s->from == OF_LOWER && t->rank == 0) &&
           (s->receiver == EVERYBODY || (s->receiver == ROOT && t->rank == t->root));
}

/* What block k has to be, as a whole; NULL where it has gaps. */
static const char *whole(const struct task *t, int k, size_t *elements)
{
    const struct shape *s = &t->bench->shape;
    int whose = s->from == OF_ROOT ? t->root : s->from == OF_PEER ? t->peer : t->from[k];
    *elements = t->bytes / t->element->size;
    if (opt.layout != PLAIN)
        return NULL;
    if (dealt_out(t))
        *elements = (size_t)t->counts[t->rank];
    if (below(t))
        return pattern(&sum, t, below(t), first_of(t, 0, 0) + (dealt_out(t) ? t->displs[t->rank] : 0), *elements);
    return pattern(&single, t, 0, first_of(t, whose, mine(t, k)), *elements);
}

/* Whether nobody has written behind the first `bytes` of a block without gaps. */
static bool is_spoilt(const struct task *t, const char *block, size_t bytes)
{
    const char *rest = (const char *)memory_view(block) + bytes;
    size_t n = t->bytes - bytes;
    return !n || ((unsigned char)*rest == 0xff && !memcmp(rest, rest + 1, n - 1));
}

/* Whether block k is right at first sight; `filled`: its rest has something else. */
static bool is_whole(const struct task *t, int k, bool filled)
{
    size_t elements;
    const char *want = whole(t, k, &elements), *at = t->in + k * t->bytes;
    size_t bytes = elements * t->element->size;
    return want && !memcmp(memory_view(at), want, bytes) && (filled || is_spoilt(t, at, bytes));
}

bool data_right(struct task *t, char *error, size_t room)
{
    size_t n = t->bytes / t->element->size;
    /* Gaps stay as they were, but who sends from this buffer has filled its own. */
    bool filled = t->in_place || (t->bench->shape.from == OF_ROOT && t->rank == t->root);
    for (int k = 0; k < t->ins && receives(t); k++) {
        char block[32];
        if (is_whole(t, k, filled))
            continue;
        snprintf(block, sizeof block, "block %d", k);
        for (size_t i = 0; i < n; i++) {
            bool moved = dealt_out(t) ? i < (size_t)t->counts[t->rank] : moves(n, i);
            int want = moved ? expected(t, k, i) : UNTOUCHED;
            if ((moved || (!filled && opt.layout != PLAIN)) &&
                !data_equal(t, t->in + k * t->bytes, i, want, block, error, room))
                return false;
        }
        if (opt.layout == PLAIN && !filled) {
            snprintf(error, room, "rank %d: something is written behind what %s should have", t->rank, block);
            return false;
        }
    }
    return true;
}
