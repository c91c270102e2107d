//! Non-blocking independent access (MPI-5, chapter 14.4.1): a thread carries the transfer out while
//! the program computes, and the thread that calls MPI finishes it, as conversion may call
//! functions of the program.

use std::cell::RefCell;
use std::sync::Arc;

use catena_abi as abi;
use catena_core::Process;
use catena_core::request::{self, Done, RequestObject, State};
use catena_objects::error::Result;
use catena_objects::error_place::ErrorPlace;

use crate::threads::{Awaited, Task, watch};
use crate::transfer::Transfer;

/// The request of a transfer.
#[derive(Debug)]
struct FileRequest {
    task: Arc<Task<Transfer>>,
    place: ErrorPlace,
    result: RefCell<Option<Done>>,
}

impl Awaited for FileRequest {
    fn is_done(&self) -> bool {
        self.task.is_done()
    }

    /// Finishes a transfer that has been carried out.
    fn settle(&self, process: &Process) {
        if let Some(transfer) = self.task.take() {
            let done = transfer.finish(process);
            self.result.replace(Some(done));
        }
    }
}

impl RequestObject<Process> for FileRequest {
    fn state(&self, _: &Process) -> Result<State> {
        Ok(match self.task.is_done() {
            true => State::Complete,
            false => State::Pending,
        })
    }

    fn complete(&self, process: &Process) -> Done {
        self.settle(process);
        self.result.take().unwrap_or(Done::EMPTY)
    }

    fn peek(&self, process: &Process) -> Result<Done> {
        self.settle(process);
        let result = self.result.borrow();
        Ok(result.as_ref().map_or(Done::EMPTY, |done| Done {
            status: done.status,
            error: done.error.clone(),
        }))
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.place)
    }
}

/// Starts a transfer; its request, whose errors belong to `file`.
pub(crate) fn start(process: &Process, transfer: Transfer, file: abi::File) -> abi::Request {
    let is_empty = transfer.is_empty();
    let task = match is_empty {
        true => Task::done(transfer),
        false => Task::start(move || {
            let mut transfer = transfer;
            transfer.run();
            transfer
        }),
    };
    let request = Arc::new(FileRequest {
        task,
        place: file.into(),
        result: RefCell::default(),
    });
    match is_empty {
        true => request.settle(process),
        false => watch(process, request.clone()),
    }
    request::add(process, request)
}
