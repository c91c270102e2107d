// Every rank says who it is, and where. C++ programs call MPI's functions as C programs do.
//
//     mpicxx hello.cc -o hello
//     mpirun -n 4 ./hello
#include <iostream>
#include <mpi.h>
#include <sstream>
#include <string>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, length;
    std::string host(MPI_MAX_PROCESSOR_NAME, '\0');
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host.data(), &length);
    host.resize(length);
    // One write for the whole line, so that lines of different ranks do not mix.
    std::ostringstream line;
    line << "rank " << rank << " of " << size << " runs on " << host << '\n';
    std::cout << line.str() << std::flush;
    MPI_Finalize();
}
