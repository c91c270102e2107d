/* A sum that comes out right although ranks die while it is made.
 *
 *     mpicc survive.c -o survive
 *     mpirun --with-ft ulfm -n 6 ./survive 3
 *
 * The task is the sum of the squares below N, in chunks that the ranks take in turn. In some rounds the
 * last rank kills itself, as often as the first argument says. The others notice it by an error,
 * revoke the communicator so that nobody goes on waiting, agree on who is left, and do again what the
 * round has lost. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 12, CHUNK = 5000 };

/* The part of a round that this rank has to do. */
static long long part(int round, int rank, int size)
{
    long long sum = 0;
    long long from = (long long) round * CHUNK, to = from + CHUNK;
    for (long long i = from + rank; i < to; i += size)
        sum += i * i;
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int deaths = argc > 1 ? atoi(argv[1]) : 0, rank, size, round = 0;
    long long total = 0;
    MPI_Comm comm, left;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int last = size - deaths; /* as many ranks are left in the end */

    while (round < ROUNDS) {
        if (round % 3 == 1 && size > last && rank == size - 1)
            raise(SIGKILL);
        long long mine = part(round, rank, size), sum = 0;
        int rc = MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, comm);
        /* Some may have the sum and others not: all go on, or all do the round again. */
        int good = rc == MPI_SUCCESS;
        if (rc != MPI_SUCCESS)
            MPIX_Comm_revoke(comm);
        int agreed = MPIX_Comm_agree(comm, &good);
        if (agreed == MPI_SUCCESS && good) {
            total += sum;
            round++;
            continue;
        }
        if (MPIX_Comm_shrink(comm, &left) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Comm_free(&comm);
        comm = left;
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        if (rank == 0)
            printf("round %d again, with %d ranks\n", round, size);
    }

    long long n = (long long) ROUNDS * CHUNK - 1, right = n * (n + 1) / 2 * (2 * n + 1) / 3;
    if (rank == 0) {
        printf("%d ranks are left: the sum is %lld, which is %s\n", size, total,
            total == right ? "right" : "wrong");
        fflush(stdout);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return total == right ? 0 : 1;
}
