// What a collective call on a file has failed with is told when the file is closed, if the program has thrown it away.
// only: catena
// run: -n 3 -- missing ; fails ; says a collective call on file '.*' failed, and the program has not asked why: MPI_File_(close|write_all): .*rank 2 called MPI_File_close, and ranks 0 and 1 called MPI_File_write_all
// run: --set LINK=tcp -n 3 -- missing ; fails ; says failed, and the program has not asked why: MPI_File_
// run: -n 2 -- full ; says catena: a collective call on file '/dev/full' failed, and the program has not asked why: MPI_File_write_all: ; says done
// run: -n 2 -- asked ; never says has not asked why ; says done
// run: -n 2 -- alone ; never says has not asked why ; says done
// run: --check -n 3 -- missing ; fails ; says failed, and the program has not asked why: MPI_File_
// run: --check -n 2 -- full ; says catena: a collective call on file '/dev/full' failed, and the program has not asked why: MPI_File_write_all ; says done
// run: --check -n 2 -- asked ; never says has not asked why ; says done
// run: -n 2 -- open ; says catena: a collective call on file '/dev/full' failed ; says done
#include "../check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    char path[64] = "/dev/full", text[MPI_MAX_ERROR_STRING];
    int x[1024] = {0}, n;
    MPI_File file;
    start(&argc, &argv);
    const char *mode = argv[1];
    int mine = !strcmp(mode, "missing");
    if (mine && rank == 0)
        snprintf(path, sizeof path, "/tmp/catena-unseen-%d", (int)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    int how = mine ? MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE : MPI_MODE_WRONLY;
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, how, MPI_INFO_NULL, &file), MPI_SUCCESS);
    int code = MPI_SUCCESS;
    if (!strcmp(mode, "alone"))
        /* Not collective: programs try such calls. */
        code = MPI_File_write(file, x, 1024, MPI_INT, MPI_STATUS_IGNORE);
    else if (!mine || rank < 2)
        code = MPI_File_write_all(file, x, 1024, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(code != MPI_SUCCESS || mine);
    if (!strcmp(mode, "asked"))
        MPI_Error_string(code, text, &n);
    if (strcmp(mode, "open"))
        MPI_File_close(&file);
    if (rank == 0)
        puts("done");
    if (mine && rank == 0)
        unlink(path);
    MPI_Finalize();
    return 0;
}
