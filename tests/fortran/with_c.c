/* The part in C of languages.f90 and started_twice.f90: it starts MPI, and makes what Fortran uses. */
#include <mpi.h>
#include <stdlib.h>

void start(MPI_Fint *comm, int *key)
{
    MPI_Comm dup;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, NULL);
    *comm = MPI_Comm_c2f(dup);
}

/* Starts MPI as C does; returns the error code. */
int start_again(void)
{
    return MPI_Init(NULL, NULL);
}

/* What C sees of an attribute that Fortran has set. */
int attribute(const MPI_Fint *comm, const int *key, MPI_Aint *value)
{
    MPI_Aint *seen = NULL;
    int flag = 0;
    MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *key, &seen, &flag);
    if (flag)
        *value = *seen;
    return flag;
}

void set_attribute(const MPI_Fint *comm, const int *key, void *value)
{
    MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *key, value);
}

void send(const MPI_Fint *comm, const int *to, const int *value)
{
    MPI_Send(value, 1, MPI_INT, *to, 9, MPI_Comm_f2c(*comm));
}

/* The source and the tag that a status of Fortran holds. */
void look(const MPI_Fint *f_status, int *source, int *tag)
{
    MPI_Status status;
    MPI_Status_f2c(f_status, &status);
    *source = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
}
