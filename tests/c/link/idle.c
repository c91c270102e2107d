// A rank blocked in MPI_Recv, and one in MPI_Barrier, for a second: under 5 % of a core each.
// run: -n 3
// only: catena
#include "../check.h"
#include <sys/resource.h>

static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int word = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    double before = cpu(), begin = now();
    if (rank == 0) {
        /* The others wait for this rank: the second of waiting is what is measured. */
        struct timespec second = {1, 0};
        nanosleep(&second, NULL);
        MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double used = cpu() - before, wall = now() - begin;
    printf("rank %d used %.1f %% of a core in %.2f s\n", rank, 100 * used / wall, wall);
    CHECK(wall > 0.9);
    CHECK(used / wall < 0.05);
    return finish();
}
