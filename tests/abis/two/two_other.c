/* The library of two.c, with another interface than the program. */
#include <mpi.h>

int other_sum(int a, int b)
{
    int mine[2] = { a, b }, all[2];
    if (MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
        return -1;
    return all[0] * 1000 + all[1];
}

int other_send(int to, int what)
{
    return MPI_Send(&what, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
}

int other_communicator(void)
{
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    return MPI_Comm_c2f(twin);
}

int other_receive(int *to)
{
    MPI_Request request;
    MPI_Irecv(to, 1, MPI_INT, 0, 21, MPI_COMM_SELF, &request);
    return MPI_Request_c2f(request);
}

int other_replace(int integer, int *other)
{
    MPI_Comm comm = MPI_Comm_f2c(integer), twin;
    int rc = MPI_Comm_free(&comm);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    if (rc == MPI_SUCCESS)
        *other = MPI_Comm_c2f(twin);
    return rc;
}
