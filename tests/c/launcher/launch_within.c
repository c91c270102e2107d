// A rank that runs another launcher: what that starts is no rank of this job, although it inherits the variables.
// run: -n 2
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    if (argc < 2) {
        /* As the mpiexec of another MPI does for a job of one process. */
        setenv("PMI_FD", "99", 1);
        setenv("PMI_RANK", "0", 1);
        setenv("PMI_SIZE", "1", 1);
        execl(argv[0], argv[0], "within", (char *)NULL);
        return 1;
    }
    start(&argc, &argv);
    EQUAL(size, 1);
    EQUAL(rank, 0);
    MPI_Finalize();
    return 0;
}
