//! The calls that free, cancel and start requests
//! (MPI-5, chapters 3.7.3, 3.8.4 and 3.9).

use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

use super::complete::complete;
use super::standing::state;
use super::table::{object, placed, remove};
use super::{NO_SLOT, NOWHERE, RequestObject, SENT, State, as_transfer, bad_request, transfer};
use crate::process::Process;

/// The error of starting a persistent request that was started before.
#[cold]
pub fn active_already() -> Error {
    Error::new(
        Kind::Request,
        "the persistent request is active already: complete it first",
    )
}

/// The error of starting a request that is not persistent.
#[cold]
pub(super) fn not_persistent() -> Error {
    Error::new(Kind::Request, "the request is not persistent")
}

/// The handle of the live transfer whose low 31 bits are `low`.
pub fn widen_transfer(process: &Process, low: i32) -> Option<usize> {
    let short = as_transfer(abi::Request(low as u32 as usize))?;
    if short.index >= NO_SLOT - 1 {
        return Some(low as u32 as usize);
    }
    process
        .link(|link| link.live(short.index))
        .map(|id| transfer(id).0)
}

/// `MPI_Request_free`: the operation goes on unnamed.
///
/// # Errors
/// `Request` for `MPI_REQUEST_NULL`, freed and made-up handles.
pub fn free(process: &Process, r: &mut abi::Request) -> Result<()> {
    if *r == consts::REQUEST_NULL {
        fail!(Request, "the request is MPI_REQUEST_NULL");
    }
    if as_transfer(*r).is_some() && state(process, *r)? == State::Complete {
        complete(process, r);
        return Ok(());
    }
    if let Some(id) = as_transfer(*r) {
        *r = consts::REQUEST_NULL;
        process.link(|link| link.detach(id));
        return Ok(());
    }
    let object = object(process, *r)?;
    object.check_free().map_err(|e| placed(e, object.place()))?;
    let was = std::mem::replace(r, consts::REQUEST_NULL);
    if !object.keeps_handle() {
        remove(process, was);
    }
    object.free(process).map_err(|e| placed(e, object.place()))
}

/// `MPI_Cancel`.
///
/// # Errors
/// `Request` if the operation cannot be cancelled.
pub fn cancel(process: &Process, r: abi::Request) -> Result<()> {
    if r == SENT || r == NOWHERE {
        return Ok(());
    }
    if let Some(id) = as_transfer(r) {
        if !process.link(|link| link.valid(id)) {
            return Err(bad_request(r));
        }
        process.link(|link| link.cancel(id));
        // The request and its answer; to itself a process answers at once.
        for _ in 0..2 {
            process.progress();
        }
        return Ok(());
    }
    if r == consts::REQUEST_NULL {
        fail!(Request, "the request is MPI_REQUEST_NULL");
    }
    let object = object(process, r)?;
    object
        .cancel(process)
        .map_err(|e| placed(e, object.place()))
}

/// Checks that a request is persistent and inactive.
///
/// # Errors
/// As [`start`].
pub(super) fn check_startable(process: &Process, r: abi::Request) -> Result<()> {
    // SAFETY: `state` and `place` neither call the program back nor make or free a request.
    let object = unsafe { process.objects.requests.borrow(r.0) };
    let object = object.ok_or_else(|| not_startable(r))?;
    let check = match (object.is_persistent(), object.state(process)?) {
        (false, _) => Err(not_persistent()),
        (true, State::Inactive) => return Ok(()),
        (true, _) => Err(active_already()),
    };
    check.map_err(|e| placed(e, object.place()))
}

/// `MPI_Start`.
///
/// # Errors
/// `Request` if it is not persistent or active already.
#[inline]
pub fn start(process: &Process, r: abi::Request) -> Result<()> {
    // SAFETY: the borrow ends before anything else is called, unless it is of a transfer, which
    // promises to touch no request of the table.
    let object = unsafe { process.objects.requests.borrow(r.0) };
    let object = object.ok_or_else(|| not_startable(r))?;
    if object.is_transfer() {
        return start_object(process, &**object);
    }
    start_object(process, &*Arc::clone(object))
}

/// Starts an object, whose errors belong to its place.
#[inline]
fn start_object(process: &Process, object: &dyn RequestObject<Process>) -> Result<()> {
    let started = object.start(process);
    started.map_err(|e| placed(e, object.place()))
}

/// Why nothing that can be started has that handle.
#[cold]
fn not_startable(r: abi::Request) -> Error {
    match as_transfer(r) {
        Some(_) => not_persistent(),
        None => bad_request(r),
    }
}
