//! What distinguishes one operation on a board from another.

use catena_coll::Args;
use catena_schedule::Region;

use crate::board::Board;
use crate::kind::OpKind;
use crate::payload::{Payload, PayloadPlace};
use crate::trouble::Trouble;

/// One round of one segment of an operation on one member.
pub(crate) struct Turn<'t, 'a> {
    pub(crate) args: &'t Args<'a>,
    pub(crate) kind: OpKind,
    /// See [`Past::call`](crate::meta::Past::call).
    pub(crate) call: u64,
    /// The segment is `[offset, offset + len)` of every block.
    pub(crate) offset: usize,
    pub(crate) len: usize,
    /// Length of the longest block.
    pub(crate) whole: usize,
    pub(crate) round: u8,
    /// From this many bytes on a payload that `VARIES` is direct.
    pub(crate) lent_from: usize,
    /// What this member publishes.
    pub(crate) own: Payload,
}

impl Turn<'_, '_> {
    /// Whether payloads stay in the buffers of the program.
    #[inline]
    pub(crate) fn is_direct(&self) -> bool {
        self.own.place == PayloadPlace::Direct
    }

    /// Whether no segment follows.
    #[inline(always)]
    pub(crate) fn is_last(&self) -> bool {
        self.offset + self.len >= self.whole
    }

    /// The part of a block that belongs to this segment; blocks may be shorter
    /// than the longest.
    #[inline(always)]
    pub(crate) fn of(&self, block: Region) -> Region {
        let from = self.offset.min(block.len);
        block.part(from, self.len.min(block.len - from))
    }

    /// The part of this member's block for itself, whose length the others need not know: all that
    /// is left of it belongs to the last segment.
    #[inline(always)]
    pub(crate) fn of_own(&self, block: Region) -> Region {
        if !self.is_last() {
            return self.of(block);
        }
        let from = self.offset.min(block.len);
        block.part(from, block.len - from)
    }

    /// Puts the blocks of the others one after the other.
    #[inline(always)]
    pub(crate) fn put_blocks<B: Board>(&self, board: &mut B, block: impl Fn(u32) -> Region) {
        let me = self.args.rank;
        for i in (0..self.args.size).filter(|&i| i != me) {
            board.put(&self.own, self.block_at(me, i), self.of(block(i)));
        }
    }

    /// Where `owner` has put the block of `rank`; in a direct payload, which begins with the block
    /// of its [`first`], where it has it.
    #[inline(always)]
    pub(crate) fn block_at(&self, owner: u32, rank: u32) -> usize {
        let gap = match self.is_direct() {
            true => first(owner),
            false => u32::from(rank > owner),
        };
        (rank - gap) as usize * self.len
    }

    /// Copies this member's block; half of it if others have to be waited for at the end,
    /// too: [`Turn::keep_rest`] copies the other half meanwhile.
    #[inline(always)]
    pub(crate) fn keep<B: Board>(&self, from: Region, into: Region, board: &mut B) {
        let first = self.first(from.len);
        board.keep(from.part(0, first), into.part(0, first), self.whole);
    }

    /// Copies what [`Turn::keep`] has left.
    #[inline(always)]
    pub(crate) fn keep_rest<B: Board>(&self, from: Region, into: Region, board: &mut B) {
        let first = self.first(from.len);
        let rest = from.len - first;
        board.keep(from.part(first, rest), into.part(first, rest), self.whole);
    }

    #[inline(always)]
    fn first(&self, len: usize) -> usize {
        if self.is_direct() { len / 2 } else { len }
    }

    /// Whether others may still read what the result overwrites.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        self.is_direct() && self.args.in_place
    }
}

/// An operation, as a type so that each gets code of its own.
pub(crate) trait Program {
    /// Whether everybody hears from everybody, or from one who has: completing a
    /// round proves that every member has begun it, unless some were not
    /// [wanted](Program::wants).
    const ALL: bool;
    /// Rounds of one segment.
    const ROUNDS: u8 = 1;
    /// Whether not all members know how long the payloads are. Then each owner
    /// says where its own one is, and there are no segments.
    const VARIES: bool = false;

    /// Whether nobody completes a round before all have begun it, unless there is no data.
    const MUTUAL: bool = Self::ALL && !Self::VARIES;

    /// Whether each member chooses its own way, since those who read its payload see where it is.
    const OWN_WAY: bool = false;

    /// Whether a member may publish for some of the others, so that not all hear
    /// of it.
    const SOME: bool = false;

    /// Whether one member reads the records of all others while they wait for it.
    const LEADS: bool = false;

    /// The member whose record all others read in a round with data, if they read the same one:
    /// which way it prefers, all take from then on. Alike on all members.
    #[inline(always)]
    fn decider(_turn: &Turn) -> Option<u32> {
        match Self::MUTUAL {
            true => Some(0),
            false => None,
        }
    }

    /// Bytes of the longest block; alike on all members. Of this member's payload if
    /// it `VARIES`.
    fn extent(args: &Args) -> usize;

    /// Blocks in one payload that is not direct.
    #[inline]
    fn blocks(_args: &Args) -> usize {
        1
    }

    /// Whether long payloads stay in the buffers of the program. That pays where
    /// each byte has one reader. For several readers, one more copy into the ring
    /// is less work than a system call of each. `oversubscribed` as in [`Member`](crate::Member).
    #[inline]
    fn lends(_args: &Args, _oversubscribed: bool) -> bool {
        true
    }

    /// Bytes of the ring that a direct payload takes.
    #[inline]
    fn table(_args: &Args) -> usize {
        0
    }

    /// The only member that reads what this one publishes, if there is one.
    #[inline]
    fn reader(_turn: &Turn) -> Option<u32> {
        None
    }

    /// Whether each byte of any member's payload is read by one of the others.
    #[inline(always)]
    fn is_sole(turn: &Turn) -> bool {
        turn.args.size == 2
    }

    /// Whether two members exchange payloads of one length, each of which is written once, and read
    /// by the other one, not by its owner: neither completes the operation before the other one has
    /// published.
    #[inline(always)]
    fn swaps(turn: &Turn) -> bool {
        turn.args.size == 2 && Self::MUTUAL && Self::ROUNDS == 1
    }

    /// Whether this member publishes before it reads.
    fn publishes_first(turn: &Turn) -> bool;

    /// Whether this member publishes after it has read.
    #[inline]
    fn publishes_last(_turn: &Turn) -> bool {
        false
    }

    /// Writes the payload.
    fn put<B: Board>(turn: &Turn, board: &mut B);

    /// Bytes of scratch memory that it needs.
    #[inline]
    fn scratch(_turn: &Turn) -> usize {
        0
    }

    /// What others may read or write if the payload is direct.
    fn shows<B: Board>(_turn: &Turn, _board: &mut B) -> u64 {
        unreachable!("never direct")
    }

    /// The `i`-th rank to hear from; may be this member itself.
    fn source(turn: &Turn, i: u32) -> Option<u32>;

    /// Whether this member needs what `rank` publishes, its `i`-th source. Nobody waits for nothing
    /// where everybody hears from everybody: who has data sees who has none.
    #[inline(always)]
    fn wants(turn: &Turn, _rank: u32, _i: u32) -> bool {
        turn.whole > 0 || !Self::ALL
    }

    /// The length that this member publishes for comparison.
    #[inline]
    fn says(turn: &Turn) -> usize {
        turn.whole
    }

    /// The length that `rank` must have published.
    #[inline]
    fn expects(turn: &Turn, _rank: u32) -> usize {
        turn.whole
    }

    /// Whether what members give may be of other kinds than what they want.
    const EXCHANGES: bool = false;

    /// Whether nothing comes from `rank`, or goes there, so that kinds of elements mean nothing.
    #[cold]
    fn has_nothing(turn: &Turn, rank: u32) -> bool {
        Self::expects(turn, rank) == 0
    }

    /// Takes what the `i`-th source has published.
    ///
    /// # Errors
    /// If it cannot be read, or is not what this member wants.
    fn take<B: Board>(turn: &Turn, from: &Payload, i: u32, board: &mut B) -> Result<(), Trouble>;

    /// What is left to do when others have been told that this member does not
    /// use their buffers any more, which may use its own.
    #[inline(always)]
    fn meanwhile<B: Board>(_turn: &Turn, _board: &mut B) {}

    /// Bytes of the `i`-th source's payload in a ring.
    #[inline]
    fn length<B: Board>(turn: &Turn, _from: &Payload, _i: u32, _board: &B) -> usize {
        turn.len * Self::blocks(turn.args)
    }

    /// Whether `rank` reads, or writes, what this member publishes.
    #[inline]
    fn uses(_turn: &Turn, _rank: u32) -> bool {
        true
    }

    /// The end of a round: nobody uses this member's buffers any more.
    #[inline]
    fn finish<B: Board>(_turn: &Turn, _board: &mut B) {}
}

/// The lowest of the others.
#[inline(always)]
pub(crate) fn first(rank: u32) -> u32 {
    u32::from(rank == 0)
}

/// `i`, if it is below `end`.
#[inline(always)]
pub(crate) fn below(i: u32, end: u32) -> Option<u32> {
    (i < end).then_some(i)
}

/// All ranks, this one first: who is there at the same time does not read the
/// same payload.
#[inline(always)]
pub(crate) fn around(t: &Turn, i: u32) -> Option<u32> {
    let (me, size) = (t.args.rank, t.args.size);
    let rest = size - me;
    below(i, size).map(|i| if i < rest { me + i } else { i - rest })
}

/// All ranks if this one is the root, else none.
#[inline(always)]
pub(crate) fn at_root(t: &Turn, i: u32) -> Option<u32> {
    if t.args.rank == t.args.root {
        below(i, t.args.size)
    } else {
        None
    }
}

/// The root, and at the root itself.
#[inline(always)]
pub(crate) fn root_only(t: &Turn, i: u32) -> Option<u32> {
    (i == 0).then_some(t.args.root)
}
