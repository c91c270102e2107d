/* Procedures that are called by address.
 * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those. */

#include "fortran.h"

void F(abort)(const Fint *comm, const Fint *errorcode, Fint *ierror)
{
    int code;
    code = C(Abort)(Comm_of(*comm), INT(*errorcode));
    finish(ierror, code);
}
NAMES(abort, ABORT)
NAMES_F08(abort, ABORT)

void F(alloc_mem)(const MPI_Aint *size, const Fint *info, void *baseptr, Fint *ierror)
{
    int code;
    code = C(Alloc_mem)(*size, Info_of(*info), baseptr);
    finish(ierror, code);
}
NAMES(alloc_mem, ALLOC_MEM)
NAMES_F08(alloc_mem, ALLOC_MEM)
NAMES_CPTR(alloc_mem, ALLOC_MEM)

void F(finalize)(Fint *ierror)
{
    int code;
    code = C(Finalize)();
    finish(ierror, code);
}
NAMES(finalize, FINALIZE)
NAMES_F08(finalize, FINALIZE)

void F(finalized)(Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    code = C(Finalized)(&c_flag);
    *flag = logical(c_flag);
    finish(ierror, code);
}
NAMES(finalized, FINALIZED)
NAMES_F08(finalized, FINALIZED)

void F(free_mem)(const void *base, Fint *ierror)
{
    int code;
    code = C(Free_mem)(buffer(base));
    finish(ierror, code);
}
NAMES(free_mem, FREE_MEM)
NAMES_F08_CHOICE(free_mem, FREE_MEM)

void F(get_hw_resource_info)(Fint *hw_info, Fint *ierror)
{
    MPI_Info c_hw_info = 0;
    int code;
    code = C(Get_hw_resource_info)(&c_hw_info);
    if (c_hw_info)
        *hw_info = Info_int(c_hw_info);
    finish(ierror, code);
}
NAMES(get_hw_resource_info, GET_HW_RESOURCE_INFO)
NAMES_F08(get_hw_resource_info, GET_HW_RESOURCE_INFO)

void F(get_library_version)(char *version, Fint *resultlen, Fint *ierror, size_t l_version)
{
    char c_version[MPI_MAX_LIBRARY_VERSION_STRING];
    INTEGER(resultlen)
    int code;
    code = C(Get_library_version)(c_version, AT(resultlen));
    if (!code)
        VALUE(resultlen) = mpifort_fill(version, l_version, c_version);
    RETURN_INTEGER(resultlen)
    finish(ierror, code);
}
NAMES(get_library_version, GET_LIBRARY_VERSION)
NAMES_F08(get_library_version, GET_LIBRARY_VERSION)

void F(get_processor_name)(char *name, Fint *resultlen, Fint *ierror, size_t l_name)
{
    char c_name[MPI_MAX_PROCESSOR_NAME];
    INTEGER(resultlen)
    int code;
    code = C(Get_processor_name)(c_name, AT(resultlen));
    if (!code)
        VALUE(resultlen) = mpifort_fill(name, l_name, c_name);
    RETURN_INTEGER(resultlen)
    finish(ierror, code);
}
NAMES(get_processor_name, GET_PROCESSOR_NAME)
NAMES_F08(get_processor_name, GET_PROCESSOR_NAME)

void F(get_version)(Fint *version, Fint *subversion, Fint *ierror)
{
    INTEGER(version)
    INTEGER(subversion)
    int code;
    code = C(Get_version)(AT(version), AT(subversion));
    RETURN_INTEGER(version)
    RETURN_INTEGER(subversion)
    finish(ierror, code);
}
NAMES(get_version, GET_VERSION)
NAMES_F08(get_version, GET_VERSION)

void F(initialized)(Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    code = C(Initialized)(&c_flag);
    *flag = logical(c_flag);
    finish(ierror, code);
}
NAMES(initialized, INITIALIZED)
NAMES_F08(initialized, INITIALIZED)

void F(bsend)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Bsend)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(bsend, BSEND)
NAMES_F08_CHOICE(bsend, BSEND)

void F(bsend_init)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Bsend_init)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(bsend_init, BSEND_INIT)
NAMES_F08_CHOICE(bsend_init, BSEND_INIT)

void F(buffer_attach)(const void *buffer, const Fint *size, Fint *ierror)
{
    int code;
    code = L(Buffer_attach)(attached(buffer), *size);
    finish(ierror, code);
}
NAMES(buffer_attach, BUFFER_ATTACH)
NAMES_F08_CHOICE(buffer_attach, BUFFER_ATTACH)

void F(buffer_flush)(Fint *ierror)
{
    int code;
    code = C(Buffer_flush)();
    finish(ierror, code);
}
NAMES(buffer_flush, BUFFER_FLUSH)
NAMES_F08(buffer_flush, BUFFER_FLUSH)

void F(buffer_iflush)(Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = C(Buffer_iflush)(&c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(buffer_iflush, BUFFER_IFLUSH)
NAMES_F08(buffer_iflush, BUFFER_IFLUSH)

void F(cancel)(const Fint *request, Fint *ierror)
{
    MPI_Request c_request = Request_of(*request);
    int code;
    code = C(Cancel)(&c_request);
    finish(ierror, code);
}
NAMES(cancel, CANCEL)
NAMES_F08(cancel, CANCEL)

void F(comm_attach_buffer)(const Fint *comm, const void *buffer, const Fint *size, Fint *ierror)
{
    int code;
    code = L(Comm_attach_buffer)(Comm_of(*comm), attached(buffer), *size);
    finish(ierror, code);
}
NAMES(comm_attach_buffer, COMM_ATTACH_BUFFER)
NAMES_F08_CHOICE(comm_attach_buffer, COMM_ATTACH_BUFFER)

void F(comm_flush_buffer)(const Fint *comm, Fint *ierror)
{
    int code;
    code = C(Comm_flush_buffer)(Comm_of(*comm));
    finish(ierror, code);
}
NAMES(comm_flush_buffer, COMM_FLUSH_BUFFER)
NAMES_F08(comm_flush_buffer, COMM_FLUSH_BUFFER)

void F(comm_iflush_buffer)(const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = C(Comm_iflush_buffer)(Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(comm_iflush_buffer, COMM_IFLUSH_BUFFER)
NAMES_F08(comm_iflush_buffer, COMM_IFLUSH_BUFFER)

void F(get_count)(const Fint *status, const Fint *datatype, Fint *count, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(Get_count)(STATUS_IN(status), Type_of(*datatype), count);
    finish(ierror, code);
}
NAMES(get_count, GET_COUNT)
NAMES_F08(get_count, GET_COUNT)

void F(get_count_c)(const Fint *status, const Fint *datatype, MPI_Count *count, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Get_count_c)(STATUS_IN(status), Type_of(*datatype), count);
    finish(ierror, code);
}
NAMES_F08_LARGE(get_count, get_count_c, GET_COUNT_C)

void F(ibsend)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ibsend)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ibsend, IBSEND)
NAMES_F08_CHOICE(ibsend, IBSEND)

void F(improbe)(const Fint *source, const Fint *tag, const Fint *comm, Flogical *flag, Fint *message, Fint *status, Fint *ierror)
{
    int c_flag = 0;
    MPI_Message c_message = 0;
    STATUS(status)
    int code;
    code = C(Improbe)(INT(*source), INT(*tag), Comm_of(*comm), &c_flag, &c_message, STATUS_AT(status));
    *flag = logical(c_flag);
    if (c_message)
        *message = Message_int(c_message);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(improbe, IMPROBE)
NAMES_F08(improbe, IMPROBE)

void F(imrecv)(void *buf, const Fint *count, const Fint *datatype, Fint *message, Fint *request, Fint *ierror)
{
    MPI_Message c_message = Message_of(*message);
    MPI_Request c_request = 0;
    int code;
    code = L(Imrecv)(buffer(buf), *count, Type_of(*datatype), &c_message, &c_request);
    Message_put(message, c_message);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(imrecv, IMRECV)
NAMES_F08_CHOICE(imrecv, IMRECV)

void F(irsend)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Irsend)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(irsend, IRSEND)
NAMES_F08_CHOICE(irsend, IRSEND)

void F(isendrecv)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, const Fint *dest, const Fint *sendtag, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Isendrecv)(buffer(sendbuf), *sendcount, Type_of(*sendtype), INT(*dest), INT(*sendtag), buffer(recvbuf), *recvcount, Type_of(*recvtype), INT(*source), INT(*recvtag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(isendrecv, ISENDRECV)
NAMES_F08_CHOICE(isendrecv, ISENDRECV)

void F(isendrecv_replace)(void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *sendtag, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Isendrecv_replace)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*sendtag), INT(*source), INT(*recvtag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(isendrecv_replace, ISENDRECV_REPLACE)
NAMES_F08_CHOICE(isendrecv_replace, ISENDRECV_REPLACE)

void F(issend)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Issend)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(issend, ISSEND)
NAMES_F08_CHOICE(issend, ISSEND)

void F(mprobe)(const Fint *source, const Fint *tag, const Fint *comm, Fint *message, Fint *status, Fint *ierror)
{
    MPI_Message c_message = 0;
    STATUS(status)
    int code;
    code = C(Mprobe)(INT(*source), INT(*tag), Comm_of(*comm), &c_message, STATUS_AT(status));
    if (c_message)
        *message = Message_int(c_message);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(mprobe, MPROBE)
NAMES_F08(mprobe, MPROBE)

void F(mrecv)(void *buf, const Fint *count, const Fint *datatype, Fint *message, Fint *status, Fint *ierror)
{
    MPI_Message c_message = Message_of(*message);
    STATUS(status)
    int code;
    code = L(Mrecv)(buffer(buf), *count, Type_of(*datatype), &c_message, STATUS_AT(status));
    Message_put(message, c_message);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(mrecv, MRECV)
NAMES_F08_CHOICE(mrecv, MRECV)

void F(probe)(const Fint *source, const Fint *tag, const Fint *comm, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Probe)(INT(*source), INT(*tag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(probe, PROBE)
NAMES_F08(probe, PROBE)

void F(recv_init)(void *buf, const Fint *count, const Fint *datatype, const Fint *source, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Recv_init)(buffer(buf), *count, Type_of(*datatype), INT(*source), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(recv_init, RECV_INIT)
NAMES_F08_CHOICE(recv_init, RECV_INIT)

void F(request_free)(Fint *request, Fint *ierror)
{
    MPI_Request c_request = Request_of(*request);
    struct held *held = NULL;
    int code;
    held = hold(request, 1);
    code = C(Request_free)(&c_request);
    look(held, &c_request, 1);
    Request_put(request, c_request);
    finish(ierror, code);
}
NAMES(request_free, REQUEST_FREE)
NAMES_F08(request_free, REQUEST_FREE)

void F(request_get_status)(const Fint *request, Flogical *flag, Fint *status, Fint *ierror)
{
    MPI_Request c_request = Request_of(*request);
    struct held *held = NULL;
    int c_flag = 0;
    STATUS(status)
    int code;
    held = hold(request, 1);
    code = C(Request_get_status)(c_request, &c_flag, STATUS_AT(status));
    look(held, &c_request, 1);
    *flag = logical(c_flag);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(request_get_status, REQUEST_GET_STATUS)
NAMES_F08(request_get_status, REQUEST_GET_STATUS)

void F(request_get_status_all)(const Fint *count, const Fint *array_of_requests, Flogical *flag, Fint *array_of_statuses, Fint *ierror)
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
    code = C(Request_get_status_all)(INT(*count), c_array_of_requests, &c_flag, STATUSES_AT(array_of_statuses));
    look(held, c_array_of_requests, n_array_of_requests);
    *flag = logical(c_flag);
    RETURN_STATUSES(array_of_statuses)
done:
    leave(few_array_of_requests, c_array_of_requests);
    LEAVE_STATUSES(array_of_statuses)
    finish(ierror, code);
}
NAMES(request_get_status_all, REQUEST_GET_STATUS_ALL)
NAMES_F08(request_get_status_all, REQUEST_GET_STATUS_ALL)

void F(request_get_status_any)(const Fint *count, const Fint *array_of_requests, Fint *indx, Flogical *flag, Fint *status, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *count;
    struct held *held = NULL;
    int c_indx = MPI_UNDEFINED;
    int c_flag = 0;
    STATUS(status)
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    held = hold(array_of_requests, n_array_of_requests);
    code = C(Request_get_status_any)(INT(*count), c_array_of_requests, &c_indx, &c_flag, STATUS_AT(status));
    look(held, c_array_of_requests, n_array_of_requests);
    position(&c_indx);
    *indx = c_indx;
    *flag = logical(c_flag);
    RETURN_STATUS(status)
done:
    leave(few_array_of_requests, c_array_of_requests);
    finish(ierror, code);
}
NAMES(request_get_status_any, REQUEST_GET_STATUS_ANY)
NAMES_F08(request_get_status_any, REQUEST_GET_STATUS_ANY)

void F(request_get_status_some)(const Fint *incount, const Fint *array_of_requests, Fint *outcount, Fint *array_of_indices, Fint *array_of_statuses, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *incount;
    struct held *held = NULL;
    INTEGER(outcount)
    INTEGERS(array_of_indices, *incount)
    STATUSES(array_of_statuses, *incount)
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    if (NO_INTEGERS(array_of_indices)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_STATUSES(array_of_statuses)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    held = hold(array_of_requests, n_array_of_requests);
    code = C(Request_get_status_some)(INT(*incount), c_array_of_requests, AT(outcount), ENTRIES(array_of_indices), STATUSES_AT(array_of_statuses));
    look(held, c_array_of_requests, n_array_of_requests);
    RETURN_INTEGER(outcount)
    for (int i = 0; counted(code) && i < VALUE(outcount); i++)
        position(&ENTRIES(array_of_indices)[i]);
    RETURN_INTEGERS(array_of_indices)
    RETURN_STATUSES(array_of_statuses)
done:
    leave(few_array_of_requests, c_array_of_requests);
    LEAVE_INTEGERS(array_of_indices)
    LEAVE_STATUSES(array_of_statuses)
    finish(ierror, code);
}
NAMES(request_get_status_some, REQUEST_GET_STATUS_SOME)
NAMES_F08(request_get_status_some, REQUEST_GET_STATUS_SOME)

void F(rsend)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Rsend)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(rsend, RSEND)
NAMES_F08_CHOICE(rsend, RSEND)

void F(rsend_init)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Rsend_init)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(rsend_init, RSEND_INIT)
NAMES_F08_CHOICE(rsend_init, RSEND_INIT)

void F(send_init)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Send_init)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(send_init, SEND_INIT)
NAMES_F08_CHOICE(send_init, SEND_INIT)

void F(sendrecv_replace)(void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *sendtag, const Fint *source, const Fint *recvtag, const Fint *comm, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(Sendrecv_replace)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*sendtag), INT(*source), INT(*recvtag), Comm_of(*comm), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(sendrecv_replace, SENDRECV_REPLACE)
NAMES_F08_CHOICE(sendrecv_replace, SENDRECV_REPLACE)

void F(session_attach_buffer)(const Fint *session, const void *buffer, const Fint *size, Fint *ierror)
{
    int code;
    code = L(Session_attach_buffer)(Session_of(*session), attached(buffer), *size);
    finish(ierror, code);
}
NAMES(session_attach_buffer, SESSION_ATTACH_BUFFER)
NAMES_F08_CHOICE(session_attach_buffer, SESSION_ATTACH_BUFFER)

void F(session_flush_buffer)(const Fint *session, Fint *ierror)
{
    int code;
    code = C(Session_flush_buffer)(Session_of(*session));
    finish(ierror, code);
}
NAMES(session_flush_buffer, SESSION_FLUSH_BUFFER)
NAMES_F08(session_flush_buffer, SESSION_FLUSH_BUFFER)

void F(session_iflush_buffer)(const Fint *session, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = C(Session_iflush_buffer)(Session_of(*session), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(session_iflush_buffer, SESSION_IFLUSH_BUFFER)
NAMES_F08(session_iflush_buffer, SESSION_IFLUSH_BUFFER)

void F(ssend)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Ssend)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(ssend, SSEND)
NAMES_F08_CHOICE(ssend, SSEND)

void F(ssend_init)(const void *buf, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ssend_init)(buffer(buf), *count, Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ssend_init, SSEND_INIT)
NAMES_F08_CHOICE(ssend_init, SSEND_INIT)

void F(startall)(const Fint *count, Fint *array_of_requests, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *count;
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    start(array_of_requests, n_array_of_requests);
    code = C(Startall)(INT(*count), c_array_of_requests);
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        Request_put(&array_of_requests[i], c_array_of_requests[i]);
done:
    leave(few_array_of_requests, c_array_of_requests);
    finish(ierror, code);
}
NAMES(startall, STARTALL)
NAMES_F08(startall, STARTALL)

void F(test_cancelled)(const Fint *status, Flogical *flag, Fint *ierror)
{
    STATUS(status)
    int c_flag = 0;
    int code;
    code = C(Test_cancelled)(STATUS_IN(status), &c_flag);
    *flag = logical(c_flag);
    finish(ierror, code);
}
NAMES(test_cancelled, TEST_CANCELLED)
NAMES_F08(test_cancelled, TEST_CANCELLED)

void F(testany)(const Fint *count, Fint *array_of_requests, Fint *indx, Flogical *flag, Fint *status, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *count;
    struct held *held = NULL;
    int c_indx = MPI_UNDEFINED;
    int c_flag = 0;
    STATUS(status)
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    held = hold(array_of_requests, n_array_of_requests);
    code = C(Testany)(INT(*count), c_array_of_requests, &c_indx, &c_flag, STATUS_AT(status));
    look(held, c_array_of_requests, n_array_of_requests);
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        Request_put(&array_of_requests[i], c_array_of_requests[i]);
    position(&c_indx);
    *indx = c_indx;
    *flag = logical(c_flag);
    RETURN_STATUS(status)
done:
    leave(few_array_of_requests, c_array_of_requests);
    finish(ierror, code);
}
NAMES(testany, TESTANY)
NAMES_F08(testany, TESTANY)

void F(testsome)(const Fint *incount, Fint *array_of_requests, Fint *outcount, Fint *array_of_indices, Fint *array_of_statuses, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *incount;
    struct held *held = NULL;
    INTEGER(outcount)
    INTEGERS(array_of_indices, *incount)
    STATUSES(array_of_statuses, *incount)
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    if (NO_INTEGERS(array_of_indices)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_STATUSES(array_of_statuses)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    held = hold(array_of_requests, n_array_of_requests);
    code = C(Testsome)(INT(*incount), c_array_of_requests, AT(outcount), ENTRIES(array_of_indices), STATUSES_AT(array_of_statuses));
    look(held, c_array_of_requests, n_array_of_requests);
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        Request_put(&array_of_requests[i], c_array_of_requests[i]);
    RETURN_INTEGER(outcount)
    for (int i = 0; counted(code) && i < VALUE(outcount); i++)
        position(&ENTRIES(array_of_indices)[i]);
    RETURN_INTEGERS(array_of_indices)
    RETURN_STATUSES(array_of_statuses)
done:
    leave(few_array_of_requests, c_array_of_requests);
    LEAVE_INTEGERS(array_of_indices)
    LEAVE_STATUSES(array_of_statuses)
    finish(ierror, code);
}
NAMES(testsome, TESTSOME)
NAMES_F08(testsome, TESTSOME)

void F(waitany)(const Fint *count, Fint *array_of_requests, Fint *indx, Fint *status, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *count;
    struct held *held = NULL;
    int c_indx = MPI_UNDEFINED;
    STATUS(status)
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    held = hold(array_of_requests, n_array_of_requests);
    code = C(Waitany)(INT(*count), c_array_of_requests, &c_indx, STATUS_AT(status));
    look(held, c_array_of_requests, n_array_of_requests);
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        Request_put(&array_of_requests[i], c_array_of_requests[i]);
    position(&c_indx);
    *indx = c_indx;
    RETURN_STATUS(status)
done:
    leave(few_array_of_requests, c_array_of_requests);
    finish(ierror, code);
}
NAMES(waitany, WAITANY)
NAMES_F08(waitany, WAITANY)

void F(waitsome)(const Fint *incount, Fint *array_of_requests, Fint *outcount, Fint *array_of_indices, Fint *array_of_statuses, Fint *ierror)
{
    MPI_Request few_array_of_requests[FEW], *c_array_of_requests = few_array_of_requests;
    ptrdiff_t n_array_of_requests = *incount;
    struct held *held = NULL;
    INTEGER(outcount)
    INTEGERS(array_of_indices, *incount)
    STATUSES(array_of_statuses, *incount)
    int code;
    c_array_of_requests = room(few_array_of_requests, sizeof *c_array_of_requests, n_array_of_requests);
    if (!c_array_of_requests) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        c_array_of_requests[i] = Request_of(array_of_requests[i]);
    if (NO_INTEGERS(array_of_indices)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_STATUSES(array_of_statuses)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    held = hold(array_of_requests, n_array_of_requests);
    code = C(Waitsome)(INT(*incount), c_array_of_requests, AT(outcount), ENTRIES(array_of_indices), STATUSES_AT(array_of_statuses));
    look(held, c_array_of_requests, n_array_of_requests);
    for (ptrdiff_t i = 0; i < n_array_of_requests; i++)
        Request_put(&array_of_requests[i], c_array_of_requests[i]);
    RETURN_INTEGER(outcount)
    for (int i = 0; counted(code) && i < VALUE(outcount); i++)
        position(&ENTRIES(array_of_indices)[i]);
    RETURN_INTEGERS(array_of_indices)
    RETURN_STATUSES(array_of_statuses)
done:
    leave(few_array_of_requests, c_array_of_requests);
    LEAVE_INTEGERS(array_of_indices)
    LEAVE_STATUSES(array_of_statuses)
    finish(ierror, code);
}
NAMES(waitsome, WAITSOME)
NAMES_F08(waitsome, WAITSOME)

void F(parrived)(const Fint *request, const Fint *partition, Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    code = C(Parrived)(Request_of(*request), INT(*partition), &c_flag);
    *flag = logical(c_flag);
    finish(ierror, code);
}
NAMES(parrived, PARRIVED)
NAMES_F08(parrived, PARRIVED)

void F(pready)(const Fint *partition, const Fint *request, Fint *ierror)
{
    int code;
    code = C(Pready)(INT(*partition), Request_of(*request));
    finish(ierror, code);
}
NAMES(pready, PREADY)
NAMES_F08(pready, PREADY)

void F(pready_list)(const Fint *length, const Fint *array_of_partitions, const Fint *request, Fint *ierror)
{
    INTEGERS(array_of_partitions, *length)
    int code;
    if (NO_INTEGERS(array_of_partitions)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Pready_list)(INT(*length), ENTRIES(array_of_partitions), Request_of(*request));
done:
    LEAVE_INTEGERS(array_of_partitions)
    finish(ierror, code);
}
NAMES(pready_list, PREADY_LIST)
NAMES_F08(pready_list, PREADY_LIST)

void F(pready_range)(const Fint *partition_low, const Fint *partition_high, const Fint *request, Fint *ierror)
{
    int code;
    code = C(Pready_range)(INT(*partition_low), INT(*partition_high), Request_of(*request));
    finish(ierror, code);
}
NAMES(pready_range, PREADY_RANGE)
NAMES_F08(pready_range, PREADY_RANGE)

void F(precv_init)(void *buf, const Fint *partitions, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = C(Precv_init)(buffer(buf), INT(*partitions), INT(*count), Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(precv_init, PRECV_INIT)
NAMES_F08_CHOICE(precv_init, PRECV_INIT)

void F(psend_init)(const void *buf, const Fint *partitions, const Fint *count, const Fint *datatype, const Fint *dest, const Fint *tag, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = C(Psend_init)(buffer(buf), INT(*partitions), INT(*count), Type_of(*datatype), INT(*dest), INT(*tag), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(psend_init, PSEND_INIT)
NAMES_F08_CHOICE(psend_init, PSEND_INIT)

void F(get_address)(const void *location, MPI_Aint *address, Fint *ierror)
{
    int code;
    code = C(Get_address)(buffer(location), address);
    finish(ierror, code);
}
NAMES(get_address, GET_ADDRESS)
NAMES_F08_CHOICE(get_address, GET_ADDRESS)

void F(get_elements)(const Fint *status, const Fint *datatype, Fint *count, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(Get_elements)(STATUS_IN(status), Type_of(*datatype), count);
    finish(ierror, code);
}
NAMES(get_elements, GET_ELEMENTS)
NAMES_F08(get_elements, GET_ELEMENTS)

void F(get_elements_c)(const Fint *status, const Fint *datatype, MPI_Count *count, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Get_elements_c)(STATUS_IN(status), Type_of(*datatype), count);
    finish(ierror, code);
}
NAMES_F08_LARGE(get_elements, get_elements_c, GET_ELEMENTS_C)

void F(get_elements_x)(const Fint *status, const Fint *datatype, MPI_Count *count, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Get_elements_x)(STATUS_IN(status), Type_of(*datatype), count);
    finish(ierror, code);
}
NAMES(get_elements_x, GET_ELEMENTS_X)
NAMES_F08(get_elements_x, GET_ELEMENTS_X)

void F(pack)(const void *inbuf, const Fint *incount, const Fint *datatype, void *outbuf, const Fint *outsize, Fint *position, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Pack)(buffer(inbuf), *incount, Type_of(*datatype), buffer(outbuf), *outsize, position, Comm_of(*comm));
    finish(ierror, code);
}
NAMES(pack, PACK)
NAMES_F08_CHOICE(pack, PACK)

void F(pack_external)(const char *datarep, const void *inbuf, const Fint *incount, const Fint *datatype, void *outbuf, const MPI_Aint *outsize, MPI_Aint *position, Fint *ierror, size_t l_datarep)
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    int code;
    c_datarep = mpifort_text(datarep, l_datarep, few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Pack_external)(c_datarep, buffer(inbuf), *incount, Type_of(*datatype), buffer(outbuf), *outsize, position);
done:
    leave(few_datarep, c_datarep);
    finish(ierror, code);
}
NAMES(pack_external, PACK_EXTERNAL)
NAMES_F08_CHOICE(pack_external, PACK_EXTERNAL)

void F(pack_external_size)(const char *datarep, const Fint *incount, const Fint *datatype, MPI_Aint *size, Fint *ierror, size_t l_datarep)
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    int code;
    c_datarep = mpifort_text(datarep, l_datarep, few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Pack_external_size)(c_datarep, *incount, Type_of(*datatype), size);
done:
    leave(few_datarep, c_datarep);
    finish(ierror, code);
}
NAMES(pack_external_size, PACK_EXTERNAL_SIZE)
NAMES_F08(pack_external_size, PACK_EXTERNAL_SIZE)

void F(pack_external_size_c)(const char *datarep, const MPI_Count *incount, const Fint *datatype, MPI_Count *size, Fint *ierror, size_t l_datarep)
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    int code;
    c_datarep = mpifort_text(datarep, l_datarep, few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Pack_external_size_c)(c_datarep, *incount, Type_of(*datatype), size);
done:
    leave(few_datarep, c_datarep);
    finish(ierror, code);
}
NAMES_F08_LARGE(pack_external_size, pack_external_size_c, PACK_EXTERNAL_SIZE_C)

void F(pack_size)(const Fint *incount, const Fint *datatype, const Fint *comm, Fint *size, Fint *ierror)
{
    int code;
    code = L(Pack_size)(*incount, Type_of(*datatype), Comm_of(*comm), size);
    finish(ierror, code);
}
NAMES(pack_size, PACK_SIZE)
NAMES_F08(pack_size, PACK_SIZE)

void F(pack_size_c)(const MPI_Count *incount, const Fint *datatype, const Fint *comm, MPI_Count *size, Fint *ierror)
{
    int code;
    code = C(Pack_size_c)(*incount, Type_of(*datatype), Comm_of(*comm), size);
    finish(ierror, code);
}
NAMES_F08_LARGE(pack_size, pack_size_c, PACK_SIZE_C)

void F(type_commit)(Fint *datatype, Fint *ierror)
{
    MPI_Datatype c_datatype = Type_of(*datatype);
    int code;
    code = C(Type_commit)(&c_datatype);
    Type_put(datatype, c_datatype);
    finish(ierror, code);
}
NAMES(type_commit, TYPE_COMMIT)
NAMES_F08(type_commit, TYPE_COMMIT)

void F(type_contiguous)(const Fint *count, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_contiguous)(INT(*count), Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_contiguous, TYPE_CONTIGUOUS)
NAMES_F08(type_contiguous, TYPE_CONTIGUOUS)

void F(type_contiguous_c)(const MPI_Count *count, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_contiguous_c)(*count, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_contiguous, type_contiguous_c, TYPE_CONTIGUOUS_C)

void F(type_create_darray)(const Fint *size, const Fint *rank, const Fint *ndims, const Fint *array_of_gsizes, const Fint *array_of_distribs, const Fint *array_of_dargs, const Fint *array_of_psizes, const Fint *order, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    INTEGERS(array_of_gsizes, *ndims)
    INTEGERS(array_of_distribs, *ndims)
    INTEGERS(array_of_dargs, *ndims)
    INTEGERS(array_of_psizes, *ndims)
    MPI_Datatype c_newtype = 0;
    int code;
    if (NO_INTEGERS(array_of_gsizes)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(array_of_distribs)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(array_of_dargs)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(array_of_psizes)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Type_create_darray)(INT(*size), INT(*rank), INT(*ndims), ENTRIES(array_of_gsizes), ENTRIES(array_of_distribs), ENTRIES(array_of_dargs), ENTRIES(array_of_psizes), INT(*order), Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
done:
    LEAVE_INTEGERS(array_of_gsizes)
    LEAVE_INTEGERS(array_of_distribs)
    LEAVE_INTEGERS(array_of_dargs)
    LEAVE_INTEGERS(array_of_psizes)
    finish(ierror, code);
}
NAMES(type_create_darray, TYPE_CREATE_DARRAY)
NAMES_F08(type_create_darray, TYPE_CREATE_DARRAY)

void F(type_create_darray_c)(const Fint *size, const Fint *rank, const Fint *ndims, const MPI_Count *array_of_gsizes, const Fint *array_of_distribs, const Fint *array_of_dargs, const Fint *array_of_psizes, const Fint *order, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    INTEGERS(array_of_distribs, *ndims)
    INTEGERS(array_of_dargs, *ndims)
    INTEGERS(array_of_psizes, *ndims)
    MPI_Datatype c_newtype = 0;
    int code;
    if (NO_INTEGERS(array_of_distribs)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(array_of_dargs)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(array_of_psizes)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Type_create_darray_c)(INT(*size), INT(*rank), INT(*ndims), array_of_gsizes, ENTRIES(array_of_distribs), ENTRIES(array_of_dargs), ENTRIES(array_of_psizes), INT(*order), Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
done:
    LEAVE_INTEGERS(array_of_distribs)
    LEAVE_INTEGERS(array_of_dargs)
    LEAVE_INTEGERS(array_of_psizes)
    finish(ierror, code);
}
NAMES_F08_LARGE(type_create_darray, type_create_darray_c, TYPE_CREATE_DARRAY_C)

void F(type_create_f90_complex)(const Fint *p, const Fint *r, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_f90_complex)(INT(*p), INT(*r), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_create_f90_complex, TYPE_CREATE_F90_COMPLEX)
NAMES_F08(type_create_f90_complex, TYPE_CREATE_F90_COMPLEX)

void F(type_create_f90_integer)(const Fint *r, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_f90_integer)(INT(*r), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_create_f90_integer, TYPE_CREATE_F90_INTEGER)
NAMES_F08(type_create_f90_integer, TYPE_CREATE_F90_INTEGER)

void F(type_create_f90_real)(const Fint *p, const Fint *r, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_f90_real)(INT(*p), INT(*r), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_create_f90_real, TYPE_CREATE_F90_REAL)
NAMES_F08(type_create_f90_real, TYPE_CREATE_F90_REAL)

void F(type_create_hindexed)(const Fint *count, const Fint *array_of_blocklengths, const MPI_Aint *array_of_displacements, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    INTEGERS(array_of_blocklengths, *count)
    MPI_Datatype c_newtype = 0;
    int code;
    if (NO_INTEGERS(array_of_blocklengths)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Type_create_hindexed)(INT(*count), ENTRIES(array_of_blocklengths), array_of_displacements, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
done:
    LEAVE_INTEGERS(array_of_blocklengths)
    finish(ierror, code);
}
NAMES(type_create_hindexed, TYPE_CREATE_HINDEXED)
NAMES_F08(type_create_hindexed, TYPE_CREATE_HINDEXED)

void F(type_create_hindexed_block)(const Fint *count, const Fint *blocklength, const MPI_Aint *array_of_displacements, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_hindexed_block)(INT(*count), INT(*blocklength), array_of_displacements, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_create_hindexed_block, TYPE_CREATE_HINDEXED_BLOCK)
NAMES_F08(type_create_hindexed_block, TYPE_CREATE_HINDEXED_BLOCK)

void F(type_create_hindexed_block_c)(const MPI_Count *count, const MPI_Count *blocklength, const MPI_Count *array_of_displacements, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_hindexed_block_c)(*count, *blocklength, array_of_displacements, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_create_hindexed_block, type_create_hindexed_block_c, TYPE_CREATE_HINDEXED_BLOCK_C)

void F(type_create_hindexed_c)(const MPI_Count *count, const MPI_Count *array_of_blocklengths, const MPI_Count *array_of_displacements, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_hindexed_c)(*count, array_of_blocklengths, array_of_displacements, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_create_hindexed, type_create_hindexed_c, TYPE_CREATE_HINDEXED_C)

void F(type_create_hvector)(const Fint *count, const Fint *blocklength, const MPI_Aint *stride, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_hvector)(INT(*count), INT(*blocklength), *stride, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_create_hvector, TYPE_CREATE_HVECTOR)
NAMES_F08(type_create_hvector, TYPE_CREATE_HVECTOR)

void F(type_create_hvector_c)(const MPI_Count *count, const MPI_Count *blocklength, const MPI_Count *stride, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_hvector_c)(*count, *blocklength, *stride, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_create_hvector, type_create_hvector_c, TYPE_CREATE_HVECTOR_C)

void F(type_create_indexed_block)(const Fint *count, const Fint *blocklength, const Fint *array_of_displacements, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    INTEGERS(array_of_displacements, *count)
    MPI_Datatype c_newtype = 0;
    int code;
    if (NO_INTEGERS(array_of_displacements)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Type_create_indexed_block)(INT(*count), INT(*blocklength), ENTRIES(array_of_displacements), Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
done:
    LEAVE_INTEGERS(array_of_displacements)
    finish(ierror, code);
}
NAMES(type_create_indexed_block, TYPE_CREATE_INDEXED_BLOCK)
NAMES_F08(type_create_indexed_block, TYPE_CREATE_INDEXED_BLOCK)

void F(type_create_indexed_block_c)(const MPI_Count *count, const MPI_Count *blocklength, const MPI_Count *array_of_displacements, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_indexed_block_c)(*count, *blocklength, array_of_displacements, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_create_indexed_block, type_create_indexed_block_c, TYPE_CREATE_INDEXED_BLOCK_C)

void F(type_create_resized)(const Fint *oldtype, const MPI_Aint *lb, const MPI_Aint *extent, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_resized)(Type_of(*oldtype), *lb, *extent, &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_create_resized, TYPE_CREATE_RESIZED)
NAMES_F08(type_create_resized, TYPE_CREATE_RESIZED)

void F(type_create_resized_c)(const Fint *oldtype, const MPI_Count *lb, const MPI_Count *extent, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_resized_c)(Type_of(*oldtype), *lb, *extent, &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_create_resized, type_create_resized_c, TYPE_CREATE_RESIZED_C)

void F(type_create_struct)(const Fint *count, const Fint *array_of_blocklengths, const MPI_Aint *array_of_displacements, const Fint *array_of_types, Fint *newtype, Fint *ierror)
{
    INTEGERS(array_of_blocklengths, *count)
    MPI_Datatype few_array_of_types[FEW], *c_array_of_types = few_array_of_types;
    ptrdiff_t n_array_of_types = *count;
    MPI_Datatype c_newtype = 0;
    int code;
    if (NO_INTEGERS(array_of_blocklengths)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    c_array_of_types = room(few_array_of_types, sizeof *c_array_of_types, n_array_of_types);
    if (!c_array_of_types) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_types; i++)
        c_array_of_types[i] = Type_of(array_of_types[i]);
    code = C(Type_create_struct)(INT(*count), ENTRIES(array_of_blocklengths), array_of_displacements, c_array_of_types, &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
done:
    LEAVE_INTEGERS(array_of_blocklengths)
    leave(few_array_of_types, c_array_of_types);
    finish(ierror, code);
}
NAMES(type_create_struct, TYPE_CREATE_STRUCT)
NAMES_F08(type_create_struct, TYPE_CREATE_STRUCT)

void F(type_create_struct_c)(const MPI_Count *count, const MPI_Count *array_of_blocklengths, const MPI_Count *array_of_displacements, const Fint *array_of_types, Fint *newtype, Fint *ierror)
{
    MPI_Datatype few_array_of_types[FEW], *c_array_of_types = few_array_of_types;
    ptrdiff_t n_array_of_types = *count;
    MPI_Datatype c_newtype = 0;
    int code;
    c_array_of_types = room(few_array_of_types, sizeof *c_array_of_types, n_array_of_types);
    if (!c_array_of_types) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_types; i++)
        c_array_of_types[i] = Type_of(array_of_types[i]);
    code = C(Type_create_struct_c)(*count, array_of_blocklengths, array_of_displacements, c_array_of_types, &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
done:
    leave(few_array_of_types, c_array_of_types);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_create_struct, type_create_struct_c, TYPE_CREATE_STRUCT_C)

void F(type_create_subarray)(const Fint *ndims, const Fint *array_of_sizes, const Fint *array_of_subsizes, const Fint *array_of_starts, const Fint *order, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    INTEGERS(array_of_sizes, *ndims)
    INTEGERS(array_of_subsizes, *ndims)
    INTEGERS(array_of_starts, *ndims)
    MPI_Datatype c_newtype = 0;
    int code;
    if (NO_INTEGERS(array_of_sizes)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(array_of_subsizes)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(array_of_starts)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Type_create_subarray)(INT(*ndims), ENTRIES(array_of_sizes), ENTRIES(array_of_subsizes), ENTRIES(array_of_starts), INT(*order), Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
done:
    LEAVE_INTEGERS(array_of_sizes)
    LEAVE_INTEGERS(array_of_subsizes)
    LEAVE_INTEGERS(array_of_starts)
    finish(ierror, code);
}
NAMES(type_create_subarray, TYPE_CREATE_SUBARRAY)
NAMES_F08(type_create_subarray, TYPE_CREATE_SUBARRAY)

void F(type_create_subarray_c)(const Fint *ndims, const MPI_Count *array_of_sizes, const MPI_Count *array_of_subsizes, const MPI_Count *array_of_starts, const Fint *order, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_create_subarray_c)(INT(*ndims), array_of_sizes, array_of_subsizes, array_of_starts, INT(*order), Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_create_subarray, type_create_subarray_c, TYPE_CREATE_SUBARRAY_C)

void F(type_dup)(const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_dup)(Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_dup, TYPE_DUP)
NAMES_F08(type_dup, TYPE_DUP)

void F(type_free)(Fint *datatype, Fint *ierror)
{
    MPI_Datatype c_datatype = Type_of(*datatype);
    int code;
    code = C(Type_free)(&c_datatype);
    Type_put(datatype, c_datatype);
    finish(ierror, code);
}
NAMES(type_free, TYPE_FREE)
NAMES_F08(type_free, TYPE_FREE)

void F(type_get_contents)(const Fint *datatype, const Fint *max_integers, const Fint *max_addresses, const Fint *max_datatypes, Fint *array_of_integers, MPI_Aint *array_of_addresses, Fint *array_of_datatypes, Fint *ierror)
{
    INTEGERS(array_of_integers, *max_integers)
    MPI_Datatype few_array_of_datatypes[FEW], *c_array_of_datatypes = few_array_of_datatypes;
    ptrdiff_t n_array_of_datatypes = *max_datatypes;
    int code;
    if (NO_INTEGERS(array_of_integers)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    c_array_of_datatypes = room(few_array_of_datatypes, sizeof *c_array_of_datatypes, n_array_of_datatypes);
    if (!c_array_of_datatypes) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_datatypes; i++)
        c_array_of_datatypes[i] = 0;
    code = C(Type_get_contents)(Type_of(*datatype), INT(*max_integers), INT(*max_addresses), INT(*max_datatypes), ENTRIES(array_of_integers), array_of_addresses, c_array_of_datatypes);
    RETURN_INTEGERS(array_of_integers)
    for (ptrdiff_t i = 0; i < n_array_of_datatypes; i++)
        if (c_array_of_datatypes[i])
            array_of_datatypes[i] = Type_int(c_array_of_datatypes[i]);
done:
    LEAVE_INTEGERS(array_of_integers)
    leave(few_array_of_datatypes, c_array_of_datatypes);
    finish(ierror, code);
}
NAMES(type_get_contents, TYPE_GET_CONTENTS)
NAMES_F08(type_get_contents, TYPE_GET_CONTENTS)

void F(type_get_contents_c)(const Fint *datatype, const MPI_Count *max_integers, const MPI_Count *max_addresses, const MPI_Count *max_large_counts, const MPI_Count *max_datatypes, Fint *array_of_integers, MPI_Aint *array_of_addresses, MPI_Count *array_of_large_counts, Fint *array_of_datatypes, Fint *ierror)
{
    INTEGERS(array_of_integers, *max_integers)
    MPI_Datatype few_array_of_datatypes[FEW], *c_array_of_datatypes = few_array_of_datatypes;
    ptrdiff_t n_array_of_datatypes = *max_datatypes;
    int code;
    if (NO_INTEGERS(array_of_integers)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    c_array_of_datatypes = room(few_array_of_datatypes, sizeof *c_array_of_datatypes, n_array_of_datatypes);
    if (!c_array_of_datatypes) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_array_of_datatypes; i++)
        c_array_of_datatypes[i] = 0;
    code = C(Type_get_contents_c)(Type_of(*datatype), *max_integers, *max_addresses, *max_large_counts, *max_datatypes, ENTRIES(array_of_integers), array_of_addresses, array_of_large_counts, c_array_of_datatypes);
    RETURN_INTEGERS(array_of_integers)
    for (ptrdiff_t i = 0; i < n_array_of_datatypes; i++)
        if (c_array_of_datatypes[i])
            array_of_datatypes[i] = Type_int(c_array_of_datatypes[i]);
done:
    LEAVE_INTEGERS(array_of_integers)
    leave(few_array_of_datatypes, c_array_of_datatypes);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_get_contents, type_get_contents_c, TYPE_GET_CONTENTS_C)

void F(type_get_envelope)(const Fint *datatype, Fint *num_integers, Fint *num_addresses, Fint *num_datatypes, Fint *combiner, Fint *ierror)
{
    INTEGER(num_integers)
    INTEGER(num_addresses)
    INTEGER(num_datatypes)
    INTEGER(combiner)
    int code;
    code = C(Type_get_envelope)(Type_of(*datatype), AT(num_integers), AT(num_addresses), AT(num_datatypes), AT(combiner));
    RETURN_INTEGER(num_integers)
    RETURN_INTEGER(num_addresses)
    RETURN_INTEGER(num_datatypes)
    RETURN_INTEGER(combiner)
    finish(ierror, code);
}
NAMES(type_get_envelope, TYPE_GET_ENVELOPE)
NAMES_F08(type_get_envelope, TYPE_GET_ENVELOPE)

void F(type_get_envelope_c)(const Fint *datatype, MPI_Count *num_integers, MPI_Count *num_addresses, MPI_Count *num_large_counts, MPI_Count *num_datatypes, Fint *combiner, Fint *ierror)
{
    INTEGER(combiner)
    int code;
    code = C(Type_get_envelope_c)(Type_of(*datatype), num_integers, num_addresses, num_large_counts, num_datatypes, AT(combiner));
    RETURN_INTEGER(combiner)
    finish(ierror, code);
}
NAMES_F08_LARGE(type_get_envelope, type_get_envelope_c, TYPE_GET_ENVELOPE_C)

void F(type_get_extent)(const Fint *datatype, MPI_Aint *lb, MPI_Aint *extent, Fint *ierror)
{
    int code;
    code = C(Type_get_extent)(Type_of(*datatype), lb, extent);
    finish(ierror, code);
}
NAMES(type_get_extent, TYPE_GET_EXTENT)
NAMES_F08(type_get_extent, TYPE_GET_EXTENT)

void F(type_get_extent_c)(const Fint *datatype, MPI_Count *lb, MPI_Count *extent, Fint *ierror)
{
    int code;
    code = C(Type_get_extent_c)(Type_of(*datatype), lb, extent);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_get_extent, type_get_extent_c, TYPE_GET_EXTENT_C)

void F(type_get_extent_x)(const Fint *datatype, MPI_Count *lb, MPI_Count *extent, Fint *ierror)
{
    int code;
    code = C(Type_get_extent_x)(Type_of(*datatype), lb, extent);
    finish(ierror, code);
}
NAMES(type_get_extent_x, TYPE_GET_EXTENT_X)
NAMES_F08(type_get_extent_x, TYPE_GET_EXTENT_X)

void F(type_get_name)(const Fint *datatype, char *type_name, Fint *resultlen, Fint *ierror, size_t l_type_name)
{
    char c_type_name[MPI_MAX_OBJECT_NAME];
    INTEGER(resultlen)
    int code;
    code = C(Type_get_name)(Type_of(*datatype), c_type_name, AT(resultlen));
    if (!code)
        VALUE(resultlen) = mpifort_fill(type_name, l_type_name, c_type_name);
    RETURN_INTEGER(resultlen)
    finish(ierror, code);
}
NAMES(type_get_name, TYPE_GET_NAME)
NAMES_F08(type_get_name, TYPE_GET_NAME)

void F(type_get_true_extent)(const Fint *datatype, MPI_Aint *true_lb, MPI_Aint *true_extent, Fint *ierror)
{
    int code;
    code = C(Type_get_true_extent)(Type_of(*datatype), true_lb, true_extent);
    finish(ierror, code);
}
NAMES(type_get_true_extent, TYPE_GET_TRUE_EXTENT)
NAMES_F08(type_get_true_extent, TYPE_GET_TRUE_EXTENT)

void F(type_get_true_extent_c)(const Fint *datatype, MPI_Count *true_lb, MPI_Count *true_extent, Fint *ierror)
{
    int code;
    code = C(Type_get_true_extent_c)(Type_of(*datatype), true_lb, true_extent);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_get_true_extent, type_get_true_extent_c, TYPE_GET_TRUE_EXTENT_C)

void F(type_get_true_extent_x)(const Fint *datatype, MPI_Count *true_lb, MPI_Count *true_extent, Fint *ierror)
{
    int code;
    code = C(Type_get_true_extent_x)(Type_of(*datatype), true_lb, true_extent);
    finish(ierror, code);
}
NAMES(type_get_true_extent_x, TYPE_GET_TRUE_EXTENT_X)
NAMES_F08(type_get_true_extent_x, TYPE_GET_TRUE_EXTENT_X)

void F(type_get_value_index)(const Fint *value_type, const Fint *index_type, Fint *pair_type, Fint *ierror)
{
    MPI_Datatype c_pair_type = 0;
    int code;
    code = C(Type_get_value_index)(Type_of(*value_type), Type_of(*index_type), &c_pair_type);
    if (c_pair_type)
        *pair_type = Type_int(c_pair_type);
    finish(ierror, code);
}
NAMES(type_get_value_index, TYPE_GET_VALUE_INDEX)
NAMES_F08(type_get_value_index, TYPE_GET_VALUE_INDEX)

void F(type_indexed)(const Fint *count, const Fint *array_of_blocklengths, const Fint *array_of_displacements, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    INTEGERS(array_of_blocklengths, *count)
    INTEGERS(array_of_displacements, *count)
    MPI_Datatype c_newtype = 0;
    int code;
    if (NO_INTEGERS(array_of_blocklengths)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(array_of_displacements)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Type_indexed)(INT(*count), ENTRIES(array_of_blocklengths), ENTRIES(array_of_displacements), Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
done:
    LEAVE_INTEGERS(array_of_blocklengths)
    LEAVE_INTEGERS(array_of_displacements)
    finish(ierror, code);
}
NAMES(type_indexed, TYPE_INDEXED)
NAMES_F08(type_indexed, TYPE_INDEXED)

void F(type_indexed_c)(const MPI_Count *count, const MPI_Count *array_of_blocklengths, const MPI_Count *array_of_displacements, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_indexed_c)(*count, array_of_blocklengths, array_of_displacements, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_indexed, type_indexed_c, TYPE_INDEXED_C)

void F(type_match_size)(const Fint *typeclass, const Fint *size, Fint *datatype, Fint *ierror)
{
    MPI_Datatype c_datatype = 0;
    int code;
    code = C(Type_match_size)(INT(*typeclass), INT(*size), &c_datatype);
    if (c_datatype)
        *datatype = Type_int(c_datatype);
    finish(ierror, code);
}
NAMES(type_match_size, TYPE_MATCH_SIZE)
NAMES_F08(type_match_size, TYPE_MATCH_SIZE)

void F(type_set_name)(const Fint *datatype, const char *type_name, Fint *ierror, size_t l_type_name)
{
    char few_type_name[SHORT], *c_type_name = few_type_name;
    int code;
    c_type_name = mpifort_text(type_name, l_type_name, few_type_name);
    if (!c_type_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Type_set_name)(Type_of(*datatype), c_type_name);
done:
    leave(few_type_name, c_type_name);
    finish(ierror, code);
}
NAMES(type_set_name, TYPE_SET_NAME)
NAMES_F08(type_set_name, TYPE_SET_NAME)

void F(type_size)(const Fint *datatype, Fint *size, Fint *ierror)
{
    int code;
    code = L(Type_size)(Type_of(*datatype), size);
    finish(ierror, code);
}
NAMES(type_size, TYPE_SIZE)
NAMES_F08(type_size, TYPE_SIZE)

void F(type_size_c)(const Fint *datatype, MPI_Count *size, Fint *ierror)
{
    int code;
    code = C(Type_size_c)(Type_of(*datatype), size);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_size, type_size_c, TYPE_SIZE_C)

void F(type_size_x)(const Fint *datatype, MPI_Count *size, Fint *ierror)
{
    int code;
    code = C(Type_size_x)(Type_of(*datatype), size);
    finish(ierror, code);
}
NAMES(type_size_x, TYPE_SIZE_X)
NAMES_F08(type_size_x, TYPE_SIZE_X)

void F(type_vector)(const Fint *count, const Fint *blocklength, const Fint *stride, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_vector)(INT(*count), INT(*blocklength), INT(*stride), Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES(type_vector, TYPE_VECTOR)
NAMES_F08(type_vector, TYPE_VECTOR)

void F(type_vector_c)(const MPI_Count *count, const MPI_Count *blocklength, const MPI_Count *stride, const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype c_newtype = 0;
    int code;
    code = C(Type_vector_c)(*count, *blocklength, *stride, Type_of(*oldtype), &c_newtype);
    if (c_newtype)
        *newtype = Type_int(c_newtype);
    finish(ierror, code);
}
NAMES_F08_LARGE(type_vector, type_vector_c, TYPE_VECTOR_C)

void F(unpack)(const void *inbuf, const Fint *insize, Fint *position, void *outbuf, const Fint *outcount, const Fint *datatype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Unpack)(buffer(inbuf), *insize, position, buffer(outbuf), *outcount, Type_of(*datatype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(unpack, UNPACK)
NAMES_F08_CHOICE(unpack, UNPACK)

void F(unpack_external)(const char *datarep, const void *inbuf, const MPI_Aint *insize, MPI_Aint *position, void *outbuf, const Fint *outcount, const Fint *datatype, Fint *ierror, size_t l_datarep)
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    int code;
    c_datarep = mpifort_text(datarep, l_datarep, few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = L(Unpack_external)(c_datarep, buffer(inbuf), *insize, position, buffer(outbuf), *outcount, Type_of(*datatype));
done:
    leave(few_datarep, c_datarep);
    finish(ierror, code);
}
NAMES(unpack_external, UNPACK_EXTERNAL)
NAMES_F08_CHOICE(unpack_external, UNPACK_EXTERNAL)

void F(allgather)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Allgather)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(allgather, ALLGATHER)
NAMES_F08_CHOICE(allgather, ALLGATHER)

void F(allgather_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Allgather_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(allgather_init, ALLGATHER_INIT)
NAMES_F08_CHOICE(allgather_init, ALLGATHER_INIT)
NAMES_MPIX(allgather_init)

void F(allgatherv)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Allgatherv)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(allgatherv, ALLGATHERV)
NAMES_F08_CHOICE(allgatherv, ALLGATHERV)

void F(allgatherv_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Allgatherv_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(allgatherv_init, ALLGATHERV_INIT)
NAMES_F08_CHOICE(allgatherv_init, ALLGATHERV_INIT)
NAMES_MPIX(allgatherv_init)

void F(allreduce)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Allreduce)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(allreduce, ALLREDUCE)
NAMES_F08_CHOICE(allreduce, ALLREDUCE)

void F(allreduce_init)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Allreduce_init)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(allreduce_init, ALLREDUCE_INIT)
NAMES_F08_CHOICE(allreduce_init, ALLREDUCE_INIT)
NAMES_MPIX(allreduce_init)

void F(alltoall)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Alltoall)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(alltoall, ALLTOALL)
NAMES_F08_CHOICE(alltoall, ALLTOALL)

void F(alltoall_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Alltoall_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(alltoall_init, ALLTOALL_INIT)
NAMES_F08_CHOICE(alltoall_init, ALLTOALL_INIT)
NAMES_MPIX(alltoall_init)

void F(alltoallv)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Alltoallv)(place(sendbuf), sendcounts, sdispls, Type_of(*sendtype), place(recvbuf), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(alltoallv, ALLTOALLV)
NAMES_F08_CHOICE(alltoallv, ALLTOALLV)

void F(alltoallv_init)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Alltoallv_init)(place(sendbuf), sendcounts, sdispls, Type_of(*sendtype), place(recvbuf), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(alltoallv_init, ALLTOALLV_INIT)
NAMES_F08_CHOICE(alltoallv_init, ALLTOALLV_INIT)
NAMES_MPIX(alltoallv_init)

void F(alltoallw)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtypes, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *ierror)
{
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    int code;
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Alltoallw)(place(sendbuf), sendcounts, sdispls, c_sendtypes, place(recvbuf), recvcounts, rdispls, c_recvtypes, Comm_of(*comm));
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}
NAMES(alltoallw, ALLTOALLW)
NAMES_F08_CHOICE(alltoallw, ALLTOALLW)

void F(alltoallw_init)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtypes, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtypes, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Alltoallw_init)(place(sendbuf), sendcounts, sdispls, c_sendtypes, place(recvbuf), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}
NAMES(alltoallw_init, ALLTOALLW_INIT)
NAMES_F08_CHOICE(alltoallw_init, ALLTOALLW_INIT)
NAMES_MPIX(alltoallw_init)

void F(barrier)(const Fint *comm, Fint *ierror)
{
    int code;
    code = C(Barrier)(Comm_of(*comm));
    finish(ierror, code);
}
NAMES(barrier, BARRIER)
NAMES_F08(barrier, BARRIER)

void F(barrier_init)(const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = C(Barrier_init)(Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(barrier_init, BARRIER_INIT)
NAMES_F08(barrier_init, BARRIER_INIT)
NAMES_MPIX(barrier_init)

void F(bcast)(void *buffer, const Fint *count, const Fint *datatype, const Fint *root, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Bcast)(place(buffer), *count, Type_of(*datatype), INT(*root), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(bcast, BCAST)
NAMES_F08_CHOICE(bcast, BCAST)

void F(bcast_init)(void *buffer, const Fint *count, const Fint *datatype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Bcast_init)(place(buffer), *count, Type_of(*datatype), INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(bcast_init, BCAST_INIT)
NAMES_F08_CHOICE(bcast_init, BCAST_INIT)
NAMES_MPIX(bcast_init)

void F(exscan)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Exscan)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(exscan, EXSCAN)
NAMES_F08_CHOICE(exscan, EXSCAN)

void F(exscan_init)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Exscan_init)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(exscan_init, EXSCAN_INIT)
NAMES_F08_CHOICE(exscan_init, EXSCAN_INIT)
NAMES_MPIX(exscan_init)

void F(gather)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Gather)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(gather, GATHER)
NAMES_F08_CHOICE(gather, GATHER)

void F(gather_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Gather_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(gather_init, GATHER_INIT)
NAMES_F08_CHOICE(gather_init, GATHER_INIT)
NAMES_MPIX(gather_init)

void F(gatherv)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Gatherv)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), INT(*root), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(gatherv, GATHERV)
NAMES_F08_CHOICE(gatherv, GATHERV)

void F(gatherv_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Gatherv_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(gatherv_init, GATHERV_INIT)
NAMES_F08_CHOICE(gatherv_init, GATHERV_INIT)
NAMES_MPIX(gatherv_init)

void F(iallgather)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Iallgather)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(iallgather, IALLGATHER)
NAMES_F08_CHOICE(iallgather, IALLGATHER)

void F(iallgatherv)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Iallgatherv)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(iallgatherv, IALLGATHERV)
NAMES_F08_CHOICE(iallgatherv, IALLGATHERV)

void F(iallreduce)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Iallreduce)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(iallreduce, IALLREDUCE)
NAMES_F08_CHOICE(iallreduce, IALLREDUCE)

void F(ialltoall)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ialltoall)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ialltoall, IALLTOALL)
NAMES_F08_CHOICE(ialltoall, IALLTOALL)

void F(ialltoallv)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ialltoallv)(place(sendbuf), sendcounts, sdispls, Type_of(*sendtype), place(recvbuf), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ialltoallv, IALLTOALLV)
NAMES_F08_CHOICE(ialltoallv, IALLTOALLV)

void F(ialltoallw)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtypes, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf) == MPI_IN_PLACE ? 0 : ranks(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Ialltoallw)(place(sendbuf), sendcounts, sdispls, c_sendtypes, place(recvbuf), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}
NAMES(ialltoallw, IALLTOALLW)
NAMES_F08_CHOICE(ialltoallw, IALLTOALLW)

void F(ibarrier)(const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = C(Ibarrier)(Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ibarrier, IBARRIER)
NAMES_F08(ibarrier, IBARRIER)

void F(ibcast)(void *buffer, const Fint *count, const Fint *datatype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ibcast)(place(buffer), *count, Type_of(*datatype), INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ibcast, IBCAST)
NAMES_F08_CHOICE(ibcast, IBCAST)

void F(iexscan)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Iexscan)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(iexscan, IEXSCAN)
NAMES_F08_CHOICE(iexscan, IEXSCAN)

void F(igather)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Igather)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(igather, IGATHER)
NAMES_F08_CHOICE(igather, IGATHER)

void F(igatherv)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Igatherv)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(igatherv, IGATHERV)
NAMES_F08_CHOICE(igatherv, IGATHERV)

void F(ireduce)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ireduce)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ireduce, IREDUCE)
NAMES_F08_CHOICE(ireduce, IREDUCE)

void F(ireduce_scatter)(const void *sendbuf, void *recvbuf, const Fint *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ireduce_scatter)(place(sendbuf), place(recvbuf), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ireduce_scatter, IREDUCE_SCATTER)
NAMES_F08_CHOICE(ireduce_scatter, IREDUCE_SCATTER)

void F(ireduce_scatter_block)(const void *sendbuf, void *recvbuf, const Fint *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ireduce_scatter_block)(place(sendbuf), place(recvbuf), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK)
NAMES_F08_CHOICE(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK)

void F(iscan)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Iscan)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(iscan, ISCAN)
NAMES_F08_CHOICE(iscan, ISCAN)

void F(iscatter)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Iscatter)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(iscatter, ISCATTER)
NAMES_F08_CHOICE(iscatter, ISCATTER)

void F(iscatterv)(const void *sendbuf, const Fint *sendcounts, const Fint *displs, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Iscatterv)(place(sendbuf), sendcounts, displs, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(iscatterv, ISCATTERV)
NAMES_F08_CHOICE(iscatterv, ISCATTERV)

void F(op_commutative)(const Fint *op, Flogical *commute, Fint *ierror)
{
    int c_commute = 0;
    int code;
    code = C(Op_commutative)(Op_of(*op), &c_commute);
    *commute = logical(c_commute);
    finish(ierror, code);
}
NAMES(op_commutative, OP_COMMUTATIVE)
NAMES_F08(op_commutative, OP_COMMUTATIVE)

void F(op_free)(Fint *op, Fint *ierror)
{
    MPI_Op c_op = Op_of(*op);
    int code;
    code = C(Op_free)(&c_op);
    Op_put(op, c_op);
    finish(ierror, code);
}
NAMES(op_free, OP_FREE)
NAMES_F08(op_free, OP_FREE)

void F(reduce)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Reduce)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(reduce, REDUCE)
NAMES_F08_CHOICE(reduce, REDUCE)

void F(reduce_init)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Reduce_init)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(reduce_init, REDUCE_INIT)
NAMES_F08_CHOICE(reduce_init, REDUCE_INIT)
NAMES_MPIX(reduce_init)

void F(reduce_local)(const void *inbuf, void *inoutbuf, const Fint *count, const Fint *datatype, const Fint *op, Fint *ierror)
{
    int code;
    code = L(Reduce_local)(place(inbuf), place(inoutbuf), *count, Type_of(*datatype), Op_of(*op));
    finish(ierror, code);
}
NAMES(reduce_local, REDUCE_LOCAL)
NAMES_F08_CHOICE(reduce_local, REDUCE_LOCAL)

void F(reduce_scatter)(const void *sendbuf, void *recvbuf, const Fint *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Reduce_scatter)(place(sendbuf), place(recvbuf), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(reduce_scatter, REDUCE_SCATTER)
NAMES_F08_CHOICE(reduce_scatter, REDUCE_SCATTER)

void F(reduce_scatter_block)(const void *sendbuf, void *recvbuf, const Fint *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Reduce_scatter_block)(place(sendbuf), place(recvbuf), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(reduce_scatter_block, REDUCE_SCATTER_BLOCK)
NAMES_F08_CHOICE(reduce_scatter_block, REDUCE_SCATTER_BLOCK)

void F(reduce_scatter_block_init)(const void *sendbuf, void *recvbuf, const Fint *recvcount, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Reduce_scatter_block_init)(place(sendbuf), place(recvbuf), *recvcount, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(reduce_scatter_block_init, REDUCE_SCATTER_BLOCK_INIT)
NAMES_F08_CHOICE(reduce_scatter_block_init, REDUCE_SCATTER_BLOCK_INIT)
NAMES_MPIX(reduce_scatter_block_init)

void F(reduce_scatter_init)(const void *sendbuf, void *recvbuf, const Fint *recvcounts, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Reduce_scatter_init)(place(sendbuf), place(recvbuf), recvcounts, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(reduce_scatter_init, REDUCE_SCATTER_INIT)
NAMES_F08_CHOICE(reduce_scatter_init, REDUCE_SCATTER_INIT)
NAMES_MPIX(reduce_scatter_init)

void F(scan)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Scan)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(scan, SCAN)
NAMES_F08_CHOICE(scan, SCAN)

void F(scan_init)(const void *sendbuf, void *recvbuf, const Fint *count, const Fint *datatype, const Fint *op, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Scan_init)(place(sendbuf), place(recvbuf), *count, Type_of(*datatype), Op_of(*op), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(scan_init, SCAN_INIT)
NAMES_F08_CHOICE(scan_init, SCAN_INIT)
NAMES_MPIX(scan_init)

void F(scatter)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Scatter)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(scatter, SCATTER)
NAMES_F08_CHOICE(scatter, SCATTER)

void F(scatter_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Scatter_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(scatter_init, SCATTER_INIT)
NAMES_F08_CHOICE(scatter_init, SCATTER_INIT)
NAMES_MPIX(scatter_init)

void F(scatterv)(const void *sendbuf, const Fint *sendcounts, const Fint *displs, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Scatterv)(place(sendbuf), sendcounts, displs, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(scatterv, SCATTERV)
NAMES_F08_CHOICE(scatterv, SCATTERV)

void F(scatterv_init)(const void *sendbuf, const Fint *sendcounts, const Fint *displs, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *root, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Scatterv_init)(place(sendbuf), sendcounts, displs, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), INT(*root), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(scatterv_init, SCATTERV_INIT)
NAMES_F08_CHOICE(scatterv_init, SCATTERV_INIT)
NAMES_MPIX(scatterv_init)

void F(group_compare)(const Fint *group1, const Fint *group2, Fint *result, Fint *ierror)
{
    INTEGER(result)
    int code;
    code = C(Group_compare)(Group_of(*group1), Group_of(*group2), AT(result));
    RETURN_INTEGER(result)
    finish(ierror, code);
}
NAMES(group_compare, GROUP_COMPARE)
NAMES_F08(group_compare, GROUP_COMPARE)

void F(group_difference)(const Fint *group1, const Fint *group2, Fint *newgroup, Fint *ierror)
{
    MPI_Group c_newgroup = 0;
    int code;
    code = C(Group_difference)(Group_of(*group1), Group_of(*group2), &c_newgroup);
    if (c_newgroup)
        *newgroup = Group_int(c_newgroup);
    finish(ierror, code);
}
NAMES(group_difference, GROUP_DIFFERENCE)
NAMES_F08(group_difference, GROUP_DIFFERENCE)

void F(group_excl)(const Fint *group, const Fint *n, const Fint *ranks, Fint *newgroup, Fint *ierror)
{
    INTEGERS(ranks, *n)
    MPI_Group c_newgroup = 0;
    int code;
    if (NO_INTEGERS(ranks)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Group_excl)(Group_of(*group), INT(*n), ENTRIES(ranks), &c_newgroup);
    if (c_newgroup)
        *newgroup = Group_int(c_newgroup);
done:
    LEAVE_INTEGERS(ranks)
    finish(ierror, code);
}
NAMES(group_excl, GROUP_EXCL)
NAMES_F08(group_excl, GROUP_EXCL)

void F(group_free)(Fint *group, Fint *ierror)
{
    MPI_Group c_group = Group_of(*group);
    int code;
    code = C(Group_free)(&c_group);
    Group_put(group, c_group);
    finish(ierror, code);
}
NAMES(group_free, GROUP_FREE)
NAMES_F08(group_free, GROUP_FREE)

void F(group_incl)(const Fint *group, const Fint *n, const Fint *ranks, Fint *newgroup, Fint *ierror)
{
    INTEGERS(ranks, *n)
    MPI_Group c_newgroup = 0;
    int code;
    if (NO_INTEGERS(ranks)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Group_incl)(Group_of(*group), INT(*n), ENTRIES(ranks), &c_newgroup);
    if (c_newgroup)
        *newgroup = Group_int(c_newgroup);
done:
    LEAVE_INTEGERS(ranks)
    finish(ierror, code);
}
NAMES(group_incl, GROUP_INCL)
NAMES_F08(group_incl, GROUP_INCL)

void F(group_intersection)(const Fint *group1, const Fint *group2, Fint *newgroup, Fint *ierror)
{
    MPI_Group c_newgroup = 0;
    int code;
    code = C(Group_intersection)(Group_of(*group1), Group_of(*group2), &c_newgroup);
    if (c_newgroup)
        *newgroup = Group_int(c_newgroup);
    finish(ierror, code);
}
NAMES(group_intersection, GROUP_INTERSECTION)
NAMES_F08(group_intersection, GROUP_INTERSECTION)

void F(group_range_excl)(const Fint *group, const Fint *n, const Fint *ranges, Fint *newgroup, Fint *ierror)
{
    INTEGERS(ranges, 3 * *n)
    MPI_Group c_newgroup = 0;
    int code;
    if (NO_INTEGERS(ranges)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Group_range_excl)(Group_of(*group), INT(*n), (int (*)[3])ENTRIES(ranges), &c_newgroup);
    if (c_newgroup)
        *newgroup = Group_int(c_newgroup);
done:
    LEAVE_INTEGERS(ranges)
    finish(ierror, code);
}
NAMES(group_range_excl, GROUP_RANGE_EXCL)
NAMES_F08(group_range_excl, GROUP_RANGE_EXCL)

void F(group_range_incl)(const Fint *group, const Fint *n, const Fint *ranges, Fint *newgroup, Fint *ierror)
{
    INTEGERS(ranges, 3 * *n)
    MPI_Group c_newgroup = 0;
    int code;
    if (NO_INTEGERS(ranges)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Group_range_incl)(Group_of(*group), INT(*n), (int (*)[3])ENTRIES(ranges), &c_newgroup);
    if (c_newgroup)
        *newgroup = Group_int(c_newgroup);
done:
    LEAVE_INTEGERS(ranges)
    finish(ierror, code);
}
NAMES(group_range_incl, GROUP_RANGE_INCL)
NAMES_F08(group_range_incl, GROUP_RANGE_INCL)

void F(group_rank)(const Fint *group, Fint *rank, Fint *ierror)
{
    INTEGER(rank)
    int code;
    code = C(Group_rank)(Group_of(*group), AT(rank));
    RETURN_INTEGER(rank)
    finish(ierror, code);
}
NAMES(group_rank, GROUP_RANK)
NAMES_F08(group_rank, GROUP_RANK)

void F(group_size)(const Fint *group, Fint *size, Fint *ierror)
{
    INTEGER(size)
    int code;
    code = C(Group_size)(Group_of(*group), AT(size));
    RETURN_INTEGER(size)
    finish(ierror, code);
}
NAMES(group_size, GROUP_SIZE)
NAMES_F08(group_size, GROUP_SIZE)

void F(group_translate_ranks)(const Fint *group1, const Fint *n, const Fint *ranks1, const Fint *group2, Fint *ranks2, Fint *ierror)
{
    INTEGERS(ranks1, *n)
    INTEGERS(ranks2, *n)
    int code;
    if (NO_INTEGERS(ranks1)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(ranks2)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Group_translate_ranks)(Group_of(*group1), INT(*n), ENTRIES(ranks1), Group_of(*group2), ENTRIES(ranks2));
    RETURN_INTEGERS(ranks2)
done:
    LEAVE_INTEGERS(ranks1)
    LEAVE_INTEGERS(ranks2)
    finish(ierror, code);
}
NAMES(group_translate_ranks, GROUP_TRANSLATE_RANKS)
NAMES_F08(group_translate_ranks, GROUP_TRANSLATE_RANKS)

void F(group_union)(const Fint *group1, const Fint *group2, Fint *newgroup, Fint *ierror)
{
    MPI_Group c_newgroup = 0;
    int code;
    code = C(Group_union)(Group_of(*group1), Group_of(*group2), &c_newgroup);
    if (c_newgroup)
        *newgroup = Group_int(c_newgroup);
    finish(ierror, code);
}
NAMES(group_union, GROUP_UNION)
NAMES_F08(group_union, GROUP_UNION)

void F(comm_compare)(const Fint *comm1, const Fint *comm2, Fint *result, Fint *ierror)
{
    INTEGER(result)
    int code;
    code = C(Comm_compare)(Comm_of(*comm1), Comm_of(*comm2), AT(result));
    RETURN_INTEGER(result)
    finish(ierror, code);
}
NAMES(comm_compare, COMM_COMPARE)
NAMES_F08(comm_compare, COMM_COMPARE)

void F(comm_create)(const Fint *comm, const Fint *group, Fint *newcomm, Fint *ierror)
{
    MPI_Comm c_newcomm = 0;
    int code;
    code = C(Comm_create)(Comm_of(*comm), Group_of(*group), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
    finish(ierror, code);
}
NAMES(comm_create, COMM_CREATE)
NAMES_F08(comm_create, COMM_CREATE)

void F(comm_create_group)(const Fint *comm, const Fint *group, const Fint *tag, Fint *newcomm, Fint *ierror)
{
    MPI_Comm c_newcomm = 0;
    int code;
    code = C(Comm_create_group)(Comm_of(*comm), Group_of(*group), INT(*tag), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
    finish(ierror, code);
}
NAMES(comm_create_group, COMM_CREATE_GROUP)
NAMES_F08(comm_create_group, COMM_CREATE_GROUP)

void F(comm_dup)(const Fint *comm, Fint *newcomm, Fint *ierror)
{
    MPI_Comm c_newcomm = 0;
    int code;
    code = C(Comm_dup)(Comm_of(*comm), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
    finish(ierror, code);
}
NAMES(comm_dup, COMM_DUP)
NAMES_F08(comm_dup, COMM_DUP)

void F(comm_dup_with_info)(const Fint *comm, const Fint *info, Fint *newcomm, Fint *ierror)
{
    MPI_Comm c_newcomm = 0;
    int code;
    code = C(Comm_dup_with_info)(Comm_of(*comm), Info_of(*info), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
    finish(ierror, code);
}
NAMES(comm_dup_with_info, COMM_DUP_WITH_INFO)
NAMES_F08(comm_dup_with_info, COMM_DUP_WITH_INFO)

void F(comm_free)(Fint *comm, Fint *ierror)
{
    MPI_Comm c_comm = Comm_of(*comm);
    int code;
    code = C(Comm_free)(&c_comm);
    Comm_put(comm, c_comm);
    finish(ierror, code);
}
NAMES(comm_free, COMM_FREE)
NAMES_F08(comm_free, COMM_FREE)

void F(comm_get_info)(const Fint *comm, Fint *info_used, Fint *ierror)
{
    MPI_Info c_info_used = 0;
    int code;
    code = C(Comm_get_info)(Comm_of(*comm), &c_info_used);
    if (c_info_used)
        *info_used = Info_int(c_info_used);
    finish(ierror, code);
}
NAMES(comm_get_info, COMM_GET_INFO)
NAMES_F08(comm_get_info, COMM_GET_INFO)

void F(comm_get_name)(const Fint *comm, char *comm_name, Fint *resultlen, Fint *ierror, size_t l_comm_name)
{
    char c_comm_name[MPI_MAX_OBJECT_NAME];
    INTEGER(resultlen)
    int code;
    code = C(Comm_get_name)(Comm_of(*comm), c_comm_name, AT(resultlen));
    if (!code)
        VALUE(resultlen) = mpifort_fill(comm_name, l_comm_name, c_comm_name);
    RETURN_INTEGER(resultlen)
    finish(ierror, code);
}
NAMES(comm_get_name, COMM_GET_NAME)
NAMES_F08(comm_get_name, COMM_GET_NAME)

void F(comm_group)(const Fint *comm, Fint *group, Fint *ierror)
{
    MPI_Group c_group = 0;
    int code;
    code = C(Comm_group)(Comm_of(*comm), &c_group);
    if (c_group)
        *group = Group_int(c_group);
    finish(ierror, code);
}
NAMES(comm_group, COMM_GROUP)
NAMES_F08(comm_group, COMM_GROUP)

void F(comm_idup)(const Fint *comm, Fint *newcomm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    MPI_Comm *c_newcomm = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!(c_newcomm = mpifort_later_comm(&pending, newcomm, sizeof *newcomm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Comm_idup)(Comm_of(*comm), c_newcomm, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES(comm_idup, COMM_IDUP)
NAMES_F08(comm_idup, COMM_IDUP)

void F(comm_idup_with_info)(const Fint *comm, const Fint *info, Fint *newcomm, Fint *request, Fint *ierror)
{
    struct pending *pending = NULL;
    MPI_Comm *c_newcomm = NULL;
    MPI_Request c_request = 0;
    int code;
    if (!(c_newcomm = mpifort_later_comm(&pending, newcomm, sizeof *newcomm))) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Comm_idup_with_info)(Comm_of(*comm), Info_of(*info), c_newcomm, &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    if (pending)
        mpifort_keep(pending, code ? 0 : INT(*request), 0);
    finish(ierror, code);
}
NAMES(comm_idup_with_info, COMM_IDUP_WITH_INFO)
NAMES_F08(comm_idup_with_info, COMM_IDUP_WITH_INFO)

void F(comm_remote_group)(const Fint *comm, Fint *group, Fint *ierror)
{
    MPI_Group c_group = 0;
    int code;
    code = C(Comm_remote_group)(Comm_of(*comm), &c_group);
    if (c_group)
        *group = Group_int(c_group);
    finish(ierror, code);
}
NAMES(comm_remote_group, COMM_REMOTE_GROUP)
NAMES_F08(comm_remote_group, COMM_REMOTE_GROUP)

void F(comm_remote_size)(const Fint *comm, Fint *size, Fint *ierror)
{
    INTEGER(size)
    int code;
    code = C(Comm_remote_size)(Comm_of(*comm), AT(size));
    RETURN_INTEGER(size)
    finish(ierror, code);
}
NAMES(comm_remote_size, COMM_REMOTE_SIZE)
NAMES_F08(comm_remote_size, COMM_REMOTE_SIZE)

void F(comm_set_info)(const Fint *comm, const Fint *info, Fint *ierror)
{
    int code;
    code = C(Comm_set_info)(Comm_of(*comm), Info_of(*info));
    finish(ierror, code);
}
NAMES(comm_set_info, COMM_SET_INFO)
NAMES_F08(comm_set_info, COMM_SET_INFO)

void F(comm_set_name)(const Fint *comm, const char *comm_name, Fint *ierror, size_t l_comm_name)
{
    char few_comm_name[SHORT], *c_comm_name = few_comm_name;
    int code;
    c_comm_name = mpifort_text(comm_name, l_comm_name, few_comm_name);
    if (!c_comm_name) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Comm_set_name)(Comm_of(*comm), c_comm_name);
done:
    leave(few_comm_name, c_comm_name);
    finish(ierror, code);
}
NAMES(comm_set_name, COMM_SET_NAME)
NAMES_F08(comm_set_name, COMM_SET_NAME)

void F(comm_split)(const Fint *comm, const Fint *color, const Fint *key, Fint *newcomm, Fint *ierror)
{
    MPI_Comm c_newcomm = 0;
    int code;
    code = C(Comm_split)(Comm_of(*comm), INT(*color), INT(*key), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
    finish(ierror, code);
}
NAMES(comm_split, COMM_SPLIT)
NAMES_F08(comm_split, COMM_SPLIT)

void F(comm_split_type)(const Fint *comm, const Fint *split_type, const Fint *key, const Fint *info, Fint *newcomm, Fint *ierror)
{
    MPI_Comm c_newcomm = 0;
    int code;
    code = C(Comm_split_type)(Comm_of(*comm), INT(*split_type), INT(*key), Info_of(*info), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
    finish(ierror, code);
}
NAMES(comm_split_type, COMM_SPLIT_TYPE)
NAMES_F08(comm_split_type, COMM_SPLIT_TYPE)

void F(comm_test_inter)(const Fint *comm, Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    code = C(Comm_test_inter)(Comm_of(*comm), &c_flag);
    *flag = logical(c_flag);
    finish(ierror, code);
}
NAMES(comm_test_inter, COMM_TEST_INTER)
NAMES_F08(comm_test_inter, COMM_TEST_INTER)

void F(intercomm_create)(const Fint *local_comm, const Fint *local_leader, const Fint *peer_comm, const Fint *remote_leader, const Fint *tag, Fint *newintercomm, Fint *ierror)
{
    MPI_Comm c_newintercomm = 0;
    int code;
    code = C(Intercomm_create)(Comm_of(*local_comm), INT(*local_leader), Comm_of(*peer_comm), INT(*remote_leader), INT(*tag), &c_newintercomm);
    if (c_newintercomm)
        *newintercomm = Comm_int(c_newintercomm);
    finish(ierror, code);
}
NAMES(intercomm_create, INTERCOMM_CREATE)
NAMES_F08(intercomm_create, INTERCOMM_CREATE)

void F(intercomm_merge)(const Fint *intercomm, const Flogical *high, Fint *newintracomm, Fint *ierror)
{
    MPI_Comm c_newintracomm = 0;
    int code;
    code = C(Intercomm_merge)(Comm_of(*intercomm), truth(*high), &c_newintracomm);
    if (c_newintracomm)
        *newintracomm = Comm_int(c_newintracomm);
    finish(ierror, code);
}
NAMES(intercomm_merge, INTERCOMM_MERGE)
NAMES_F08(intercomm_merge, INTERCOMM_MERGE)

void F(attr_delete)(const Fint *comm, const Fint *keyval, Fint *ierror)
{
    int code;
    code = C(Attr_delete)(Comm_of(*comm), INT(*keyval));
    finish(ierror, code);
}
NAMES(attr_delete, ATTR_DELETE)

void F(comm_delete_attr)(const Fint *comm, const Fint *comm_keyval, Fint *ierror)
{
    int code;
    code = C(Comm_delete_attr)(Comm_of(*comm), INT(*comm_keyval));
    finish(ierror, code);
}
NAMES(comm_delete_attr, COMM_DELETE_ATTR)
NAMES_F08(comm_delete_attr, COMM_DELETE_ATTR)

void F(comm_free_keyval)(Fint *comm_keyval, Fint *ierror)
{
    INTEGER(comm_keyval)
    int code;
    code = C(Comm_free_keyval)(AT(comm_keyval));
    RETURN_INTEGER(comm_keyval)
    finish(ierror, code);
}
NAMES(comm_free_keyval, COMM_FREE_KEYVAL)
NAMES_F08(comm_free_keyval, COMM_FREE_KEYVAL)

void F(keyval_free)(Fint *keyval, Fint *ierror)
{
    INTEGER(keyval)
    int code;
    code = C(Keyval_free)(AT(keyval));
    RETURN_INTEGER(keyval)
    finish(ierror, code);
}
NAMES(keyval_free, KEYVAL_FREE)

void F(type_delete_attr)(const Fint *datatype, const Fint *type_keyval, Fint *ierror)
{
    int code;
    code = C(Type_delete_attr)(Type_of(*datatype), INT(*type_keyval));
    finish(ierror, code);
}
NAMES(type_delete_attr, TYPE_DELETE_ATTR)
NAMES_F08(type_delete_attr, TYPE_DELETE_ATTR)

void F(type_free_keyval)(Fint *type_keyval, Fint *ierror)
{
    INTEGER(type_keyval)
    int code;
    code = C(Type_free_keyval)(AT(type_keyval));
    RETURN_INTEGER(type_keyval)
    finish(ierror, code);
}
NAMES(type_free_keyval, TYPE_FREE_KEYVAL)
NAMES_F08(type_free_keyval, TYPE_FREE_KEYVAL)

void F(win_delete_attr)(const Fint *win, const Fint *win_keyval, Fint *ierror)
{
    int code;
    code = C(Win_delete_attr)(Win_of(*win), INT(*win_keyval));
    finish(ierror, code);
}
NAMES(win_delete_attr, WIN_DELETE_ATTR)
NAMES_F08(win_delete_attr, WIN_DELETE_ATTR)

void F(win_free_keyval)(Fint *win_keyval, Fint *ierror)
{
    INTEGER(win_keyval)
    int code;
    code = C(Win_free_keyval)(AT(win_keyval));
    RETURN_INTEGER(win_keyval)
    finish(ierror, code);
}
NAMES(win_free_keyval, WIN_FREE_KEYVAL)
NAMES_F08(win_free_keyval, WIN_FREE_KEYVAL)

void F(cart_coords)(const Fint *comm, const Fint *rank, const Fint *maxdims, Fint *coords, Fint *ierror)
{
    INTEGERS(coords, *maxdims)
    int code;
    if (NO_INTEGERS(coords)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Cart_coords)(Comm_of(*comm), INT(*rank), INT(*maxdims), ENTRIES(coords));
    RETURN_INTEGERS(coords)
done:
    LEAVE_INTEGERS(coords)
    finish(ierror, code);
}
NAMES(cart_coords, CART_COORDS)
NAMES_F08(cart_coords, CART_COORDS)

void F(cart_create)(const Fint *comm_old, const Fint *ndims, const Fint *dims, const Flogical *periods, const Flogical *reorder, Fint *comm_cart, Fint *ierror)
{
    INTEGERS(dims, *ndims)
    int few_periods[FEW], *c_periods = few_periods;
    ptrdiff_t n_periods = *ndims;
    MPI_Comm c_comm_cart = 0;
    int code;
    if (NO_INTEGERS(dims)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    c_periods = room(few_periods, sizeof *c_periods, n_periods);
    if (!c_periods) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_periods; i++)
        c_periods[i] = truth(periods[i]);
    code = C(Cart_create)(Comm_of(*comm_old), INT(*ndims), ENTRIES(dims), c_periods, truth(*reorder), &c_comm_cart);
    if (c_comm_cart)
        *comm_cart = Comm_int(c_comm_cart);
done:
    LEAVE_INTEGERS(dims)
    leave(few_periods, c_periods);
    finish(ierror, code);
}
NAMES(cart_create, CART_CREATE)
NAMES_F08(cart_create, CART_CREATE)

void F(cart_get)(const Fint *comm, const Fint *maxdims, Fint *dims, Flogical *periods, Fint *coords, Fint *ierror)
{
    INTEGERS(dims, *maxdims)
    int few_periods[FEW], *c_periods = few_periods;
    ptrdiff_t n_periods = *maxdims;
    INTEGERS(coords, *maxdims)
    int code;
    if (NO_INTEGERS(dims)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_periods = room(few_periods, sizeof *c_periods, n_periods);
    if (!c_periods) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_periods; i++)
        c_periods[i] = truth(periods[i]);
    if (NO_INTEGERS(coords)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Cart_get)(Comm_of(*comm), INT(*maxdims), ENTRIES(dims), c_periods, ENTRIES(coords));
    RETURN_INTEGERS(dims)
    for (ptrdiff_t i = 0; i < n_periods; i++)
        periods[i] = logical(c_periods[i]);
    RETURN_INTEGERS(coords)
done:
    LEAVE_INTEGERS(dims)
    leave(few_periods, c_periods);
    LEAVE_INTEGERS(coords)
    finish(ierror, code);
}
NAMES(cart_get, CART_GET)
NAMES_F08(cart_get, CART_GET)

void F(cart_map)(const Fint *comm, const Fint *ndims, const Fint *dims, const Flogical *periods, Fint *newrank, Fint *ierror)
{
    INTEGERS(dims, *ndims)
    int few_periods[FEW], *c_periods = few_periods;
    ptrdiff_t n_periods = *ndims;
    INTEGER(newrank)
    int code;
    if (NO_INTEGERS(dims)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    c_periods = room(few_periods, sizeof *c_periods, n_periods);
    if (!c_periods) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_periods; i++)
        c_periods[i] = truth(periods[i]);
    code = C(Cart_map)(Comm_of(*comm), INT(*ndims), ENTRIES(dims), c_periods, AT(newrank));
    RETURN_INTEGER(newrank)
done:
    LEAVE_INTEGERS(dims)
    leave(few_periods, c_periods);
    finish(ierror, code);
}
NAMES(cart_map, CART_MAP)
NAMES_F08(cart_map, CART_MAP)

void F(cart_rank)(const Fint *comm, const Fint *coords, Fint *rank, Fint *ierror)
{
    INTEGERS(coords, dims(Comm_of(*comm)))
    INTEGER(rank)
    int code;
    if (NO_INTEGERS(coords)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Cart_rank)(Comm_of(*comm), ENTRIES(coords), AT(rank));
    RETURN_INTEGER(rank)
done:
    LEAVE_INTEGERS(coords)
    finish(ierror, code);
}
NAMES(cart_rank, CART_RANK)
NAMES_F08(cart_rank, CART_RANK)

void F(cart_shift)(const Fint *comm, const Fint *direction, const Fint *disp, Fint *rank_source, Fint *rank_dest, Fint *ierror)
{
    INTEGER(rank_source)
    INTEGER(rank_dest)
    int code;
    code = C(Cart_shift)(Comm_of(*comm), INT(*direction), INT(*disp), AT(rank_source), AT(rank_dest));
    RETURN_INTEGER(rank_source)
    RETURN_INTEGER(rank_dest)
    finish(ierror, code);
}
NAMES(cart_shift, CART_SHIFT)
NAMES_F08(cart_shift, CART_SHIFT)

void F(cart_sub)(const Fint *comm, const Flogical *remain_dims, Fint *newcomm, Fint *ierror)
{
    int few_remain_dims[FEW], *c_remain_dims = few_remain_dims;
    ptrdiff_t n_remain_dims = dims(Comm_of(*comm));
    MPI_Comm c_newcomm = 0;
    int code;
    c_remain_dims = room(few_remain_dims, sizeof *c_remain_dims, n_remain_dims);
    if (!c_remain_dims) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_remain_dims; i++)
        c_remain_dims[i] = truth(remain_dims[i]);
    code = C(Cart_sub)(Comm_of(*comm), c_remain_dims, &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
done:
    leave(few_remain_dims, c_remain_dims);
    finish(ierror, code);
}
NAMES(cart_sub, CART_SUB)
NAMES_F08(cart_sub, CART_SUB)

void F(cartdim_get)(const Fint *comm, Fint *ndims, Fint *ierror)
{
    INTEGER(ndims)
    int code;
    code = C(Cartdim_get)(Comm_of(*comm), AT(ndims));
    RETURN_INTEGER(ndims)
    finish(ierror, code);
}
NAMES(cartdim_get, CARTDIM_GET)
NAMES_F08(cartdim_get, CARTDIM_GET)

void F(dims_create)(const Fint *nnodes, const Fint *ndims, Fint *dims, Fint *ierror)
{
    INTEGERS(dims, *ndims)
    int code;
    if (NO_INTEGERS(dims)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Dims_create)(INT(*nnodes), INT(*ndims), ENTRIES(dims));
    RETURN_INTEGERS(dims)
done:
    LEAVE_INTEGERS(dims)
    finish(ierror, code);
}
NAMES(dims_create, DIMS_CREATE)
NAMES_F08(dims_create, DIMS_CREATE)

void F(dist_graph_create)(const Fint *comm_old, const Fint *n, const Fint *sources, const Fint *degrees, const Fint *destinations, const Fint *weights, const Fint *info, const Flogical *reorder, Fint *comm_dist_graph, Fint *ierror)
{
    INTEGERS(sources, *n)
    INTEGERS(degrees, *n)
    INTEGERS(destinations, sum_of(degrees, *n))
    INTEGERS(weights, is_weights(weights) ? sum_of(degrees, *n) : 0)
    MPI_Comm c_comm_dist_graph = 0;
    int code;
    if (NO_INTEGERS(sources)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(degrees)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(destinations)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(weights)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Dist_graph_create)(Comm_of(*comm_old), INT(*n), ENTRIES(sources), ENTRIES(degrees), ENTRIES(destinations), WEIGHTS(weights), Info_of(*info), truth(*reorder), &c_comm_dist_graph);
    if (c_comm_dist_graph)
        *comm_dist_graph = Comm_int(c_comm_dist_graph);
done:
    LEAVE_INTEGERS(sources)
    LEAVE_INTEGERS(degrees)
    LEAVE_INTEGERS(destinations)
    LEAVE_INTEGERS(weights)
    finish(ierror, code);
}
NAMES(dist_graph_create, DIST_GRAPH_CREATE)
NAMES_F08(dist_graph_create, DIST_GRAPH_CREATE)

void F(dist_graph_create_adjacent)(const Fint *comm_old, const Fint *indegree, const Fint *sources, const Fint *sourceweights, const Fint *outdegree, const Fint *destinations, const Fint *destweights, const Fint *info, const Flogical *reorder, Fint *comm_dist_graph, Fint *ierror)
{
    INTEGERS(sources, *indegree)
    INTEGERS(sourceweights, is_weights(sourceweights) ? *indegree : 0)
    INTEGERS(destinations, *outdegree)
    INTEGERS(destweights, is_weights(destweights) ? *outdegree : 0)
    MPI_Comm c_comm_dist_graph = 0;
    int code;
    if (NO_INTEGERS(sources)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(sourceweights)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(destinations)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(destweights)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Dist_graph_create_adjacent)(Comm_of(*comm_old), INT(*indegree), ENTRIES(sources), WEIGHTS(sourceweights), INT(*outdegree), ENTRIES(destinations), WEIGHTS(destweights), Info_of(*info), truth(*reorder), &c_comm_dist_graph);
    if (c_comm_dist_graph)
        *comm_dist_graph = Comm_int(c_comm_dist_graph);
done:
    LEAVE_INTEGERS(sources)
    LEAVE_INTEGERS(sourceweights)
    LEAVE_INTEGERS(destinations)
    LEAVE_INTEGERS(destweights)
    finish(ierror, code);
}
NAMES(dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT)
NAMES_F08(dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT)

void F(dist_graph_neighbors)(const Fint *comm, const Fint *maxindegree, Fint *sources, Fint *sourceweights, const Fint *maxoutdegree, Fint *destinations, Fint *destweights, Fint *ierror)
{
    INTEGERS(sources, *maxindegree)
    INTEGERS(sourceweights, is_weights(sourceweights) ? *maxindegree : 0)
    INTEGERS(destinations, *maxoutdegree)
    INTEGERS(destweights, is_weights(destweights) ? *maxoutdegree : 0)
    int code;
    if (NO_INTEGERS(sources)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(sourceweights)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(destinations)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(destweights)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Dist_graph_neighbors)(Comm_of(*comm), INT(*maxindegree), ENTRIES(sources), WEIGHTS(sourceweights), INT(*maxoutdegree), ENTRIES(destinations), WEIGHTS(destweights));
    RETURN_INTEGERS(sources)
    RETURN_INTEGERS(sourceweights)
    RETURN_INTEGERS(destinations)
    RETURN_INTEGERS(destweights)
done:
    LEAVE_INTEGERS(sources)
    LEAVE_INTEGERS(sourceweights)
    LEAVE_INTEGERS(destinations)
    LEAVE_INTEGERS(destweights)
    finish(ierror, code);
}
NAMES(dist_graph_neighbors, DIST_GRAPH_NEIGHBORS)
NAMES_F08(dist_graph_neighbors, DIST_GRAPH_NEIGHBORS)

void F(dist_graph_neighbors_count)(const Fint *comm, Fint *indegree, Fint *outdegree, Flogical *weighted, Fint *ierror)
{
    INTEGER(indegree)
    INTEGER(outdegree)
    int c_weighted = 0;
    int code;
    code = C(Dist_graph_neighbors_count)(Comm_of(*comm), AT(indegree), AT(outdegree), &c_weighted);
    RETURN_INTEGER(indegree)
    RETURN_INTEGER(outdegree)
    *weighted = logical(c_weighted);
    finish(ierror, code);
}
NAMES(dist_graph_neighbors_count, DIST_GRAPH_NEIGHBORS_COUNT)
NAMES_F08(dist_graph_neighbors_count, DIST_GRAPH_NEIGHBORS_COUNT)

void F(graph_create)(const Fint *comm_old, const Fint *nnodes, const Fint *indx, const Fint *edges, const Flogical *reorder, Fint *comm_graph, Fint *ierror)
{
    INTEGERS(indx, *nnodes)
    INTEGERS(edges, last_of(indx, *nnodes))
    MPI_Comm c_comm_graph = 0;
    int code;
    if (NO_INTEGERS(indx)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(edges)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Graph_create)(Comm_of(*comm_old), INT(*nnodes), ENTRIES(indx), ENTRIES(edges), truth(*reorder), &c_comm_graph);
    if (c_comm_graph)
        *comm_graph = Comm_int(c_comm_graph);
done:
    LEAVE_INTEGERS(indx)
    LEAVE_INTEGERS(edges)
    finish(ierror, code);
}
NAMES(graph_create, GRAPH_CREATE)
NAMES_F08(graph_create, GRAPH_CREATE)

void F(graph_get)(const Fint *comm, const Fint *maxindex, const Fint *maxedges, Fint *indx, Fint *edges, Fint *ierror)
{
    INTEGERS(indx, *maxindex)
    INTEGERS(edges, *maxedges)
    int code;
    if (NO_INTEGERS(indx)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(edges)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Graph_get)(Comm_of(*comm), INT(*maxindex), INT(*maxedges), ENTRIES(indx), ENTRIES(edges));
    RETURN_INTEGERS(indx)
    RETURN_INTEGERS(edges)
done:
    LEAVE_INTEGERS(indx)
    LEAVE_INTEGERS(edges)
    finish(ierror, code);
}
NAMES(graph_get, GRAPH_GET)
NAMES_F08(graph_get, GRAPH_GET)

void F(graph_map)(const Fint *comm, const Fint *nnodes, const Fint *indx, const Fint *edges, Fint *newrank, Fint *ierror)
{
    INTEGERS(indx, *nnodes)
    INTEGERS(edges, last_of(indx, *nnodes))
    INTEGER(newrank)
    int code;
    if (NO_INTEGERS(indx)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    if (NO_INTEGERS(edges)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Graph_map)(Comm_of(*comm), INT(*nnodes), ENTRIES(indx), ENTRIES(edges), AT(newrank));
    RETURN_INTEGER(newrank)
done:
    LEAVE_INTEGERS(indx)
    LEAVE_INTEGERS(edges)
    finish(ierror, code);
}
NAMES(graph_map, GRAPH_MAP)
NAMES_F08(graph_map, GRAPH_MAP)

void F(graph_neighbors)(const Fint *comm, const Fint *rank, const Fint *maxneighbors, Fint *neighbors, Fint *ierror)
{
    INTEGERS(neighbors, *maxneighbors)
    int code;
    if (NO_INTEGERS(neighbors)) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Graph_neighbors)(Comm_of(*comm), INT(*rank), INT(*maxneighbors), ENTRIES(neighbors));
    RETURN_INTEGERS(neighbors)
done:
    LEAVE_INTEGERS(neighbors)
    finish(ierror, code);
}
NAMES(graph_neighbors, GRAPH_NEIGHBORS)
NAMES_F08(graph_neighbors, GRAPH_NEIGHBORS)

void F(graph_neighbors_count)(const Fint *comm, const Fint *rank, Fint *nneighbors, Fint *ierror)
{
    INTEGER(nneighbors)
    int code;
    code = C(Graph_neighbors_count)(Comm_of(*comm), INT(*rank), AT(nneighbors));
    RETURN_INTEGER(nneighbors)
    finish(ierror, code);
}
NAMES(graph_neighbors_count, GRAPH_NEIGHBORS_COUNT)
NAMES_F08(graph_neighbors_count, GRAPH_NEIGHBORS_COUNT)

void F(graphdims_get)(const Fint *comm, Fint *nnodes, Fint *nedges, Fint *ierror)
{
    INTEGER(nnodes)
    INTEGER(nedges)
    int code;
    code = C(Graphdims_get)(Comm_of(*comm), AT(nnodes), AT(nedges));
    RETURN_INTEGER(nnodes)
    RETURN_INTEGER(nedges)
    finish(ierror, code);
}
NAMES(graphdims_get, GRAPHDIMS_GET)
NAMES_F08(graphdims_get, GRAPHDIMS_GET)

void F(ineighbor_allgather)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ineighbor_allgather)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ineighbor_allgather, INEIGHBOR_ALLGATHER)
NAMES_F08_CHOICE(ineighbor_allgather, INEIGHBOR_ALLGATHER)

void F(ineighbor_allgatherv)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ineighbor_allgatherv)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ineighbor_allgatherv, INEIGHBOR_ALLGATHERV)
NAMES_F08_CHOICE(ineighbor_allgatherv, INEIGHBOR_ALLGATHERV)

void F(ineighbor_alltoall)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ineighbor_alltoall)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ineighbor_alltoall, INEIGHBOR_ALLTOALL)
NAMES_F08_CHOICE(ineighbor_alltoall, INEIGHBOR_ALLTOALL)

void F(ineighbor_alltoallv)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Ineighbor_alltoallv)(place(sendbuf), sendcounts, sdispls, Type_of(*sendtype), place(recvbuf), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(ineighbor_alltoallv, INEIGHBOR_ALLTOALLV)
NAMES_F08_CHOICE(ineighbor_alltoallv, INEIGHBOR_ALLTOALLV)

void F(ineighbor_alltoallw)(const void *sendbuf, const Fint *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, void *recvbuf, const Fint *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *request, Fint *ierror)
{
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Ineighbor_alltoallw)(place(sendbuf), sendcounts, sdispls, c_sendtypes, place(recvbuf), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}
NAMES(ineighbor_alltoallw, INEIGHBOR_ALLTOALLW)
NAMES_F08_CHOICE(ineighbor_alltoallw, INEIGHBOR_ALLTOALLW)

void F(neighbor_allgather)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Neighbor_allgather)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(neighbor_allgather, NEIGHBOR_ALLGATHER)
NAMES_F08_CHOICE(neighbor_allgather, NEIGHBOR_ALLGATHER)

void F(neighbor_allgather_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Neighbor_allgather_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(neighbor_allgather_init, NEIGHBOR_ALLGATHER_INIT)
NAMES_F08_CHOICE(neighbor_allgather_init, NEIGHBOR_ALLGATHER_INIT)
NAMES_MPIX(neighbor_allgather_init)

void F(neighbor_allgatherv)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Neighbor_allgatherv)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(neighbor_allgatherv, NEIGHBOR_ALLGATHERV)
NAMES_F08_CHOICE(neighbor_allgatherv, NEIGHBOR_ALLGATHERV)

void F(neighbor_allgatherv_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *displs, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Neighbor_allgatherv_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), recvcounts, displs, Type_of(*recvtype), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(neighbor_allgatherv_init, NEIGHBOR_ALLGATHERV_INIT)
NAMES_F08_CHOICE(neighbor_allgatherv_init, NEIGHBOR_ALLGATHERV_INIT)
NAMES_MPIX(neighbor_allgatherv_init)

void F(neighbor_alltoall)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Neighbor_alltoall)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(neighbor_alltoall, NEIGHBOR_ALLTOALL)
NAMES_F08_CHOICE(neighbor_alltoall, NEIGHBOR_ALLTOALL)

void F(neighbor_alltoall_init)(const void *sendbuf, const Fint *sendcount, const Fint *sendtype, void *recvbuf, const Fint *recvcount, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Neighbor_alltoall_init)(place(sendbuf), *sendcount, Type_of(*sendtype), place(recvbuf), *recvcount, Type_of(*recvtype), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(neighbor_alltoall_init, NEIGHBOR_ALLTOALL_INIT)
NAMES_F08_CHOICE(neighbor_alltoall_init, NEIGHBOR_ALLTOALL_INIT)
NAMES_MPIX(neighbor_alltoall_init)

void F(neighbor_alltoallv)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, Fint *ierror)
{
    int code;
    code = L(Neighbor_alltoallv)(place(sendbuf), sendcounts, sdispls, Type_of(*sendtype), place(recvbuf), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm));
    finish(ierror, code);
}
NAMES(neighbor_alltoallv, NEIGHBOR_ALLTOALLV)
NAMES_F08_CHOICE(neighbor_alltoallv, NEIGHBOR_ALLTOALLV)

void F(neighbor_alltoallv_init)(const void *sendbuf, const Fint *sendcounts, const Fint *sdispls, const Fint *sendtype, void *recvbuf, const Fint *recvcounts, const Fint *rdispls, const Fint *recvtype, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Neighbor_alltoallv_init)(place(sendbuf), sendcounts, sdispls, Type_of(*sendtype), place(recvbuf), recvcounts, rdispls, Type_of(*recvtype), Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(neighbor_alltoallv_init, NEIGHBOR_ALLTOALLV_INIT)
NAMES_F08_CHOICE(neighbor_alltoallv_init, NEIGHBOR_ALLTOALLV_INIT)
NAMES_MPIX(neighbor_alltoallv_init)

void F(neighbor_alltoallw)(const void *sendbuf, const Fint *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, void *recvbuf, const Fint *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, Fint *ierror)
{
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    int code;
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Neighbor_alltoallw)(place(sendbuf), sendcounts, sdispls, c_sendtypes, place(recvbuf), recvcounts, rdispls, c_recvtypes, Comm_of(*comm));
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}
NAMES(neighbor_alltoallw, NEIGHBOR_ALLTOALLW)
NAMES_F08_CHOICE(neighbor_alltoallw, NEIGHBOR_ALLTOALLW)

void F(neighbor_alltoallw_init)(const void *sendbuf, const Fint *sendcounts, const MPI_Aint *sdispls, const Fint *sendtypes, void *recvbuf, const Fint *recvcounts, const MPI_Aint *rdispls, const Fint *recvtypes, const Fint *comm, const Fint *info, Fint *request, Fint *ierror)
{
    MPI_Datatype few_sendtypes[FEW], *c_sendtypes = few_sendtypes;
    ptrdiff_t n_sendtypes = place(sendbuf) == MPI_IN_PLACE ? 0 : destinations(Comm_of(*comm));
    MPI_Datatype few_recvtypes[FEW], *c_recvtypes = few_recvtypes;
    ptrdiff_t n_recvtypes = place(recvbuf) == MPI_IN_PLACE ? 0 : sources(Comm_of(*comm));
    MPI_Request c_request = 0;
    int code;
    c_sendtypes = room(few_sendtypes, sizeof *c_sendtypes, n_sendtypes);
    if (!c_sendtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_sendtypes; i++)
        c_sendtypes[i] = Type_of(sendtypes[i]);
    c_recvtypes = room(few_recvtypes, sizeof *c_recvtypes, n_recvtypes);
    if (!c_recvtypes) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    for (ptrdiff_t i = 0; i < n_recvtypes; i++)
        c_recvtypes[i] = Type_of(recvtypes[i]);
    code = L(Neighbor_alltoallw_init)(place(sendbuf), sendcounts, sdispls, c_sendtypes, place(recvbuf), recvcounts, rdispls, c_recvtypes, Comm_of(*comm), Info_of(*info), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    leave(few_sendtypes, c_sendtypes);
    leave(few_recvtypes, c_recvtypes);
    finish(ierror, code);
}
NAMES(neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW_INIT)
NAMES_F08_CHOICE(neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW_INIT)
NAMES_MPIX(neighbor_alltoallw_init)

void F(topo_test)(const Fint *comm, Fint *status, Fint *ierror)
{
    INTEGER(status)
    int code;
    code = C(Topo_test)(Comm_of(*comm), AT(status));
    RETURN_INTEGER(status)
    finish(ierror, code);
}
NAMES(topo_test, TOPO_TEST)
NAMES_F08(topo_test, TOPO_TEST)

void F(add_error_class)(Fint *errorclass, Fint *ierror)
{
    INTEGER(errorclass)
    int code;
    code = C(Add_error_class)(AT(errorclass));
    RETURN_INTEGER(errorclass)
    finish(ierror, code);
}
NAMES(add_error_class, ADD_ERROR_CLASS)
NAMES_F08(add_error_class, ADD_ERROR_CLASS)

void F(add_error_code)(const Fint *errorclass, Fint *errorcode, Fint *ierror)
{
    INTEGER(errorcode)
    int code;
    code = C(Add_error_code)(INT(*errorclass), AT(errorcode));
    RETURN_INTEGER(errorcode)
    finish(ierror, code);
}
NAMES(add_error_code, ADD_ERROR_CODE)
NAMES_F08(add_error_code, ADD_ERROR_CODE)

void F(add_error_string)(const Fint *errorcode, const char *string, Fint *ierror, size_t l_string)
{
    char few_string[SHORT], *c_string = few_string;
    int code;
    c_string = mpifort_text(string, l_string, few_string);
    if (!c_string) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Add_error_string)(INT(*errorcode), c_string);
done:
    leave(few_string, c_string);
    finish(ierror, code);
}
NAMES(add_error_string, ADD_ERROR_STRING)
NAMES_F08(add_error_string, ADD_ERROR_STRING)

void F(comm_call_errhandler)(const Fint *comm, const Fint *errorcode, Fint *ierror)
{
    int code;
    code = C(Comm_call_errhandler)(Comm_of(*comm), INT(*errorcode));
    finish(ierror, code);
}
NAMES(comm_call_errhandler, COMM_CALL_ERRHANDLER)
NAMES_F08(comm_call_errhandler, COMM_CALL_ERRHANDLER)

void F(comm_get_errhandler)(const Fint *comm, Fint *errhandler, Fint *ierror)
{
    MPI_Errhandler c_errhandler = 0;
    int code;
    code = C(Comm_get_errhandler)(Comm_of(*comm), &c_errhandler);
    if (c_errhandler)
        *errhandler = Errhandler_int(c_errhandler);
    finish(ierror, code);
}
NAMES(comm_get_errhandler, COMM_GET_ERRHANDLER)
NAMES_F08(comm_get_errhandler, COMM_GET_ERRHANDLER)

void F(comm_set_errhandler)(const Fint *comm, const Fint *errhandler, Fint *ierror)
{
    int code;
    code = C(Comm_set_errhandler)(Comm_of(*comm), Errhandler_of(*errhandler));
    finish(ierror, code);
}
NAMES(comm_set_errhandler, COMM_SET_ERRHANDLER)
NAMES_F08(comm_set_errhandler, COMM_SET_ERRHANDLER)

void F(errhandler_free)(Fint *errhandler, Fint *ierror)
{
    MPI_Errhandler c_errhandler = Errhandler_of(*errhandler);
    int code;
    code = C(Errhandler_free)(&c_errhandler);
    Errhandler_put(errhandler, c_errhandler);
    finish(ierror, code);
}
NAMES(errhandler_free, ERRHANDLER_FREE)
NAMES_F08(errhandler_free, ERRHANDLER_FREE)

void F(error_class)(const Fint *errorcode, Fint *errorclass, Fint *ierror)
{
    INTEGER(errorclass)
    int code;
    code = C(Error_class)(INT(*errorcode), AT(errorclass));
    RETURN_INTEGER(errorclass)
    finish(ierror, code);
}
NAMES(error_class, ERROR_CLASS)
NAMES_F08(error_class, ERROR_CLASS)

void F(error_string)(const Fint *errorcode, char *string, Fint *resultlen, Fint *ierror, size_t l_string)
{
    char c_string[MPI_MAX_ERROR_STRING];
    INTEGER(resultlen)
    int code;
    code = C(Error_string)(INT(*errorcode), c_string, AT(resultlen));
    if (!code)
        VALUE(resultlen) = mpifort_fill(string, l_string, c_string);
    RETURN_INTEGER(resultlen)
    finish(ierror, code);
}
NAMES(error_string, ERROR_STRING)
NAMES_F08(error_string, ERROR_STRING)

void F(remove_error_class)(const Fint *errorclass, Fint *ierror)
{
    int code;
    code = C(Remove_error_class)(INT(*errorclass));
    finish(ierror, code);
}
NAMES(remove_error_class, REMOVE_ERROR_CLASS)
NAMES_F08(remove_error_class, REMOVE_ERROR_CLASS)

void F(remove_error_code)(const Fint *errorcode, Fint *ierror)
{
    int code;
    code = C(Remove_error_code)(INT(*errorcode));
    finish(ierror, code);
}
NAMES(remove_error_code, REMOVE_ERROR_CODE)
NAMES_F08(remove_error_code, REMOVE_ERROR_CODE)

void F(remove_error_string)(const Fint *errorcode, Fint *ierror)
{
    int code;
    code = C(Remove_error_string)(INT(*errorcode));
    finish(ierror, code);
}
NAMES(remove_error_string, REMOVE_ERROR_STRING)
NAMES_F08(remove_error_string, REMOVE_ERROR_STRING)

void F(session_call_errhandler)(const Fint *session, const Fint *errorcode, Fint *ierror)
{
    int code;
    code = C(Session_call_errhandler)(Session_of(*session), INT(*errorcode));
    finish(ierror, code);
}
NAMES(session_call_errhandler, SESSION_CALL_ERRHANDLER)
NAMES_F08(session_call_errhandler, SESSION_CALL_ERRHANDLER)

void F(session_get_errhandler)(const Fint *session, Fint *errhandler, Fint *ierror)
{
    MPI_Errhandler c_errhandler = 0;
    int code;
    code = C(Session_get_errhandler)(Session_of(*session), &c_errhandler);
    if (c_errhandler)
        *errhandler = Errhandler_int(c_errhandler);
    finish(ierror, code);
}
NAMES(session_get_errhandler, SESSION_GET_ERRHANDLER)
NAMES_F08(session_get_errhandler, SESSION_GET_ERRHANDLER)

void F(session_set_errhandler)(const Fint *session, const Fint *errhandler, Fint *ierror)
{
    int code;
    code = C(Session_set_errhandler)(Session_of(*session), Errhandler_of(*errhandler));
    finish(ierror, code);
}
NAMES(session_set_errhandler, SESSION_SET_ERRHANDLER)
NAMES_F08(session_set_errhandler, SESSION_SET_ERRHANDLER)

void F(win_call_errhandler)(const Fint *win, const Fint *errorcode, Fint *ierror)
{
    int code;
    code = C(Win_call_errhandler)(Win_of(*win), INT(*errorcode));
    finish(ierror, code);
}
NAMES(win_call_errhandler, WIN_CALL_ERRHANDLER)
NAMES_F08(win_call_errhandler, WIN_CALL_ERRHANDLER)

void F(win_get_errhandler)(const Fint *win, Fint *errhandler, Fint *ierror)
{
    MPI_Errhandler c_errhandler = 0;
    int code;
    code = C(Win_get_errhandler)(Win_of(*win), &c_errhandler);
    if (c_errhandler)
        *errhandler = Errhandler_int(c_errhandler);
    finish(ierror, code);
}
NAMES(win_get_errhandler, WIN_GET_ERRHANDLER)
NAMES_F08(win_get_errhandler, WIN_GET_ERRHANDLER)

void F(win_set_errhandler)(const Fint *win, const Fint *errhandler, Fint *ierror)
{
    int code;
    code = C(Win_set_errhandler)(Win_of(*win), Errhandler_of(*errhandler));
    finish(ierror, code);
}
NAMES(win_set_errhandler, WIN_SET_ERRHANDLER)
NAMES_F08(win_set_errhandler, WIN_SET_ERRHANDLER)

void F(info_create)(Fint *info, Fint *ierror)
{
    MPI_Info c_info = 0;
    int code;
    code = C(Info_create)(&c_info);
    if (c_info)
        *info = Info_int(c_info);
    finish(ierror, code);
}
NAMES(info_create, INFO_CREATE)
NAMES_F08(info_create, INFO_CREATE)

void F(info_delete)(const Fint *info, const char *key, Fint *ierror, size_t l_key)
{
    char few_key[SHORT], *c_key = few_key;
    int code;
    c_key = mpifort_word(key, l_key, few_key);
    if (!c_key) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Info_delete)(Info_of(*info), c_key);
done:
    leave(few_key, c_key);
    finish(ierror, code);
}
NAMES(info_delete, INFO_DELETE)
NAMES_F08(info_delete, INFO_DELETE)

void F(info_dup)(const Fint *info, Fint *newinfo, Fint *ierror)
{
    MPI_Info c_newinfo = 0;
    int code;
    code = C(Info_dup)(Info_of(*info), &c_newinfo);
    if (c_newinfo)
        *newinfo = Info_int(c_newinfo);
    finish(ierror, code);
}
NAMES(info_dup, INFO_DUP)
NAMES_F08(info_dup, INFO_DUP)

void F(info_free)(Fint *info, Fint *ierror)
{
    MPI_Info c_info = Info_of(*info);
    int code;
    code = C(Info_free)(&c_info);
    Info_put(info, c_info);
    finish(ierror, code);
}
NAMES(info_free, INFO_FREE)
NAMES_F08(info_free, INFO_FREE)

void F(info_get)(const Fint *info, const char *key, const Fint *valuelen, char *value, Flogical *flag, Fint *ierror, size_t l_key, size_t l_value)
{
    char few_key[SHORT], *c_key = few_key;
    char few_value[FEW], *c_value = few_value;
    int c_flag = 0;
    int code;
    c_key = mpifort_word(key, l_key, few_key);
    if (!c_key) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    c_value = room(few_value, 1, (ptrdiff_t)*valuelen + 1);
    if (!c_value) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Info_get)(Info_of(*info), c_key, INT(*valuelen), c_value, &c_flag);
    if (!code && c_flag)
        mpifort_fill(value, l_value, c_value);
    *flag = logical(c_flag);
done:
    leave(few_key, c_key);
    leave(few_value, c_value);
    finish(ierror, code);
}
NAMES(info_get, INFO_GET)
NAMES_F08(info_get, INFO_GET)

void F(info_get_nkeys)(const Fint *info, Fint *nkeys, Fint *ierror)
{
    INTEGER(nkeys)
    int code;
    code = C(Info_get_nkeys)(Info_of(*info), AT(nkeys));
    RETURN_INTEGER(nkeys)
    finish(ierror, code);
}
NAMES(info_get_nkeys, INFO_GET_NKEYS)
NAMES_F08(info_get_nkeys, INFO_GET_NKEYS)

void F(info_get_nthkey)(const Fint *info, const Fint *n, char *key, Fint *ierror, size_t l_key)
{
    char c_key[MPI_MAX_INFO_KEY];
    int code;
    code = C(Info_get_nthkey)(Info_of(*info), INT(*n), c_key);
    if (!code)
        mpifort_fill(key, l_key, c_key);
    finish(ierror, code);
}
NAMES(info_get_nthkey, INFO_GET_NTHKEY)
NAMES_F08(info_get_nthkey, INFO_GET_NTHKEY)

void F(info_get_valuelen)(const Fint *info, const char *key, Fint *valuelen, Flogical *flag, Fint *ierror, size_t l_key)
{
    char few_key[SHORT], *c_key = few_key;
    INTEGER(valuelen)
    int c_flag = 0;
    int code;
    c_key = mpifort_word(key, l_key, few_key);
    if (!c_key) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Info_get_valuelen)(Info_of(*info), c_key, AT(valuelen), &c_flag);
    RETURN_INTEGER(valuelen)
    *flag = logical(c_flag);
done:
    leave(few_key, c_key);
    finish(ierror, code);
}
NAMES(info_get_valuelen, INFO_GET_VALUELEN)
NAMES_F08(info_get_valuelen, INFO_GET_VALUELEN)

void F(info_set)(const Fint *info, const char *key, const char *value, Fint *ierror, size_t l_key, size_t l_value)
{
    char few_key[SHORT], *c_key = few_key;
    char few_value[SHORT], *c_value = few_value;
    int code;
    c_key = mpifort_word(key, l_key, few_key);
    if (!c_key) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    c_value = mpifort_word(value, l_value, few_value);
    if (!c_value) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Info_set)(Info_of(*info), c_key, c_value);
done:
    leave(few_key, c_key);
    leave(few_value, c_value);
    finish(ierror, code);
}
NAMES(info_set, INFO_SET)
NAMES_F08(info_set, INFO_SET)

void F(comm_create_from_group)(const Fint *group, const char *stringtag, const Fint *info, const Fint *errhandler, Fint *newcomm, Fint *ierror, size_t l_stringtag)
{
    char few_stringtag[SHORT], *c_stringtag = few_stringtag;
    MPI_Comm c_newcomm = 0;
    int code;
    c_stringtag = mpifort_text(stringtag, l_stringtag, few_stringtag);
    if (!c_stringtag) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Comm_create_from_group)(Group_of(*group), c_stringtag, Info_of(*info), Errhandler_of(*errhandler), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
done:
    leave(few_stringtag, c_stringtag);
    finish(ierror, code);
}
NAMES(comm_create_from_group, COMM_CREATE_FROM_GROUP)
NAMES_F08(comm_create_from_group, COMM_CREATE_FROM_GROUP)

void F(group_from_session_pset)(const Fint *session, const char *pset_name, Fint *newgroup, Fint *ierror, size_t l_pset_name)
{
    char few_pset_name[SHORT], *c_pset_name = few_pset_name;
    MPI_Group c_newgroup = 0;
    int code;
    c_pset_name = mpifort_text(pset_name, l_pset_name, few_pset_name);
    if (!c_pset_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Group_from_session_pset)(Session_of(*session), c_pset_name, &c_newgroup);
    if (c_newgroup)
        *newgroup = Group_int(c_newgroup);
done:
    leave(few_pset_name, c_pset_name);
    finish(ierror, code);
}
NAMES(group_from_session_pset, GROUP_FROM_SESSION_PSET)
NAMES_F08(group_from_session_pset, GROUP_FROM_SESSION_PSET)

void F(intercomm_create_from_groups)(const Fint *local_group, const Fint *local_leader, const Fint *remote_group, const Fint *remote_leader, const char *stringtag, const Fint *info, const Fint *errhandler, Fint *newintercomm, Fint *ierror, size_t l_stringtag)
{
    char few_stringtag[SHORT], *c_stringtag = few_stringtag;
    MPI_Comm c_newintercomm = 0;
    int code;
    c_stringtag = mpifort_text(stringtag, l_stringtag, few_stringtag);
    if (!c_stringtag) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Intercomm_create_from_groups)(Group_of(*local_group), INT(*local_leader), Group_of(*remote_group), INT(*remote_leader), c_stringtag, Info_of(*info), Errhandler_of(*errhandler), &c_newintercomm);
    if (c_newintercomm)
        *newintercomm = Comm_int(c_newintercomm);
done:
    leave(few_stringtag, c_stringtag);
    finish(ierror, code);
}
NAMES(intercomm_create_from_groups, INTERCOMM_CREATE_FROM_GROUPS)
NAMES_F08(intercomm_create_from_groups, INTERCOMM_CREATE_FROM_GROUPS)

void F(session_finalize)(Fint *session, Fint *ierror)
{
    MPI_Session c_session = Session_of(*session);
    int code;
    code = C(Session_finalize)(&c_session);
    Session_put(session, c_session);
    finish(ierror, code);
}
NAMES(session_finalize, SESSION_FINALIZE)
NAMES_F08(session_finalize, SESSION_FINALIZE)

void F(session_get_info)(const Fint *session, Fint *info_used, Fint *ierror)
{
    MPI_Info c_info_used = 0;
    int code;
    code = C(Session_get_info)(Session_of(*session), &c_info_used);
    if (c_info_used)
        *info_used = Info_int(c_info_used);
    finish(ierror, code);
}
NAMES(session_get_info, SESSION_GET_INFO)
NAMES_F08(session_get_info, SESSION_GET_INFO)

void F(session_get_num_psets)(const Fint *session, const Fint *info, Fint *npset_names, Fint *ierror)
{
    INTEGER(npset_names)
    int code;
    code = C(Session_get_num_psets)(Session_of(*session), Info_of(*info), AT(npset_names));
    RETURN_INTEGER(npset_names)
    finish(ierror, code);
}
NAMES(session_get_num_psets, SESSION_GET_NUM_PSETS)
NAMES_F08(session_get_num_psets, SESSION_GET_NUM_PSETS)

void F(session_get_pset_info)(const Fint *session, const char *pset_name, Fint *info, Fint *ierror, size_t l_pset_name)
{
    char few_pset_name[SHORT], *c_pset_name = few_pset_name;
    MPI_Info c_info = 0;
    int code;
    c_pset_name = mpifort_text(pset_name, l_pset_name, few_pset_name);
    if (!c_pset_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Session_get_pset_info)(Session_of(*session), c_pset_name, &c_info);
    if (c_info)
        *info = Info_int(c_info);
done:
    leave(few_pset_name, c_pset_name);
    finish(ierror, code);
}
NAMES(session_get_pset_info, SESSION_GET_PSET_INFO)
NAMES_F08(session_get_pset_info, SESSION_GET_PSET_INFO)

void F(close_port)(const char *port_name, Fint *ierror, size_t l_port_name)
{
    char few_port_name[SHORT], *c_port_name = few_port_name;
    int code;
    c_port_name = mpifort_text(port_name, l_port_name, few_port_name);
    if (!c_port_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Close_port)(c_port_name);
done:
    leave(few_port_name, c_port_name);
    finish(ierror, code);
}
NAMES(close_port, CLOSE_PORT)
NAMES_F08(close_port, CLOSE_PORT)

void F(comm_accept)(const char *port_name, const Fint *info, const Fint *root, const Fint *comm, Fint *newcomm, Fint *ierror, size_t l_port_name)
{
    char few_port_name[SHORT], *c_port_name = few_port_name;
    MPI_Comm c_newcomm = 0;
    int code;
    c_port_name = mpifort_text(port_name, l_port_name, few_port_name);
    if (!c_port_name) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Comm_accept)(c_port_name, Info_of(*info), INT(*root), Comm_of(*comm), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
done:
    leave(few_port_name, c_port_name);
    finish(ierror, code);
}
NAMES(comm_accept, COMM_ACCEPT)
NAMES_F08(comm_accept, COMM_ACCEPT)

void F(comm_connect)(const char *port_name, const Fint *info, const Fint *root, const Fint *comm, Fint *newcomm, Fint *ierror, size_t l_port_name)
{
    char few_port_name[SHORT], *c_port_name = few_port_name;
    MPI_Comm c_newcomm = 0;
    int code;
    c_port_name = mpifort_text(port_name, l_port_name, few_port_name);
    if (!c_port_name) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Comm_connect)(c_port_name, Info_of(*info), INT(*root), Comm_of(*comm), &c_newcomm);
    if (c_newcomm)
        *newcomm = Comm_int(c_newcomm);
done:
    leave(few_port_name, c_port_name);
    finish(ierror, code);
}
NAMES(comm_connect, COMM_CONNECT)
NAMES_F08(comm_connect, COMM_CONNECT)

void F(comm_disconnect)(Fint *comm, Fint *ierror)
{
    MPI_Comm c_comm = Comm_of(*comm);
    int code;
    code = C(Comm_disconnect)(&c_comm);
    Comm_put(comm, c_comm);
    finish(ierror, code);
}
NAMES(comm_disconnect, COMM_DISCONNECT)
NAMES_F08(comm_disconnect, COMM_DISCONNECT)

void F(comm_get_parent)(Fint *parent, Fint *ierror)
{
    MPI_Comm c_parent = 0;
    int code;
    code = C(Comm_get_parent)(&c_parent);
    if (c_parent)
        *parent = Comm_int(c_parent);
    finish(ierror, code);
}
NAMES(comm_get_parent, COMM_GET_PARENT)
NAMES_F08(comm_get_parent, COMM_GET_PARENT)

void F(comm_join)(const Fint *fd, Fint *intercomm, Fint *ierror)
{
    MPI_Comm c_intercomm = 0;
    int code;
    code = C(Comm_join)(INT(*fd), &c_intercomm);
    if (c_intercomm)
        *intercomm = Comm_int(c_intercomm);
    finish(ierror, code);
}
NAMES(comm_join, COMM_JOIN)
NAMES_F08(comm_join, COMM_JOIN)

void F(lookup_name)(const char *service_name, const Fint *info, char *port_name, Fint *ierror, size_t l_service_name, size_t l_port_name)
{
    char few_service_name[SHORT], *c_service_name = few_service_name;
    char c_port_name[MPI_MAX_PORT_NAME];
    int code;
    c_service_name = mpifort_text(service_name, l_service_name, few_service_name);
    if (!c_service_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Lookup_name)(c_service_name, Info_of(*info), c_port_name);
    if (!code)
        mpifort_fill(port_name, l_port_name, c_port_name);
done:
    leave(few_service_name, c_service_name);
    finish(ierror, code);
}
NAMES(lookup_name, LOOKUP_NAME)
NAMES_F08(lookup_name, LOOKUP_NAME)

void F(open_port)(const Fint *info, char *port_name, Fint *ierror, size_t l_port_name)
{
    char c_port_name[MPI_MAX_PORT_NAME];
    int code;
    code = C(Open_port)(Info_of(*info), c_port_name);
    if (!code)
        mpifort_fill(port_name, l_port_name, c_port_name);
    finish(ierror, code);
}
NAMES(open_port, OPEN_PORT)
NAMES_F08(open_port, OPEN_PORT)

void F(publish_name)(const char *service_name, const Fint *info, const char *port_name, Fint *ierror, size_t l_service_name, size_t l_port_name)
{
    char few_service_name[SHORT], *c_service_name = few_service_name;
    char few_port_name[SHORT], *c_port_name = few_port_name;
    int code;
    c_service_name = mpifort_text(service_name, l_service_name, few_service_name);
    if (!c_service_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    c_port_name = mpifort_text(port_name, l_port_name, few_port_name);
    if (!c_port_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Publish_name)(c_service_name, Info_of(*info), c_port_name);
done:
    leave(few_service_name, c_service_name);
    leave(few_port_name, c_port_name);
    finish(ierror, code);
}
NAMES(publish_name, PUBLISH_NAME)
NAMES_F08(publish_name, PUBLISH_NAME)

void F(unpublish_name)(const char *service_name, const Fint *info, const char *port_name, Fint *ierror, size_t l_service_name, size_t l_port_name)
{
    char few_service_name[SHORT], *c_service_name = few_service_name;
    char few_port_name[SHORT], *c_port_name = few_port_name;
    int code;
    c_service_name = mpifort_text(service_name, l_service_name, few_service_name);
    if (!c_service_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    c_port_name = mpifort_text(port_name, l_port_name, few_port_name);
    if (!c_port_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Unpublish_name)(c_service_name, Info_of(*info), c_port_name);
done:
    leave(few_service_name, c_service_name);
    leave(few_port_name, c_port_name);
    finish(ierror, code);
}
NAMES(unpublish_name, UNPUBLISH_NAME)
NAMES_F08(unpublish_name, UNPUBLISH_NAME)

void F(compare_and_swap)(const void *origin_addr, const void *compare_addr, void *result_addr, const Fint *datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Compare_and_swap)(buffer(origin_addr), buffer(compare_addr), buffer(result_addr), Type_of(*datatype), INT(*target_rank), *target_disp, Win_of(*win));
    finish(ierror, code);
}
NAMES(compare_and_swap, COMPARE_AND_SWAP)
NAMES_F08_CHOICE(compare_and_swap, COMPARE_AND_SWAP)

void F(fetch_and_op)(const void *origin_addr, void *result_addr, const Fint *datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *op, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Fetch_and_op)(buffer(origin_addr), buffer(result_addr), Type_of(*datatype), INT(*target_rank), *target_disp, Op_of(*op), Win_of(*win));
    finish(ierror, code);
}
NAMES(fetch_and_op, FETCH_AND_OP)
NAMES_F08_CHOICE(fetch_and_op, FETCH_AND_OP)

void F(get_accumulate)(const void *origin_addr, const Fint *origin_count, const Fint *origin_datatype, void *result_addr, const Fint *result_count, const Fint *result_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *ierror)
{
    int code;
    code = L(Get_accumulate)(buffer(origin_addr), *origin_count, Type_of(*origin_datatype), buffer(result_addr), *result_count, Type_of(*result_datatype), INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win));
    finish(ierror, code);
}
NAMES(get_accumulate, GET_ACCUMULATE)
NAMES_F08_CHOICE(get_accumulate, GET_ACCUMULATE)

void F(raccumulate)(const void *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Raccumulate)(buffer(origin_addr), *origin_count, Type_of(*origin_datatype), INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(raccumulate, RACCUMULATE)
NAMES_F08_CHOICE(raccumulate, RACCUMULATE)

void F(rget)(void *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *win, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Rget)(buffer(origin_addr), *origin_count, Type_of(*origin_datatype), INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(rget, RGET)
NAMES_F08_CHOICE(rget, RGET)

void F(rget_accumulate)(const void *origin_addr, const Fint *origin_count, const Fint *origin_datatype, void *result_addr, const Fint *result_count, const Fint *result_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *win, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Rget_accumulate)(buffer(origin_addr), *origin_count, Type_of(*origin_datatype), buffer(result_addr), *result_count, Type_of(*result_datatype), INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(rget_accumulate, RGET_ACCUMULATE)
NAMES_F08_CHOICE(rget_accumulate, RGET_ACCUMULATE)

void F(rput)(const void *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *win, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(Rput)(buffer(origin_addr), *origin_count, Type_of(*origin_datatype), INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(rput, RPUT)
NAMES_F08_CHOICE(rput, RPUT)

void F(win_allocate)(const MPI_Aint *size, const Fint *disp_unit, const Fint *info, const Fint *comm, void *baseptr, Fint *win, Fint *ierror)
{
    MPI_Win c_win = 0;
    int code;
    code = L(Win_allocate)(*size, *disp_unit, Info_of(*info), Comm_of(*comm), baseptr, &c_win);
    if (c_win)
        *win = Win_int(c_win);
    finish(ierror, code);
}
NAMES(win_allocate, WIN_ALLOCATE)
NAMES_F08(win_allocate, WIN_ALLOCATE)
NAMES_CPTR(win_allocate, WIN_ALLOCATE)

void F(win_allocate_c)(const MPI_Aint *size, const MPI_Aint *disp_unit, const Fint *info, const Fint *comm, void *baseptr, Fint *win, Fint *ierror)
{
    MPI_Win c_win = 0;
    int code;
    code = C(Win_allocate_c)(*size, *disp_unit, Info_of(*info), Comm_of(*comm), baseptr, &c_win);
    if (c_win)
        *win = Win_int(c_win);
    finish(ierror, code);
}
NAMES_F08_LARGE(win_allocate, win_allocate_c, WIN_ALLOCATE_C)

void F(win_allocate_shared)(const MPI_Aint *size, const Fint *disp_unit, const Fint *info, const Fint *comm, void *baseptr, Fint *win, Fint *ierror)
{
    MPI_Win c_win = 0;
    int code;
    code = L(Win_allocate_shared)(*size, *disp_unit, Info_of(*info), Comm_of(*comm), baseptr, &c_win);
    if (c_win)
        *win = Win_int(c_win);
    finish(ierror, code);
}
NAMES(win_allocate_shared, WIN_ALLOCATE_SHARED)
NAMES_F08(win_allocate_shared, WIN_ALLOCATE_SHARED)
NAMES_CPTR(win_allocate_shared, WIN_ALLOCATE_SHARED)

void F(win_allocate_shared_c)(const MPI_Aint *size, const MPI_Aint *disp_unit, const Fint *info, const Fint *comm, void *baseptr, Fint *win, Fint *ierror)
{
    MPI_Win c_win = 0;
    int code;
    code = C(Win_allocate_shared_c)(*size, *disp_unit, Info_of(*info), Comm_of(*comm), baseptr, &c_win);
    if (c_win)
        *win = Win_int(c_win);
    finish(ierror, code);
}
NAMES_F08_LARGE(win_allocate_shared, win_allocate_shared_c, WIN_ALLOCATE_SHARED_C)

void F(win_attach)(const Fint *win, const void *base, const MPI_Aint *size, Fint *ierror)
{
    int code;
    code = C(Win_attach)(Win_of(*win), attached(base), *size);
    finish(ierror, code);
}
NAMES(win_attach, WIN_ATTACH)
NAMES_F08_CHOICE(win_attach, WIN_ATTACH)

void F(win_complete)(const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_complete)(Win_of(*win));
    finish(ierror, code);
}
NAMES(win_complete, WIN_COMPLETE)
NAMES_F08(win_complete, WIN_COMPLETE)

void F(win_create)(const void *base, const MPI_Aint *size, const Fint *disp_unit, const Fint *info, const Fint *comm, Fint *win, Fint *ierror)
{
    MPI_Win c_win = 0;
    int code;
    code = L(Win_create)(buffer(base), *size, *disp_unit, Info_of(*info), Comm_of(*comm), &c_win);
    if (c_win)
        *win = Win_int(c_win);
    finish(ierror, code);
}
NAMES(win_create, WIN_CREATE)
NAMES_F08_CHOICE(win_create, WIN_CREATE)

void F(win_create_dynamic)(const Fint *info, const Fint *comm, Fint *win, Fint *ierror)
{
    MPI_Win c_win = 0;
    int code;
    code = C(Win_create_dynamic)(Info_of(*info), Comm_of(*comm), &c_win);
    if (c_win)
        *win = Win_int(c_win);
    finish(ierror, code);
}
NAMES(win_create_dynamic, WIN_CREATE_DYNAMIC)
NAMES_F08(win_create_dynamic, WIN_CREATE_DYNAMIC)

void F(win_detach)(const Fint *win, const void *base, Fint *ierror)
{
    int code;
    code = C(Win_detach)(Win_of(*win), buffer(base));
    finish(ierror, code);
}
NAMES(win_detach, WIN_DETACH)
NAMES_F08_CHOICE(win_detach, WIN_DETACH)

void F(win_fence)(const Fint *assert, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_fence)(INT(*assert), Win_of(*win));
    finish(ierror, code);
}
NAMES(win_fence, WIN_FENCE)
NAMES_F08(win_fence, WIN_FENCE)

void F(win_flush)(const Fint *rank, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_flush)(INT(*rank), Win_of(*win));
    finish(ierror, code);
}
NAMES(win_flush, WIN_FLUSH)
NAMES_F08(win_flush, WIN_FLUSH)

void F(win_flush_all)(const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_flush_all)(Win_of(*win));
    finish(ierror, code);
}
NAMES(win_flush_all, WIN_FLUSH_ALL)
NAMES_F08(win_flush_all, WIN_FLUSH_ALL)

void F(win_flush_local)(const Fint *rank, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_flush_local)(INT(*rank), Win_of(*win));
    finish(ierror, code);
}
NAMES(win_flush_local, WIN_FLUSH_LOCAL)
NAMES_F08(win_flush_local, WIN_FLUSH_LOCAL)

void F(win_flush_local_all)(const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_flush_local_all)(Win_of(*win));
    finish(ierror, code);
}
NAMES(win_flush_local_all, WIN_FLUSH_LOCAL_ALL)
NAMES_F08(win_flush_local_all, WIN_FLUSH_LOCAL_ALL)

void F(win_free)(Fint *win, Fint *ierror)
{
    MPI_Win c_win = Win_of(*win);
    int code;
    code = C(Win_free)(&c_win);
    Win_put(win, c_win);
    finish(ierror, code);
}
NAMES(win_free, WIN_FREE)
NAMES_F08(win_free, WIN_FREE)

void F(win_get_group)(const Fint *win, Fint *group, Fint *ierror)
{
    MPI_Group c_group = 0;
    int code;
    code = C(Win_get_group)(Win_of(*win), &c_group);
    if (c_group)
        *group = Group_int(c_group);
    finish(ierror, code);
}
NAMES(win_get_group, WIN_GET_GROUP)
NAMES_F08(win_get_group, WIN_GET_GROUP)

void F(win_get_info)(const Fint *win, Fint *info_used, Fint *ierror)
{
    MPI_Info c_info_used = 0;
    int code;
    code = C(Win_get_info)(Win_of(*win), &c_info_used);
    if (c_info_used)
        *info_used = Info_int(c_info_used);
    finish(ierror, code);
}
NAMES(win_get_info, WIN_GET_INFO)
NAMES_F08(win_get_info, WIN_GET_INFO)

void F(win_get_name)(const Fint *win, char *win_name, Fint *resultlen, Fint *ierror, size_t l_win_name)
{
    char c_win_name[MPI_MAX_OBJECT_NAME];
    INTEGER(resultlen)
    int code;
    code = C(Win_get_name)(Win_of(*win), c_win_name, AT(resultlen));
    if (!code)
        VALUE(resultlen) = mpifort_fill(win_name, l_win_name, c_win_name);
    RETURN_INTEGER(resultlen)
    finish(ierror, code);
}
NAMES(win_get_name, WIN_GET_NAME)
NAMES_F08(win_get_name, WIN_GET_NAME)

void F(win_lock)(const Fint *lock_type, const Fint *rank, const Fint *assert, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_lock)(INT(*lock_type), INT(*rank), INT(*assert), Win_of(*win));
    finish(ierror, code);
}
NAMES(win_lock, WIN_LOCK)
NAMES_F08(win_lock, WIN_LOCK)

void F(win_lock_all)(const Fint *assert, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_lock_all)(INT(*assert), Win_of(*win));
    finish(ierror, code);
}
NAMES(win_lock_all, WIN_LOCK_ALL)
NAMES_F08(win_lock_all, WIN_LOCK_ALL)

void F(win_post)(const Fint *group, const Fint *assert, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_post)(Group_of(*group), INT(*assert), Win_of(*win));
    finish(ierror, code);
}
NAMES(win_post, WIN_POST)
NAMES_F08(win_post, WIN_POST)

void F(win_set_info)(const Fint *win, const Fint *info, Fint *ierror)
{
    int code;
    code = C(Win_set_info)(Win_of(*win), Info_of(*info));
    finish(ierror, code);
}
NAMES(win_set_info, WIN_SET_INFO)
NAMES_F08(win_set_info, WIN_SET_INFO)

void F(win_set_name)(const Fint *win, const char *win_name, Fint *ierror, size_t l_win_name)
{
    char few_win_name[SHORT], *c_win_name = few_win_name;
    int code;
    c_win_name = mpifort_text(win_name, l_win_name, few_win_name);
    if (!c_win_name) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(Win_set_name)(Win_of(*win), c_win_name);
done:
    leave(few_win_name, c_win_name);
    finish(ierror, code);
}
NAMES(win_set_name, WIN_SET_NAME)
NAMES_F08(win_set_name, WIN_SET_NAME)

void F(win_shared_query)(const Fint *win, const Fint *rank, MPI_Aint *size, Fint *disp_unit, void *baseptr, Fint *ierror)
{
    int code;
    code = L(Win_shared_query)(Win_of(*win), INT(*rank), size, disp_unit, baseptr);
    finish(ierror, code);
}
NAMES(win_shared_query, WIN_SHARED_QUERY)
NAMES_F08(win_shared_query, WIN_SHARED_QUERY)
NAMES_CPTR(win_shared_query, WIN_SHARED_QUERY)

void F(win_shared_query_c)(const Fint *win, const Fint *rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr, Fint *ierror)
{
    int code;
    code = C(Win_shared_query_c)(Win_of(*win), INT(*rank), size, disp_unit, baseptr);
    finish(ierror, code);
}
NAMES_F08_LARGE(win_shared_query, win_shared_query_c, WIN_SHARED_QUERY_C)

void F(win_start)(const Fint *group, const Fint *assert, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_start)(Group_of(*group), INT(*assert), Win_of(*win));
    finish(ierror, code);
}
NAMES(win_start, WIN_START)
NAMES_F08(win_start, WIN_START)

void F(win_sync)(const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_sync)(Win_of(*win));
    finish(ierror, code);
}
NAMES(win_sync, WIN_SYNC)
NAMES_F08(win_sync, WIN_SYNC)

void F(win_test)(const Fint *win, Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    code = C(Win_test)(Win_of(*win), &c_flag);
    *flag = logical(c_flag);
    finish(ierror, code);
}
NAMES(win_test, WIN_TEST)
NAMES_F08(win_test, WIN_TEST)

void F(win_unlock)(const Fint *rank, const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_unlock)(INT(*rank), Win_of(*win));
    finish(ierror, code);
}
NAMES(win_unlock, WIN_UNLOCK)
NAMES_F08(win_unlock, WIN_UNLOCK)

void F(win_unlock_all)(const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_unlock_all)(Win_of(*win));
    finish(ierror, code);
}
NAMES(win_unlock_all, WIN_UNLOCK_ALL)
NAMES_F08(win_unlock_all, WIN_UNLOCK_ALL)

void F(win_wait)(const Fint *win, Fint *ierror)
{
    int code;
    code = C(Win_wait)(Win_of(*win));
    finish(ierror, code);
}
NAMES(win_wait, WIN_WAIT)
NAMES_F08(win_wait, WIN_WAIT)

void F(grequest_complete)(const Fint *request, Fint *ierror)
{
    int code;
    code = C(Grequest_complete)(Request_of(*request));
    finish(ierror, code);
}
NAMES(grequest_complete, GREQUEST_COMPLETE)
NAMES_F08(grequest_complete, GREQUEST_COMPLETE)

void F(is_thread_main)(Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    code = C(Is_thread_main)(&c_flag);
    *flag = logical(c_flag);
    finish(ierror, code);
}
NAMES(is_thread_main, IS_THREAD_MAIN)
NAMES_F08(is_thread_main, IS_THREAD_MAIN)

void F(query_thread)(Fint *provided, Fint *ierror)
{
    INTEGER(provided)
    int code;
    code = C(Query_thread)(AT(provided));
    RETURN_INTEGER(provided)
    finish(ierror, code);
}
NAMES(query_thread, QUERY_THREAD)
NAMES_F08(query_thread, QUERY_THREAD)

void F(status_get_error)(const Fint *status, Fint *error, Fint *ierror)
{
    STATUS(status)
    INTEGER(error)
    int code;
    code = C(Status_get_error)(STATUS_IN(status), AT(error));
    RETURN_INTEGER(error)
    finish(ierror, code);
}
NAMES(status_get_error, STATUS_GET_ERROR)
NAMES_F08(status_get_error, STATUS_GET_ERROR)

void F(status_get_source)(const Fint *status, Fint *source, Fint *ierror)
{
    STATUS(status)
    INTEGER(source)
    int code;
    code = C(Status_get_source)(STATUS_IN(status), AT(source));
    RETURN_INTEGER(source)
    finish(ierror, code);
}
NAMES(status_get_source, STATUS_GET_SOURCE)
NAMES_F08(status_get_source, STATUS_GET_SOURCE)

void F(status_get_tag)(const Fint *status, Fint *tag, Fint *ierror)
{
    STATUS(status)
    INTEGER(tag)
    int code;
    code = C(Status_get_tag)(STATUS_IN(status), AT(tag));
    RETURN_INTEGER(tag)
    finish(ierror, code);
}
NAMES(status_get_tag, STATUS_GET_TAG)
NAMES_F08(status_get_tag, STATUS_GET_TAG)

void F(status_set_cancelled)(Fint *status, const Flogical *flag, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Status_set_cancelled)(STATUS_IN(status), truth(*flag));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(status_set_cancelled, STATUS_SET_CANCELLED)
NAMES_F08(status_set_cancelled, STATUS_SET_CANCELLED)

void F(status_set_elements)(Fint *status, const Fint *datatype, const Fint *count, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(Status_set_elements)(STATUS_IN(status), Type_of(*datatype), *count);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(status_set_elements, STATUS_SET_ELEMENTS)
NAMES_F08(status_set_elements, STATUS_SET_ELEMENTS)

void F(status_set_elements_c)(Fint *status, const Fint *datatype, const MPI_Count *count, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Status_set_elements_c)(STATUS_IN(status), Type_of(*datatype), *count);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES_F08_LARGE(status_set_elements, status_set_elements_c, STATUS_SET_ELEMENTS_C)

void F(status_set_elements_x)(Fint *status, const Fint *datatype, const MPI_Count *count, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Status_set_elements_x)(STATUS_IN(status), Type_of(*datatype), *count);
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(status_set_elements_x, STATUS_SET_ELEMENTS_X)
NAMES_F08(status_set_elements_x, STATUS_SET_ELEMENTS_X)

void F(status_set_error)(Fint *status, const Fint *error, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Status_set_error)(STATUS_IN(status), INT(*error));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(status_set_error, STATUS_SET_ERROR)
NAMES_F08(status_set_error, STATUS_SET_ERROR)

void F(status_set_source)(Fint *status, const Fint *source, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Status_set_source)(STATUS_IN(status), INT(*source));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(status_set_source, STATUS_SET_SOURCE)
NAMES_F08(status_set_source, STATUS_SET_SOURCE)

void F(status_set_tag)(Fint *status, const Fint *tag, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(Status_set_tag)(STATUS_IN(status), INT(*tag));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(status_set_tag, STATUS_SET_TAG)
NAMES_F08(status_set_tag, STATUS_SET_TAG)

void F(file_call_errhandler)(const Fint *fh, const Fint *errorcode, Fint *ierror)
{
    int code;
    code = C(File_call_errhandler)(File_of(*fh), INT(*errorcode));
    finish(ierror, code);
}
NAMES(file_call_errhandler, FILE_CALL_ERRHANDLER)
NAMES_F08(file_call_errhandler, FILE_CALL_ERRHANDLER)

void F(file_close)(Fint *fh, Fint *ierror)
{
    MPI_File c_fh = File_of(*fh);
    int code;
    code = C(File_close)(&c_fh);
    File_put(fh, c_fh);
    finish(ierror, code);
}
NAMES(file_close, FILE_CLOSE)
NAMES_F08(file_close, FILE_CLOSE)

void F(file_delete)(const char *filename, const Fint *info, Fint *ierror, size_t l_filename)
{
    char few_filename[SHORT], *c_filename = few_filename;
    int code;
    c_filename = mpifort_text(filename, l_filename, few_filename);
    if (!c_filename) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(File_delete)(c_filename, Info_of(*info));
done:
    leave(few_filename, c_filename);
    finish(ierror, code);
}
NAMES(file_delete, FILE_DELETE)
NAMES_F08(file_delete, FILE_DELETE)

void F(file_get_amode)(const Fint *fh, Fint *amode, Fint *ierror)
{
    INTEGER(amode)
    int code;
    code = C(File_get_amode)(File_of(*fh), AT(amode));
    RETURN_INTEGER(amode)
    finish(ierror, code);
}
NAMES(file_get_amode, FILE_GET_AMODE)
NAMES_F08(file_get_amode, FILE_GET_AMODE)

void F(file_get_atomicity)(const Fint *fh, Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    code = C(File_get_atomicity)(File_of(*fh), &c_flag);
    *flag = logical(c_flag);
    finish(ierror, code);
}
NAMES(file_get_atomicity, FILE_GET_ATOMICITY)
NAMES_F08(file_get_atomicity, FILE_GET_ATOMICITY)

void F(file_get_byte_offset)(const Fint *fh, const MPI_Offset *offset, MPI_Offset *disp, Fint *ierror)
{
    int code;
    code = C(File_get_byte_offset)(File_of(*fh), *offset, disp);
    finish(ierror, code);
}
NAMES(file_get_byte_offset, FILE_GET_BYTE_OFFSET)
NAMES_F08(file_get_byte_offset, FILE_GET_BYTE_OFFSET)

void F(file_get_errhandler)(const Fint *file, Fint *errhandler, Fint *ierror)
{
    MPI_Errhandler c_errhandler = 0;
    int code;
    code = C(File_get_errhandler)(File_of(*file), &c_errhandler);
    if (c_errhandler)
        *errhandler = Errhandler_int(c_errhandler);
    finish(ierror, code);
}
NAMES(file_get_errhandler, FILE_GET_ERRHANDLER)
NAMES_F08(file_get_errhandler, FILE_GET_ERRHANDLER)

void F(file_get_group)(const Fint *fh, Fint *group, Fint *ierror)
{
    MPI_Group c_group = 0;
    int code;
    code = C(File_get_group)(File_of(*fh), &c_group);
    if (c_group)
        *group = Group_int(c_group);
    finish(ierror, code);
}
NAMES(file_get_group, FILE_GET_GROUP)
NAMES_F08(file_get_group, FILE_GET_GROUP)

void F(file_get_info)(const Fint *fh, Fint *info_used, Fint *ierror)
{
    MPI_Info c_info_used = 0;
    int code;
    code = C(File_get_info)(File_of(*fh), &c_info_used);
    if (c_info_used)
        *info_used = Info_int(c_info_used);
    finish(ierror, code);
}
NAMES(file_get_info, FILE_GET_INFO)
NAMES_F08(file_get_info, FILE_GET_INFO)

void F(file_get_position)(const Fint *fh, MPI_Offset *offset, Fint *ierror)
{
    int code;
    code = C(File_get_position)(File_of(*fh), offset);
    finish(ierror, code);
}
NAMES(file_get_position, FILE_GET_POSITION)
NAMES_F08(file_get_position, FILE_GET_POSITION)

void F(file_get_position_shared)(const Fint *fh, MPI_Offset *offset, Fint *ierror)
{
    int code;
    code = C(File_get_position_shared)(File_of(*fh), offset);
    finish(ierror, code);
}
NAMES(file_get_position_shared, FILE_GET_POSITION_SHARED)
NAMES_F08(file_get_position_shared, FILE_GET_POSITION_SHARED)

void F(file_get_size)(const Fint *fh, MPI_Offset *size, Fint *ierror)
{
    int code;
    code = C(File_get_size)(File_of(*fh), size);
    finish(ierror, code);
}
NAMES(file_get_size, FILE_GET_SIZE)
NAMES_F08(file_get_size, FILE_GET_SIZE)

void F(file_get_type_extent)(const Fint *fh, const Fint *datatype, MPI_Aint *extent, Fint *ierror)
{
    int code;
    code = C(File_get_type_extent)(File_of(*fh), Type_of(*datatype), extent);
    finish(ierror, code);
}
NAMES(file_get_type_extent, FILE_GET_TYPE_EXTENT)
NAMES_F08(file_get_type_extent, FILE_GET_TYPE_EXTENT)

void F(file_get_type_extent_c)(const Fint *fh, const Fint *datatype, MPI_Count *extent, Fint *ierror)
{
    int code;
    code = C(File_get_type_extent_c)(File_of(*fh), Type_of(*datatype), extent);
    finish(ierror, code);
}
NAMES_F08_LARGE(file_get_type_extent, file_get_type_extent_c, FILE_GET_TYPE_EXTENT_C)

void F(file_get_view)(const Fint *fh, MPI_Offset *disp, Fint *etype, Fint *filetype, char *datarep, Fint *ierror, size_t l_datarep)
{
    MPI_Datatype c_etype = 0;
    MPI_Datatype c_filetype = 0;
    char c_datarep[MPI_MAX_DATAREP_STRING];
    int code;
    code = C(File_get_view)(File_of(*fh), disp, &c_etype, &c_filetype, c_datarep);
    if (c_etype)
        *etype = Type_int(c_etype);
    if (c_filetype)
        *filetype = Type_int(c_filetype);
    if (!code)
        mpifort_fill(datarep, l_datarep, c_datarep);
    finish(ierror, code);
}
NAMES(file_get_view, FILE_GET_VIEW)
NAMES_F08(file_get_view, FILE_GET_VIEW)

void F(file_iread)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iread)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iread, FILE_IREAD)
NAMES_F08_CHOICE(file_iread, FILE_IREAD)

void F(file_iread_all)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iread_all)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iread_all, FILE_IREAD_ALL)
NAMES_F08_CHOICE(file_iread_all, FILE_IREAD_ALL)

void F(file_iread_at)(const Fint *fh, const MPI_Offset *offset, void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iread_at)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iread_at, FILE_IREAD_AT)
NAMES_F08_CHOICE(file_iread_at, FILE_IREAD_AT)

void F(file_iread_at_all)(const Fint *fh, const MPI_Offset *offset, void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iread_at_all)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iread_at_all, FILE_IREAD_AT_ALL)
NAMES_F08_CHOICE(file_iread_at_all, FILE_IREAD_AT_ALL)

void F(file_iread_shared)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iread_shared)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iread_shared, FILE_IREAD_SHARED)
NAMES_F08_CHOICE(file_iread_shared, FILE_IREAD_SHARED)

void F(file_iwrite)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iwrite)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iwrite, FILE_IWRITE)
NAMES_F08_CHOICE(file_iwrite, FILE_IWRITE)

void F(file_iwrite_all)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iwrite_all)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iwrite_all, FILE_IWRITE_ALL)
NAMES_F08_CHOICE(file_iwrite_all, FILE_IWRITE_ALL)

void F(file_iwrite_at)(const Fint *fh, const MPI_Offset *offset, const void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iwrite_at)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iwrite_at, FILE_IWRITE_AT)
NAMES_F08_CHOICE(file_iwrite_at, FILE_IWRITE_AT)

void F(file_iwrite_at_all)(const Fint *fh, const MPI_Offset *offset, const void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iwrite_at_all)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iwrite_at_all, FILE_IWRITE_AT_ALL)
NAMES_F08_CHOICE(file_iwrite_at_all, FILE_IWRITE_AT_ALL)

void F(file_iwrite_shared)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *request, Fint *ierror)
{
    MPI_Request c_request = 0;
    int code;
    code = L(File_iwrite_shared)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), &c_request);
    if (c_request)
        *request = Request_int(c_request);
    finish(ierror, code);
}
NAMES(file_iwrite_shared, FILE_IWRITE_SHARED)
NAMES_F08_CHOICE(file_iwrite_shared, FILE_IWRITE_SHARED)

void F(file_open)(const Fint *comm, const char *filename, const Fint *amode, const Fint *info, Fint *fh, Fint *ierror, size_t l_filename)
{
    char few_filename[SHORT], *c_filename = few_filename;
    MPI_File c_fh = 0;
    int code;
    c_filename = mpifort_text(filename, l_filename, few_filename);
    if (!c_filename) {
        code = mpifort_raise(Comm_of(*comm), MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(File_open)(Comm_of(*comm), c_filename, INT(*amode), Info_of(*info), &c_fh);
    if (c_fh)
        *fh = File_int(c_fh);
done:
    leave(few_filename, c_filename);
    finish(ierror, code);
}
NAMES(file_open, FILE_OPEN)
NAMES_F08(file_open, FILE_OPEN)

void F(file_preallocate)(const Fint *fh, const MPI_Offset *size, Fint *ierror)
{
    int code;
    code = C(File_preallocate)(File_of(*fh), *size);
    finish(ierror, code);
}
NAMES(file_preallocate, FILE_PREALLOCATE)
NAMES_F08(file_preallocate, FILE_PREALLOCATE)

void F(file_read)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_read)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read, FILE_READ)
NAMES_F08_CHOICE(file_read, FILE_READ)

void F(file_read_all)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_read_all)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read_all, FILE_READ_ALL)
NAMES_F08_CHOICE(file_read_all, FILE_READ_ALL)

void F(file_read_all_begin)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    int code;
    code = L(File_read_all_begin)(File_of(*fh), buffer(buf), *count, Type_of(*datatype));
    finish(ierror, code);
}
NAMES(file_read_all_begin, FILE_READ_ALL_BEGIN)
NAMES_F08_CHOICE(file_read_all_begin, FILE_READ_ALL_BEGIN)

void F(file_read_all_end)(const Fint *fh, void *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_read_all_end)(File_of(*fh), buffer(buf), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read_all_end, FILE_READ_ALL_END)
NAMES_F08_CHOICE(file_read_all_end, FILE_READ_ALL_END)

void F(file_read_at)(const Fint *fh, const MPI_Offset *offset, void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_read_at)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read_at, FILE_READ_AT)
NAMES_F08_CHOICE(file_read_at, FILE_READ_AT)

void F(file_read_at_all)(const Fint *fh, const MPI_Offset *offset, void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_read_at_all)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read_at_all, FILE_READ_AT_ALL)
NAMES_F08_CHOICE(file_read_at_all, FILE_READ_AT_ALL)

void F(file_read_at_all_begin)(const Fint *fh, const MPI_Offset *offset, void *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    int code;
    code = L(File_read_at_all_begin)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype));
    finish(ierror, code);
}
NAMES(file_read_at_all_begin, FILE_READ_AT_ALL_BEGIN)
NAMES_F08_CHOICE(file_read_at_all_begin, FILE_READ_AT_ALL_BEGIN)

void F(file_read_at_all_end)(const Fint *fh, void *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_read_at_all_end)(File_of(*fh), buffer(buf), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read_at_all_end, FILE_READ_AT_ALL_END)
NAMES_F08_CHOICE(file_read_at_all_end, FILE_READ_AT_ALL_END)

void F(file_read_ordered)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_read_ordered)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read_ordered, FILE_READ_ORDERED)
NAMES_F08_CHOICE(file_read_ordered, FILE_READ_ORDERED)

void F(file_read_ordered_begin)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    int code;
    code = L(File_read_ordered_begin)(File_of(*fh), buffer(buf), *count, Type_of(*datatype));
    finish(ierror, code);
}
NAMES(file_read_ordered_begin, FILE_READ_ORDERED_BEGIN)
NAMES_F08_CHOICE(file_read_ordered_begin, FILE_READ_ORDERED_BEGIN)

void F(file_read_ordered_end)(const Fint *fh, void *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_read_ordered_end)(File_of(*fh), buffer(buf), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read_ordered_end, FILE_READ_ORDERED_END)
NAMES_F08_CHOICE(file_read_ordered_end, FILE_READ_ORDERED_END)

void F(file_read_shared)(const Fint *fh, void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_read_shared)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_read_shared, FILE_READ_SHARED)
NAMES_F08_CHOICE(file_read_shared, FILE_READ_SHARED)

void F(file_seek)(const Fint *fh, const MPI_Offset *offset, const Fint *whence, Fint *ierror)
{
    int code;
    code = C(File_seek)(File_of(*fh), *offset, INT(*whence));
    finish(ierror, code);
}
NAMES(file_seek, FILE_SEEK)
NAMES_F08(file_seek, FILE_SEEK)

void F(file_seek_shared)(const Fint *fh, const MPI_Offset *offset, const Fint *whence, Fint *ierror)
{
    int code;
    code = C(File_seek_shared)(File_of(*fh), *offset, INT(*whence));
    finish(ierror, code);
}
NAMES(file_seek_shared, FILE_SEEK_SHARED)
NAMES_F08(file_seek_shared, FILE_SEEK_SHARED)

void F(file_set_atomicity)(const Fint *fh, const Flogical *flag, Fint *ierror)
{
    int code;
    code = C(File_set_atomicity)(File_of(*fh), truth(*flag));
    finish(ierror, code);
}
NAMES(file_set_atomicity, FILE_SET_ATOMICITY)
NAMES_F08(file_set_atomicity, FILE_SET_ATOMICITY)

void F(file_set_errhandler)(const Fint *file, const Fint *errhandler, Fint *ierror)
{
    int code;
    code = C(File_set_errhandler)(File_of(*file), Errhandler_of(*errhandler));
    finish(ierror, code);
}
NAMES(file_set_errhandler, FILE_SET_ERRHANDLER)
NAMES_F08(file_set_errhandler, FILE_SET_ERRHANDLER)

void F(file_set_info)(const Fint *fh, const Fint *info, Fint *ierror)
{
    int code;
    code = C(File_set_info)(File_of(*fh), Info_of(*info));
    finish(ierror, code);
}
NAMES(file_set_info, FILE_SET_INFO)
NAMES_F08(file_set_info, FILE_SET_INFO)

void F(file_set_size)(const Fint *fh, const MPI_Offset *size, Fint *ierror)
{
    int code;
    code = C(File_set_size)(File_of(*fh), *size);
    finish(ierror, code);
}
NAMES(file_set_size, FILE_SET_SIZE)
NAMES_F08(file_set_size, FILE_SET_SIZE)

void F(file_set_view)(const Fint *fh, const MPI_Offset *disp, const Fint *etype, const Fint *filetype, const char *datarep, const Fint *info, Fint *ierror, size_t l_datarep)
{
    char few_datarep[SHORT], *c_datarep = few_datarep;
    int code;
    c_datarep = mpifort_text(datarep, l_datarep, few_datarep);
    if (!c_datarep) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        goto done;
    }
    code = C(File_set_view)(File_of(*fh), *disp, Type_of(*etype), Type_of(*filetype), c_datarep, Info_of(*info));
done:
    leave(few_datarep, c_datarep);
    finish(ierror, code);
}
NAMES(file_set_view, FILE_SET_VIEW)
NAMES_F08(file_set_view, FILE_SET_VIEW)

void F(file_sync)(const Fint *fh, Fint *ierror)
{
    int code;
    code = C(File_sync)(File_of(*fh));
    finish(ierror, code);
}
NAMES(file_sync, FILE_SYNC)
NAMES_F08(file_sync, FILE_SYNC)

void F(file_write)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_write)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write, FILE_WRITE)
NAMES_F08_CHOICE(file_write, FILE_WRITE)

void F(file_write_all)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_write_all)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write_all, FILE_WRITE_ALL)
NAMES_F08_CHOICE(file_write_all, FILE_WRITE_ALL)

void F(file_write_all_begin)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    int code;
    code = L(File_write_all_begin)(File_of(*fh), buffer(buf), *count, Type_of(*datatype));
    finish(ierror, code);
}
NAMES(file_write_all_begin, FILE_WRITE_ALL_BEGIN)
NAMES_F08_CHOICE(file_write_all_begin, FILE_WRITE_ALL_BEGIN)

void F(file_write_all_end)(const Fint *fh, const void *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_write_all_end)(File_of(*fh), buffer(buf), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write_all_end, FILE_WRITE_ALL_END)
NAMES_F08_CHOICE(file_write_all_end, FILE_WRITE_ALL_END)

void F(file_write_at)(const Fint *fh, const MPI_Offset *offset, const void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_write_at)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write_at, FILE_WRITE_AT)
NAMES_F08_CHOICE(file_write_at, FILE_WRITE_AT)

void F(file_write_at_all)(const Fint *fh, const MPI_Offset *offset, const void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_write_at_all)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write_at_all, FILE_WRITE_AT_ALL)
NAMES_F08_CHOICE(file_write_at_all, FILE_WRITE_AT_ALL)

void F(file_write_at_all_begin)(const Fint *fh, const MPI_Offset *offset, const void *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    int code;
    code = L(File_write_at_all_begin)(File_of(*fh), *offset, buffer(buf), *count, Type_of(*datatype));
    finish(ierror, code);
}
NAMES(file_write_at_all_begin, FILE_WRITE_AT_ALL_BEGIN)
NAMES_F08_CHOICE(file_write_at_all_begin, FILE_WRITE_AT_ALL_BEGIN)

void F(file_write_at_all_end)(const Fint *fh, const void *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_write_at_all_end)(File_of(*fh), buffer(buf), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write_at_all_end, FILE_WRITE_AT_ALL_END)
NAMES_F08_CHOICE(file_write_at_all_end, FILE_WRITE_AT_ALL_END)

void F(file_write_ordered)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_write_ordered)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write_ordered, FILE_WRITE_ORDERED)
NAMES_F08_CHOICE(file_write_ordered, FILE_WRITE_ORDERED)

void F(file_write_ordered_begin)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *ierror)
{
    int code;
    code = L(File_write_ordered_begin)(File_of(*fh), buffer(buf), *count, Type_of(*datatype));
    finish(ierror, code);
}
NAMES(file_write_ordered_begin, FILE_WRITE_ORDERED_BEGIN)
NAMES_F08_CHOICE(file_write_ordered_begin, FILE_WRITE_ORDERED_BEGIN)

void F(file_write_ordered_end)(const Fint *fh, const void *buf, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = C(File_write_ordered_end)(File_of(*fh), buffer(buf), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write_ordered_end, FILE_WRITE_ORDERED_END)
NAMES_F08_CHOICE(file_write_ordered_end, FILE_WRITE_ORDERED_END)

void F(file_write_shared)(const Fint *fh, const void *buf, const Fint *count, const Fint *datatype, Fint *status, Fint *ierror)
{
    STATUS(status)
    int code;
    code = L(File_write_shared)(File_of(*fh), buffer(buf), *count, Type_of(*datatype), STATUS_AT(status));
    RETURN_STATUS(status)
    finish(ierror, code);
}
NAMES(file_write_shared, FILE_WRITE_SHARED)
NAMES_F08_CHOICE(file_write_shared, FILE_WRITE_SHARED)

void F(abi_get_fortran_info)(Fint *info, Fint *ierror)
{
    MPI_Info c_info = 0;
    int code;
    code = C(Abi_get_fortran_info)(&c_info);
    if (c_info)
        *info = Info_int(c_info);
    finish(ierror, code);
}
NAMES(abi_get_fortran_info, ABI_GET_FORTRAN_INFO)
NAMES_F08(abi_get_fortran_info, ABI_GET_FORTRAN_INFO)

void F(abi_get_info)(Fint *info, Fint *ierror)
{
    MPI_Info c_info = 0;
    int code;
    code = C(Abi_get_info)(&c_info);
    if (c_info)
        *info = Info_int(c_info);
    finish(ierror, code);
}
NAMES(abi_get_info, ABI_GET_INFO)
NAMES_F08(abi_get_info, ABI_GET_INFO)

void F(abi_get_version)(Fint *abi_major, Fint *abi_minor, Fint *ierror)
{
    INTEGER(abi_major)
    INTEGER(abi_minor)
    int code;
    code = C(Abi_get_version)(AT(abi_major), AT(abi_minor));
    RETURN_INTEGER(abi_major)
    RETURN_INTEGER(abi_minor)
    finish(ierror, code);
}
NAMES(abi_get_version, ABI_GET_VERSION)
NAMES_F08(abi_get_version, ABI_GET_VERSION)

void F(abi_set_fortran_info)(const Fint *info, Fint *ierror)
{
    int code;
    code = C(Abi_set_fortran_info)(Info_of(*info));
    finish(ierror, code);
}
NAMES(abi_set_fortran_info, ABI_SET_FORTRAN_INFO)
NAMES_F08(abi_set_fortran_info, ABI_SET_FORTRAN_INFO)
