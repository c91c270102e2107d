//! Functions of the standard that Catena does not have yet.
//!
//! The build script makes one for each line of the table that says `missing`.
//! None pretends to work: every one raises an error that names it, and leaves
//! its output arguments alone.

#![allow(dead_code, unused_imports, reason = "none may be missing")]

use core::ffi::{c_int, c_void};

use catena_abi::*;

use crate::export::export;

include!(concat!(env!("OUT_DIR"), "/missing.rs"));

/// Raises `MPI_ERR_UNSUPPORTED_OPERATION` for the function `name`.
///
/// `comm` is the communicator argument of the call, if it has one; errors of
/// other calls belong to `MPI_COMM_SELF` or `MPI_COMM_WORLD` (MPI 5.0, 9.3).
#[cold]
#[inline(never)]
fn raise(name: &'static str, comm: Option<Comm>) -> c_int {
    crate::hooks::unsupported(name, comm)
}
