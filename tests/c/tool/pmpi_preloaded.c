// A tool in LD_PRELOAD sees the program's calls, and not the library's own.
// preload: pmpi_tool
// run: -n 2 ; says (?s)rank 0 sent 10 messages, 400 bytes.*rank 1 sent 0|rank 1 sent 0.*rank 0 sent 10 messages, 400 bytes
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int data[10] = {0};
    for (int i = 0; i < 10; i++)
        if (rank == 0)
            MPI_Send(data, 10, MPI_INT, 1, i, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(data, 10, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
