/* Files: all ranks write or read one, by themselves or together. A size is what each rank has.
 *
 * The file lies in the folder that TMPDIR names, else in /tmp. It is there before anything is
 * timed, so what is measured is moving bytes, not making room for them. `plain` is what the system
 * does alone, with `pwrite` and `pread`: no library is in it.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Which bytes of the file are whose. */
enum pattern {
    PARTS,   /* one run each, by rank */
    PIECES,  /* of 4 KB, dealt out by rank: the segments of IOR */
    WORDS,   /* of 8 bytes, dealt out by rank */
    BLOCKS,  /* of a three-dimensional array of 8 bytes each: coll_perf of ROMIO */
    RECORDS, /* by the shared pointer */
};

enum { PIECE = 4096, WORD = 8, UNTOUCHED = 0xff };

/* `own` of the task. */
struct shared_file {
    enum pattern pattern;
    MPI_File file;
    int fd;
    char path[512];
    size_t bytes, whole;   /* that a rank moves; of the file */
    unsigned char *image;  /* the file, mapped */
    int edge, grid[3];     /* BLOCKS: elements of a block in each dimension, blocks in each */
};

static void prepare(struct task *t, enum pattern pattern)
{
    struct shared_file *s = must(calloc(1, sizeof *s));
    *s = (struct shared_file){.pattern = pattern, .file = MPI_FILE_NULL, .fd = -1, .bytes = t->bytes};
    t->own = s;
    if (pattern != BLOCKS)
        return;
    while ((size_t)(s->edge + 1) * (s->edge + 1) * (s->edge + 1) * WORD <= t->bytes)
        s->edge++;
    MPI_Dims_create(t->size, 3, s->grid);
    s->bytes = (size_t)s->edge * s->edge * s->edge * WORD;
    if (!s->bytes)
        t->skip = "nothing of this size is in the pattern";
}

static void parts(struct task *t) { prepare(t, PARTS); }
static void pieces(struct task *t) { prepare(t, PIECES); }
static void words(struct task *t) { prepare(t, WORDS); }
static void blocks(struct task *t) { prepare(t, BLOCKS); }
static void records(struct task *t) { prepare(t, RECORDS); }

static void one_byte(struct task *t)
{
    prepare(t, PARTS);
    ((struct shared_file *)t->own)->bytes = 1;
}

/* Where byte i of a rank lies. */
static size_t place(const struct task *t, int r, size_t i)
{
    const struct shared_file *s = t->own;
    size_t piece = s->pattern == PIECES ? PIECE : WORD;
    if (s->pattern == PARTS || s->pattern == RECORDS)
        return r * s->bytes + i;
    if (s->pattern != BLOCKS)
        return (i / piece * t->size + r) * piece + i % piece;
    size_t e = i / WORD, n = s->edge, x = e % n, y = e / n % n, z = e / n / n;
    x += r % s->grid[2] * n;
    y += r / s->grid[2] % s->grid[1] * n;
    z += r / s->grid[2] / s->grid[1] * n;
    return ((z * n * s->grid[1] + y) * n * s->grid[2] + x) * WORD + i % WORD;
}

/* The bytes of this rank, as a type of the file; its displacement. */
static MPI_Offset filetype(const struct task *t, MPI_Datatype *type)
{
    const struct shared_file *s = t->own;
    MPI_Datatype one, piece;
    if (s->pattern == BLOCKS) {
        int whole[3], part[3], from[3], r = t->rank;
        for (int d = 2; d >= 0; r /= s->grid[d--]) {
            part[d] = s->edge;
            whole[d] = s->edge * s->grid[d];
            from[d] = r % s->grid[d] * s->edge;
        }
        MPI_Type_contiguous(WORD, MPI_BYTE, &one);
        MPI_Type_create_subarray(3, whole, part, from, MPI_ORDER_C, one, type);
        MPI_Type_free(&one);
        return 0;
    }
    int bytes = s->pattern == PIECES ? PIECE : WORD;
    MPI_Type_contiguous(bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)bytes * t->size, type);
    MPI_Type_free(&piece);
    return (MPI_Offset)t->rank * bytes;
}

static void name(struct shared_file *s)
{
    const char *folder = getenv("TMPDIR");
    int id = (int)getpid();
    calm_bcast(&id, 1, MPI_INT, 0, world);
    snprintf(s->path, sizeof s->path, "%s/catena-bench-%d", folder && *folder ? folder : "/tmp", id);
}

static step_fn load_what_is_read;

/* Makes the file as long as all that is in it. */
static void make(struct task *t)
{
    struct shared_file *s = t->own;
    size_t last = 0;
    for (int r = 0; r < t->size && s->bytes; r++) {
        size_t end = place(t, r, s->bytes - 1) + 1;
        last = end > last ? end : last;
    }
    s->whole = last;
    name(s);
    if (t->rank == 0) {
        int fd = open(s->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || (last && posix_fallocate(fd, 0, (off_t)last)))
            errors_note("%s cannot be made with %zu bytes: %s; TMPDIR names another folder", s->path,
                        last, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    calm_barrier(t->comm);
    s->fd = open(s->path, O_RDWR);
    if (s->fd < 0)
        errors_note("%s cannot be opened: %s", s->path, strerror(errno));
    else if (last) {
        void *image = mmap(NULL, last, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        s->image = image == MAP_FAILED ? NULL : image;
        if (s->image && t->bench->load == load_what_is_read)
            load_what_is_read(t); /* no zeros: see data_open */
        if (!s->image)
            errors_note("%s cannot be mapped: %s", s->path, strerror(errno));
    }
}

static MPI_File opened(const struct shared_file *s)
{
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(world, s->path, MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        errors_note("%s: MPI_File_open fails", s->path);
    if (file != MPI_FILE_NULL)
        errors_listen_file(file);
    return file;
}

static void open_plain(struct task *t)
{
    struct shared_file *s = t->own;
    t->parts = (double)s->bytes * t->size;
    t->payload = s->bytes;
    make(t);
}

static void open_file(struct task *t)
{
    struct shared_file *s = t->own;
    open_plain(t);
    s->file = opened(s);
    if (s->file == MPI_FILE_NULL || s->pattern == PARTS || s->pattern == RECORDS)
        return;
    MPI_Datatype type;
    MPI_Offset from = filetype(t, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(s->file, from, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
}

static void open_records(struct task *t)
{
    open_file(t);
    t->parts = t->size;
}

static void shut(struct task *t)
{
    struct shared_file *s = t->own;
    if (s->file != MPI_FILE_NULL)
        MPI_File_close(&s->file);
    if (s->image)
        munmap(s->image, s->whole);
    if (s->fd >= 0)
        close(s->fd);
    calm_barrier(t->comm);
    if (t->rank == 0)
        unlink(s->path);
}

static void finish(struct task *t)
{
    free(t->own);
}

/* In a view of PARTS a rank begins behind those below. */
static MPI_Offset begin_of(const struct task *t)
{
    const struct shared_file *s = t->own;
    return s->pattern == PARTS ? (MPI_Offset)t->rank * (MPI_Offset)s->bytes : 0;
}

static void plain(struct task *t, int rounds, bool writes)
{
    struct shared_file *s = t->own;
    off_t from = begin_of(t);
    for (int i = 0; i < rounds; i++)
        for (size_t at = 0; at < s->bytes;) {
            off_t to = from + (off_t)at;
            ssize_t n = writes ? pwrite(s->fd, t->out + at, s->bytes - at, to)
                               : pread(s->fd, t->in + at, s->bytes - at, to);
            if (n <= 0) {
                errors_note("%s: %s", s->path, n ? strerror(errno) : "it has ended");
                return;
            }
            at += (size_t)n;
        }
}

static void plain_write(struct task *t, int rounds) { plain(t, rounds, true); }
static void plain_read(struct task *t, int rounds) { plain(t, rounds, false); }

#define CALL(NAME, BUFFER)                                                                         \
    static void NAME(struct task *t, int rounds)                                                   \
    {                                                                                              \
        struct shared_file *s = t->own;                                                                \
        for (int i = 0; i < rounds; i++)                                                           \
            MPI_File_##NAME(s->file, begin_of(t), BUFFER, (int)s->bytes, MPI_BYTE,                 \
                            MPI_STATUS_IGNORE);                                                    \
    }

CALL(write_at, t->out)
CALL(write_at_all, t->out)
CALL(read_at, t->in)
CALL(read_at_all, t->in)

/* The file does not grow from value to value. */
#define RECORD_CALL(NAME)                                                                          \
    static void NAME(struct task *t, int rounds)                                                   \
    {                                                                                              \
        struct shared_file *s = t->own;                                                                \
        MPI_File_seek_shared(s->file, 0, MPI_SEEK_SET);                                            \
        for (int i = 0; i < rounds; i++)                                                           \
            MPI_File_##NAME(s->file, t->out, (int)s->bytes, MPI_BYTE, MPI_STATUS_IGNORE);          \
    }

RECORD_CALL(write_shared)
RECORD_CALL(write_ordered)

/* Whether a file that was opened is the one that is there: as long, and with what this program has written. */
static char wrong[96];

static void look_at(const struct task *t, MPI_File file)
{
    const struct shared_file *s = t->own;
    MPI_Offset size = -1;
    unsigned char byte = 0;
    MPI_File_get_size(file, &size);
    MPI_File_read_at(file, t->rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    if (size != (MPI_Offset)s->whole)
        snprintf(wrong, sizeof wrong, "rank %d: the file has %lld bytes and should have %zu", t->rank, (long long)size,
                 s->whole);
    else if (byte != s->image[t->rank])
        snprintf(wrong, sizeof wrong, "rank %d: byte %d of the file is wrong", t->rank, t->rank);
}

static void write_byte(struct task *t)
{
    struct shared_file *s = t->own;
    s->image[t->rank] = (unsigned char)(1 + t->stamp % 251);
}

static bool is_open(struct task *t, char *error, size_t room)
{
    (void)t;
    snprintf(error, room, "%s", wrong);
    bool good = !*wrong;
    *wrong = 0;
    return good;
}

static void open_close(struct task *t, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        MPI_File file = opened(t->own);
        if (file != MPI_FILE_NULL && t->inspect)
            look_at(t, file);
        if (file != MPI_FILE_NULL)
            MPI_File_close(&file);
    }
}

/* What is read is there; what is written is not. */
static void load_what_is_read(struct task *t)
{
    struct shared_file *s = t->own;
    for (size_t i = 0; i < s->bytes; i++)
        s->image[place(t, t->rank, i)] = (unsigned char)data_value(t, t->rank, 0, i);
}

static void spoil(struct task *t)
{
    struct shared_file *s = t->own;
    for (size_t i = 0; i < s->bytes; i++)
        s->image[place(t, t->rank, i)] = UNTOUCHED;
}

/* Whether a rank's bytes lie from a place on as they were sent. */
static bool lies(const struct task *t, int r, int slot, char *error, size_t room)
{
    const struct shared_file *s = t->own;
    for (size_t i = 0; i < s->bytes; i++)
        if (!data_equal(t, s->image + place(t, slot, i), 0, data_value(t, r, 0, i), "the file", error,
                        room))
            return false;
    return true;
}

/* What another rank has written is in the file. */
static bool is_written(struct task *t, char *error, size_t room)
{
    int other = (t->rank + 1) % t->size;
    calm_barrier(t->comm);
    return lies(t, other, other, error, room);
}

static bool is_read(struct task *t, char *error, size_t room)
{
    const struct shared_file *s = t->own;
    for (size_t i = 0; i < s->bytes; i++)
        if (!data_equal(t, t->in, i, data_value(t, t->rank, 0, i), "what was read", error, room))
            return false;
    return true;
}

/* A record lies somewhere, but only once. */
static bool is_recorded(struct task *t, char *error, size_t room)
{
    const struct shared_file *s = t->own;
    int found = 0;
    char unused[8];
    calm_barrier(t->comm);
    for (int slot = 0; slot < t->size && s->bytes; slot++)
        found += lies(t, t->rank, slot, unused, sizeof unused);
    if (found == 1 || !s->bytes)
        return true;
    snprintf(error, room, "rank %d: its record is %d times in the file", t->rank, found);
    return false;
}

#define ROW(NAME, UNIT, PREPARE, OPEN, RUN, LOAD, CHECK)                                           \
    {                                                                                              \
        .name = NAME, .family = "file", .options = "mixcIM", .unit = UNIT, .ranks = 1,             \
        .shape = {EVERYBODY, SINGLE, NOBODY, SINGLE, OF_BLOCK}, .run = RUN, .prepare = PREPARE,    \
        .open = OPEN, .close = shut, .finish = finish, .load = LOAD, .check = CHECK,               \
    }

/* One pattern, each way, by each rank alone and by all together. */
#define PATTERN(NAME, PREPARE)                                                                     \
    ROW("file_write_" NAME, MB_S, PREPARE, open_file, write_at, spoil, is_written),                \
    ROW("file_read_" NAME, MB_S, PREPARE, open_file, read_at, load_what_is_read, is_read),         \
    ROW("file_write_all_" NAME, MB_S, PREPARE, open_file, write_at_all, spoil, is_written),        \
    ROW("file_read_all_" NAME, MB_S, PREPARE, open_file, read_at_all, load_what_is_read, is_read)

const struct bench storage[] = {
    ROW("file_write_plain", MB_S, parts, open_plain, plain_write, spoil, is_written),
    ROW("file_read_plain", MB_S, parts, open_plain, plain_read, load_what_is_read, is_read),
    PATTERN("contiguous", parts),
    PATTERN("strided", pieces),
    PATTERN("interleaved", words),
    PATTERN("blocks", blocks),
    ROW("file_write_shared", US, records, open_records, write_shared, spoil, is_recorded),
    ROW("file_write_ordered", US, records, open_records, write_ordered, spoil, is_written),
    {
        .name = "file_open_close", .family = "file", .options = "ixcI", .unit = US, .ranks = 1,
        .load = write_byte, .check = is_open, .run = open_close, .prepare = one_byte, .open = make, .close = shut, .finish = finish,
    },
    {.name = NULL},
};
