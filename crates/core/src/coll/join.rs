//! The making of a board, which nobody need wait for.
//!
//! Rank 0 finds the memory and tells the others where, by messages. Then all say on the board
//! whether they reach the memory of all others: by then all have attached.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use catena_board::{
    BoardMemory, BoardOffset, BoardShape, BoardUse, COLL_WEIGH, Member, OpKind, Seat, direct_from,
};
use catena_coll::{Args, Layout};
use catena_fabric::Peer;
use catena_shm::{Neighbour, Shm};

use super::Collectives;
use super::carried::started;
use super::membership::{BoardMembership, BoardSetup, Membership};
use super::pending::PendingOperation;
use super::prepared::Caller;
use super::request::{CollRequest, own_run};
use super::signature::CallSignature;
use super::tag::Label;
use crate::comm::Comm;
use crate::process::Process;
use catena_objects::error::Result;

/// What members say on a new board, bits: that they reach the memory of all others, and weigh which
/// way long blocks go.
const REACHES: u8 = 1;
const WEIGHS: u8 = 2;

/// A board that is being made.
#[derive(Debug)]
pub struct Joining {
    shape: BoardShape,
    /// Its place among all calls on the communicator, and what is said of it; see `control`.
    place: u32,
    signature: CallSignature,
    /// Tells the offset that rank 0 has found.
    telling: Arc<CollRequest>,
    offsets: Box<[u64]>,
    /// The board, once it is known.
    meeting: Option<BoardHandshake>,
}

/// Members say on a new board whom they reach.
#[derive(Debug)]
struct BoardHandshake {
    place: Box<BoardMembership>,
    pending: PendingOperation,
    /// What each member says; behind them this process's word.
    words: Box<[u8]>,
}

/// What the making of a board has come to.
enum Joined {
    /// Others have not come so far.
    Pending,
    /// There is no memory.
    Nowhere,
    /// It can be used.
    At(Box<BoardMembership>),
}

impl Comm {
    /// Begins to make the board of a communicator; `None` if its members are on several nodes.
    /// Collective.
    #[cold]
    pub(super) fn begin_joining(self: &Arc<Self>, process: &Process) -> Result<Option<Joining>> {
        if !self.can_meet(process) {
            return Ok(None);
        }
        let shape = self.board_shape(process);
        let mut offsets = vec![BoardOffset::NOWHERE.0; self.size() as usize].into_boxed_slice();
        if self.rank == 0 {
            offsets[0] = process
                .collectives()
                .find_board(process, shape, BoardUse::All)
                .0;
        }
        let caller = Caller {
            process,
            now: false,
        };
        let mut prepared = caller
            .tell_all(self, &mut offsets, Label::FIRST)?
            .expect("only blocking calls run at once");
        prepared.function = catena_trace::current();
        let signature = prepared.signature();
        let mut telling = prepared.begin_own(process, false);
        let turn = own_run(&mut telling).job().map(|(_, turn)| *turn);
        Ok(Some(Joining {
            shape,
            place: turn.unwrap_or_default().place,
            signature,
            telling,
            offsets,
            meeting: None,
        }))
    }

    /// Whether all members share memory.
    pub(super) fn can_meet(&self, process: &Process) -> bool {
        process.link(|link| {
            let routes = link.net();
            // A board lies in the segment of the job.
            let near = |p| routes.shares_segment(p);
            self.group.members().all(near)
        })
    }

    /// What boards of a communicator look like.
    pub(super) fn board_shape(&self, process: &Process) -> BoardShape {
        BoardShape::new(self.size(), process.engine.oversubscribed)
    }
}

impl Collectives {
    /// Where a board is that rank 0 found, as the others are told.
    pub(super) fn find_board(
        &self,
        process: &Process,
        shape: BoardShape,
        of: BoardUse,
    ) -> BoardOffset {
        let find = |shm: &mut Shm| {
            process
                .collectives()
                .boards
                .borrow_mut()
                .find(shm, shape, of)
        };
        process.link(|link| link.net().shm_mut().map_or(BoardOffset::NOWHERE, find))
    }

    /// The memory of a board that rank 0 has told.
    pub(super) fn open_board(
        &self,
        process: &Process,
        told: u64,
        shape: BoardShape,
    ) -> Option<BoardMemory> {
        process.link(|link| BoardMemory::open(link.net().shm()?, BoardOffset(told), shape))
    }
}

impl Comm {
    /// The processes of all members, but for this one, as far as it reaches their memory. All
    /// have attached.
    fn board_neighbours(&self, process: &Process) -> Box<[Option<Neighbour>]> {
        process.link(|link| {
            let mut shm = link.net().shm_mut();
            let mut find = |p: Peer| shm.as_mut().and_then(|s| s.neighbour(p));
            let members = self.group.members();
            members
                .map(|p| if p == process.me { None } else { find(p) })
                .collect()
        })
    }
}

impl Joining {
    /// Does what can be done now.
    ///
    /// # Errors
    /// If members called different things, or one is gone.
    fn advance(&mut self, process: &Process, comm: &Arc<Comm>) -> Result<Joined> {
        if self.meeting.is_none() {
            let run = own_run(&mut self.telling);
            if !run.advance(process) {
                return Ok(Joined::Pending);
            }
            if let Some(error) = run.take_error() {
                // What a failed operation left behind may still arrive there.
                mem::forget(mem::take(&mut self.offsets));
                return Err(error);
            }
            let Some(meeting) = self.meet(process, comm) else {
                return Ok(Joined::Nowhere);
            };
            self.meeting = Some(meeting);
        }
        let Some(BoardHandshake {
            place,
            pending,
            words,
        }) = &mut self.meeting
        else {
            return Ok(Joined::Pending);
        };
        let BoardMembership { member, seat, .. } = &mut **place;
        let args = Args {
            send: Layout::Even(1),
            recv: Layout::Even(1),
            ..Args::new(comm.size(), comm.rank)
        };
        let all = words.as_mut_ptr();
        let ends = (all.wrapping_add(comm.size() as usize), all);
        // SAFETY: `words` has a byte for each member, and one more, and stays until they have met.
        let mut board = unsafe { seat.view_with(ends, None) };
        match pending.advance(process, comm, member, &args, &mut board) {
            Some(met) => met.result()?,
            None => return Ok(Joined::Pending),
        }
        let all = words.iter().fold(u8::MAX, |all, word| all & word);
        if all & REACHES != 0 {
            member.reach(direct_from(), all & WEIGHS != 0);
        }
        let meeting = self.meeting.take();
        Ok(meeting.map_or(Joined::Nowhere, |it| Joined::At(it.place)))
    }

    /// Takes the place on the board that rank 0 has found.
    fn meet(&self, process: &Process, comm: &Arc<Comm>) -> Option<BoardHandshake> {
        let memory = process
            .collectives()
            .open_board(process, self.offsets[0], self.shape)?;
        let neighbours = comm.board_neighbours(process);
        let missing = neighbours.iter().filter(|n| n.is_none()).count();
        let mut words = vec![0; comm.size() as usize + 1].into_boxed_slice();
        words[comm.size() as usize] = match missing {
            1 => REACHES | if COLL_WEIGH.get() { WEIGHS } else { 0 },
            _ => 0,
        };
        let others = comm.group.members().filter(|&p| p != process.me);
        let bells = process.link(|link| {
            let shm = link.net().shm()?;
            // SAFETY: the transport lives in the world, which is never dropped.
            Some(others.map(|p| unsafe { shm.bell(p) }).collect())
        });
        let seat = Seat::new(&memory, comm.rank, bells.unwrap_or_default(), neighbours);
        let limits = memory.limits(usize::MAX);
        let found = (comm.rank == 0).then_some(memory);
        let mut member = Member::new(
            comm.rank,
            comm.size(),
            process.engine.oversubscribed,
            limits,
        );
        let op = member.start(OpKind::Allgather, Label::FIRST.detail);
        Some(BoardHandshake {
            place: Box::new(BoardMembership::new(member, seat, found)),
            pending: PendingOperation::new(op, self.place, self.signature),
            words,
        })
    }
}

impl BoardSetup for Joining {
    fn found(&self) -> Option<BoardMemory> {
        self.meeting.as_ref()?.place.found.clone()
    }

    fn place(self: Box<Self>) -> Option<Box<BoardMembership>> {
        self.meeting.map(|it| it.place)
    }
}

impl Membership {
    /// Goes on making the board; whether it is there, or cannot be. Collective.
    #[cold]
    pub(super) fn join(&mut self, process: &Process, comm: &Arc<Comm>) -> Result<bool> {
        if let Membership::Unknown = self {
            *self = match comm.begin_joining(process)? {
                Some(joining) => Membership::Joining(Box::new(joining)),
                None => Membership::None,
            };
        }
        if let Membership::Joining(joining) = self {
            let joining: &mut dyn Any = &mut **joining;
            let joining: &mut Joining = joining.downcast_mut().expect("made here");
            // Members that have started the first operation may compute by now.
            *self = match started(|| joining.advance(process, comm)) {
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
}
