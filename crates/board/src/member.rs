//! Collectives of ranks that share memory: flags and payloads, no messages.
//!
//! Members of a communicator on one node share a [`Board`]. An operation has a
//! sequence number s, alike on all members. A member publishes its payload for
//! s in a record of its own and reads those of others when their stamps say s.
//! Hardly anybody waits for intermediate hops (scans are chains): with more
//! ranks than cores every member gets its turn once, and the last one to arrive
//! finds everything there. Who only publishes does not wait at all, so calls
//! follow each other as fast as they can be written down.
//!
//! A payload is in the record if it is short, else in its owner's ring of
//! bytes. A long one may stay where it is: the others read it out of the
//! program's buffers, or write into them, and its owner waits until they have
//! ([`PayloadPlace`]). Who lends a buffer to be written publishes it like one to be
//! read, so both can happen in one operation: of a bcast between two, each
//! copies half.
//!
//! | field | writer | readers | rule |
//! |---|---|---|---|
//! | payload, meta of (r, s) | r | all | written before the stamp, by the rule below |
//! | stamp of (r, s) | r | all | Release; readers Acquire |
//! | done of r | r | all | Release after the last access to others' memory; readers Acquire |
//!
//! # When memory may be written again
//!
//! The record for s takes the place of s − depth, where depth is
//! [`Limits::lines`], and its payload the place of payloads that were written
//! one lap of the ring before. So r may write it only when all who read that
//! have completed the operations they belong to. Members complete operations in
//! order, hence it suffices to know r's **floor**: every reader has completed
//! all operations below it.
//!
//! * A member sets its done counter to s + 1 when it has completed s, or some
//!   operations later: but not later than when it has to wait here itself, or
//!   when those since the last time make up a quarter of the records, or may
//!   have filled an eighth of anybody's ring, whether it read that or not. Who
//!   lacks room takes the least of the counters as its floor, or that of the one
//!   who has been its only reader since then: so neither those who send to a
//!   root nor the links of a chain wait for each other.
//! * Who publishes s has completed all below s. In an operation in which
//!   everybody hears from everybody (`ALL`: directly, or from a leader who
//!   heard from all before it published), completing s therefore proves floor
//!   ≥ s to a member that left out nobody, and no counter need be looked at.
//!
//! No one waits in vain: members can complete all below s, as everything that
//! this takes has been published, and when they come to s, where they have to
//! wait, floor = s. That is room enough: a payload is never longer than the
//! ring, and starts a new lap where it would not fit into the rest of the old
//! one. Nor does anybody wait for a member that is through and does something
//! else, a receive for example: what it has left unsaid leaves room for a
//! payload of two fifths of the ring, and only operations that nobody completes
//! before all have begun them have longer ones.
//!
//! The reads of a member come before its Release (of its next stamp or of
//! done); the overwriting stores come after an Acquire of that, or of the stamp
//! of a leader that acquired it. So no store overtakes a read it destroys. The
//! tests try all interleavings of short sequences of operations.
//!
//! An operation that does not fit into the ring uses the long one, where there is one. That has
//! positions of its own, and the same rules.
//!
//! # Two members
//!
//! Of two that exchange payloads in rings, each writes its next one where it has just read the
//! other's: those lines are in its cache already ([`Board::get`]). Operations between that use no
//! ring do not count here. The payload of r for s, at Q, where that of the other one, o, for s − 1
//! was, is safe: o completes s when it has read it, not before, and until then writes a payload
//! for s at most, which is somewhere else. For that goes where the one of r for s − 1 was, or to
//! the next place in o's ring; it reaches Q only if it begins a new lap and the two take more than
//! half of the ring, while each has a quarter at most. If Q is in r's own ring, s begins there, so
//! r itself writes there no more until its floor is above s.
//!
//! # Long payloads
//!
//! Which of the two ways of long payloads takes less time, one member finds by trials for each kind
//! of operation and length, and says so with what it publishes ([`Board::prefers_ring`]): the root,
//! or member 0 where there is none or all combine pieces. Where all others read its record, all
//! take that way from the next operation on (`ways`). Through the ring, nobody reads what the root
//! of a gather publishes; so now and then such an operation goes the other way, in which all do.
//!
//! # Order of operations
//!
//! Operations on one board run one after the other, in the order in which
//! [`Member::start`] was called; an [`Op`] polled before its turn does nothing.

use catena_coll::neighbor;
use catena_coll::{Args, Collective};

use crate::board::Board;
use crate::kind::OpKind;
use crate::limits::{DIRECT_ENTRY, INLINE, LINE, Limits};
use crate::meta::Past;
use crate::payload::{IN_LONG, LEFT, Payload, SWAPPED};
use crate::ways::Ways;

/// Up to this many members all hear from all; above, from a leader. Only where
/// each has a core: else nobody should wait twice.
pub(crate) const FLAT_MEMBERS: u32 = 8;

/// From this many bytes on an allreduce among more than two is split.
const SPLIT_BYTES: usize = 2048;

/// From this many on one between two: half of the arithmetic pays for the second round then.
const SPLIT_BYTES_OF_TWO: usize = 32 << 10;

/// Up to this many members read each other's operands where they are.
const PIECES_MEMBERS: u32 = 4;

/// Where ranks outnumber cores, up to so many members of a board mostly run side by side.
pub(crate) const FEW: u32 = 4;

/// Where each segment takes a turn of all on their cores, blocks for each other member of whatever
/// length are reached directly rather than in more segments than that: a system call for each block
/// takes less then. On 2 cores 24 segments take as long for an exchange among 64, 100 and 200
/// members; 200 of them exchange blocks of 20 kB in 0.3 s instead of 30 in 488 segments.
const TURNS: usize = 24;

/// More turns than that, of members and segments, take longer than messages: on 2 cores, among 200
/// members, an allreduce of 128 kB, a reduce or a bcast of 256 kB, and without reaching others an
/// exchange of blocks of 1 kB.
const MOST_TURNS: usize = 3200;

/// No process has that many bytes: a member that asks for them gets no memory, and takes all steps
/// of the operation all the same. These steps are few where blocks are reached directly.
const ENDLESS: usize = 1 << 36;

/// Most turns of a chain, in which each member waits for the one before it: a scan of 32 kB among
/// 200 members takes 0.7 s, 0.3 by messages.
const MOST_IN_CHAIN: usize = 512;

/// A payload of the other of two members that was read in a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Taken {
    /// The operation, or the last one after it up to which nobody wrote to a ring.
    seq: u64,
    /// As the position of an own payload.
    at: u64,
    /// Bytes.
    len: usize,
}

/// A member's own view of a board. Plain memory of this process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// Ranks outnumber cores.
    pub(crate) oversubscribed: bool,
    pub(crate) limits: Limits,
    /// The operation that runs, or that will run next.
    pub(crate) seq: u64,
    /// All who read this member's payloads have completed all operations below.
    floor: u64,
    /// The only reader of the payloads of operations from `alone` on, if there
    /// is one.
    reader: Option<u32>,
    alone: u64,
    /// Positions in this member's ring and in the long one behind the last payload.
    heads: [u64; 2],
    /// What this member, one of two, read last in a ring.
    taken: Taken,
    /// `heads` when an operation began, by number modulo [`Limits::lines`].
    begins: Box<[[u64; 2]]>,
    /// What this member said last of what it has completed, and how many bytes any member
    /// may have put into its ring since then, at most.
    told: u64,
    unsaid: usize,
    /// Operations started, and completed.
    pub(crate) started: u64,
    pub(crate) completed: u64,
    pub(crate) past: Past,
    /// Which way long payloads go.
    pub(crate) ways: Ways,
}

impl Member {
    /// Member `rank` of `size` at a fresh board. `oversubscribed` says that there are
    /// more ranks than cores, alike for all members.
    pub fn new(rank: u32, size: u32, oversubscribed: bool, limits: Limits) -> Self {
        assert!(limits.lines.is_power_of_two() && limits.lines >= 2);
        assert!(limits.ring.is_power_of_two() && limits.ring >= 256);
        let is_longer = limits.long.is_power_of_two() && limits.long > limits.ring;
        assert!(limits.long == 0 || is_longer);
        Member {
            rank,
            size,
            oversubscribed,
            limits,
            seq: 1,
            floor: 1,
            reader: None,
            alone: 1,
            heads: [0; 2],
            taken: Taken::default(),
            begins: vec![[0; 2]; limits.lines as usize].into(),
            told: 1,
            unsaid: 0,
            started: 0,
            completed: 0,
            past: Past::default(),
            ways: Ways::default(),
        }
    }

    /// How a call is best run here. `None` if it cannot be: a segment must take
    /// an element for each member; and lengths that only some members know can
    /// be too long for a ring, so that members must reach each other directly.
    ///
    /// All members get the same answer for the same call. Without a collective it
    /// is one among neighbours.
    #[inline(always)]
    pub fn choose(&self, collective: Option<Collective>, args: &Args) -> Option<OpKind> {
        let flat = self.is_flat();
        let direct = self.limits.direct < usize::MAX;
        // Two both know the length of what they exchange.
        let may_vary = direct || self.size == 2;
        let Some(collective) = collective else {
            let fits = neighbor::MOST * DIRECT_ENTRY <= self.limits.segment();
            return (direct && fits).then_some(OpKind::Neighbors);
        };
        let kind = match collective {
            Collective::Barrier if flat => OpKind::Barrier,
            Collective::Barrier => OpKind::BarrierLeader,
            Collective::Bcast => OpKind::Bcast,
            Collective::Gather => OpKind::Gather,
            Collective::Scatter => OpKind::Scatter,
            Collective::Allgather | Collective::Allgatherv => OpKind::Allgather,
            Collective::Alltoall => OpKind::Alltoall,
            Collective::Reduce => OpKind::Reduce,
            Collective::Allreduce if self.splits(args.send.len(0)) => OpKind::AllreduceSplit,
            Collective::Allreduce if flat => OpKind::Allreduce,
            Collective::Allreduce => OpKind::AllreduceLeader,
            Collective::ReduceScatter => OpKind::ReduceScatter,
            Collective::Scan => OpKind::Scan,
            Collective::Exscan => OpKind::Exscan,
            Collective::Gatherv if may_vary => OpKind::Gatherv,
            Collective::Scatterv if may_vary => OpKind::Scatterv,
            Collective::Alltoallv if may_vary => OpKind::Alltoallv,
            Collective::Gatherv | Collective::Scatterv | Collective::Alltoallv => return None,
        };
        if self.takes_turns() && self.takes_many_turns(kind, args) {
            return None;
        }
        let least = args.elem.max(DIRECT_ENTRY);
        self.limits.holds(least, self.size as usize).then_some(kind)
    }

    /// Whether each member had better look at all others, with no leader in between.
    #[inline(always)]
    pub fn is_flat(&self) -> bool {
        self.oversubscribed || self.size <= FLAT_MEMBERS
    }

    /// Whether a reduction of this kind and of `len` bytes is best done piece by piece, in the
    /// buffers of the program. One that fits into a record is not.
    #[inline]
    pub(crate) fn in_pieces(&mut self, kind: OpKind, len: usize) -> bool {
        let piece = len / self.size as usize;
        if len <= INLINE || piece < self.limits.direct || self.size > PIECES_MEMBERS {
            return false;
        }
        self.ways.enter(kind, len);
        piece >= self.direct_from(len)
    }

    /// Whether an allreduce of so many bytes is worth two rounds.
    #[inline]
    fn splits(&self, len: usize) -> bool {
        let least = match self.size {
            2 => SPLIT_BYTES_OF_TWO,
            _ => SPLIT_BYTES,
        };
        self.size > 1 && len >= least
    }

    /// From now on blocks of so many bytes are reached directly; if both ways are `weighed`, not
    /// before one member prefers that to the ring. Between operations, alike on all members.
    pub fn reach(&mut self, direct: usize, weighed: bool) {
        self.limits.direct = direct;
        self.ways.begin_with(weighed);
    }

    /// From how many bytes on blocks are reached directly.
    pub fn reaches(&self) -> usize {
        self.limits.direct
    }

    /// Whether long blocks of operations of which nothing is known yet pass through the ring.
    pub fn prefers_ring(&self) -> bool {
        self.ways.first
    }

    /// Whether members share cores with so many others that each segment takes a turn of them all.
    #[inline]
    pub(crate) fn takes_turns(&self) -> bool {
        self.oversubscribed && self.size > FEW
    }

    /// From this many bytes on a block is reached directly now, in an operation that would put
    /// `bytes` into a ring.
    #[inline]
    pub(crate) fn direct_from(&self, bytes: usize) -> usize {
        let has_segments = bytes > 2 * self.limits.ring;
        match self.ways.through_ring() && bytes < ENDLESS && !(has_segments && self.takes_turns()) {
            true => usize::MAX,
            false => self.limits.direct,
        }
    }

    /// From how many bytes on a block is reached directly that is one of several in a payload, each
    /// for another member.
    #[inline]
    pub(crate) fn direct_of_several(&self, bytes: usize) -> usize {
        let many = bytes > TURNS * (self.limits.ring / 2);
        match many && self.takes_turns() && self.limits.direct < usize::MAX {
            true => 0,
            false => self.direct_from(bytes),
        }
    }

    /// Whether messages are quicker, since members that share cores would take very many turns on
    /// the board. All members of a call come to the same answer.
    fn takes_many_turns(&self, kind: OpKind, args: &Args) -> bool {
        let others = self.size as usize - 1;
        let (bytes, most) = match kind {
            OpKind::Scan | OpKind::Exscan => (args.send.len(0), MOST_IN_CHAIN),
            OpKind::Allreduce | OpKind::AllreduceLeader | OpKind::AllreduceSplit => {
                (args.send.len(0), MOST_TURNS)
            }
            OpKind::Reduce => (args.send.len(0), MOST_TURNS),
            OpKind::Bcast => (args.recv.len(0), MOST_TURNS),
            OpKind::Alltoall if self.limits.direct == usize::MAX => {
                (args.send.len(0).saturating_mul(others), MOST_TURNS)
            }
            _ => return false,
        };
        (bytes / (self.limits.ring / 2)).saturating_mul(self.size as usize) > most
    }

    /// The operation whose turn it was is complete.
    #[inline(always)]
    pub(crate) fn end(&mut self) {
        self.completed += 1;
        self.ways.leave();
    }

    /// Operations that were begun.
    pub fn started(&self) -> u64 {
        self.started
    }

    #[inline]
    fn begin(&mut self, seq: u64) -> &mut [u64; 2] {
        &mut self.begins[(seq & (self.limits.lines - 1)) as usize]
    }

    /// Takes the record of the current operation and `len` bytes of the ring, or of the long one,
    /// for a payload, which one `reader` wants or several do; gives their position. `None` if
    /// others still read what was there.
    #[inline(always)]
    pub(crate) fn reserve<B: Board>(
        &mut self,
        (len, is_long): (usize, bool),
        reader: Option<u32>,
        board: &B,
    ) -> Option<u64> {
        let at = match self.room(len, is_long) {
            Some(at) => at,
            None => self.room_slow((len, is_long), board)?,
        };
        if self.reader != reader {
            (self.reader, self.alone) = (reader, self.seq);
        }
        self.heads[usize::from(is_long)] = at + len.next_multiple_of(LINE) as u64;
        Some(if is_long { at | IN_LONG } else { at })
    }

    #[inline(always)]
    fn room(&mut self, len: usize, is_long: bool) -> Option<u64> {
        let which = usize::from(is_long);
        let head = self.heads[which];
        if self.seq >= self.floor + self.limits.lines {
            return None;
        }
        if len == 0 {
            return Some(head);
        }
        let ring = self.limits.bytes(is_long) as u64;
        let rest = ring - (head & (ring - 1));
        let lap = if len as u64 > rest { rest } else { 0 };
        let at = head + lap;
        if self.floor == self.seq {
            self.begin(self.seq)[which] = at;
        }
        let oldest = self.begin(self.floor)[which];
        (at + len as u64 <= oldest + ring).then_some(at)
    }

    /// Where the next payload will probably be, after the one at `at`.
    #[inline(always)]
    pub(crate) fn next(&self, at: u64) -> u64 {
        self.heads[usize::from(at & IN_LONG != 0)] | at & IN_LONG
    }

    /// Where `len` bytes of the current operation may go because the other of two members had its
    /// last payload there, which this one has read.
    #[inline]
    pub(crate) fn swap(&mut self, len: usize) -> Option<u64> {
        let Taken { seq, at, len: room } = self.taken;
        if self.seq != seq + 1 || len > room {
            return None;
        }
        if at & SWAPPED == 0 {
            let begin = &mut self.begin(self.seq)[usize::from(at & IN_LONG != 0)];
            *begin = (at & !IN_LONG).min(*begin);
        }
        Some(at)
    }

    /// Nobody wrote to a ring in the current operation.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        if self.taken.seq + 1 == self.seq {
            self.taken.seq = self.seq;
        }
    }

    /// The other of two members had `len` bytes in a ring, which this one has read.
    #[inline]
    pub(crate) fn took(&mut self, from: &Payload, len: usize) {
        if len <= self.limits.bytes(from.at & IN_LONG != 0) / 4 {
            let at = from.at & !(SWAPPED | LEFT);
            self.taken = Taken {
                seq: from.seq,
                at: if from.ring_of() == self.rank {
                    at
                } else {
                    at | SWAPPED
                },
                len,
            };
        }
    }

    #[cold]
    #[inline(never)]
    fn room_slow<B: Board>(&mut self, (len, is_long): (usize, bool), board: &B) -> Option<u64> {
        let others = (0..self.size).filter(|&r| r != self.rank);
        let least = match self.reader {
            Some(reader) if self.alone <= self.floor => board.done(reader),
            _ => others.map(|r| board.done(r)).min().unwrap_or(self.seq),
        };
        self.floor = self.floor.max(least.min(self.seq));
        self.room(len, is_long)
    }

    /// The current operation is complete here, of which some member may want back up to `owed`
    /// bytes of its ring. Others are told if they may wait for that: each time costs both sides
    /// a cache line.
    #[inline(always)]
    pub(crate) fn complete<B: Board>(&mut self, owed: usize, board: &mut B) {
        let next = self.seq + 1;
        self.unsaid = self
            .unsaid
            .saturating_add(owed.checked_next_multiple_of(LINE).unwrap_or(owed));
        if next - self.told >= self.limits.lines / 4 || self.unsaid >= self.limits.unsaid() {
            (self.told, self.unsaid) = (next, 0);
            board.set_done(next);
        }
    }

    /// This member has to wait, or is asked: tells the others how far it is.
    #[inline]
    pub fn tell<B: Board>(&mut self, board: &mut B) {
        if self.told < self.seq {
            (self.told, self.unsaid) = (self.seq, 0);
            board.set_done(self.seq);
        }
    }

    /// The current operation is complete; `all` if that proves that all members
    /// have begun it.
    #[inline(always)]
    pub(crate) fn advance(&mut self, all: bool) {
        if all {
            self.floor = self.seq;
        }
        self.seq += 1;
        let heads = self.heads;
        *self.begin(self.seq) = heads;
    }
}
