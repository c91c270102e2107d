// Nobody reads what the library says on stderr any more, and the program ignores SIGPIPE: it goes on.
//
// only: catena
// run: -n 2
#include "../check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int ends[2], saved = dup(2), sum;
    CHECK(saved >= 0 && pipe(ends) == 0);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
    CHECK(dup2(ends[1], 2) == 2);
    close(ends[1]);
    /* There is no such setting, of which rank 0 tells. */
    setenv("CATENA_LINK_REPROT", "true", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* What fails is to be seen. */
    CHECK(dup2(saved, 2) == 2);
    close(saved);
    EQUAL(sum, size * (size - 1) / 2);
    finish();
    return 0;
}
