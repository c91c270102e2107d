/* Procedures of programs that go on when processes die.
 * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those. */

#include "extensions.h"

#ifndef INTEGER_8

extern int C(Comm_ack_failed)(MPI_Comm comm, int num_to_ack, int *num_acked) __attribute__((weak));
void F(comm_ack_failed)(const Fint *comm, const Fint *num_to_ack, Fint *num_acked, Fint *ierror)
{
    INTEGER(num_acked)
    int code;
    if (!C(Comm_ack_failed)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_ack_failed)(Comm_of(*comm), INT(*num_to_ack), AT(num_acked));
    RETURN_INTEGER(num_acked)
done:
    finish(ierror, code);
}
NAMES_X(comm_ack_failed)

extern int C(Comm_agree)(MPI_Comm comm, int *flag) __attribute__((weak));
void F(comm_agree)(const Fint *comm, Fint *flag, Fint *ierror)
{
    INTEGER(flag)
    int code;
    if (!C(Comm_agree)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_agree)(Comm_of(*comm), AT(flag));
    RETURN_INTEGER(flag)
done:
    finish(ierror, code);
}
NAMES_X(comm_agree)

extern int C(Comm_failure_ack)(MPI_Comm comm) __attribute__((weak));
void F(comm_failure_ack)(const Fint *comm, Fint *ierror)
{
    int code;
    if (!C(Comm_failure_ack)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_failure_ack)(Comm_of(*comm));
done:
    finish(ierror, code);
}
NAMES_X(comm_failure_ack)

extern int C(Comm_failure_get_acked)(MPI_Comm comm, MPI_Group *failedgrp) __attribute__((weak));
void F(comm_failure_get_acked)(const Fint *comm, Fint *failedgrp, Fint *ierror)
{
    MPI_Group c_failedgrp = 0;
    int code;
    if (!C(Comm_failure_get_acked)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_failure_get_acked)(Comm_of(*comm), &c_failedgrp);
    if (c_failedgrp)
        *failedgrp = Group_int(c_failedgrp);
done:
    finish(ierror, code);
}
NAMES_X(comm_failure_get_acked)

extern int C(Comm_get_failed)(MPI_Comm comm, MPI_Group *failedgrp) __attribute__((weak));
void F(comm_get_failed)(const Fint *comm, Fint *failedgrp, Fint *ierror)
{
    MPI_Group c_failedgrp = 0;
    int code;
    if (!C(Comm_get_failed)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_get_failed)(Comm_of(*comm), &c_failedgrp);
    if (c_failedgrp)
        *failedgrp = Group_int(c_failedgrp);
done:
    finish(ierror, code);
}
NAMES_X(comm_get_failed)

extern int C(Comm_iagree)(MPI_Comm comm, int *flag, MPI_Request *request) __attribute__((weak));
void F(comm_iagree)(const Fint *comm, Fint *flag, Fint *request, Fint *ierror)
{
    INTEGER(flag)
    MPI_Request c_request = 0;
    int code;
    if (!C(Comm_iagree)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_iagree)(Comm_of(*comm), AT(flag), &c_request);
    RETURN_INTEGER(flag)
    if (c_request)
        *request = Request_int(c_request);
done:
    finish(ierror, code);
}
NAMES_X(comm_iagree)

extern int C(Comm_is_revoked)(MPI_Comm comm, int *flag) __attribute__((weak));
void F(comm_is_revoked)(const Fint *comm, Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    if (!C(Comm_is_revoked)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_is_revoked)(Comm_of(*comm), &c_flag);
    *flag = logical(c_flag);
done:
    finish(ierror, code);
}
NAMES_X(comm_is_revoked)

extern int C(Comm_ishrink)(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request) __attribute__((weak));
void F(comm_ishrink)(const Fint *comm, Fint *newcomm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    MPI_Comm *c_newcomm = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!C(Comm_ishrink)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!(c_newcomm = mpifort_later_comm(&pending, newcomm, sizeof *newcomm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Comm_ishrink)(Comm_of(*comm), c_newcomm, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_X(comm_ishrink)

extern int C(Comm_revoke)(MPI_Comm comm) __attribute__((weak));
void F(comm_revoke)(const Fint *comm, Fint *ierror)
{
    int code;
    if (!C(Comm_revoke)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_revoke)(Comm_of(*comm));
done:
    finish(ierror, code);
}
NAMES_X(comm_revoke)

extern int C(Comm_shrink)(MPI_Comm comm, MPI_Comm *newcomm) __attribute__((weak));
void F(comm_shrink)(const Fint *comm, Fint *newcomm, Fint *ierror)
{
    MPI_Comm c_newcomm = 0;
    int code;
    if (!C(Comm_shrink)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Comm_shrink)(Comm_of(*comm), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
done:
    finish(ierror, code);
}
NAMES_X(comm_shrink)

#endif
