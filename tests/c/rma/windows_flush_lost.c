// Long puts leave to a target on the way to its death: a flush, or giving back the lock, says that it is gone, although what a flush
// asks had left with the put.
// run: --set LINK=tcp --set FAULT_TOLERANCE=true -n 2 -- flush 4096 ; exit 137 ; says 'told'
// run: --set LINK=tcp --set FAULT_TOLERANCE=true -n 2 -- flush 65536 ; exit 137 ; says 'told'
// run: --set LINK=tcp --set FAULT_TOLERANCE=true -n 2 -- all 65536 ; exit 137 ; says 'told'
// run: --set LINK=tcp --set FAULT_TOLERANCE=true -n 2 -- unlock 65536 ; exit 137 ; says 'told'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -n 2 -- flush 65536 ; exit 137 ; says 'told'
// only: catena
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

static char state_of(int pid)
{
    char name[64], state = 0;
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    FILE *file = fopen(name, "r");
    CHECK(file && fscanf(file, "%*d %*[^)]) %c", &state) == 1);
    fclose(file);
    return state;
}

int main(int argc, char **argv)
{
    int pid = getpid(), pids[2], failed = 0;
    char *base;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int len = atoi(argv[2]);
    MPI_Win_allocate(len, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    char *from = calloc(1, len);
    if (rank == 0) {
        /* They have a connection. */
        MPI_Put(from, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGSTOP);
    while (state_of(pids[1]) != 'T')
        ;
    EQUAL(MPI_Put(from, len, MPI_BYTE, 1, 0, len, MPI_BYTE, win), MPI_SUCCESS);
    kill(pids[1], SIGKILL);
    while (!failed) {
        MPI_Group group;
        MPIX_Comm_get_failed(MPI_COMM_WORLD, &group);
        MPI_Group_size(group, &failed);
        MPI_Group_free(&group);
    }
    /* What is known of the death reaches windows with progress. */
    for (int n = 0; n < 1000; n++)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &failed, MPI_STATUS_IGNORE);
    int code = !strcmp(argv[1], "flush") ? MPI_Win_flush(1, win)
               : !strcmp(argv[1], "all") ? MPI_Win_flush_all(win)
                                         : MPI_Win_unlock_all(win);
    EQUAL(class_of(code), MPIX_ERR_PROC_FAILED);
    printf("told\n");
    MPI_Finalize();
    return 0;
}
