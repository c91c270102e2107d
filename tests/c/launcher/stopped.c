// Signals to the launcher end every rank, also the signal that cannot be caught.
// run: -n 4 ; signal INT ; fails ; ends 1.0
// run: -n 4 ; signal TERM ; fails ; ends 1.0
// run: -n 4 ; signal KILL ; fails ; ends 1.0
// run: -n 4 --timeout 1 ; fails ; says (?i)time
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ready\n");
        fflush(stdout);
    }
    if (rank % 2)
        MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (;;)
        pause();
}
