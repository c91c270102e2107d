//! What binaries of MPICH, Intel MPI and their relatives ask for besides the standard.

use std::ffi::{c_int, c_void};

use catena_abi::consts;
use catena_layer::code::{code, code_in};
use catena_layer::{
    Abi, core, export_as, failures, fortran_handles, fortran_statuses, unsupported,
};

use crate::addresses;
use crate::handle::*;
use crate::interface::Mpich as A;
use crate::status::Status;

/// Copies an attribute: `MPI_DUP_FN` and its relatives.
#[unsafe(no_mangle)]
extern "C" fn MPIR_Dup_fn(
    _object: c_int,
    _key: c_int,
    _extra_state: *mut c_void,
    value: *mut c_void,
    to: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the places that the caller of a copy function lends it.
    unsafe {
        to.cast::<*mut c_void>().write(value);
        flag.write(1);
    }
    consts::SUCCESS
}

/// Whether a number is that of a datatype, without the error that any call which gets another one
/// raises: Fortran's library asks before it measures what a section is told to have.
#[unsafe(no_mangle)]
extern "C" fn catena_is_type(number: Datatype) -> c_int {
    c_int::from(number.means_something())
}

fortran_handles! {
    Comm_c2f Comm_f2c Comm;
    Errhandler_c2f Errhandler_f2c Errhandler;
    File_c2f File_f2c File;
    Group_c2f Group_f2c Group;
    Info_c2f Info_f2c Info;
    Message_c2f Message_f2c Message;
    Op_c2f Op_f2c Op;
    Request_c2f Request_f2c Request;
    Session_c2f Session_f2c Session;
    Type_c2f Type_f2c Datatype;
    Win_c2f Win_f2c Win;
}

fortran_statuses! {
    addresses::no_status();
    Status_c2f Status_f2c Status_c2f08 Status_f082c Status_f082f Status_f2f08
}

export_as! {
    /// Whether buffers may lie on a device.
    fn MPIX_Query_cuda_support() -> c_int {
        // SAFETY: it takes nothing.
        unsafe { core::catena_MPIX_Query_cuda_support() }
    }
    fn MPIX_Query_hip_support() -> c_int { 0 }
    fn MPIX_Query_ze_support() -> c_int { 0 }

    fn MPIX_GPU_query_support(kind: c_int, is_supported: *mut c_int) -> c_int {
        const MPIX_GPU_SUPPORT_CUDA: c_int = 0;
        // SAFETY: null or the program's variable.
        let Some(answer) = (unsafe { is_supported.as_mut() }) else {
            return A::code(consts::ERR_ARG);
        };
        *answer = match kind {
            // SAFETY: it takes nothing.
            MPIX_GPU_SUPPORT_CUDA => unsafe { core::catena_MPIX_Query_cuda_support() },
            _ => 0,
        };
        consts::SUCCESS
    }

    /// Older names of functions of the standard.
    fn MPIX_Delete_error_class(class: c_int) -> c_int {
        // SAFETY: a number.
        code::<A>(unsafe { core::MPI_Remove_error_class(code_in::<A>(class)) })
    }
    fn MPIX_Delete_error_code(error: c_int) -> c_int {
        // SAFETY: a number.
        code::<A>(unsafe { core::MPI_Remove_error_code(code_in::<A>(error)) })
    }
    fn MPIX_Delete_error_string(error: c_int) -> c_int {
        // SAFETY: a number.
        code::<A>(unsafe { core::MPI_Remove_error_string(code_in::<A>(error)) })
    }
}

failures! {}

unsupported! {
    MPIX_Allreduce_enqueue MPIX_Allreduce_enqueue_c MPIX_Async_get_state MPIX_Async_spawn
    MPIX_Async_start MPIX_Comm_create_errhandler_x MPIX_Comm_get_stream
    MPIX_Comm_test_threadcomm MPIX_File_create_errhandler_x MPIX_Get_notify
    MPIX_Get_notify_c MPIX_Grequest_class_allocate MPIX_Grequest_class_create
    MPIX_Grequest_start MPIX_Info_set_hex MPIX_Irecv_enqueue MPIX_Irecv_enqueue_c
    MPIX_Isend_enqueue MPIX_Isend_enqueue_c MPIX_Op_create_x MPIX_Put_notify MPIX_Put_notify_c
    MPIX_Recv_enqueue MPIX_Recv_enqueue_c MPIX_Request_is_complete MPIX_Send_enqueue
    MPIX_Send_enqueue_c MPIX_Session_create_errhandler_x MPIX_Start_progress_thread
    MPIX_Stop_progress_thread MPIX_Stream_comm_create MPIX_Stream_comm_create_multiplex
    MPIX_Stream_create MPIX_Stream_free MPIX_Stream_irecv MPIX_Stream_irecv_c MPIX_Stream_isend
    MPIX_Stream_isend_c MPIX_Stream_progress MPIX_Stream_recv MPIX_Stream_recv_c
    MPIX_Stream_send MPIX_Stream_send_c MPIX_Threadcomm_finish MPIX_Threadcomm_free
    MPIX_Threadcomm_init MPIX_Threadcomm_start MPIX_Type_iov MPIX_Type_iov_len MPIX_Wait_enqueue
    MPIX_Waitall_enqueue MPIX_Win_create_errhandler_x MPIX_Win_create_notify
    MPIX_Win_free_notify MPIX_Win_get_notify MPIX_Win_get_notify_request MPIX_Win_set_notify
}
