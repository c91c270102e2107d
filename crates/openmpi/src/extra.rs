//! What binaries of Open MPI ask for besides the standard.
#![allow(non_snake_case, reason = "the names of the functions")]

use std::ffi::{c_int, c_void};

use catena_abi::consts;
use catena_layer::code::code;
use catena_layer::handle::Handle;
use catena_layer::place::Out;
use catena_layer::{core, export_as, failures, fortran_handles, fortran_statuses, unsupported};

use crate::handle::*;
use crate::interface::OpenMpi as A;
use crate::status::Status;

/// An address that the program compares with and hands over.
#[repr(transparent)]
struct Address(*const c_int);

// SAFETY: nobody follows it.
unsafe impl Sync for Address {}

/// What the addresses point to.
static PLACES: [c_int; 4] = [0; 4];

macro_rules! addresses {
    ($($name:ident $index:literal;)*) => {$(
        #[unsafe(no_mangle)]
        static $name: Address = Address(&raw const PLACES[$index]);
    )*};
}

addresses! {
    MPI_F_STATUS_IGNORE 0;
    MPI_F_STATUSES_IGNORE 1;
    MPI_F08_STATUS_IGNORE 2;
    MPI_F08_STATUSES_IGNORE 3;
}

/// The addresses that stand for no status.
fn ignored() -> [usize; 4] {
    [0, 1, 2, 3].map(|i| (&raw const PLACES[i]).addr())
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
    ignored();
    Status_c2f Status_f2c Status_c2f08 Status_f082c Status_f082f Status_f2f08
}

macro_rules! copy_functions {
    ($($null:ident $dup:ident $delete:ident $handle:ident;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $null(_of: $handle, _key: c_int, _state: *mut c_void, _value: *mut c_void,
            _to: *mut c_void, flag: *mut c_int) -> c_int
        {
            // SAFETY: the place that the caller of a copy function lends it.
            unsafe { flag.write(0) };
            consts::SUCCESS
        }
        #[unsafe(no_mangle)]
        extern "C" fn $dup(_of: $handle, _key: c_int, _state: *mut c_void, value: *mut c_void,
            to: *mut c_void, flag: *mut c_int) -> c_int
        {
            // SAFETY: the places that the caller of a copy function lends it.
            unsafe {
                to.cast::<*mut c_void>().write(value);
                flag.write(1);
            }
            consts::SUCCESS
        }
        #[unsafe(no_mangle)]
        extern "C" fn $delete(_of: $handle, _key: c_int, _value: *mut c_void,
            _state: *mut c_void) -> c_int
        {
            consts::SUCCESS
        }
    )*};
}

copy_functions! {
    OMPI_C_MPI_NULL_COPY_FN OMPI_C_MPI_DUP_FN OMPI_C_MPI_NULL_DELETE_FN Comm;
    OMPI_C_MPI_COMM_NULL_COPY_FN OMPI_C_MPI_COMM_DUP_FN OMPI_C_MPI_COMM_NULL_DELETE_FN Comm;
    OMPI_C_MPI_TYPE_NULL_COPY_FN OMPI_C_MPI_TYPE_DUP_FN OMPI_C_MPI_TYPE_NULL_DELETE_FN Datatype;
    OMPI_C_MPI_WIN_NULL_COPY_FN OMPI_C_MPI_WIN_DUP_FN OMPI_C_MPI_WIN_NULL_DELETE_FN Win;
}

export_as! {
    /// Whether buffers may lie on a device.
    fn MPIX_Query_cuda_support() -> c_int {
        // SAFETY: it takes nothing.
        unsafe { core::catena_MPIX_Query_cuda_support() }
    }
    fn MPIX_Query_rocm_support() -> c_int { 0 }

    /// Whether a communicator was revoked.
    fn MPIX_Comm_is_revoked(comm: Comm, flag: *mut c_int) -> c_int {
        // SAFETY: the program's own arguments.
        code::<A>(unsafe { core::catena_MPIX_Comm_is_revoked(comm.native(), flag) })
    }

    /// Acknowledges some of the failures that are known.
    fn MPIX_Comm_ack_failed(comm: Comm, most: c_int, acked: *mut c_int) -> c_int {
        // SAFETY: the program's own arguments.
        code::<A>(unsafe { core::catena_MPIX_Comm_ack_failed(comm.native(), most, acked) })
    }

    /// Agrees on flags, without waiting.
    fn MPIX_Comm_iagree(comm: Comm, flag: *mut c_int, request: *mut Request) -> c_int {
        // SAFETY: the program's own arguments.
        unsafe {
            let mut request = Out::new(request);
            let rc = core::catena_MPIX_Comm_iagree(comm.native(), flag, request.place());
            request.finish();
            code::<A>(rc)
        }
    }
}

/// Gives an operation that the program has made, and not used, another function: the library of C++
/// asks for it.
#[unsafe(no_mangle)]
extern "C" fn catena_op_set_function(op: Op, function: usize) -> c_int {
    // SAFETY: what `MPI_Op_create` of this interface makes has the address of such a function as
    // its state.
    code::<A>(unsafe { core::catena_op_set_state(op.native(), function as *mut c_void) })
}

failures! {}

unsupported! { OMPI_Affinity_str MPI_Session_set_info }
