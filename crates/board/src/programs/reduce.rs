//! Reductions whose result one member, or every member, gets whole or in part:
//! reduce, allreduce, reduce_scatter.

use catena_coll::{Args, Layout, cut};
use catena_schedule::{Buf, Order, Region};

use super::barrier::{LEADER, through_leader};
use super::rooted::is_root;
use crate::board::Board;
use crate::limits::INLINE;
use crate::payload::{LEFT, Payload};
use crate::program::{Program, Turn, below};
use crate::trouble::Trouble;

/// Combines bytes from `at` on of a payload with this member's `own` operand;
/// `into` is elsewhere, or the same. `order` as in [`Board::combine`].
#[inline(always)]
fn merge<B: Board>(
    (from, at): (&Payload, usize),
    own: Region,
    into: Region,
    order: Order,
    board: &mut B,
) -> Result<(), Trouble> {
    if own == into {
        board.combine(from, at, into, order)
    } else {
        board.join(from, at, own, into, order)
    }
}

/// Whether the first two operands are this member's own and another's, so that
/// neither is copied before they are combined. The own one may only be left in
/// the ring, unless it `stays` where the program has it.
#[inline(always)]
fn begins_with_own(t: &Turn, stays: bool) -> bool {
    t.args.rank < 2 && t.args.size > 1 && stays
}

/// Operands from rank 0 upwards, so that the result is the same to the bit
/// wherever it is computed.
#[inline(always)]
pub(crate) fn upwards(t: &Turn, i: u32, stays: bool) -> Option<u32> {
    let size = t.args.size;
    match (begins_with_own(t, stays), i) {
        (false, _) => below(i, size),
        (true, 0) => Some(1 - t.args.rank),
        (true, _) => below(i + 1, size),
    }
}

/// Takes the `i`-th operand in the order of [`upwards`]: bytes from `at` on of a
/// payload, or this member's `own` operand. Unless that `stays`, it was
/// overwritten, but it has been published.
#[inline(always)]
pub(crate) fn take_upwards<B: Board>(
    t: &Turn,
    (from, i, stays): (&Payload, u32, bool),
    at: usize,
    own: Region,
    into: Region,
    board: &mut B,
) -> Result<(), Trouble> {
    let mine = from.rank == t.args.rank && stays;
    let order = if from.rank == 0 {
        Order::FromLeft
    } else {
        Order::FromRight
    };
    match (i, mine) {
        (0, true) => board.copy(own, into),
        (_, true) => board.fold(own, into, order)?,
        (0, false) if begins_with_own(t, stays) => merge((from, at), own, into, order, board)?,
        (0, false) => board.get(from, at, into)?,
        (_, false) => board.combine(from, at, into, order)?,
    }
    Ok(())
}

/// All publish, the root combines. A root that is not `EARLY`, one of the first two, begins with
/// the operands of those, so that its own one has the place that its rank gives it.
pub(crate) struct Reduce<const EARLY: bool>;

impl<const EARLY: bool> Reduce<EARLY> {
    /// [`Program::take`] of a root that is not early, or alone.
    #[inline(always)]
    fn take_late<B: Board>(t: &Turn, from: &Payload, board: &mut B) -> Result<(), Trouble> {
        let (own, into) = (t.of(t.args.vector_in()), t.of(t.args.vector_out()));
        // In place its own operand is where the result goes.
        let below = match t.args.in_place {
            true => Region::new(Buf::Scratch, 0, into.len),
            false => into,
        };
        match from.rank {
            0 if t.args.size > 1 => {}
            1 => {
                let mut first = board.payload(0, from.seq, from.place);
                first.is_taken = t.own.is_taken && first.at & LEFT == 0;
                board.pair((&first, from), 0, below)?;
            }
            rank if rank < t.args.rank => board.combine(from, 0, below, Order::FromRight)?,
            rank if rank > t.args.rank => board.combine(from, 0, into, Order::FromRight)?,
            0 if t.args.in_place => {}
            0 => board.copy(own, into),
            _ if t.args.in_place => board.fold(below, into, Order::FromLeft)?,
            _ => board.fold(own, into, Order::FromRight)?,
        }
        Ok(())
    }
}

impl<const EARLY: bool> Program for Reduce<EARLY> {
    const ALL: bool = false;

    #[inline(always)]
    fn is_sole(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn lends(_: &Args, _: bool) -> bool {
        false
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn reader(t: &Turn) -> Option<u32> {
        (!is_root(t)).then_some(t.args.root)
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        !is_root(t)
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, t.of(t.args.vector_in()));
    }

    #[inline]
    fn scratch(t: &Turn) -> usize {
        match !EARLY && t.args.in_place && is_root(t) {
            true => t.len,
            false => 0,
        }
    }

    /// Upwards; the first two begin with the operand of the other one.
    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        let (me, size) = (t.args.rank, t.args.size);
        if !is_root(t) {
            return None;
        }
        match EARLY {
            true => below(i, size - 1).map(|i| if i < me { 0 } else { i + 1 }),
            false => below(i, size),
        }
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, i: u32, board: &mut B) -> Result<(), Trouble> {
        if !EARLY {
            return Self::take_late(t, from, board);
        }
        let (own, into) = (t.of(t.args.vector_in()), t.of(t.args.vector_out()));
        let order = if from.rank < t.args.rank {
            Order::FromLeft
        } else {
            Order::FromRight
        };
        match i {
            0 => merge((from, 0), own, into, order, board),
            _ => board.combine(from, 0, into, order),
        }
    }
}

/// All publish, all combine.
pub(crate) struct Allreduce;

impl Program for Allreduce {
    const ALL: bool = true;

    /// A member that is in place reads its own payload, too.
    #[inline(always)]
    fn swaps(_: &Turn) -> bool {
        false
    }

    #[inline]
    fn lends(_: &Args, _: bool) -> bool {
        false
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, t.of(t.args.vector_in()));
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        upwards(t, i, !t.args.in_place)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, i: u32, board: &mut B) -> Result<(), Trouble> {
        let (own, into) = (t.of(t.args.vector_in()), t.of(t.args.vector_out()));
        take_upwards(t, (from, i, !t.args.in_place), 0, own, into, board)
    }
}

/// A leader combines, in the order of ranks, and publishes the result.
pub(crate) struct AllreduceLeader;

impl Program for AllreduceLeader {
    const ALL: bool = true;
    const LEADS: bool = true;

    /// A member that is in place reads its own payload, too.
    #[inline(always)]
    fn swaps(_: &Turn) -> bool {
        false
    }

    #[inline]
    fn lends(_: &Args, _: bool) -> bool {
        false
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank != LEADER
    }

    #[inline]
    fn publishes_last(t: &Turn) -> bool {
        t.args.rank == LEADER
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        let leads = t.args.rank == LEADER;
        let from = if leads {
            t.args.vector_out()
        } else {
            t.args.vector_in()
        };
        board.put(&t.own, 0, t.of(from));
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        through_leader(t, i)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let into = t.of(t.args.vector_out());
        if from.rank == t.args.rank {
            if !t.args.in_place {
                board.copy(t.of(t.args.vector_in()), into);
            }
        } else if t.args.rank == LEADER {
            board.combine(from, 0, into, Order::FromRight)?;
        } else {
            board.get(from, 0, into)?;
        }
        Ok(())
    }
}

/// Each member combines a piece and publishes it: two rounds.
pub(crate) struct AllreduceSplit;

impl AllreduceSplit {
    /// A member's piece of the segment.
    #[inline]
    fn piece(t: &Turn, rank: u32, of: Region) -> Region {
        let (from, len) = cut(t.len, t.args.elem, t.args.size, rank);
        t.of(of).part(from, len)
    }
}

impl Program for AllreduceSplit {
    const ALL: bool = true;
    const ROUNDS: u8 = 2;

    /// Everybody wants the results.
    #[inline(always)]
    fn is_sole(t: &Turn) -> bool {
        t.round == 0 || t.args.size == 2
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn lends(_: &Args, _: bool) -> bool {
        false
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        let all = t.of(t.args.vector_in());
        let (at, len) = cut(t.len, t.args.elem, t.args.size, t.args.rank);
        if t.round > 0 {
            board.put(&t.own, 0, Self::piece(t, t.args.rank, t.args.vector_out()));
        } else if t.args.in_place {
            board.put(&t.own, 0, all);
        } else {
            // Nobody else reads this member's piece.
            let behind = at + len;
            board.put(&t.own, 0, all.part(0, at));
            board.put(&t.own, behind, all.part(behind, t.len - behind));
        }
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        if t.round == 0 {
            upwards(t, i, !t.args.in_place)
        } else {
            below(i, t.args.size)
        }
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, i: u32, board: &mut B) -> Result<(), Trouble> {
        let me = t.args.rank;
        if t.round > 0 {
            if from.rank != me {
                board.get(from, 0, Self::piece(t, from.rank, t.args.vector_out()))?;
            }
            return Ok(());
        }
        let (at, _) = cut(t.len, t.args.elem, t.args.size, me);
        let own = Self::piece(t, me, t.args.vector_in());
        let into = Self::piece(t, me, t.args.vector_out());
        take_upwards(t, (from, i, !t.args.in_place), at, own, into, board)
    }
}

/// All publish their vectors, each combines its block. A vector that fits into
/// the record is published as it is.
///
/// Members may differ in whether they are in place, so what one publishes does
/// not depend on it: the result of such a one grows in memory of its own, as its
/// operand may lie where it goes.
pub(crate) struct ReduceScatter;

impl ReduceScatter {
    #[inline]
    fn is_short(a: &Args) -> bool {
        a.send.end(a.size) <= INLINE
    }

    /// Where the result of a segment goes, and where it grows.
    #[inline]
    fn result(t: &Turn) -> (Region, Region) {
        let into = t.of(t.args.result_block());
        match t.args.in_place {
            true => (into, Region::new(Buf::Scratch, 0, into.len)),
            false => (into, into),
        }
    }
}

impl Program for ReduceScatter {
    const ALL: bool = true;
    /// A member that gets nothing may be far ahead.
    const MUTUAL: bool = false;

    #[inline(always)]
    fn decider(t: &Turn) -> Option<u32> {
        let all_wait = (0..t.args.size).all(|i| t.args.send.len(i) > 0);
        all_wait.then_some(0)
    }

    #[inline(always)]
    fn swaps(t: &Turn) -> bool {
        t.args.size == 2 && matches!(t.args.send, Layout::Even(_))
    }

    #[inline(always)]
    fn is_sole(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        if Self::is_short(a) {
            return a.send.end(a.size);
        }
        match a.send {
            Layout::Even(len) => len,
            Layout::Table { counts, .. } => counts.iter().copied().max().unwrap_or(0),
        }
    }

    #[inline]
    fn blocks(a: &Args) -> usize {
        match Self::is_short(a) {
            true => 1,
            false => a.size as usize - 1,
        }
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        if !Self::is_short(t.args) {
            return t.put_blocks(board, |i| t.args.vector_block(i));
        }
        let first = t.args.vector_block(0);
        let whole = Region {
            len: t.whole,
            ..first
        };
        board.put(&t.own, 0, whole);
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        board.address(Region {
            offset: 0,
            ..t.args.vector_block(0)
        })
    }

    #[inline]
    fn scratch(t: &Turn) -> usize {
        if t.args.in_place { t.len } else { 0 }
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        upwards(t, i, true)
    }

    #[inline(always)]
    fn wants(t: &Turn, _: u32, _: u32) -> bool {
        t.args.send.len(t.args.rank) > 0
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, i: u32, board: &mut B) -> Result<(), Trouble> {
        let block = t.args.vector_block(t.args.rank);
        let at = match t.is_direct() || Self::is_short(t.args) {
            true => block.offset,
            false => t.block_at(from.rank, t.args.rank),
        };
        let (_, into) = Self::result(t);
        take_upwards(t, (from, i, true), at, t.of(block), into, board)
    }

    #[inline]
    fn finish<B: Board>(t: &Turn, board: &mut B) {
        if t.args.in_place {
            let (into, from) = Self::result(t);
            board.copy(from, into);
        }
    }
}
