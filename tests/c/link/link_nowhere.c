// Two ranks that no network joins, each of which waits for the other: both are told, by an error
// that names the other's host. The one that the argument names judges, and ends the job.
// only: catena
// needs: libfabric.so.1
// run: -n 1 -x CATENA_LINK=tcp @ -- 0 : -n 1 -x CATENA_LINK=ofi:tcp @ -- 0; exit 7
// run: -n 1 -x CATENA_LINK=tcp @ -- 1 : -n 1 -x CATENA_LINK=ofi:tcp @ -- 1; exit 7
#include "../check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int in = 0, class, length;
    int error = MPI_Recv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (atoi(argv[argc - 1]) != rank)
        pause();
    MPI_Error_class(error, &class);
    EQUAL(class, MPI_ERR_PROC_ABORTED);
    char text[MPI_MAX_ERROR_STRING], host[MPI_MAX_PROCESSOR_NAME];
    MPI_Error_string(error, text, &length);
    MPI_Get_processor_name(host, &length);
    CHECK(strstr(text, "no network joins the two"));
    CHECK(strstr(text, host));
    MPI_Abort(MPI_COMM_WORLD, 7);
}
