/* Functions of Catena that no version of the standard has yet: user-level failure mitigation
 * (ULFM). See docs/fault-tolerance.md. The names without X are those that the next version of the
 * standard is to have; where a later mpi.h declares these, it says the same. */
#ifndef CATENA_MPI_EXT_H
#define CATENA_MPI_EXT_H

#include <mpi.h>

/* Whether these functions are there; MPIX_FT as an attribute of a communicator says whether the job
 * goes on when processes die: its value is an int. */
#define MPIX_HAVE_FT 1

#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED

#ifdef __cplusplus
extern "C" {
#endif

#define CATENA_FT_FUNCTIONS(P) \
    int P##Comm_revoke(MPI_Comm comm); \
    int P##Comm_is_revoked(MPI_Comm comm, int *flag); \
    int P##Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp); \
    int P##Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked); \
    int P##Comm_agree(MPI_Comm comm, int *flag); \
    int P##Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request); \
    int P##Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm); \
    int P##Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);

CATENA_FT_FUNCTIONS(MPIX_)
CATENA_FT_FUNCTIONS(PMPIX_)
CATENA_FT_FUNCTIONS(MPI_)
CATENA_FT_FUNCTIONS(PMPI_)
#undef CATENA_FT_FUNCTIONS

/* Older names: all failures that are known are acknowledged at once. */
int MPIX_Comm_failure_ack(MPI_Comm comm);
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp);
int PMPIX_Comm_failure_ack(MPI_Comm comm);
int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp);

#ifdef __cplusplus
}
#endif

#endif
