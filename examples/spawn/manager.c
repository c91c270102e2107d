/* A program that starts its own workers, gives each some numbers, and collects what they make of them.
 *
 *     mpicc manager.c -o manager
 *     mpirun -n 1 ./manager 3
 *
 * The same program is manager and worker: a process that was spawned has a parent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int manage(char *program, int workers)
{
    MPI_Comm crew;
    int errors[64];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_spawn(program, MPI_ARGV_NULL, workers, MPI_INFO_NULL, 0, MPI_COMM_SELF, &crew, errors);
    if (rc != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(rc, text, &length);
        fprintf(stderr, "no workers: %s\n", text);
        return 1;
    }
    /* Worker w sums the numbers of its range; in a broadcast to the other group the sender names itself MPI_ROOT. */
    long numbers = 1000000, sum = 0, part;
    MPI_Bcast(&numbers, 1, MPI_LONG, MPI_ROOT, crew);
    for (int w = 0; w < workers; w++) {
        MPI_Recv(&part, 1, MPI_LONG, MPI_ANY_SOURCE, 0, crew, MPI_STATUS_IGNORE);
        sum += part;
    }
    printf("%d workers: the sum to %ld is %ld\n", workers, numbers, sum);
    /* From here on neither side's end touches the other. */
    MPI_Comm_disconnect(&crew);
    return 0;
}

static void work(MPI_Comm manager)
{
    int rank, size;
    long numbers, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&numbers, 1, MPI_LONG, 0, manager);
    for (long n = rank + 1; n <= numbers; n += size)
        sum += n;
    MPI_Send(&sum, 1, MPI_LONG, 0, 0, manager);
    MPI_Comm_disconnect(&manager);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int status = 0, workers = argc > 1 ? atoi(argv[1]) : 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        status = manage(argv[0], workers > 64 ? 64 : workers);
    else
        work(parent);
    MPI_Finalize();
    return status;
}
