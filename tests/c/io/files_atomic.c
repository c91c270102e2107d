// Atomic mode: whoever waits for bytes gets them, whatever was started behind, and also from those that make no call of MPI: those
// that have written, and the one that keeps who has which bytes.
// run: -n 2
// run: -n 2 --set LINK=tcp
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts
// run: -n 2 -- outside
// run: -n 2 --set LINK=tcp -- outside
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts -- outside
// hosts: 2
// only: catena
#include "../check.h"

enum { LEN = 100000, ROUNDS = 20 };

static char bytes[LEN], got[LEN];

/* Says something to the other ranks without MPI. */
static void say(const char *folder, const char *what)
{
    char path[150];
    snprintf(path, sizeof path, "%s/%s", folder, what);
    FILE *file = fopen(path, "w");
    CHECK(file && fclose(file) == 0);
}

/* Computes until the others have said it. */
static void hear(const char *folder, const char *what)
{
    char path[150];
    snprintf(path, sizeof path, "%s/%s", folder, what);
    while (access(path, F_OK) != 0)
        usleep(100);
}

/* The last rank writes, and calls MPI no more; then rank 0, which keeps who has which bytes; then all have written. */
static void outside(MPI_File fh, const char *folder)
{
    MPI_Request request;
    char name[20];
    if (rank == size - 1) {
        MPI_File_iwrite_at(fh, 0, bytes, LEN, MPI_CHAR, &request);
        say(folder, "started");
        hear(folder, "written0");
    } else {
        hear(folder, "started");
        EQUAL(MPI_File_write_at(fh, rank, bytes, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        snprintf(name, sizeof name, "written%d", rank);
        say(folder, name);
    }
    if (rank == 0)
        hear(folder, "last");
    if (rank == size - 1) {
        EQUAL(MPI_File_write_at(fh, 0, bytes, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        say(folder, "last");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const char *said[] = {"started", "last"};
        char path[150];
        for (int i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, said[i]);
            CHECK(remove(path) == 0);
        }
        for (int i = 0; i < size - 1; i++) {
            snprintf(path, sizeof path, "%s/written%d", folder, i);
            CHECK(remove(path) == 0);
        }
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/catena-atomic-XXXXXX", path[100];
    start(&argc, &argv);
    if (rank == 0)
        CHECK(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/file", folder);
    MPI_File fh;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &fh);
    EQUAL(MPI_File_set_atomicity(fh, 1), MPI_SUCCESS);
    memset(bytes, 'a' + rank, LEN);
    if (argc > 1) {
        outside(fh, folder);
        MPI_File_close(&fh);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            CHECK(rmdir(folder) == 0);
        MPI_Finalize();
        return 0;
    }
    /* Collective operations with ranges that are swapped. */
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request both[2];
        MPI_File_iwrite_at_all(fh, (MPI_Offset)LEN * rank, bytes, LEN, MPI_CHAR, &both[0]);
        MPI_File_iwrite_at_all(fh, (MPI_Offset)LEN * (1 - rank), bytes, LEN, MPI_CHAR, &both[1]);
        EQUAL(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    }
    MPI_File_read_at_all(fh, (MPI_Offset)LEN * rank, got, LEN, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int i = 0; i < LEN; i++)
        EQUAL(got[i], 'a' + 1 - rank);
    MPI_File_close(&fh);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(rmdir(folder) == 0);
    MPI_Finalize();
    return 0;
}
