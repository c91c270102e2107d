// A small disk that is full, read-only, or has no room for one more file: all members are told, in its class, and the bytes
// that are reported are there. The disk is mounted in memory, for the host that the test makes.
//
// only: catena
// hosts: 1
// run: -n 4
// run: -n 1
// time: 120
#include "raises.h"
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <dirent.h>
#include <errno.h>

enum { DISK = 1 << 20, PART = 1 << 19, PIECE = 8 };

static char folder[200], path[256];

/* Bytes that a call says it has moved. */
static MPI_Count told(MPI_Status *status)
{
    MPI_Count bytes = -1;
    EQUAL(MPI_Get_elements_c(status, MPI_BYTE, &bytes), MPI_SUCCESS);
    return bytes;
}

/* The disk again, in another state; the first rank does it for all. */
static void mounted(unsigned long flags, const char *options)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        EQUAL(mount("none", folder, "tmpfs", flags, options), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A call of all that has failed for want of room says whose part failed, and after how many bytes; those are there. Each
 * rank has written `part` bytes, one behind the other. */
static void reported(MPI_File fh, int code, long long part)
{
    char text[MPI_MAX_ERROR_STRING] = "", *after, *whose;
    int len, writer = rank;
    RAISES(code, MPI_ERR_NO_SPACE);
    MPI_Error_string(code, text, &len);
    after = strstr(text, " after ");
    CHECK(after != NULL);
    if ((whose = strstr(text, "rank ")) != NULL)
        writer = atoi(whose + 5);
    long long n = atoll(after + 7);
    CHECK(writer >= 0 && writer < size && n >= 0 && n < part);
    unsigned char *got = malloc((size_t) n + 1);
    MPI_Status status;
    EQUAL(MPI_File_read_at_c(fh, writer * part, got, n, MPI_BYTE, &status), MPI_SUCCESS);
    EQUAL(told(&status), n);
    CHECK(wrong_at(got, (size_t) n, (unsigned) writer) == (size_t) n);
    free(got);
}

/* Empties the disk. */
static void empty(MPI_File fh)
{
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
}

static void full_disk(void)
{
    int rdwr = MPI_MODE_RDWR | MPI_MODE_CREATE, code;
    unsigned char *data = malloc(3 * PART);
    MPI_Offset size_of;
    MPI_File fh;
    MPI_Status status;
    MPI_Request request;
    MPI_Info info;
    MPI_Datatype tile, piece;
    fill(data, 3 * PART, (unsigned) rank);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, rdwr, MPI_INFO_NULL, &fh), MPI_SUCCESS);

    /* Together too much: in one run each. */
    code = MPI_File_write_at_all(fh, (MPI_Offset) rank * 3 * PART, data, 3 * PART, MPI_BYTE, &status);
    reported(fh, code, 3 * PART);
    empty(fh);

    /* In interleaved pieces, gathered and not. */
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint) PIECE * size, &tile);
    MPI_Type_commit(&tile);
    for (int way = 0; way < 2; way++) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "romio_cb_write", way ? "enable" : "disable");
        /* Short lists of pieces where each goes to the file by itself. */
        MPI_Count n = way ? 3 * PART : (DISK / size / 4096 + 2) * 4096 + PIECE;
        EQUAL(MPI_File_set_view(fh, (MPI_Offset) rank * PIECE, MPI_BYTE, tile, "native", info), MPI_SUCCESS);
        code = MPI_File_write_at_all_c(fh, 0, data, n, MPI_BYTE, &status);
        RAISES(code, MPI_ERR_NO_SPACE);
        says(code, " after ");
        MPI_Info_free(&info);
        empty(fh);
    }
    EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);

    /* Begun and ended, non-blocking, ordered, by the shared pointer. */
    code = MPI_File_write_at_all_begin(fh, (MPI_Offset) rank * 3 * PART, data, 3 * PART, MPI_BYTE);
    if (code == MPI_SUCCESS) /* which of the two is told does not matter */
        code = MPI_File_write_at_all_end(fh, data, &status);
    reported(fh, code, 3 * PART);
    empty(fh);
    EQUAL(MPI_File_iwrite_at_all(fh, (MPI_Offset) rank * 3 * PART, data, 3 * PART, MPI_BYTE, &request), MPI_SUCCESS);
    code = MPI_Wait(&request, &status);
    /* Those whose bytes came to the disk first may have done well. */
    CHECK(code == MPI_SUCCESS || class_of(code) == MPI_ERR_NO_SPACE);
    int failed = code != MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EQUAL(failed, 1);
    empty(fh);
    EQUAL(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET), MPI_SUCCESS);
    reported(fh, MPI_File_write_ordered(fh, data, 3 * PART, MPI_BYTE, &status), 3 * PART);
    empty(fh);

    /* Room is told before it is needed. */
    RAISES(MPI_File_preallocate(fh, 4 * DISK), MPI_ERR_NO_SPACE);
    empty(fh);

    /* Afterwards the file is as good as before. */
    EQUAL(MPI_File_write_at_all(fh, (MPI_Offset) rank * (PART / size), data, PART / size, MPI_BYTE, &status), MPI_SUCCESS);
    EQUAL(told(&status), PART / size);
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char *back = calloc(1, PART);
    EQUAL(MPI_File_read_at_all(fh, (MPI_Offset) rank * (PART / size), back, PART / size, MPI_BYTE, &status), MPI_SUCCESS);
    CHECK(memcmp(back, data, PART / size) == 0);
    free(back);
    EQUAL(MPI_File_get_size(fh, &size_of), MPI_SUCCESS);
    EQUAL(size_of, PART / size * size);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Type_free(&tile);
    MPI_Type_free(&piece);
    free(data);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_File fh;
    int rdwr = MPI_MODE_RDWR | MPI_MODE_CREATE, id = getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(folder, sizeof folder, "%s/catena-files-disk-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id);
    snprintf(path, sizeof path, "%s/file", folder);
    if (rank == 0)
        CHECK(mkdir(folder, 0777) == 0 || errno == EEXIST);
    mounted(0, "size=1m,nr_inodes=3");
    full_disk();

    /* No room for a third file beside the folder and the one above. */
    char other[300];
    snprintf(other, sizeof other, "%s/second", folder);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, other, rdwr, MPI_INFO_NULL, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    snprintf(other, sizeof other, "%s/third", folder);
    int code = MPI_File_open(MPI_COMM_WORLD, other, rdwr, MPI_INFO_NULL, &fh);
    RAISES(code, MPI_ERR_NO_SPACE);
    says(code, "third");
    CHECK(fh == MPI_FILE_NULL);

    /* Read-only. */
    mounted(MS_REMOUNT | MS_RDONLY, NULL);
    RAISES(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_ERR_READ_ONLY);
    RAISES(MPI_File_open(MPI_COMM_WORLD, other, rdwr, MPI_INFO_NULL, &fh), MPI_ERR_READ_ONLY);
    RAISES(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_READ_ONLY);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);

    /* Nothing lies beside the files. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int entries = 0;
        DIR *all = opendir(folder);
        CHECK(all != NULL);
        while (readdir(all))
            entries++;
        closedir(all);
        EQUAL(entries, 2 + 2);
        EQUAL(umount(folder), 0);
        EQUAL(rmdir(folder), 0);
    }
    return finish();
}
