// A collective fails at one member, which has no memory for it: all members get an error, and make another communicator out of
// MPI_COMM_WORLD, on which they go on. The program ends well.
//
// only: catena
// run: -n 2
// run: -n 3 --set LINK=tcp
#include "check.h"
#include <sys/resource.h>

enum { BYTES = 64 << 20 };

/* What the process has, and a little more. */
static void limit(struct rlimit limit)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + (4 << 20);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

int main(int argc, char **argv)
{
    struct rlimit usual;
    MPI_Datatype holey;
    MPI_Comm comm;
    int one = 1, sum = 0;
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned char *bytes = malloc(BYTES);
    CHECK(bytes && getrlimit(RLIMIT_AS, &usual) == 0);
    MPI_Type_vector(BYTES / 16, 8, 16, MPI_BYTE, &holey);
    MPI_Type_commit(&holey);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        limit(usual);
    int code = MPI_Bcast(bytes, 1, holey, 0, MPI_COMM_WORLD);
    CHECK(setrlimit(RLIMIT_AS, &usual) == 0);
    CHECK(rank != 1 || class_of(code) == MPI_ERR_NO_MEM);
    EQUAL(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
    EQUAL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EQUAL(sum, size);
    EQUAL(MPI_Bcast(bytes, 1, holey, 0, comm), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    EQUAL(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm), MPI_SUCCESS);
    EQUAL(MPI_Barrier(comm), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    MPI_Type_free(&holey);
    free(bytes);
    MPI_Finalize();
    return 0;
}
