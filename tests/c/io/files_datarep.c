// Representations of data: external32 in a file byte by byte, conversion functions of the program, extents.
// run: -n 1
// run: -n 3
#include "../check.h"
#include <stdlib.h>
#include <unistd.h>

static char path[256];
static int reads, writes;

/* In a file an int has eight bytes, the last of which tells that it is one. */
static int extent(MPI_Datatype type, MPI_Aint *bytes, void *extra)
{
    CHECK(extra == &reads);
    int n;
    MPI_Type_size(type, &n);
    *bytes = type == MPI_INT ? 8 : n;
    return MPI_SUCCESS;
}

static int number_of(MPI_Datatype type, int count)
{
    int n;
    MPI_Type_size(type, &n);
    return n / 4 * count;
}

static int from_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *extra)
{
    CHECK(extra == &reads);
    int n = number_of(type, count), *to = user, place = (int) at;
    reads++;
    for (int i = 0; i < n; i++) {
        unsigned char *from = (unsigned char *) file + 8 * (place + i);
        CHECK(from[7] == 0xab);
        memcpy(&to[place + i], from, 4);
    }
    return MPI_SUCCESS;
}

static int to_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *extra)
{
    CHECK(extra == &reads);
    int n = number_of(type, count), *from = user, place = (int) at;
    writes++;
    for (int i = 0; i < n; i++) {
        unsigned char *to = (unsigned char *) file + 8 * (place + i);
        memset(to, 0, 8);
        memcpy(to, &from[place + i], 4);
        to[7] = 0xab;
    }
    return MPI_SUCCESS;
}

static int fails(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *extra)
{
    (void) user, (void) type, (void) count, (void) file, (void) at, (void) extra;
    return MPI_ERR_CONVERSION;
}

static void external(void)
{
    MPI_File fh;
    MPI_Status status;
    MPI_Aint bytes;
    MPI_Offset at;
    long longs[4] = { 1, -2, 3 + rank, 0x12345678 }, back[4] = { 0 };
    int count;
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_set_view(fh, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_get_type_extent(fh, MPI_LONG, &bytes), MPI_SUCCESS);
    EQUAL(bytes, 4);
    EQUAL(MPI_File_get_byte_offset(fh, 10, &at), MPI_SUCCESS);
    EQUAL(at, 40);
    EQUAL(MPI_File_write_at_all(fh, 4 * rank, longs, 4, MPI_LONG, &status), MPI_SUCCESS);
    EQUAL(MPI_Get_count(&status, MPI_LONG, &count), MPI_SUCCESS);
    EQUAL(count, 4);
    EQUAL(MPI_File_read_at_all(fh, 4 * rank, back, 4, MPI_LONG, &status), MPI_SUCCESS);
    CHECK(memcmp(longs, back, sizeof back) == 0);
    /* The file ends in the middle. */
    memset(back, 0x55, sizeof back);
    EQUAL(MPI_File_read_at(fh, 4 * size - 2, back, 4, MPI_LONG, &status), MPI_SUCCESS);
    EQUAL(MPI_Get_count(&status, MPI_LONG, &count), MPI_SUCCESS);
    EQUAL(count, 2);
    CHECK(back[1] == 0x12345678 && back[2] == 0x5555555555555555);
    /* A strided view, whose places are those of the file. */
    MPI_Datatype every;
    MPI_Type_create_subarray(1, (int[]) { 2 * size }, (int[]) { 1 }, (int[]) { 2 * rank }, MPI_ORDER_C, MPI_LONG, &every);
    MPI_Type_commit(&every);
    EQUAL(MPI_File_set_view(fh, 0, MPI_LONG, every, "external32", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_get_byte_offset(fh, 1, &at), MPI_SUCCESS);
    EQUAL(at, (2 * size + 2 * rank) * 4);
    MPI_Type_free(&every);
    /* In a view of bytes, too, a status counts what is in memory, and pointers what is in the file. */
    EQUAL(MPI_File_set_view(fh, 16 * rank, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_write_all(fh, longs, 4, MPI_LONG, &status), MPI_SUCCESS);
    EQUAL(MPI_Get_count(&status, MPI_LONG, &count), MPI_SUCCESS);
    EQUAL(count, 4);
    EQUAL(MPI_File_get_position(fh, &at), MPI_SUCCESS);
    EQUAL(at, 16);
    MPI_Request request;
    EQUAL(MPI_File_iwrite_at(fh, 0, longs, 4, MPI_LONG, &request), MPI_SUCCESS);
    EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
    EQUAL(MPI_Get_elements(&status, MPI_LONG, &count), MPI_SUCCESS);
    EQUAL(count, 4);
    /* Bytes of the file: most significant first. */
    unsigned char raw[16], expected[16] = { 0, 0, 0, 1, 255, 255, 255, 254, 0, 0, 0, 3, 0x12, 0x34, 0x56, 0x78 };
    EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_read_at(fh, 0, raw, 16, MPI_BYTE, &status), MPI_SUCCESS);
    CHECK(memcmp(raw, expected, 16) == 0);
    /* A value that the representation does not have. */
    long large = 1L << 40;
    EQUAL(MPI_File_set_view(fh, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(class_of(MPI_File_write(fh, &large, 1, MPI_LONG, &status)), MPI_ERR_CONVERSION);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

static void registered(void)
{
    MPI_File fh;
    MPI_Status status;
    MPI_Request request;
    MPI_Aint bytes;
    int out[100], in[100], count;
    char name[MPI_MAX_DATAREP_STRING];
    MPI_Datatype etype, filetype;
    MPI_Offset disp;
    EQUAL(MPI_Register_datarep("eight", from_file, to_file, extent, &reads), MPI_SUCCESS);
    EQUAL(class_of(MPI_Register_datarep("eight", from_file, to_file, extent, &reads)), MPI_ERR_DUP_DATAREP);
    EQUAL(class_of(MPI_Register_datarep("native", from_file, to_file, extent, &reads)), MPI_ERR_DUP_DATAREP);
    EQUAL(MPI_Register_datarep("failing", fails, fails, extent, &reads), MPI_SUCCESS);
    EQUAL(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, &reads), MPI_SUCCESS);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "eight", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_get_view(fh, &disp, &etype, &filetype, name), MPI_SUCCESS);
    CHECK(strcmp(name, "eight") == 0);
    EQUAL(MPI_File_get_type_extent(fh, MPI_INT, &bytes), MPI_SUCCESS);
    EQUAL(bytes, 8);
    for (int i = 0; i < 100; i++)
        out[i] = rank * 1000 + i;
    EQUAL(MPI_File_write_at(fh, 100 * rank, out, 50, MPI_INT, &status), MPI_SUCCESS);
    EQUAL(MPI_File_iwrite_at(fh, 100 * rank + 50, out + 50, 50, MPI_INT, &request), MPI_SUCCESS);
    EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 50);
    CHECK(writes == 2);
    memset(in, 0, sizeof in);
    EQUAL(MPI_File_iread_at(fh, 100 * rank, in, 100, MPI_INT, &request), MPI_SUCCESS);
    EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 100);
    CHECK(reads == 1 && memcmp(in, out, sizeof in) == 0);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    memset(in, 0, sizeof in);
    EQUAL(MPI_File_read_at_all(fh, 100 * rank, in, 50, pair, &status), MPI_SUCCESS);
    CHECK(memcmp(in, out, sizeof in) == 0);
    MPI_Type_free(&pair);
    MPI_Offset all;
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_get_size(fh, &all), MPI_SUCCESS);
    EQUAL(all, 800 * size);
    EQUAL(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "failing", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(class_of(MPI_File_write(fh, out, 1, MPI_INT, &status)), MPI_ERR_CONVERSION);
    EQUAL(class_of(MPI_File_read_all(fh, in, 1, MPI_INT, &status)), MPI_ERR_CONVERSION);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int id = getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-datarep-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id);
    external();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        EQUAL(MPI_File_delete(path, MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    registered();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        EQUAL(MPI_File_delete(path, MPI_INFO_NULL), MPI_SUCCESS);
    return finish();
}
