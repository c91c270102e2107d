// What members of a file read of it alone: where its end is, where the shared pointer is, what its name means.
// run: -n 4
// run: -n 4 --set LINK=tcp
// run: -n 3
// time: 60
#include "../check.h"
#include <sys/stat.h>

enum { LEN = 10 };

static char folder[] = "/tmp/catena-files-XXXXXX";

static void in_folder(char *to, const char *name)
{
    snprintf(to, 200, "%s/%s", folder, name);
}

/* Bytes of a file, and how many of them are zero. */
static void count(const char *path, long *bytes, long *zeros)
{
    FILE *file = fopen(path, "r");
    CHECK(file);
    *bytes = *zeros = 0;
    for (int c; (c = getc(file)) != EOF; ++*bytes)
        *zeros += c == 0;
    fclose(file);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Those who append begin where the file ended when all had come. */
static void append(void)
{
    char path[200], record[LEN];
    long bytes, zeros;
    in_folder(path, "append");
    memset(record, 'a' + rank, LEN);
    for (int round = 1; round <= 100; round++) {
        MPI_File fh;
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &fh);
        CHECK(fh != MPI_FILE_NULL);
        CHECK(MPI_File_write_shared(fh, record, LEN, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        MPI_File_close(&fh);
        if (rank == 0) {
            count(path, &bytes, &zeros);
            EQUAL(bytes, (long)round * size * LEN);
            EQUAL(zeros, 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* An ordered call, and then one that moves the pointer by itself, which a member may reach before another one has left. */
static void ordered(int split)
{
    char path[200], record[LEN];
    long bytes, zeros;
    in_folder(path, split ? "split" : "ordered");
    memset(record, 'a' + rank, LEN);
    MPI_File fh;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh);
    for (int round = 0; round < 250; round++) {
        if (split)
            MPI_File_write_ordered_begin(fh, record, LEN, MPI_CHAR);
        else
            MPI_File_write_ordered(fh, record, LEN, MPI_CHAR, MPI_STATUS_IGNORE);
        if (split)
            MPI_File_write_ordered_end(fh, record, MPI_STATUS_IGNORE);
        MPI_File_write_shared(fh, record, LEN, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&fh);
    if (rank == 0) {
        count(path, &bytes, &zeros);
        EQUAL(bytes, 500L * size * LEN);
        EQUAL(zeros, 0);
        FILE *file = fopen(path, "r");
        long of[26] = {0};
        for (int c; (c = getc(file)) != EOF;)
            of[c - 'a']++;
        fclose(file);
        for (int i = 0; i < size; i++)
            EQUAL(of[i], 500L * LEN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The view of a sequential file begins where the shared pointer is, at all members alike. */
static void current(void)
{
    char path[200], record[LEN] = "123456789";
    MPI_File fh;
    in_folder(path, "current");
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &fh);
    for (int round = 0; round < 200; round++) {
        MPI_Offset disp, first;
        MPI_Datatype etype, filetype;
        char datarep[MPI_MAX_DATAREP_STRING];
        if (rank <= round % size)
            MPI_File_write_shared(fh, record, LEN, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
        MPI_File_get_view(fh, &disp, &etype, &filetype, datarep);
        first = disp;
        MPI_Bcast(&first, 1, MPI_OFFSET, 0, MPI_COMM_WORLD);
        EQUAL(disp, first);
        MPI_File_write_shared(fh, record, LEN, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    }
    MPI_File_close(&fh);
}

/* A file that another member made, renamed or deleted just before its call. */
static void fresh(void)
{
    char path[200], other[200], got[8];
    in_folder(path, "fresh");
    in_folder(other, "fresh.new");
    for (int round = 0; round < 50; round++) {
        MPI_File fh;
        if (rank == size - 1) {
            write_file(other, round % 2 ? "odd" : "even");
            CHECK(rename(other, path) == 0);
        }
        CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
        memset(got, 0, sizeof got);
        MPI_File_read_at_all(fh, 0, got, 3, MPI_CHAR, MPI_STATUS_IGNORE);
        CHECK(!strcmp(got, round % 2 ? "odd" : "eve"));
        MPI_File_close(&fh);
        if (rank == size - 1)
            remove(path);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Members that have no part of a distributed array. */
static void empty(void)
{
    char path[200];
    int n = 5, dist = MPI_DISTRIBUTE_BLOCK, darg = MPI_DISTRIBUTE_DFLT_DARG, part = 0, got = -1;
    double value[5], all[5];
    MPI_Datatype darray;
    MPI_File fh;
    MPI_Status status;
    in_folder(path, "empty");
    MPI_Type_create_darray(size, rank, 1, &n, &dist, &darg, &size, MPI_ORDER_C, MPI_DOUBLE, &darray);
    MPI_Type_commit(&darray);
    MPI_Type_size(darray, &part);
    part /= (int)sizeof(double);
    int block = (n + size - 1) / size;
    for (int i = 0; i < 5; i++)
        value[i] = block * rank + i;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    CHECK(MPI_File_set_view(fh, 0, MPI_DOUBLE, darray, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_write_all(fh, value, part, MPI_DOUBLE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_write_at_all(fh, 0, value, part, MPI_DOUBLE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_write_at(fh, 0, value, part, MPI_DOUBLE, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_DOUBLE, &got);
    EQUAL(got, part);
    if (part == 0) {
        /* Nothing is written where nothing is shown. */
        int code = MPI_File_write_at(fh, 0, value, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
        EQUAL(class_of(code), MPI_ERR_ARG);
        CHECK(MPI_File_seek(fh, 0, MPI_SEEK_END) == MPI_SUCCESS);
    }
    MPI_Request request;
    MPI_File_iwrite_all(fh, value, part, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_set_view(fh, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_File_read_at_all(fh, 0, all, n, MPI_DOUBLE, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &got);
    EQUAL(got, n);
    for (int i = 0; i < n; i++)
        EQUAL(all[i], i);
    MPI_File_close(&fh);
    MPI_Type_free(&darray);
}

/* What a name meant when the file was opened. */
static void named(void)
{
    char here[200], there[200], path[200], was[200], text[8] = "";
    CHECK(getcwd(was, sizeof was));
    in_folder(here, "here");
    in_folder(there, "there");
    if (rank == 0)
        CHECK(mkdir(here, 0700) == 0 && mkdir(there, 0700) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%.100s/there/name", folder);
    if (rank == 0)
        write_file(path, "kept");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(chdir(here) == 0);
    MPI_File fh;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_no_indep_rw", "true");
    MPI_File_open(MPI_COMM_WORLD, "name", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, info, &fh);
    CHECK(chdir(there) == 0);
    CHECK(MPI_File_write_at(fh, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
    if (rank == 0) {
        FILE *file = fopen(path, "r");
        CHECK(file && fread(text, 1, sizeof text, file) == 4 && !strcmp(text, "kept"));
        fclose(file);
    }
    snprintf(path, sizeof path, "%.100s/here/name", folder);
    CHECK(access(path, F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* One that has been replaced stays. */
    CHECK(chdir(here) == 0);
    MPI_File_open(MPI_COMM_WORLD, "name", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, info, &fh);
    if (rank == 0) {
        CHECK(remove(path) == 0);
        write_file("other", "kept");
        CHECK(rename("other", path) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(class_of(MPI_File_close(&fh)), MPI_ERR_NO_SUCH_FILE);
    CHECK(access(path, F_OK) == 0);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(chdir(was) == 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (rank == 0)
        CHECK(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    append();
    ordered(0);
    ordered(1);
    current();
    fresh();
    empty();
    named();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        char command[100];
        snprintf(command, sizeof command, "rm -r %s", folder);
        CHECK(system(command) == 0);
    }
    MPI_Finalize();
    return 0;
}
