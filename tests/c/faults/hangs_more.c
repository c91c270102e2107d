// Who waits for whom, where names do not tell it, and where what ranks wait for changes while they wait.
// only: catena
// waits: for the report, some two seconds
// time: 20
// run: -n 4 --on-hang end -- grid; exit 123; says job hangs: rank 0 waits in MPI_Barrier \S+ for rank 1 on a communicator of 2 ranks; says ranks 0 to 3 wait in MPI_Barrier
// run: -n 4 --on-hang end --set COLL_NODE=0 -- grid; exit 123; says job hangs: rank 0 waits in MPI_Barrier \S+ for rank 1 on a communicator of 2 ranks
// run: -n 4 --on-hang end -- windows; exit 123; says job hangs: rank 0 waits in MPI_Win_fence \S+ for rank 1 on a window of 2 ranks
// run: -n 3 --on-hang end -- late; says done; never says job hangs
// run: -n 6 --on-hang end -- late; says done; never says job hangs
#include "../check.h"
#include <signal.h>
#include <sys/wait.h>

/* Ranks of a grid of two rows and two columns: half of them are in their row, the others in their column. */
static MPI_Comm row_or_column(void)
{
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    return rank == 0 || rank == 3 ? row : column;
}

/* Programs that want the cores. */
static void be_busy(int *busy, int n)
{
    for (int i = 0; i < n; i++) {
        busy[i] = fork();
        if (busy[i] == 0) {
            for (;;) {
            }
        }
    }
}

static void end_busy(int *busy, int n)
{
    for (int i = 0; i < n; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argv[1];
    int busy[12];
    start(&argc, &argv);
    if (!strcmp(mode, "grid"))
        MPI_Barrier(row_or_column());
    if (!strcmp(mode, "windows")) {
        MPI_Win of[2];
        MPI_Comm row, column;
        void *base;
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
        MPI_Win_allocate(8, 1, MPI_INFO_NULL, row, &base, of);
        MPI_Win_allocate(8, 1, MPI_INFO_NULL, column, &base, of + 1);
        MPI_Win_fence(0, of[rank % 3 != 0]);
    }
    if (!strcmp(mode, "late")) {
        /* All but the last one come one after the other, and wait for that one, which computes. */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            be_busy(busy, 12);
        if (rank < size - 1)
            usleep(200000 * rank);
        else
            sleep(5);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            end_busy(busy, 12);
            puts("done");
        }
    }
    MPI_Finalize();
    return 0;
}
