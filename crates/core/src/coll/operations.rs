//! Collective operations are run, started and kept.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_link::Cid;
use catena_objects::error::{Error, Kind, Result};

use super::count::BOARD;
use super::prepared::{Caller, Prepared};
use super::request::{CollRequest, PersistentColl, own_run};
use super::run::{CollRun, Ticket, Turn, cut};
use super::tag::{Label, Number};
use crate::comm::Comm;
use crate::process::Process;
use crate::request::RequestObject;

/// Runs that are kept for later; each has its memory.
const IDLE_RUNS: usize = 16;

#[cold]
fn too_old(comm: &Comm) -> Error {
    let text = "a collective operation too many calls back on the communicator is still under \
        way: complete it first";
    Error::new(Kind::Other, text).on(comm.handle.get())
}

impl Process {
    /// Runs an operation to its end.
    ///
    /// # Errors
    /// That of the operation, raised on its communicator.
    pub fn run(&self, prepared: Prepared) -> Result<()> {
        let mut obj = self.begin(prepared, false)?;
        let run = own_run(&mut obj);
        if !run.advance(self) {
            self.block(|process| run.advance(process));
        }
        let error = run.take_error();
        self.keep_run(obj);
        error.map_or(Ok(()), Err)
    }

    /// Starts an operation that `progress` carries on.
    ///
    /// # Errors
    /// `Other` if one too far back on the communicator is still under way; all
    /// others come with the request's completion.
    pub fn start_collective(&self, prepared: Prepared) -> Result<abi::Request> {
        let on_board = self.seeks_board(&prepared)?;
        let waits = on_board && prepared.comm.coll.queued.get() != 0;
        let mut obj = self.begin(prepared, on_board)?;
        self.started();
        if waits || !own_run(&mut obj).advance(self) {
            self.carry_on_collective(obj.clone());
        }
        Ok(self.add_request(obj))
    }

    /// Counts one that `progress` carries on.
    fn started(&self) {
        let started = &self.colls.started;
        started.set(started.get() + 1);
    }

    /// A run that has begun, and counts: by messages, or on the board if there is one.
    fn begin(&self, prepared: Prepared, on_board: bool) -> Result<Arc<CollRequest>> {
        let mut obj = self.begin_own(prepared, on_board)?;
        if let (false, Some((job, _))) = (on_board, own_run(&mut obj).job()) {
            self.ran(&job.comm, job.label.what, job.schedule(self).label());
        }
        Ok(obj)
    }

    /// The same of a call of the library itself, which does not count.
    pub(super) fn begin_own(&self, prepared: Prepared, on_board: bool) -> Result<Arc<CollRequest>> {
        let turn = self.turn(&prepared, false)?;
        let mut obj = self.idle_run();
        let run = own_run(&mut obj);
        if let Err(error) = run.begin(self, prepared, turn, on_board) {
            return Err(self.cannot_begin(run, error));
        }
        Ok(obj)
    }

    #[cold]
    fn cannot_begin(&self, run: &CollRun, error: Error) -> Error {
        let Some((Prepared { comm, .. }, turn)) = run.job() else {
            return error;
        };
        self.give_up(comm, turn, error)
    }

    /// A blocking call has no memory to begin with, of which the others know nothing.
    #[cold]
    pub(super) fn cannot_run(&self, prepared: &Prepared, error: Error) -> Error {
        match self.turn(prepared, false) {
            Ok(turn) => self.give_up(&prepared.comm, &turn, error),
            Err(error) => error,
        }
    }

    /// Tells all others that this member does not begin a call.
    fn give_up(&self, comm: &Arc<Comm>, turn: &Turn, error: Error) -> Error {
        self.report(comm, turn.place, &error);
        self.lose_board(comm, &error);
        error.on(comm.handle.get())
    }

    /// Makes a persistent operation; all members make theirs in the same order.
    ///
    /// # Errors
    /// `Other` if one too far back on the communicator is still there.
    pub fn persistent_collective(&self, mut prepared: Prepared) -> Result<abi::Request> {
        prepared.is_persistent = true;
        let rounds = self.rounds_of(&prepared)?;
        let turn = self.turn(&prepared, true)?;
        let run = RefCell::new(Box::new(CollRun::kept(prepared, turn, rounds)));
        let operation = Arc::new(CollRequest { run });
        Ok(self.add_request(Arc::new(PersistentColl::new(operation))))
    }

    /// Starts the run of a persistent operation.
    ///
    /// # Errors
    /// `NoMem` if there is not enough for it.
    pub(crate) fn restart_collective(&self, obj: &Arc<CollRequest>) -> Result<()> {
        let mut run = obj.run.borrow_mut();
        if run.begin_round() {
            if let Some((job, _)) = run.job() {
                self.ran(&job.comm, job.label.what, BOARD);
            }
            self.started();
            return Ok(());
        }
        if let Some((job, _)) = run.job() {
            self.ran(&job.comm, job.label.what, job.schedule(self).label());
        }
        if let Err(error) = run.restart(self) {
            return Err(self.cannot_begin(&run, error));
        }
        self.started();
        let done = run.advance(self);
        drop(run);
        if !done {
            self.carry_on_collective(obj.clone());
        }
        Ok(())
    }

    /// The numbers and tags of the next operation.
    fn turn(&self, prepared: &Prepared, persistent: bool) -> Result<Turn> {
        self.turn_of(&prepared.comm, prepared.label, persistent)
    }

    /// The numbers and tags of a call that is not prepared.
    pub(super) fn turn_of(&self, comm: &Comm, label: Label, persistent: bool) -> Result<Turn> {
        let cut = cut(comm);
        let ticket = |c: &Comm| {
            let numbers = match persistent {
                true => &c.coll.persistent,
                false => &c.coll.numbers,
            };
            let oldest = |next| self.oldest(c.cid, next, persistent);
            let count = numbers.next(cut, label.what, oldest);
            let count = count.ok_or_else(|| too_old(comm))?;
            let number = Number { count, persistent };
            let tag = cut.tag(label, number);
            Ok::<_, Error>(Ticket { number, tag })
        };
        Ok(Turn {
            place: comm.coll.place(comm.coll.on_board()),
            comm: ticket(comm)?,
            local: match &comm.remote {
                Some(remote) => ticket(&remote.local)?,
                None => Ticket::default(),
            },
        })
    }

    /// The first operation in a context that is under way, or kept by a
    /// persistent request, given the number of the next one.
    #[cold]
    fn oldest(&self, cid: Cid, next: u32, persistent: bool) -> u32 {
        let age = |prepared: &Prepared, turn: &Turn| {
            let number = turn.number_in(&prepared.comm, cid)?;
            (number.persistent == persistent).then(|| next.wrapping_sub(number.count))
        };
        let active_age = |request: &CollRequest| {
            let run = request.run.try_borrow().ok()?;
            let (prepared, turn) = run.under_way()?;
            age(prepared, turn)
        };
        let kept_age = |request: &Arc<dyn RequestObject>| {
            let any: &dyn Any = &**request;
            if let Some(persistent) = any.downcast_ref::<PersistentColl>() {
                let run = persistent.operation.run.try_borrow().ok()?;
                let (prepared, turn) = run.job()?;
                return age(prepared, turn);
            }
            any.downcast_ref().and_then(active_age)
        };
        let requests = self.objects.requests.all();
        let kept = requests.iter().filter_map(|(_, it)| kept_age(it)).max();
        let under_way = self.collectives().max(active_age);
        next.wrapping_sub(kept.max(under_way).unwrap_or(0))
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
        request.run.get_mut().forget();
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
