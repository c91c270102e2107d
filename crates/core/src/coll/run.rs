//! Running a schedule: `executor` carries out its steps, and `own` runs persistent operations on
//! boards of their own.

mod executor;
mod own;

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use catena_board::Rounds;
use catena_hang::{WaitsFor, What};
use catena_link::{Cid, Needs, Plane};
use catena_objects::error::{Error, Result};
use catena_objects::op::Reducer;
use catena_process::Wait;
use catena_schedule::Run;

use executor::{Executor, Posted, ProgressTarget, partner};

use super::backoff::Backoff;
use super::canvass::Canvass;
use super::control::{CallControl, Waiting, is_call, who};
use super::count::BOARD;
use super::membership::{BoardMembership, Membership};
use super::memory::Memory;
use super::mismatch::{is_of_all, unlike};
use super::own_board::OwnBoard;
use super::pending::{Ended, PendingOperation};
use super::prepared::Prepared;
use super::report::Heard;
use super::side::Loaded;
use super::signature::CallSignature;
use super::turn::{Lease, Ticket, Turn, cut};
use crate::comm::Comm;
use crate::needs;
use crate::process::Process;

/// One execution of a schedule on a communicator. It may be used for another one
/// when it is done; what it needed memory for stays.
#[derive(Debug, Default)]
pub struct CollRun {
    /// What is done, until it is done; a persistent operation stays.
    job: Option<Prepared>,
    is_under_way: bool,
    turn: Turn,
    /// The numbers of its messages; a persistent operation keeps its own.
    lease: Option<Lease>,
    way: Mechanism,
    /// By messages.
    run: Run<Posted>,
    memory: Memory,
    /// What the schedule reads, as far as it had to be packed.
    input: Loaded,
    /// What it writes, before it is unpacked.
    output: Loaded,
    backoff: Backoff,
    /// Whom `link` tells of its messages, and the results taken of those.
    told: ProgressTarget,
    error: Option<Error>,
    /// Why it has no data, if it has none; see `without_data`.
    without: Option<Error>,
    /// The rounds of a persistent operation that counts them on the board.
    rounds: Option<Rounds>,
    /// The board of a persistent operation that has one.
    own: Option<Box<OwnBoard>>,
    /// Members have called different things, and all are asked what.
    canvass: Option<Box<Canvass>>,
}

/// How an execution goes on.
#[derive(Debug, Default)]
enum Mechanism {
    #[default]
    Messages,
    /// It will go by messages when an earlier operation, whose messages may have the same tags, is
    /// over.
    Behind,
    /// It waits for its turn on the board.
    Queued,
    Board(PendingOperation),
    /// It waits until all have come to the round.
    Rounds,
    /// On its own board.
    Own(PendingOperation),
}

/// What a look at the board came to.
enum Step {
    Pending,
    /// It goes by messages.
    Elsewhere,
    Ended(Ended),
}

/// What a look for a board came to where there is none.
fn without(membership: &Membership, comm: &Comm) -> Step {
    match membership.outside() {
        Ok(_) => Step::Elsewhere,
        Err(error) => Step::Ended(Ended::Failed(error.on(comm.handle.get()))),
    }
}

impl CollRun {
    /// The run of a persistent operation, which [`CollRun::begin_round`],
    /// [`CollRun::begin_on_own_board`] or [`CollRun::restart`] starts.
    ///
    /// # Errors
    /// `NoMem` if there is not enough for it.
    pub(super) fn kept(
        job: Prepared,
        lease: Lease,
        rounds: Option<Rounds>,
        own: Option<Box<OwnBoard>>,
    ) -> Result<Self> {
        let mut run = CollRun {
            turn: lease.turn(),
            lease: Some(lease),
            rounds,
            own,
            ..CollRun::default()
        };
        let job = run.job.insert(job);
        // What is packed is packed at each start.
        if run.own.is_some() && !job.is_packed() {
            job.load((&mut run.input, &mut run.output), &mut run.memory)?;
        }
        Ok(run)
    }

    /// Starts an execution, on the board of its communicator if it has one and that is sought.
    /// Nothing happens before [`CollRun::advance`].
    pub fn begin(&mut self, process: &Process, job: Prepared, lease: Lease, on_board: bool) {
        (self.job, self.turn) = (Some(job), lease.turn());
        self.lease = Some(lease);
        if !on_board {
            return self.restart(process);
        }
        self.way = Mechanism::Queued;
        (self.error, self.without) = (None, None);
        self.is_under_way = true;
    }

    /// Starts an execution of the operation that it has, by messages. Where none can be complete
    /// any more it has failed at once, and nothing is sent: others might take that for a message of
    /// a call that they are still in.
    ///
    /// # Panics
    /// If it has none.
    pub fn restart(&mut self, process: &Process) {
        let job = self.job.as_mut().expect("it was given one");
        if let Some(error) = job.comm.trouble(process) {
            self.error = Some(error.on(job.comm.handle.get()));
            self.end();
            return;
        }
        // What it says of itself includes whether it has anything to do.
        job.schedule(process);
        job.comm.coll.note(self.turn.place, job.signature());
        let is_alone = self.lease.as_ref().is_none_or(|it| it.may_begin(job.label));
        self.backoff = Backoff::default();
        self.told = ProgressTarget::default();
        (self.error, self.without) = (None, None);
        if is_alone {
            self.begin_messages(process);
        } else {
            self.way = Mechanism::Behind;
        }
        self.is_under_way = true;
    }

    /// From now on it goes by messages.
    fn begin_messages(&mut self, process: &Process) {
        let Some(job) = &mut self.job else {
            return;
        };
        let scratch = self.memory.scratch.reserve(job.schedule(process).scratch());
        self.run.start(job.schedule(process));
        let load = |()| job.load((&mut self.input, &mut self.output), &mut self.memory);
        self.without = scratch.map_err(Error::from).and_then(load).err();
        self.way = Mechanism::Messages;
    }

    /// Goes by messages if those before it are over; `None` if it does now.
    #[cold]
    #[inline(never)]
    fn advance_behind(&mut self, process: &Process) -> Option<bool> {
        let job = self.job.as_ref()?;
        let comm = job.comm.clone();
        if !self.lease.as_ref().is_none_or(|it| it.may_begin(job.label)) {
            // Those before it look around.
            return Some(false);
        }
        let Some(error) = comm.trouble(process) else {
            self.begin_messages(process);
            return None;
        };
        comm.report(process, self.turn.place, &error);
        self.fail(process, error);
        Some(true)
    }

    /// Begins the next round of an operation that counts them; false if it has to be restarted.
    /// Nobody carries it on: [`CollRun::advance`] is called by those who want to know, as the
    /// others need nothing more of this member.
    pub fn begin_round(&mut self) -> bool {
        let (Some(rounds), Some(job)) = (&mut self.rounds, &self.job) else {
            return false;
        };
        job.comm.coll.note(self.turn.place, job.signature());
        self.error = job.comm.check_not_revoked().err();
        self.is_under_way = self.error.is_none();
        if self.is_under_way {
            rounds.begin();
            self.way = Mechanism::Rounds;
            self.backoff = Backoff::default();
        }
        true
    }

    /// The operation goes: the communicator on whose board it has counted its rounds.
    pub fn leave_rounds(&mut self) -> Option<Arc<Comm>> {
        self.rounds.take()?;
        self.job.as_ref().map(|job| job.comm.clone())
    }

    /// Whether all have come to the round, or it has failed.
    #[inline]
    fn advance_round(&mut self, process: &Process) -> bool {
        if self.rounds.as_ref().and_then(Rounds::missing).is_none() {
            self.is_under_way = false;
            self.way = Mechanism::Messages;
            return true;
        }
        self.backoff.polled(false) && self.look_around(process)
    }

    /// From now on `link` tells `whom` of messages that are complete.
    pub fn tell(&mut self, process: &Process, whom: u64) {
        self.told = ProgressTarget {
            whom: Some(whom),
            results: 0,
        };
        for posted in self.run.under_way() {
            process.link(|link| link.set_word(posted.id, whom));
        }
    }

    /// Whether it may call functions of the program.
    pub fn is_foreign(&self) -> bool {
        let loaded = self.memory.reducer.as_ref();
        let to_load = || self.job.as_ref()?.reducer.as_ref();
        loaded.or_else(to_load).is_some_and(Reducer::is_foreign)
    }

    /// Results of messages that were taken since this was last asked.
    pub fn take_results(&mut self) -> u32 {
        mem::take(&mut self.told.results)
    }

    /// Whether it is complete, well or not.
    #[inline]
    pub fn is_done(&self) -> bool {
        !self.is_under_way
    }

    /// What it does, or is kept for, and the place of that.
    pub fn job(&self) -> Option<(&Prepared, &Turn)> {
        Some((self.job.as_ref()?, &self.turn))
    }

    /// What went wrong.
    pub fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// Nothing has come for it; whether it is time to [`CollRun::advance`] all the
    /// same, to look around.
    #[inline]
    pub fn waited(&mut self) -> bool {
        self.backoff.polled(false)
    }

    /// What is under way, if anything is, and its place.
    pub fn under_way(&self) -> Option<(&Prepared, &Turn)> {
        self.job().filter(|_| self.is_under_way)
    }

    /// What there is to say of it, if it is under way and the call at `place` in a context.
    pub fn signature(&self, cid: Cid, place: u32) -> Option<CallSignature> {
        let (job, turn) = self.under_way()?;
        let mut signature = job.signature();
        // On the board it has at least to say that it has no data.
        signature.is_idle &= self.board().is_none();
        is_call((&job.comm, turn.place), cid, place).then_some(signature)
    }

    /// The communicator whose board it uses, or waits for.
    pub fn board(&self) -> Option<&Arc<Comm>> {
        match (&self.way, &self.job) {
            (Mechanism::Queued | Mechanism::Board(_), Some(job)) => Some(&job.comm),
            _ => None,
        }
    }

    /// Does what can be done now; true if it is complete.
    #[inline]
    pub fn advance(&mut self, process: &Process) -> bool {
        match self.way {
            Mechanism::Rounds => return self.advance_round(process),
            Mechanism::Own(_) => return self.advance_on_own_board(process),
            _ => {}
        }
        if self.board().is_some()
            && let Some(done) = self.advance_on_board(process)
        {
            return done;
        }
        if let Mechanism::Behind = self.way
            && let Some(done) = self.advance_behind(process)
        {
            return done;
        }
        let (true, Some(job)) = (self.is_under_way, &self.job) else {
            return true;
        };
        if self.canvass.is_some() {
            return self.go_on_asking(process);
        }
        let mut exec = Executor {
            process,
            comm: &job.comm,
            turn: self.turn,
            memory: &mut self.memory,
            noted: &mut self.error,
            without: &mut self.without,
            told: &mut self.told,
        };
        let before = self.run.left();
        match self.run.advance(job.schedule(process), &mut exec) {
            Ok(true) if self.error.as_ref().is_some_and(|it| is_of_all(it.text())) => {
                let error = self.error.take();
                error.is_none_or(|error| self.differ(process, error))
            }
            Ok(true) => {
                let without = self.without.take();
                if without.is_none() {
                    job.output.store(&self.output);
                }
                if let Some(error) = &self.error {
                    // A member with another schedule may wait for messages that never come.
                    job.comm.report(process, self.turn.place, error);
                    job.comm.lose_board(process, error);
                }
                let without = without.map(|error| error.on(job.comm.handle.get()));
                self.error = self.error.take().or(without);
                self.end();
                true
            }
            Ok(false) => {
                let moved = self.run.left() != before;
                self.backoff.polled(moved) && self.look_around(process)
            }
            Err(error) => {
                job.comm.report(process, self.turn.place, &error);
                self.fail(process, error);
                true
            }
        }
    }

    /// Advances on the board; `None` if it goes by messages from now on.
    #[inline(never)]
    fn advance_on_board(&mut self, process: &Process) -> Option<bool> {
        let step = self.step_on_board(process);
        let job = self.job.as_ref()?;
        match step {
            Step::Pending => return Some(false),
            Step::Elsewhere => {
                let comm = job.comm.clone();
                comm.ran(process, job.label.what, job.schedule(process).label());
                self.restart(process);
                return None;
            }
            Step::Ended(Ended::Well) => job.output.store(&self.output),
            Step::Ended(Ended::WithoutData(error) | Ended::Failed(error)) => {
                self.error = Some(error);
            }
        }
        self.end();
        Some(true)
    }

    /// A look at the board, if it is its turn there.
    fn step_on_board(&mut self, process: &Process) -> Step {
        if let Mechanism::Queued = self.way
            && let Some(step) = self.enter_board(process)
        {
            return step;
        }
        let (Some(job), Mechanism::Board(pending)) = (&self.job, &mut self.way) else {
            return Step::Elsewhere;
        };
        let Ok(mut membership) = job.comm.coll.node.try_borrow_mut() else {
            return Step::Pending;
        };
        let Membership::Member(place) = &mut *membership else {
            return without(&membership, &job.comm);
        };
        job.comm.coll.seen_on_board.set(place.calls());
        let BoardMembership { member, seat, .. } = &mut **place;
        let ends = (self.input.base(), self.output.base());
        // SAFETY: the program lends the buffers of an operation until that is complete.
        let mut board = unsafe { seat.view_with(ends, self.memory.reducer.as_ref()) };
        let ended =
            job.with_args(|args| pending.advance(process, &job.comm, member, args, &mut board));
        let Some(ended) = ended else {
            return Step::Pending;
        };
        if let Ended::Failed(error) = &ended {
            membership.fail(error);
            job.comm.note_end(process, error);
        }
        Step::Ended(ended)
    }

    /// Its turn has come: begins on the board, when that is made. What it comes to if it
    /// cannot, yet or ever.
    fn enter_board(&mut self, process: &Process) -> Option<Step> {
        let job = self.job.as_mut()?;
        let comm = job.comm.clone();
        let Ok(mut membership) = comm.coll.node.try_borrow_mut() else {
            return Some(Step::Pending);
        };
        match membership.join(process, &comm) {
            Ok(true) => {}
            Ok(false) => return Some(Step::Pending),
            Err(error) => {
                let error = error.on(comm.handle.get());
                return Some(Step::Ended(Ended::Failed(error)));
            }
        }
        let Membership::Member(place) = &mut *membership else {
            return Some(without(&membership, &comm));
        };
        comm.coll.seen_on_board.set(place.calls());
        let label = job.label;
        let Some(op) = job.with_args(|args| place.start(label, args)) else {
            return Some(Step::Elsewhere);
        };
        let loaded = job.load((&mut self.input, &mut self.output), &mut self.memory);
        comm.ran(process, job.label.what, BOARD);
        // As in `signature`.
        let signature = CallSignature {
            is_idle: false,
            ..job.signature()
        };
        comm.coll.note(self.turn.place, signature);
        let pending = PendingOperation::new(op, self.turn.place, signature);
        self.way = Mechanism::Board(pending.without(loaded.err()));
        None
    }

    /// Lets go of all that others may be waiting for, or that is much.
    fn end(&mut self) {
        self.is_under_way = false;
        self.way = Mechanism::Messages;
        if self.job.as_ref().is_some_and(|job| !job.is_persistent) {
            self.forget();
        }
        self.memory.scratch.trim();
        (self.input, self.output) = (Loaded::default(), Loaded::default());
    }

    /// Lets go of its operation, which is complete.
    pub fn forget(&mut self) {
        self.job = None;
        self.lease = None;
        self.memory.reducer = None;
    }

    /// Whether the data of a message of it moves: that ends by itself, however long it takes.
    fn is_moving(&self, process: &Process) -> bool {
        let needs = |posted: Posted| process.link(|link| link.needs(posted.id));
        let mut all = self.run.under_way().map(needs);
        all.any(|it| matches!(it, Some(Needs::Rest { .. })))
    }

    /// What it waits for, if it is under way.
    pub fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        let Some((job, turn)) = self.under_way() else {
            return;
        };
        let comm = &job.comm;
        let need = |ranks: Vec<(Cid, u32)>| {
            let mut need = needs::of(process, What::Collective, comm, ranks.iter().copied());
            need.open |= ranks.is_empty() || self.is_moving(process);
            need.call = Some((job.label.to_string(), turn.place));
            need
        };
        let missing = match &self.way {
            Mechanism::Board(pending) | Mechanism::Own(pending) => {
                return pending.describe(process, comm, waits);
            }
            Mechanism::Rounds => {
                let missing = self.rounds.as_ref().and_then(Rounds::missing);
                missing.map(|rank| (comm.cid, rank)).into_iter().collect()
            }
            Mechanism::Messages => {
                let under_way = self.run.under_way().map(|it| partner(process, it));
                BTreeSet::from_iter(under_way).into_iter().collect()
            }
            Mechanism::Queued if is_joining(comm) => {
                waits
                    .needs
                    .push(needs::of_all(process, What::Collective, comm));
                return;
            }
            // An earlier one is told by itself.
            Mechanism::Behind | Mechanism::Queued => Vec::new(),
        };
        waits.needs.push(need(missing));
    }

    /// Nothing has come for a while: perhaps a member called something else.
    #[cold]
    #[inline(never)]
    fn look_around(&mut self, process: &Process) -> bool {
        let Some(job) = &self.job else {
            return true;
        };
        let comm = job.comm.clone();
        let call = Waiting {
            comm: &comm,
            place: self.turn.place,
            signature: Some(job.signature()),
        };
        if let Some(error) = comm.trouble(process) {
            self.fail(process, error);
            return true;
        }
        if self.backoff.look(comm.unexpected(process)) {
            if let Some(error) = self.find_stray(process, &comm) {
                return self.differ(process, error);
            }
            match call.heard(process, &mut self.backoff) {
                Some(Heard::ProgressTarget(error)) => {
                    self.pass_on(process, &error);
                    self.fail(process, error);
                    return true;
                }
                Some(Heard::Differs(error)) => return self.differ(process, error),
                None => {}
            }
        }
        if self.backoff.is_long() {
            let messages = self.run.under_way();
            let messages = messages.map(|it| partner(process, it));
            let rounds = self.rounds.as_ref().and_then(Rounds::missing);
            let rounds = rounds.map(|rank| (comm.cid, rank));
            process.inquire(&call, messages.chain(rounds));
        }
        false
    }

    /// Members have called different things: before it fails, all are asked what.
    #[cold]
    fn differ(&mut self, process: &Process, error: Error) -> bool {
        let Some(job) = &self.job else {
            return true;
        };
        self.canvass = Canvass::begin(&job.comm, &error);
        match self.canvass {
            Some(_) => self.go_on_asking(process),
            None => self.fail_of_all(process, error),
        }
    }

    /// Goes on to ask; true if that is over, and so is the operation.
    #[cold]
    fn go_on_asking(&mut self, process: &Process) -> bool {
        let (Some(job), Some(canvass)) = (&self.job, &mut self.canvass) else {
            return true;
        };
        let call = Waiting {
            comm: &job.comm.clone(),
            place: self.turn.place,
            signature: Some(job.signature()),
        };
        match canvass.go_on(process, &call) {
            Some(error) => self.fail_of_all(process, error),
            None => false,
        }
    }

    /// It fails with what is wrong with the call of all members.
    fn fail_of_all(&mut self, process: &Process, error: Error) -> bool {
        self.canvass = None;
        if let Some(job) = &self.job {
            job.comm.report(process, self.turn.place, &error);
        }
        self.fail(process, error);
        true
    }

    /// Looks for a message with the number of this call that is of another one, from a member of
    /// whom this one waits for a message: what that one sends keeps its order, so it has sent
    /// something else instead. (Others may be whole windows of numbers ahead.) Nobody will receive
    /// it.
    fn find_stray(&mut self, process: &Process, comm: &Comm) -> Option<Error> {
        let receives = self.run.under_way().filter(|it| it.expect.is_some());
        let awaited: BTreeSet<_> = receives.map(|it| partner(process, it)).collect();
        let cut = cut(comm);
        let tickets = self.lease.as_ref().map(Lease::tickets);
        for (cid, Ticket { number, tag }) in tickets.into_iter().flatten() {
            let mine = cut.label_of(tag);
            let backoff = &mut self.backoff;
            let stray = process.link(|link| {
                link.kept(cid, Plane::Collective).find_map(|envelope| {
                    backoff.looked(1);
                    let label = cut.read(envelope.tag, number)?;
                    let is_awaited = || awaited.contains(&(cid, envelope.source));
                    (label != mine && is_awaited()).then_some((label, envelope.source))
                })
            });
            if let Some((label, source)) = stray {
                return Some(unlike(&who(comm, cid, source), label, comm.rank, mine));
            }
        }
        None
    }

    /// Tells why before messages are cancelled: what comes next takes their place.
    fn pass_on(&self, process: &Process, error: &Error) {
        let sends = self.run.under_way().filter(|it| it.expect.is_none());
        let whom = sends.map(|it| partner(process, it));
        for (cid, rank) in whom.collect::<BTreeSet<_>>() {
            CallControl::report_to(process, (cid, rank), self.turn.place, error);
        }
    }

    #[cold]
    fn fail(&mut self, process: &Process, error: Error) {
        let mut left = false;
        for p in self.run.abandon() {
            left = true;
            process.link(|link| {
                link.cancel(p.id);
                link.detach(p.id);
            });
        }
        self.without = None;
        if left {
            // Not every message can be cancelled, and the peers' part of one
            // may still come.
            mem::forget(mem::take(&mut self.memory.scratch));
            self.input.leak();
            self.output.leak();
        }
        if let Some(job) = &self.job {
            job.comm.lose_board(process, &error);
            let handle = job.comm.handle.get();
            self.error.get_or_insert(error.on(handle));
        }
        self.end();
    }
}

/// Whether the members of a communicator have yet to find out whether it has a board.
fn is_joining(comm: &Comm) -> bool {
    let membership = comm.coll.node.try_borrow();
    membership.is_ok_and(|it| !it.is_settled())
}

impl Wait<Process> for CollRun {
    #[inline]
    fn is_done(&mut self, process: &Process) -> bool {
        self.advance(process)
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        self.describe(process, waits);
    }
}
