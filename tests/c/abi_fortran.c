// What a program tells of its Fortran compiler: once, and reductions of LOGICAL follow.
// run: -n 2
// run: -n 1
#include "check.h"

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
    MPI_Info_set(info, "mpi_integer_size", "8");
    EQUAL(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ABI);
    MPI_Info_set(info, "mpi_integer_size", "4");
    EQUAL(MPI_Abi_set_fortran_info(info), MPI_SUCCESS);
    EQUAL(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ABI);
    MPI_Info_free(&info);
    EQUAL(MPI_Abi_get_fortran_info(&known), MPI_SUCCESS);
    int flag, len = 8;
    char value[8];
    MPI_Info_get_string(known, "mpi_integer_size", &len, value, &flag);
    CHECK(flag && strcmp(value, "4") == 0);
    MPI_Info_free(&known);
    return finish();
}
