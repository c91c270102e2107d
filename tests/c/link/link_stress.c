// Messages of all sizes between all ranks at once, received wild, half wild, by name, by probes and
// by matched probes, with cancelled receives and sends in between: order per pair and content.
// The argument is how many messages each rank sends to each other one (and the seed).
// time: 120
// run: -n 4 -- 3000
// run: -n 3 -- 2000 7
// run: -n 3 --set LINK=tcp -- 1500
// run: -n 3 --set LINK=ofi:tcp -- 500
// run: -n 2 --set "LINK=tcp;ofi_rxm" --set OFI_PACKET=1000 -- 500 3
// run: --host a:2,b:2 --launcher-agent tests/c/here.sh -- 700
// run: --host a:2,b:2 --launcher-agent tests/c/here.sh --set LINK=shm+ofi:tcp -- 300 5
// needs: libfabric.so.1
#include "../check.h"

enum { TAGS = 3, NEVER = 99, WINDOW = 24, BATCH = 16, LONGEST = 400000 };

/* A stream: the messages from one rank to another. */
typedef struct {
    int *length;
    unsigned char *tag, *taken;
    int first; /* all before it are taken */
    int left;
} stream;

/* A receive, and what it accepts. */
typedef struct {
    int source, tag;
    unsigned char *room;
    int index; /* of the message that it got */
} receive;

static int count;
static unsigned long long state;
static stream *in;
static receive batch[BATCH];
static MPI_Comm aside; /* where nothing is ever received */

static unsigned draw(unsigned long long *s, unsigned below)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return (unsigned)(*s >> 33) % below;
}

/* Mostly short; sizes at which something changes, and a few bytes around them. */
static int length_of(unsigned long long *s)
{
    static const int edges[] = {32, 128, 1024, 4096, 8192, 16384, 32768, 65536, 131072};
    switch (draw(s, 8)) {
    case 0: case 1: case 2: return (int)draw(s, 80);
    case 3: case 4: return (int)draw(s, 3000);
    case 5: case 6: return edges[draw(s, 9)] - 32 + (int)draw(s, 64);
    default: return draw(s, 10) ? (int)draw(s, 70000) : (int)draw(s, LONGEST);
    }
}

static stream stream_of(unsigned seed, int from, int to)
{
    unsigned long long s = ((seed + 1) * 1000003ull + (unsigned)from) * 1000003ull + (unsigned)to;
    stream it = {malloc(count * sizeof(int)), malloc(count), calloc(count, 1), 0, count};
    for (int i = 0; i < 10; i++)
        draw(&s, 2);
    for (int i = 0; i < count; i++) {
        it.length[i] = length_of(&s);
        it.tag[i] = (unsigned char)draw(&s, TAGS);
    }
    return it;
}

static unsigned seed_of(int from, int to, int index)
{
    return (unsigned)(from * 7919 + to * 104729 + index);
}

/* Whether one message in turn has a tag; any, if it is wild. */
static int fits(int tag, int wanted)
{
    return wanted == MPI_ANY_TAG || tag == wanted;
}

/* Messages with that tag among the next ones of a stream: its sender leaves no gap of more. */
static int near(const stream *it, int tag)
{
    int n = 0;
    for (int i = it->first, seen = 0; i < count && seen < WINDOW; i++)
        if (!it->taken[i]) {
            seen++;
            n += fits(it->tag[i], tag);
        }
    return n;
}

/* Takes what a receive got out of the stream of its sender. */
static void took(receive *r, const MPI_Status *status)
{
    int source = status->MPI_SOURCE, n, i;
    stream *it = &in[source];
    MPI_Get_count(status, MPI_BYTE, &n);
    CHECK(r->source == MPI_ANY_SOURCE || r->source == source);
    CHECK(fits(status->MPI_TAG, r->tag));
    for (i = it->first; i < count && (it->taken[i] || it->tag[i] != status->MPI_TAG); i++)
        ;
    CHECK(i < count);
    EQUAL(n, it->length[i]);
    if (n >= 8) {
        int index;
        memcpy(&index, r->room, sizeof index);
        EQUAL(index, i);
        EQUAL(4 + wrong_at(r->room + 4, n - 4, seed_of(source, rank, i)), n);
    } else {
        EQUAL(wrong_at(r->room, n, seed_of(source, rank, i)), n);
    }
    it->taken[i] = 1;
    it->left--;
    while (it->first < count && it->taken[it->first])
        it->first++;
    r->index = i;
    r->source = source;
}

static void accepts(int number, int source, int tag)
{
    batch[number].source = source;
    batch[number].tag = tag;
}

/* Chooses what the next receives accept: exact ones first, so that no wild one takes a message that
   an exact one needs. Returns how many there are. */
static int choose(void)
{
    int n = 0, most = 1 + (int)draw(&state, BATCH), exact = (int)draw(&state, (unsigned)most + 1);
    int used[64][TAGS] = {{0}}, whole[64] = {0};
    for (int tries = 0; tries < 40 && n < exact; tries++) {
        int source = (int)draw(&state, (unsigned)size), tag = (int)draw(&state, TAGS);
        if (source != rank && used[source][tag] < near(&in[source], tag)) {
            used[source][tag]++;
            whole[source]++;
            accepts(n++, source, tag);
        }
    }
    int kind = (int)draw(&state, 3), tag = (int)draw(&state, TAGS), room = 0;
    int source = (int)draw(&state, (unsigned)size);
    for (int p = 0; p < size; p++) {
        if (p == rank)
            continue;
        if (kind == 0)
            room += near(&in[p], MPI_ANY_TAG) - whole[p];
        if (kind == 1 && p == source)
            room += near(&in[p], MPI_ANY_TAG) - whole[p];
        if (kind == 2)
            room += near(&in[p], tag) - used[p][tag];
    }
    for (; n < most && room > 0; room--)
        accepts(n++, kind == 1 ? source : MPI_ANY_SOURCE, kind == 2 ? tag : MPI_ANY_TAG);
    return n;
}

/* A send that nobody receives is taken back; so is a receive that nothing comes for. */
static void cancel(int to)
{
    static unsigned char bytes[100000];
    MPI_Request requests[2];
    MPI_Status status[2];
    int length = draw(&state, 2) ? 10 : (int)sizeof bytes;
    MPI_Issend(bytes, length, MPI_BYTE, to, 0, aside, &requests[0]);
    MPI_Irecv(bytes, 10, MPI_BYTE, MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &requests[1]);
    MPI_Cancel(&requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Waitall(2, requests, status);
    for (int i = 0, is; i < 2; i++) {
        MPI_Test_cancelled(&status[i], &is);
        CHECK(is);
    }
}

/* The messages to one rank. */
typedef struct {
    stream is;
    int next;
    MPI_Request requests[WINDOW];
    unsigned char *buffers[WINDOW];
} outgoing;

static outgoing *out;

/* Begins what can be sent, and ends what was. */
static void push(void)
{
    for (int p = 0; p < size; p++)
        for (int k = 0; p != rank && k < WINDOW; k++) {
            outgoing *to = &out[p];
            int done = 1;
            if (to->requests[k] != MPI_REQUEST_NULL)
                MPI_Test(&to->requests[k], &done, MPI_STATUS_IGNORE);
            if (!done || to->next == count)
                continue;
            int i = to->next++, n = to->is.length[i];
            fill(to->buffers[k], n, seed_of(rank, p, i));
            if (n >= 8) {
                fill(to->buffers[k] + 4, n - 4, seed_of(rank, p, i));
                memcpy(to->buffers[k], &i, sizeof i);
            }
            if (draw(&state, 8))
                MPI_Isend(to->buffers[k], n, MPI_BYTE, p, to->is.tag[i], MPI_COMM_WORLD,
                          &to->requests[k]);
            else
                MPI_Issend(to->buffers[k], n, MPI_BYTE, p, to->is.tag[i], MPI_COMM_WORLD,
                           &to->requests[k]);
        }
}

/* Receives several at once. */
static void receive_batch(void)
{
    MPI_Request requests[BATCH];
    MPI_Status status[BATCH];
    int n = choose(), done = 0;
    for (int i = 0; i < n; i++)
        MPI_Irecv(batch[i].room, LONGEST, MPI_BYTE, batch[i].source, batch[i].tag, MPI_COMM_WORLD,
                  &requests[i]);
    while (push(), MPI_Testall(n, requests, &done, status), !done)
        ;
    for (int i = 0; i < n; i++) {
        took(&batch[i], &status[i]);
        /* What came earlier and would have fitted went to an earlier receive. */
        for (int k = 0; k < i; k++)
            if (batch[k].source == batch[i].source && batch[i].index < batch[k].index)
                CHECK(!fits(status[i].MPI_TAG, batch[k].tag));
    }
}

/* Receives one after a look. */
static void receive_one(void)
{
    int flag = 0, n, matched = (int)draw(&state, 2);
    MPI_Status status;
    MPI_Message message;
    while (push(), !flag)
        if (matched)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
        else
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    MPI_Get_count(&status, MPI_BYTE, &n);
    receive one = {status.MPI_SOURCE, status.MPI_TAG, batch[0].room, 0};
    EQUAL(one.tag, in[one.source].tag[in[one.source].first]);
    MPI_Request request;
    if (matched)
        MPI_Imrecv(one.room, n, MPI_BYTE, &message, &request);
    else
        MPI_Irecv(one.room, n, MPI_BYTE, one.source, one.tag, MPI_COMM_WORLD, &request);
    for (flag = 0; !flag; push())
        MPI_Test(&request, &flag, &status);
    took(&one, &status);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(size <= 64);
    count = argc > 1 ? atoi(argv[1]) : 1000;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    state = seed * 7777ull + (unsigned)rank * 31 + 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &aside);
    in = calloc((size_t)size, sizeof *in);
    out = calloc((size_t)size, sizeof *out);
    for (int i = 0; i < BATCH; i++)
        batch[i].room = malloc(LONGEST);
    for (int p = 0; p < size; p++) {
        if (p == rank)
            continue;
        in[p] = stream_of(seed, p, rank);
        out[p].is = stream_of(seed, rank, p);
        for (int k = 0; k < WINDOW; k++) {
            out[p].requests[k] = MPI_REQUEST_NULL;
            out[p].buffers[k] = malloc(LONGEST);
        }
    }
    for (;;) {
        int left = 0;
        for (int p = 0; p < size; p++)
            left += in[p].left;
        if (left == 0)
            break;
        if (draw(&state, 3))
            receive_batch();
        else
            receive_one();
        if (size > 1 && draw(&state, 50) == 0)
            cancel((rank + 1 + (int)draw(&state, (unsigned)size - 1)) % size);
    }
    for (int busy = 1; busy; push()) {
        busy = 0;
        for (int p = 0; p < size; p++)
            for (int k = 0; p != rank && k < WINDOW; k++)
                busy |= out[p].requests[k] != MPI_REQUEST_NULL || out[p].next < count;
    }
    MPI_Comm_free(&aside);
    return finish();
}
