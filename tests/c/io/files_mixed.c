// Random programs against a naive model: several calls at a time, collective and not, blocking, non-blocking and split, with
// individual and shared pointers and explicit offsets, through one view with gaps, from memory with gaps. The variables FILES_SEEDS
// and FILES_SEED are how many programs run and the first one's seed, for a longer look.
//
// run: -n 1
// run: -n 3
// run: -n 4 -x TEST_HINTS=romio_cb_write=enable,romio_cb_read=enable,cb_buffer_size=4096,cb_nodes=2
// run: -n 3 -x CATENA_LINK=tcp
// run: -n 3 -x TEST_HINTS=catena_io_faults=short=13
// time: 120
#include "../check.h"

enum { UNITS = 40000, EPOCHS = 12, OPS = 10, RUNS = 5, RECORD = 3 };

/* The stream of the view in units of the etype, as it must be, the same at all ranks. */
static unsigned long long model[UNITS];
/* The epoch that last wrote a unit; 0 for none. */
static int written[UNITS];
static long long high; /* units that the stream has */
static unsigned long long state;
static unsigned long long seed;
static int epoch;

static unsigned next(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned) (state >> 11) % below;
}

/* Runs of units, and the gaps between them. */
typedef struct {
    int n, at[RUNS], len[RUNS], extent, size;
} Pattern;

static Pattern pattern(void)
{
    Pattern p = { .n = 1 + (int) next(RUNS) };
    for (int i = 0, at = 0; i < p.n; i++) {
        at += (int) next(4);
        p.at[i] = at;
        p.len[i] = 1 + (int) next(5);
        at += p.len[i];
        p.size += p.len[i];
        p.extent = at;
    }
    p.extent += (int) next(4);
    return p;
}

static MPI_Datatype type_of(const Pattern *p, MPI_Datatype unit, int bytes)
{
    MPI_Datatype runs, all;
    MPI_Type_indexed(p->n, p->len, p->at, unit, &runs);
    MPI_Type_create_resized(runs, 0, (MPI_Aint) p->extent * bytes, &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&runs);
    return all;
}

typedef enum {
    AT, POINTER, I_AT, I_POINTER, SHARED, I_SHARED, /* of one rank */
    AT_ALL, POINTER_ALL, I_AT_ALL, I_POINTER_ALL, SPLIT_AT, SPLIT_POINTER, ORDERED, SPLIT_ORDERED, FORMS
} Form;

static const char *names[FORMS] = {
    "at", "pointer", "i_at", "i_pointer", "shared", "i_shared", "at_all", "all", "i_at_all", "i_all", "split at", "split",
    "ordered", "split ordered",
};

/* A call of one rank. `at` is -1 where the shared pointer decides. */
typedef struct {
    Form form;
    int write, rank, id;
    long long at, units;
    Pattern memory;
    int count;
} Op;

/* What a call writes at its unit `i`: it tells which call it was. */
static unsigned long long value(const Op *op, long long i, int bytes)
{
    unsigned long long word = (seed * 1000003u + (unsigned) epoch * 8191u + (unsigned) op->id) * 0x9e3779b97f4a7c15ull;
    word ^= (unsigned long long) (i + 1) * 0x2545f4914f6cdd1dull;
    word ^= word >> 29;
    return bytes == 8 ? word : word & ((1ull << 8 * bytes) - 1);
}

/* A call on its way. */
typedef struct {
    Op op;
    unsigned char *buf;
    size_t room;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Status status;
    long long from; /* where the shared pointer was, if that is known */
} Call;

static void wrong(const Call *c, const char *what, long long i)
{
    fprintf(stderr, "seed %llu, epoch %d, rank %d: %s by '%s', call %d, unit %lld of %lld at %lld: %s\n", seed, epoch, rank,
            c->op.write ? "write" : "read", names[c->op.form], c->op.id, i, c->op.units, c->from, what);
    CHECK(0);
}

/* Place in memory of unit `i` of a call. */
static unsigned char *unit_at(const Call *c, long long i, int bytes)
{
    const Pattern *m = &c->op.memory;
    long long tile = i / m->size, rest = i % m->size;
    for (int k = 0; k < m->n; k++) {
        if (rest < m->len[k])
            return c->buf + (tile * m->extent + m->at[k] + rest) * bytes;
        rest -= m->len[k];
    }
    return NULL;
}

static void prepare(Call *c, MPI_Datatype unit, int bytes)
{
    const Op *op = &c->op;
    c->room = (size_t) (op->count + 1) * op->memory.extent * bytes;
    c->buf = malloc(c->room);
    CHECK(c->buf != NULL);
    memset(c->buf, 0xee, c->room);
    c->type = type_of(&op->memory, unit, bytes);
    c->request = MPI_REQUEST_NULL;
    c->from = op->at;
    for (long long i = 0; op->write && i < op->units; i++) {
        unsigned long long word = value(op, i, bytes);
        memcpy(unit_at(c, i, bytes), &word, (size_t) bytes);
    }
}

#define DO(call)                                                                \
    do {                                                                        \
        int rc_ = (call);                                                       \
        if (rc_ != MPI_SUCCESS) {                                               \
            char t_[MPI_MAX_ERROR_STRING] = "";                                 \
            int l_;                                                             \
            MPI_Error_string(rc_, t_, &l_);                                     \
            wrong(c, t_, 0);                                                    \
        }                                                                       \
    } while (0)

static void begin(MPI_File fh, Call *c)
{
    const Op *op = &c->op;
    void *b = c->buf;
    MPI_Status *s = &c->status;
    MPI_Request *r = &c->request;
    int n = op->count;
    MPI_Datatype t = c->type;
    if (op->form == POINTER || op->form == I_POINTER || op->form == POINTER_ALL || op->form == I_POINTER_ALL
        || op->form == SPLIT_POINTER)
        DO(MPI_File_seek(fh, op->at, MPI_SEEK_SET));
    if (op->write)
        switch (op->form) {
        case AT: DO(MPI_File_write_at(fh, op->at, b, n, t, s)); break;
        case POINTER: DO(MPI_File_write(fh, b, n, t, s)); break;
        case I_AT: DO(MPI_File_iwrite_at(fh, op->at, b, n, t, r)); break;
        case I_POINTER: DO(MPI_File_iwrite(fh, b, n, t, r)); break;
        case SHARED: DO(MPI_File_write_shared(fh, b, n, t, s)); break;
        case I_SHARED: DO(MPI_File_iwrite_shared(fh, b, n, t, r)); break;
        case AT_ALL: DO(MPI_File_write_at_all(fh, op->at, b, n, t, s)); break;
        case POINTER_ALL: DO(MPI_File_write_all(fh, b, n, t, s)); break;
        case I_AT_ALL: DO(MPI_File_iwrite_at_all(fh, op->at, b, n, t, r)); break;
        case I_POINTER_ALL: DO(MPI_File_iwrite_all(fh, b, n, t, r)); break;
        case SPLIT_AT: DO(MPI_File_write_at_all_begin(fh, op->at, b, n, t)); break;
        case SPLIT_POINTER: DO(MPI_File_write_all_begin(fh, b, n, t)); break;
        case ORDERED: DO(MPI_File_write_ordered(fh, b, n, t, s)); break;
        case SPLIT_ORDERED: DO(MPI_File_write_ordered_begin(fh, b, n, t)); break;
        case FORMS: break;
        }
    else
        switch (op->form) {
        case AT: DO(MPI_File_read_at(fh, op->at, b, n, t, s)); break;
        case POINTER: DO(MPI_File_read(fh, b, n, t, s)); break;
        case I_AT: DO(MPI_File_iread_at(fh, op->at, b, n, t, r)); break;
        case I_POINTER: DO(MPI_File_iread(fh, b, n, t, r)); break;
        case SHARED: DO(MPI_File_read_shared(fh, b, n, t, s)); break;
        case I_SHARED: DO(MPI_File_iread_shared(fh, b, n, t, r)); break;
        case AT_ALL: DO(MPI_File_read_at_all(fh, op->at, b, n, t, s)); break;
        case POINTER_ALL: DO(MPI_File_read_all(fh, b, n, t, s)); break;
        case I_AT_ALL: DO(MPI_File_iread_at_all(fh, op->at, b, n, t, r)); break;
        case I_POINTER_ALL: DO(MPI_File_iread_all(fh, b, n, t, r)); break;
        case SPLIT_AT: DO(MPI_File_read_at_all_begin(fh, op->at, b, n, t)); break;
        case SPLIT_POINTER: DO(MPI_File_read_all_begin(fh, b, n, t)); break;
        case ORDERED: DO(MPI_File_read_ordered(fh, b, n, t, s)); break;
        case SPLIT_ORDERED: DO(MPI_File_read_ordered_begin(fh, b, n, t)); break;
        case FORMS: break;
        }
}

/* The end of a split call. */
static void end(MPI_File fh, Call *c)
{
    void *b = c->buf;
    MPI_Status *s = &c->status;
    if (c->op.form == SPLIT_AT)
        DO(c->op.write ? MPI_File_write_at_all_end(fh, b, s) : MPI_File_read_at_all_end(fh, b, s));
    if (c->op.form == SPLIT_POINTER)
        DO(c->op.write ? MPI_File_write_all_end(fh, b, s) : MPI_File_read_all_end(fh, b, s));
    if (c->op.form == SPLIT_ORDERED)
        DO(c->op.write ? MPI_File_write_ordered_end(fh, b, s) : MPI_File_read_ordered_end(fh, b, s));
}

/* What a call has said and moved. What it reads of units that nobody has written yet is not looked at. */
static void judge(Call *c, int bytes)
{
    MPI_Count moved = -1;
    if (c->request != MPI_REQUEST_NULL)
        DO(MPI_Wait(&c->request, &c->status));
    EQUAL(MPI_Get_elements_c(&c->status, MPI_BYTE, &moved), MPI_SUCCESS);
    if (c->op.write ? moved != c->op.units * bytes : moved > c->op.units * bytes)
        wrong(c, "the status tells another length", moved);
    for (long long i = 0; i < c->op.units; i++) {
        unsigned char *here = unit_at(c, i, bytes);
        unsigned long long want = value(&c->op, i, bytes);
        if (!c->op.write) {
            if (c->from < 0 || c->from + i >= UNITS || !written[c->from + i]) {
                memset(here, 0xee, (size_t) bytes);
                continue;
            }
            if (moved < (i + 1) * bytes)
                wrong(c, "bytes of the file were not read", i);
            want = model[c->from + i];
        }
        if (memcmp(here, &want, (size_t) bytes) != 0)
            wrong(c, "wrong data", i);
        memset(here, 0xee, (size_t) bytes);
    }
    for (size_t i = 0; i < c->room; i++)
        if (c->buf[i] != 0xee)
            wrong(c, "a gap in memory was changed, at this byte", (long long) i);
    MPI_Type_free(&c->type);
    free(c->buf);
}

static void enter(const Op *op, long long at, int bytes)
{
    for (long long i = 0; i < op->units; i++) {
        model[at + i] = value(op, i, bytes);
        written[at + i] = epoch;
    }
    if (op->units && at + op->units > high)
        high = at + op->units;
}

static Op drawn(Form form, int write, int r, int id)
{
    Op op = { .form = form, .write = write, .rank = r, .id = id, .at = -1, .memory = pattern() };
    op.count = next(6) ? (int) next(1 + 60 / (unsigned) op.memory.size) : 0;
    if (next(12) == 0)
        op.count *= 8;
    op.units = (long long) op.count * op.memory.size;
    return op;
}

/* What the shared pointer wrote without an order: which call's data lie where. */
static void sort_out(MPI_File fh, Op *ops, int n, long long base, long long total, MPI_Datatype unit, int bytes)
{
    unsigned char *all = malloc((size_t) (total * bytes) + 1);
    MPI_Status status;
    EQUAL(MPI_File_read_at_all_c(fh, base, all, total, unit, &status), MPI_SUCCESS);
    for (long long at = 0; at < total;) {
        int found = -1;
        for (int k = 0; k < n && found < 0; k++) {
            long long i = 0;
            for (; ops[k].units && at + ops[k].units <= total && i < ops[k].units; i++) {
                unsigned long long word = value(&ops[k], i, bytes);
                if (memcmp(all + (at + i) * bytes, &word, (size_t) bytes) != 0)
                    break;
            }
            if (ops[k].units && i == ops[k].units)
                found = k;
        }
        if (found < 0)
            fprintf(stderr, "seed %llu, epoch %d: no call by the shared pointer wrote what is at %lld\n", seed, epoch, base + at);
        CHECK(found >= 0);
        enter(&ops[found], base + at, bytes);
        at += ops[found].units;
        ops[found].units = 0;
    }
    free(all);
}

/* Calls that go on at once: writes to places of their own, reads of what stays as it is. */
static void one_epoch(MPI_File fh, MPI_Datatype unit, int bytes)
{
    /* All ranks draw the calls of all, so that each knows what there must be. */
    static Op all[OPS * 16], loose[OPS * 16];
    int n = 0, loose_n = 0, mode = (int) next(3); /* how the shared pointer is used: not, ordered, without an order */
    long long cursor = next(UNITS / 4), shared_from, shared_total = 0;
    for (int k = 0; k < OPS; k++) {
        Form form = (Form) next(FORMS);
        int write = (int) next(2), orders = form == ORDERED || form == SPLIT_ORDERED, shares = form == SHARED || form == I_SHARED;
        if ((orders && mode != 1) || (shares && mode != 2))
            form = I_AT, orders = shares = 0;
        /* A pointer that moves between reads and writes at once has no place that is known. */
        if (shares)
            write = 1;
        for (int r = 0; r < size; r++) {
            Op op = drawn(form, write, r, n);
            /* Calls by the shared pointer without an order have enough units to be told from each other. */
            if (shares && op.units < RECORD * 8 / bytes)
                op.units = op.count = 0;
            all[n++] = op;
            if (shares || orders)
                shared_total += op.units;
        }
    }
    shared_from = cursor;
    cursor += shared_total;
    long long ordered_at = shared_from;
    for (int k = 0; k < n; k++) {
        Op *op = &all[k];
        if (op->form == ORDERED || op->form == SPLIT_ORDERED) {
            op->at = ordered_at;
            ordered_at += op->units;
        } else if (op->form == SHARED || op->form == I_SHARED) {
            loose[loose_n++] = *op;
        } else if (op->write) {
            cursor += next(8);
            op->at = cursor;
            cursor += op->units;
        }
    }
    if (cursor > UNITS)
        return; /* too much for the model: another epoch will do */
    /* Reads keep off what is written now. */
    for (int k = 0; k < n; k++) {
        Op *op = &all[k];
        if (op->write || op->at >= 0)
            continue;
        op->at = next(2) && shared_from > op->units ? next((unsigned) (shared_from - op->units)) : cursor + next(50);
        if (op->at + op->units > UNITS)
            op->at = 0, op->units = op->count = 0;
    }

    EQUAL(MPI_File_seek_shared(fh, shared_from, MPI_SEEK_SET), MPI_SUCCESS);
    Call calls[OPS];
    int split = -1;
    for (int k = 0; k < OPS; k++) {
        Call *c = &calls[k];
        c->op = all[k * size + rank];
        prepare(c, unit, bytes);
        int collective = c->op.form >= AT_ALL;
        if (collective && split >= 0) {
            end(fh, &calls[split]);
            split = -1;
        }
        begin(fh, c);
        if (c->op.form == SPLIT_AT || c->op.form == SPLIT_POINTER || c->op.form == SPLIT_ORDERED)
            split = k;
        /* Some are complete early. */
        if (c->request != MPI_REQUEST_NULL && (k * 5 + rank + epoch) % 4 == 0)
            DO(MPI_Wait(&c->request, &c->status));
    }
    if (split >= 0)
        end(fh, &calls[split]);
    for (int k = 0; k < OPS; k++)
        judge(&calls[(k * 7) % OPS], bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < n; k++)
        if (all[k].write && all[k].at >= 0)
            enter(&all[k], all[k].at, bytes);
    if (mode != 0) {
        MPI_Offset told;
        EQUAL(MPI_File_get_position_shared(fh, &told), MPI_SUCCESS);
        EQUAL(told, shared_from + shared_total);
    }
    if (loose_n)
        sort_out(fh, loose, loose_n, shared_from, shared_total, unit, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void program(const char *path, MPI_Info hints)
{
    MPI_File fh;
    MPI_Status status;
    int bytes = 1 << next(4);
    MPI_Datatype unit = bytes == 1 ? MPI_BYTE : bytes == 2 ? MPI_SHORT : bytes == 4 ? MPI_INT : MPI_LONG_LONG;
    memset(model, 0, sizeof model);
    memset(written, 0, sizeof written);
    high = 0;
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, hints, &fh), MPI_SUCCESS);
    Pattern p = pattern();
    MPI_Datatype filetype = type_of(&p, unit, bytes);
    EQUAL(MPI_File_set_view(fh, next(50), unit, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_set_atomicity(fh, next(4) == 0), MPI_SUCCESS);
    for (epoch = 1; epoch <= EPOCHS; epoch++)
        one_epoch(fh, unit, bytes);
    /* All of it, by other means than it was written. */
    unsigned char *whole = malloc((size_t) (high * bytes) + 1);
    EQUAL(MPI_File_read_at_c(fh, 0, whole, high, unit, &status), MPI_SUCCESS);
    for (long long i = 0; i < high; i++)
        if (written[i] && memcmp(whole + i * bytes, &model[i], (size_t) bytes) != 0) {
            fprintf(stderr, "seed %llu, rank %d: unit %lld of epoch %d is wrong at the end\n", seed, rank, i, written[i]);
            CHECK(0);
        }
    free(whole);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Type_free(&filetype);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *folder = getenv("TMPDIR"), *given = getenv("TEST_HINTS"), *first = getenv("FILES_SEED"),
               *many = getenv("FILES_SEEDS");
    char path[256], text[256] = "";
    MPI_Info hints = MPI_INFO_NULL;
    int id = getpid(), seeds = many ? atoi(many) : 20;
    CHECK(size <= 16);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-mixed-%d", folder ? folder : "/tmp", id);
    if (given) {
        MPI_Info_create(&hints);
        snprintf(text, sizeof text, "%s", given);
        for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
            char *value_of = strchr(word, '=');
            CHECK(value_of != NULL);
            *value_of = 0;
            MPI_Info_set(hints, word, value_of + 1);
        }
    }
    for (int k = 0; k < seeds; k++) {
        seed = (first ? strtoull(first, NULL, 10) : 1) + (unsigned) k;
        state = seed * 0x9e3779b97f4a7c15ull | 1;
        program(path, hints);
    }
    if (hints != MPI_INFO_NULL)
        MPI_Info_free(&hints);
    return finish();
}
