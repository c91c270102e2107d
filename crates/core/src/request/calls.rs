//! The table of requests, and the calls that free, cancel and start them
//! (MPI-5, chapters 3.7.3, 3.8.4 and 3.9).

use std::any::Any;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

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

/// An error that belongs to `place` unless it knows a better one.
pub(super) fn placed(error: Error, place: Option<ErrorPlace>) -> Error {
    match (error.place(), place) {
        (None, Some(place)) => error.on(place),
        _ => error,
    }
}

impl Process {
    /// Gives a request its handle.
    pub fn add_request(&self, request: Arc<dyn RequestObject<Process>>) -> abi::Request {
        abi::Request(self.objects.requests.insert(request))
    }

    /// Makes the handle of a request dead, for one that
    /// [kept it](RequestObject::keeps_handle) when it was freed.
    pub fn remove_request(&self, r: abi::Request) {
        self.objects.requests.remove(r.0);
    }

    /// What `f` says of the request behind a handle, for calls that take requests of one kind
    /// only, which `kind` names.
    ///
    /// # Errors
    /// `Request` if it is of another kind, and for freed and made-up handles.
    pub fn with_request<T: RequestObject<Process>, R>(
        &self,
        r: abi::Request,
        kind: &str,
        f: impl FnOnce(&T) -> R,
    ) -> Result<R> {
        if r == consts::REQUEST_NULL {
            fail!(Request, "the request is MPI_REQUEST_NULL");
        }
        let object = match as_transfer(r) {
            Some(_) => None,
            None => Some(self.request_object(r)?),
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
    pub(crate) fn request_object(
        &self,
        r: abi::Request,
    ) -> Result<Arc<dyn RequestObject<Process>>> {
        self.objects.requests.get(r.0).ok_or_else(|| bad_request(r))
    }

    /// The handle of the live transfer whose low 31 bits are `low`.
    pub fn widen_transfer(&self, low: i32) -> Option<usize> {
        let short = as_transfer(abi::Request(low as u32 as usize))?;
        if short.index >= NO_SLOT - 1 {
            return Some(low as u32 as usize);
        }
        self.link(|link| link.live(short.index))
            .map(|id| transfer(id).0)
    }

    /// `MPI_Request_free`: the operation goes on unnamed.
    ///
    /// # Errors
    /// `Request` for `MPI_REQUEST_NULL`, freed and made-up handles.
    pub fn request_free(&self, r: &mut abi::Request) -> Result<()> {
        if *r == consts::REQUEST_NULL {
            fail!(Request, "the request is MPI_REQUEST_NULL");
        }
        if as_transfer(*r).is_some() && self.state(*r)? == State::Complete {
            self.complete(r);
            return Ok(());
        }
        if let Some(id) = as_transfer(*r) {
            *r = consts::REQUEST_NULL;
            self.link(|link| link.detach(id));
            return Ok(());
        }
        let object = self.request_object(*r)?;
        object.check_free().map_err(|e| placed(e, object.place()))?;
        let was = std::mem::replace(r, consts::REQUEST_NULL);
        if !object.keeps_handle() {
            self.remove_request(was);
        }
        object.free(self).map_err(|e| placed(e, object.place()))
    }

    /// `MPI_Cancel`.
    ///
    /// # Errors
    /// `Request` if the operation cannot be cancelled.
    pub fn cancel(&self, r: abi::Request) -> Result<()> {
        if r == SENT || r == NOWHERE {
            return Ok(());
        }
        if let Some(id) = as_transfer(r) {
            if !self.link(|link| link.valid(id)) {
                return Err(bad_request(r));
            }
            self.link(|link| link.cancel(id));
            // The request and its answer; to itself a process answers at once.
            for _ in 0..2 {
                self.progress();
            }
            return Ok(());
        }
        if r == consts::REQUEST_NULL {
            fail!(Request, "the request is MPI_REQUEST_NULL");
        }
        let object = self.request_object(r)?;
        object.cancel(self).map_err(|e| placed(e, object.place()))
    }

    /// Checks that a request is persistent and inactive.
    ///
    /// # Errors
    /// As [`Process::start`].
    pub(super) fn check_startable(&self, r: abi::Request) -> Result<()> {
        // SAFETY: `state` and `place` neither call the program back nor make or free a request.
        let object = unsafe { self.objects.requests.borrow(r.0) };
        let object = object.ok_or_else(|| not_startable(r))?;
        let check = match (object.is_persistent(), object.state(self)?) {
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
    pub fn start(&self, r: abi::Request) -> Result<()> {
        // SAFETY: the borrow ends before anything else is called, unless it is of a transfer, which promises to touch no
        // request of the table.
        let object = unsafe { self.objects.requests.borrow(r.0) };
        let object = object.ok_or_else(|| not_startable(r))?;
        if object.is_transfer() {
            return start_object(self, &**object);
        }
        start_object(self, &*Arc::clone(object))
    }
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
