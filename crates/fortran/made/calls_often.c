/* Procedures that are called by address.
 * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those. */

#include "fortran.h"

void F(iprobe)(const Fint *source, const Fint *tag, const Fint *comm, Flogical *flag, Fint *status, Fint *ierror)
{
    int c_flag = 0;
    STATUS(status)
    int code;
    code = C(Iprobe)(INT(*source), INT(*tag), Comm_of(*comm), &c_flag, STATUS_AT(status));
    *flag = logical(c_flag);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(iprobe, IPROBE)
NAMES_F08(iprobe, IPROBE)

void F(irecv)(void *buf, const Fint *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Irecv)(buffer(buf), *count, Type_of(*datatype), INT(*source), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(irecv, IRECV)
NAMES_F08_CHOICE(irecv, IRECV)

void F(isend)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Isend)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(isend, ISEND)
NAMES_F08_CHOICE(isend, ISEND)

void F(recv)(void *buf, const Fint *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(Recv)(buffer(buf), *count, Type_of(*datatype), INT(*source), INT(*tag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(recv, RECV)
NAMES_F08_CHOICE(recv, RECV)

void F(send)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Send)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(send, SEND)
NAMES_F08_CHOICE(send, SEND)

void F(sendrecv)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, const Fint *dest, const Fint *sendtag, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(Sendrecv)(buffer(sendbuf), *sendcount, Type_of(*sendtype), INT(*dest), INT(*sendtag), buffer(recvbuf), *recvcount, Type_of(*recvtype), INT(*source), INT(*recvtag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(sendrecv, SENDRECV)
NAMES_F08_CHOICE(sendrecv, SENDRECV)

void F(start)(Fint *request, Fint *ierror)
{
    MPI_Request c_request = Request_of(*request);
    int code;
    start(request, 1);
    code = C(Start)(&c_request);
    Request_put(request, c_request);
    finish(ierror, code);
}
NAMES(start, START)
NAMES_F08(start, START)

void F(test)(Fint *request, Flogical *flag, Fint *status, Fint *ierror)
{
    MPI_Request c_request = Request_of(*request);
    struct held *held = NULL;
    int c_flag = 0;
    STATUS(status)
    int code;
    held = hold(request, 1);
    code = C(Test)(&c_request, &c_flag, STATUS_AT(status));
    look(held, &c_request, 1);
    Request_put(request, c_request);
    *flag = logical(c_flag);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(test, TEST)
NAMES_F08(test, TEST)

void F(testall)(const Fint *count, Fint *array_of_requests, Flogical *flag, Fint *array_of_statuses, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *count;
    struct held *held = NULL;
    int c_flag = 0;
    STATUSES(array_of_statuses, *count)
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    if (NO_STATUSES(array_of_statuses)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    held = hold(array_of_requests, n_array_of_requests);
    code = C(Testall)(INT(*count), c_array_of_requests, &c_flag, STATUSES_AT(array_of_statuses));
    look(held, c_array_of_requests, n_array_of_requests);
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        Request_put(&array_of_requests[i], c_array_of_requests[i]);
    *flag = logical(c_flag);
    RETURN_STATUSES(array_of_statuses)
done:
    leave(few_array_of_requests, c_array_of_requests);
    LEAVE_STATUSES(array_of_statuses)
    finish(ierror, code);
}
NAMES(testall, TESTALL)
NAMES_F08(testall, TESTALL)

void F(wait)(Fint *request, Fint *status, Fint *ierror)
{
    MPI_Request c_request = Request_of(*request);
    struct held *held = NULL;
    STATUS(status)
    int code;
    held = hold(request, 1);
    code = C(Wait)(&c_request, STATUS_AT(status));
    look(held, &c_request, 1);
    Request_put(request, c_request);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(wait, WAIT)
NAMES_F08(wait, WAIT)

void F(waitall)(const Fint *count, Fint *array_of_requests, Fint *array_of_statuses, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *count;
    struct held *held = NULL;
    STATUSES(array_of_statuses, *count)
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    if (NO_STATUSES(array_of_statuses)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    held = hold(array_of_requests, n_array_of_requests);
    code = C(Waitall)(INT(*count), c_array_of_requests, STATUSES_AT(array_of_statuses));
    look(held, c_array_of_requests, n_array_of_requests);
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        Request_put(&array_of_requests[i], c_array_of_requests[i]);
    RETURN_STATUSES(array_of_statuses)
done:
    leave(few_array_of_requests, c_array_of_requests);
    LEAVE_STATUSES(array_of_statuses)
    finish(ierror, code);
}
NAMES(waitall, WAITALL)
NAMES_F08(waitall, WAITALL)

void F(comm_rank)(const Fint *comm, Fint *rank, Fint *ierror)
{
    INTEGER(rank)
    int code;
    code = C(Comm_rank)(Comm_of(*comm), AT(rank));
    RETURN_INTEGER(rank)
    finish(ierror, code);
}
NAMES(comm_rank, COMM_RANK)
NAMES_F08(comm_rank, COMM_RANK)

void F(comm_size)(const Fint *comm, Fint *size, Fint *ierror)
{
    INTEGER(size)
    int code;
    code = C(Comm_size)(Comm_of(*comm), AT(size));
    RETURN_INTEGER(size)
    finish(ierror, code);
}
NAMES(comm_size, COMM_SIZE)
NAMES_F08(comm_size, COMM_SIZE)

void F(accumulate)(const void *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *ierror)
{
    int code;
    code = L(Accumulate)(buffer(origin_addr), *origin_count, Type_of(*origin_datatype), INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win));
    finish(ierror, code);
}
NAMES(accumulate, ACCUMULATE)
NAMES_F08_CHOICE(accumulate, ACCUMULATE)

void F(get)(void *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *win, Fint *ierror)
{
    int code;
    code = L(Get)(buffer(origin_addr), *origin_count, Type_of(*origin_datatype), INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win));
    finish(ierror, code);
}
NAMES(get, GET)
NAMES_F08_CHOICE(get, GET)

void F(put)(const void *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *win, Fint *ierror)
{
    int code;
    code = L(Put)(buffer(origin_addr), *origin_count, Type_of(*origin_datatype), INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win));
    finish(ierror, code);
}
NAMES(put, PUT)
NAMES_F08_CHOICE(put, PUT)
