//! Collectives among ranks that share memory: no messages.

use std::cell::RefMut;
use std::mem;
use std::sync::Arc;

use catena_base::wait::yield_core;
use catena_board::{Member, View};
use catena_coll::{Args, Collective};

use super::force::{COLL_NODE_STARTED, allows_board};
use super::membership::{Membership, Place};
use super::pending::PendingOperation;
use super::prepared::Prepared;
use super::signature::CallSignature;
use crate::comm::Comm;
use crate::process::{Process, life};
use catena_objects::error::Result;
use catena_objects::op::Reducer;

/// Looks for a record before anything else is done, with a core of one's own:
/// for about two microseconds.
const LOOKS: u32 = 2000;

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
