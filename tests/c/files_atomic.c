// Atomic mode: whoever waits for bytes gets them, whatever was started behind, and whatever those who had them do next.
// run: -n 2
// run: -n 2 --set LINK=tcp
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts
// hosts: 2
// only: catena
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { LEN = 100000, ROUNDS = 20 };

static char bytes[LEN], got[LEN];

int main(int argc, char **argv)
{
    char folder[] = "/tmp/catena-atomic-XXXXXX", path[100], pipe[100];
    start(&argc, &argv);
    if (rank == 0)
        CHECK(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    if (rank == 0)
        CHECK(mkfifo(pipe, 0600) == 0);
    MPI_File fh;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &fh);
    EQUAL(MPI_File_set_atomicity(fh, 1), MPI_SUCCESS);
    memset(bytes, 'a' + rank, LEN);
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
    MPI_Barrier(MPI_COMM_WORLD);
    /* A member that has written stays outside of MPI until the other one has written the same. */
    char byte = 0;
    if (rank == 0) {
        EQUAL(MPI_File_write_at(fh, 0, bytes, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        int end = open(pipe, O_RDONLY);
        CHECK(end >= 0 && read(end, &byte, 1) == 1);
        close(end);
    } else {
        EQUAL(MPI_File_write_at(fh, 0, bytes, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        int end = open(pipe, O_WRONLY);
        CHECK(end >= 0 && write(end, &byte, 1) == 1);
        close(end);
    }
    MPI_File_close(&fh);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(remove(pipe) == 0 && rmdir(folder) == 0);
    MPI_Finalize();
    return 0;
}
