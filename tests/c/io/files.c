// Files: every way to read and write, views, pointers, status counts, hints, size, atomic mode.
// run: -n 1
// run: -n 3
// run: -n 3 -x CATENA_LINK=tcp
// run: -n 4 -x TEST_FAULTS=short=7,eintr
#include "../check.h"
#include <stdlib.h>
#include <unistd.h>

#define N 1000


static char path[256];
static MPI_Info hints = MPI_INFO_NULL;

static MPI_File opened(int amode)
{
    MPI_File fh;
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, amode, hints, &fh), MPI_SUCCESS);
    return fh;
}

static void count_is(MPI_Status *status, MPI_Datatype type, int expected)
{
    int count;
    EQUAL(MPI_Get_count(status, type, &count), MPI_SUCCESS);
    EQUAL(count, expected);
}

static void offsets(void)
{
    MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Offset bytes;
    int out[N], in[N];
    EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        out[i] = rank * N + i;
    MPI_Offset at = rank * (MPI_Offset) sizeof out;
    EQUAL(MPI_File_write_at(fh, at, out, N, MPI_INT, &status), MPI_SUCCESS);
    count_is(&status, MPI_INT, N);
    EQUAL(MPI_File_sync(fh), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_get_size(fh, &bytes), MPI_SUCCESS);
    EQUAL(bytes, size * (MPI_Offset) sizeof out);
    int other = (rank + 1) % size;
    EQUAL(MPI_File_read_at_c(fh, other * (MPI_Offset) sizeof out, in, N, MPI_INT, &status), MPI_SUCCESS);
    count_is(&status, MPI_INT, N);
    for (int i = 0; i < N; i++)
        EQUAL(in[i], other * N + i);
    // The file ends within what is asked for, and before it.
    at = bytes - 3 * (MPI_Offset) sizeof *in;
    EQUAL(MPI_File_read_at(fh, at, in, N, MPI_INT, &status), MPI_SUCCESS);
    count_is(&status, MPI_INT, 3);
    EQUAL(MPI_File_read_at_all(fh, bytes + 5, in, N, MPI_INT, &status), MPI_SUCCESS);
    count_is(&status, MPI_INT, 0);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    CHECK(fh == MPI_FILE_NULL);
}

/* Every rank sees every size-th int, by all forms of the calls. */
static void views(void)
{
    MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype part, strided;
    MPI_Request request[2];
    MPI_Status status;
    MPI_Offset at;
    int out[4 * N], in[4 * N];
    EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
    MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint) sizeof(int), &part);
    MPI_Type_commit(&part);
    EQUAL(MPI_File_set_view(fh, 8 + rank * (MPI_Offset) sizeof(int), MPI_INT, part, "native", MPI_INFO_NULL),
          MPI_SUCCESS);
    MPI_Type_vector(N, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    for (int i = 0; i < 4 * N; i++)
        out[i] = rank * 100000 + i;
    EQUAL(MPI_File_write(fh, out, N, MPI_INT, &status), MPI_SUCCESS);
    count_is(&status, MPI_INT, N);
    EQUAL(MPI_File_write_all(fh, out + N, N, MPI_INT, &status), MPI_SUCCESS);
    count_is(&status, MPI_INT, N);
    EQUAL(MPI_File_get_position(fh, &at), MPI_SUCCESS);
    EQUAL(at, 2 * N);
    EQUAL(MPI_File_iwrite(fh, out + 2 * N, N, MPI_INT, &request[0]), MPI_SUCCESS);
    EQUAL(MPI_File_iwrite_at_all(fh, 3 * N, out + 3 * N, N, MPI_INT, &request[1]), MPI_SUCCESS);
    EQUAL(MPI_Wait(&request[0], &status), MPI_SUCCESS);
    count_is(&status, MPI_INT, N);
    EQUAL(MPI_Wait(&request[1], &status), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_get_byte_offset(fh, 10, &at), MPI_SUCCESS);
    EQUAL(at, 8 + (10 * size + rank) * (MPI_Offset) sizeof(int));

    EQUAL(MPI_File_seek(fh, -N, MPI_SEEK_CUR), MPI_SUCCESS);
    memset(in, -1, sizeof in);
    EQUAL(MPI_File_read_all(fh, in, 1, strided, &status), MPI_SUCCESS);
    count_is(&status, strided, 1);
    for (int i = 0; i < N; i++)
        EQUAL(in[2 * i], out[2 * N + i]);
    EQUAL(in[1], -1);
    EQUAL(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_SUCCESS);
    EQUAL(MPI_File_read_at_all_begin(fh, 0, in, 4 * N, MPI_INT), MPI_SUCCESS);
    EQUAL(MPI_File_read_at_all_end(fh, in, &status), MPI_SUCCESS);
    count_is(&status, MPI_INT, 4 * N);
    CHECK(memcmp(in, out, sizeof in) == 0);
    memset(in, 0, sizeof in);
    EQUAL(MPI_File_iread(fh, in, 4 * N, MPI_INT, &request[0]), MPI_SUCCESS);
    EQUAL(MPI_Wait(&request[0], &status), MPI_SUCCESS);
    CHECK(memcmp(in, out, sizeof in) == 0);
    EQUAL(MPI_File_seek(fh, 0, MPI_SEEK_END), MPI_SUCCESS);
    EQUAL(MPI_File_get_position(fh, &at), MPI_SUCCESS);
    EQUAL(at, 4 * N);

    // All of it in the order of the file.
    EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EQUAL(MPI_File_read_at(fh, 8, in, 2 * size, MPI_INT, &status), MPI_SUCCESS);
    for (int i = 0; i < 2 * size; i++)
        EQUAL(in[i], i % size * 100000 + i / size);
    MPI_Type_free(&part);
    MPI_Type_free(&strided);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

static void shared_pointers(void)
{
    MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Offset at;
    MPI_Status status;
    MPI_Request request;
    int in[2], times = 50, *seen = calloc(size, sizeof *seen);
    EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
    EQUAL(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    for (int i = 0; i < times; i++) {
        int record[2] = { rank, i };
        if (i % 2)
            EQUAL(MPI_File_write_shared(fh, record, 2, MPI_INT, &status), MPI_SUCCESS);
        else {
            EQUAL(MPI_File_iwrite_shared(fh, record, 2, MPI_INT, &request), MPI_SUCCESS);
            EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
        }
        count_is(&status, MPI_INT, 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_get_position_shared(fh, &at), MPI_SUCCESS);
    EQUAL(at, 2 * times * size);
    // Each record is there once, those of a rank in their order.
    for (int i = 0; i < times * size; i++) {
        EQUAL(MPI_File_read_at(fh, 2 * i, in, 2, MPI_INT, &status), MPI_SUCCESS);
        EQUAL(in[1], seen[in[0]]++);
    }
    // In the order of ranks, each with another length.
    int mine[64];
    for (int i = 0; i <= rank; i++)
        mine[i] = rank;
    EQUAL(MPI_File_seek_shared(fh, 1, MPI_SEEK_SET), MPI_SUCCESS);
    EQUAL(MPI_File_write_ordered(fh, mine, rank + 1, MPI_INT, &status), MPI_SUCCESS);
    EQUAL(MPI_File_write_ordered_begin(fh, mine, 1, MPI_INT), MPI_SUCCESS);
    EQUAL(MPI_File_write_ordered_end(fh, mine, &status), MPI_SUCCESS);
    EQUAL(MPI_File_get_position_shared(fh, &at), MPI_SUCCESS);
    EQUAL(at, 1 + size * (size + 1) / 2 + size);
    EQUAL(MPI_File_read_at(fh, 1, mine, size * (size + 1) / 2 + size, MPI_INT, &status), MPI_SUCCESS);
    int place = 0;
    for (int r = 0; r < size; r++)
        for (int i = 0; i <= r; i++)
            EQUAL(mine[place++], r);
    for (int r = 0; r < size; r++)
        EQUAL(mine[place++], r);
    EQUAL(MPI_File_seek_shared(fh, 1, MPI_SEEK_SET), MPI_SUCCESS);
    EQUAL(MPI_File_read_ordered(fh, mine, rank + 1, MPI_INT, &status), MPI_SUCCESS);
    for (int i = 0; i <= rank; i++)
        EQUAL(mine[i], rank);
    free(seen);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
}

static void facts(void)
{
    MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE), other;
    MPI_Offset bytes, disp;
    MPI_Datatype etype, filetype;
    MPI_Group group;
    MPI_Info info;
    MPI_Aint extent;
    char name[MPI_MAX_DATAREP_STRING], value[64];
    int n, flag, length = sizeof value;
    EQUAL(MPI_File_set_size(fh, 100), MPI_SUCCESS);
    EQUAL(MPI_File_preallocate(fh, 50), MPI_SUCCESS);
    EQUAL(MPI_File_get_size(fh, &bytes), MPI_SUCCESS);
    EQUAL(bytes, 100);
    EQUAL(MPI_File_preallocate(fh, 5000), MPI_SUCCESS);
    EQUAL(MPI_File_get_size(fh, &bytes), MPI_SUCCESS);
    EQUAL(bytes, 5000);
    EQUAL(MPI_File_get_group(fh, &group), MPI_SUCCESS);
    MPI_Group_size(group, &n);
    EQUAL(n, size);
    MPI_Group_free(&group);
    EQUAL(MPI_File_get_amode(fh, &n), MPI_SUCCESS);
    EQUAL(n, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    EQUAL(MPI_File_get_info(fh, &info), MPI_SUCCESS);
    EQUAL(MPI_Info_get_string(info, "romio_visibility_immediate", &length, value, &flag), MPI_SUCCESS);
    CHECK(flag && strcmp(value, "true") == 0);
    MPI_Info_free(&info);
    EQUAL(MPI_File_get_view(fh, &disp, &etype, &filetype, name), MPI_SUCCESS);
    CHECK(disp == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(name, "native") == 0);
    EQUAL(MPI_File_get_type_extent(fh, MPI_DOUBLE, &extent), MPI_SUCCESS);
    EQUAL(extent, sizeof(double));
#ifdef MPI_ABI_VERSION
    other = MPI_File_fromint(MPI_File_toint(fh));
#else // headers of older interfaces know the names of MPI-2 alone
    other = MPI_File_f2c(MPI_File_c2f(fh));
#endif
    CHECK(other == fh);
    EQUAL(MPI_File_get_atomicity(fh, &flag), MPI_SUCCESS);
    CHECK(!flag);
    // Nobody sees a part of what another one writes.
    EQUAL(MPI_File_set_atomicity(fh, 1), MPI_SUCCESS);
    int block[N];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++)
            block[i] = rank * 1000 + round;
        EQUAL(MPI_File_write_at(fh, 0, block, N, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EQUAL(MPI_File_read_at(fh, 0, block, N, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
        for (int i = 1; i < N; i++)
            EQUAL(block[i], block[0]);
    }
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(path, F_OK) != 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *folder = getenv("TMPDIR"), *faults = getenv("TEST_FAULTS");
    int id = getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-%d", folder ? folder : "/tmp", id);
    if (faults) {
        MPI_Info_create(&hints);
        MPI_Info_set(hints, "catena_io_faults", faults);
    }
    offsets();
    views();
    shared_pointers();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        EQUAL(MPI_File_delete(path, MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    facts();
    if (hints != MPI_INFO_NULL)
        MPI_Info_free(&hints);
    return finish();
}
