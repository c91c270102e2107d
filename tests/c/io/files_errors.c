// Wrong use of files gets its error class at all members and goes to the file's error handler; nobody hangs.
// run: -n 3
// only: catena
#include "../check.h"
#include <stdlib.h>
#include <unistd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define RAISES(call, class)                                                     \
    do {                                                                        \
        int rc_ = (call);                                                       \
        if (class_of(rc_) != (class)) {                                         \
            char t_[MPI_MAX_ERROR_STRING] = "";                                 \
            int l_;                                                             \
            MPI_Error_string(rc_, t_, &l_);                                     \
            fprintf(stderr, "%s:%d: rank %d: %s: class %d, not %s: %s\n", __FILE__, __LINE__, rank, \
                    #call, class_of(rc_), #class, t_);                          \
            wrong++;                                                            \
        }                                                                       \
    } while (0)

static int wrong, handled;
static MPI_File last;

static void handler(MPI_File *fh, int *code, ...)
{
    (void) code;
    last = *fh;
    handled++;
}

static int opened(const char *name, int amode, MPI_File *fh)
{
    return MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, fh);
}

/* Whether the text of an error has a word in it. */
static void says(int code, const char *word)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    MPI_Error_string(code, text, &len);
    if (!strstr(text, word)) {
        fprintf(stderr, "rank %d: '%s' has no '%s'\n", rank, text, word);
        wrong++;
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_File fh = MPI_FILE_NULL;
    MPI_Status status;
    MPI_Offset offset;
    MPI_Request request;
    MPI_Datatype back, odd;
    int x[1000] = {0}, count, rdwr = MPI_MODE_RDWR | MPI_MODE_CREATE;
    char folder[200], path[256], other[256];
    int id = getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(folder, sizeof folder, "%s/catena-files-errors-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id);
    if (rank == 0)
        mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    MPI_Barrier(MPI_COMM_WORLD);

    /* No file: MPI_FILE_NULL has an error handler, which returns unless told otherwise. */
    RAISES(MPI_File_close(&fh), MPI_ERR_FILE);
    RAISES(MPI_File_write(fh, x, 1, MPI_INT, &status), MPI_ERR_FILE);
    RAISES(MPI_File_seek((MPI_File) 0x7777, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    MPI_Errhandler counting, got;
    MPI_File_create_errhandler(handler, &counting);
    EQUAL(MPI_File_get_errhandler(MPI_FILE_NULL, &got), MPI_SUCCESS);
    CHECK(got == MPI_ERRORS_RETURN);
    EQUAL(MPI_File_set_errhandler(MPI_FILE_NULL, counting), MPI_SUCCESS);

    /* Failures of open, each in its class everywhere. */
    RAISES(opened(path, MPI_MODE_RDONLY, &fh), MPI_ERR_NO_SUCH_FILE);
    EQUAL(handled, 1);
    CHECK(last == MPI_FILE_NULL && fh == MPI_FILE_NULL);
    EQUAL(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), MPI_SUCCESS);
    RAISES(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    RAISES(opened(path, MPI_MODE_RDONLY | MPI_MODE_RDWR, &fh), MPI_ERR_AMODE);
    RAISES(opened(path, MPI_MODE_RDONLY | MPI_MODE_CREATE, &fh), MPI_ERR_AMODE);
    RAISES(opened(path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, &fh), MPI_ERR_AMODE);
    RAISES(opened(path, rank == 1 ? 0 : rdwr, &fh), MPI_ERR_AMODE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(path, F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    RAISES(opened(rank == 2 ? "" : path, rdwr, &fh), MPI_ERR_BAD_FILE);
    RAISES(opened(folder, MPI_MODE_RDONLY, &fh), MPI_ERR_BAD_FILE);
    RAISES(opened("/proc/self/catena/none", rdwr, &fh), MPI_ERR_NO_SUCH_FILE);
    RAISES(MPI_File_open(MPI_COMM_NULL, path, rdwr, MPI_INFO_NULL, &fh), MPI_ERR_COMM);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "many");
    RAISES(MPI_File_open(MPI_COMM_WORLD, path, rdwr, rank == 1 ? info : MPI_INFO_NULL, &fh), MPI_ERR_INFO_VALUE);
    MPI_Info_free(&info);
    EQUAL(opened(path, rdwr, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    RAISES(opened(path, rdwr | MPI_MODE_EXCL, &fh), MPI_ERR_FILE_EXISTS);
    int code = opened(path, rank == 2 ? MPI_MODE_RDONLY : rdwr, &fh);
    RAISES(code, MPI_ERR_NOT_SAME);
    says(code, "rank 2 MPI_MODE_RDONLY");
    /* Other files under other names, and the same under another one. */
    EQUAL(opened(other, rdwr, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    code = opened(rank == 1 ? other : path, MPI_MODE_RDWR, &fh);
    RAISES(code, MPI_ERR_NOT_SAME);
    says(code, "other");
    says(code, "rank 1");
    char same[300];
    snprintf(same, sizeof same, "%s/./file", folder);
    EQUAL(opened(rank == 1 ? same : path, MPI_MODE_RDWR, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    /* A program that runs cannot be written. */
    RAISES(opened("/proc/self/exe", MPI_MODE_RDWR, &fh), MPI_ERR_FILE_IN_USE);
    /* Permissions that one member lacks; for root that is so as somebody else, which only the system's calls notice. */
    if (rank == 0)
        CHECK(chmod(path, geteuid() ? 0 : 0600) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && geteuid() == 0)
        setfsuid(65534);
    code = opened(path, MPI_MODE_RDWR, &fh);
    setfsuid(geteuid());
    prctl(PR_SET_DUMPABLE, 1); /* which the system took with the user's id: others read this memory */
    RAISES(code, MPI_ERR_ACCESS);
    says(code, path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(chmod(path, 0666) == 0);
    /* Descriptors. */
    struct rlimit limit, few;
    getrlimit(RLIMIT_NOFILE, &limit);
    few = limit;
    few.rlim_cur = 1;
    if (rank == 1)
        setrlimit(RLIMIT_NOFILE, &few);
    code = opened(path, MPI_MODE_RDWR, &fh);
    setrlimit(RLIMIT_NOFILE, &limit);
    RAISES(code, MPI_ERR_IO);
    says(code, "ulimit -n");

    /* Modes. */
    EQUAL(opened(path, MPI_MODE_RDONLY, &fh), MPI_SUCCESS);
    RAISES(MPI_File_write(fh, x, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
    RAISES(MPI_File_write_all(fh, x, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
    RAISES(MPI_File_iwrite(fh, x, 1, MPI_INT, &request), MPI_ERR_READ_ONLY);
    RAISES(MPI_File_set_size(fh, 10), MPI_ERR_READ_ONLY);
    RAISES(MPI_File_preallocate(fh, 10), MPI_ERR_READ_ONLY);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    EQUAL(opened(path, MPI_MODE_WRONLY, &fh), MPI_SUCCESS);
    RAISES(MPI_File_read(fh, x, 1, MPI_INT, &status), MPI_ERR_ACCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    EQUAL(opened(path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, &fh), MPI_SUCCESS);
    RAISES(MPI_File_write(fh, x, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    RAISES(MPI_File_write_at(fh, 0, x, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    RAISES(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);

    /* Arguments. */
    EQUAL(opened(path, MPI_MODE_RDWR, &fh), MPI_SUCCESS);
    handled = 0;
    EQUAL(MPI_File_set_errhandler(fh, counting), MPI_SUCCESS);
    RAISES(MPI_File_write_at(fh, -1, x, 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK(last == fh && handled == 1);
    RAISES(MPI_File_read(fh, x, -1, MPI_INT, &status), MPI_ERR_COUNT);
    RAISES(MPI_File_read(fh, x, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
    RAISES(MPI_File_read(fh, NULL, 1, MPI_INT, &status), MPI_ERR_BUFFER);
    RAISES(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    RAISES(MPI_File_seek(fh, -1, MPI_SEEK_CUR), MPI_ERR_ARG);
    RAISES(MPI_File_seek(fh, 0, 4711), MPI_ERR_ARG);
    RAISES(MPI_File_get_byte_offset(fh, -1, &offset), MPI_ERR_ARG);
    RAISES(MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    RAISES(MPI_File_set_size(fh, rank), MPI_ERR_NOT_SAME);
    RAISES(MPI_File_set_atomicity(fh, rank == 1), MPI_ERR_NOT_SAME);
    RAISES(MPI_File_seek_shared(fh, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    RAISES(MPI_File_call_errhandler(fh, MPI_ERR_OTHER), MPI_SUCCESS);
    EQUAL(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN), MPI_SUCCESS);
    MPI_Errhandler_free(&counting);
    /* Of a collective call one member's argument is wrong: it fails everywhere. */
    RAISES(MPI_File_write_at_all(fh, rank == 2 ? -1 : 0, x, 1, MPI_INT, &status), MPI_ERR_ARG);
    RAISES(MPI_File_write_ordered(fh, x, rank == 0 ? -1 : 1, MPI_INT, &status), MPI_ERR_COUNT);

    /* Views. */
    int lens[2] = {1, 1}, places[2] = {3, 0};
    MPI_Type_indexed(2, lens, places, MPI_INT, &back);
    MPI_Type_commit(&back);
    MPI_Type_contiguous(3, MPI_CHAR, &odd);
    RAISES(MPI_File_set_view(fh, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    MPI_Type_commit(&odd);
    RAISES(MPI_File_set_view(fh, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    RAISES(MPI_File_set_view(fh, 0, MPI_INT, back, "native", MPI_INFO_NULL), MPI_ERR_IO);
    RAISES(MPI_File_set_view(fh, -7, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    RAISES(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "martian", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    RAISES(MPI_File_set_view(fh, 0, rank ? MPI_INT : MPI_DOUBLE, rank ? MPI_INT : MPI_DOUBLE, "native",
                             MPI_INFO_NULL), MPI_ERR_NOT_SAME);
    EQUAL(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    RAISES(MPI_File_write(fh, x, 3, MPI_CHAR, &status), MPI_ERR_TYPE);
    RAISES(MPI_File_seek(fh, (MPI_Offset) 1 << 62, MPI_SEEK_SET), MPI_ERR_ARG);

    /* Split calls: one at a time, ended as it was begun. */
    RAISES(MPI_File_write_all_end(fh, x, &status), MPI_ERR_OTHER);
    EQUAL(MPI_File_write_all_begin(fh, x, 1, MPI_INT), MPI_SUCCESS);
    RAISES(MPI_File_write_all_begin(fh, x, 1, MPI_INT), MPI_ERR_OTHER);
    RAISES(MPI_File_read_all_end(fh, x, &status), MPI_ERR_OTHER);
    RAISES(MPI_File_write_all_end(fh, x + 1, &status), MPI_ERR_BUFFER);
    RAISES(MPI_File_close(&fh), MPI_ERR_OTHER);
    EQUAL(MPI_File_write_all_end(fh, x, &status), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);

    /* The disk is full in the middle of a collective call: all are told. */
    MPI_Info_create(&info);
    MPI_Info_set(info, "catena_io_faults", "enospc=5000,eintr");
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &fh), MPI_SUCCESS);
    code = MPI_File_write_at_all(fh, rank * (MPI_Offset) sizeof x, x, 1000, MPI_INT, &status);
    RAISES(code, MPI_ERR_NO_SPACE);
    says(code, "after 1000 bytes");
    RAISES(MPI_File_iwrite_at(fh, 4996, x, 2, MPI_INT, &request), MPI_SUCCESS);
    RAISES(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE);
    RAISES(MPI_File_preallocate(fh, 6000), MPI_ERR_NO_SPACE);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Info_set(info, "catena_io_faults", "edquot=3000");
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &fh), MPI_SUCCESS);
    code = MPI_File_write_at_all(fh, rank * 1000, x, 1000, MPI_INT, &status);
    RAISES(code, MPI_ERR_QUOTA);
    says(code, " after ");
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Info_set(info, "catena_io_faults", "eio=100");
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &fh), MPI_SUCCESS);
    RAISES(MPI_File_read_at(fh, 90, x, 20, MPI_CHAR, &status), MPI_ERR_IO);
    EQUAL(MPI_File_read_at(fh, 101, x, 20, MPI_CHAR, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_CHAR, &count);
    EQUAL(count, 20);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Type_free(&back);
    MPI_Type_free(&odd);

    if (rank == 0) {
        CHECK(unlink(path) == 0 && unlink(other) == 0);
        // Nothing else lies there.
        CHECK(rmdir(folder) == 0);
    }
    EQUAL(wrong, 0);
    return finish();
}
