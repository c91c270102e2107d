// The status of a job that goes on after deaths: that of the first death, or that of the survivors where it is asked for.
//
// only: catena
// run: -n 3 --with-ft ulfm; says 'rank 1 .*was killed by signal 9'; says 'rank 2 goes on'
// run: -n 3 --set FAULT_TOLERANCE=true; exit 137; says 'rank 1 .*was killed by signal 9'; says 'rank 2 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first; exit 137; says 'rank 2 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=survivors; says 'rank 1 .*was killed by signal 9'; says 'rank 2 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=survivors -- bad; exit 5; says 'rank 2 .*exited with code 5'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=survivors -- all; exit 137; says 'killed by signal 9'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=survivors -- abort; exit 6; says 'ended the job with code 6'
// run: -n 3 --set FAULT_STATUS=survivors; exit 137; never says 'goes on'
#include "../check.h"
#include <signal.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "well";
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 || !strcmp(how, "all"))
        raise(SIGKILL);
    CHECK(MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    if (!strcmp(how, "abort") && rank == 2)
        MPI_Abort(MPI_COMM_WORLD, 6);
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return !strcmp(how, "bad") && rank == 2 ? 5 : 0;
}
