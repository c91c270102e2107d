//! Collectives among ranks that share memory: no messages.

use crate::needs;
use catena_hang::{WaitsFor, What};
use catena_process::Wait;
use std::cell::RefMut;
use std::mem;
use std::ptr;
use std::sync::Arc;

use catena_base::wait::yield_core;
use catena_board::{Member, ROUNDS, Rounds, View};
use catena_coll::{Args, Collective};

use super::force::{COLL_NODE, COLL_NODE_STARTED, allows_board};
use super::membership::{BoardMembership, Membership};
use super::pending::{Ended, PendingOperation};
use super::prepared::Prepared;
use super::signature::CallSignature;
use super::tag::Label;
use crate::comm::Comm;
use crate::process::{Process, is_running, life, not_running};
use catena_objects::callback::is_inside;
use catena_objects::error::{Error, Result};
use catena_objects::op::Reducer;

/// Looks for a record before anything else is done, with a core of one's own:
/// for about two microseconds.
const LOOKS: u32 = 2000;

/// The buffers of a member that has none.
const NO_ENDS: (*mut u8, *mut u8) = (ptr::null_mut(), ptr::null_mut());

/// Whether an operation that does not block may seek the board of its communicator; alike for all
/// members.
pub(super) fn may_seek_board(prepared: &Prepared) -> bool {
    let (comm, what) = (&prepared.comm, prepared.label.what);
    let may = COLL_NODE_STARTED.get() && !comm.is_inter() && comm.size() > 1;
    may && what.map_or_else(|| COLL_NODE.get(), allows_board)
}

/// A collective call on a board, which is waited for.
struct OnBoard<'a, 'b, 'c> {
    comm: &'a Arc<Comm>,
    pending: &'a mut PendingOperation,
    member: &'a mut Member,
    args: &'a Args<'b>,
    board: &'a mut View<'c>,
    ended: Option<Ended>,
}

impl Wait<Process> for OnBoard<'_, '_, '_> {
    fn is_done(&mut self, process: &Process) -> bool {
        self.ended = self
            .pending
            .advance(process, self.comm, self.member, self.args, self.board);
        self.ended.is_some()
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        self.pending.describe(process, self.comm, waits);
    }
}

impl Comm {
    /// Runs an operation of several members on the board of the communicator,
    /// if it can be; `ends` are the buffers, or why there is no memory
    /// for them, and what it is says `say`. False if nothing happened.
    #[inline(always)]
    pub(super) fn run_on_board(
        self: &Arc<Self>,
        process: &Process,
        label: Label,
        args: &Args<'_>,
        ends: std::result::Result<(*mut u8, *mut u8), &Error>,
        reducer: Option<&Reducer>,
        say: &dyn Fn() -> CallSignature,
    ) -> Result<bool> {
        let mut membership = match self.coll.node.try_borrow_mut() {
            Ok(membership) => membership,
            Err(_) => match self.await_place(process)? {
                Some(membership) => membership,
                None => return Ok(false),
            },
        };
        while !membership.is_settled() || self.coll.queued.get() != 0 {
            drop(membership);
            self.settle_board(process)?;
            membership = match self.await_place(process)? {
                Some(membership) => membership,
                None => return Ok(false),
            };
        }
        let Membership::Member(place) = &mut *membership else {
            return membership.outside();
        };
        let BoardMembership {
            member,
            seat,
            beside,
            ..
        } = &mut **place;
        let Some(kind) = member.choose(label.what, args) else {
            return Ok(false);
        };
        // SAFETY: the program lends the buffers that it names until the call returns, or fails when
        // nobody uses them any more.
        let mut board = unsafe { seat.view_with(ends.unwrap_or(NO_ENDS), reducer) };
        board.looks = if process.engine.oversubscribed {
            1
        } else {
            LOOKS
        };
        let mut op = member.start(kind, label.called());
        let met = match ends {
            Ok(_) => match op.poll(member, args, &mut board) {
                Ok(true) => return Ok(true),
                open => open.err(),
            },
            Err(_) => None,
        };
        let before = (member.started() as u32).wrapping_sub(*beside + 1);
        let place = self.coll.place(before);
        let ended = self.finish_on_board(
            process,
            member,
            (
                PendingOperation::new(op, place, say().in_this_call())
                    .met(met)
                    .without(ends.err().cloned()),
                reducer.is_some_and(Reducer::is_foreign),
            ),
            args,
            &mut board,
        );
        if let Ended::Failed(error) = &ended {
            membership.fail(error);
            self.note_end(process, error);
        }
        ended.result().map(|()| true)
    }

    /// A blocking call of this member, which has nothing for others and gets nothing, passes at
    /// once, as far as others can tell: it has its place among the calls, and is remembered. False
    /// if nothing happened, as members meet on the board, or may: then each has to say that it has
    /// nothing.
    #[inline(always)]
    pub(super) fn passes(self: &Arc<Self>, process: &Process, what: Collective) -> Result<bool> {
        let label = Label::of(what as u32, 0);
        match self.size() {
            1 if allows_board(what) => self.check_whole(process)?,
            // The other one has nothing either.
            2 => {
                self.check_whole(process)?;
                self.coll.note_void(CallSignature::void(label));
            }
            _ => return self.passes_by_messages(process, label),
        }
        Ok(true)
    }

    /// As `passes`, where members meet on the board: there this one says that it has nothing, which
    /// takes no tables of lengths.
    #[inline(never)]
    pub(super) fn passes_on_board(
        self: &Arc<Self>,
        process: &Process,
        what: Collective,
    ) -> Result<bool> {
        if !allows_board(what) {
            return Ok(false);
        }
        let label = Label::of(what as u32, 0);
        let say = || CallSignature {
            is_idle: false,
            ..CallSignature::void(label)
        };
        let args = Args::new(self.size(), self.rank);
        self.run_on_board(process, label, &args, Ok(NO_ENDS), None, &say)
    }

    /// A call `passes`, where others may have something for each other.
    #[inline(never)]
    fn passes_by_messages(self: &Arc<Self>, process: &Process, label: Label) -> Result<bool> {
        let by_messages = || {
            let Ok(membership) = self.coll.node.try_borrow() else {
                return false;
            };
            match &*membership {
                Membership::None => true,
                Membership::Member(place) => {
                    let args = Args::new(self.size(), self.rank);
                    place.member.choose(label.what, &args).is_none()
                }
                Membership::Unknown | Membership::Joining(_) | Membership::Failed(..) => false,
            }
        };
        let Some(what) = label.what.filter(|_| self.size() > 1) else {
            return Ok(false);
        };
        if allows_board(what) && (self.coll.queued.get() != 0 || !by_messages()) {
            return Ok(false);
        }
        self.check_whole(process)?;
        let lease = self.take_turn(label);
        let signature = CallSignature {
            on_board: false,
            ..CallSignature::void(label)
        };
        self.coll.note(lease.turn().place, signature);
        Ok(true)
    }

    /// Waits until an operation is complete.
    #[inline(never)]
    fn finish_on_board(
        self: &Arc<Self>,
        process: &Process,
        member: &mut Member,
        (mut pending, foreign): (PendingOperation, bool),
        args: &Args<'_>,
        board: &mut View<'_>,
    ) -> Ended {
        board.looks = 1;
        let mut wait = OnBoard {
            comm: self,
            pending: &mut pending,
            member,
            args,
            board,
            ended: None,
        };
        process.wait_on(foreign, &mut wait);
        wait.ended.unwrap_or(Ended::Well)
    }

    /// Waits until the communicator has a board, or cannot have one, and until the operations
    /// before this one have left it.
    #[cold]
    #[inline(never)]
    fn settle_board(self: &Arc<Self>, process: &Process) -> Result<()> {
        let mut settled = Ok(false);
        process.block(
            |process, waits| self.describe_join(process, waits),
            |process| {
                if self.coll.queued.get() == 0
                    && let Ok(mut membership) = self.coll.node.try_borrow_mut()
                {
                    settled = membership.join(process, self);
                }
                !matches!(settled, Ok(false))
            },
        );
        settled.map(|_| ())
    }
}

impl Prepared {
    /// Whether an operation that blocks nobody seeks the board of its communicator, which is
    /// made at the first. All members answer alike.
    ///
    /// # Errors
    /// If the board is of no more use.
    pub(super) fn seeks_board(&self, process: &Process) -> Result<bool> {
        let comm = &self.comm;
        if !may_seek_board(self) || self.is_near() && comm.edges_at_once()?.is_none() {
            return Ok(false);
        }
        let Ok(mut membership) = comm.coll.node.try_borrow_mut() else {
            // It has one: another thread is in a callback of an operation there, and this one waits
            // in the queue.
            return Ok(true);
        };
        membership.join(process, comm)?;
        match &mut *membership {
            Membership::Member(_) | Membership::Joining(_) => Ok(true),
            other => other.outside(),
        }
    }

    /// The rounds of a persistent barrier, if it counts them on the board of its communicator,
    /// which is made at the first. All members answer alike. Collective.
    ///
    /// # Errors
    /// If the board cannot be made, or is of no more use.
    pub(super) fn rounds(&self, process: &Process) -> Result<Option<Rounds>> {
        let (comm, barriers) = (&self.comm, &self.comm.coll.barriers);
        let is_barrier = self.label.what == Some(Collective::Barrier);
        if !is_barrier || !may_seek_board(self) || barriers.get() == ROUNDS {
            return Ok(None);
        }
        comm.join_board(process)?;
        let Some(membership) = comm.await_place(process)? else {
            return Ok(None);
        };
        let Membership::Member(place) = &*membership else {
            return membership.outside().map(|_| None);
        };
        if !place.member.is_flat() {
            return Ok(None);
        }
        let number = barriers.replace(barriers.get() + 1);
        comm.keep_board();
        Ok(Some(place.seat.rounds(number)))
    }
}

impl Comm {
    /// Waits until the communicator has a board, or cannot have one. Collective.
    ///
    /// # Errors
    /// If the board cannot be made.
    pub(super) fn join_board(self: &Arc<Self>, process: &Process) -> Result<()> {
        let mut settled = Ok(false);
        process.block(
            |process, waits| self.describe_join(process, waits),
            |process| {
                if let Ok(mut membership) = self.coll.node.try_borrow_mut() {
                    settled = membership.join(process, self);
                }
                !matches!(settled, Ok(false))
            },
        );
        settled.map(|_| ())
    }

    /// All members are to come to the call by which they learn whether they have a board.
    fn describe_join(&self, process: &Process, waits: &mut WaitsFor) {
        let need = needs::of_all(process, What::Collective, self);
        waits.needs.push(need);
    }

    /// A persistent barrier that counted rounds on the board is gone.
    pub(super) fn leave_rounds(&self, process: &Process) {
        self.release_board(process);
    }

    /// The place of this member on the board, once no other thread has it: one that is in a
    /// collective on the communicator, which is against the rules, or carries one on. `None` in a
    /// function of the program that was called for such a collective, which is against the rules,
    /// too.
    #[cold]
    #[inline(never)]
    pub(super) fn await_place<'c>(
        &'c self,
        process: &Process,
    ) -> Result<Option<RefMut<'c, Membership>>> {
        loop {
            if let Ok(membership) = self.coll.node.try_borrow_mut() {
                return Ok(Some(membership));
            }
            if is_inside() || !process.threads.are_many() {
                return Ok(None);
            }
            if !is_running() {
                return Err(not_running());
            }
            life().lock().released(yield_core);
        }
    }

    /// The communicator was freed: this member looks at the board no more, when nothing of it is
    /// under way there.
    pub(crate) fn leave_board(&self, process: &Process) {
        self.coll.is_free.set(true);
        self.leave_freed(process);
    }

    /// Leaves the board if the communicator was freed, and nothing is under way there any more, nor
    /// may be.
    pub(crate) fn leave_freed(&self, process: &Process) {
        let coll = &self.coll;
        if !coll.is_free.get() || coll.queued.get() != 0 || coll.counting.get() != 0 {
            return;
        }
        let Ok(mut membership) = self.coll.node.try_borrow_mut() else {
            // A thread is in a collective on it, against the rules. The memory stays with the
            // process.
            return;
        };
        let left = mem::replace(&mut *membership, Membership::None);
        drop(membership);
        if let Some(place) = left.place() {
            place.seat.leave();
        }
        let found = left.found();
        if let Membership::Joining(joining) = left {
            // What the others have to tell may still arrive there.
            mem::forget(joining);
        }
        if let Some(memory) = found {
            process.collectives().boards.borrow_mut().leave(memory);
        }
    }
}
