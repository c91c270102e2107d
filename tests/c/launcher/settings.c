// Settings reach the library; what is wrong with them is said once, with a hint.
// only: catena
// run: -n 3 --set COLL_ALLREDUCE=ring -- sum ; says ^good$
// run: -n 4 --set COLL_ALLREDUCE=rabenseifner --set COLL_BCAST=chain -- sum ; says ^good$
// run: -n 4 --set COLL_NODE=0 -- sum ; says ^good$
// run: -n 2 --set COLL_ALLREDUCE=rnig -- sum ; fails ; says did you mean ring
// alone: CATENA_COLL_ALLREDUCE=rnig ; fails ; says did you mean ring
// alone: CATENA_COLL_ALREDUCE=ring ; fails ; says did you mean CATENA_COLL_ALLREDUCE
// alone: CATENA_INITIAL_ERRHANDLER=mpi_errors_return ; says ^returned$
// run: -n 2 -initial-errhandler mpi_errors_return ; says ^returned$
// alone: ; fails ; says MPI_ERR_RANK
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (argc == 1) {
        int code = MPI_Send(NULL, 0, MPI_INT, 7, 0, MPI_COMM_WORLD);
        EQUAL(class_of(code), MPI_ERR_RANK);
        puts("returned");
        return finish();
    }
    for (int n = 1; n <= 4096; n *= 8) {
        long *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
        for (int i = 0; i < n; i++)
            in[i] = rank + i;
        MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            EQUAL(out[i], (long)size * (size - 1) / 2 + (long)size * i);
        MPI_Bcast(in, n, MPI_LONG, size - 1, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            EQUAL(in[i], size - 1 + i);
        free(in);
        free(out);
    }
    if (rank == 0)
        puts("good");
    return finish();
}
