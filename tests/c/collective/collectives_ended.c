// A rank that has finalized while others call collectives is the first that is named, and the others by the calls of the program.
// only: catena
// waits: until a call counts as one that nobody answers
// run: -n 2 -- barrier ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_Barrier
// run: -n 2 -- broadcast ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_Bcast with root 0
// run: -n 2 -- sum ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_Allreduce with MPI_SUM
// run: -n 2 -- window ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_Win_create
// run: -n 2 -- file ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_File_open
// run: -n 2 -- sum before ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_Allreduce with MPI_SUM
// run: -n 3 -- sum ; fails ; says rank 2 called MPI_Finalize, and ranks 0 and 1 called MPI_Allreduce with MPI_SUM
// run: -n 3 -- window ; fails ; says rank 2 called MPI_Finalize, and ranks 0 and 1 called MPI_Win_create
// run: -n 3 -- file ; fails ; says rank 2 called MPI_Finalize, and ranks 0 and 1 called MPI_File_open
// run: -n 4 -- sum before ; fails ; says rank 3 called MPI_Finalize, and ranks 0 to 2 called MPI_Allreduce with MPI_SUM
// run: --set LINK=tcp -n 2 -- sum ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_Allreduce with MPI_SUM
// run: --set LINK=tcp -n 2 -- file ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_File_open
// run: --set LINK=tcp -n 3 -- window ; fails ; says rank 2 called MPI_Finalize, and ranks 0 and 1 called MPI_Win_create
#include "../check.h"
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, number = 0, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argv[1];
    if (argc > 2)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        return MPI_Finalize();
    if (!strcmp(what, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "broadcast"))
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!strcmp(what, "sum"))
        MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(what, "window")) {
        MPI_Win win;
        MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    if (!strcmp(what, "file")) {
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    }
    puts("not told");
    return MPI_Finalize();
}
