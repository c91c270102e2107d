//! Blocking collectives among ranks that share memory: no plan, no messages.

use std::cell::RefMut;
use std::mem;
use std::ptr;
use std::sync::Arc;

use catena_base::wait::yield_core;
use catena_coll::node::{Meta, Node, Op, Refused, Skipped, Trouble};
use catena_coll::{Args, Collective};
use catena_fabric::Peer;
use catena_shm::{Bell, Neighbour};

use super::aside::Waiting;
use super::board::{Area, Seat, Shape, View};
use super::force::direct_from;
use super::patience::Patience;
use super::said::{Said, different, skipped};
use super::tag::{Label, Number};
use crate::comm::Comm;
use crate::error::{Error, Kind, Result, no_memory};
use crate::op::Reducer;
use crate::routes::Route;
use crate::world::{LOCK, World};

/// A communicator's place on a board.
#[derive(Debug, Default)]
pub enum Membership {
    /// No blocking collective was called yet.
    #[default]
    Unknown,
    /// Members are on several nodes, or there was no memory for a board.
    None,
    /// The board and how far this member is.
    Member(Box<Place>),
    /// A member gave up, so the board is of no more use; what went wrong.
    Failed(Box<Place>, Error),
}

/// A member's place on its board, and how far it is.
#[derive(Debug)]
pub struct Place {
    node: Node,
    seat: Seat,
}

/// Looks for a record before anything else is done, with a core of one's own:
/// for about two microseconds.
const LOOKS: u32 = 2000;

/// A board that this process, its first member, made and has left.
#[derive(Clone, Copy, Debug)]
pub struct Retired {
    area: Area,
    offset: u64,
    shape: Shape,
}

impl World {
    /// Runs an operation of several members on the board of the communicator,
    /// if it can be; `detail` is that of its label, `ends` are the buffers, and
    /// what it is says `say`. False if nothing happened.
    #[inline(always)]
    pub(super) fn run_on_board(
        &self,
        comm: &Arc<Comm>,
        (what, detail): (Collective, u32),
        args: &Args<'_>,
        ends: (*mut u8, *mut u8),
        reducer: Option<&Reducer>,
        say: &dyn Fn() -> Said,
    ) -> Result<bool> {
        let mut membership = match comm.coll.node.try_borrow_mut() {
            Ok(membership) => membership,
            Err(_) => match self.await_place(comm) {
                Some(membership) => membership,
                None => return Ok(false),
            },
        };
        if let Membership::Unknown = *membership {
            *membership = self.join_board(comm)?;
        }
        let Membership::Member(place) = &mut *membership else {
            return membership.outside();
        };
        let Place { node, seat } = &mut **place;
        let Some(kind) = node.choose(what, args) else {
            return Ok(false);
        };
        let mut board = View {
            seat,
            ends,
            reducer,
            looks: if self.oversubscribed { 1 } else { LOOKS },
            awaits: None,
        };
        let mut op = node.start(kind, detail);
        let outcome = match op.poll(node, args, &mut board) {
            Ok(true) => return Ok(true),
            Ok(false) => self.finish_on_board(comm, node, &mut op, args, &mut board, say),
            Err(trouble) => Err(self.give_up(comm, node, &mut op, args, &mut board, &trouble)),
        };
        if let Err(error) = &outcome {
            membership.fail(error);
        }
        outcome
    }

    /// Another thread is in a collective on this communicator, which is against
    /// the rules, or this is a user operation's own call; then `None`.
    #[cold]
    #[inline(never)]
    fn await_place<'c>(&self, comm: &'c Comm) -> Option<RefMut<'c, Membership>> {
        while self.threads.get() {
            LOCK.released(yield_core);
            if let Ok(membership) = comm.coll.node.try_borrow_mut() {
                return Some(membership);
            }
        }
        None
    }

    /// Waits until an operation is complete.
    #[inline(never)]
    fn finish_on_board(
        &self,
        comm: &Arc<Comm>,
        node: &mut Node,
        op: &mut Op,
        args: &Args<'_>,
        board: &mut View<'_>,
        say: &dyn Fn() -> Said,
    ) -> Result<bool> {
        board.looks = 1;
        op.suspect();
        let (mut outcome, mut told) = (Ok(false), None);
        let mut patience = Patience::default();
        self.block(|w| {
            outcome = op.poll(node, args, board);
            if !matches!(outcome, Ok(false)) {
                return true;
            }
            if patience.polled(false) {
                let call = waiting(comm, node, Some(say()));
                told = w.look_from_board(&call, board.awaits, &mut patience);
            }
            told.is_some()
        });
        match (outcome, told) {
            (_, Some(error)) => Err(self.let_go(comm, node, op, args, board, error)),
            (Err(trouble), None) => Err(self.give_up(comm, node, op, args, board, &trouble)),
            (Ok(done), None) => Ok(done),
        }
    }

    /// Nothing has come for a while: perhaps a member called something else, or
    /// gave up.
    #[cold]
    #[inline(never)]
    fn look_from_board(
        &self,
        call: &Waiting<'_>,
        awaited: Option<u32>,
        patience: &mut Patience,
    ) -> Option<Error> {
        if let Some(error) = call.comm.coll.lost.take() {
            return Some(error);
        }
        if patience.look(self.unexpected(call.comm))
            && let Some(error) = self.heard(call, patience)
        {
            return Some(error);
        }
        if patience.is_long() {
            let cid = call.comm.cid;
            self.inquire(call, awaited.map(|rank| (cid, rank)).into_iter());
        }
        None
    }

    /// Ends an operation that went wrong here; the others are told.
    #[cold]
    #[inline(never)]
    fn give_up(
        &self,
        comm: &Arc<Comm>,
        node: &mut Node,
        op: &mut Op,
        args: &Args<'_>,
        board: &mut View<'_>,
        trouble: &Trouble,
    ) -> Error {
        if let Trouble::Failed(_) = trouble {
            let call = waiting(comm, node, None);
            let (mut told, mut patience) = (None, Patience::default());
            self.block(|w| {
                if patience.look(w.unexpected(comm)) {
                    told = w.heard(&call, &mut patience);
                }
                told.is_some()
            });
            let error = told.expect("who gives up says so first");
            return self.let_go(comm, node, op, args, board, error);
        }
        let error = explain(comm, trouble).on(comm.handle.get());
        if error.kind() == Kind::ProcAborted {
            // The job ends; that process would never say that it is done.
            return error;
        }
        self.report(comm, place(comm, node), error.text());
        self.leave_op(node, op, args, board);
        error
    }

    /// Ends an operation that can never be complete, as the others know.
    #[cold]
    fn let_go(
        &self,
        comm: &Arc<Comm>,
        node: &mut Node,
        op: &mut Op,
        args: &Args<'_>,
        board: &mut View<'_>,
        error: Error,
    ) -> Error {
        self.leave_op(node, op, args, board);
        error.on(comm.handle.get())
    }

    /// Gives an operation up and waits until nobody uses the program's buffers.
    fn leave_op(&self, node: &mut Node, op: &mut Op, args: &Args<'_>, board: &mut View<'_>) {
        op.give_up();
        board.seat.area.fail(board.seat.rank);
        board.ring(None);
        self.block(|_| matches!(op.poll(node, args, board), Ok(true)));
    }

    /// Makes the board: rank 0 finds the memory and tells the others.
    /// Collective.
    #[cold]
    #[inline(never)]
    fn join_board(&self, comm: &Arc<Comm>) -> Result<Membership> {
        let routes = self.link().net();
        let near = |p: &_| matches!(routes.route(*p), Route::Shm | Route::Loopback);
        if !comm.group.members().iter().all(near) {
            return Ok(Membership::None);
        }
        let shape = Shape::new(comm.size(), self.oversubscribed);
        let offset = if comm.rank == 0 {
            self.find_board(shape)
        } else {
            None
        };
        let all = self.share(comm, &offset.unwrap_or(u64::MAX).to_ne_bytes())?;
        let first = *all.first_chunk::<8>().expect("rank 0 told its offset");
        let offset = u64::from_ne_bytes(first);
        let base = routes
            .shm_mut()
            .and_then(|s| s.board(offset, shape.bytes()));
        let Some(base) = base else {
            return Ok(Membership::None);
        };
        let neighbours = self.neighbours(comm)?;
        // SAFETY: the transport vouches for an aligned range that stays mapped
        // while the process runs.
        let area = unsafe { Area::new(base, shape) };
        if comm.rank == 0 {
            self.boards.borrow_mut().push((
                comm.cid,
                Retired {
                    area,
                    offset,
                    shape,
                },
            ));
        }
        let direct = if neighbours.is_empty() {
            usize::MAX
        } else {
            direct_from()
        };
        let node = Node::new(
            comm.rank,
            comm.size(),
            self.oversubscribed,
            shape.limits(direct),
        );
        let shm = routes.shm();
        let others = comm.group.members().iter().filter(|&&p| p != self.me);
        // SAFETY: the transport lives in the world, which is never dropped.
        let bells = shm.map(|s| others.map(|&p| unsafe { s.bell(p) }).collect());
        let seat = Seat::new(area, comm.rank, bells.unwrap_or_default(), neighbours);
        Ok(Membership::Member(Box::new(Place { node, seat })))
    }

    /// The processes of all members, but for this one, if every member can read
    /// the memory of every other one; else nothing. Collective; all members
    /// have attached.
    fn neighbours(&self, comm: &Arc<Comm>) -> Result<Box<[Option<Neighbour>]>> {
        let mut shm = self.link().net().shm_mut();
        let mut find = |&p: &Peer| shm.as_mut().and_then(|s| s.neighbour(p));
        let members = comm.group.members().iter();
        let found: Box<[_]> = members
            .map(|p| if *p == self.me { None } else { find(p) })
            .collect();
        let missing = found.iter().filter(|n| n.is_none()).count();
        let all = self.share(comm, &[u8::from(missing == 1)])?;
        let good = all.iter().all(|&yes| yes == 1);
        Ok(if good { found } else { Box::default() })
    }

    /// Memory for a board, after what deserted ones had is given back.
    fn find_board(&self, shape: Shape) -> Option<u64> {
        let shm = self.link().net().shm_mut()?;
        self.retired.borrow_mut().retain(|r| {
            let deserted = r.area.is_deserted();
            if deserted {
                shm.board_free(r.offset, r.shape.bytes());
            }
            !deserted
        });
        shm.board_alloc(shape.bytes())
    }

    /// This member looks at the board no more.
    pub(crate) fn leave_board(&self, comm: &Comm) {
        let left = mem::replace(&mut *comm.coll.node.borrow_mut(), Membership::None);
        if let Membership::Member(place) | Membership::Failed(place, _) = left {
            place.seat.area.leave(comm.rank);
        }
        let mut boards = self.boards.borrow_mut();
        if let Some(at) = boards.iter().position(|(cid, _)| *cid == comm.cid) {
            self.retired.borrow_mut().push(boards.swap_remove(at).1);
        }
    }
}

impl Membership {
    /// What a call comes to that has no board.
    #[cold]
    fn outside(&self) -> Result<bool> {
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

    /// A member gave up: this one uses the board no more, and says so.
    #[cold]
    pub(super) fn fail(&mut self, error: &Error) {
        if let Membership::Member(place) = self {
            place.seat.area.fail(place.seat.rank);
            place.seat.bells.iter().for_each(Bell::ring);
            if let Membership::Member(place) = mem::take(self) {
                *self = Membership::Failed(place, error.clone());
            }
        }
    }

    /// Says on the board how far this member is: who waits there for it in vain sees it.
    #[cold]
    pub(super) fn tell(&mut self) {
        if let Membership::Member(place) = self {
            let Place { node, seat } = &mut **place;
            node.tell(&mut View {
                seat,
                ends: (ptr::null_mut(), ptr::null_mut()),
                reducer: None,
                looks: 1,
                awaits: None,
            });
        }
    }

    /// Operations that the board has seen.
    pub(super) fn started(&self) -> u32 {
        match self {
            Membership::Member(place) | Membership::Failed(place, _) => place.node.started() as u32,
            Membership::Unknown | Membership::None => 0,
        }
    }
}

/// The place of the operation that runs on the board of a communicator.
fn place(comm: &Comm, node: &Node) -> Number {
    let before = node.started() as u32 - 1;
    Number {
        count: comm.coll.numbers.begun().wrapping_add(before),
        persistent: false,
    }
}

/// That operation, and what it says of itself.
fn waiting<'c>(comm: &'c Arc<Comm>, node: &Node, said: Option<Said>) -> Waiting<'c> {
    Waiting {
        comm,
        place: place(comm, node),
        said,
    }
}

/// What a record says of a call.
fn said(meta: Meta) -> Said {
    Said {
        label: Label {
            what: meta.what(),
            detail: meta.detail,
        },
        bytes: meta.bytes.into(),
        on_board: true,
        is_idle: false,
    }
}

#[cold]
fn explain(comm: &Comm, trouble: &Trouble) -> Error {
    let kind = match trouble {
        Trouble::NoMemory(bytes) => return no_memory(*bytes),
        Trouble::Mismatch(it) => {
            let who = format!("rank {}", it.rank);
            let differs = said(it.mine).differs(comm, &who, said(it.theirs));
            return differs.unwrap_or_else(|| different(&it.to_string()));
        }
        Trouble::Skipped(Skipped { rank, me, mine }) => {
            let call = said(*mine).label;
            return skipped(*me, call, &format!("rank {rank}"));
        }
        Trouble::Failed(_) => Kind::Other,
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
