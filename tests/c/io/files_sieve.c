// Independent reads of short pieces fetch what lies between them: as far as the hints allow, to the end of the file, past
// places that cannot be read, and only whole states of it in atomic mode. Writes of such pieces store them where they belong
// and change nothing between them, whoever writes there at the same time.
// run: -n 1
// run: -n 1 -x TEST_FAULTS=short=777,eintr
// run: -n 3
// run: -n 2 -x CATENA_LINK=tcp
// only: catena
#include "../check.h"
#include <sys/vfs.h>

enum { PIECE = 8, EVERY = 24, PIECES = 40000, LENGTH = PIECES * EVERY, STATES = 200 };

static char path[256];
static unsigned char *file, *got;

static MPI_File opened(MPI_Comm comm, const char *key, const char *value, const char *faults)
{
    MPI_File fh;
    MPI_Info info;
    MPI_Info_create(&info);
    const char *always = getenv("TEST_FAULTS");
    char all[200];
    snprintf(all, sizeof all, "%s%s%s", always ? always : "", always && faults ? "," : "", faults ? faults : "");
    if (*all)
        MPI_Info_set(info, "catena_io_faults", all);
    if (key)
        MPI_Info_set(info, key, value);
    EQUAL(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh), MPI_SUCCESS);
    MPI_Info_free(&info);
    return fh;
}

/* Pieces of the file, from the byte `disp` on. */
static void see_pieces(MPI_File fh, MPI_Offset disp)
{
    MPI_Datatype piece, view;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, EVERY, &view);
    MPI_Type_commit(&view);
    EQUAL(MPI_File_set_view(fh, disp, MPI_BYTE, view, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&view);
    MPI_Type_free(&piece);
}

/* A variable of MPI_T that belongs to a file, from now on. */
static MPI_T_pvar_handle counting(MPI_T_pvar_session session, MPI_File fh, const char *name, int class)
{
    MPI_T_pvar_handle handle;
    int index, count;
    EQUAL(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_handle_alloc(session, index, &fh, &handle, &count), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
    return handle;
}

static void counted(MPI_T_pvar_session session, MPI_T_pvar_handle handle, unsigned long long want)
{
    unsigned long long value = 0;
    EQUAL(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    EQUAL(value, want);
}

/* Bytes [from, from + n) of the pieces are in `got`, and nothing behind them. */
static void check(int disp, int from, int n, int room)
{
    for (int i = 0; i < n; i++) {
        int at = disp + (from + i) / PIECE * EVERY + (from + i) % PIECE;
        EQUAL(got[i], file[at]);
    }
    for (int i = n; i < room; i++)
        EQUAL(got[i], 0xee);
}

/* What a read of `n` bytes from `from` on gives. */
static int pieces(MPI_File fh, int from, int n, int want, int disp)
{
    MPI_Status status;
    int told;
    memset(got, 0xee, (size_t) n + 1);
    int code = MPI_File_read_at(fh, from, got, n, MPI_BYTE, &status);
    if (code == MPI_SUCCESS) {
        MPI_Get_count(&status, MPI_BYTE, &told);
        EQUAL(told, want);
    }
    check(disp, from, want, n + 1);
    return code;
}

/* How many calls a transfer takes, and how many bytes of gaps it fetches. */
static void as_hinted(const char *key, const char *value, int is_write, int calls, int gaps)
{
    MPI_File fh = opened(MPI_COMM_SELF, key, value, NULL);
    see_pieces(fh, 3);
    int n = 1000 * PIECE - 3;
    MPI_T_pvar_session session;
    EQUAL(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle all = counting(session, fh, "file_calls", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle gap = counting(session, fh, "file_gap_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    const char *moved = is_write ? "file_written_bytes" : "file_read_bytes";
    MPI_T_pvar_handle bytes = counting(session, fh, moved, MPI_T_PVAR_CLASS_AGGREGATE);
    if (is_write) {
        for (int i = 0; i < n; i++)
            got[i] = file[3 + (2 + i) / PIECE * EVERY + (2 + i) % PIECE];
        EQUAL(MPI_File_write_at(fh, 2, got, n, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
    } else {
        EQUAL(pieces(fh, 2, n, n, 3), MPI_SUCCESS);
    }
    counted(session, all, (unsigned) calls);
    counted(session, gap, (unsigned) gaps);
    counted(session, bytes, (unsigned) n);
    EQUAL(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    char told[MPI_MAX_INFO_VAL];
    int there, room = sizeof told;
    MPI_Info info;
    EQUAL(MPI_File_get_info(fh, &info), MPI_SUCCESS);
    EQUAL(MPI_Info_get_string(info, key, &room, told, &there), MPI_SUCCESS);
    CHECK(there && strcmp(told, value) == 0);
    MPI_Info_free(&info);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

/* Whether pieces may be stored in memory that all processes of this host see: the file system has no other hosts. */
static int is_local(void)
{
    struct statfs about;
    EQUAL(statfs(path, &about), 0);
    switch ((unsigned) about.f_type) {
    case 0x01021994: case 0xEF53: case 0x58465342: case 0x9123683E: case 0x794C7630:
        return 1;
    }
    return 0;
}

static void alone(void)
{
    MPI_Status status;
    MPI_File fh = opened(MPI_COMM_SELF, NULL, NULL, NULL);
    EQUAL(MPI_File_write_at(fh, 0, file, LENGTH, MPI_BYTE, &status), MPI_SUCCESS);

    /* The file ends in a gap, in a piece, between two windows, before the first piece. */
    int ends[] = { LENGTH, LENGTH - 1, LENGTH - EVERY + 3 + PIECE - 5, 512 * 1024 + 3, 512 * 1024 + 5, 30, 5, 0 };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
        EQUAL(MPI_File_set_size(fh, ends[i]), MPI_SUCCESS);
        see_pieces(fh, 3);
        int rest = ends[i] > 3 ? ends[i] - 3 : 0, last = rest % EVERY;
        int there = rest / EVERY * PIECE + (last < PIECE ? last : PIECE);
        for (int from = 0; from < PIECES * PIECE; from += from < 20 ? 3 : 77777) {
            int n = PIECES * PIECE - from, want = there > from ? there - from : 0;
            EQUAL(pieces(fh, from, n, want < n ? want : n, 3), MPI_SUCCESS);
        }
    }
    EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_write_at(fh, 0, file, LENGTH, MPI_BYTE, &status), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);

    /* Hints: at once, piece by piece, a hundred pieces at a time. */
    as_hinted("romio_ds_read", "automatic", 0, 1, 999 * (EVERY - PIECE));
    as_hinted("romio_ds_read", "disable", 0, 1000, 0);
    as_hinted("ind_rd_buffer_size", "2398", 0, 10, (999 - 9) * (EVERY - PIECE));
    as_hinted("romio_ds_write", "disable", 1, 1000, 0);
    if (is_local() && !getenv("TEST_FAULTS")) {
        as_hinted("romio_ds_write", "automatic", 1, 1, 0);
        as_hinted("ind_wr_buffer_size", "2398", 1, 10, 0);
    }

    /* What cannot be read lies in a gap, and then in a piece. */
    char fault[40];
    for (int at = 100; at < 100 + EVERY; at++) {
        snprintf(fault, sizeof fault, "eio=%d", at * EVERY + at % EVERY);
        fh = opened(MPI_COMM_SELF, NULL, NULL, fault);
        see_pieces(fh, 0);
        int is_piece = at % EVERY < PIECE, n = 5000 * PIECE;
        int want = is_piece ? at * PIECE + at % EVERY : n;
        int code = pieces(fh, 0, n, want, 0);
        EQUAL(class_of(code), is_piece ? MPI_ERR_IO : MPI_SUCCESS);
        if (is_piece) {
            char text[MPI_MAX_ERROR_STRING], moved[40];
            int len;
            MPI_Error_string(code, text, &len);
            snprintf(moved, sizeof moved, "after %d bytes", want);
            CHECK(strstr(text, moved) != NULL);
        }
        EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    }
}

/* All ranks write the pieces that are theirs by turns, all at once, and one writes what lies between them, which is nobody
   else's; at first there is no file, then one of other bytes. */
static void by_turns(int amode, const char *key, const char *value)
{
    enum { EACH = 20000, GAP = 5 };
    int every = size * PIECE + GAP, last = rank == size - 1, own = PIECE + (last ? GAP : 0), spread = 3;
    unsigned char *mine = malloc((size_t) EACH * own * spread), *all = malloc((size_t) EACH * every);
    CHECK(mine && all);
    for (int round = 0; round < 2; round++) {
        MPI_Info info;
        MPI_File fh;
        MPI_Datatype piece, view, memory;
        MPI_Status status;
        MPI_Info_create(&info);
        if (getenv("TEST_FAULTS"))
            MPI_Info_set(info, "catena_io_faults", getenv("TEST_FAULTS"));
        MPI_Info_set(info, key, value);
        EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | amode, info, &fh), MPI_SUCCESS);
        MPI_Info_free(&info);
        if (round == 0)
            EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
        MPI_Type_contiguous(own, MPI_BYTE, &piece);
        MPI_Type_create_resized(piece, 0, every, &view);
        MPI_Type_commit(&view);
        EQUAL(MPI_File_set_view(fh, 7 + rank * PIECE, MPI_BYTE, view, "native", MPI_INFO_NULL), MPI_SUCCESS);
        MPI_Type_create_resized(MPI_BYTE, 0, spread, &memory);
        MPI_Type_commit(&memory);
        for (int i = 0; i < EACH * own; i++)
            mine[i * spread] = byte_at(round, (size_t) (i / own * every + rank * PIECE + i % own));
        /* The first bytes, in pieces of their own, and then the rest at once. */
        EQUAL(MPI_File_write(fh, mine, 3, memory, &status), MPI_SUCCESS);
        EQUAL(MPI_File_write(fh, mine + 3 * spread, EACH * own - 3, memory, &status), MPI_SUCCESS);
        int told;
        MPI_Get_count(&status, memory, &told);
        EQUAL(told, EACH * own - 3);
        EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);

        EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_SUCCESS);
        MPI_Offset length;
        EQUAL(MPI_File_get_size(fh, &length), MPI_SUCCESS);
        EQUAL(length, 7 + EACH * every);
        EQUAL(MPI_File_read_at(fh, 7, all, EACH * every, MPI_BYTE, &status), MPI_SUCCESS);
        for (int i = 0; i < EACH * every; i++)
            EQUAL(all[i], byte_at(round, (size_t) i));
        EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Type_free(&piece);
        MPI_Type_free(&view);
        MPI_Type_free(&memory);
    }
    free(mine);
    free(all);
}

/* One rank writes all pieces anew, over and over; the others see each state whole. */
static void together(void)
{
    enum { SEEN = 3000 };
    MPI_Status status;
    MPI_File fh = opened(MPI_COMM_WORLD, NULL, NULL, NULL);
    EQUAL(MPI_File_set_atomicity(fh, 1), MPI_SUCCESS);
    see_pieces(fh, 0);
    memset(got, 0, SEEN * PIECE);
    if (rank == 0)
        EQUAL(MPI_File_write_at(fh, 0, got, SEEN * PIECE, MPI_BYTE, &status), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int state = 1, seen = 0; state <= STATES && seen < STATES; state++) {
        if (rank == 0) {
            memset(got, state, SEEN * PIECE);
            EQUAL(MPI_File_write_at(fh, 0, got, SEEN * PIECE, MPI_BYTE, &status), MPI_SUCCESS);
            continue;
        }
        EQUAL(MPI_File_read_at(fh, 0, got, SEEN * PIECE, MPI_BYTE, &status), MPI_SUCCESS);
        CHECK(got[0] >= seen);
        seen = got[0];
        for (int i = 0; i < SEEN * PIECE; i++)
            EQUAL(got[i], seen);
    }
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int id = getpid(), provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-sieve-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id);
    file = malloc(LENGTH);
    got = malloc(LENGTH + 1);
    for (int i = 0; i < LENGTH; i++)
        file[i] = byte_at(9, (size_t) i);
    if (rank == 0)
        alone();
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 1)
        together();
    by_turns(MPI_MODE_RDWR, "romio_ds_write", "automatic");
    by_turns(MPI_MODE_WRONLY, "romio_ds_write", "automatic");
    by_turns(MPI_MODE_WRONLY, "romio_ds_write", "disable");
    by_turns(MPI_MODE_WRONLY, "ind_wr_buffer_size", "1000");
    if (rank == 0)
        EQUAL(MPI_File_delete(path, MPI_INFO_NULL), MPI_SUCCESS);
    MPI_T_finalize();
    free(file);
    free(got);
    return finish();
}
