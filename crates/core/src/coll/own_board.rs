//! A board of one persistent operation.
//!
//! Members may start their persistent operations in any order (MPI-5, chapter 6.13), and other
//! collectives in between, so these cannot have the board of their communicator one after the
//! other. Each gets a board of its own when it is made, as long as there is room for that: all that
//! is ever done there is that operation, again and again, each time after it was completed.
//! Starting it is that board's operation with arguments that were checked; nothing waits for
//! anything else.
//!
//! An operation that is not complete at once, and of which others may still need something, is
//! carried on by `progress`; others only by who waits for them.

use std::mem;
use std::sync::Arc;

use catena_base::slab::Key;
use catena_board::{BoardMemory, BoardUse, Member, Op, OpKind, Seat, Trouble, View};
use catena_coll::neighbor::Edges;
use catena_coll::{Args, Collective};
use catena_objects::error::{Error, Result};
use catena_objects::op::Reducer;

use super::membership::Membership;
use super::node::may_seek_board;
use super::pending::{Ended, PendingOperation};
use super::prepared::{Caller, Prepared};
use super::schedules::Recipe;
use super::signature::CallSignature;
use super::tag::Label;
use crate::comm::Comm;
use crate::process::Process;

/// Bytes of all blocks up to which payloads are short.
const SHORT: usize = 1 << 10;

/// In what rank 0 tells: long blocks pass through the ring at first.
const RING: u64 = 1 << 62;

/// The board of a persistent operation.
#[derive(Debug)]
pub(super) struct OwnBoard {
    member: Member,
    seat: Seat,
    kind: OpKind,
    args: KeptArgs,
    /// The memory of the board, if this process has found it.
    found: Option<BoardMemory>,
    /// Why it is of no more use.
    failed: Option<Error>,
    /// What is said of the operation.
    pub(super) signature: CallSignature,
    /// Where it waits among the queues that progress serves, if it is carried on.
    pub(super) queue: Option<Key>,
}

/// The arguments of a persistent operation, made once.
#[derive(Debug)]
struct KeptArgs {
    args: Args<'static>,
    /// What they refer to.
    _near: Option<Box<Edges<'static>>>,
    _recipe: Arc<Recipe>,
    _comm: Arc<Comm>,
}

impl KeptArgs {
    fn new(prepared: &Prepared) -> Self {
        let (comm, recipe) = (prepared.comm.clone(), prepared.recipe.clone());
        let edges = comm.coll.edges.get().and_then(Option::as_ref);
        let near = edges.filter(|_| prepared.is_near());
        let near = near.map(|edges| Box::new(edges.near(recipe.key().what)));
        // SAFETY: edges that are known stay where they are as long as their communicator, which
        // this keeps.
        let near: Option<Box<Edges<'static>>> = unsafe { mem::transmute(near) };
        let args = Args {
            near: near.as_deref(),
            turned: prepared.turned,
            ..recipe.key().args(comm.size(), comm.rank)
        };
        // SAFETY: the tables of a recipe stay where they are as long as it, which this keeps, as it
        // does the edges; nobody else sees the arguments without it.
        let args: Args<'static> = unsafe { mem::transmute(args) };
        KeptArgs {
            args,
            _near: near,
            _recipe: recipe,
            _comm: comm,
        }
    }
}

/// The buffers of an operation, and what combines elements if it reduces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands<'a> {
    pub(super) ends: (*mut u8, *mut u8),
    pub(super) reducer: Option<&'a Reducer>,
}

impl OwnBoard {
    /// Begins the operation, which was completed before; what is left of it, if it is not complete,
    /// and what went wrong.
    #[inline]
    pub(super) fn start(
        &mut self,
        label: Label,
        operands: Operands<'_>,
    ) -> Option<(Op, Option<Trouble>)> {
        let mut op = self.member.start(self.kind, label.called());
        match self.with_board(operands, |member, args, board| op.poll(member, args, board)) {
            Ok(true) => None,
            open => Some((op, open.err())),
        }
    }

    /// Begins it, and looks at nothing yet.
    #[cold]
    pub(super) fn start_unseen(&mut self, label: Label) -> Op {
        self.member.start(self.kind, label.called())
    }

    /// Goes on with it; says how it ended once it has.
    pub(super) fn advance(
        &mut self,
        process: &Process,
        comm: &Arc<Comm>,
        operands: Operands<'_>,
        pending: &mut PendingOperation,
    ) -> Option<Ended> {
        self.with_board(operands, |member, args, board| {
            pending.advance(process, comm, member, args, board)
        })
    }

    #[inline(always)]
    fn with_board<T>(
        &mut self,
        Operands { ends, reducer }: Operands<'_>,
        f: impl FnOnce(&mut Member, &Args<'_>, &mut View<'_>) -> T,
    ) -> T {
        // SAFETY: the program lends the buffers of an operation until that is complete.
        let mut board = unsafe { self.seat.view_with(ends, reducer) };
        f(&mut self.member, &self.args.args, &mut board)
    }

    /// Why it is of no more use.
    #[inline]
    pub(super) fn failure(&self) -> Option<&Error> {
        self.failed.as_ref()
    }

    /// This member starts the operation no more, and says so.
    #[cold]
    pub(super) fn fail(&mut self, error: &Error) {
        self.seat.fail();
        self.failed.get_or_insert_with(|| error.clone());
    }
}

impl Prepared {
    /// A board for a persistent operation, if it can run on one and there is room. All members
    /// answer alike. Collective.
    ///
    /// # Errors
    /// If the board of the communicator cannot be made, or is of no more use.
    pub(super) fn own_board(&self, process: &Process) -> Result<Option<Box<OwnBoard>>> {
        let comm = &self.comm;
        if !may_seek_board(self) || self.is_near() && comm.edges(process)?.is_none() {
            return Ok(None);
        }
        let choose = |member: &Member| self.with_args(|args| member.choose(self.label.what, args));
        comm.join_board(process)?;
        let ring = {
            let Some(membership) = comm.await_place(process)? else {
                return Ok(None);
            };
            let Membership::Member(place) = &*membership else {
                return membership.outside().map(|_| None);
            };
            if choose(&place.member).is_none() {
                return Ok(None);
            }
            place.member.prefers_ring()
        };
        let shape = comm.board_shape(process);
        let mut told = vec![0; comm.size() as usize];
        if comm.rank == 0 {
            let of = BoardUse::One {
                is_short: is_short(self),
            };
            told[0] = process.collectives().find_board(process, shape, of).0
                | if ring { RING } else { 0 };
        }
        let caller = Caller { process, now: true };
        let call = caller.tell_all(comm, &mut told, self.label.keeping());
        let told = Prepared::finished(process, call, told)?[0];
        let Some(memory) = process
            .collectives()
            .open_board(process, told & !RING, shape)
        else {
            return Ok(None);
        };
        let found = (comm.rank == 0).then(|| memory.clone());
        let Some(membership) = comm.await_place(process)? else {
            return Ok(None);
        };
        let Membership::Member(place) = &*membership else {
            return membership.outside().map(|_| None);
        };
        let limits = memory.limits(usize::MAX);
        let crowded = process.engine.oversubscribed;
        let mut member = Member::new(comm.rank, comm.size(), crowded, limits);
        member.reach(place.member.reaches(), told & RING != 0);
        let seat = place.seat.at(&memory);
        let Some(kind) = choose(&member) else {
            leave_own_board(process, &seat, found);
            return Ok(None);
        };
        Ok(Some(Box::new(OwnBoard {
            member,
            seat,
            kind,
            args: KeptArgs::new(self),
            found,
            failed: None,
            signature: CallSignature {
                is_idle: false,
                is_persistent: true,
                ..self.signature()
            },
            queue: None,
        })))
    }
}

impl OwnBoard {
    /// A persistent operation is gone, and with it its board.
    pub(super) fn leave(&self, process: &Process) {
        leave_own_board(process, &self.seat, self.found.clone());
    }
}

fn leave_own_board(process: &Process, seat: &Seat, found: Option<BoardMemory>) {
    seat.leave();
    if let Some(memory) = found {
        process.collectives().boards.borrow_mut().leave(memory);
    }
}

/// Whether payloads are short, as far as that is known.
fn is_short(prepared: &Prepared) -> bool {
    let key = prepared.recipe.key();
    let is_known = !key.neighbors
        && !matches!(
            key.what,
            Collective::Gatherv
                | Collective::Scatterv
                | Collective::Allgatherv
                | Collective::Alltoallv
                | Collective::ReduceScatter
        );
    is_known && key.bytes.saturating_mul(prepared.comm.size() as usize) <= SHORT
}
