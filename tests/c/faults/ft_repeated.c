// A program that repeats a collective which a death makes fail hears of the revocation.
//
// only: catena
// run: -n 3 --set FAULT_TOLERANCE=true; exit 137; says 'rank 0 knows'
// run: -n 3 --set FAULT_TOLERANCE=true -- started; exit 137; says 'rank 0 knows'
// run: -n 3 --set FAULT_TOLERANCE=true --set COLL_NODE=false; exit 137; says 'rank 0 knows'
// run: -n 3 --set FAULT_TOLERANCE=true --set COLL_NODE=false -- started; exit 137; says 'rank 0 knows'
// run: -n 3 --set FAULT_TOLERANCE=true -x CATENA_LINK=tcp; exit 137; says 'rank 0 knows'
#include "../check.h"
#include <signal.h>

static int barrier(MPI_Comm comm, int is_started)
{
    MPI_Request request;
    if (!is_started)
        return class_of(MPI_Barrier(comm));
    int code = MPI_Ibarrier(comm, &request);
    return class_of(code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int is_started = argc > 1, code;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    EQUAL(barrier(comm, is_started), MPI_SUCCESS);
    if (rank == 2)
        raise(SIGKILL);
    EQUAL(barrier(comm, is_started), MPIX_ERR_PROC_FAILED);
    if (rank == 1) {
        /* Rank 0 repeats it by now, or will. */
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPIX_Comm_revoke(comm);
    } else {
        MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
        while ((code = barrier(comm, is_started)) == MPIX_ERR_PROC_FAILED)
            ;
        EQUAL(code, MPIX_ERR_REVOKED);
        printf("rank 0 knows\n");
    }
    MPI_Finalize();
    return 0;
}
