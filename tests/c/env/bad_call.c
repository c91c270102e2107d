// The default error handler ends the job and says function, argument and value in words.
// run: -n 2 -- rank ; fails ; says MPI_Send.*\b7\b
// run: -n 2 -- tag ; fails ; says MPI_Send.*-3\b
// run: -n 2 -- count ; fails ; says MPI_Recv.*-4\b
// run: -n 2 -- type ; fails ; says MPI_Send.*MPI_DATATYPE_NULL
// run: -n 2 -- comm ; fails ; says MPI_Barrier.*MPI_COMM_NULL
// run: -n 2 -- root ; fails ; says MPI_Bcast.*\b12\b
// run: -n 2 -- buffer ; fails ; says MPI_Send.*(?i:null)
// run: -n 2 -- truncate ; fails ; says MPI_Recv.*\b40\b.*\b20\b|MPI_Recv.*\b20\b.*\b40\b
// run: -n 2 -- abort ; exit 42
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    int x[10] = {0};
    if (rank == 1) {
        if (!strcmp(what, "rank"))
            MPI_Send(x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
        if (!strcmp(what, "tag"))
            MPI_Send(x, 1, MPI_INT, 0, -3, MPI_COMM_WORLD);
        if (!strcmp(what, "count"))
            MPI_Recv(x, -4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(what, "type"))
            MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
        if (!strcmp(what, "comm"))
            MPI_Barrier(MPI_COMM_NULL);
        if (!strcmp(what, "root"))
            MPI_Bcast(x, 1, MPI_INT, 12, MPI_COMM_WORLD);
        if (!strcmp(what, "buffer"))
            MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (!strcmp(what, "truncate"))
            MPI_Recv(x, 5, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(what, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 42);
    } else if (!strcmp(what, "truncate")) {
        MPI_Send(x, 10, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* Reached only if the error went unnoticed. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
