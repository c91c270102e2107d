// Collective access with interleaved pieces, by way of buffers: random patterns against a naive model, full disks, ends of files.
// run: -n 2 -x CB=enable
// run: -n 4 -x CB=enable -x CB_SIZE=20000 -x CB_NODES=3
// run: -n 6 -x CB=enable -x CB_SIZE=1 -x CB_NODES=2
// run: -n 3 -x CB=enable -x CB_SIZE=70000 -x TEST_FAULTS=short=1000,eintr
// run: -n 4
// run: -n 3 -x CB=disable
// run: -n 1 -x CB=enable
// run: -n 3 -x CB=enable -x CATENA_LINK=tcp
// only: catena
// time: 120
//
// variant: files_hosts
// On two and three hosts that share a folder: only what whole nodes have for an aggregator crosses a network.
// hosts: 3
// time: 240
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts -x CB=enable
// run: --host h0:3,h1:1 --launcher-agent scripts/hosts -x CB=enable -x CB_SIZE=20000 -x CB_NODES=3
// run: --host h0:1,h1:2,h2:1 --launcher-agent scripts/hosts -x CB=enable -x CB_SIZE=70000 -x TEST_FAULTS=short=1000,eintr
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts -x CB=enable -x CB_SIZE=1 -x CB_NODES=1
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
#include "../check.h"
#include <stdlib.h>
#include <unistd.h>

enum { LENGTH = 1 << 19, ROUNDS = 12, RUNS = 7 };

static unsigned char model[LENGTH], seen[LENGTH];
static unsigned long long state = 88172645463325252ull;

/* The same numbers at all ranks. */
static int below(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int) ((state >> 11) % (unsigned) n);
}

/* A filetype of bytes: the runs of one rank, in a tile that all share. */
typedef struct {
    int n, at[RUNS], len[RUNS], size;
} Part;

static Part parts[16];
static int extent;

/* Deals the bytes of a tile out to the ranks; some go to nobody if there are holes. */
static void deal(int unit, int holes)
{
    int at = 0;
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < RUNS; i++)
        for (int r = 0; r < size; r++) {
            Part *p = &parts[r];
            int len = unit * (1 + below(4));
            if (holes && below(3) == 0)
                at += 1 + below(3 * unit);
            if (below(4) == 0 && p->n)
                continue;
            p->at[p->n] = at;
            p->len[p->n++] = len;
            p->size += len;
            at += len;
        }
    extent = at + (holes ? below(2 * unit) : 0);
}

static int offset_of(const Part *p, int disp, long long i)
{
    long long rest = i % p->size;
    int k = 0;
    for (; rest >= p->len[k]; k++)
        rest -= p->len[k];
    return (int) (disp + i / p->size * extent + p->at[k] + rest);
}

static unsigned char value(int rank_, int round, long long i)
{
    return (unsigned char) (rank_ * 59 + round * 31 + i * 7 + i / 251 + 1);
}

/* Bytes that lie in memory with gaps, or not. */
static MPI_Datatype in_memory(int gaps)
{
    MPI_Datatype type;
    if (!gaps)
        MPI_Type_contiguous(3, MPI_BYTE, &type);
    else {
        MPI_Datatype runs;
        MPI_Type_indexed(2, (int[]){1, 2}, (int[]){1, 4}, MPI_BYTE, &runs);
        MPI_Type_create_resized(runs, 0, 9, &type);
        MPI_Type_free(&runs);
    }
    MPI_Type_commit(&type);
    return type;
}

static long long in_buffer(int gaps, long long i)
{
    static const int places[] = {1, 4, 5};
    return gaps ? i / 3 * 9 + places[i % 3] : i;
}

static void counts(MPI_Status *status, long long expected)
{
    MPI_Count count;
    MPI_Get_elements_c(status, MPI_BYTE, &count);
    EQUAL(count, expected);
}

/* One write and one read by all, of which some have little or nothing. */
static void round_of(MPI_File fh, int round)
{
    int gaps = below(2), disp = below(10000), from[16];
    long long len[16], end = 0;
    deal(1 << below(5), below(2));
    int tiles = (LENGTH - disp) / extent;
    memset(model, 0, sizeof model);
    for (int r = 0; r < size; r++) {
        long long most = (long long) parts[r].size * tiles;
        from[r] = below(3) ? below((int) most / 4 + 1) : 0;
        len[r] = below(5) == 0 ? below(2) * 3 : (most - from[r]) / 3 * 3;
        if (below(3) == 0)
            len[r] = len[r] / 4 / 3 * 3;
        for (long long i = 0; i < len[r]; i++) {
            int at = offset_of(&parts[r], disp, from[r] + i);
            model[at] = value(r, round, i);
            end = at + 1 > end ? at + 1 : end;
        }
    }
    Part *p = &parts[rank];
    MPI_Datatype runs, filetype, type = in_memory(gaps);
    MPI_Type_indexed(p->n, p->len, p->at, MPI_BYTE, &runs);
    MPI_Type_create_resized(runs, 0, extent, &filetype);
    MPI_Type_commit(&filetype);
    EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
    EQUAL(MPI_File_set_view(fh, disp, MPI_BYTE, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS);

    size_t room = (size_t) in_buffer(gaps, len[rank]) + 9;
    unsigned char *buffer = malloc(room), *before = malloc(room);
    memset(buffer, 0xee, room);
    for (long long i = 0; i < len[rank]; i++)
        buffer[in_buffer(gaps, i)] = value(rank, round, i);
    memcpy(before, buffer, room);
    MPI_Status status;
    if (round % 3 == 2) {
        EQUAL(MPI_File_seek(fh, from[rank], MPI_SEEK_SET), MPI_SUCCESS);
        EQUAL(MPI_File_write_all_begin(fh, buffer, (int) len[rank] / 3, type), MPI_SUCCESS);
        EQUAL(MPI_File_write_all_end(fh, buffer, &status), MPI_SUCCESS);
    } else
        EQUAL(MPI_File_write_at_all(fh, from[rank], buffer, (int) len[rank] / 3, type, &status), MPI_SUCCESS);
    counts(&status, len[rank]);
    CHECK(memcmp(buffer, before, room) == 0);

    /* The whole file, holes as well, is what one process would have written. */
    MPI_Offset bytes;
    EQUAL(MPI_File_get_size(fh, &bytes), MPI_SUCCESS);
    EQUAL(bytes, end);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_read_at(fh, 0, seen, LENGTH, MPI_BYTE, &status), MPI_SUCCESS);
    counts(&status, end);
    CHECK(memcmp(seen, model, end) == 0);

    /* Read back, from a file that may be shorter now. */
    long long cut = below(2) ? end : below((int) end + 1), there = 0;
    EQUAL(MPI_File_set_size(fh, cut), MPI_SUCCESS);
    while (there < len[rank] && offset_of(p, disp, from[rank] + there) < cut)
        there++;
    EQUAL(MPI_File_set_view(fh, disp, MPI_BYTE, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS);
    memset(buffer, 0xee, room);
    EQUAL(MPI_File_read_at_all(fh, from[rank], buffer, (int) len[rank] / 3, type, &status), MPI_SUCCESS);
    counts(&status, there);
    for (long long i = there; i < len[rank]; i++)
        before[in_buffer(gaps, i)] = 0xee;
    CHECK(memcmp(buffer, before, room) == 0);
    free(buffer);
    free(before);
    MPI_Type_free(&runs);
    MPI_Type_free(&filetype);
    MPI_Type_free(&type);
}

/* The disk ends in the middle: all are told, and what lies in front of it is there. */
static void full_disk(const char *path, MPI_Info hints, const char *fault, int class)
{
    enum { N = 20000, END = 100003 };
    MPI_File fh;
    MPI_Info info;
    MPI_Status status;
    MPI_Datatype filetype;
    MPI_Info_dup(hints, &info);
    MPI_Info_set(info, "catena_io_faults", fault);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh), MPI_SUCCESS);
    MPI_Info_free(&info);
    EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
    MPI_Type_create_resized(MPI_DOUBLE, 0, size * (MPI_Aint) sizeof(double), &filetype);
    MPI_Type_commit(&filetype);
    EQUAL(MPI_File_set_view(fh, rank * (MPI_Offset) sizeof(double), MPI_DOUBLE, filetype, "native", MPI_INFO_NULL),
          MPI_SUCCESS);
    double *x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++)
        x[i] = i * size + rank;
    int code = MPI_File_write_all(fh, x, N, MPI_DOUBLE, &status), length;
    char text[MPI_MAX_ERROR_STRING] = "", told[64];
    EQUAL(class_of(code), class);
    MPI_Error_string(code, text, &length);
    /* All are told what the lowest could write. */
    long long lowest = 0;
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < sizeof *x; k++)
            lowest += i * (long long) size * (long long) sizeof *x + (long long) k < END;
    snprintf(told, sizeof told, "after %lld bytes", lowest);
    CHECK(strstr(text, told));
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_set_view(fh, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    int whole = END / (int) sizeof *x, count;
    double *y = malloc((size_t) whole * sizeof *y);
    EQUAL(MPI_File_read_at(fh, 0, y, whole, MPI_DOUBLE, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    EQUAL(count, whole);
    for (int i = 0; i < whole; i++)
        CHECK(y[i] == i);
    /* The file goes on as it was. */
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_write_at_all(fh, rank, x, 1, MPI_DOUBLE, &status), MPI_SUCCESS);
    free(x);
    free(y);
    MPI_Type_free(&filetype);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

/* Bytes far apart, and a file that cannot be read from some byte on. */
static void far_and_broken(const char *path, MPI_Info hints)
{
    MPI_File fh;
    MPI_Info info;
    MPI_Status status;
    MPI_Datatype pairs, filetype;
    int x[6], y[6], one[] = {1, 1};
    MPI_Info_dup(hints, &info);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
    MPI_Aint at[] = {0, (MPI_Aint) 3 << 30};
    MPI_Type_create_hindexed(2, one, at, MPI_INT, &pairs);
    MPI_Type_create_resized(pairs, 0, (MPI_Aint) 5 << 31, &filetype);
    MPI_Type_commit(&filetype);
    EQUAL(MPI_File_set_view(fh, 4 * rank, MPI_INT, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS);
    for (int i = 0; i < 6; i++)
        x[i] = 100 * rank + i;
    memset(y, 0, sizeof y);
    EQUAL(MPI_File_write_all(fh, x, 6, MPI_INT, &status), MPI_SUCCESS);
    counts(&status, sizeof x);
    EQUAL(MPI_File_read_at_all(fh, 0, y, 6, MPI_INT, &status), MPI_SUCCESS);
    counts(&status, sizeof x);
    CHECK(memcmp(x, y, sizeof x) == 0);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Info_set(info, "catena_io_faults", "eio=6000");
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &fh), MPI_SUCCESS);
    MPI_Type_free(&filetype);
    MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint) sizeof(int), &filetype);
    MPI_Type_commit(&filetype);
    EQUAL(MPI_File_set_size(fh, 1 << 20), MPI_SUCCESS);
    EQUAL(MPI_File_set_view(fh, 4 * rank, MPI_INT, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS);
    int *z = calloc(20000, sizeof *z);
    EQUAL(class_of(MPI_File_read_all(fh, z, 20000, MPI_INT, &status)), MPI_ERR_IO);
    EQUAL(MPI_File_read_at_all(fh, 0, z, 100, MPI_INT, &status), MPI_SUCCESS);
    free(z);
    MPI_Type_free(&pairs);
    MPI_Type_free(&filetype);
    MPI_Info_free(&info);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

static void hint(MPI_Info info, const char *key, const char *name)
{
    if (getenv(name))
        MPI_Info_set(info, key, getenv(name));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *folder = getenv("TMPDIR");
    char path[256], told[MPI_MAX_INFO_VAL + 1];
    int id = getpid(), flag;
    MPI_Info hints, used;
    MPI_File fh;
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-collective-%d", folder ? folder : "/tmp", id);
    MPI_Info_create(&hints);
    hint(hints, "romio_cb_write", "CB");
    hint(hints, "romio_cb_read", "CB");
    hint(hints, "cb_buffer_size", "CB_SIZE");
    hint(hints, "cb_nodes", "CB_NODES");
    hint(hints, "catena_io_faults", "TEST_FAULTS");
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_get_info(fh, &used), MPI_SUCCESS);
    MPI_Info_get(used, "cb_nodes", MPI_MAX_INFO_VAL, told, &flag);
    CHECK(flag && atoi(told) >= 1 && atoi(told) <= size);
    if (getenv("CB_NODES"))
        CHECK(strcmp(told, getenv("CB_NODES")) == 0);
    MPI_Info_free(&used);
    for (int round = 0; round < ROUNDS; round++)
        round_of(fh, round);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    if (!getenv("TEST_FAULTS")) {
        full_disk(path, hints, "enospc=100003", MPI_ERR_NO_SPACE);
        full_disk(path, hints, "enospc=100003,short=999,eintr", MPI_ERR_NO_SPACE);
        far_and_broken(path, hints);
    }
    MPI_Info_free(&hints);
    if (rank == 0)
        EQUAL(MPI_File_delete(path, MPI_INFO_NULL), MPI_SUCCESS);
    return finish();
}
