/* A wave on a ring of strings, whose ends neighbours put into each other's memory.
 *
 *     mpicc wave.c -o wave
 *     mpirun -n 4 ./wave 4000
 *
 * Each rank has a piece of the string and, in a window, a cell for what lies beyond either end. In each step it puts its
 * own ends into the neighbours' cells and notifies them; nobody sends a message, and nobody calls a fence. A rank goes on as
 * soon as its own two counters have come to the number of the step. Cells of even and odd steps are different ones, and a
 * neighbour cannot be two steps ahead, as it needs our end of the step between. */
#include <math.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1000 };
enum { LEFT, RIGHT, SIDES };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int steps = argc > 1 ? atoi(argv[1]) : 1000, rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int neighbour[SIDES] = {(rank + size - 1) % size, (rank + 1) % size};
    double *beyond; /* what lies beyond each side, in even and odd steps */
    MPI_Win win;
    MPI_Win_allocate(2 * SIDES * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &beyond, &win);
    MPIX_Win_set_num_notify(win, MPI_INFO_NULL, SIDES);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);

    double *now = malloc(CELLS * sizeof *now), *before = malloc(CELLS * sizeof *before);
    double turn = 2 * acos(-1.) / ((double) size * CELLS);
    for (int i = 0; i < CELLS; i++)
        now[i] = before[i] = sin(turn * (rank * CELLS + i));
    for (int step = 0; step < steps; step++) {
        const double *end[SIDES] = {&now[0], &now[CELLS - 1]};
        double *cell = beyond + step % 2 * SIDES;
        for (int side = LEFT; side < SIDES; side++)
            /* Our left end lies beyond the right side of the left neighbour. */
            MPIX_Put_notify(end[side], 1, MPI_DOUBLE, neighbour[side], step % 2 * SIDES + !side, 1, MPI_DOUBLE,
                !side, win);
        for (int side = LEFT; side < SIDES; side++)
            MPIX_Win_wait_notify(win, side, step + 1);
        for (int i = 0; i < CELLS; i++) {
            double left = i > 0 ? now[i - 1] : cell[LEFT], right = i < CELLS - 1 ? now[i + 1] : cell[RIGHT];
            before[i] = 2 * now[i] - before[i] + 0.25 * (left - 2 * now[i] + right);
        }
        MPI_Win_flush_local_all(win);
        double *next = before;
        before = now;
        now = next;
    }
    /* A sine wave stays one: its nodes are where they were. */
    double mine = rank == 0 ? fabs(now[0]) : 0, most = 0, height;
    for (int i = 0; i < CELLS; i++)
        most = fmax(most, fabs(now[i]));
    MPI_Reduce(&most, &height, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(now);
    free(before);
    if (rank == 0)
        printf("after %d steps on %d ranks the wave is %.3f high, and its node %s\n", steps, size, height,
            mine < 1e-9 ? "stands" : "has moved");
    MPI_Finalize();
    return 0;
}
