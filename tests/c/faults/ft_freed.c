// A receive that is pending when its communicator is freed still fails by the error handler of that, and not by the one of
// MPI_COMM_WORLD, which ends the job.
//
// only: catena
// run: -n 2 --with-ft ulfm; says 'rank 0 goes on'; says 'rank 1 goes on'
// run: -n 3 --with-ft ulfm --set LINK=tcp; says 'rank 0 goes on'; says 'rank 2 goes on'
#include "../check.h"
#include <mpi-ext.h>

enum { TURNS = 50 };

static int called;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    called = *code;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Comm comm;
        MPI_Request early, late;
        int flag, word;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, turn % 2 ? own : MPI_ERRORS_RETURN);
        EQUAL(MPI_Irecv(&word, 1, MPI_INT, (rank + 1) % size, 1, comm, &early), MPI_SUCCESS);
        EQUAL(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &late), MPI_SUCCESS);
        MPIX_Comm_revoke(comm);
        called = 0;
        EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
        EQUAL(MPI_Test(&early, &flag, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
        EQUAL(called, turn % 2 ? MPIX_ERR_REVOKED : 0);
        EQUAL(MPI_Wait(&late, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("rank %d goes on\n", rank);
    MPI_Errhandler_free(&own);
    return finish();
}
