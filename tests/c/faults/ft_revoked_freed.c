// A communicator is revoked whose handle a member has freed: what that one has under way on it ends, with the communicator's
// error handler.
//
// only: catena
// run: -n 2 --with-ft ulfm -- kept
// run: -n 2 --with-ft ulfm -- freed
// run: -n 2 --with-ft ulfm --set LINK=tcp -- freed
// run: -n 2 --with-ft ulfm -- started
// run: -n 2 --with-ft ulfm --set COLL_NODE=false -- started
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *mode = argc > 1 ? argv[1] : "";
    int x, y;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 0) {
        if (!strcmp(mode, "started"))
            MPI_Iallreduce(&rank, &y, 1, MPI_INT, MPI_SUM, comm, &request);
        else
            MPI_Irecv(&x, 1, MPI_INT, 1, 5, comm, &request);
        if (strcmp(mode, "kept"))
            MPI_Comm_free(&comm);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        EQUAL(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPIX_ERR_REVOKED);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    }
    return finish();
}
