// Collective calls on files that do not block: several at once, with other calls of all kinds in between, split ones too.
// run: -n 2 -x CB=enable
// run: -n 4 -x CB=enable -x CB_SIZE=70000
// run: -n 4 -x CB=disable
// run: -n 3
// run: -n 1
// only: catena
// time: 120
//
// variant: files_started_hosts
// hosts: 2
// time: 120
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts -x CB=enable
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
#include "../check.h"
#include <stdlib.h>
#include <unistd.h>

enum { N = 10000, CALLS = 5 };

static MPI_File fh, other;
static int *out[CALLS], *in[CALLS];

/* What element i of a rank's call holds. */
static int value(int who, int call, int i)
{
    return (call * size + who) * N + i;
}

static void view(MPI_File file)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint) sizeof(int), &type);
    MPI_Type_commit(&type);
    EQUAL(MPI_File_set_view(file, rank * (MPI_Offset) sizeof(int), MPI_INT, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&type);
}

static void counts(const MPI_Status *status, int expected)
{
    int n;
    MPI_Get_count(status, MPI_INT, &n);
    EQUAL(n, expected);
}

/* All start several; the last ones wait for nothing of what other ranks wait for. */
static void many(void)
{
    MPI_Request requests[CALLS + 1];
    MPI_Status statuses[CALLS + 1];
    for (int call = 0; call < CALLS; call++)
        EQUAL(call % 2 ? MPI_File_iwrite_all(fh, out[call], N, MPI_INT, &requests[call])
                       : MPI_File_iwrite_at_all(fh, call * (MPI_Offset) N, out[call], N, MPI_INT, &requests[call]),
              MPI_SUCCESS);
    EQUAL(MPI_File_iwrite_at_all_c(other, 0, out[0], N, MPI_INT, &requests[CALLS]), MPI_SUCCESS);
    int sum, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(sum, size);
    /* A call that blocks comes behind them. */
    int last = rank, seen = -1;
    EQUAL(MPI_File_write_at_all(fh, CALLS * (MPI_Offset) N, &last, 1, MPI_INT, &statuses[0]), MPI_SUCCESS);
    for (int k = CALLS; k >= 0; k--) {
        EQUAL(MPI_Wait(&requests[k], &statuses[k]), MPI_SUCCESS);
        counts(&statuses[k], N);
    }
    EQUAL(MPI_File_seek(fh, N, MPI_SEEK_SET), MPI_SUCCESS);
    for (int call = 0; call < CALLS; call++)
        memset(in[call], 0xee, N * sizeof(int));
    MPI_Request rest[CALLS + 1];
    EQUAL(MPI_File_iread_all(fh, in[1], N, MPI_INT, &rest[1]), MPI_SUCCESS);
    for (int call = 0; call < CALLS; call++)
        if (call != 1)
            EQUAL(MPI_File_iread_at_all(fh, call * (MPI_Offset) N, in[call], N, MPI_INT, &rest[call]), MPI_SUCCESS);
    EQUAL(MPI_File_iread_at_all(fh, CALLS * (MPI_Offset) N, &seen, 1, MPI_INT, &rest[CALLS]), MPI_SUCCESS);
    int all = 0;
    while (!all)
        MPI_Testall(CALLS + 1, rest, &all, MPI_STATUSES_IGNORE);
    EQUAL(seen, rank);
    /* Later calls wrote over what earlier ones had written: 1 and 3 at the pointer, which began at 0. */
    static const int last_one[CALLS] = {1, 3, 2, -1, 4};
    for (int call = 0; call < CALLS; call++)
        for (int i = 0; i < N && last_one[call] >= 0; i++)
            CHECK(in[call][i] == value(rank, last_one[call], i));
}

/* One that has begun waits for nobody: a rank begins, and only then another one hears of it and begins, too. */
static void apart(void)
{
    MPI_Status status;
    MPI_Request request;
    int token = 7;
    for (int split = 0; split < 2; split++) {
        if (rank != size - 1)
            MPI_Recv(&token, 1, MPI_INT, rank + 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (split)
            EQUAL(MPI_File_write_at_all_begin(fh, 0, out[2], N, MPI_INT), MPI_SUCCESS);
        else
            EQUAL(MPI_File_iwrite_at_all(fh, 0, out[1], N, MPI_INT, &request), MPI_SUCCESS);
        if (rank)
            MPI_Send(&token, 1, MPI_INT, rank - 1, 5, MPI_COMM_WORLD);
        /* Others may be waited for before it is ended. */
        MPI_Barrier(MPI_COMM_WORLD);
        EQUAL(MPI_File_write_at_all(other, 0, out[3], N, MPI_INT, &status), MPI_SUCCESS);
        if (split)
            EQUAL(MPI_File_write_at_all_end(fh, out[2], &status), MPI_SUCCESS);
        else
            EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
        counts(&status, N);
        EQUAL(MPI_File_read_at_all_begin(fh, 0, in[0], N, MPI_INT), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        EQUAL(MPI_File_read_at_all_end(fh, in[0], &status), MPI_SUCCESS);
        CHECK(memcmp(in[0], out[1 + split], N * sizeof(int)) == 0);
    }
}

/* The disk is full, and a member's arguments are bad: all who complete are told. */
static void wrong(const char *path, MPI_Info hints)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int code = MPI_File_iwrite_at_all(fh, rank ? 0 : -1, out[0], N, MPI_INT, &request);
    EQUAL(class_of(rank ? MPI_Wait(&request, &status) : code), MPI_ERR_ARG);
    code = MPI_File_write_at_all_begin(fh, rank ? 0 : -1, out[0], N, MPI_INT);
    EQUAL(class_of(rank ? MPI_File_write_at_all_end(fh, out[0], &status) : code), MPI_ERR_ARG);
    /* Nothing was moved, and nothing is left of it. */
    EQUAL(MPI_File_read_at_all(fh, 0, in[0], N, MPI_INT, &status), MPI_SUCCESS);
    CHECK(memcmp(in[0], out[2], N * sizeof(int)) == 0);
    MPI_Info info;
    MPI_Info_dup(hints, &info);
    MPI_Info_set(info, "catena_io_faults", "enospc=20003");
    EQUAL(MPI_File_close(&other), MPI_SUCCESS);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &other), MPI_SUCCESS);
    view(other);
    EQUAL(MPI_File_iwrite_all(other, out[0], N, MPI_INT, &request), MPI_SUCCESS);
    EQUAL(class_of(MPI_Wait(&request, &status)), MPI_ERR_NO_SPACE);
    MPI_Info_free(&info);
}

static void hint(MPI_Info info, const char *key, const char *name)
{
    if (getenv(name))
        MPI_Info_set(info, key, getenv(name));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *folder = getenv("TMPDIR");
    char path[256], path2[260];
    int id = getpid();
    MPI_Info hints;
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-started-%d", folder ? folder : "/tmp", id);
    snprintf(path2, sizeof path2, "%s-2", path);
    MPI_Info_create(&hints);
    hint(hints, "romio_cb_write", "CB");
    hint(hints, "romio_cb_read", "CB");
    hint(hints, "cb_buffer_size", "CB_SIZE");
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, mode, hints, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path2, mode, hints, &other), MPI_SUCCESS);
    for (int call = 0; call < CALLS; call++) {
        out[call] = malloc(N * sizeof(int));
        in[call] = malloc(N * sizeof(int));
        for (int i = 0; i < N; i++)
            out[call][i] = value(rank, call, i);
    }
    view(fh);
    view(other);
    many();
    apart();
    wrong(path2, hints);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    EQUAL(MPI_File_close(&other), MPI_SUCCESS);
    MPI_Info_free(&hints);
    if (rank == 0) {
        EQUAL(MPI_File_delete(path, MPI_INFO_NULL), MPI_SUCCESS);
        EQUAL(MPI_File_delete(path2, MPI_INFO_NULL), MPI_SUCCESS);
    }
    for (int call = 0; call < CALLS; call++) {
        free(out[call]);
        free(in[call]);
    }
    return finish();
}
