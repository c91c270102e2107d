//! `MPI_Buffer_iflush` and its relatives (MPI-5, chapter 3.6).

use catena_hang::WaitsFor;
use std::sync::Arc;

use catena_abi as abi;
use catena_objects::error::Result;
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

use super::table::add;
use super::{Done, RequestObject, State, when};
use crate::bsend::{Holder, Mark};
use crate::process::Process;

/// Waits for the messages in a buffer.
#[derive(Debug)]
struct Flush {
    /// Whose buffer.
    holder: Holder,
    /// What has to leave.
    until: Mark,
}

impl RequestObject<Process> for Flush {
    fn state(&self, process: &Process) -> Result<State> {
        let slot = self.holder.slot(process);
        Ok(when(slot.is_flushed(process, self.until)))
    }

    fn complete(&self, _: &Process) -> Done {
        Done::EMPTY
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        self.holder
            .slot(process)
            .describe_flush(process, self.until, waits);
    }

    fn cancel(&self, _: &Process) -> Result<()> {
        fail!(Request, "flushing a buffer cannot be cancelled")
    }

    fn place(&self) -> Option<ErrorPlace> {
        match &self.holder {
            Holder::Process => None,
            Holder::Session(session) => Some(session.handle.get().into()),
            Holder::Comm(comm) => Some(comm.handle.get().into()),
        }
    }
}

impl Holder {
    /// A request that is complete when everything that is in the buffer now has
    /// left.
    pub fn iflush(self, process: &Process) -> abi::Request {
        let until = Mark::now();
        add(
            process,
            Arc::new(Flush {
                holder: self,
                until,
            }),
        )
    }
}
