//! The two halves of `MPI_Isendrecv` (MPI-5, chapter 3.10).

use std::sync::Arc;

use catena_abi as abi;
use catena_objects::error::Result;

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
        let pending = |half| process.state(half).map(|it| it == State::Pending);
        Ok(when(!pending(self.recv)? && !pending(self.send)?))
    }

    fn complete(&self, process: &Process) -> Done {
        let (mut recv, mut send) = (self.recv, self.send);
        let mut done = process.complete_whole(&mut recv);
        let sent = process.complete(&mut send);
        done.error = done.error.or(sent.error);
        done
    }

    fn peek(&self, process: &Process) -> Result<Done> {
        process.peek(self.recv)
    }

    fn cancel(&self, process: &Process) -> Result<()> {
        process.cancel(self.recv)?;
        process.cancel(self.send)
    }

    fn free(&self, process: &Process) -> Result<()> {
        let (mut recv, mut send) = (self.recv, self.send);
        process.request_free(&mut send)?;
        process.request_free(&mut recv)
    }
}

impl Process {
    /// Joins the two halves of `MPI_Isendrecv`.
    pub fn pair(&self, send: abi::Request, recv: abi::Request) -> abi::Request {
        self.add_request(Arc::new(Pair { send, recv }))
    }
}
