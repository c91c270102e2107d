// A function that is not there yet says so by name and error class; none pretends.
// run: -n 1
// only: catena
#include "check.h"

/* Functions that an early version may lack. Present or not, neither may silently do nothing. */
int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win win = MPI_WIN_NULL;
    int memory[4];
    int rc = MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rc == MPI_SUCCESS) {
        CHECK(win != MPI_WIN_NULL);
        MPI_Win_free(&win);
    } else {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        EQUAL(class_of(rc), MPI_ERR_UNSUPPORTED_OPERATION);
        MPI_Error_string(rc, text, &length);
        CHECK(strstr(text, "MPI_Win_create") != NULL);
    }
    return finish();
}
