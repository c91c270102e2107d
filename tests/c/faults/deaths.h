/* How many members of a communicator are known to have died. */
#ifndef DEATHS_H
#define DEATHS_H

#include <mpi-ext.h>
#include <mpi.h>

static inline int deaths(MPI_Comm comm)
{
    MPI_Group failed;
    int n;
    MPIX_Comm_get_failed(comm, &failed);
    MPI_Group_size(failed, &n);
    MPI_Group_free(&failed);
    return n;
}

#endif
