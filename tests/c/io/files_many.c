// Many files at once in which members write together: there is no room for the exchange of all, and nobody is told so.
// run: -n 2
// run: -n 4
// memory: 4 GiB
// time: 60
#include "../check.h"

enum { FILES = 200, LEN = 4096 };

int main(int argc, char **argv)
{
    static MPI_File fh[FILES];
    static char bytes[LEN], read[LEN];
    char folder[] = "/tmp/catena-many-XXXXXX", path[100];
    start(&argc, &argv);
    if (rank == 0)
        CHECK(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
    memset(bytes, 'a' + rank, LEN);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &fh[i]),
              MPI_SUCCESS);
        EQUAL(MPI_File_write_at_all(fh[i], rank * LEN, bytes, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    for (int i = 0; i < FILES; i++) {
        int from = (rank + 1) % size;
        EQUAL(MPI_File_read_at_all(fh[i], from * LEN, read, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EQUAL(read[0], 'a' + from);
        EQUAL(read[LEN - 1], 'a' + from);
    }
    for (int i = 0; i < FILES; i++)
        EQUAL(MPI_File_close(&fh[i]), MPI_SUCCESS);
    MPI_Info_free(&info);
    if (rank == 0)
        CHECK(rmdir(folder) == 0);
    MPI_Finalize();
    return 0;
}
