//! Collectives among ranks that share memory: no messages.

use std::cell::RefMut;
use std::mem;
use std::sync::Arc;

use catena_base::wait::yield_core;
use catena_board::{BoardMemory, Member, Meta, Op, Refused, Seat, Skipped, Trouble, View};
use catena_coll::{Args, Collective};

use super::Prepared;
use super::force::{COLL_NODE_STARTED, allows_board};
use super::join::{Joined, Joining};
use super::pending::PendingOperation;
use super::schedules::Key;
use super::signature::{CallSignature, different, skipped};
use super::tag::Label;
use crate::comm::Comm;
use crate::process::{Process, life};
use catena_objects::error::{Error, Kind, Result, no_memory};
use catena_objects::op::Reducer;

/// A communicator's place on a board.
#[derive(Debug, Default)]
pub enum Membership {
    /// No collective was called yet that seeks one.
    #[default]
    Unknown,
    /// It is being made.
    Joining(Box<Joining>),
    /// Members are on several nodes, or there was no memory for a board.
    None,
    /// The board and how far this member is.
    Member(Box<Place>),
    /// A member gave up, so the board is of no more use, if there is one; what went wrong.
    Failed(Option<Box<Place>>, Error),
}

/// A member's place on its board, and how far it is.
#[derive(Debug)]
pub struct Place {
    pub(super) member: Member,
    pub(super) seat: Seat,
    /// Operations that it has begun besides blocking calls.
    beside: u32,
    /// The memory of the board, if this process has found it.
    pub(super) found: Option<BoardMemory>,
}

/// Looks for a record before anything else is done, with a core of one's own:
/// for about two microseconds.
const LOOKS: u32 = 2000;

/// What records say of a call that blocks nobody.
const STARTED: u32 = 1 << 21;

impl Process {
    /// Runs an operation of several members on the board of the communicator,
    /// if it can be; `detail` is that of its label, `ends` are the buffers, and
    /// what it is says `say`. False if nothing happened.
    #[inline(always)]
    pub(super) fn run_on_board(
        &self,
        comm: &Arc<Comm>,
        (what, detail): (Option<Collective>, u32),
        args: &Args<'_>,
        ends: (*mut u8, *mut u8),
        reducer: Option<&Reducer>,
        say: &dyn Fn() -> CallSignature,
    ) -> Result<bool> {
        let mut membership = match comm.coll.node.try_borrow_mut() {
            Ok(membership) => membership,
            Err(_) => match self.await_place(comm) {
                Some(membership) => membership,
                None => return Ok(false),
            },
        };
        if !membership.is_settled() || comm.coll.queued.get() != 0 {
            drop(membership);
            self.settle(comm)?;
            membership = comm.coll.node.borrow_mut();
        }
        let Membership::Member(place) = &mut *membership else {
            return membership.outside();
        };
        let Place {
            member,
            seat,
            beside,
            ..
        } = &mut **place;
        let Some(kind) = member.choose(what, args) else {
            return Ok(false);
        };
        // SAFETY: the program lends the buffers that it names until the call returns, or fails when
        // nobody uses them any more.
        let mut board = unsafe { seat.view_with(ends, reducer) };
        board.looks = if self.engine.oversubscribed { 1 } else { LOOKS };
        let mut op = member.start(kind, detail);
        if let Ok(true) = op.poll(member, args, &mut board) {
            return Ok(true);
        }
        // What went wrong it meets again.
        let before = (member.started() as u32).wrapping_sub(*beside + 1);
        let place = comm.coll.place(before);
        let ended = self.finish_on_board(
            comm,
            member,
            PendingOperation::new(op, place, say()),
            args,
            &mut board,
        );
        if let Err(error) = &ended {
            membership.fail(error);
        }
        ended.map(|()| true)
    }

    /// Waits until an operation is complete.
    #[inline(never)]
    fn finish_on_board(
        &self,
        comm: &Arc<Comm>,
        member: &mut Member,
        mut pending: PendingOperation,
        args: &Args<'_>,
        board: &mut View<'_>,
    ) -> Result<()> {
        board.looks = 1;
        let mut ended = None;
        self.block(|process| {
            ended = pending.advance(process, comm, member, args, board);
            ended.is_some()
        });
        ended.unwrap_or(Ok(()))
    }

    /// Waits until the communicator has a board, or cannot have one, and until the operations
    /// before this one have left it.
    #[cold]
    #[inline(never)]
    fn settle(&self, comm: &Arc<Comm>) -> Result<()> {
        let mut settled = Ok(false);
        self.block(|process| {
            if comm.coll.queued.get() == 0
                && let Ok(mut membership) = comm.coll.node.try_borrow_mut()
            {
                settled = membership.join(process, comm);
            }
            !matches!(settled, Ok(false))
        });
        settled.map(|_| ())
    }

    /// Whether an operation that blocks nobody seeks the board of its communicator, which is
    /// made at the first. All members answer alike.
    ///
    /// # Errors
    /// If the board is of no more use.
    pub(super) fn seeks_board(&self, prepared: &Prepared) -> Result<bool> {
        let (comm, what) = (&prepared.comm, prepared.label.what);
        let may = COLL_NODE_STARTED.get() && !comm.is_inter() && comm.size() > 1;
        if !may || !what.is_some_and(allows_board) {
            return Ok(false);
        }
        let Ok(mut membership) = comm.coll.node.try_borrow_mut() else {
            return Ok(false);
        };
        membership.join(self, comm)?;
        match &mut *membership {
            Membership::Member(_) | Membership::Joining(_) => Ok(true),
            other => other.outside(),
        }
    }

    /// Another thread is in a collective on this communicator, which is against
    /// the rules, or this is a user operation's own call; then `None`.
    #[cold]
    #[inline(never)]
    fn await_place<'c>(&self, comm: &'c Comm) -> Option<RefMut<'c, Membership>> {
        while self.threads.are_many() {
            life().lock().released(yield_core);
            if let Ok(membership) = comm.coll.node.try_borrow_mut() {
                return Some(membership);
            }
        }
        None
    }

    /// The communicator was freed: this member looks at the board no more, when nothing of it is
    /// under way there.
    pub(crate) fn leave_board(&self, comm: &Comm) {
        comm.coll.is_free.set(true);
        if comm.coll.queued.get() == 0 {
            self.leave_freed(comm);
        }
    }

    /// Nothing is under way there any more: leaves the board if the communicator was freed.
    pub(crate) fn leave_freed(&self, comm: &Comm) {
        if !comm.coll.is_free.get() {
            return;
        }
        let left = mem::replace(&mut *comm.coll.node.borrow_mut(), Membership::None);
        if let Some(place) = left.place() {
            place.seat.leave();
        }
        let found = left.found();
        if let Membership::Joining(joining) = left {
            // What the others have to tell may still arrive there.
            mem::forget(joining);
        }
        if let Some(memory) = found {
            self.collectives().boards.borrow_mut().leave(memory);
        }
    }
}

impl Membership {
    /// What a call comes to that has no board.
    #[cold]
    pub(super) fn outside(&self) -> Result<bool> {
        match self {
            Membership::Failed(_, error) => {
                let text = format!(
                    "an earlier collective on the communicator failed ({error}): free it, and make \
                     another one"
                );
                let error = Error::new(error.kind(), text);
                Err(error)
            }
            _ => Ok(false),
        }
    }

    /// A member gave up: this one uses the board no more, and says so. Before there is one it
    /// will not help to make it, as it may have counted other calls than the others.
    #[cold]
    pub(super) fn fail(&mut self, error: &Error) {
        *self = match mem::take(self) {
            Membership::Unknown => Membership::Failed(None, error.clone()),
            Membership::Member(place) => {
                place.seat.fail();
                Membership::Failed(Some(place), error.clone())
            }
            other => other,
        };
    }

    /// Says on the board how far this member is: who waits there for it in vain sees it.
    #[cold]
    pub(super) fn tell(&mut self) {
        if let Membership::Member(place) = self {
            let Place { member, seat, .. } = &mut **place;
            member.tell(&mut seat.view());
        }
    }

    /// Whether there is a board, or cannot be one.
    #[inline]
    fn is_settled(&self) -> bool {
        !matches!(self, Membership::Unknown | Membership::Joining(_))
    }

    /// Goes on making the board; whether it is there, or cannot be. Collective.
    #[cold]
    pub(super) fn join(&mut self, process: &Process, comm: &Arc<Comm>) -> Result<bool> {
        if let Membership::Unknown = self {
            *self = match process.begin_joining(comm)? {
                Some(joining) => Membership::Joining(Box::new(joining)),
                None => Membership::None,
            };
        }
        if let Membership::Joining(joining) = self {
            *self = match joining.advance(process, comm) {
                Ok(Joined::Pending) => return Ok(false),
                Ok(Joined::Nowhere) => Membership::None,
                Ok(Joined::At(place)) => Membership::Member(place),
                Err(error) => {
                    let place = match mem::take(self) {
                        Membership::Joining(joining) => joining.place(),
                        _ => None,
                    };
                    *self = Membership::Failed(place, error.clone());
                    return Err(error);
                }
            };
        }
        Ok(true)
    }

    /// The place on a board that can be used, or could.
    fn place(&self) -> Option<&Place> {
        match self {
            Membership::Member(place) => Some(place),
            Membership::Failed(place, _) => place.as_deref(),
            Membership::Unknown | Membership::Joining(_) | Membership::None => None,
        }
    }

    /// The memory of the board, if this process has found it.
    fn found(&self) -> Option<BoardMemory> {
        match self {
            Membership::Joining(joining) => joining.found(),
            _ => self.place()?.found,
        }
    }

    /// Blocking calls that the board has seen.
    pub(super) fn calls(&self) -> u32 {
        self.place().map_or(0, Place::calls)
    }
}

impl Place {
    /// The one of a member that has begun an operation: to meet there. `found` is the memory of the
    /// board if this process has found it.
    pub(super) fn new(member: Member, seat: Seat, found: Option<BoardMemory>) -> Self {
        let beside = 1;
        Place {
            member,
            seat,
            beside,
            found,
        }
    }

    /// Blocking calls. All others have numbers of their own (`tag`).
    fn calls(&self) -> u32 {
        (self.member.started() as u32).wrapping_sub(self.beside)
    }

    /// Begins an operation that blocks nobody, if it can run here.
    pub(super) fn start(&mut self, call: &Key<'_>, comm: &Comm, detail: u32) -> Option<Op> {
        let kind = self.member.choose(Some(call.what), &call.args(comm))?;
        self.beside = self.beside.wrapping_add(1);
        Some(self.member.start(kind, detail | STARTED))
    }
}

/// What a record says of a call.
fn signature(meta: Meta) -> CallSignature {
    CallSignature {
        label: Label {
            what: meta.what(),
            detail: meta.detail & !STARTED,
        },
        bytes: meta.bytes.into(),
        on_board: meta.detail & STARTED == 0,
        is_persistent: false,
        is_idle: false,
    }
}

#[cold]
pub(super) fn explain(comm: &Comm, trouble: &Trouble) -> Error {
    let kind = match trouble {
        Trouble::NoMemory(bytes) => return no_memory(*bytes),
        Trouble::Mismatch(it) if it.me != comm.rank => {
            let (theirs, others) = (signature(it.theirs).label, signature(it.mine).label);
            return different(&format!(
                "rank {} called {theirs}, and rank {} called {others}",
                it.rank, it.me
            ));
        }
        Trouble::Mismatch(it) => {
            let who = format!("rank {}", it.rank);
            let differs = signature(it.mine).differs(comm, &who, signature(it.theirs));
            return differs.unwrap_or_else(|| different(&it.to_string()));
        }
        Trouble::Skipped(Skipped { rank, me, mine }) => {
            let call = signature(*mine).label;
            return skipped(*me, call, &format!("rank {rank}"));
        }
        Trouble::Failed(_) | Trouble::Parted { .. } => Kind::Other,
        Trouble::Refused(Refused { errno, .. }) if *errno == libc::ESRCH => Kind::ProcAborted,
        Trouble::Refused(_) => Kind::Buffer,
    };
    let remedy = match trouble {
        Trouble::Refused(_) => {
            "; if it is memory that no process can share, set CATENA_COLL_DIRECT=unlimited"
        }
        _ => "",
    };
    Error::new(kind, format!("{trouble}{remedy}"))
}
