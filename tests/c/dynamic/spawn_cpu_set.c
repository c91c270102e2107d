// Spawned processes stay within --cpu-set, also where there are more of them than it has cores.
//
// only: catena
// run: -n 1 --cpu-set 0; lines 3 on 1 CPU
// run: -n 2 --cpu-set 0 --bind-to none; lines 4 on 1 CPU
#define _GNU_SOURCE
#include <sched.h>

#include "../check.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    printf("on %d CPU\n", CPU_COUNT(&set));
    MPI_Comm parent, children;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&children);
    } else {
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
