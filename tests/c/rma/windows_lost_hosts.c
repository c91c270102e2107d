// A member waits for a lock whose holder has died: exclusively or not, or of all. It gets an error, and so does one that comes
// later; other targets can be locked. The holder was on the host of the target, and the member is elsewhere; or the
// holder was on another host than the target, and members of both hosts wait. Or it held all locks, shared.
//
// only: catena
// hosts: 2
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- waits; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- comes; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- all; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- waits elsewhere; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- comes elsewhere; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- all elsewhere; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- holds elsewhere; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>

#define LOST(call) EQUAL(class_of(call), MPIX_ERR_PROC_FAILED)

/* Nobody goes on before it knows that rank 1 is dead. */
static void await_death(void)
{
    LOST(MPI_Recv(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *how = argv[1];
    const int target = argc > 2 ? 3 : 0, other = 3 - target, holds_all = !strcmp(how, "holds");
    int *memory, one = 1, got = 0;
    MPI_Win win;
    MPI_Comm survivors;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win) == MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (holds_all)
            CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS);
        else
            CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win) == MPI_SUCCESS);
        MPI_Send(NULL, 0, MPI_INT, 2, 1, MPI_COMM_WORLD);
        /* Rank 2 waits for the lock, or is about to. */
        if (strcmp(how, "comes"))
            MPI_Recv(NULL, 0, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    if (rank == 2) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(how, "comes"))
            await_death();
        else
            MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
        if (!strcmp(how, "all"))
            LOST(MPI_Win_lock_all(0, win));
        else if (!holds_all)
            LOST(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
        LOST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        CHECK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win) == MPI_SUCCESS);
        CHECK(MPI_Fetch_and_op(&one, &got, MPI_INT, other, 0, MPI_SUM, win) == MPI_SUCCESS);
        CHECK(MPI_Win_unlock(other, win) == MPI_SUCCESS);
        MPI_Send(NULL, 0, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_INT, 3, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    await_death();
    if (rank == 0)
        LOST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    LOST(MPI_Win_fence(0, win));
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS);
    CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors) == MPI_SUCCESS);
    CHECK(MPI_Barrier(survivors) == MPI_SUCCESS);
    printf("survivor %d done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
