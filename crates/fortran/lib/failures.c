/*
 * What programs in Fortran that go on when processes die call: the functions of mpi-ext.h that are
 * user-level failure mitigation. No version of the standard has them, so they are asked for weakly: over
 * a library that lacks one the procedure returns MPI_ERR_UNSUPPORTED_OPERATION.
 *
 * Each has the name that gfortran, flang, ifx and nvfortran give it, and that of mpi_f08_ext. With INTEGERs of 8
 * bytes there are none. A communicator that is made later has no form here, as its handle would come
 * after the procedure has returned.
 */

#include "fortran.h"

#ifndef INTEGER_8

#ifdef PROFILE
#define X(name) PMPIX_##name
#else
#define X(name) MPIX_##name
#endif
#define FX(name) JOIN(LOWER_X(name), _)
#define NAMES_X(name) SAME(FX(name), JOIN(LOWER_X(name), _f08_))

/* The function, declared and known to be there or not. */
#define OPTIONAL(name, ...) extern int X(name)(__VA_ARGS__) __attribute__((weak));
#define CALL(name, ...) (X(name) ? X(name)(__VA_ARGS__) : MPI_ERR_UNSUPPORTED_OPERATION)

OPTIONAL(Comm_revoke, MPI_Comm)
OPTIONAL(Comm_is_revoked, MPI_Comm, int *)
OPTIONAL(Comm_get_failed, MPI_Comm, MPI_Group *)
OPTIONAL(Comm_ack_failed, MPI_Comm, int, int *)
OPTIONAL(Comm_agree, MPI_Comm, int *)
OPTIONAL(Comm_iagree, MPI_Comm, int *, MPI_Request *)
OPTIONAL(Comm_shrink, MPI_Comm, MPI_Comm *)
OPTIONAL(Comm_failure_ack, MPI_Comm)
OPTIONAL(Comm_failure_get_acked, MPI_Comm, MPI_Group *)

void FX(comm_revoke)(const Fint *comm, Fint *ierror)
{
    finish(ierror, CALL(Comm_revoke, Comm_of(*comm)));
}
NAMES_X(comm_revoke)

void FX(comm_is_revoked)(const Fint *comm, Flogical *flag, Fint *ierror)
{
    int is_revoked = 0;
    int code = CALL(Comm_is_revoked, Comm_of(*comm), &is_revoked);
    if (code == MPI_SUCCESS)
        *flag = logical(is_revoked);
    finish(ierror, code);
}
NAMES_X(comm_is_revoked)

/* The three that give a group or a communicator store it if the call has made one. */
void FX(comm_get_failed)(const Fint *comm, Fint *failedgrp, Fint *ierror)
{
    MPI_Group group = 0;
    int code = CALL(Comm_get_failed, Comm_of(*comm), &group);
    if (group)
        *failedgrp = Group_int(group);
    finish(ierror, code);
}
NAMES_X(comm_get_failed)

void FX(comm_ack_failed)(const Fint *comm, const Fint *num_to_ack, Fint *num_acked, Fint *ierror)
{
    finish(ierror, CALL(Comm_ack_failed, Comm_of(*comm), *num_to_ack, num_acked));
}
NAMES_X(comm_ack_failed)

void FX(comm_agree)(const Fint *comm, Fint *flag, Fint *ierror)
{
    finish(ierror, CALL(Comm_agree, Comm_of(*comm), flag));
}
NAMES_X(comm_agree)

void FX(comm_iagree)(const Fint *comm, Fint *flag, Fint *request, Fint *ierror)
{
    MPI_Request started = 0;
    int code = CALL(Comm_iagree, Comm_of(*comm), flag, &started);
    if (started)
        *request = Request_int(started);
    finish(ierror, code);
}
NAMES_X(comm_iagree)

void FX(comm_shrink)(const Fint *comm, Fint *newcomm, Fint *ierror)
{
    MPI_Comm left = 0;
    int code = CALL(Comm_shrink, Comm_of(*comm), &left);
    if (left)
        *newcomm = Comm_int(left);
    finish(ierror, code);
}
NAMES_X(comm_shrink)

void FX(comm_failure_ack)(const Fint *comm, Fint *ierror)
{
    finish(ierror, CALL(Comm_failure_ack, Comm_of(*comm)));
}
NAMES_X(comm_failure_ack)

void FX(comm_failure_get_acked)(const Fint *comm, Fint *failedgrp, Fint *ierror)
{
    MPI_Group group = 0;
    int code = CALL(Comm_failure_get_acked, Comm_of(*comm), &group);
    if (group)
        *failedgrp = Group_int(group);
    finish(ierror, code);
}
NAMES_X(comm_failure_get_acked)

#endif
