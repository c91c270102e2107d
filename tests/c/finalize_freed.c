// Messages whose requests were given up at both ends are under way when all come to MPI_Finalize: nobody leaves while they
// need it.
// run: -n 2 -- 1500000
// run: -n 3 -- 1500000
// run: -n 3 -- 65536
// run: -n 2 --set SHM_SINGLE_COPY=always -- 1500000
// run: --set LINK=tcp -n 3 -- 1500000
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int len = atoi(argv[1]);
    char *out = calloc(1, len), *in = calloc(5, len);
    for (int n = 0; n < 5; n++) {
        MPI_Request requests[2];
        MPI_Irecv(in + (size_t)n * len, len, MPI_BYTE, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, len, MPI_BYTE, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
    MPI_Finalize();
    return 0;
}
