//! The operations. A result that all members receive is combined from rank 0
//! upwards by each of them, or by one of them for all, so it is the same to the
//! bit. In place, a member's own operand is read back from its own record.

use catena_plan::{Order, Region};

use super::Board;
use super::program::{Program, Turn};
use crate::Args;
use crate::args::cut;

/// The rank that leads where somebody has to.
const LEADER: u32 = 0;

#[inline]
fn below(i: u32, end: u32) -> Option<u32> {
    (i < end).then_some(i)
}

/// All ranks if this one is `root`, else none.
#[inline]
fn at_root(t: &Turn, i: u32) -> Option<u32> {
    if t.args.rank == t.args.root {
        below(i, t.args.size)
    } else {
        None
    }
}

/// Only `root`, unless this is it.
#[inline]
fn only(root: u32, t: &Turn, i: u32) -> Option<u32> {
    (i == 0 && t.args.rank != root).then_some(root)
}

pub(super) struct Barrier;

impl Program for Barrier {
    const ALL: bool = true;
    const EMPTY: bool = true;

    #[inline]
    fn extent(_: &Args) -> usize {
        0
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn put<B: Board>(_: &Turn, _: &mut B) {}

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        below(i, t.args.size)
    }

    #[inline]
    fn take<B: Board>(_: &Turn, _: u32, _: u32, _: &mut B) {}
}

pub(super) struct BarrierLeader;

impl Program for BarrierLeader {
    const ALL: bool = true;
    const EMPTY: bool = true;

    #[inline]
    fn extent(_: &Args) -> usize {
        0
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank != LEADER
    }

    #[inline]
    fn publishes_last(t: &Turn) -> bool {
        t.args.rank == LEADER
    }

    #[inline]
    fn put<B: Board>(_: &Turn, _: &mut B) {}

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        if t.args.rank == LEADER {
            below(i, t.args.size)
        } else {
            only(LEADER, t, i)
        }
    }

    #[inline]
    fn take<B: Board>(_: &Turn, _: u32, _: u32, _: &mut B) {}
}

pub(super) struct Bcast;

impl Program for Bcast {
    const ALL: bool = false;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.recv.len(0)
    }

    #[inline]
    fn root(a: &Args) -> u32 {
        a.root
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank == t.args.root
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(t.place, t.seq, 0, t.of(t.args.recv_block(0)));
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        only(t.args.root, t, i)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        board.get(t.place, rank, t.seq, 0, t.of(t.args.recv_block(0)));
    }
}

pub(super) struct Reduce;

impl Program for Reduce {
    const ALL: bool = false;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn root(a: &Args) -> u32 {
        a.root
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank != t.args.root
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(t.place, t.seq, 0, t.of(t.args.vector_in()));
    }

    /// The root itself, those below it downwards, those above it upwards: the
    /// order of operands is kept and the own one is in place.
    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        at_root(t, i)?;
        Some(if i <= t.args.rank { t.args.rank - i } else { i })
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        let into = t.of(t.args.vector_out());
        if rank == t.args.rank {
            if !t.args.in_place {
                board.copy(t.of(t.args.vector_in()), into);
            }
        } else {
            let order = if rank < t.args.rank {
                Order::FromLeft
            } else {
                Order::FromRight
            };
            board.combine(t.place, rank, t.seq, 0, into, order);
        }
    }
}

/// Takes the `rank`-th operand of a reduction that starts with rank 0, from
/// byte `at` of its payload. This member's own has been published.
#[inline]
fn fold<B: Board>(t: &Turn, rank: u32, at: usize, into: Region, board: &mut B) {
    if rank == 0 {
        board.get(t.place, rank, t.seq, at, into);
    } else {
        board.combine(t.place, rank, t.seq, at, into, Order::FromRight);
    }
}

pub(super) struct Allreduce;

impl Program for Allreduce {
    const ALL: bool = true;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(t.place, t.seq, 0, t.of(t.args.vector_in()));
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        below(i, t.args.size)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        fold(t, rank, 0, t.of(t.args.vector_out()), board);
    }
}

pub(super) struct AllreduceLeader;

impl Program for AllreduceLeader {
    const ALL: bool = true;

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

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        let leads = t.args.rank == LEADER;
        let from = if leads {
            t.args.vector_out()
        } else {
            t.args.vector_in()
        };
        board.put(t.place, t.seq, 0, t.of(from));
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        if t.args.rank == LEADER {
            below(i, t.args.size)
        } else {
            only(LEADER, t, i)
        }
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        let into = t.of(t.args.vector_out());
        if rank == t.args.rank {
            if !t.args.in_place {
                board.copy(t.of(t.args.vector_in()), into);
            }
        } else if t.args.rank == LEADER {
            board.combine(t.place, rank, t.seq, 0, into, Order::FromRight);
        } else {
            board.get(t.place, rank, t.seq, 0, into);
        }
    }
}

pub(super) struct AllreduceSplit;

impl AllreduceSplit {
    /// Offset and length of a member's piece within the segment.
    #[inline]
    fn piece(t: &Turn, rank: u32) -> (usize, usize) {
        cut(t.len, t.args.elem, t.args.size, rank)
    }
}

impl Program for AllreduceSplit {
    const ALL: bool = true;
    const ROUNDS: u8 = 2;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        let from = if t.round == 0 {
            t.of(t.args.vector_in())
        } else {
            let (from, len) = Self::piece(t, t.args.rank);
            t.of(t.args.vector_out()).part(from, len)
        };
        board.put(t.place, t.seq, 0, from);
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        below(i, t.args.size)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        let all = t.of(t.args.vector_out());
        if t.round == 0 {
            let (from, len) = Self::piece(t, t.args.rank);
            fold(t, rank, from, all.part(from, len), board);
        } else if rank != t.args.rank {
            let (from, len) = Self::piece(t, rank);
            board.get(t.place, rank, t.seq, 0, all.part(from, len));
        }
    }
}

/// This member's block of a gather.
#[inline]
fn own_block(a: &Args, place: impl Fn() -> Region) -> Region {
    if a.in_place {
        place()
    } else {
        Region::input(0, a.send.len(a.rank))
    }
}

pub(super) struct Allgather;

impl Program for Allgather {
    const ALL: bool = true;

    #[inline]
    fn extent(a: &Args) -> usize {
        match a.recv {
            crate::Layout::Even(len) => len,
            crate::Layout::Table { counts, .. } => counts.iter().copied().max().unwrap_or(0),
        }
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        let mine = own_block(t.args, || t.args.recv_block(t.args.rank));
        board.put(t.place, t.seq, 0, t.of(mine));
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        below(i, t.args.size)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        if rank != t.args.rank || !t.args.in_place {
            board.get(t.place, rank, t.seq, 0, t.of(t.args.recv_block(rank)));
        }
    }
}

pub(super) struct Gather;

impl Program for Gather {
    const ALL: bool = false;

    #[inline]
    fn extent(a: &Args) -> usize {
        if a.rank == a.root {
            a.recv.len(a.rank)
        } else {
            a.send.len(a.rank)
        }
    }

    #[inline]
    fn root(a: &Args) -> u32 {
        a.root
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank != t.args.root
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(t.place, t.seq, 0, t.of(Region::input(0, t.whole)));
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        at_root(t, i)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        let into = t.of(t.args.recv_block(rank));
        if rank != t.args.rank {
            board.get(t.place, rank, t.seq, 0, into);
        } else if !t.args.in_place {
            board.copy(t.of(Region::input(0, t.whole)), into);
        }
    }
}

pub(super) struct Scatter;

impl Program for Scatter {
    const ALL: bool = false;

    #[inline]
    fn extent(a: &Args) -> usize {
        if a.rank == a.root {
            a.send.len(a.rank)
        } else {
            a.recv.len(a.rank)
        }
    }

    #[inline]
    fn blocks(a: &Args) -> usize {
        a.size as usize
    }

    #[inline]
    fn root(a: &Args) -> u32 {
        a.root
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank == t.args.root
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        t.put_blocks(board, |i| t.args.send_block(i));
        if !t.args.in_place {
            let mine = t.of(t.args.send_block(t.args.rank));
            board.copy(mine, t.of(Region::output(0, t.whole)));
        }
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        only(t.args.root, t, i)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        let at = t.args.rank as usize * t.len;
        board.get(t.place, rank, t.seq, at, t.of(Region::output(0, t.whole)));
    }
}

pub(super) struct Alltoall;

impl Program for Alltoall {
    const ALL: bool = true;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.recv.len(0)
    }

    #[inline]
    fn blocks(a: &Args) -> usize {
        a.size as usize
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        if t.args.in_place {
            t.put_blocks(board, |i| t.args.recv_block(i));
        } else {
            t.put_blocks(board, |i| t.args.send_block(i));
        }
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        below(i, t.args.size)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        if rank != t.args.rank || !t.args.in_place {
            let at = t.args.rank as usize * t.len;
            board.get(t.place, rank, t.seq, at, t.of(t.args.recv_block(rank)));
        }
    }
}

pub(super) struct ReduceScatter;

impl Program for ReduceScatter {
    const ALL: bool = true;

    #[inline]
    fn extent(a: &Args) -> usize {
        match a.send {
            crate::Layout::Even(len) => len,
            crate::Layout::Table { counts, .. } => counts.iter().copied().max().unwrap_or(0),
        }
    }

    #[inline]
    fn blocks(a: &Args) -> usize {
        a.size as usize
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        t.put_blocks(board, |i| crate::reduce_scatter::block_in(t.args, i));
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        below(i, t.args.size)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        let at = t.args.rank as usize * t.len;
        fold(
            t,
            rank,
            at,
            t.of(crate::reduce_scatter::result(t.args)),
            board,
        );
    }
}

pub(super) struct Scan;

impl Program for Scan {
    const ALL: bool = false;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(t.place, t.seq, 0, t.of(t.args.vector_in()));
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        below(i, t.args.rank + 1)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        fold(t, rank, 0, t.of(t.args.vector_out()), board);
    }
}

pub(super) struct Exscan;

impl Program for Exscan {
    const ALL: bool = false;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank + 1 < t.args.size
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(t.place, t.seq, 0, t.of(t.args.vector_in()));
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        below(i, t.args.rank)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, rank: u32, _: u32, board: &mut B) {
        fold(t, rank, 0, t.of(t.args.vector_out()), board);
    }
}
