// A process that was spawned dies and is forgotten; then one of the first job dies. That is seen as well: nothing hangs in which
// that one takes part.
//
// only: catena
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- receive; exit 137; says 'rank 0 goes on'; says 'rank 1 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- barrier; exit 137; says 'rank 0 goes on'; says 'rank 1 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- agree; exit 137; says 'rank 0 goes on'; says 'rank 1 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- shrink; exit 137; says 'rank 0 goes on'; says 'rank 1 goes on'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- agree; exit 137; says 'rank 0 goes on'; says 'rank 1 goes on'
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>

static MPI_Comm spawn(char **argv, const char *how)
{
    MPI_Comm inter;
    char *more[] = {argv[1], (char *)how, NULL};
    EQUAL(MPI_Comm_spawn(argv[0], more, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE), MPI_SUCCESS);
    return inter;
}

int main(int argc, char **argv)
{
    MPI_Comm inter, left;
    int flag = 1;
    start(&argc, &argv);
    CHECK(argc > 1);
    const char *how = argv[1];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&inter);
    if (inter != MPI_COMM_NULL) {
        /* Its parents may die when they have parted from it. */
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Barrier(inter);
        if (!strcmp(argv[2], "dies"))
            raise(SIGKILL);
        MPI_Comm_disconnect(&inter);
        MPI_Finalize();
        return 0;
    }
    inter = spawn(argv, "dies");
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Barrier(inter);
    EQUAL(class_of(MPI_Recv(NULL, 0, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE)), MPIX_ERR_PROC_FAILED);
    MPI_Comm_free(&inter);
    /* The other communicators have taken note of that death. */
    EQUAL(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    EQUAL(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_SUCCESS);
    /* Whoever meets another job forgets those that are gone. */
    for (int i = 0; i < 3; i++) {
        inter = spawn(argv, "ends");
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        raise(SIGKILL);
    int code = MPI_SUCCESS;
    if (!strcmp(how, "receive"))
        code = MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(how, "barrier"))
        code = MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "agree"))
        code = MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    if (strcmp(how, "shrink"))
        EQUAL(class_of(code), MPIX_ERR_PROC_FAILED);
    EQUAL(MPIX_Comm_shrink(MPI_COMM_WORLD, &left), MPI_SUCCESS);
    MPI_Comm_size(left, &size);
    EQUAL(size, 2);
    EQUAL(MPI_Barrier(left), MPI_SUCCESS);
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
