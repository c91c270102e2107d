/* A tool in the way of the profiling interface: its sums are 1000 too big. */
#include <mpi.h>

MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return PMPI_Aint_add(base, disp) + 1000;
}
