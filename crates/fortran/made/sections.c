/* Procedures with choice buffers, of which they get descriptors.
 * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those. */

#include "descriptor.h"
#pragma weak MPI_Precv_init_c
#pragma weak PMPI_Precv_init_c
#pragma weak MPI_Psend_init_c
#pragma weak PMPI_Psend_init_c

void D(free_mem)(const struct descriptor *base, Fint *ierror)
{
    int code;
    code = C(Free_mem)(buffer(base->base_addr));
    finish(ierror, code);
}
NAMES_FTS(free_mem)

void D(bsend)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Bsend)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm));
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(bsend)

void D_LARGE(bsend)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Bsend_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm));
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(bsend_init)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Bsend_init)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(bsend_init)

void D_LARGE(bsend_init)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Bsend_init_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(buffer_attach)(const struct descriptor *buffer, const Fint *size, Fint *ierror)
{
    int code;
    code = L(Buffer_attach)(attached(buffer->base_addr), *size);
    finish(ierror, code);
}
NAMES_FTS(buffer_attach)

void D_LARGE(buffer_attach)(const struct descriptor *buffer, const MPI_Count *size, Fint *ierror)
{
    int code;
    code = C(Buffer_attach_c)(attached(buffer->base_addr), *size);
    finish(ierror, code);
}

void D(comm_attach_buffer)(const Fint *comm, const struct descriptor *buffer, const Fint *size, Fint *ierror)
{
    int code;
    code = L(Comm_attach_buffer)(Comm_of(*comm), attached(buffer->base_addr), *size);
    finish(ierror, code);
}
NAMES_FTS(comm_attach_buffer)

void D_LARGE(comm_attach_buffer)(const Fint *comm, const struct descriptor *buffer, const MPI_Count *size, Fint *ierror)
{
    int code;
    code = C(Comm_attach_buffer_c)(Comm_of(*comm), attached(buffer->base_addr), *size);
    finish(ierror, code);
}

void D(ibsend)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Ibsend)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(ibsend)

void D_LARGE(ibsend)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Ibsend_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(imrecv)(const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *message, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Message c_message = Message_of(*message);
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && Message_of(*message) != MPI_MESSAGE_NO_PROC && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(Imrecv)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_message, &c_request);
    Message_put(message, c_message);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(imrecv)

void D_LARGE(imrecv)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *message, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Message c_message = Message_of(*message);
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && Message_of(*message) != MPI_MESSAGE_NO_PROC && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(Imrecv_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_message, &c_request);
    Message_put(message, c_message);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(irecv)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*source) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Irecv_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*source), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(irsend)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Irsend)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(irsend)

void D_LARGE(irsend)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Irsend_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(isend)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Isend_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(isendrecv)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const Fint *dest, const Fint *sendtag, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(sendbuf, &typed_sendbuf) && INT(*dest) != MPI_PROC_NULL && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_checked_run(recvbuf, &typed_recvbuf) && INT(*source) != MPI_PROC_NULL && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = L(Isendrecv)(buffer(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, INT(*dest), INT(*sendtag), buffer(recvbuf->base_addr), NUMBER(typed_recvbuf.count), typed_recvbuf.type, INT(*source), INT(*recvtag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(isendrecv)

void D_LARGE(isendrecv)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const Fint *dest, const Fint *sendtag, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(sendbuf, &typed_sendbuf) && INT(*dest) != MPI_PROC_NULL && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_checked_run(recvbuf, &typed_recvbuf) && INT(*source) != MPI_PROC_NULL && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = C(Isendrecv_c)(buffer(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, INT(*dest), INT(*sendtag), buffer(recvbuf->base_addr), typed_recvbuf.count, typed_recvbuf.type, INT(*source), INT(*recvtag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    finish(ierror, code);
}

void D(isendrecv_replace)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *sendtag, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (INT(*dest) != MPI_PROC_NULL || INT(*source) != MPI_PROC_NULL) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Isendrecv_replace)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*sendtag), INT(*source), INT(*recvtag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(isendrecv_replace)

void D_LARGE(isendrecv_replace)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *sendtag, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (INT(*dest) != MPI_PROC_NULL || INT(*source) != MPI_PROC_NULL) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Isendrecv_replace_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*sendtag), INT(*source), INT(*recvtag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(issend)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Issend)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(issend)

void D_LARGE(issend)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Issend_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(mrecv)(const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *message, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Message c_message = Message_of(*message);
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && Message_of(*message) != MPI_MESSAGE_NO_PROC && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(Mrecv)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_message, STATUS_AT(status));
    Message_put(message, c_message);
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(mrecv)

void D_LARGE(mrecv)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *message, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Message c_message = Message_of(*message);
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && Message_of(*message) != MPI_MESSAGE_NO_PROC && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(Mrecv_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_message, STATUS_AT(status));
    Message_put(message, c_message);
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(recv)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*source) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Recv_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*source), INT(*tag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(recv_init)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*source) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Recv_init)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*source), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(recv_init)

void D_LARGE(recv_init)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*source) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Recv_init_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*source), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(rsend)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Rsend)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm));
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(rsend)

void D_LARGE(rsend)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Rsend_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm));
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(rsend_init)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Rsend_init)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(rsend_init)

void D_LARGE(rsend_init)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Rsend_init_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(send)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Send_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm));
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(send_init)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Send_init)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(send_init)

void D_LARGE(send_init)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Send_init_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(sendrecv)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const Fint *dest, const Fint *sendtag, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *status, Fint *ierror)
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
    code = C(Sendrecv_c)(buffer(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, INT(*dest), INT(*sendtag), buffer(recvbuf->base_addr), typed_recvbuf.count, typed_recvbuf.type, INT(*source), INT(*recvtag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    finish(ierror, code);
}

void D(sendrecv_replace)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *sendtag, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (INT(*dest) != MPI_PROC_NULL || INT(*source) != MPI_PROC_NULL) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Sendrecv_replace)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*sendtag), INT(*source), INT(*recvtag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(sendrecv_replace)

void D_LARGE(sendrecv_replace)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *sendtag, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (INT(*dest) != MPI_PROC_NULL || INT(*source) != MPI_PROC_NULL) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Sendrecv_replace_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*sendtag), INT(*source), INT(*recvtag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(session_attach_buffer)(const Fint *session, const struct descriptor *buffer, const Fint *size, Fint *ierror)
{
    int code;
    code = L(Session_attach_buffer)(Session_of(*session), attached(buffer->base_addr), *size);
    finish(ierror, code);
}
NAMES_FTS(session_attach_buffer)

void D_LARGE(session_attach_buffer)(const Fint *session, const struct descriptor *buffer, const MPI_Count *size, Fint *ierror)
{
    int code;
    code = C(Session_attach_buffer_c)(Session_of(*session), attached(buffer->base_addr), *size);
    finish(ierror, code);
}

void D(ssend)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Ssend)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm));
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(ssend)

void D_LARGE(ssend)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Ssend_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm));
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(ssend_init)(const struct descriptor *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = L(Ssend_init)(buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(ssend_init)

void D_LARGE(ssend_init)(const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Ssend_init_c)(buffer(buf->base_addr), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(precv_init)(const struct descriptor *buf, const Fint *partitions, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_partitions(buf, *partitions, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Precv_init)(buffer(buf->base_addr), INT(*partitions), (int)typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(precv_init)

void D_LARGE(precv_init)(const struct descriptor *buf, const Fint *partitions, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!C(Precv_init_c)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_partitions(buf, *partitions, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Precv_init_c)(buffer(buf->base_addr), INT(*partitions), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(psend_init)(const struct descriptor *buf, const Fint *partitions, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_partitions(buf, *partitions, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Psend_init)(buffer(buf->base_addr), INT(*partitions), (int)typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(psend_init)

void D_LARGE(psend_init)(const struct descriptor *buf, const Fint *partitions, const MPI_Count *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!C(Psend_init_c)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(buf) && INT(*dest) != MPI_PROC_NULL && (class_buf = mpifort_partitions(buf, *partitions, &typed_buf))) {
        code = mpifort_raise(Comm_of(*comm), class_buf);
        goto done;
    }
    code = C(Psend_init_c)(buffer(buf->base_addr), INT(*partitions), typed_buf.count, typed_buf.type, INT(*dest), INT(*tag), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(get_address)(const struct descriptor *location, MPI_Aint *address, Fint *ierror)
{
    int code;
    code = C(Get_address)(buffer(location->base_addr), address);
    finish(ierror, code);
}
NAMES_FTS(get_address)

void D(pack)(const struct descriptor *inbuf, const Fint *incount, const Fint *datatype, const struct descriptor *outbuf, const Fint *outsize, Fint *position, const Fint *comm, Fint *ierror)
{
    struct typed typed_inbuf = {*incount, Type_of(*datatype), 0};
    int class_inbuf = MPI_SUCCESS;
    void *copy_outbuf = NULL;
    int code;
    if (!is_checked_run(inbuf, &typed_inbuf) && (class_inbuf = mpifort_section(inbuf, &typed_inbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_inbuf);
        goto done;
    }
    if (!is_run(outbuf) && !mpifort_holds(outbuf, *outsize, MPI_BYTE)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(outbuf) && !(copy_outbuf = mpifort_gather(outbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Pack)(buffer(inbuf->base_addr), NUMBER(typed_inbuf.count), typed_inbuf.type, copy_outbuf ? copy_outbuf : buffer(outbuf->base_addr), *outsize, position, Comm_of(*comm));
    if (copy_outbuf)
        mpifort_scatter(outbuf, copy_outbuf);
done:
    free_typed(&typed_inbuf);
    free(copy_outbuf);
    finish(ierror, code);
}
NAMES_FTS(pack)

void D_LARGE(pack)(const struct descriptor *inbuf, const MPI_Count *incount, const Fint *datatype, const struct descriptor *outbuf, const MPI_Count *outsize, MPI_Count *position, const Fint *comm, Fint *ierror)
{
    struct typed typed_inbuf = {*incount, Type_of(*datatype), 0};
    int class_inbuf = MPI_SUCCESS;
    void *copy_outbuf = NULL;
    int code;
    if (!is_checked_run(inbuf, &typed_inbuf) && (class_inbuf = mpifort_section(inbuf, &typed_inbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_inbuf);
        goto done;
    }
    if (!is_run(outbuf) && !mpifort_holds(outbuf, *outsize, MPI_BYTE)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(outbuf) && !(copy_outbuf = mpifort_gather(outbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Pack_c)(buffer(inbuf->base_addr), typed_inbuf.count, typed_inbuf.type, copy_outbuf ? copy_outbuf : buffer(outbuf->base_addr), *outsize, position, Comm_of(*comm));
    if (copy_outbuf)
        mpifort_scatter(outbuf, copy_outbuf);
done:
    free_typed(&typed_inbuf);
    free(copy_outbuf);
    finish(ierror, code);
}

void D(pack_external)(WORDS(datarep), const struct descriptor *inbuf, const Fint *incount, const Fint *datatype, const struct descriptor *outbuf, const MPI_Aint *outsize, MPI_Aint *position, Fint *ierror WORDS_LENGTH(datarep))
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    struct typed typed_inbuf = {*incount, Type_of(*datatype), 0};
    int class_inbuf = MPI_SUCCESS;
    void *copy_outbuf = NULL;
    int code;
    c_datarep = mpifort_text(WORDS_AT(datarep), LENGTH(datarep), few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_checked_run(inbuf, &typed_inbuf) && (class_inbuf = mpifort_section(inbuf, &typed_inbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_inbuf);
        goto done;
    }
    if (!is_run(outbuf) && !mpifort_holds(outbuf, *outsize, MPI_BYTE)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(outbuf) && !(copy_outbuf = mpifort_gather(outbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Pack_external)(c_datarep, buffer(inbuf->base_addr), NUMBER(typed_inbuf.count), typed_inbuf.type, copy_outbuf ? copy_outbuf : buffer(outbuf->base_addr), *outsize, position);
    if (copy_outbuf)
        mpifort_scatter(outbuf, copy_outbuf);
done:
    leave(few_datarep, c_datarep);
    free_typed(&typed_inbuf);
    free(copy_outbuf);
    finish(ierror, code);
}
NAMES_FTS(pack_external)

void D_LARGE(pack_external)(WORDS(datarep), const struct descriptor *inbuf, const MPI_Count *incount, const Fint *datatype, const struct descriptor *outbuf, const MPI_Count *outsize, MPI_Count *position, Fint *ierror WORDS_LENGTH(datarep))
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    struct typed typed_inbuf = {*incount, Type_of(*datatype), 0};
    int class_inbuf = MPI_SUCCESS;
    void *copy_outbuf = NULL;
    int code;
    c_datarep = mpifort_text(WORDS_AT(datarep), LENGTH(datarep), few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_checked_run(inbuf, &typed_inbuf) && (class_inbuf = mpifort_section(inbuf, &typed_inbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_inbuf);
        goto done;
    }
    if (!is_run(outbuf) && !mpifort_holds(outbuf, *outsize, MPI_BYTE)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(outbuf) && !(copy_outbuf = mpifort_gather(outbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Pack_external_c)(c_datarep, buffer(inbuf->base_addr), typed_inbuf.count, typed_inbuf.type, copy_outbuf ? copy_outbuf : buffer(outbuf->base_addr), *outsize, position);
    if (copy_outbuf)
        mpifort_scatter(outbuf, copy_outbuf);
done:
    leave(few_datarep, c_datarep);
    free_typed(&typed_inbuf);
    free(copy_outbuf);
    finish(ierror, code);
}

void D(unpack)(const struct descriptor *inbuf, const Fint *insize, Fint *position, const struct descriptor *outbuf, const Fint *outcount, const Fint *datatype, const Fint *comm, Fint *ierror)
{
    void *copy_inbuf = NULL;
    struct typed typed_outbuf = {*outcount, Type_of(*datatype), 0};
    int class_outbuf = MPI_SUCCESS;
    int code;
    if (!is_run(inbuf) && !mpifort_holds(inbuf, *insize, MPI_BYTE)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(inbuf) && !(copy_inbuf = mpifort_gather(inbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_checked_run(outbuf, &typed_outbuf) && (class_outbuf = mpifort_section(outbuf, &typed_outbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_outbuf);
        goto done;
    }
    code = L(Unpack)(copy_inbuf ? copy_inbuf : buffer(inbuf->base_addr), *insize, position, buffer(outbuf->base_addr), NUMBER(typed_outbuf.count), typed_outbuf.type, Comm_of(*comm));
done:
    free(copy_inbuf);
    free_typed(&typed_outbuf);
    finish(ierror, code);
}
NAMES_FTS(unpack)

void D_LARGE(unpack)(const struct descriptor *inbuf, const MPI_Count *insize, MPI_Count *position, const struct descriptor *outbuf, const MPI_Count *outcount, const Fint *datatype, const Fint *comm, Fint *ierror)
{
    void *copy_inbuf = NULL;
    struct typed typed_outbuf = {*outcount, Type_of(*datatype), 0};
    int class_outbuf = MPI_SUCCESS;
    int code;
    if (!is_run(inbuf) && !mpifort_holds(inbuf, *insize, MPI_BYTE)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(inbuf) && !(copy_inbuf = mpifort_gather(inbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_checked_run(outbuf, &typed_outbuf) && (class_outbuf = mpifort_section(outbuf, &typed_outbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_outbuf);
        goto done;
    }
    code = C(Unpack_c)(copy_inbuf ? copy_inbuf : buffer(inbuf->base_addr), *insize, position, buffer(outbuf->base_addr), typed_outbuf.count, typed_outbuf.type, Comm_of(*comm));
done:
    free(copy_inbuf);
    free_typed(&typed_outbuf);
    finish(ierror, code);
}

void D(unpack_external)(WORDS(datarep), const struct descriptor *inbuf, const MPI_Aint *insize, MPI_Aint *position, const struct descriptor *outbuf, const Fint *outcount, const Fint *datatype, Fint *ierror WORDS_LENGTH(datarep))
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    void *copy_inbuf = NULL;
    struct typed typed_outbuf = {*outcount, Type_of(*datatype), 0};
    int class_outbuf = MPI_SUCCESS;
    int code;
    c_datarep = mpifort_text(WORDS_AT(datarep), LENGTH(datarep), few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(inbuf) && !mpifort_holds(inbuf, *insize, MPI_BYTE)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(inbuf) && !(copy_inbuf = mpifort_gather(inbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_checked_run(outbuf, &typed_outbuf) && (class_outbuf = mpifort_section(outbuf, &typed_outbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_outbuf);
        goto done;
    }
    code = L(Unpack_external)(c_datarep, copy_inbuf ? copy_inbuf : buffer(inbuf->base_addr), *insize, position, buffer(outbuf->base_addr), NUMBER(typed_outbuf.count), typed_outbuf.type);
done:
    leave(few_datarep, c_datarep);
    free(copy_inbuf);
    free_typed(&typed_outbuf);
    finish(ierror, code);
}
NAMES_FTS(unpack_external)

void D_LARGE(unpack_external)(WORDS(datarep), const struct descriptor *inbuf, const MPI_Count *insize, MPI_Count *position, const struct descriptor *outbuf, const MPI_Count *outcount, const Fint *datatype, Fint *ierror WORDS_LENGTH(datarep))
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    void *copy_inbuf = NULL;
    struct typed typed_outbuf = {*outcount, Type_of(*datatype), 0};
    int class_outbuf = MPI_SUCCESS;
    int code;
    c_datarep = mpifort_text(WORDS_AT(datarep), LENGTH(datarep), few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(inbuf) && !mpifort_holds(inbuf, *insize, MPI_BYTE)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(inbuf) && !(copy_inbuf = mpifort_gather(inbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_checked_run(outbuf, &typed_outbuf) && (class_outbuf = mpifort_section(outbuf, &typed_outbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_outbuf);
        goto done;
    }
    code = C(Unpack_external_c)(c_datarep, copy_inbuf ? copy_inbuf : buffer(inbuf->base_addr), *insize, position, buffer(outbuf->base_addr), typed_outbuf.count, typed_outbuf.type);
done:
    leave(few_datarep, c_datarep);
    free(copy_inbuf);
    free_typed(&typed_outbuf);
    finish(ierror, code);
}

void D(allgather)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Allgather)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(allgather)

void D_LARGE(allgather)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Allgather_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(allgather_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Allgather_init)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(allgather_init)

void D_LARGE(allgather_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Allgather_init_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(allgatherv)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Allgatherv)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(allgatherv)

void D_LARGE(allgatherv)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Allgatherv_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(allgatherv_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Allgatherv_init)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(allgatherv_init)

void D_LARGE(allgatherv_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Allgatherv_init_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(allreduce)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Allreduce)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(allreduce)

void D_LARGE(allreduce)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Allreduce_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(allreduce_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Allreduce_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(allreduce_init)

void D_LARGE(allreduce_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Allreduce_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(alltoall)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Alltoall)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, Type_of(*sendtype), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(alltoall)

void D_LARGE(alltoall)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Alltoall_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, Type_of(*sendtype), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(alltoall_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Alltoall_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(alltoall_init)

void D_LARGE(alltoall_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Alltoall_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(alltoallv)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Alltoallv)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, Type_of(*sendtype), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(alltoallv)

void D_LARGE(alltoallv)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Alltoallv_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, Type_of(*sendtype), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(alltoallv_init)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Alltoallv_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(alltoallv_init)

void D_LARGE(alltoallv_init)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Alltoallv_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(alltoallw)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), NUMBERS(sendtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), NUMBERS(recvtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Alltoallw)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    leave(few_sendtypes, c_sendtypes);
    free(copy_recvbuf);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}
NAMES_FTS(alltoallw)

void D_LARGE(alltoallw)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), NUMBERS(sendtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), NUMBERS(recvtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = C(Alltoallw_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    leave(few_sendtypes, c_sendtypes);
    free(copy_recvbuf);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}

void D(alltoallw_init)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtypes, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), NUMBERS(sendtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), NUMBERS(recvtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Alltoallw_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(alltoallw_init)

void D_LARGE(alltoallw_init)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), NUMBERS(sendtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), NUMBERS(recvtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = C(Alltoallw_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(bcast)(const struct descriptor *buffer, const Fint *count, const Fint *datatype, const Fint *root, const Fint *comm, Fint *ierror)
{
    struct typed typed_buffer = {*count, Type_of(*datatype), 0};
    int class_buffer = MPI_SUCCESS;
    int code;
    if (!is_run(buffer) && INT(*root) != MPI_PROC_NULL && (class_buffer = mpifort_section(buffer, &typed_buffer))) {
        code = mpifort_raise(Comm_of(*comm), class_buffer);
        goto done;
    }
    code = L(Bcast)(place(buffer->base_addr), NUMBER(typed_buffer.count), typed_buffer.type, INT(*root), Comm_of(*comm));
done:
    free_typed(&typed_buffer);
    finish(ierror, code);
}
NAMES_FTS(bcast)

void D_LARGE(bcast)(const struct descriptor *buffer, const MPI_Count *count, const Fint *datatype, const Fint *root, const Fint *comm, Fint *ierror)
{
    struct typed typed_buffer = {*count, Type_of(*datatype), 0};
    int class_buffer = MPI_SUCCESS;
    int code;
    if (!is_run(buffer) && INT(*root) != MPI_PROC_NULL && (class_buffer = mpifort_section(buffer, &typed_buffer))) {
        code = mpifort_raise(Comm_of(*comm), class_buffer);
        goto done;
    }
    code = C(Bcast_c)(place(buffer->base_addr), typed_buffer.count, typed_buffer.type, INT(*root), Comm_of(*comm));
done:
    free_typed(&typed_buffer);
    finish(ierror, code);
}

void D(bcast_init)(const struct descriptor *buffer, const Fint *count, const Fint *datatype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_buffer = {*count, Type_of(*datatype), 0};
    int class_buffer = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(buffer) && INT(*root) != MPI_PROC_NULL && (class_buffer = mpifort_section(buffer, &typed_buffer))) {
        code = mpifort_raise(Comm_of(*comm), class_buffer);
        goto done;
    }
    code = L(Bcast_init)(place(buffer->base_addr), NUMBER(typed_buffer.count), typed_buffer.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buffer);
    finish(ierror, code);
}
NAMES_FTS(bcast_init)

void D_LARGE(bcast_init)(const struct descriptor *buffer, const MPI_Count *count, const Fint *datatype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_buffer = {*count, Type_of(*datatype), 0};
    int class_buffer = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(buffer) && INT(*root) != MPI_PROC_NULL && (class_buffer = mpifort_section(buffer, &typed_buffer))) {
        code = mpifort_raise(Comm_of(*comm), class_buffer);
        goto done;
    }
    code = C(Bcast_init_c)(place(buffer->base_addr), typed_buffer.count, typed_buffer.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buffer);
    finish(ierror, code);
}

void D(exscan)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Exscan)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(exscan)

void D_LARGE(exscan)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Exscan_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(exscan_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Exscan_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(exscan_init)

void D_LARGE(exscan_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Exscan_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(gather)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Gather)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(gather)

void D_LARGE(gather)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Gather_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(gather_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Gather_init)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(gather_init)

void D_LARGE(gather_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Gather_init_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(gatherv)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Gatherv)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, Type_of(*recvtype), INT(*root), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(gatherv)

void D_LARGE(gatherv)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Gatherv_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, Type_of(*recvtype), INT(*root), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(gatherv_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Gatherv_init)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(gatherv_init)

void D_LARGE(gatherv_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Gatherv_init_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(iallgather)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Iallgather)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(iallgather)

void D_LARGE(iallgather)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Iallgather_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(iallgatherv)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Iallgatherv)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(iallgatherv)

void D_LARGE(iallgatherv)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Iallgatherv_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(iallreduce)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Iallreduce)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(iallreduce)

void D_LARGE(iallreduce)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Iallreduce_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ialltoall)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ialltoall)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ialltoall)

void D_LARGE(ialltoall)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ialltoall_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ialltoallv)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ialltoallv)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ialltoallv)

void D_LARGE(ialltoallv)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ialltoallv_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ialltoallw)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), NUMBERS(sendtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), NUMBERS(recvtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Ialltoallw)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ialltoallw)

void D_LARGE(ialltoallw)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), ranks(Comm_of(*comm)), NUMBERS(sendtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), ranks(Comm_of(*comm)), NUMBERS(recvtypes), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = C(Ialltoallw_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ibcast)(const struct descriptor *buffer, const Fint *count, const Fint *datatype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buffer = {*count, Type_of(*datatype), 0};
    int class_buffer = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(buffer) && INT(*root) != MPI_PROC_NULL && (class_buffer = mpifort_section(buffer, &typed_buffer))) {
        code = mpifort_raise(Comm_of(*comm), class_buffer);
        goto done;
    }
    code = L(Ibcast)(place(buffer->base_addr), NUMBER(typed_buffer.count), typed_buffer.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buffer);
    finish(ierror, code);
}
NAMES_FTS(ibcast)

void D_LARGE(ibcast)(const struct descriptor *buffer, const MPI_Count *count, const Fint *datatype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_buffer = {*count, Type_of(*datatype), 0};
    int class_buffer = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(buffer) && INT(*root) != MPI_PROC_NULL && (class_buffer = mpifort_section(buffer, &typed_buffer))) {
        code = mpifort_raise(Comm_of(*comm), class_buffer);
        goto done;
    }
    code = C(Ibcast_c)(place(buffer->base_addr), typed_buffer.count, typed_buffer.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buffer);
    finish(ierror, code);
}

void D(iexscan)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Iexscan)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(iexscan)

void D_LARGE(iexscan)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && (place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm))) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Iexscan_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(igather)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Igather)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(igather)

void D_LARGE(igather)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * ranks(Comm_of(*comm)), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Igather_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(igatherv)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Igatherv)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(igatherv)

void D_LARGE(igatherv)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*recvtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Igatherv_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ireduce)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ireduce)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ireduce)

void D_LARGE(ireduce)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ireduce_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ireduce_scatter)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_all(sendbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds_all(recvbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, own(recvcounts, Comm_of(*comm)), Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ireduce_scatter)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ireduce_scatter)

void D(ireduce_scatter_block)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds(recvbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, *recvcount, Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ireduce_scatter_block)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ireduce_scatter_block)

void D_LARGE(ireduce_scatter_block)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds(recvbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, *recvcount, Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ireduce_scatter_block_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D_LARGE(ireduce_scatter)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_all(sendbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds_all(recvbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, own(recvcounts, Comm_of(*comm)), Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ireduce_scatter_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(iscan)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Iscan)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(iscan)

void D_LARGE(iscan)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Iscan_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(iscatter)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = L(Iscatter)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, place(recvbuf->base_addr), NUMBER(typed_recvbuf.count), typed_recvbuf.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(iscatter)

void D_LARGE(iscatter)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = C(Iscatter_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, place(recvbuf->base_addr), typed_recvbuf.count, typed_recvbuf.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(iscatterv)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *displs, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = L(Iscatterv)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, displs, typed_sendbuf.type, place(recvbuf->base_addr), NUMBER(typed_recvbuf.count), typed_recvbuf.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(iscatterv)

void D_LARGE(iscatterv)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *displs, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = C(Iscatterv_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, displs, typed_sendbuf.type, place(recvbuf->base_addr), typed_recvbuf.count, typed_recvbuf.type, INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(reduce)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Reduce)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(reduce)

void D_LARGE(reduce)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Reduce_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(reduce_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Reduce_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(reduce_init)

void D_LARGE(reduce_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && receives(Comm_of(*comm), *root) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Reduce_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(reduce_local)(const struct descriptor *inbuf, const struct descriptor *inoutbuf, const Fint *count, const Fint *datatype, const Fint *op, Fint *ierror)
{
    void *copy_inbuf = NULL;
    void *copy_inoutbuf = NULL;
    int code;
    if (!is_run(inbuf) && !mpifort_holds(inbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(inbuf) && !(copy_inbuf = mpifort_gather(inbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(inoutbuf) && !mpifort_holds(inoutbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(inoutbuf) && !(copy_inoutbuf = mpifort_gather(inoutbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Reduce_local)(copy_inbuf ? copy_inbuf : place(inbuf->base_addr), copy_inoutbuf ? copy_inoutbuf : place(inoutbuf->base_addr), *count, Type_of(*datatype), Op_of(*op));
    if (copy_inoutbuf)
        mpifort_scatter(inoutbuf, copy_inoutbuf);
done:
    free(copy_inbuf);
    free(copy_inoutbuf);
    finish(ierror, code);
}
NAMES_FTS(reduce_local)

void D_LARGE(reduce_local)(const struct descriptor *inbuf, const struct descriptor *inoutbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, Fint *ierror)
{
    void *copy_inbuf = NULL;
    void *copy_inoutbuf = NULL;
    int code;
    if (!is_run(inbuf) && !mpifort_holds(inbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(inbuf) && !(copy_inbuf = mpifort_gather(inbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(inoutbuf) && !mpifort_holds(inoutbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(inoutbuf) && !(copy_inoutbuf = mpifort_gather(inoutbuf))) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Reduce_local_c)(copy_inbuf ? copy_inbuf : place(inbuf->base_addr), copy_inoutbuf ? copy_inoutbuf : place(inoutbuf->base_addr), *count, Type_of(*datatype), Op_of(*op));
    if (copy_inoutbuf)
        mpifort_scatter(inoutbuf, copy_inoutbuf);
done:
    free(copy_inbuf);
    free(copy_inoutbuf);
    finish(ierror, code);
}

void D(reduce_scatter)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_all(sendbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds_all(recvbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, own(recvcounts, Comm_of(*comm)), Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Reduce_scatter)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(reduce_scatter)

void D(reduce_scatter_block)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds(recvbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, *recvcount, Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Reduce_scatter_block)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(reduce_scatter_block)

void D_LARGE(reduce_scatter_block)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds(recvbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, *recvcount, Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Reduce_scatter_block_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(reduce_scatter_block_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds(recvbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, *recvcount, Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Reduce_scatter_block_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(reduce_scatter_block_init)

void D_LARGE(reduce_scatter_block_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds(recvbuf, (MPI_Count)*recvcount * members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, *recvcount, Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Reduce_scatter_block_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D_LARGE(reduce_scatter)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_all(sendbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds_all(recvbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, own(recvcounts, Comm_of(*comm)), Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Reduce_scatter_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(reduce_scatter_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_all(sendbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds_all(recvbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, own(recvcounts, Comm_of(*comm)), Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Reduce_scatter_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(reduce_scatter_init)

void D_LARGE(reduce_scatter_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_all(sendbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !(place(sendbuf->base_addr) == MPI_IN_PLACE ? mpifort_holds_all(recvbuf, NUMBERS(recvcounts), members(Comm_of(*comm)), Type_of(*datatype)) : mpifort_holds(recvbuf, own(recvcounts, Comm_of(*comm)), Type_of(*datatype)))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Reduce_scatter_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(scan)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Scan)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(scan)

void D_LARGE(scan)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Scan_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(scan_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Scan_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(scan_init)

void D_LARGE(scan_init)(const struct descriptor *sendbuf, const struct descriptor *recvbuf, const MPI_Count *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, *count, Type_of(*datatype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Scan_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(scatter)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = L(Scatter)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, Type_of(*sendtype), place(recvbuf->base_addr), NUMBER(typed_recvbuf.count), typed_recvbuf.type, INT(*root), Comm_of(*comm));
done:
    free(copy_sendbuf);
    free_typed(&typed_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(scatter)

void D_LARGE(scatter)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = C(Scatter_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, Type_of(*sendtype), place(recvbuf->base_addr), typed_recvbuf.count, typed_recvbuf.type, INT(*root), Comm_of(*comm));
done:
    free(copy_sendbuf);
    free_typed(&typed_recvbuf);
    finish(ierror, code);
}

void D(scatter_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = L(Scatter_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, place(recvbuf->base_addr), NUMBER(typed_recvbuf.count), typed_recvbuf.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(scatter_init)

void D_LARGE(scatter_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * ranks(Comm_of(*comm)), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = C(Scatter_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, place(recvbuf->base_addr), typed_recvbuf.count, typed_recvbuf.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(scatterv)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *displs, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = L(Scatterv)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, displs, Type_of(*sendtype), place(recvbuf->base_addr), NUMBER(typed_recvbuf.count), typed_recvbuf.type, INT(*root), Comm_of(*comm));
done:
    free(copy_sendbuf);
    free_typed(&typed_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(scatterv)

void D_LARGE(scatterv)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *displs, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = C(Scatterv_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, displs, Type_of(*sendtype), place(recvbuf->base_addr), typed_recvbuf.count, typed_recvbuf.type, INT(*root), Comm_of(*comm));
done:
    free(copy_sendbuf);
    free_typed(&typed_recvbuf);
    finish(ierror, code);
}

void D(scatterv_init)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *displs, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = L(Scatterv_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, displs, typed_sendbuf.type, place(recvbuf->base_addr), NUMBER(typed_recvbuf.count), typed_recvbuf.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(scatterv_init)

void D_LARGE(scatterv_init)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *displs, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {*recvcount, Type_of(*recvtype), 0};
    int class_recvbuf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(displs), ranks(Comm_of(*comm)), Type_of(*sendtype), MPI_COMM_NULL)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && receives(Comm_of(*comm), *root) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT && (class_recvbuf = mpifort_section(recvbuf, &typed_recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_recvbuf);
        goto done;
    }
    code = C(Scatterv_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, displs, typed_sendbuf.type, place(recvbuf->base_addr), typed_recvbuf.count, typed_recvbuf.type, INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(ineighbor_allgather)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ineighbor_allgather)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ineighbor_allgather)

void D_LARGE(ineighbor_allgather)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ineighbor_allgather_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ineighbor_allgatherv)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ineighbor_allgatherv)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ineighbor_allgatherv)

void D_LARGE(ineighbor_allgatherv)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ineighbor_allgatherv_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ineighbor_alltoall)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * mpifort_reach(Comm_of(*comm), destinations(Comm_of(*comm))), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ineighbor_alltoall)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ineighbor_alltoall)

void D_LARGE(ineighbor_alltoall)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * mpifort_reach(Comm_of(*comm), destinations(Comm_of(*comm))), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ineighbor_alltoall_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ineighbor_alltoallv)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), Type_of(*sendtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Ineighbor_alltoallv)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ineighbor_alltoallv)

void D_LARGE(ineighbor_alltoallv)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), Type_of(*sendtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Ineighbor_alltoallv_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, typed_recvbuf.type, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(ineighbor_alltoallw)(const struct descriptor *sendbuf, const Fint *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const Fint *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), NUMBERS(sendtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), NUMBERS(recvtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Ineighbor_alltoallw)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES_FTS(ineighbor_alltoallw)

void D_LARGE(ineighbor_alltoallw)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), NUMBERS(sendtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), NUMBERS(recvtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = C(Ineighbor_alltoallw_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}

void D(neighbor_allgather)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Neighbor_allgather)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(neighbor_allgather)

void D_LARGE(neighbor_allgather)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Neighbor_allgather_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(neighbor_allgather_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Neighbor_allgather_init)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(neighbor_allgather_init)

void D_LARGE(neighbor_allgather_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Neighbor_allgather_init_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(neighbor_allgatherv)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Neighbor_allgatherv)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(neighbor_allgatherv)

void D_LARGE(neighbor_allgatherv)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Neighbor_allgatherv_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free_typed(&typed_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(neighbor_allgatherv_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Neighbor_allgatherv_init)(place(sendbuf->base_addr), NUMBER(typed_sendbuf.count), typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(neighbor_allgatherv_init)

void D_LARGE(neighbor_allgatherv_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *displs, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {*sendcount, Type_of(*sendtype), 0};
    int class_sendbuf = MPI_SUCCESS;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    struct pending *pending = NULL;
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && (class_sendbuf = mpifort_section(sendbuf, &typed_sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), class_sendbuf);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(displs), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Neighbor_allgatherv_init_c)(place(sendbuf->base_addr), typed_sendbuf.count, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, displs, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(neighbor_alltoall)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * mpifort_reach(Comm_of(*comm), destinations(Comm_of(*comm))), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Neighbor_alltoall)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, Type_of(*sendtype), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(neighbor_alltoall)

void D_LARGE(neighbor_alltoall)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * mpifort_reach(Comm_of(*comm), destinations(Comm_of(*comm))), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Neighbor_alltoall_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, Type_of(*sendtype), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(neighbor_alltoall_init)(const struct descriptor *sendbuf, const Fint *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * mpifort_reach(Comm_of(*comm), destinations(Comm_of(*comm))), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Neighbor_alltoall_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(neighbor_alltoall_init)

void D_LARGE(neighbor_alltoall_init)(const struct descriptor *sendbuf, const MPI_Count *sendcount, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds(sendbuf, (MPI_Count)*sendcount * mpifort_reach(Comm_of(*comm), destinations(Comm_of(*comm))), Type_of(*sendtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds(recvbuf, (MPI_Count)*recvcount * mpifort_reach(Comm_of(*comm), sources(Comm_of(*comm))), Type_of(*recvtype))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Neighbor_alltoall_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), *sendcount, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), *recvcount, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(neighbor_alltoallv)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), Type_of(*sendtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Neighbor_alltoallv)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, Type_of(*sendtype), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}
NAMES_FTS(neighbor_alltoallv)

void D_LARGE(neighbor_alltoallv)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    void *copy_recvbuf = NULL;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), Type_of(*sendtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Neighbor_alltoallv_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, Type_of(*sendtype), copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    free(copy_recvbuf);
    finish(ierror, code);
}

void D(neighbor_alltoallv_init)(const struct descriptor *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), Type_of(*sendtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Neighbor_alltoallv_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(neighbor_alltoallv_init)

void D_LARGE(neighbor_alltoallv_init)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtype, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct typed typed_sendbuf = {0, Type_of(*sendtype), 0};
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    struct typed typed_recvbuf = {0, Type_of(*recvtype), 0};
    void *copy_recvbuf = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_parts(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), Type_of(*sendtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && mpifort_stride(sendbuf, &typed_sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (!is_run(recvbuf) && !mpifort_holds_parts(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), Type_of(*recvtype), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && mpifort_stride(recvbuf, &typed_recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Neighbor_alltoallv_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, typed_sendbuf.type, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, typed_recvbuf.type, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_sendbuf);
    free_typed(&typed_recvbuf);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D(neighbor_alltoallw)(const struct descriptor *sendbuf, const Fint *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const Fint *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), NUMBERS(sendtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), NUMBERS(recvtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Neighbor_alltoallw)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    leave(few_sendtypes, c_sendtypes);
    free(copy_recvbuf);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}
NAMES_FTS(neighbor_alltoallw)

void D_LARGE(neighbor_alltoallw)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *ierror)
{
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), NUMBERS(sendtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_gather(sendbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), NUMBERS(recvtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_gather(recvbuf))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = C(Neighbor_alltoallw_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm));
    if (copy_recvbuf)
        mpifort_scatter(recvbuf, copy_recvbuf);
done:
    free(copy_sendbuf);
    leave(few_sendtypes, c_sendtypes);
    free(copy_recvbuf);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}

void D(neighbor_alltoallw_init)(const struct descriptor *sendbuf, const Fint *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const Fint *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), NUMBERS(sendtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), NUMBERS(recvtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Neighbor_alltoallw_init)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}
NAMES_FTS(neighbor_alltoallw_init)

void D_LARGE(neighbor_alltoallw_init)(const struct descriptor *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, const struct descriptor *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    void *copy_sendbuf = NULL;
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf->base_addr) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    void *copy_recvbuf = NULL;
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf->base_addr) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    if (!is_run(sendbuf) && !mpifort_holds_types(sendbuf, NUMBERS(sendcounts), NUMBERS(sdispls), destinations(Comm_of(*comm)), NUMBERS(sendtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(sendbuf) && !(copy_sendbuf = mpifort_later(&pending, sendbuf, 0))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    if (!is_run(recvbuf) && !mpifort_holds_types(recvbuf, NUMBERS(recvcounts), NUMBERS(rdispls), sources(Comm_of(*comm)), NUMBERS(recvtypes), Comm_of(*comm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_BUFFER);
        goto done;
    }
    if (!is_run(recvbuf) && !(copy_recvbuf = mpifort_later(&pending, recvbuf, 1))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = C(Neighbor_alltoallw_init_c)(copy_sendbuf ? copy_sendbuf : place(sendbuf->base_addr), sendcounts, sdispls, c_sendtypes, copy_recvbuf ? copy_recvbuf : place(recvbuf->base_addr), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 1);
    finish(ierror, code);
}

void D_LARGE(accumulate)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Accumulate_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

void D(compare_and_swap)(const struct descriptor *origin_addr, const struct descriptor *compare_addr, const struct descriptor *result_addr, const Fint *datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Compare_and_swap)(buffer(origin_addr->base_addr), buffer(compare_addr->base_addr), buffer(result_addr->base_addr), Type_of(*datatype), INT(*target_rank), *target_disp, Win_of(*win));
    finish(ierror, code);
}
NAMES_FTS(compare_and_swap)

void D(fetch_and_op)(const struct descriptor *origin_addr, const struct descriptor *result_addr, const Fint *datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *op, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Fetch_and_op)(buffer(origin_addr->base_addr), buffer(result_addr->base_addr), Type_of(*datatype), INT(*target_rank), *target_disp, Op_of(*op), Win_of(*win));
    finish(ierror, code);
}
NAMES_FTS(fetch_and_op)

void D(get_accumulate)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const struct descriptor *result_addr, const Fint *result_count, const Fint *result_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    struct typed typed_result_addr = {*result_count, Type_of(*result_datatype), 0};
    int class_result_addr = MPI_SUCCESS;
    int code;
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    if (!is_run(result_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_result_addr = mpifort_section(result_addr, &typed_result_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_result_addr);
        goto done;
    }
    code = L(Get_accumulate)(buffer(origin_addr->base_addr), NUMBER(typed_origin_addr.count), typed_origin_addr.type, buffer(result_addr->base_addr), NUMBER(typed_result_addr.count), typed_result_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    free_typed(&typed_result_addr);
    finish(ierror, code);
}
NAMES_FTS(get_accumulate)

void D_LARGE(get_accumulate)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const struct descriptor *result_addr, const MPI_Count *result_count, const Fint *result_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    struct typed typed_result_addr = {*result_count, Type_of(*result_datatype), 0};
    int class_result_addr = MPI_SUCCESS;
    int code;
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    if (!is_run(result_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_result_addr = mpifort_section(result_addr, &typed_result_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_result_addr);
        goto done;
    }
    code = C(Get_accumulate_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, buffer(result_addr->base_addr), typed_result_addr.count, typed_result_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    free_typed(&typed_result_addr);
    finish(ierror, code);
}

void D_LARGE(get)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!is_checked_run(origin_addr, &typed_origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Get_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

void D_LARGE(put)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!is_checked_run(origin_addr, &typed_origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Put_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

void D(raccumulate)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = L(Raccumulate)(buffer(origin_addr->base_addr), NUMBER(typed_origin_addr.count), typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(raccumulate)

void D_LARGE(raccumulate)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Raccumulate_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

void D(rget)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(origin_addr, &typed_origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = L(Rget)(buffer(origin_addr->base_addr), NUMBER(typed_origin_addr.count), typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(rget)

void D(rget_accumulate)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const struct descriptor *result_addr, const Fint *result_count, const Fint *result_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    struct typed typed_result_addr = {*result_count, Type_of(*result_datatype), 0};
    int class_result_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    if (!is_run(result_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_result_addr = mpifort_section(result_addr, &typed_result_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_result_addr);
        goto done;
    }
    code = L(Rget_accumulate)(buffer(origin_addr->base_addr), NUMBER(typed_origin_addr.count), typed_origin_addr.type, buffer(result_addr->base_addr), NUMBER(typed_result_addr.count), typed_result_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    free_typed(&typed_result_addr);
    finish(ierror, code);
}
NAMES_FTS(rget_accumulate)

void D_LARGE(rget_accumulate)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const struct descriptor *result_addr, const MPI_Count *result_count, const Fint *result_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    struct typed typed_result_addr = {*result_count, Type_of(*result_datatype), 0};
    int class_result_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    if (!is_run(result_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_result_addr = mpifort_section(result_addr, &typed_result_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_result_addr);
        goto done;
    }
    code = C(Rget_accumulate_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, buffer(result_addr->base_addr), typed_result_addr.count, typed_result_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    free_typed(&typed_result_addr);
    finish(ierror, code);
}

void D_LARGE(rget)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(origin_addr, &typed_origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Rget_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

void D(rput)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(origin_addr, &typed_origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = L(Rput)(buffer(origin_addr->base_addr), NUMBER(typed_origin_addr.count), typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(rput)

void D_LARGE(rput)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(origin_addr, &typed_origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Rput_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

void D(win_attach)(const Fint *win, const struct descriptor *base, const MPI_Aint *size, Fint *ierror)
{
    int code;
    code = C(Win_attach)(Win_of(*win), attached(base->base_addr), *size);
    finish(ierror, code);
}
NAMES_FTS(win_attach)

void D(win_create)(const struct descriptor *base, const MPI_Aint *size, const Fint *disp_unit, const Fint *info, const Fint *comm, Fint *win, Fint *ierror)
{
    MPI_Win c_win = 0;
    int code;
    code = L(Win_create)(buffer(base->base_addr), *size, *disp_unit, Info_of(*info), Comm_of(*comm), &c_win);
    if (c_win)
        *win = Win_int(c_win);
    finish(ierror, code);
}
NAMES_FTS(win_create)

void D_LARGE(win_create)(const struct descriptor *base, const MPI_Aint *size, const MPI_Aint *disp_unit, const Fint *info, const Fint *comm, Fint *win, Fint *ierror)
{
    MPI_Win c_win = 0;
    int code;
    code = C(Win_create_c)(buffer(base->base_addr), *size, *disp_unit, Info_of(*info), Comm_of(*comm), &c_win);
    if (c_win)
        *win = Win_int(c_win);
    finish(ierror, code);
}

void D(win_detach)(const Fint *win, const struct descriptor *base, Fint *ierror)
{
    int code;
    code = C(Win_detach)(Win_of(*win), buffer(base->base_addr));
    finish(ierror, code);
}
NAMES_FTS(win_detach)

void D(file_iread)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iread)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iread)

void D(file_iread_all)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iread_all)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iread_all)

void D_LARGE(file_iread_all)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iread_all_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_iread_at)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iread_at)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iread_at)

void D(file_iread_at_all)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iread_at_all)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iread_at_all)

void D_LARGE(file_iread_at_all)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iread_at_all_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_iread_at)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iread_at_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_iread)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iread_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_iread_shared)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iread_shared)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iread_shared)

void D_LARGE(file_iread_shared)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iread_shared_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_iwrite)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iwrite)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iwrite)

void D(file_iwrite_all)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iwrite_all)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iwrite_all)

void D_LARGE(file_iwrite_all)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iwrite_all_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_iwrite_at)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iwrite_at)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iwrite_at)

void D(file_iwrite_at_all)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iwrite_at_all)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iwrite_at_all)

void D_LARGE(file_iwrite_at_all)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iwrite_at_all_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_iwrite_at)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iwrite_at_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_iwrite)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iwrite_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_iwrite_shared)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_iwrite_shared)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_iwrite_shared)

void D_LARGE(file_iwrite_shared)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_iwrite_shared_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_read)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read)

void D(file_read_all)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read_all)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read_all)

void D(file_read_all_begin)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read_all_begin)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read_all_begin)

void D_LARGE(file_read_all_begin)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_all_begin_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_read_all)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_all_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_read_all_end)(const Fint *fh, const struct descriptor *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_read_all_end)(File_of(*fh), buffer(buf->base_addr), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES_FTS(file_read_all_end)

void D(file_read_at)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read_at)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read_at)

void D(file_read_at_all)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read_at_all)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read_at_all)

void D(file_read_at_all_begin)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read_at_all_begin)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read_at_all_begin)

void D_LARGE(file_read_at_all_begin)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_at_all_begin_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_read_at_all)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_at_all_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_read_at_all_end)(const Fint *fh, const struct descriptor *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_read_at_all_end)(File_of(*fh), buffer(buf->base_addr), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES_FTS(file_read_at_all_end)

void D_LARGE(file_read_at)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_at_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_read)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_read_ordered)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read_ordered)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read_ordered)

void D(file_read_ordered_begin)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read_ordered_begin)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read_ordered_begin)

void D_LARGE(file_read_ordered_begin)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_ordered_begin_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_read_ordered)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_ordered_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_read_ordered_end)(const Fint *fh, const struct descriptor *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_read_ordered_end)(File_of(*fh), buffer(buf->base_addr), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES_FTS(file_read_ordered_end)

void D(file_read_shared)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_read_shared)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_read_shared)

void D_LARGE(file_read_shared)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_read_shared_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_write)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write)

void D(file_write_all)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write_all)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write_all)

void D(file_write_all_begin)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write_all_begin)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write_all_begin)

void D_LARGE(file_write_all_begin)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_all_begin_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_write_all)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_all_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_write_all_end)(const Fint *fh, const struct descriptor *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_write_all_end)(File_of(*fh), buffer(buf->base_addr), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES_FTS(file_write_all_end)

void D(file_write_at)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write_at)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write_at)

void D(file_write_at_all)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write_at_all)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write_at_all)

void D(file_write_at_all_begin)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write_at_all_begin)(File_of(*fh), *offset, buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write_at_all_begin)

void D_LARGE(file_write_at_all_begin)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_at_all_begin_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_write_at_all)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_at_all_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_write_at_all_end)(const Fint *fh, const struct descriptor *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_write_at_all_end)(File_of(*fh), buffer(buf->base_addr), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES_FTS(file_write_at_all_end)

void D_LARGE(file_write_at)(const Fint *fh, const MPI_Offset *offset, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_at_c)(File_of(*fh), *offset, buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_write)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_write_ordered)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write_ordered)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write_ordered)

void D(file_write_ordered_begin)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write_ordered_begin)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write_ordered_begin)

void D_LARGE(file_write_ordered_begin)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_ordered_begin_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type);
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D_LARGE(file_write_ordered)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_ordered_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}

void D(file_write_ordered_end)(const Fint *fh, const struct descriptor *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_write_ordered_end)(File_of(*fh), buffer(buf->base_addr), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES_FTS(file_write_ordered_end)

void D(file_write_shared)(const Fint *fh, const struct descriptor *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = L(File_write_shared)(File_of(*fh), buffer(buf->base_addr), NUMBER(typed_buf.count), typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
NAMES_FTS(file_write_shared)

void D_LARGE(file_write_shared)(const Fint *fh, const struct descriptor *buf, const MPI_Count *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    struct typed typed_buf = {*count, Type_of(*datatype), 0};
    int class_buf = MPI_SUCCESS;
    STATUS(status)
    int code;
    if (!is_checked_run(buf, &typed_buf) && (class_buf = mpifort_section(buf, &typed_buf))) {
        code = mpifort_raise(MPI_COMM_SELF, class_buf);
        goto done;
    }
    code = C(File_write_shared_c)(File_of(*fh), buffer(buf->base_addr), typed_buf.count, typed_buf.type, STATUS_AT(status));
    RETURN_STATUS(status)
done:
    free_typed(&typed_buf);
    finish(ierror, code);
}
