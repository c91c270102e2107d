// A window that a member cannot free, as an epoch is open there, stays, and that member is named.
// run: -n 4 -- lock ; fails ; says MPI_ERR_RMA_SYNC: MPI_Win_free: (an epoch of the window is open|rank 2 of the window has an epoch of it open)
// run: -n 4 --set LINK=tcp -- lock ; fails ; says MPI_ERR_RMA_SYNC: MPI_Win_free: (an epoch of the window is open|rank 2 of the window has an epoch of it open)
// run: -n 4 -- returned
// run: -n 5 --set LINK=tcp -- returned
// run: -n 11 -- returned
//
// variant: windows_held_apart
// only: catena
// hosts: 2
// run: -n 5 --host h0:3,h1:2 --launcher-agent scripts/hosts -- returned
#include "../check.h"

int main(int argc, char **argv)
{
    int *base, length, is_returned;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Win win;
    start(&argc, &argv);
    is_returned = !strcmp(argv[1], "returned");
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (is_returned)
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int first = 0; first < size; first++) {
        /* All from this one on. */
        int holds = is_returned ? rank >= first : rank == 2;
        if (holds)
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        int error = MPI_Win_free(&win);
        char expected[100] = "an epoch of the window is open";
        if (!holds)
            snprintf(expected, sizeof expected, "rank %d of the window has an epoch of it open", first);
        CHECK(class_of(error) == MPI_ERR_RMA_SYNC);
        MPI_Error_string(error, text, &length);
        if (!strstr(text, expected))
            fprintf(stderr, "%s, and not %s\n", text, expected);
        CHECK(strstr(text, expected));
        if (holds)
            MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
    return finish();
}
