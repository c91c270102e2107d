// After a death a program ends a window and a file without the dead: it revokes its communicator, so that all come to know,
// and frees and closes, which fail or not but wait for nobody.
//
// only: catena
// time: 40
// run: -n 2 --with-ft ulfm --set FAULT_STATUS=first; fails; says 'all done'; ends 20
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first; fails; says 'all done'; ends 20
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp; fails; says 'all done'; ends 20
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

static int is_failure(int code)
{
    return code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_REVOKED;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm comm, left;
    MPI_Win fenced, locked;
    MPI_File file;
    int *cell, size, n, code;
    char name[] = "ft_objects.XXXXXX";
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, comm, &cell, &fenced);
    MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, comm, &cell, &locked);
    MPI_Win_set_errhandler(fenced, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(locked, MPI_ERRORS_RETURN);
    if (rank == 0) {
        int fd = mkstemp(name);
        CHECK(fd >= 0);
        close(fd);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm);
    CHECK(!MPI_File_open(comm, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    MPI_Win_fence(0, fenced);
    MPI_Win_lock_all(0, locked);
    MPI_Barrier(comm);
    if (rank == 0)
        unlink(name);
    if (rank == size - 1)
        raise(SIGKILL);

    /* The last survivor waits for what nobody sends it, until another one that has met the death revokes. */
    if (rank == 0) {
        CHECK(is_failure(MPI_Recv(&n, 1, MPI_INT, size - 1, 1, comm, MPI_STATUS_IGNORE)));
        MPIX_Comm_revoke(comm);
    } else {
        CHECK(is_failure(MPI_Recv(&n, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE)));
    }
    CHECK(is_failure(MPI_Win_fence(0, fenced)));
    code = MPI_Win_unlock_all(locked);
    CHECK(!code || is_failure(code));
    code = MPI_Win_free(&fenced);
    CHECK(!code || is_failure(code));
    code = MPI_Win_free(&locked);
    CHECK(!code || is_failure(code));
    code = MPI_File_write_at_all(file, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(is_failure(code));
    code = MPI_File_close(&file);
    CHECK(!code || is_failure(code));
    CHECK(!MPIX_Comm_shrink(comm, &left));
    MPI_Comm_size(left, &n);
    EQUAL(n, size - 1);
    MPI_Barrier(left);
    if (rank == 0)
        printf("all done\n");
    MPI_Comm_free(&left);
    MPI_Finalize();
}
