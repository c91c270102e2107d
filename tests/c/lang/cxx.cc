// The header and the compiler wrapper serve C++ as well.
// run: -n 2
#include <mpi.h>
#include <vector>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<double> all(size);
    double mine = rank * 1.5;
    MPI_Allgather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        if (all[i] != i * 1.5)
            MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
}
