//! How requests stand (MPI-5, chapter 3.7.3).

use catena_abi::{self as abi, consts};
use catena_objects::error::Result;

use super::{NOWHERE, SENT, State, as_transfer, bad_request, when};
use crate::process::Process;
use crate::trouble::is_interrupted;

/// How a request stands. Does not progress.
///
/// # Errors
/// `Request` for freed and made-up handles.
#[inline]
pub fn state(process: &Process, r: abi::Request) -> Result<State> {
    if let Some(id) = as_transfer(r) {
        return match r {
            SENT | NOWHERE => Ok(State::Complete),
            _ => process
                .link(|link| match link.valid(id) {
                    false => Err(bad_request(r)),
                    true => Ok(when(link.is_done(id))),
                })
                .map(|state| match state {
                    // It cannot be waited for, which its completion says.
                    State::Pending if is_interrupted(process, id) => State::Complete,
                    state => state,
                }),
        };
    }
    state_slow(process, r)
}

fn state_slow(process: &Process, r: abi::Request) -> Result<State> {
    if r == consts::REQUEST_NULL {
        return Ok(State::Inactive);
    }
    // SAFETY: `state` neither calls the program back nor makes or frees a request.
    match unsafe { process.objects.requests.borrow(r.0) } {
        Some(object) => object.state(process),
        None => Err(bad_request(r)),
    }
}

/// Whether nothing is under way: `MPI_REQUEST_NULL`, or persistent and not
/// started.
#[inline]
pub fn is_idle(process: &Process, r: abi::Request) -> bool {
    as_transfer(r).is_none() && matches!(state_slow(process, r), Ok(State::Inactive))
}
