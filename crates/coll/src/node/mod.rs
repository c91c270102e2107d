//! Collectives of ranks that share memory: flags and slots, no messages.
//!
//! Members of a communicator on one node share a [`Board`]. An operation has a
//! sequence number s, alike on all members. A member publishes its payload for
//! s in a record of its own and reads those of others when their stamps say s.
//! Nobody waits for intermediate hops: with more ranks than cores every member
//! gets its turn once, and the last one to arrive finds everything there.
//!
//! | field | writer | readers | rule |
//! |---|---|---|---|
//! | payload, meta of (r, s) | r | all | written before the stamp, by the rule below |
//! | stamp of (r, s) | r | all | Release; readers Acquire |
//! | done of r | r | all | Release after the last read of an operation; readers Acquire |
//!
//! # When a record may be overwritten
//!
//! The record for s takes the memory of s − depth, where depth is `LINES` or
//! `SLOTS`. So r may write it only when every member has completed s − depth.
//! Members complete operations in order, hence it suffices that each has
//! completed *some* operation from there on. What r knows of this is its
//! **floor**: every member has completed all operations below it.
//!
//! * Who publishes s has completed all below s. In an operation in which
//!   everybody hears from everybody (`ALL`: directly, or from a leader who
//!   heard from all before it published), completing s therefore proves floor
//!   ≥ s. As depth ≥ 2, a member that only runs such operations never waits.
//! * In all other operations (rooted ones, scans) every member, also the root,
//!   sets its done counter to s + 1 when it completes s. Who lacks room takes
//!   the least of the counters as its floor and tries again later.
//!
//! No one waits in vain: the operations waited for do not depend on what the
//! waiting member has yet to publish. The first time that room is lacking
//! after `ALL` operation t is s ≥ t + depth ≥ t + 2; t + 1 was then no `ALL`
//! operation, so every member sets its counter to at least t + 2 when it
//! completes t + 1, which is all that s needs if s = t + depth, and so on.
//!
//! The reads of a member come before its Release (of its next stamp or of
//! done); the overwriting stores come after an Acquire of that, or of the stamp
//! of a leader that acquired it. So no store overtakes a read it destroys. The
//! tests try all interleavings of short sequences of operations.
//!
//! # Order of operations
//!
//! Operations on one board run one after the other, in the order in which
//! [`Node::start`] was called; an [`Op`] polled before its turn does nothing.

mod board;
mod program;
mod programs;

pub use board::{Board, INLINE, Meta, Mismatch, Place};
use program::{Program, Turn};

use crate::{Args, Collective};

/// An operation as it runs on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Everybody hears from everybody.
    Barrier = 1,
    /// Through a leader: two hops, but only 2p lines are read instead of p².
    BarrierLeader,
    /// The root publishes.
    Bcast,
    /// All publish, the root combines.
    Reduce,
    /// All publish, all combine, in the order of ranks.
    Allreduce,
    /// A leader combines, in the order of ranks, and publishes the result.
    AllreduceLeader,
    /// Each member combines a piece and publishes it: two hops, for longer
    /// vectors.
    AllreduceSplit,
    /// All publish, all copy. Also allgatherv.
    Allgather,
    /// All publish, the root copies.
    Gather,
    /// The root publishes all blocks.
    Scatter,
    /// All publish all blocks.
    Alltoall,
    /// All publish their vectors, each combines its block.
    ReduceScatter,
    /// All publish, each combines those up to its own.
    Scan,
    /// All publish, each combines those below its own.
    Exscan,
}

impl Kind {
    fn name_of(number: u8) -> &'static str {
        const NAMES: [&str; 14] = [
            "barrier",
            "barrier",
            "bcast",
            "reduce",
            "allreduce",
            "allreduce",
            "allreduce",
            "allgather",
            "gather",
            "scatter",
            "alltoall",
            "reduce_scatter",
            "scan",
            "exscan",
        ];
        NAMES
            .get(usize::from(number).wrapping_sub(1))
            .copied()
            .unwrap_or("something unknown")
    }
}

/// Up to this many members all hear from all; above, from a leader. Only where
/// each has a core: else nobody should wait twice.
const FLAT_MEMBERS: u32 = 8;

/// Bytes of a cache line.
const LINE: usize = 64;

/// From this many bytes on an allreduce among more than two is split.
const SPLIT_BYTES: usize = 2048;

/// A member's own view of a board. Plain memory of this process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    rank: u32,
    size: u32,
    /// Ranks outnumber cores.
    crowded: bool,
    /// The operation that runs, or that will run next.
    seq: u64,
    /// All members have completed all operations below.
    floor: u64,
    /// Operations started, and completed.
    started: u64,
    completed: u64,
}

impl Node {
    /// Member `rank` of `size` at a fresh board. `crowded` says that there are
    /// more ranks than cores, alike for all members.
    pub fn new(rank: u32, size: u32, crowded: bool) -> Self {
        Node {
            rank,
            size,
            crowded,
            seq: 1,
            floor: 1,
            started: 0,
            completed: 0,
        }
    }

    /// How a call is best run here. `None` if it cannot be: members must agree
    /// on the lengths of all blocks, so those collectives are out whose counts
    /// only some ranks know, and a slot must take an element for each member.
    ///
    /// All members get the same answer for the same call.
    pub fn choose<B: Board>(&self, collective: Collective, args: &Args, board: &B) -> Option<Kind> {
        let kind = match collective {
            Collective::Barrier if self.crowded || self.size <= FLAT_MEMBERS => Kind::Barrier,
            Collective::Barrier => Kind::BarrierLeader,
            Collective::Bcast => Kind::Bcast,
            Collective::Gather => Kind::Gather,
            Collective::Scatter => Kind::Scatter,
            Collective::Allgather | Collective::Allgatherv => Kind::Allgather,
            Collective::Alltoall => Kind::Alltoall,
            Collective::Reduce => Kind::Reduce,
            Collective::Allreduce if self.size > 2 && args.send.len(0) >= SPLIT_BYTES => {
                Kind::AllreduceSplit
            }
            Collective::Allreduce if self.crowded || self.size <= FLAT_MEMBERS => Kind::Allreduce,
            Collective::Allreduce => Kind::AllreduceLeader,
            Collective::ReduceScatter => Kind::ReduceScatter,
            Collective::Scan => Kind::Scan,
            Collective::Exscan => Kind::Exscan,
            Collective::Gatherv | Collective::Scatterv | Collective::Alltoallv => return None,
        };
        let element = args.elem.max(1) * self.size as usize;
        (element <= board.capacity()).then_some(kind)
    }

    /// Begins an operation. It runs after all that were begun before it.
    #[inline]
    pub fn start(&mut self, kind: Kind) -> Op {
        self.started += 1;
        Op {
            kind,
            stage: Stage::First,
            round: 0,
            next: 0,
            offset: 0,
            ticket: self.started - 1,
        }
    }

    /// Whether the record of the next operation may be written.
    #[inline]
    fn room<B: Board>(&mut self, place: Place, board: &B) -> bool {
        let depth = match place {
            Place::Line => B::LINES,
            Place::Slot => B::SLOTS,
        };
        self.seq < self.floor + depth || self.room_slow(depth, board)
    }

    #[cold]
    #[inline(never)]
    fn room_slow<B: Board>(&mut self, depth: u64, board: &B) -> bool {
        let others = (0..self.size).filter(|&r| r != self.rank);
        let least = others.map(|r| board.done(r)).min().unwrap_or(self.seq);
        self.floor = self.floor.max(least.min(self.seq));
        self.seq < self.floor + depth
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    First,
    Read,
    Last,
}

/// One operation under way. A few words; may be moved and copied about, but
/// only one copy be polled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Op {
    kind: Kind,
    stage: Stage,
    round: u8,
    /// Index of the source to hear from next.
    next: u32,
    /// Bytes of each block that are complete.
    offset: usize,
    ticket: u64,
}

impl Op {
    /// How it runs.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Does what can be done now; true once the operation is complete here,
    /// after which it is not polled again. `args` and `board` are the same in
    /// every call. Never blocks or allocates.
    ///
    /// # Errors
    /// [`Mismatch`] if another member called something else. The board cannot
    /// be used any more.
    #[inline]
    pub fn poll<B: Board>(
        &mut self,
        node: &mut Node,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Mismatch> {
        if self.ticket != node.completed {
            return Ok(false);
        }
        match self.kind {
            Kind::Barrier => self.run::<programs::Barrier, B>(node, args, board),
            Kind::BarrierLeader => self.run::<programs::BarrierLeader, B>(node, args, board),
            Kind::Bcast => self.run::<programs::Bcast, B>(node, args, board),
            Kind::Reduce => self.run::<programs::Reduce, B>(node, args, board),
            Kind::Allreduce => self.run::<programs::Allreduce, B>(node, args, board),
            Kind::AllreduceLeader => self.run::<programs::AllreduceLeader, B>(node, args, board),
            Kind::AllreduceSplit => self.run::<programs::AllreduceSplit, B>(node, args, board),
            Kind::Allgather => self.run::<programs::Allgather, B>(node, args, board),
            Kind::Gather => self.run::<programs::Gather, B>(node, args, board),
            Kind::Scatter => self.run::<programs::Scatter, B>(node, args, board),
            Kind::Alltoall => self.run::<programs::Alltoall, B>(node, args, board),
            Kind::ReduceScatter => self.run::<programs::ReduceScatter, B>(node, args, board),
            Kind::Scan => self.run::<programs::Scan, B>(node, args, board),
            Kind::Exscan => self.run::<programs::Exscan, B>(node, args, board),
        }
    }

    #[inline]
    fn run<P: Program, B: Board>(
        &mut self,
        node: &mut Node,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Mismatch> {
        let extent = P::extent(args);
        if extent == 0 && !P::EMPTY {
            node.completed += 1;
            return Ok(true);
        }
        let longest = longest_segment(extent, P::blocks(args), args.elem.max(1), board.capacity());
        let meta = Meta::pack(self.kind, P::root(args), extent);
        loop {
            let len = longest.min(extent - self.offset);
            let turn = Turn {
                args,
                offset: self.offset,
                len,
                whole: extent,
                round: self.round,
                place: if len * P::blocks(args) <= INLINE {
                    Place::Line
                } else {
                    Place::Slot
                },
                seq: node.seq,
            };
            if self.stage == Stage::First {
                if P::publishes_first(&turn) {
                    if !node.room(turn.place, board) {
                        return Ok(false);
                    }
                    P::put(&turn, board);
                    board.publish(node.seq, meta);
                }
                self.stage = Stage::Read;
                self.next = 0;
            }
            if self.stage == Stage::Read {
                while let Some(rank) = P::source(&turn, self.next) {
                    if rank != args.rank {
                        if board.stamp(rank, node.seq) != node.seq {
                            return Ok(false);
                        }
                        let theirs = board.meta(rank, node.seq);
                        if theirs != meta {
                            return Err(mismatch(rank, theirs, meta));
                        }
                    }
                    P::take(&turn, rank, self.next, board);
                    self.next += 1;
                }
                self.stage = Stage::Last;
            }
            if P::publishes_last(&turn) {
                if !node.room(turn.place, board) {
                    return Ok(false);
                }
                P::put(&turn, board);
                board.publish(node.seq, meta);
            }
            if P::ALL {
                node.floor = node.seq;
            } else {
                board.set_done(node.seq + 1);
            }
            node.seq += 1;
            if P::publishes_first(&turn) || P::publishes_last(&turn) {
                board.warm(node.seq);
            }
            self.stage = Stage::First;
            self.round += 1;
            if self.round == P::ROUNDS {
                self.round = 0;
                self.offset += len;
                if self.offset >= extent {
                    node.completed += 1;
                    return Ok(true);
                }
            }
        }
    }
}

/// Bytes of each block in one segment: all, if that many blocks fit a slot.
#[inline]
fn longest_segment(extent: usize, blocks: usize, elem: usize, capacity: usize) -> usize {
    if extent * blocks <= capacity {
        return extent;
    }
    let fits = capacity / blocks;
    // Whole cache lines if they hold whole elements.
    let unit = if elem <= LINE && LINE.is_multiple_of(elem) && fits >= LINE {
        LINE
    } else {
        elem
    };
    fits - fits % unit
}

#[cold]
#[inline(never)]
fn mismatch(rank: u32, theirs: u64, mine: u64) -> Mismatch {
    Mismatch {
        rank,
        theirs: Meta::unpack(theirs),
        mine: Meta::unpack(mine),
    }
}
