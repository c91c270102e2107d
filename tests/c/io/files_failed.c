// What fails leaves the process, the file and its pointers as they were.
// run: -n 1 -- cut
// run: -n 2 -- tiles
// run: -n 1 -- deep
// run: -n 2 -- pointers
// run: -n 2 --set LINK=tcp -- pointers
// run: -n 1 -- memory
// only: catena
// cc: -pthread
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

static char path[] = "/tmp/catena-failed-XXXXXX";

static MPI_File opened(const char *faults)
{
    MPI_File fh;
    MPI_Info hints;
    MPI_Info_create(&hints);
    if (faults)
        MPI_Info_set(hints, "catena_io_faults", faults);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, hints, &fh), MPI_SUCCESS);
    MPI_Info_free(&hints);
    return fh;
}

/* Somebody else cuts the file while pieces of a view with small holes are written. */
static atomic_int stop;

static void *cut(void *none)
{
    (void) none;
    int fd = open(path, O_RDWR);
    /* At some time after the file has grown. */
    for (int i = 0; !stop; i++) {
        struct stat stat;
        double begin = now();
        do
            CHECK(fstat(fd, &stat) == 0);
        while (!stop && stat.st_size == 0);
        while (now() - begin < i * 37 % 1000 * 1e-6) {
        }
        CHECK(ftruncate(fd, 0) == 0);
    }
    close(fd);
    return NULL;
}

static void cut_meanwhile(void)
{
    enum { LEN = 1 << 17, ROUNDS = 100 };
    static char bytes[LEN];
    pthread_t thread;
    MPI_Datatype piece, type;
    MPI_Type_contiguous(1, MPI_CHAR, &piece);
    MPI_Type_create_resized(piece, 0, 2, &type);
    MPI_Type_commit(&type);
    MPI_File fh = opened(NULL);
    MPI_File_set_view(fh, rank, MPI_CHAR, type, "native", MPI_INFO_NULL);
    memset(bytes, 'a' + rank, LEN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pthread_create(&thread, NULL, cut, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Status status;
        int count;
        EQUAL(MPI_File_write_at(fh, 0, bytes, LEN, MPI_CHAR, &status), MPI_SUCCESS);
        MPI_Get_count(&status, MPI_CHAR, &count);
        EQUAL(count, LEN);
    }
    stop = 1;
    if (rank == 0)
        pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    /* With nobody who cuts it all is there. */
    EQUAL(MPI_File_write_at(fh, 0, bytes, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    memset(bytes, 0, LEN);
    EQUAL(MPI_File_read_at(fh, 0, bytes, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < LEN; i++)
        EQUAL(bytes[i], 'a' + rank);
    MPI_File_close(&fh);
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
}

/* Two pieces of 4 bytes at 0 and `second`, repeated after `extent`. */
static int view_of(MPI_File fh, int second, MPI_Aint extent)
{
    MPI_Datatype pieces, type;
    int lens[] = {4, 4}, places[] = {0, second};
    MPI_Type_indexed(2, lens, places, MPI_CHAR, &pieces);
    MPI_Type_create_resized(pieces, 0, extent, &type);
    MPI_Type_commit(&type);
    int class = class_of(MPI_File_set_view(fh, 0, MPI_CHAR, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&pieces);
    MPI_Type_free(&type);
    return class;
}

/* Filetypes that follow each other may have bytes in common as long as no write goes beyond one of them: HDF5 describes a
 * whole write by one. */
static void tiles(void)
{
    static const int extents[] = {8, 7, 3, 0, -16};
    MPI_File fh = opened(NULL);
    for (int i = 0; i < 5; i++) {
        EQUAL(view_of(fh, 8, extents[i]), MPI_SUCCESS);
        EQUAL(MPI_File_write_at(fh, 0, "abcdefgh", 8, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EQUAL(class_of(MPI_File_write_at(fh, 0, "abcdefghijkl", 12, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_IO);
        EQUAL(class_of(MPI_File_write_at(fh, 4, "abcdefgh", 8, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_IO);
        EQUAL(class_of(MPI_File_write_at_all(fh, 4, "abcdefgh", 8, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_IO);
        EQUAL(class_of(MPI_File_write(fh, "abcdefgh", 9, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_IO);
        MPI_Offset at;
        EQUAL(MPI_File_get_position(fh, &at), MPI_SUCCESS);
        EQUAL(at, 0);
    }
    EQUAL(view_of(fh, 8, 12), MPI_SUCCESS);
    /* Those that follow lie between its pieces. */
    EQUAL(view_of(fh, 12, 8), MPI_SUCCESS);
    EQUAL(MPI_File_write_at(fh, 0, "abcdABCDefghEFGHijklIJKL", 24, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EQUAL(MPI_File_sync(fh), MPI_SUCCESS);
    char got[33] = "";
    EQUAL(MPI_File_set_view(fh, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_read_at(fh, 0, got, 32, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(!memcmp(got, "abcd\0\0\0\0efghABCDijklEFGH\0\0\0\0IJKL", 32));
    MPI_File_close(&fh);
    /* What is only read may be there twice. */
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_SUCCESS);
    EQUAL(view_of(fh, 8, 8), MPI_SUCCESS);
    EQUAL(MPI_File_read_at(fh, 0, got, 16, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(!memcmp(got, "abcdefghefghijkl", 16));
    MPI_File_close(&fh);
}

/* A filetype that was made in many steps, in a representation that lays it out anew. */
static void deep(void)
{
    MPI_Datatype type, next;
    MPI_Type_dup(MPI_INT, &type);
    for (int i = 0; i < 100000; i++) {
        MPI_Type_contiguous(1, type, &next);
        MPI_Type_free(&type);
        type = next;
    }
    MPI_Type_commit(&type);
    MPI_File fh = opened(NULL);
    EQUAL(MPI_File_set_view(fh, 0, MPI_INT, type, "external32", MPI_INFO_NULL), MPI_SUCCESS);
    int value = 0x01020304;
    char got[4];
    EQUAL(MPI_File_write_at(fh, 1, &value, 1, type, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EQUAL(MPI_File_set_view(fh, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_read_at(fh, 4, got, 4, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(!memcmp(got, "\1\2\3\4", 4));
    MPI_File_close(&fh);
    MPI_Type_free(&type);
}

static long long place(MPI_File fh)
{
    MPI_Offset at;
    MPI_File_get_position(fh, &at);
    return at;
}

static long long shared_place(MPI_File fh)
{
    MPI_Offset at;
    MPI_File_get_position_shared(fh, &at);
    return at;
}

static void pointers(void)
{
    int data[8] = {0};
    long too_long[2] = {1L << 40, 1};
    MPI_Status status;
    MPI_Request request;
    /* Nothing can be written. */
    MPI_File fh = opened("enospc=0");
    MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    EQUAL(class_of(MPI_File_write(fh, data, 8, MPI_INT, &status)), MPI_ERR_NO_SPACE);
    EQUAL(place(fh), 0);
    MPI_File_set_atomicity(fh, 1);
    EQUAL(class_of(MPI_File_write(fh, data, 8, MPI_INT, &status)), MPI_ERR_NO_SPACE);
    EQUAL(place(fh), 0);
    MPI_File_set_atomicity(fh, 0);
    EQUAL(class_of(MPI_File_write_all(fh, data, 8, MPI_INT, &status)), MPI_ERR_NO_SPACE);
    EQUAL(place(fh), 0);
    /* Of several members' calls those that others came behind leave a gap. */
    if (rank == 0) {
        EQUAL(class_of(MPI_File_write_shared(fh, data, 8, MPI_INT, &status)), MPI_ERR_NO_SPACE);
        EQUAL(shared_place(fh), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        EQUAL(class_of(MPI_File_write_shared(fh, data, 8, MPI_INT, &status)), MPI_ERR_NO_SPACE);
        EQUAL(shared_place(fh), 0);
    }
    MPI_File_close(&fh);
    /* Two of the integers and a half. */
    fh = opened("enospc=10");
    MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    EQUAL(class_of(MPI_File_write(fh, data, 8, MPI_INT, &status)), MPI_ERR_NO_SPACE);
    EQUAL(place(fh), 2);
    MPI_File_close(&fh);
    /* A value that the representation does not have. */
    fh = opened(NULL);
    MPI_File_set_view(fh, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL);
    EQUAL(class_of(MPI_File_write(fh, too_long, 2, MPI_LONG, &status)), MPI_ERR_CONVERSION);
    EQUAL(place(fh), 0);
    EQUAL(class_of(MPI_File_iwrite(fh, too_long, 2, MPI_LONG, &request)), MPI_ERR_CONVERSION);
    EQUAL(place(fh), 0);
    EQUAL(class_of(MPI_File_write_all(fh, too_long, 2, MPI_LONG, &status)), MPI_ERR_CONVERSION);
    EQUAL(place(fh), 0);
    EQUAL(class_of(MPI_File_write_shared(fh, too_long, 2, MPI_LONG, &status)), MPI_ERR_CONVERSION);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(shared_place(fh), 0);
    EQUAL(class_of(MPI_File_write_ordered(fh, too_long, rank == 0 ? 2 : 0, MPI_LONG, &status)), MPI_ERR_CONVERSION);
    EQUAL(shared_place(fh), 0);
    /* Another member's arguments are wrong. */
    EQUAL(class_of(MPI_File_write_all(fh, data, rank == 1 ? -1 : 0, MPI_LONG, &status)), MPI_ERR_COUNT);
    long good[2] = {1, 2};
    EQUAL(class_of(MPI_File_write_all(fh, good, rank == 1 ? -1 : 2, MPI_LONG, &status)), MPI_ERR_COUNT);
    EQUAL(place(fh), 0);
    EQUAL(MPI_File_write_all(fh, good, 2, MPI_LONG, &status), MPI_SUCCESS);
    EQUAL(place(fh), 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        EQUAL(MPI_File_write_shared(fh, good, 2, MPI_LONG, &status), MPI_SUCCESS);
        EQUAL(shared_place(fh), 2);
    }
    MPI_File_close(&fh);
}

/* Kilobytes of memory that this process has had at most. */
static long most_memory(void)
{
    char line[200];
    long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &kilobytes);
    fclose(status);
    return kilobytes;
}

/* There is no copy of all that is converted. */
static void memory(void)
{
    enum { COUNT = 16 << 20 };
    int *data = malloc(COUNT * sizeof *data), count;
    MPI_Status status;
    for (int i = 0; i < COUNT; i++)
        data[i] = i;
    MPI_File fh = opened(NULL);
    MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    long before = most_memory();
    EQUAL(MPI_File_write(fh, data, COUNT, MPI_INT, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, COUNT);
    EQUAL(place(fh), COUNT);
    memset(data, 0, COUNT * sizeof *data);
    /* From the second on, and beyond the end. */
    EQUAL(MPI_File_read_at(fh, 1, data, COUNT, MPI_INT, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, COUNT - 1);
    for (int i = 0; i < COUNT; i++)
        EQUAL(data[i], i == COUNT - 1 ? 0 : i + 1);
    CHECK(most_memory() - before < 16 << 10);
    /* The last value cannot be converted: those before it may be there. */
    MPI_File_set_view(fh, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL);
    long *longs = (long *) data;
    for (int i = 0; i < COUNT / 2; i++)
        longs[i] = i;
    longs[COUNT / 2 - 1] = 1L << 40;
    EQUAL(class_of(MPI_File_write(fh, longs, COUNT / 2, MPI_LONG, &status)), MPI_ERR_CONVERSION);
    CHECK(place(fh) < COUNT / 2);
    long value = -1, want = place(fh) - 1;
    if (want >= 0) {
        EQUAL(MPI_File_read_at(fh, want, &value, 1, MPI_LONG, &status), MPI_SUCCESS);
        EQUAL(value, want);
    }
    MPI_File_close(&fh);
    free(data);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (rank == 0)
        CHECK(mkstemp(path) >= 0);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (!strcmp(argv[1], "cut"))
        cut_meanwhile();
    else if (!strcmp(argv[1], "tiles"))
        tiles();
    else if (!strcmp(argv[1], "deep"))
        deep();
    else if (!strcmp(argv[1], "pointers"))
        pointers();
    else
        memory();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(unlink(path) == 0);
    MPI_Finalize();
    return 0;
}
