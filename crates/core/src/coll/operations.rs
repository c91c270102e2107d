//! Collective operations are run, started and kept.

use std::cell::RefCell;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_objects::error::{Error, Kind, Result};

use super::arguments::Data;
use super::count::BOARD;
use super::prepared::{Caller, Prepared};
use super::request::{CollRequest, PersistentColl, own_run};
use super::run::CollRun;
use super::tag::{Label, Number};
use super::turn::{Lease, Ticket, Turn, cut};
use crate::comm::Comm;
use crate::process::Process;
use crate::request::active_already;

/// Runs that are kept for later; each has its memory.
const IDLE_RUNS: usize = 16;

#[cold]
fn no_slot(comm: &Comm) -> Error {
    let text = "the communicator has as many persistent collective operations as its messages can tell apart: \
        free some of them, or make others on a duplicate of it";
    Error::new(Kind::NoMem, text).on(comm.handle.get())
}

impl Process {
    /// Runs an operation to its end.
    ///
    /// # Errors
    /// That of the operation, raised on its communicator.
    pub fn run(&self, prepared: Prepared) -> Result<()> {
        let mut obj = self.begin(prepared, false);
        let run = own_run(&mut obj);
        if !run.advance(self) {
            self.block_for(run.is_foreign(), |process| run.advance(process));
        }
        let error = run.take_error();
        self.keep_run(obj);
        error.map_or(Ok(()), Err)
    }

    /// Starts an operation that `progress` carries on.
    ///
    /// # Errors
    /// If its board is of no more use; all others come with the request's completion.
    pub fn start_collective(&self, prepared: Prepared) -> Result<abi::Request> {
        let on_board = self.seeks_board(&prepared)?;
        let waits = on_board && prepared.comm.coll.queued.get() != 0;
        let mut obj = self.begin(prepared, on_board);
        self.started();
        let run = own_run(&mut obj);
        // One that may call the program has its place in the queue before another thread can start the next.
        let is_reserved = on_board && run.is_foreign();
        if waits || is_reserved || !run.advance(self) {
            self.carry_on_collective(obj.clone());
        }
        if is_reserved && !waits {
            self.progress();
        }
        Ok(self.add_request(obj))
    }

    /// Counts one that `progress` carries on.
    fn started(&self) {
        let started = &self.colls.started;
        started.set(started.get() + 1);
    }

    /// A run that has begun, and counts: by messages, or on the board if there is one.
    fn begin(&self, prepared: Prepared, on_board: bool) -> Arc<CollRequest> {
        let mut obj = self.begin_own(prepared, on_board);
        if let (false, Some((job, _))) = (on_board, own_run(&mut obj).job()) {
            self.ran(&job.comm, job.label.what, job.schedule(self).label());
        }
        obj
    }

    /// The same of a call of the library itself, which does not count.
    pub(super) fn begin_own(&self, prepared: Prepared, on_board: bool) -> Arc<CollRequest> {
        let lease = self.turn_of(&prepared.comm, prepared.label);
        let mut obj = self.idle_run();
        let run = own_run(&mut obj);
        run.begin(self, prepared, lease, on_board);
        obj
    }

    /// Makes a persistent operation; all members make theirs in the same order.
    ///
    /// # Errors
    /// `NoMem` if the communicator has too many.
    pub fn persistent_collective(&self, mut prepared: Prepared) -> Result<abi::Request> {
        prepared.is_persistent = true;
        let rounds = self.rounds_of(&prepared)?;
        let own = match &rounds {
            Some(_) => None,
            None => self.own_board_of(&prepared)?,
        };
        let lease = self.slot_of(&prepared.comm, prepared.label)?;
        let run = RefCell::new(Box::new(CollRun::kept(prepared, lease, rounds, own)?));
        let operation = Arc::new(CollRequest { run });
        Ok(self.add_request(Arc::new(PersistentColl::new(operation))))
    }

    /// Starts the run of a persistent operation.
    ///
    /// # Errors
    /// If it is active.
    pub(crate) fn restart_collective(&self, obj: &Arc<CollRequest>) -> Result<()> {
        // A thread that has it starts it, or carries it on.
        let mut run = obj.run.try_borrow_mut().map_err(|_| active_already())?;
        if run.begin_round() || run.begin_on_own_board(self) {
            if let Some((job, _)) = run.job() {
                self.ran(&job.comm, job.label.what, BOARD);
            }
            self.started();
            let is_needed = run.is_needed();
            drop(run);
            if is_needed {
                self.carry_on_collective(obj.clone());
            }
            return Ok(());
        }
        if let Some((job, _)) = run.job() {
            self.ran(&job.comm, job.label.what, job.schedule(self).label());
        }
        run.restart(self);
        self.started();
        let done = run.advance(self);
        drop(run);
        if !done {
            self.carry_on_collective(obj.clone());
        }
        Ok(())
    }

    /// The numbers and tags of a call, which are its own until they are dropped.
    pub(super) fn turn_of(&self, comm: &Arc<Comm>, label: Label) -> Lease {
        let cut = cut(comm);
        let ticket = |comm: &Comm| {
            let number = Number {
                count: comm.coll.numbers.take(),
                persistent: false,
            };
            Ticket::new(cut, label, number)
        };
        let turn = Turn {
            place: comm.coll.place(comm.coll.on_board()),
            comm: ticket(comm),
            local: comm
                .remote
                .as_ref()
                .map_or_else(Ticket::default, |remote| ticket(&remote.local)),
        };
        Lease::new(comm.clone(), turn)
    }

    /// The numbers and tags of a call that makes a persistent operation. All members of the communicator have to make it.
    ///
    /// # Errors
    /// `NoMem` if there are too many.
    fn slot_of(&self, comm: &Arc<Comm>, label: Label) -> Result<Lease> {
        let cut = cut(comm);
        let slots = &comm.coll.slots;
        let slot = match slots.take(cut) {
            Some(slot) => slot,
            None => {
                let kept = self.slots_kept(comm, slots.kept(cut))?;
                slots.agree(cut, &kept);
                slots.take(cut).ok_or_else(|| no_slot(comm))?
            }
        };
        let number = Number {
            count: slot,
            persistent: true,
        };
        let ticket = Ticket::new(cut, label, number);
        let turn = Turn {
            // It counts already.
            place: comm.coll.place(comm.coll.on_board()).wrapping_sub(1),
            comm: ticket,
            local: ticket,
        };
        Ok(Lease::new(comm.clone(), turn))
    }

    /// The slots that any member keeps, where this one keeps those. Collective.
    #[cold]
    fn slots_kept(&self, comm: &Arc<Comm>, mut kept: Vec<u8>) -> Result<Vec<u8>> {
        let caller = Caller {
            process: self,
            now: true,
        };
        // On an intercommunicator each group gets what the other one has, so the second time it gets its own.
        for _ in 0..if comm.is_inter() { 2 } else { 1 } {
            let mine = kept.clone();
            let all = Data {
                buf: kept.as_mut_ptr(),
                count: kept.len() as abi::Count,
                ty: consts::BYTE,
            };
            let mut both = mine.clone();
            self.run_rest(caller.allreduce(comm, mine.as_ptr(), all, consts::BOR)?)?;
            both.iter_mut().zip(&kept).for_each(|(a, b)| *a |= b);
            kept = both;
        }
        Ok(kept)
    }

    /// A run that is not in use.
    #[inline]
    fn idle_run(&self) -> Arc<CollRequest> {
        let kept = self.collectives().idle.borrow_mut().pop();
        kept.unwrap_or_default()
    }

    /// Keeps a run that is done, if nobody else has it.
    pub(crate) fn keep_run(&self, mut obj: Arc<CollRequest>) {
        let Some(request) = Arc::get_mut(&mut obj) else {
            return;
        };
        // One of a persistent request that was freed meanwhile still has it.
        let run = request.run.get_mut();
        run.forget();
        if let Some(own) = run.leave_own_board() {
            self.leave_board_of(&own);
        }
        let collectives = self.collectives();
        let mut idle = collectives.idle.borrow_mut();
        if idle.len() < IDLE_RUNS {
            idle.push(obj);
        }
    }

    /// Blocks until every member has called it.
    ///
    /// # Errors
    /// `ProcAborted` if a member is gone.
    pub fn barrier(&self, comm: &Arc<Comm>) -> Result<()> {
        let caller = Caller {
            process: self,
            now: true,
        };
        self.run_rest(caller.barrier(comm)?)
    }

    /// Blocks until all have come to the end.
    ///
    /// # Errors
    /// If a member is gone, or has called something else.
    pub(crate) fn last_barrier(&self) -> Result<()> {
        let caller = Caller {
            process: self,
            now: true,
        };
        self.run_rest(caller.barrier_as(&self.world, Label::FINALIZE)?)?;
        self.find_unheard().map_or(Ok(()), Err)
    }

    /// Runs what a blocking call has left to do.
    ///
    /// # Errors
    /// As [`Process::run`].
    pub fn run_rest(&self, left: Option<Prepared>) -> Result<()> {
        left.map_or(Ok(()), |prepared| self.run(prepared))
    }

    /// Whether the arguments of the root are significant here.
    pub fn is_root(&self, comm: &Comm, root: i32) -> bool {
        if comm.is_inter() {
            root == consts::ROOT
        } else {
            root == comm.rank as i32
        }
    }
}
