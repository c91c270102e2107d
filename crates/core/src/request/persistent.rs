//! Persistent point-to-point requests (MPI-5, chapter 3.9).

use crate::needs;
use catena_hang::WaitsFor;
use std::cell::Cell;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_datatype::TypeRef;
use catena_link::Mode;
use catena_objects::error::Result;
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

use super::calls::{cancel, free};
use super::complete::{complete, peek};
use super::standing::state;
use super::table::add;
use super::{Done, NOWHERE, RequestObject, SENT, State};
use crate::buffer::{RecvBuf, SendBuf};
use crate::comm::Comm;
use crate::process::Process;

/// A transfer that is started again and again.
#[derive(Debug)]
struct Persistent {
    /// What each start does.
    what: Operation,
    /// The request that the last start made, while it is active.
    active: Cell<Option<abi::Request>>,
}

/// What a persistent request does when started.
#[derive(Debug)]
#[allow(missing_docs, reason = "the fields are the arguments of the call")]
pub enum Operation {
    Send {
        comm: Arc<Comm>,
        buf: *const u8,
        count: u64,
        ty: TypeRef,
        dest: u32,
        tag: i32,
        mode: Mode,
    },
    Buffered {
        comm: Arc<Comm>,
        buf: *const u8,
        count: u64,
        ty: TypeRef,
        dest: u32,
        tag: i32,
    },
    Recv {
        comm: Arc<Comm>,
        buf: *mut u8,
        count: u64,
        ty: TypeRef,
        source: i32,
        tag: i32,
    },
    Nowhere,
}

impl Operation {
    /// Starts it; gives the request of that.
    fn start(&self, process: &Process) -> Result<abi::Request> {
        Ok(match self {
            Operation::Send {
                comm,
                buf,
                count,
                ty,
                dest,
                tag,
                mode,
            } => comm.isend(process, comm.message(*buf, *count, ty), *dest, *tag, *mode),
            Operation::Buffered {
                comm,
                buf,
                count,
                ty,
                dest,
                tag,
            } => {
                comm.bsend(process, &SendBuf::new(*buf, *count, ty), *dest, *tag)?;
                SENT
            }
            Operation::Recv {
                comm,
                buf,
                count,
                ty,
                source,
                tag,
            } => comm.irecv(process, RecvBuf::new(*buf, *count, ty), *source, *tag),
            Operation::Nowhere => NOWHERE,
        })
    }
}

impl RequestObject<Process> for Persistent {
    fn state(&self, process: &Process) -> Result<State> {
        match self.active.get() {
            None => Ok(State::Inactive),
            Some(inner) => state(process, inner),
        }
    }

    fn complete(&self, process: &Process) -> Done {
        match self.active.take() {
            None => Done::EMPTY,
            Some(mut inner) => {
                let done = complete(process, &mut inner);
                // A receive that cannot be waited for stays.
                let stays = inner != consts::REQUEST_NULL;
                self.active.set(stays.then_some(inner));
                done
            }
        }
    }

    fn peek(&self, process: &Process) -> Result<Done> {
        let inner = self.active.get();
        inner.map_or(Ok(Done::EMPTY), |inner| peek(process, inner))
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        if let Some(inner) = self.active.get() {
            needs::describe_request(process, inner, waits);
        }
    }

    fn is_persistent(&self) -> bool {
        true
    }

    /// A send with a buffer of the program's may have to make room there.
    fn is_transfer(&self) -> bool {
        !matches!(self.what, Operation::Buffered { .. })
    }

    fn start(&self, process: &Process) -> Result<()> {
        if self.active.get().is_some() {
            return Err(super::active_already());
        }
        self.active.set(Some(self.what.start(process)?));
        Ok(())
    }

    fn cancel(&self, process: &Process) -> Result<()> {
        match self.active.get() {
            Some(inner) => cancel(process, inner),
            None => fail!(Request, "the persistent request is not active"),
        }
    }

    fn free(&self, process: &Process) -> Result<()> {
        match self.active.take() {
            Some(mut inner) => free(process, &mut inner),
            None => Ok(()),
        }
    }

    fn place(&self) -> Option<ErrorPlace> {
        match &self.what {
            Operation::Send { comm, .. }
            | Operation::Buffered { comm, .. }
            | Operation::Recv { comm, .. } => Some(comm.handle.get().into()),
            Operation::Nowhere => None,
        }
    }
}

impl Operation {
    /// Makes an inactive persistent request.
    pub fn init(self, process: &Process) -> abi::Request {
        let active = Cell::new(None);
        add(process, Arc::new(Persistent { what: self, active }))
    }
}
