// Error handlers of one's own: set, inherited by duplicates, called with the communicator.
// run: -n 2
#include "../check.h"

static int calls, last_class;
static MPI_Comm last_comm;

static void note(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    last_class = class_of(*code);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Errhandler handler, found;
    MPI_Comm dup;
    int x = 0;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Send(&x, 1, MPI_INT, size, 0, dup);
    EQUAL(calls, 1);
    EQUAL(last_class, MPI_ERR_RANK);
    CHECK(last_comm == dup);
    MPI_Comm_get_errhandler(dup, &found);
    CHECK(found == handler);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    MPI_Bcast(&x, 1, MPI_INT, -3, MPI_COMM_WORLD); /* freed, but still in use here */
    EQUAL(calls, 2);
    EQUAL(last_class, MPI_ERR_ROOT);
    MPI_Comm_call_errhandler(dup, MPI_ERR_OTHER);
    EQUAL(calls, 3);
    EQUAL(last_class, MPI_ERR_OTHER);
    MPI_Comm_free(&dup);

    int class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "the sky fell");
    MPI_Error_string(code, text, &length);
    CHECK(!strcmp(text, "the sky fell"));
    EQUAL(class_of(code), class);
    return finish();
}
