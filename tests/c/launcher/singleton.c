// Without a launcher a program is one rank, at once; under a foreign launcher it says so.
// alone: ; ends 2.0
// alone: OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 ; fails ; says (?i)mpirun|launcher
// alone: PMI_RANK=1 PMI_SIZE=2 ; fails ; says (?i)mpirun|launcher
// alone: PMIX_RANK=1 PMIX_NAMESPACE=x ; fails ; says (?i)mpirun|launcher
// alone: SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_ID=0 ; fails ; says (?i)mpirun|launcher
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    EQUAL(rank, 0);
    EQUAL(size, 1);
    int x = 5, y = 0;
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(y, 5);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(x, 5);
    return finish();
}
