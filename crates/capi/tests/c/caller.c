/* Calls a function that needs no MPI_Init. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    printf("%d\n", (int) MPI_Aint_add(2, 3));
    return 0;
}
