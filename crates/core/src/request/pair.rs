//! The two halves of `MPI_Isendrecv` (MPI-5, chapter 3.10).

use crate::needs;
use catena_hang::WaitsFor;
use std::sync::Arc;

use catena_abi as abi;
use catena_objects::error::Result;

use super::calls::{cancel, free};
use super::complete::{complete, complete_whole, peek};
use super::standing::state;
use super::table::add;
use super::{Done, RequestObject, State, when};
use crate::process::Process;

/// A send and a receive that complete as one, with the receive's status.
#[derive(Debug)]
struct Pair {
    send: abi::Request,
    recv: abi::Request,
}

impl RequestObject<Process> for Pair {
    fn state(&self, process: &Process) -> Result<State> {
        let pending = |half| state(process, half).map(|it| it == State::Pending);
        Ok(when(!pending(self.recv)? && !pending(self.send)?))
    }

    fn complete(&self, process: &Process) -> Done {
        let (mut recv, mut send) = (self.recv, self.send);
        let mut done = complete_whole(process, &mut recv);
        let sent = complete(process, &mut send);
        done.error = done.error.or(sent.error);
        done
    }

    fn peek(&self, process: &Process) -> Result<Done> {
        peek(process, self.recv)
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        needs::describe_requests(process, &[self.recv, self.send], waits);
    }

    fn cancel(&self, process: &Process) -> Result<()> {
        cancel(process, self.recv)?;
        cancel(process, self.send)
    }

    fn free(&self, process: &Process) -> Result<()> {
        let (mut recv, mut send) = (self.recv, self.send);
        free(process, &mut send)?;
        free(process, &mut recv)
    }
}

/// Joins the two halves of `MPI_Isendrecv`.
pub fn pair(process: &Process, send: abi::Request, recv: abi::Request) -> abi::Request {
    add(process, Arc::new(Pair { send, recv }))
}
