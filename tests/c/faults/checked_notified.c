// Checked mode knows that notifications order accesses to a window.
// only: catena
// cc: -g -O0
// run: -n 3 --check -- ; says right ; never says catena: check
#include "../check.h"
#include <mpi-ext.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    double *memory, mine = rank;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPIX_Win_set_num_notify(window, MPI_INFO_NULL, 2);
    /* A rank puts to the same place again when its neighbour has told that it was there. */
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int i = 0; i < 4; i++) {
        MPIX_Put_notify(&mine, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, 0, window);
        MPIX_Put_notify(&mine, 1, MPI_DOUBLE, last, 1, 1, MPI_DOUBLE, 1, window);
        MPIX_Win_wait_notify(window, 0, i + 1);
        MPIX_Win_wait_notify(window, 1, i + 1);
        MPI_Win_flush_local_all(window);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Between fences, ranks 0 and 1 put to the same place one after the other. */
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPIX_Put_notify(&mine, 1, MPI_DOUBLE, 2, 2, 1, MPI_DOUBLE, 0, window);
    if (rank == 2) {
        MPIX_Win_wait_notify(window, 0, 5);
        MPIX_Put_notify(&mine, 1, MPI_DOUBLE, 1, 2, 1, MPI_DOUBLE, 0, window);
    }
    if (rank == 1) {
        MPIX_Win_wait_notify(window, 0, 5);
        MPI_Put(&mine, 1, MPI_DOUBLE, 2, 2, 1, MPI_DOUBLE, window);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
    if (rank == 0)
        puts("right");
    return finish();
}
