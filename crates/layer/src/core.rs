//! The functions of Catena under the names that layers use.
#![allow(
    non_snake_case,
    clippy::too_many_arguments,
    reason = "the names of the functions"
)]

use std::ffi::{c_char, c_int, c_void};

use catena_abi::{
    Aint, Comm, Count, Datatype, Errhandler, File, Group, Info, Message, Offset, Op, Request,
    Session, Status, Win,
};

/// `void f(void *in, void *inout, MPI_Count len, MPI_Datatype type, void *state)`
pub type LayerFn = unsafe extern "C" fn(*mut c_void, *mut c_void, Count, Datatype, *mut c_void);
/// `int f(handle, int error_code, void *state)`: it returns the code that the call is to return.
pub type LayerHandler = unsafe extern "C" fn(usize, c_int, *mut c_void) -> c_int;
/// `int copy(handle, keyval, state, value_in, void *value_out, int *flag)`
pub type CopyFn =
    unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
/// `int delete(handle, keyval, value, state)`
pub type DeleteFn = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;
/// `void f(handle)`: the object has ended.
pub type Freed = extern "C" fn(usize);
/// Ends a state that nobody will be given any more.
pub type End = unsafe extern "C" fn(*mut c_void);

include!(concat!(env!("OUT_DIR"), "/declarations.rs"));
