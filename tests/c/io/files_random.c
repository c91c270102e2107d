// Random programs against a naive model: views, types in memory, representations, interleaved calls of all forms.
// run: -n 1
// run: -n 3
// run: -n 3 -x CATENA_LINK=tcp
// run: -n 4 -x TEST_FAULTS=short=13,eintr
// time: 120
#include "../check.h"
#include <stdlib.h>
#include <unistd.h>

enum { LENGTH = 1 << 16, ROUNDS = 40, CALLS = 12 };

/* The bytes of the file as they must be, the same at all ranks, and how many there are. */
static unsigned char model[LENGTH];
static long long model_size;
static unsigned long long common = 88172645463325252ull, own;

static unsigned next(unsigned long long *state, unsigned below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned) (*state >> 11) % below;
}

/* Runs of bytes of a filetype in units of the etype, as the program draws them. */
typedef struct {
    int n, at[6], len[6], extent, size;
} Pattern;

static Pattern pattern(unsigned long long *state)
{
    Pattern p = { .n = 1 + (int) next(state, 6) };
    int at = 0;
    for (int i = 0; i < p.n; i++) {
        at += (int) next(state, 4);
        p.at[i] = at;
        p.len[i] = 1 + (int) next(state, 5);
        at += p.len[i];
        p.size += p.len[i];
    }
    p.extent = at + (int) next(state, 4);
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

/* The offset in the file of a unit of the view. */
static long long offset_of(const Pattern *p, long long disp, int bytes, long long unit)
{
    long long tile = unit / p->size, rest = unit % p->size;
    for (int i = 0; i < p->n; i++) {
        if (rest < p->len[i])
            return disp + (tile * p->extent + p->at[i] + rest) * bytes;
        rest -= p->len[i];
    }
    return -1;
}

/* One round: each rank has a view of its own, of which it uses units that nobody else writes. */
static void run(const char *path, MPI_Info hints)
{
    MPI_File fh;
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
    memset(model, 0, sizeof model);
    model_size = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = 1 << next(&common, 4);
        MPI_Datatype unit = bytes == 1 ? MPI_BYTE : bytes == 2 ? MPI_SHORT : bytes == 4 ? MPI_INT : MPI_LONG_LONG;
        /* The filetype has the units of all ranks interleaved: everyone's pattern, behind those of lower ranks. */
        Pattern all[16];
        int begin = 0, mine = 0;
        for (int r = 0; r < size; r++) {
            all[r] = pattern(&common);
            if (r == rank)
                mine = begin;
            begin += all[r].extent;
        }
        Pattern p = all[rank];
        for (int i = 0; i < p.n; i++)
            p.at[i] += mine;
        p.extent = begin;
        long long disp = next(&common, 50);
        MPI_Datatype filetype = type_of(&p, unit, bytes);
        EQUAL(MPI_File_set_view(fh, disp, unit, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS);
        EQUAL(MPI_File_set_atomicity(fh, next(&common, 2)), MPI_SUCCESS);
        long long most = (LENGTH - disp) / (begin * bytes) * p.size / 2, place = 0;
        for (int call = 0; call < CALLS && most > 0; call++) {
            Pattern m = pattern(&own);
            MPI_Datatype memtype = type_of(&m, unit, bytes);
            int limit = (int) (most / m.size);
            int count = limit ? (int) next(&own, limit > 40 ? 40 : limit) : 0;
            long long units = (long long) count * m.size, at = most > units ? next(&own, most - units) : 0;
            size_t room = (size_t) (count + 1) * m.extent * bytes;
            unsigned char *buffer = malloc(room);
            for (size_t i = 0; i < room; i++)
                buffer[i] = (unsigned char) next(&own, 256);
            int form = next(&common, 5), write = next(&common, 2);
            MPI_Status status;
            MPI_Request request;
            if (form == 1 || form == 4) {
                EQUAL(MPI_File_seek(fh, at, MPI_SEEK_SET), MPI_SUCCESS);
                place = at + units;
            }
            unsigned char *before = malloc(room);
            memcpy(before, buffer, room);
            if (write) {
                if (form == 0)
                    EQUAL(MPI_File_write_at(fh, at, buffer, count, memtype, &status), MPI_SUCCESS);
                else if (form == 1)
                    EQUAL(MPI_File_write_all(fh, buffer, count, memtype, &status), MPI_SUCCESS);
                else if (form == 2) {
                    EQUAL(MPI_File_write_at_all_begin_c(fh, at, buffer, count, memtype), MPI_SUCCESS);
                    EQUAL(MPI_File_write_at_all_end(fh, buffer, &status), MPI_SUCCESS);
                } else if (form == 3) {
                    EQUAL(MPI_File_iwrite_at(fh, at, buffer, count, memtype, &request), MPI_SUCCESS);
                    EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
                } else {
                    EQUAL(MPI_File_iwrite_all(fh, buffer, count, memtype, &request), MPI_SUCCESS);
                    EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
                }
            } else {
                if (form == 0)
                    EQUAL(MPI_File_read_at_c(fh, at, buffer, count, memtype, &status), MPI_SUCCESS);
                else if (form == 1)
                    EQUAL(MPI_File_read_all(fh, buffer, count, memtype, &status), MPI_SUCCESS);
                else if (form == 2) {
                    EQUAL(MPI_File_read_at_all_begin(fh, at, buffer, count, memtype), MPI_SUCCESS);
                    EQUAL(MPI_File_read_at_all_end(fh, buffer, &status), MPI_SUCCESS);
                } else if (form == 3) {
                    EQUAL(MPI_File_iread_at(fh, at, buffer, count, memtype, &request), MPI_SUCCESS);
                    EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
                } else {
                    EQUAL(MPI_File_iread(fh, buffer, count, memtype, &request), MPI_SUCCESS);
                    EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
                }
            }
            if (form == 1 || form == 4) {
                MPI_Offset told;
                EQUAL(MPI_File_get_position(fh, &told), MPI_SUCCESS);
                EQUAL(told, place);
            }
            MPI_Offset size_now = 0;
            MPI_Barrier(MPI_COMM_WORLD);
            EQUAL(MPI_File_get_size(fh, &size_now), MPI_SUCCESS);
            /* What was written goes into the model of all; what was read must be in it. */
            MPI_Count moved = 0;
            EQUAL(MPI_Get_elements_c(&status, MPI_BYTE, &moved), MPI_SUCCESS);
            unsigned char *change = calloc(2, LENGTH);
            long long end = 0, done = 0;
            for (int e = 0; e < count; e++)
                for (int i = 0; i < m.n; i++)
                    for (int k = 0; k < m.len[i]; k++, done++) {
                        long long to = offset_of(&p, disp, bytes, at + done);
                        unsigned char *here = buffer + ((long long) e * m.extent + m.at[i] + k) * bytes;
                        unsigned char *was = before + ((long long) e * m.extent + m.at[i] + k) * bytes;
                        CHECK(to >= 0 && to + bytes <= LENGTH);
                        if (write) {
                            memcpy(change + to, here, bytes);
                            memset(change + LENGTH + to, 1, bytes);
                            end = to + bytes;
                        } else if (to + bytes <= model_size) {
                            CHECK(memcmp(here, model + to, bytes) == 0);
                            end = done + 1;
                        } else
                            memcpy(here, was, bytes);
                    }
            if (write) {
                EQUAL(moved, units * bytes);
                CHECK(memcmp(buffer, before, room) == 0);
            } else {
                CHECK(moved >= end * bytes);
                /* Gaps stay. */
                for (int e = 0; e < count; e++)
                    for (int i = 0; i < m.n; i++) {
                        long long run = ((long long) e * m.extent + m.at[i]) * bytes;
                        memcpy(buffer + run, before + run, (size_t) m.len[i] * bytes);
                    }
                CHECK(memcmp(buffer, before, room) == 0);
            }
            MPI_Allreduce(MPI_IN_PLACE, change, 2 * LENGTH, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
            MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
            if (write) {
                for (int i = 0; i < LENGTH; i++)
                    if (change[LENGTH + i])
                        model[i] = change[i];
                if (end > model_size)
                    model_size = end;
            }
            EQUAL(size_now, model_size);
            free(change);
            free(before);
            free(buffer);
            MPI_Type_free(&memtype);
        }
        MPI_Type_free(&filetype);
    }
    EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    unsigned char *whole = calloc(1, LENGTH);
    MPI_Status status;
    int count;
    EQUAL(MPI_File_read_at_all(fh, 0, whole, LENGTH, MPI_BYTE, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EQUAL(count, model_size);
    CHECK(memcmp(whole, model, model_size) == 0);
    free(whole);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *folder = getenv("TMPDIR"), *faults = getenv("TEST_FAULTS");
    char path[256];
    int id = getpid();
    MPI_Info hints = MPI_INFO_NULL;
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-random-%d", folder ? folder : "/tmp", id);
    if (faults) {
        MPI_Info_create(&hints);
        MPI_Info_set(hints, "catena_io_faults", faults);
    }
    own = 1 + 7919u * (unsigned) rank;
    for (int times = 0; times < 3; times++)
        run(path, hints);
    if (hints != MPI_INFO_NULL)
        MPI_Info_free(&hints);
    if (rank == 0)
        EQUAL(MPI_File_delete(path, MPI_INFO_NULL), MPI_SUCCESS);
    return finish();
}
