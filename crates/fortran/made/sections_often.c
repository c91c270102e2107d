/* Procedures with choice buffers, of which they get descriptors.
 * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those. */

#include "descriptor.h"

void D(irecv)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*source) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Irecv)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*source), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(irecv)

void D(isend)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Isend)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(isend)

void D(recv)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*source) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Recv)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*source), INT(*tag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(recv)

void D(send)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Send)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm));
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(send)

void D(sendrecv)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const Fint *dest, const Fint *sendtag, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *status, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(sendbuf, &typed_sendbuf) && INT(*dest) != MPI_PROC_NULL && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_checked_run(recvbuf, &typed_recvbuf) && INT(*source) != MPI_PROC_NULL && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = L(Sendrecv)(buffer(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, INT(*dest), INT(*sendtag), buffer(recvbuf->base_addr), NUMBER(typed_recvbuf.count), typed_recvbuf.type, INT(*source), INT(*recvtag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(sendrecv)

void D(accumulate)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = L(Accumulate)(buffer(origin_addr->base_addr), NUMBER(typed_origin_addr.count), typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(accumulate)

void D(get)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!is_checked_run(origin_addr, &typed_origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = L(Get)(buffer(origin_addr->base_addr), NUMBER(typed_origin_addr.count), typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(get)

void D(put)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!is_checked_run(origin_addr, &typed_origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = L(Put)(buffer(origin_addr->base_addr), NUMBER(typed_origin_addr.count), typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(put)
