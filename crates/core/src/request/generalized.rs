//! Generalized requests (MPI-5, chapter 13.2).

use crate::needs;
use catena_hang::{WaitsFor, What};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use catena_abi::{self as abi, Status};
use catena_objects::callback::{
    Foreign, GrequestCancelFunction, GrequestFreeFunction, GrequestQueryFunction,
};
use catena_objects::error::{Error, Kind, Result};

use super::table::{add, remove, with};
use super::{Done, RequestObject, State, when};
use crate::process::Process;

/// A request that the program completes.
#[derive(Debug)]
pub struct Generalized {
    /// Fills the status.
    pub query: Foreign<GrequestQueryFunction>,
    /// Frees the state.
    pub free: Foreign<GrequestFreeFunction>,
    /// Is told of a cancel.
    pub cancel: Foreign<GrequestCancelFunction>,
    /// Passed to the three.
    pub extra_state: *mut c_void,
    /// `MPI_Grequest_complete` was called.
    pub done: Cell<bool>,
    /// `MPI_Request_free` was called.
    pub freed: Cell<bool>,
}

impl Generalized {
    fn call_free(&self) -> c_int {
        // SAFETY: the program registered the function for this state.
        self.free
            .call(|f| f.map_or(0, |f| unsafe { f(self.extra_state) }))
    }

    fn call_cancel(&self) -> c_int {
        let done = c_int::from(self.done.get());
        // SAFETY: as in `call_free`.
        self.cancel
            .call(|f| f.map_or(0, |f| unsafe { f(self.extra_state, done) }))
    }

    fn call_query(&self) -> Done {
        let mut status = Status::empty();
        // SAFETY: as in `call_free`; the status outlives the call.
        let code = self
            .query
            .call(|f| f.map_or(0, |f| unsafe { f(self.extra_state, &raw mut status) }));
        Done {
            status,
            error: (code != 0).then(|| callback_failed("query", code)),
        }
    }
}

#[cold]
fn callback_failed(what: &str, code: c_int) -> Error {
    let text = format!("the {what} callback of the generalized request returned {code}");
    Error::new(Kind::Code(code), text)
}

impl RequestObject<Process> for Generalized {
    fn state(&self, _: &Process) -> Result<State> {
        Ok(when(self.done.get()))
    }

    fn complete(&self, _: &Process) -> Done {
        let mut done = self.call_query();
        let code = self.call_free();
        if code != 0 && done.error.is_none() {
            done.error = Some(callback_failed("free", code));
        }
        done
    }

    fn describe(&self, _: &Process, waits: &mut WaitsFor) {
        waits.needs.push(needs::open(What::Program, ""));
    }

    fn peek(&self, _: &Process) -> Result<Done> {
        Ok(self.call_query())
    }

    fn cancel(&self, _: &Process) -> Result<()> {
        match self.call_cancel() {
            0 => Ok(()),
            code => Err(callback_failed("cancel", code)),
        }
    }

    fn free(&self, _: &Process) -> Result<()> {
        self.freed.set(true);
        if self.done.get() {
            self.call_free();
        }
        Ok(())
    }

    /// `MPI_Grequest_complete` still needs the handle of one under way.
    fn keeps_handle(&self) -> bool {
        !self.done.get()
    }
}

impl Generalized {
    /// `MPI_Grequest_start`.
    pub fn begin(self, process: &Process) -> abi::Request {
        add(process, Arc::new(self))
    }

    /// `MPI_Grequest_complete`.
    ///
    /// # Errors
    /// `Request` if it is not a generalized request.
    pub fn finish(process: &Process, r: abi::Request) -> Result<()> {
        let is_freed = with(process, r, "generalized", |g: &Generalized| {
            g.done.set(true);
            // Nobody will complete a request that was freed before.
            if g.freed.get() {
                g.call_free();
            }
            g.freed.get()
        })?;
        if is_freed {
            remove(process, r);
        }
        Ok(())
    }
}
