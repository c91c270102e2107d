/* Tasks of different length, which ranks take from a common counter: nobody has to deal them out.
 *
 *     mpicc -O2 tasks.c -o tasks
 *     mpirun -n 4 ./tasks
 *
 * The counter lies in a window of rank 0. A rank fetches it and adds one in a single operation, while rank 0 computes
 * as well and calls nothing for it. */
#include <mpi.h>
#include <stdio.h>

enum { TASKS = 200 };

/* How many steps the Collatz sequence of n takes to come to 1; differs widely from one number to the next. */
static int steps(long n)
{
    int count = 0;
    for (; n != 1; count++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return count;
}

/* The longest sequence of the numbers of a task. */
static int work(int task)
{
    int longest = 0;
    for (long n = task * 500L + 1; n <= (task + 1) * 500L; n++) {
        int count = steps(n);
        longest = count > longest ? count : longest;
    }
    return longest;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *counter;
    MPI_Win win;
    MPI_Win_allocate(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
    if (rank == 0)
        *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);

    int one = 1, task, mine[2] = {0, 0}, done, longest; /* tasks done, and the longest sequence */
    MPI_Win_lock_all(0, win);
    for (;;) {
        MPI_Fetch_and_op(&one, &task, MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (task >= TASKS)
            break;
        int found = work(task);
        mine[0]++;
        mine[1] = found > mine[1] ? found : mine[1];
    }
    MPI_Win_unlock_all(win);
    MPI_Reduce(&mine[0], &done, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine[1], &longest, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks have done %d tasks: up to 100000 the longest sequence has %d steps\n", size, done, longest);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
