// Operations that need more memory than there can be give an error that names the bytes, when they
// are started or completed; the program goes on with other communicators.
// only: catena
// run: -n 1
// run: -n 2
#include "../check.h"

static void refused(int code, long long bytes)
{
    char text[MPI_MAX_ERROR_STRING], words[64];
    int n;
    EQUAL(class_of(code), MPI_ERR_NO_MEM);
    MPI_Error_string(code, text, &n);
    snprintf(words, sizeof words, "no memory for the %lld bytes", bytes);
    CHECK(strstr(text, words));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm comm;
    /* Two bytes with a hole: the library packs them before it sends. */
    MPI_Datatype holey;
    MPI_Request request;
    MPI_Type_create_hvector(2, 1, 2, MPI_CHAR, &holey);
    MPI_Type_commit(&holey);
    MPI_Count many = (MPI_Count)1 << 49;
    char *in = (char *)64, *out = (char *)128; /* never reached */
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        int code = MPI_Ialltoall_c(in, many, holey, out, many, holey, comm, &request);
        refused(code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE), 2 * many * size);
        MPI_Comm_free(&comm);
    }
    int one = 1, sum;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(sum, size);
    MPI_Type_free(&holey);
    return finish();
}
