//! Collective operations are run, started and kept.

use std::cell::RefCell;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_objects::error::{Error, Kind, Result};

use super::Collectives;
use super::arguments::Data;
use super::carried;
use super::count::BOARD;
use super::prepared::{Caller, Prepared};
use super::request::{CollRequest, PersistentColl, own_run};
use super::run::CollRun;
use super::tag::{Label, Number};
use super::turn::{Lease, Ticket, Turn, cut};
use crate::comm::Comm;
use crate::process::Process;
use crate::request::{self, active_already};

/// Runs that are kept for later; each has its memory.
const IDLE_RUNS: usize = 16;

#[cold]
fn no_slot(comm: &Comm) -> Error {
    let text = "the communicator has as many persistent collective operations as its messages can \
                tell apart: free some of them, or make others on a duplicate of it";
    Error::new(Kind::NoMem, text).on(comm.handle.get())
}

impl Prepared {
    /// Runs an operation to its end.
    ///
    /// # Errors
    /// That of the operation, raised on its communicator.
    pub fn run(mut self, process: &Process) -> Result<()> {
        self.function = catena_trace::current();
        let mut obj = self.begin(process, false);
        let run = own_run(&mut obj);
        if !run.advance(process) {
            process.wait_on(run.is_foreign(), run);
        }
        let error = run.take_error();
        obj.keep(process);
        error.map_or(Ok(()), Err)
    }

    /// Starts an operation that `progress` carries on.
    ///
    /// # Errors
    /// If its board is of no more use; all others come with the request's completion.
    pub fn start(self, process: &Process) -> Result<abi::Request> {
        let on_board = self.seeks_board(process)?;
        let waits = on_board && self.comm.coll.queued.get() != 0;
        let mut obj = self.begin(process, on_board);
        started(process);
        let run = own_run(&mut obj);
        // One that may call the program has its place in the queue before another thread can start
        // the next.
        let is_reserved = on_board && run.is_foreign();
        if waits || is_reserved || !carried::started(|| run.advance(process)) {
            obj.clone().carry_on(process);
        }
        if is_reserved && !waits {
            process.progress();
        }
        Ok(request::add(process, obj))
    }
}

/// Counts one that `progress` carries on.
fn started(process: &Process) {
    let started = &process.colls.started;
    started.set(started.get() + 1);
}

impl Prepared {
    /// A run that has begun, and counts: by messages, or on the board if there is one.
    fn begin(self, process: &Process, on_board: bool) -> Arc<CollRequest> {
        let mut obj = self.begin_own(process, on_board);
        if let (false, Some((job, _))) = (on_board, own_run(&mut obj).job()) {
            job.comm
                .ran(process, job.label.what, job.schedule(process).label());
        }
        obj
    }

    /// Begins a call of the library itself, which does not count.
    pub(super) fn begin_own(self, process: &Process, on_board: bool) -> Arc<CollRequest> {
        let lease = self.comm.take_turn(self.label);
        let mut obj = process.collectives().idle_run(process);
        let run = own_run(&mut obj);
        run.begin(process, self, lease, on_board);
        obj
    }

    /// Makes a persistent operation; all members make theirs in the same order.
    ///
    /// # Errors
    /// `NoMem` if the communicator has too many.
    pub fn persist(mut self, process: &Process) -> Result<abi::Request> {
        self.is_persistent = true;
        let rounds = self.rounds(process)?;
        let own = match &rounds {
            Some(_) => None,
            None => self.own_board(process)?,
        };
        let lease = self.comm.take_slot(process, self.label)?;
        let run = RefCell::new(Box::new(CollRun::kept(self, lease, rounds, own)?));
        let operation = Arc::new(CollRequest { run });
        Ok(request::add(
            process,
            Arc::new(PersistentColl::new(operation)),
        ))
    }
}

impl CollRequest {
    /// Starts the run of a persistent operation.
    ///
    /// # Errors
    /// If it is active.
    pub(crate) fn restart(self: &Arc<Self>, process: &Process) -> Result<()> {
        // A thread that has it starts it, or carries it on.
        let mut run = self.run.try_borrow_mut().map_err(|_| active_already())?;
        if run.begin_round() || run.begin_on_own_board(process) {
            if let Some((job, _)) = run.job() {
                job.comm.ran(process, job.label.what, BOARD);
            }
            started(process);
            let is_needed = run.is_needed();
            drop(run);
            if is_needed {
                self.clone().carry_on(process);
            }
            return Ok(());
        }
        if let Some((job, _)) = run.job() {
            job.comm
                .ran(process, job.label.what, job.schedule(process).label());
        }
        run.restart(process);
        started(process);
        let done = carried::started(|| run.advance(process));
        drop(run);
        if !done {
            self.clone().carry_on(process);
        }
        Ok(())
    }
}

impl Comm {
    /// The numbers and tags of a call, which are its own until they are dropped.
    pub(super) fn take_turn(self: &Arc<Self>, label: Label) -> Lease {
        let cut = cut(self);
        let ticket = |comm: &Comm| {
            let number = Number {
                count: comm.coll.numbers.take(),
                persistent: false,
            };
            Ticket::new(cut, label, number)
        };
        let turn = Turn {
            place: self.coll.place(self.coll.on_board()),
            comm: ticket(self),
            local: self
                .remote
                .as_ref()
                .map_or_else(Ticket::default, |remote| ticket(&remote.local)),
        };
        Lease::new(self.clone(), turn)
    }

    /// The numbers and tags of a call that makes a persistent operation. All members of the
    /// communicator have to make it.
    ///
    /// # Errors
    /// `NoMem` if there are too many.
    fn take_slot(self: &Arc<Self>, process: &Process, label: Label) -> Result<Lease> {
        let cut = cut(self);
        let slots = &self.coll.slots;
        let slot = match slots.take(cut) {
            Some(slot) => slot,
            None => {
                let kept = self.slots_kept(process, slots.kept(cut))?;
                slots.agree(cut, &kept);
                slots.take(cut).ok_or_else(|| no_slot(self))?
            }
        };
        let number = Number {
            count: slot,
            persistent: true,
        };
        let ticket = Ticket::new(cut, label, number);
        let turn = Turn {
            // It counts already.
            place: self.coll.place(self.coll.on_board()).wrapping_sub(1),
            comm: ticket,
            local: ticket,
        };
        Ok(Lease::new(self.clone(), turn))
    }

    /// The slots that any member keeps, where this one keeps those. Collective.
    #[cold]
    fn slots_kept(self: &Arc<Self>, process: &Process, mut kept: Vec<u8>) -> Result<Vec<u8>> {
        let caller = Caller { process, now: true };
        // On an intercommunicator each group gets what the other one has, so the second time it
        // gets its own.
        for _ in 0..if self.is_inter() { 2 } else { 1 } {
            let mine = kept.clone();
            let all = Data {
                buf: kept.as_mut_ptr(),
                count: kept.len() as abi::Count,
                ty: consts::BYTE,
            };
            let mut both = mine.clone();
            Prepared::run_rest(
                process,
                caller.allreduce(self, mine.as_ptr(), all, consts::BOR)?,
            )?;
            both.iter_mut().zip(&kept).for_each(|(a, b)| *a |= b);
            kept = both;
        }
        Ok(kept)
    }
}

impl Collectives {
    /// A run that is not in use.
    #[inline]
    fn idle_run(&self, process: &Process) -> Arc<CollRequest> {
        let kept = process.collectives().idle.borrow_mut().pop();
        kept.unwrap_or_default()
    }
}

impl CollRequest {
    /// Keeps a run that is done, if nobody else has it.
    pub(crate) fn keep(mut self: Arc<Self>, process: &Process) {
        let Some(request) = Arc::get_mut(&mut self) else {
            return;
        };
        // One of a persistent request that was freed meanwhile still has it.
        let run = request.run.get_mut();
        run.forget();
        if let Some(own) = run.leave_own_board() {
            own.leave(process);
        }
        let collectives = process.collectives();
        let mut idle = collectives.idle.borrow_mut();
        if idle.len() < IDLE_RUNS {
            idle.push(self);
        }
    }
}

impl Comm {
    /// Blocks until every member has called it.
    ///
    /// # Errors
    /// `ProcAborted` if a member is gone.
    pub fn barrier(self: &Arc<Self>, process: &Process) -> Result<()> {
        let caller = Caller { process, now: true };
        Prepared::run_rest(process, caller.barrier(self)?)
    }

    /// Blocks until all have come to the end.
    ///
    /// # Errors
    /// If a member is gone, or has called something else.
    pub(crate) fn last_barrier(process: &Process) -> Result<()> {
        Comm::end_barrier(process)?;
        Comm::find_unheard(process).map_or(Ok(()), Err)
    }

    /// Blocks until all processes of the world are at their end, like
    /// [`last_barrier`](Comm::last_barrier), which comes after it: calls that nobody has answered
    /// are not looked for yet.
    ///
    /// # Errors
    /// If a member is gone, or has called something else.
    pub(crate) fn end_barrier(process: &Process) -> Result<()> {
        let caller = Caller { process, now: true };
        Prepared::run_rest(
            process,
            caller.barrier_as(&process.comms.world, Label::FINALIZE)?,
        )
    }
}

impl Prepared {
    /// Runs what a blocking call has left to do.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_rest(process: &Process, left: Option<Prepared>) -> Result<()> {
        left.map_or(Ok(()), |prepared| prepared.run(process))
    }
}

impl Comm {
    /// Whether the arguments of the root are significant here.
    pub fn is_root(&self, root: i32) -> bool {
        if self.is_inter() {
            root == consts::ROOT
        } else {
            root == self.rank as i32
        }
    }
}
