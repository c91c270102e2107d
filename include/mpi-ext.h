/* Functions of Catena that no version of the standard has yet: user-level failure mitigation
 * (ULFM; see `catena help faults`), one-sided operations that notify their target (see
 * `catena help windows`), and what MPICH's stand-alone Fortran binding asks for. The
 * names without X are those that the next version of the standard is to have; where a later mpi.h
 * declares these, it says the same. */
#ifndef CATENA_MPI_EXT_H
#define CATENA_MPI_EXT_H

#include <mpi.h>

/* Whether these functions are there; MPIX_FT as an attribute of a communicator says whether the job
 * goes on when processes die: its value is an int. */
#define MPIX_HAVE_FT 1

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

/* Whether buffers may lie in memory of CUDA devices: 1 if the job's settings and this host have it. Messages, collectives,
 * files and origins of one-sided operations take it, memory of windows may not (see `catena help devices`). */
#define MPIX_CUDA_AWARE_SUPPORT 1
int MPIX_Query_cuda_support(void);

/* Whether there are operations that notify. */
#define MPIX_HAVE_NOTIFY 1

#define CATENA_NOTIFY_OPERATIONS(P, C, Count) \
    int P##Put_notify##C(const void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
        int target_rank, MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, \
        int notification_idx, MPI_Win win); \
    int P##Get_notify##C(void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
        int target_rank, MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, \
        int notification_idx, MPI_Win win); \
    int P##Accumulate_notify##C(const void *origin_addr, Count origin_count, \
        MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, Count target_count, \
        MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win); \
    int P##Get_accumulate_notify##C(const void *origin_addr, Count origin_count, \
        MPI_Datatype origin_datatype, void *result_addr, Count result_count, \
        MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, Count target_count, \
        MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win); \
    int P##Rput_notify##C(const void *origin_addr, Count origin_count, \
        MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, Count target_count, \
        MPI_Datatype target_datatype, int notification_idx, MPI_Win win, MPI_Request *request); \
    int P##Rget_notify##C(void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
        int target_rank, MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, \
        int notification_idx, MPI_Win win, MPI_Request *request);
#define CATENA_NOTIFY_FUNCTIONS(P) \
    int P##Win_set_num_notify(MPI_Win win, MPI_Info info, int num); \
    int P##Win_get_num_notify(MPI_Win win, int rank, int *num); \
    int P##Win_get_notify_value(MPI_Win win, int notification_idx, MPI_Count *value); \
    int P##Win_reset_notify_value(MPI_Win win, int notification_idx, MPI_Count *value); \
    int P##Win_test_notify(MPI_Win win, int notification_idx, MPI_Count threshold, int *flag); \
    int P##Win_wait_notify(MPI_Win win, int notification_idx, MPI_Count threshold); \
    CATENA_NOTIFY_OPERATIONS(P, , int) \
    CATENA_NOTIFY_OPERATIONS(P, _c, MPI_Count)

CATENA_NOTIFY_FUNCTIONS(MPIX_)
CATENA_NOTIFY_FUNCTIONS(PMPIX_)
#undef CATENA_NOTIFY_FUNCTIONS
#undef CATENA_NOTIFY_OPERATIONS

/* Objects whose functions get a state, and an end of it: for bindings of other languages. */
typedef void(MPIX_Destructor_function)(void *extra_state);
typedef void(MPIX_User_function_x)(void *invec, void *inoutvec, MPI_Count count,
    MPI_Datatype datatype, void *extra_state);
typedef void(MPIX_Comm_errhandler_function_x)(MPI_Comm comm, int error_code, void *extra_state);
typedef void(MPIX_File_errhandler_function_x)(MPI_File file, int error_code, void *extra_state);
typedef void(MPIX_Win_errhandler_function_x)(MPI_Win win, int error_code, void *extra_state);
typedef void(MPIX_Session_errhandler_function_x)(
    MPI_Session session, int error_code, void *extra_state);

#define CATENA_ERRHANDLER_X(P, Class) \
    int P##Class##_create_errhandler_x(MPIX_##Class##_errhandler_function_x *function, \
        MPIX_Destructor_function *destructor_fn, void *extra_state, MPI_Errhandler *errhandler);
/* An attribute that is set as Fortran does is an integer as long as an address, in the place of
 * attribute_val; C gets a pointer to it. The functions of a key see integers, too. */
#define CATENA_ATTRIBUTES_X(P, Class, Handle) \
    int P##Class##_create_keyval_x(MPI_##Class##_copy_attr_function *copy_fn, \
        MPI_##Class##_delete_attr_function *delete_fn, MPIX_Destructor_function *destructor_fn, \
        int *keyval, void *extra_state); \
    int P##Class##_get_attr_as_fortran( \
        MPI_##Handle object, int keyval, void *attribute_val, int *flag); \
    int P##Class##_set_attr_as_fortran(MPI_##Handle object, int keyval, void *attribute_val);
#define CATENA_BINDING_FUNCTIONS(P) \
    int P##Op_create_x(MPIX_User_function_x *user_fn, MPIX_Destructor_function *destructor_fn, \
        int commute, void *extra_state, MPI_Op *op); \
    CATENA_ERRHANDLER_X(P, Comm) \
    CATENA_ERRHANDLER_X(P, File) \
    CATENA_ERRHANDLER_X(P, Win) \
    CATENA_ERRHANDLER_X(P, Session) \
    CATENA_ATTRIBUTES_X(P, Comm, Comm) \
    CATENA_ATTRIBUTES_X(P, Type, Datatype) \
    CATENA_ATTRIBUTES_X(P, Win, Win)

CATENA_BINDING_FUNCTIONS(MPIX_)
CATENA_BINDING_FUNCTIONS(PMPIX_)
#undef CATENA_BINDING_FUNCTIONS
#undef CATENA_ERRHANDLER_X
#undef CATENA_ATTRIBUTES_X

#ifdef __cplusplus
}
#endif

#endif
