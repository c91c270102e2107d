// More bytes in one call than the system moves at once (2,147,479,552), in each form, every byte checked. The variable
// FILES_BYTES is how many rank 0 moves, for a longer look (3 GiB); the other ranks move a little.
//
// run: -n 1
// run: -n 2
// run: -n 2 -x CATENA_LINK=tcp
// time: 120
#include "../check.h"

enum { LITTLE = 12345, UNIT = 1 << 16 };

static MPI_File fh;
/* What this rank moves: `count` bytes, and the same as units of `many`. */
static MPI_Count count;
static int units;
static MPI_Datatype many;
static MPI_Offset place;
static unsigned char *buf;

/* Byte `i` of a form's data: fast to make, and different in words next to each other and in all forms. */
static void make(unsigned form)
{
    unsigned long long word = 0x9e3779b97f4a7c15ull * (form + 1 + 31 * rank);
    MPI_Count words = count / 8;
    for (MPI_Count i = 0; i < words; i++, word += 0x2545f4914f6cdd1dull)
        memcpy(buf + 8 * i, &word, 8);
    memset(buf + 8 * words, (int) form, (size_t) (count - 8 * words));
}

static void compare(unsigned form, const char *name)
{
    unsigned long long word = 0x9e3779b97f4a7c15ull * (form + 1 + 31 * rank), got;
    MPI_Count words = count / 8;
    for (MPI_Count i = 0; i < words; i++, word += 0x2545f4914f6cdd1dull) {
        memcpy(&got, buf + 8 * i, 8);
        if (got != word) {
            fprintf(stderr, "rank %d, %s: wrong at byte %lld of %lld\n", rank, name, (long long) i * 8,
                    (long long) count);
            CHECK(0);
        }
    }
    for (MPI_Count i = 8 * words; i < count; i++)
        CHECK(buf[i] == (unsigned char) form);
}

/* A call has moved all. */
static void moved(int code, MPI_Status *status, const char *name)
{
    MPI_Count bytes = -1;
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Error_string(code, text, &len);
        fprintf(stderr, "%s: %s\n", name, text);
        CHECK(0);
    }
    EQUAL(MPI_Get_elements_c(status, MPI_BYTE, &bytes), MPI_SUCCESS);
    if (bytes != count)
        fprintf(stderr, "%s moved %lld bytes of %lld\n", name, (long long) bytes, (long long) count);
    CHECK(bytes == count);
}

static int wait_for(int code, MPI_Request *request, MPI_Status *status)
{
    return code != MPI_SUCCESS ? code : MPI_Wait(request, status);
}

static int end(int code, int (*ended)(MPI_File, void *, MPI_Status *), MPI_Status *status)
{
    return code != MPI_SUCCESS ? code : ended(fh, buf, status);
}

static int end_write(int code, int (*ended)(MPI_File, const void *, MPI_Status *), MPI_Status *status)
{
    return code != MPI_SUCCESS ? code : ended(fh, buf, status);
}

enum { FORMS = 13 };
static const char *names[FORMS] = {
    "at", "pointer", "i_at", "i_pointer", "at_all", "all", "i_at_all", "i_all", "shared", "i_shared", "ordered",
    "at_all_begin", "ordered_begin",
};

/* Where the pointers must be for a form. */
static void seek(void)
{
    EQUAL(MPI_File_seek(fh, place, MPI_SEEK_SET), MPI_SUCCESS);
    EQUAL(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Shared pointers go from rank to rank here, so that all data keep their places. */
static void my_turn(int form, int before)
{
    int token = 0;
    if (form != 8 && form != 9)
        return;
    if (before && rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!before && rank + 1 < size)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 5, MPI_COMM_WORLD);
}

static void write_by(int form)
{
    MPI_Status s;
    MPI_Request r;
    int code = MPI_ERR_OTHER;
    make((unsigned) form);
    seek();
    my_turn(form, 1);
    switch (form) {
    case 0: code = MPI_File_write_at_c(fh, place, buf, count, MPI_BYTE, &s); break;
    case 1: code = MPI_File_write(fh, buf, units, many, &s); break;
    case 2: code = wait_for(MPI_File_iwrite_at(fh, place, buf, units, many, &r), &r, &s); break;
    case 3: code = wait_for(MPI_File_iwrite_c(fh, buf, count, MPI_BYTE, &r), &r, &s); break;
    case 4: code = MPI_File_write_at_all(fh, place, buf, units, many, &s); break;
    case 5: code = MPI_File_write_all_c(fh, buf, count, MPI_BYTE, &s); break;
    case 6: code = wait_for(MPI_File_iwrite_at_all_c(fh, place, buf, count, MPI_BYTE, &r), &r, &s); break;
    case 7: code = wait_for(MPI_File_iwrite_all(fh, buf, units, many, &r), &r, &s); break;
    case 8: code = MPI_File_write_shared_c(fh, buf, count, MPI_BYTE, &s); break;
    case 9: code = wait_for(MPI_File_iwrite_shared(fh, buf, units, many, &r), &r, &s); break;
    case 10: code = MPI_File_write_ordered_c(fh, buf, count, MPI_BYTE, &s); break;
    case 11: code = end_write(MPI_File_write_at_all_begin(fh, place, buf, units, many),
                              MPI_File_write_at_all_end, &s); break;
    case 12: code = end_write(MPI_File_write_ordered_begin_c(fh, buf, count, MPI_BYTE),
                              MPI_File_write_ordered_end, &s); break;
    }
    my_turn(form, 0);
    moved(code, &s, names[form]);
}

static void read_by(int form)
{
    MPI_Status s;
    MPI_Request r;
    int code = MPI_ERR_OTHER;
    memset(buf, 0xa5, (size_t) count);
    seek();
    my_turn(form, 1);
    switch (form) {
    case 0: code = MPI_File_read_at(fh, place, buf, units, many, &s); break;
    case 1: code = MPI_File_read_c(fh, buf, count, MPI_BYTE, &s); break;
    case 2: code = wait_for(MPI_File_iread_at_c(fh, place, buf, count, MPI_BYTE, &r), &r, &s); break;
    case 3: code = wait_for(MPI_File_iread(fh, buf, units, many, &r), &r, &s); break;
    case 4: code = MPI_File_read_at_all_c(fh, place, buf, count, MPI_BYTE, &s); break;
    case 5: code = MPI_File_read_all(fh, buf, units, many, &s); break;
    case 6: code = wait_for(MPI_File_iread_at_all(fh, place, buf, units, many, &r), &r, &s); break;
    case 7: code = wait_for(MPI_File_iread_all_c(fh, buf, count, MPI_BYTE, &r), &r, &s); break;
    case 8: code = MPI_File_read_shared(fh, buf, units, many, &s); break;
    case 9: code = wait_for(MPI_File_iread_shared_c(fh, buf, count, MPI_BYTE, &r), &r, &s); break;
    case 10: code = MPI_File_read_ordered(fh, buf, units, many, &s); break;
    case 11: code = end(MPI_File_read_at_all_begin_c(fh, place, buf, count, MPI_BYTE),
                        MPI_File_read_at_all_end, &s); break;
    case 12: code = end(MPI_File_read_ordered_begin(fh, buf, units, many), MPI_File_read_ordered_end, &s); break;
    }
    my_turn(form, 0);
    moved(code, &s, names[form]);
}

/* The same through a view with holes, between which one rank's bytes fill the other's: a collective call. */
static void interleaved(void)
{
    MPI_Status s;
    MPI_Datatype tile;
    MPI_Count each = count;
    MPI_Bcast(&each, 1, MPI_COUNT, 0, MPI_COMM_WORLD);
    MPI_Count own = count;
    count = each / size; /* all the same now; the buffer of the others has to grow */
    if (count > own) {
        free(buf);
        buf = malloc((size_t) count);
        CHECK(buf != NULL);
    }
    MPI_Type_vector(1, UNIT - 8, UNIT - 8, MPI_BYTE, &tile);
    MPI_Datatype spread;
    MPI_Type_create_resized(tile, 0, (MPI_Aint) size * (UNIT - 8), &spread);
    MPI_Type_commit(&spread);
    EQUAL(MPI_File_set_view(fh, (MPI_Offset) rank * (UNIT - 8), MPI_BYTE, spread, "native", MPI_INFO_NULL), MPI_SUCCESS);
    make(77);
    moved(MPI_File_write_at_all_c(fh, 0, buf, count, MPI_BYTE, &s), &s, "interleaved write");
    memset(buf, 0x5a, (size_t) count);
    moved(MPI_File_read_at_all_c(fh, 0, buf, count, MPI_BYTE, &s), &s, "interleaved read");
    compare(77, "interleaved");
    MPI_Type_free(&tile);
    MPI_Type_free(&spread);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *folder = getenv("TMPDIR"), *bytes = getenv("FILES_BYTES");
    char path[256];
    int id = getpid();
    MPI_Offset length;
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-large-%d", folder ? folder : "/tmp", id);
    /* A whole number of units, so that both ways to say how many mean the same. */
    units = rank ? 1 : (int) ((bytes ? atoll(bytes) : 9 << 20) / UNIT) + 1;
    count = rank ? LITTLE : (MPI_Count) units * UNIT;
    MPI_Type_contiguous(rank ? LITTLE : UNIT, MPI_BYTE, &many);
    MPI_Type_commit(&many);
    length = count;
    MPI_Exscan(&length, &place, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        place = 0;
    buf = malloc((size_t) count);
    CHECK(buf != NULL);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &fh), MPI_SUCCESS);
    EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Allreduce(MPI_IN_PLACE, &length, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD);
    for (int form = 0; form < FORMS; form++) {
        MPI_Offset told;
        write_by(form);
        MPI_Barrier(MPI_COMM_WORLD);
        read_by((form + 1) % FORMS);
        compare((unsigned) form, names[form]);
        EQUAL(MPI_File_get_size(fh, &told), MPI_SUCCESS);
        EQUAL(told, length);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    interleaved();
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    free(buf);
    MPI_Type_free(&many);
    return finish();
}
