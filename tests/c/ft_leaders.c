// MPI_Intercomm_create of a group with a dead member, whose other group shares no communicator with that one: it fails at all, and
// nothing of it is left that a later call between the same leaders could take for its own.
//
// only: catena
// time: 15
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors --set LINK=tcp
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- late
#include "check.h"
#include <mpi-ext.h>
#include <signal.h>

int main(int argc, char **argv)
{
    MPI_Comm half, leaders, inter, left;
    int one = 1, sum = 0, code;
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* Ranks 0, 1 and 2, and rank 3; 0 and 3 lead. */
    MPI_Comm_split(MPI_COMM_WORLD, rank == 3, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    if (leaders != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(leaders, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        raise(SIGKILL);
    int other = rank == 3 ? 0 : 1;
    for (int round = 0; round < 3; round++) {
        if (argc > 1 && rank == 3) {
            /* The others have failed before. */
            int word;
            EQUAL(MPI_Recv(&word, 1, MPI_INT, 0, 5, leaders, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        code = MPI_Intercomm_create(half, 0, leaders, other, 7, &inter);
        EQUAL(class_of(code), MPIX_ERR_PROC_FAILED);
        if (argc > 1 && rank == 0)
            MPI_Send(&round, 1, MPI_INT, 1, 5, leaders);
        /* Whether to try again. */
        int flag = 1;
        if (leaders != MPI_COMM_NULL)
            EQUAL(MPIX_Comm_agree(leaders, &flag), MPI_SUCCESS);
    }
    EQUAL(MPIX_Comm_shrink(half, &left), MPI_SUCCESS);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    for (int round = 0; round < 3; round++) {
        int others = 0;
        EQUAL(MPI_Intercomm_create(left, 0, leaders, other, 7, &inter), MPI_SUCCESS);
        MPI_Comm_remote_size(inter, &others);
        EQUAL(others, rank == 3 ? 2 : 1);
        EQUAL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
        EQUAL(sum, others);
        MPI_Comm_free(&inter);
    }
    if (leaders != MPI_COMM_NULL)
        MPI_Comm_free(&leaders);
    MPI_Comm_free(&half);
    MPI_Comm_free(&left);
    MPI_Finalize();
    return 0;
}
