// What files_errors leaves out of bad input: names that are none, places that no file has, devices and pipes that refuse, limits of
// the system, handles and arguments of other kinds. All members are told, in its class.
// run: -n 3
// run: -n 1
// run: -n 2 -x CATENA_LINK=tcp
// only: catena
#include "raises.h"
#include <signal.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char folder[200], path[256];

static int opened(const char *name, int amode, MPI_File *fh)
{
    return MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, fh);
}

static char *in_folder(const char *name)
{
    static char all[5000];
    snprintf(all, sizeof all, "%s/%s", folder, name);
    return all;
}

static void names(void)
{
    enum { RDWR = MPI_MODE_RDWR | MPI_MODE_CREATE };
    MPI_File fh = MPI_FILE_NULL;
    char name[4600];
    if (rank == 0) {
        CHECK(symlink("loop", in_folder("loop")) == 0);
        CHECK(symlink("nowhere/at/all", in_folder("dangling")) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    RAISES(opened(in_folder("loop"), MPI_MODE_RDWR, &fh), MPI_ERR_BAD_FILE);
    RAISES(opened(in_folder("dangling"), MPI_MODE_RDWR, &fh), MPI_ERR_NO_SUCH_FILE);
    RAISES(opened(in_folder("file/below"), RDWR, &fh), MPI_ERR_BAD_FILE);
    RAISES(opened(in_folder("no/folder"), RDWR, &fh), MPI_ERR_NO_SUCH_FILE);
    memset(name, 'n', 300);
    name[300] = 0;
    RAISES(opened(in_folder(name), RDWR, &fh), MPI_ERR_BAD_FILE);
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = i % 100 ? 'n' : '/';
    name[sizeof name - 1] = 0;
    RAISES(opened(name, RDWR, &fh), MPI_ERR_BAD_FILE);
    RAISES(opened(NULL, RDWR, &fh), MPI_ERR_BAD_FILE);
    CHECK(fh == MPI_FILE_NULL);
    RAISES(MPI_File_delete(NULL, MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    RAISES(MPI_File_delete("", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    RAISES(MPI_File_delete(folder, MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    RAISES(MPI_File_delete(in_folder("file/below"), MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(unlink(in_folder("loop")) == 0 && unlink(in_folder("dangling")) == 0);
}

static void places(void)
{
    MPI_File fh;
    MPI_Status status;
    MPI_Offset at;
    int x[4] = {0};
    EQUAL(opened(path, MPI_MODE_RDWR, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_set_size(fh, 100), MPI_SUCCESS);
    RAISES(MPI_File_seek(fh, -101, MPI_SEEK_END), MPI_ERR_ARG);
    EQUAL(MPI_File_seek(fh, -100, MPI_SEEK_END), MPI_SUCCESS);
    RAISES(MPI_File_seek(fh, -1, MPI_SEEK_CUR), MPI_ERR_ARG);
    RAISES(MPI_File_seek(fh, INT64_MAX, MPI_SEEK_END), MPI_ERR_ARG);
    EQUAL(MPI_File_get_position(fh, &at), MPI_SUCCESS);
    EQUAL(at, 0);
    RAISES(MPI_File_seek_shared(fh, -101, MPI_SEEK_END), MPI_ERR_ARG);
    RAISES(MPI_File_write_at(fh, INT64_MAX, x, 1, MPI_INT, &status), MPI_ERR_ARG);
    RAISES(MPI_File_write_at(fh, INT64_MAX - 3, x, 4, MPI_INT, &status), MPI_ERR_COUNT);
    RAISES(MPI_File_read_at_all(fh, INT64_MAX - 3, x, 4, MPI_INT, &status), MPI_ERR_COUNT);
    RAISES(MPI_File_read_c(fh, x, INT64_MAX, MPI_INT, &status), MPI_ERR_COUNT);
    RAISES(MPI_File_set_size(fh, INT64_MIN), MPI_ERR_ARG);
    RAISES(MPI_File_preallocate(fh, -1), MPI_ERR_ARG);
    if (size > 1)
        RAISES(MPI_File_preallocate(fh, 100 + rank), MPI_ERR_NOT_SAME);
    RAISES(MPI_File_set_view(fh, INT64_MAX, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    RAISES(MPI_File_write_at(fh, 0, x, 1, MPI_INT, &status), MPI_ERR_ARG);
    /* The file is as it was. */
    EQUAL(MPI_File_get_size(fh, &at), MPI_SUCCESS);
    EQUAL(at, 100);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

static void arguments(void)
{
    MPI_File fh;
    MPI_Status status;
    MPI_Offset at;
    MPI_Datatype type;
    char datarep[MPI_MAX_DATAREP_STRING];
    int x[4] = {0};
    EQUAL(opened(path, MPI_MODE_RDWR, &fh), MPI_SUCCESS);
    RAISES(MPI_File_set_view(fh, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    RAISES(MPI_File_set_view(fh, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    RAISES(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", (MPI_Info) 0x7777), MPI_ERR_INFO);
    RAISES(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    RAISES(MPI_File_set_info(fh, (MPI_Info) 0x7777), MPI_ERR_INFO);
    if (size > 1)
        RAISES(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, rank ? "native" : "external32", MPI_INFO_NULL),
               MPI_ERR_NOT_SAME);
    RAISES(MPI_File_get_view(fh, NULL, &type, &type, datarep), MPI_ERR_ARG);
    RAISES(MPI_File_get_size(fh, NULL), MPI_ERR_ARG);
    RAISES(MPI_File_get_position(fh, NULL), MPI_ERR_ARG);
    RAISES(MPI_File_iread(fh, x, 1, MPI_INT, NULL), MPI_ERR_ARG);
    RAISES(MPI_File_get_byte_offset(fh, INT64_MAX, &at), MPI_ERR_ARG);
    /* The view is still that of bytes. */
    EQUAL(MPI_File_get_view(fh, &at, &type, &type, datarep), MPI_SUCCESS);
    CHECK(at == 0 && type == MPI_BYTE && strcmp(datarep, "native") == 0);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    RAISES(MPI_File_close(&fh), MPI_ERR_FILE);
    RAISES(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, (MPI_Info) 0x7777, &fh), MPI_ERR_INFO);
    if (size > 1) {
        MPI_Comm half, both;
        MPI_Comm_split(MPI_COMM_WORLD, rank != 0, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank ? 0 : 1, 7, &both);
        RAISES(MPI_File_open(both, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_ERR_COMM);
        MPI_Comm_free(&both);
        MPI_Comm_free(&half);
    }
    (void) status;
}

/* What is no file. */
static void devices(void)
{
    MPI_File fh;
    MPI_Status status;
    char x[100] = {0};
    int code, n;
    EQUAL(opened("/dev/full", MPI_MODE_RDWR, &fh), MPI_SUCCESS);
    code = MPI_File_write_at(fh, 0, x, 100, MPI_BYTE, &status);
    RAISES(code, MPI_ERR_NO_SPACE);
    says(code, "after 0 bytes");
    code = MPI_File_write_at_all(fh, 100 * rank, x, rank ? 0 : 100, MPI_BYTE, &status);
    RAISES(code, MPI_ERR_NO_SPACE);
    says(code, "/dev/full");
    EQUAL(MPI_File_read_at(fh, 0, x, 100, MPI_BYTE, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &n);
    EQUAL(n, 100);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    if (rank == 0)
        CHECK(mkfifo(in_folder("pipe"), 0600) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(opened(in_folder("pipe"), MPI_MODE_RDWR, &fh), MPI_SUCCESS);
    code = MPI_File_write_at(fh, 0, x, 100, MPI_BYTE, &status);
    RAISES(code, MPI_ERR_IO);
    says(code, "a pipe has no places");
    RAISES(MPI_File_read_at_all(fh, 0, x, 100, MPI_BYTE, &status), MPI_ERR_IO);
    RAISES(MPI_File_set_size(fh, 10), MPI_ERR_IO);
    EQUAL(MPI_File_sync(fh), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(unlink(in_folder("pipe")) == 0);
}

/* No file may be longer than this. */
static void long_files(void)
{
    enum { LIMIT = 8192 };
    MPI_File fh;
    MPI_Status status;
    struct rlimit old, few;
    char *x = calloc(1, 2 * LIMIT);
    int code;
    MPI_Datatype every;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    few = old;
    few.rlim_cur = LIMIT;
    CHECK(setrlimit(RLIMIT_FSIZE, &few) == 0);
    EQUAL(opened(path, MPI_MODE_RDWR, &fh), MPI_SUCCESS);
    code = MPI_File_write_at(fh, 100, x, 2 * LIMIT, MPI_BYTE, &status);
    RAISES(code, MPI_ERR_IO);
    says(code, "after 8092 bytes");
    says(code, "ulimit -f");
    code = MPI_File_write_at_all(fh, (MPI_Offset) rank * 2 * LIMIT, x, 2 * LIMIT, MPI_BYTE, &status);
    RAISES(code, MPI_ERR_IO);
    says(code, "ulimit -f");
    RAISES(MPI_File_set_size(fh, LIMIT + 1), MPI_ERR_IO);
    RAISES(MPI_File_preallocate(fh, LIMIT + 1), MPI_ERR_IO);
    /* Gathered and not, in pieces. */
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &every);
    MPI_Type_commit(&every);
    EQUAL(MPI_File_set_view(fh, 4 * rank, MPI_INT, every, "native", MPI_INFO_NULL), MPI_SUCCESS);
    code = MPI_File_write_at_all(fh, 0, x, LIMIT / 2, MPI_INT, &status);
    RAISES(code, MPI_ERR_IO);
    says(code, "ulimit -f");
    code = MPI_File_write_at(fh, LIMIT / 4 / size - 1, x, 3, MPI_INT, &status);
    RAISES(code, MPI_ERR_IO);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    MPI_Type_free(&every);
    free(x);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int id = getpid();
    MPI_File fh;
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(folder, sizeof folder, "%s/catena-files-refused-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id);
    snprintf(path, sizeof path, "%s/file", folder);
    if (rank == 0)
        mkdir(folder, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(opened(path, MPI_MODE_RDWR | MPI_MODE_CREATE, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    names();
    places();
    arguments();
    devices();
    long_files();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(unlink(path) == 0);
        CHECK(rmdir(folder) == 0); /* nothing else lies there */
    }
    return finish();
}
