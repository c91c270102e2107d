// Handles and statuses cross between C and Fortran's integers.
// run: -n 2
#include "../check.h"

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(dup)) == dup);
    CHECK(MPI_Comm_c2f(MPI_COMM_WORLD) == 0x101 && MPI_Type_c2f(MPI_INTEGER) == 0x219);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);

    MPI_Status status, back;
    MPI_Fint f_status[MPI_F_STATUS_SIZE];
    MPI_F08_status f08_status;
    int other, got, count = -1;
    MPI_Comm_rank(dup, &rank);
    other = 1 - rank;
    MPI_Sendrecv(&rank, 1, MPI_INT, other, 5, &got, 1, MPI_INT, other, 5, dup, &status);
    CHECK(MPI_Status_c2f(&status, f_status) == MPI_SUCCESS);
    CHECK(f_status[MPI_F_SOURCE] == other && f_status[MPI_F_TAG] == 5);
    MPI_Status_f2f08(f_status, &f08_status);
    CHECK(f08_status.MPI_SOURCE == other);
    MPI_Status_f082c(&f08_status, &back);
    MPI_Get_count(&back, MPI_INT, &count);
    CHECK(count == 1);
    MPI_Comm_free(&dup);
    MPI_Finalize();
    return 0;
}
