/* A matrix in one file: the ranks write it in columns, and read it in rows.
 *
 *     mpicc matrix.c -o matrix
 *     mpirun -n 4 ./matrix matrix.bin
 *
 * The file has N times N numbers, row by row, as a serial program would write them. A view shows each rank its
 * columns as if they were a file of their own; as all ranks call together, MPI puts their short pieces together and
 * writes long ones. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512 };

/* The first row or column of a rank; the next rank's follows its last one. */
static int first_of(int rank, int size)
{
    return N * rank / size;
}

static void check(int rc, const char *what)
{
    if (rc != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(rc, text, &length);
        fprintf(stderr, "%s: %s\n", what, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "matrix.bin";
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = first_of(rank, size), count = first_of(rank + 1, size) - first;
    double *part = malloc((size_t)count * N * sizeof *part);

    /* Columns `first` and on; in memory they are `count` wide. */
    for (int row = 0; row < N; row++)
        for (int column = 0; column < count; column++)
            part[row * count + column] = row * 1000.0 + first + column;
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), name);
    int whole[2] = {N, N}, mine[2] = {N, count}, at[2] = {0, first};
    if (count > 0) {
        MPI_Datatype columns;
        MPI_Type_create_subarray(2, whole, mine, at, MPI_ORDER_C, MPI_DOUBLE, &columns);
        MPI_Type_commit(&columns);
        check(MPI_File_set_view(file, 0, MPI_DOUBLE, columns, "native", MPI_INFO_NULL), name);
        MPI_Type_free(&columns);
    } else {
        check(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL), name);
    }
    check(MPI_File_write_all(file, part, count * N, MPI_DOUBLE, MPI_STATUS_IGNORE), name);

    /* Rows `first` and on are one run of the file; all ranks have written before one reads. */
    check(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL), name);
    check(MPI_File_sync(file), name);
    MPI_Barrier(MPI_COMM_WORLD);
    check(MPI_File_sync(file), name);
    check(MPI_File_read_at_all(file, (MPI_Offset)first * N, part, count * N, MPI_DOUBLE, MPI_STATUS_IGNORE), name);
    int wrong = 0, all_wrong;
    for (int row = 0; row < count; row++)
        for (int column = 0; column < N; column++)
            wrong += part[row * N + column] != (first + row) * 1000.0 + column;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Offset bytes;
    MPI_File_get_size(file, &bytes);
    check(MPI_File_close(&file), name);
    if (rank == 0)
        printf("%s has %lld bytes, of which %d numbers are wrong\n", name, (long long)bytes, all_wrong);
    free(part);
    MPI_Finalize();
    return 0;
}
