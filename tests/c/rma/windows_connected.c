// Processes that have nothing but a window in common are connected: the job of one ends with that of the other, and numbers
// of others are not given away.
//
//   use     a window over two jobs is used after all communicators that lead to the other one were freed
//   death   a process of the other job is killed then; the first job, which waits for nobody, ends
//
// only: catena
// time: 60
// run: -n 1 -- use; says 'the window is freed'
// run: -n 2 -- use; says 'the window is freed'
// run: -n 1 -- death; exit 137
#include "../check.h"
#include <signal.h>

static MPI_Win win;
static long *memory;

/* A window over both groups, of which nothing else is left. */
static void make(MPI_Comm *inter, int high)
{
    MPI_Comm all;
    MPI_Intercomm_merge(*inter, high, &all);
    MPI_Win_allocate(2 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, all, &memory, &win);
    memory[0] = memory[1] = 0;
    MPI_Win_fence(0, win);
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(inter);
}

static void add(void)
{
    MPI_Group group;
    int n;
    long one = 1;
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &n);
    MPI_Group_free(&group);
    for (int to = 0; to < n; to++)
        MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    EQUAL(memory[0] % n, 0);
    CHECK(memory[0] > memory[1]);
    memory[1] = memory[0];
    MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter, other;
    int flag;
    start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    char *args[] = {argv[1], NULL};
    if (parent != MPI_COMM_NULL) {
        make(&parent, 1);
        if (!strcmp(argv[1], "death"))
            raise(SIGKILL);
        add();
        add();
        MPI_Win_free(&win);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_spawn(argv[0], args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    make(&inter, 0);
    while (!strcmp(argv[1], "death"))
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    add();
    /* Others come, and need numbers. */
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_disconnect(&other);
    add();
    MPI_Win_free(&win);
    if (rank == 0)
        printf("the window is freed\n");
    return finish();
}
