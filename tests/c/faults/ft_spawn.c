// Processes that were spawned by a group of which somebody has died never wait for it: its members get an error, and the
// children end, also if the one that has spawned them dies before it has met them.
//
// only: catena
// time: 30
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- member; exit 137; says 'rank 0 of 3: an error'; says 'rank 1 of 3: an error'; never says 'a child'; ends 20
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- root; exit 137; says 'rank 1 of 3: an error'; says 'rank 2 of 3: an error'; never says 'a child'; ends 20
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>

int main(int argc, char **argv)
{
    char self[4096], pid[20];
    CHECK(argc > 1 && realpath(argv[0], self));
    /* A child kills the one that has spawned it before it can meet it. */
    if (!strcmp(argv[1], "child"))
        CHECK(argc < 3 || !kill(atoi(argv[2]), SIGKILL));
    MPI_Comm parent, inter = MPI_COMM_WORLD;
    start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        printf("a child has met its parents\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int is_root = !strcmp(argv[1], "root");
    if (!is_root && rank == size - 1)
        raise(SIGKILL);
    snprintf(pid, sizeof pid, "%d", getpid());
    char *args[] = {"child", is_root ? pid : NULL, NULL};
    int code = MPI_Comm_spawn(self, args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    EQUAL(class_of(code), MPIX_ERR_PROC_FAILED);
    CHECK(inter == MPI_COMM_NULL);
    printf("rank %d of %d: an error\n", rank, size);
    MPI_Finalize();
    return 0;
}
