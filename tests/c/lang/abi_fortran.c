// What a program tells of its Fortran compiler: once, and reductions of LOGICAL follow.
// The sizes of its types can be chosen once, too: an INTEGER and a LOGICAL of 8 bytes here.
// run: -n 2
// run: -n 1
//
// variant: checked_fortran
// Checked mode knows these sizes.
// only: catena
// run: -n 2 --check; never says \[type\]
#include "../check.h"

static int type_size(MPI_Datatype type)
{
    int bytes = -1;
    MPI_Type_size(type, &bytes);
    return bytes;
}

/* Types of Fortran that are longer now, and those that are not. */
static void eight(void)
{
    EQUAL(type_size(MPI_INTEGER), 8);
    EQUAL(type_size(MPI_LOGICAL), 8);
    EQUAL(type_size(MPI_2INTEGER), 16);
    EQUAL(type_size(MPI_REAL), 4);
    EQUAL(type_size(MPI_INT), 4);
    EQUAL(type_size(MPI_INTEGER4), 4);
    long long mine[2] = {(1LL << 40) + rank, -rank}, all[2], got[2] = {0, 0};
    EQUAL(MPI_Allreduce(mine, all, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    EQUAL(all[0], size * (1LL << 40) + size * (size - 1) / 2);
    EQUAL(all[1], -size * (size - 1) / 2);
    EQUAL(MPI_Sendrecv(mine, 2, MPI_INTEGER, (rank + 1) % size, 1, got, 2, MPI_INTEGER8,
              (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EQUAL(got[0], (1LL << 40) + (rank + size - 1) % size);
    EQUAL(got[1], -((rank + size - 1) % size));
    MPI_Request request;
    MPI_Irecv(got, 1, MPI_INTEGER, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &request);
    MPI_Send(mine, 1, MPI_INTEGER, (rank + 1) % size, 2, MPI_COMM_WORLD);
    MPI_Status status;
    int count;
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EQUAL(count, 8);
    long long truths[2] = {rank == 0, 1}, both[2];
    EQUAL(MPI_Allreduce(truths, both, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD), MPI_SUCCESS);
    EQUAL(both[0], size == 1);
    EQUAL(both[1], 1);
}

int main(int argc, char **argv)
{
    int yes = 77, no = 78, is_set = 9, t = -1, f = -1;
    EQUAL(MPI_Abi_get_fortran_booleans(4, &t, &f, &is_set), MPI_SUCCESS);
    EQUAL(is_set, 0);
    EQUAL(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_SUCCESS);
    EQUAL(MPI_Abi_get_fortran_booleans(4, &t, &f, &is_set), MPI_SUCCESS);
    EQUAL(is_set, 1);
    EQUAL(t, yes);
    EQUAL(f, no);
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    int mine[2] = {rank == 0 ? yes : no, yes}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD);
    EQUAL(all[0], size == 1 ? yes : no);
    EQUAL(all[1], yes);
    MPI_Allreduce(mine, all, 2, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD);
    EQUAL(all[0], yes);
    EQUAL(all[1], size % 2 ? yes : no);

    EQUAL(class_of(MPI_Abi_set_fortran_booleans(4, &yes, &no)), MPI_ERR_ABI);
    EQUAL(class_of(MPI_Abi_set_fortran_booleans(3, &yes, &no)), MPI_ERR_ARG);

    MPI_Info info, known;
    EQUAL(MPI_Abi_get_fortran_info(&known), MPI_SUCCESS);
    CHECK(known == MPI_INFO_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", "6");
    EQUAL(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ABI);
    MPI_Info_set(info, "mpi_integer_size", "long");
    EQUAL(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_INFO_VALUE);
    EQUAL(type_size(MPI_INTEGER), 4);
    MPI_Info_set(info, "mpi_integer_size", "8");
    MPI_Info_set(info, "mpi_logical_size", "8");
    MPI_Info_set(info, "mpi_real_size", "4");
    EQUAL(MPI_Abi_set_fortran_info(info), MPI_SUCCESS);
    EQUAL(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ABI);
    eight();
    MPI_Info_free(&info);
    EQUAL(MPI_Abi_get_fortran_info(&known), MPI_SUCCESS);
    int flag, len = 8;
    char value[8];
    MPI_Info_get_string(known, "mpi_integer_size", &len, value, &flag);
    CHECK(flag && strcmp(value, "8") == 0);
    MPI_Info_free(&known);
    return finish();
}
