//! Requests of collectives (MPI-5, chapters 6.12 and 6.13).

use catena_hang::WaitsFor;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use catena_abi::Status;
use catena_objects::error::Result;
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

use super::run::CollRun;
use crate::process::Process;
use crate::request::{Done, RequestObject, State, active_already, when};

/// A collective operation under way.
#[derive(Debug, Default)]
pub struct CollRequest {
    /// In use while progress advances it, and while a user operation of its own asks.
    pub(crate) run: RefCell<Box<CollRun>>,
}

impl CollRequest {
    /// A collective's error knows its place.
    fn take_done(&self) -> Done {
        Done {
            status: Status::empty(),
            error: self.run.borrow_mut().take_error(),
        }
    }

    fn place(&self) -> Option<ErrorPlace> {
        let run = self.run.try_borrow().ok()?;
        let (prepared, _) = run.job()?;
        Some(prepared.comm().handle.get().into())
    }
}

/// The run within an object that is not shared.
pub(super) fn own_run(obj: &mut Arc<CollRequest>) -> &mut CollRun {
    match Arc::get_mut(obj) {
        Some(request) => request.run.get_mut(),
        None => unreachable!("idle runs are nobody else's"),
    }
}

fn cannot_cancel() -> Result<()> {
    fail!(Request, "a collective operation cannot be cancelled")
}

impl RequestObject<Process> for CollRequest {
    fn state(&self, process: &Process) -> Result<State> {
        let is_done = || self.run.try_borrow().is_ok_and(|run| run.is_done());
        if !is_done() {
            process.collectives().advance_asked(process, self);
        }
        Ok(when(is_done()))
    }

    fn complete(&self, _: &Process) -> Done {
        self.take_done()
    }

    fn recycle(self: Arc<Self>, process: &Process) {
        self.keep(process);
    }

    fn cancel(&self, _: &Process) -> Result<()> {
        cannot_cancel()
    }

    fn place(&self) -> Option<ErrorPlace> {
        self.place()
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        if let Ok(run) = self.run.try_borrow() {
            let before = waits.needs.len();
            run.describe(process, waits);
            // Others may carry it on while they wait in other calls, so it says nothing of them
            // that they do.
            let own = &mut waits.needs[before..];
            own.iter_mut().for_each(|need| need.open = true);
        }
    }
}

/// A persistent collective operation.
#[derive(Debug)]
pub struct PersistentColl {
    /// Progress has it, too, while it is under way.
    pub(crate) operation: Arc<CollRequest>,
    is_active: Cell<bool>,
}

impl PersistentColl {
    /// One that is inactive.
    pub fn new(operation: Arc<CollRequest>) -> Self {
        let is_active = Cell::new(false);
        PersistentColl {
            operation,
            is_active,
        }
    }
}

impl RequestObject<Process> for PersistentColl {
    fn state(&self, process: &Process) -> Result<State> {
        match self.is_active.get() {
            false => Ok(State::Inactive),
            true => {
                if let Ok(mut run) = self.operation.run.try_borrow_mut()
                    && (run.is_done() || run.is_left_alone())
                {
                    return Ok(when(run.is_done() || run.advance(process)));
                }
                self.operation.state(process)
            }
        }
    }

    fn complete(&self, _: &Process) -> Done {
        match self.is_active.take() {
            false => Done::EMPTY,
            true => self.operation.take_done(),
        }
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn start(&self, process: &Process) -> Result<()> {
        if self.is_active.get() {
            return Err(active_already());
        }
        self.operation.restart(process)?;
        self.is_active.set(true);
        Ok(())
    }

    fn free(&self, process: &Process) -> Result<()> {
        let Ok(mut run) = self.operation.run.try_borrow_mut() else {
            // A thread is in the middle of it, and carries it on.
            return Ok(());
        };
        if let Some(comm) = run.leave_rounds() {
            comm.leave_rounds(process);
        }
        if run.is_done()
            && let Some(own) = run.leave_own_board()
        {
            own.leave(process);
        }
        let has_nobody = run.is_left_alone() && run.has_own_board();
        drop(run);
        if has_nobody {
            self.operation.clone().carry_on(process);
        }
        Ok(())
    }

    fn cancel(&self, _: &Process) -> Result<()> {
        match self.is_active.get() {
            true => cannot_cancel(),
            false => fail!(Request, "the persistent request is not active"),
        }
    }

    fn place(&self) -> Option<ErrorPlace> {
        self.operation.place()
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        self.operation.describe(process, waits);
    }
}
