// What the system says only when a file is closed, all members are told: a quota may be used up, or the connection to a server gone.
// preload: close_fails
// run: -n 3
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *names[] = {"/tmp/catena-full-XXXXXX", "/tmp/catena-one-XXXXXX", "/tmp/catena-good-XXXXXX"};
    for (int i = 0; i < 3; i++) {
        char path[40];
        MPI_File fh;
        strcpy(path, names[i]);
        if (rank == 0)
            CHECK(mkstemp(path) >= 0);
        MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
        EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_SUCCESS);
        EQUAL(MPI_File_write_at(fh, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EQUAL(class_of(MPI_File_close(&fh)), i == 2 ? MPI_SUCCESS : MPI_ERR_QUOTA);
        CHECK(fh == MPI_FILE_NULL);
        /* What was only read is not lost. */
        EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_SUCCESS);
        EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            CHECK(unlink(path) == 0);
    }
    MPI_Finalize();
    return 0;
}
