//! The table of requests that are objects.

use std::any::Any;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_objects::error::{Error, Result};
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

use super::{RequestObject, as_transfer, bad_request};
use crate::process::Process;

/// Gives a request its handle.
pub fn add(process: &Process, request: Arc<dyn RequestObject<Process>>) -> abi::Request {
    abi::Request(process.objects.requests.insert(request))
}

/// Makes the handle of a request dead, for one that
/// [kept it](RequestObject::keeps_handle) when it was freed.
pub fn remove(process: &Process, r: abi::Request) {
    process.objects.requests.remove(r.0);
}

/// What `f` says of the request behind a handle, for calls that take requests of one kind
/// only, which `kind` names.
///
/// # Errors
/// `Request` if it is of another kind, and for freed and made-up handles.
pub fn with<T: RequestObject<Process>, R>(
    process: &Process,
    r: abi::Request,
    kind: &str,
    f: impl FnOnce(&T) -> R,
) -> Result<R> {
    if r == consts::REQUEST_NULL {
        fail!(Request, "the request is MPI_REQUEST_NULL");
    }
    let object = match as_transfer(r) {
        Some(_) => None,
        None => Some(object(process, r)?),
    };
    let request: Option<&T> = object.as_deref().and_then(|object| {
        let object: &dyn Any = object;
        object.downcast_ref()
    });
    match request {
        Some(request) => Ok(f(request)),
        None => fail!(Request, "the request is not a {kind} one"),
    }
}

/// The request behind a handle.
pub(crate) fn object(
    process: &Process,
    r: abi::Request,
) -> Result<Arc<dyn RequestObject<Process>>> {
    process
        .objects
        .requests
        .get(r.0)
        .ok_or_else(|| bad_request(r))
}

/// An error that belongs to `place` unless it knows a better one.
pub(super) fn placed(error: Error, place: Option<ErrorPlace>) -> Error {
    match (error.place(), place) {
        (None, Some(place)) => error.on(place),
        _ => error,
    }
}
