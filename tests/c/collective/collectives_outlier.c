// Of three members or more the one that differs from most comes first in what is told, by the name of the call that it has made.
// only: catena
// waits: until a call counts as one that nobody answers
// run: -n 4 -- barrier ; fails ; says rank 2 called MPI_Barrier, and ranks 0, 1 and 3 called MPI_Bcast with root 0
// run: --set LINK=tcp -n 4 -- barrier ; fails ; says rank 2 called MPI_Barrier, and ranks 0, 1 and 3 called MPI_Bcast with root 0
// run: -n 5 -- reduce ; fails ; says rank 0 called MPI_Allreduce with MPI_SUM, and ranks 1 to 4 called MPI_Barrier
// run: -n 4 -- count ; fails ; says differ: rank 2 passed 8 bytes, and ranks 0, 1 and 3 4
// run: --set LINK=tcp -n 4 -- count ; fails ; says differ: rank 2 passed 8 bytes, and ranks 0, 1 and 3 4
// run: -n 4 -- operation ; fails ; says rank 2 called MPI_Allreduce with MPI_MAX, and ranks 0, 1 and 3 called MPI_Allreduce with MPI_SUM
// run: --set LINK=tcp -n 3 -- operation ; fails ; says rank 2 called MPI_Allreduce with MPI_MAX, and ranks 0 and 1 called MPI_Allreduce with MPI_SUM
// run: -n 4 -- started ; fails ; says rank 2 called MPI_Bcast with root 1, and ranks 0, 1 and 3 called MPI_Bcast with root 0
// run: -n 4 -- finalize ; fails ; says rank 2 called MPI_Finalize, and ranks 0, 1 and 3 called MPI_Barrier
// run: --set LINK=tcp -n 4 -- finalize ; fails ; says rank 2 called MPI_Finalize, and ranks 0, 1 and 3 called MPI_Barrier
// run: -n 3 -- file ; fails ; says rank 2 called MPI_File_close, and ranks 0 and 1 called MPI_File_write_all
// run: -n 2 -- file2 ; fails ; says rank [01] called MPI_File_(close|write_all), and rank [01] called MPI_File_(close|write_all)
#include "../check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *what = argv[1];
    int odd = rank == 2, x[8] = {0}, y[8];
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    if (!strcmp(what, "barrier")) {
        odd ? MPI_Barrier(world) : MPI_Bcast(x, 1, MPI_INT, 0, world);
    } else if (!strcmp(what, "reduce")) {
        rank == 0 ? MPI_Allreduce(x, y, 1, MPI_INT, MPI_SUM, world) : MPI_Barrier(world);
    } else if (!strcmp(what, "count")) {
        MPI_Allreduce(x, y, 1 + odd, MPI_INT, MPI_SUM, world);
    } else if (!strcmp(what, "operation")) {
        MPI_Allreduce(x, y, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, world);
    } else if (!strcmp(what, "started")) {
        MPI_Ibcast(x, 1, MPI_INT, odd, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "finalize")) {
        if (!odd)
            MPI_Barrier(world);
    } else {
        char path[64] = "";
        MPI_File file;
        if (rank == 0)
            snprintf(path, sizeof path, "/tmp/catena-outlier-%d", (int)getpid());
        MPI_Bcast(path, sizeof path, MPI_CHAR, 0, world);
        MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_Barrier(world);
        if (rank == 0)
            unlink(path);
        MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
        if (odd || (rank == 1 && what[4]))
            MPI_File_close(&file);
        else
            MPI_File_write_all(file, x, 8, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(world);
    return finish();
}
