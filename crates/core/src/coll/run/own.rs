//! Runs of persistent operations on boards of their own.

use catena_base::slab::Key;

use super::super::own_board::{Operands, OwnBoard};
use super::super::pending::{Ended, PendingOperation};
use super::super::side::Loaded;
use super::{CollRun, Mechanism};
use crate::process::Process;

impl CollRun {
    /// Begins the operation on its own board; false if it has none. It may be complete then, well
    /// or not. Nobody carries it on, which it [needs](CollRun::is_needed) if others may.
    #[inline]
    pub fn begin_on_own_board(&mut self, process: &Process) -> bool {
        let (Some(own), Some(job)) = (&mut self.own, &mut self.job) else {
            return false;
        };
        self.error = None;
        job.comm.coll.note(self.turn.place, own.signature);
        let trouble = job.comm.trouble(process);
        if let Some(error) = trouble.or_else(|| own.failure().cloned()) {
            own.fail(&error);
            self.error = Some(error.on(job.comm.handle.get()));
            return true;
        }
        if job.is_packed()
            && let Err(error) = job.load((&mut self.input, &mut self.output), &mut self.memory)
        {
            let op = own.start_unseen(job.label);
            let pending = PendingOperation::new(op, self.turn.place, own.signature);
            self.way = Mechanism::Own(pending.without(Some(error)));
            self.is_under_way = true;
            return true;
        }
        let operands = Operands {
            ends: (self.input.base(), self.output.base()),
            reducer: self.memory.reducer.as_ref(),
        };
        match own.start(job.label, operands) {
            None => self.end_on_own_board(),
            Some((op, trouble)) => {
                let pending = PendingOperation::new(op, self.turn.place, own.signature);
                self.way = Mechanism::Own(pending.met(trouble));
                self.is_under_way = true;
            }
        }
        true
    }

    /// Goes on there; true if it is complete, well or not.
    pub(super) fn advance_on_own_board(&mut self, process: &Process) -> bool {
        let (Some(own), Some(job), Mechanism::Own(pending)) =
            (&mut self.own, &self.job, &mut self.way)
        else {
            return true;
        };
        let operands = Operands {
            ends: (self.input.base(), self.output.base()),
            reducer: self.memory.reducer.as_ref(),
        };
        match own.advance(process, &job.comm, operands, pending) {
            None => return false,
            Some(Ended::Well) => {}
            Some(Ended::WithoutData(error)) => self.error = Some(error),
            Some(Ended::Failed(error)) => {
                own.fail(&error);
                job.comm.lose_board(process, &error);
                self.error = Some(error);
            }
        }
        self.end_on_own_board();
        true
    }

    /// The operation is complete there.
    #[inline]
    fn end_on_own_board(&mut self) {
        if let (Some(own), Some(job)) = (&mut self.own, &self.job) {
            own.queue = None;
            if job.is_packed() {
                if self.error.is_none() {
                    job.output.store(&self.output);
                }
                (self.input, self.output) = (Loaded::default(), Loaded::default());
            }
        }
        self.is_under_way = false;
        self.way = Mechanism::Messages;
    }

    /// Whether progress has to carry it on: others may need something of this member, or it calls
    /// functions of the program.
    #[inline]
    pub fn is_needed(&self) -> bool {
        match &self.way {
            Mechanism::Own(pending) => pending.is_needed() || self.is_foreign(),
            _ => false,
        }
    }

    /// Whether nobody looks at what is under way but who waits for it.
    #[inline]
    pub fn is_left_alone(&self) -> bool {
        match &self.way {
            Mechanism::Rounds => true,
            Mechanism::Own(_) => self.own.as_ref().is_some_and(|own| own.queue.is_none()),
            _ => false,
        }
    }

    /// Whether it is on a board of its own.
    pub fn has_own_board(&self) -> bool {
        matches!(self.way, Mechanism::Own(_))
    }

    /// The queue in which it waits, if it is on a board of its own.
    pub fn own_queue(&self) -> Option<Key> {
        self.own.as_ref()?.queue
    }

    /// Progress carries it on from now on, in that queue.
    pub fn set_own_queue(&mut self, queue: Key) {
        if let Some(own) = &mut self.own {
            own.queue = Some(queue);
        }
    }

    /// The operation goes: the board that it has had to itself.
    pub(in crate::coll) fn leave_own_board(&mut self) -> Option<Box<OwnBoard>> {
        self.own.take()
    }
}
