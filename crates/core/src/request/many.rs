//! Completion of several requests (MPI-5, chapter 3.7.5): which of them are
//! done. Completing them, and what becomes of their statuses, is up to the
//! caller. After a round of progress that moved nothing they stand as before, so
//! they are not looked at again: programs poll many requests between short
//! pieces of work.

use crate::needs;
use catena_hang::WaitsFor;
use std::ffi::c_int;

use catena_abi::{Request, consts};

use super::calls::{check_startable, start};
use super::standing::state;
use super::{NOWHERE, SENT, State, as_transfer, bad_request};
use crate::process::Process;
use catena_objects::error::{Error, Result};

/// Where the first complete request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All are null or inactive.
    Inactive,
    /// None is complete.
    Pending,
    /// This one is complete.
    At(usize),
}

#[cold]
fn at(index: usize, e: &Error) -> Error {
    e.reworded(
        e.kind(),
        format!("array_of_requests[{index}]: {}", e.text()),
    )
}

/// The number of requests that a call looks at for each round of progress.
const LOOKED_AT: usize = 256;

/// Makes as much progress as it costs to look at `requests` requests: one round completes few of
/// them, and a look at all of them after each round would cost more than what is moved.
fn move_many(process: &Process, requests: usize) {
    for _ in 0..requests / LOOKED_AT {
        if !process.progress() {
            return;
        }
    }
}

/// How a request stands after at most one round of progress (`MPI_Test`).
///
/// # Errors
/// `Request` for freed and made-up handles.
#[inline]
pub fn poll(process: &Process, r: Request) -> Result<State> {
    match state(process, r)? {
        State::Pending if process.progress() => state(process, r),
        state => Ok(state),
    }
}

/// Checks that each handle is that of a request, or null, before any of them is used.
///
/// # Errors
/// `Request` for freed and made-up handles.
#[inline]
pub fn check_all(process: &Process, requests: &[Request]) -> Result<()> {
    for (i, &r) in requests.iter().enumerate() {
        if !is_request(process, r) {
            return Err(at(i, &bad_request(r)));
        }
    }
    Ok(())
}

/// Whether a handle is that of a request, or null.
#[inline]
fn is_request(process: &Process, r: Request) -> bool {
    match as_transfer(r) {
        Some(id) => process.link(|link| link.valid(id)) || matches!(r, SENT | NOWHERE),
        None => {
            // SAFETY: the borrow ends at once.
            r == consts::REQUEST_NULL || unsafe { process.objects.requests.borrow(r.0) }.is_some()
        }
    }
}

/// `MPI_Startall`. Nothing is started if one of them cannot be, but for those in front of one that
/// stands there twice.
///
/// # Errors
/// `Request` if one is not persistent or active already, and for freed and made-up handles.
pub fn start_all(process: &Process, requests: &[Request]) -> Result<()> {
    // One alone says so itself when it is started.
    if requests.len() > 1 {
        for (i, &r) in requests.iter().enumerate() {
            check_startable(process, r).map_err(|e| at(i, &e))?;
        }
    }
    for (i, &r) in requests.iter().enumerate() {
        start(process, r).map_err(|e| at(i, &e))?;
    }
    Ok(())
}

/// Whether none is pending after at most one round of progress.
///
/// # Errors
/// `Request` for freed and made-up handles.
pub fn poll_all(process: &Process, requests: &[Request]) -> Result<bool> {
    let mut progressed = false;
    for (i, &r) in requests.iter().enumerate() {
        let mut now = state(process, r).map_err(|e| at(i, &e))?;
        if now == State::Pending && !progressed {
            progressed = true;
            if process.progress() {
                now = state(process, r).map_err(|e| at(i, &e))?;
            }
        }
        if now == State::Pending {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One of them is to complete.
fn any_of(requests: &[Request]) -> impl Fn(&Process, &mut WaitsFor) {
    |process, waits| {
        waits.any = true;
        needs::describe_requests(process, requests, waits);
    }
}

/// Looks for a complete one, without progress.
///
/// # Errors
/// `Request` for freed and made-up handles.
pub fn first_complete(process: &Process, requests: &[Request]) -> Result<Among> {
    let mut found = Among::Inactive;
    for (i, &r) in requests.iter().enumerate() {
        match state(process, r).map_err(|e| at(i, &e))? {
            State::Complete => return Ok(Among::At(i)),
            State::Pending => found = Among::Pending,
            State::Inactive => {}
        }
    }
    Ok(found)
}

/// Looks for a complete one, after at most one round of progress.
///
/// # Errors
/// As [`first_complete`].
pub fn poll_any(process: &Process, requests: &[Request]) -> Result<Among> {
    match first_complete(process, requests)? {
        Among::Pending if process.progress() => first_complete(process, requests),
        found => Ok(found),
    }
}

/// Waits for a complete one; never `Pending`.
///
/// # Errors
/// As [`first_complete`].
pub fn wait_any(process: &Process, requests: &[Request]) -> Result<Among> {
    let mut found = first_complete(process, requests);
    if matches!(found, Ok(Among::Pending)) {
        process.block(any_of(requests), |process| {
            found = first_complete(process, requests);
            !matches!(found, Ok(Among::Pending))
        });
    }
    found
}

/// Stores the indices of all complete ones, without progress, and returns
/// their number; `None` if all are null or inactive. `indices` is as long
/// as `requests`.
///
/// # Errors
/// `Request` for freed and made-up handles.
pub fn all_complete(
    process: &Process,
    requests: &[Request],
    indices: &mut [c_int],
) -> Result<Option<usize>> {
    let (mut n, mut active) = (0, false);
    for (i, &r) in requests.iter().enumerate() {
        let state = state(process, r).map_err(|e| at(i, &e))?;
        active |= state != State::Inactive;
        if state == State::Complete {
            indices[n] = i as c_int;
            n += 1;
        }
    }
    Ok(active.then_some(n))
}

/// Stores the indices of all complete ones, after at most one round of progress; see
/// [`all_complete`].
///
/// # Errors
/// As [`all_complete`].
pub fn poll_some(
    process: &Process,
    requests: &[Request],
    indices: &mut [c_int],
) -> Result<Option<usize>> {
    match all_complete(process, requests, indices)? {
        Some(0) if process.progress() => {
            move_many(process, requests.len());
            all_complete(process, requests, indices)
        }
        found => Ok(found),
    }
}

/// Stores the indices of all complete ones, waiting until there is one at least; see
/// [`all_complete`].
///
/// # Errors
/// As [`all_complete`].
pub fn wait_some(
    process: &Process,
    requests: &[Request],
    indices: &mut [c_int],
) -> Result<Option<usize>> {
    let mut found = all_complete(process, requests, indices);
    if matches!(found, Ok(Some(0))) {
        process.block(any_of(requests), |process| {
            found = all_complete(process, requests, indices);
            !matches!(found, Ok(Some(0)))
        });
        if matches!(found, Ok(Some(_))) && requests.len() >= LOOKED_AT {
            move_many(process, requests.len());
            found = all_complete(process, requests, indices);
        }
    }
    found
}
