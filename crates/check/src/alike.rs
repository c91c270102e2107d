//! Handles of their own for requests that are complete from the beginning.
//!
//! A library may have one handle for all operations that were complete at once. Copies of such
//! handles cannot be told apart, so nobody could say which of the operations a program waits for.
//! Where a request gets the handle that another one has, the tool gives it that of a generalized
//! request instead, which is complete as well and has the same status.

use std::ffi::{c_int, c_void};

use catena_abi::{Request, Status, consts};

use crate::guard::Inside;
use crate::mpi;

/// The handle of a new request that stands for a complete one, whose own handle is given back;
/// `None` if that is not complete, or the library makes none.
pub fn own(mut request: Request) -> Option<Request> {
    let mut status = Status::empty();
    let mut is_complete = 0;
    if mpi::Request_get_status(request, &mut is_complete, &mut status) != 0 || is_complete == 0 {
        return None;
    }
    let state = Box::into_raw(Box::new(status));
    let mut new = consts::REQUEST_NULL;
    let (query, free, cancel) = (Some(query as _), Some(free as _), Some(cancel as _));
    if mpi::Grequest_start(query, free, cancel, state.cast(), &mut new) != 0 {
        // SAFETY: nobody else has it.
        drop(unsafe { Box::from_raw(state) });
        return None;
    }
    mpi::Grequest_complete(new);
    mpi::Request_free(&mut request);
    Some(new)
}

unsafe extern "C" fn query(state: *mut c_void, status: *mut Status) -> c_int {
    // SAFETY: what `own` has made, and a status of the library's.
    unsafe { *status = *state.cast::<Status>() };
    0
}

unsafe extern "C" fn free(state: *mut c_void) -> c_int {
    let _inside = Inside::enter();
    // SAFETY: what `own` has made; the library calls this once.
    drop(unsafe { Box::from_raw(state.cast::<Status>()) });
    0
}

/// It is complete, so it is too late.
unsafe extern "C" fn cancel(_: *mut c_void, _: c_int) -> c_int {
    0
}
