// Freed and invented handles are told from live ones, whatever their value.
// run: -n 2
// only: catena
#include "../check.h"
#include <stdint.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int x = 0, n;

    MPI_Comm dup, stale;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    stale = dup;
    MPI_Comm_free(&dup);
    EQUAL(class_of(MPI_Send(&x, 1, MPI_INT, 0, 0, stale)), MPI_ERR_COMM);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup); /* takes the freed place: the old handle stays wrong */
    EQUAL(class_of(MPI_Comm_size(stale, &n)), MPI_ERR_COMM);
    MPI_Comm_free(&dup);

    MPI_Datatype type, old;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    old = type;
    MPI_Type_free(&type);
    EQUAL(class_of(MPI_Send(&x, 1, old, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);

    MPI_Request r, gone;
    MPI_Irecv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &r);
    gone = r;
    MPI_Send(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EQUAL(class_of(MPI_Wait(&gone, MPI_STATUS_IGNORE)), MPI_ERR_REQUEST);

    static const uintptr_t invented[] = {1, 2, 0x3, 0xfff, 0x1000, 0x7fffffff, 0xffffffff,
                                         0x7f0012345678, UINTPTR_MAX, UINTPTR_MAX - 7};
    for (unsigned i = 0; i < sizeof invented / sizeof *invented; i++) {
        uintptr_t v = invented[i];
        EQUAL(class_of(MPI_Send(&x, 1, MPI_INT, 0, 0, (MPI_Comm)v)), MPI_ERR_COMM);
        EQUAL(class_of(MPI_Send(&x, 1, (MPI_Datatype)v, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
        EQUAL(class_of(MPI_Allreduce(&x, &n, 1, MPI_INT, (MPI_Op)v, MPI_COMM_WORLD)), MPI_ERR_OP);
        EQUAL(class_of(MPI_Group_size((MPI_Group)v, &n)), MPI_ERR_GROUP);
        MPI_Request fake = (MPI_Request)v;
        EQUAL(class_of(MPI_Wait(&fake, MPI_STATUS_IGNORE)), MPI_ERR_REQUEST);
        /* A handle of another kind is as wrong as an invented one. */
        EQUAL(class_of(MPI_Barrier((MPI_Comm)MPI_INT)), MPI_ERR_COMM);
        EQUAL(class_of(MPI_Send(&x, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, 0, MPI_COMM_WORLD)),
              MPI_ERR_TYPE);
    }
    return finish();
}
