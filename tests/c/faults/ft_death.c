// A rank that dies ends what waits for it, and nothing else, where the job is to go on.
//
// only: catena
// run: -n 4 --set FAULT_TOLERANCE=true; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'; says 'killed by signal 9'
// run: -n 4 --set FAULT_TOLERANCE=true -- exit; exit 3; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --set FAULT_TOLERANCE=true -- any; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 2 --set FAULT_TOLERANCE=true -- pair; exit 137; says 'survivor 0 done'
// run: -n 4; exit 137; never says 'survivor'; says 'rank 1 .*killed by signal 9'
#include "../check.h"
#include <signal.h>


int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "signal";
    MPI_Init(&argc, &argv);
    int word = 7, got = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        // What was sent before the death arrives.
        MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(how, "exit"))
            _exit(3);
        raise(SIGKILL);
    }
    if (rank == 0) {
        MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == 7);
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, !strcmp(how, "any") ? MPI_ANY_SOURCE : 1, 3, MPI_COMM_WORLD,
            &request);
        MPI_Send(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Status status;
        if (!strcmp(how, "any")) {
            // Another one may still send: the receive stays.
            CHECK(MPI_Wait(&request, &status) == MPIX_ERR_PROC_FAILED_PENDING);
            CHECK(request != MPI_REQUEST_NULL);
            CHECK(MPI_Cancel(&request) == MPI_SUCCESS);
        }
        int failed = MPI_Wait(&request, &status);
        CHECK(failed == (strcmp(how, "any") ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS));
        // Known from now on: nothing waits.
        CHECK(MPI_Send(&word, 1, MPI_INT, 1, 4, MPI_COMM_WORLD) == MPIX_ERR_PROC_FAILED);
    } else {
        CHECK(MPI_Recv(&got, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            == MPIX_ERR_PROC_FAILED);
    }
    // The others go on with each other, in a ring of those that are left.
    if (size > 2) {
        int to = rank == 0 ? 2 : (rank + 1) % size, from = rank == 2 ? 0 : (rank + size - 1) % size;
        CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 5, &got, 1, MPI_INT, from, 5, MPI_COMM_WORLD,
            MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(got == from);
    }
    printf("survivor %d done\n", rank);
    fflush(stdout);
    // MPI_Finalize is collective over the dead, too: it says so and ends.
    MPI_Finalize();
    return 0;
}
