//! From all to all: allgather(v), alltoall. Alltoallv is in `rows`.

use catena_plan::{Buf, Region};

use super::board::{Board, Payload};
use super::error::Trouble;
use super::program::{Program, Turn, around};
use crate::{Args, Layout};

/// All publish, all copy. Also allgatherv.
pub(super) struct Allgather;

impl Allgather {
    /// This member's block.
    #[inline]
    fn own(a: &Args) -> Region {
        if a.in_place {
            a.recv_block(a.rank)
        } else {
            Region::input(0, a.send.len(a.rank))
        }
    }
}

impl Program for Allgather {
    const ALL: bool = true;

    #[inline]
    fn lends(a: &Args, _: bool) -> bool {
        a.size <= 4
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        match a.recv {
            Layout::Even(len) => len,
            Layout::Table { counts, .. } => counts.iter().copied().max().unwrap_or(0),
        }
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, t.of(Self::own(t.args)));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        board.address(Self::own(t.args))
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        around(t, i)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let into = t.of(t.args.recv_block(from.rank));
        if from.rank != t.args.rank {
            board.get(from, 0, into)?;
        } else if !t.args.in_place {
            t.keep(t.of(Self::own(t.args)), into, board);
        }
        Ok(())
    }

    #[inline(always)]
    fn meanwhile<B: Board>(t: &Turn, board: &mut B) {
        if t.is_direct() && !t.args.in_place {
            t.keep_rest(Self::own(t.args), t.args.recv_block(t.args.rank), board);
        }
    }
}

/// All publish all blocks.
pub(super) struct Alltoall;

impl Program for Alltoall {
    const ALL: bool = true;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.recv.len(0)
    }

    #[inline]
    fn blocks(a: &Args) -> usize {
        a.size as usize - 1
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        if t.args.in_place {
            t.put_blocks(board, |i| t.args.recv_block(i));
        } else {
            t.put_blocks(board, |i| t.args.send_block(i));
        }
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        if !t.args.in_place {
            return board.address(t.args.send_block(0));
        }
        // Blocks arrive where the others still read.
        let all = Self::scratch(t);
        let copy = Region::new(Buf::Scratch, 0, all);
        board.copy(Region::output(0, all), copy);
        board.address(copy)
    }

    #[inline]
    fn scratch(t: &Turn) -> usize {
        let all = t.whole * t.args.size as usize;
        if t.is_lent() { all } else { 0 }
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        around(t, i)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let into = t.of(t.args.recv_block(from.rank));
        if from.rank != t.args.rank {
            board.get(from, t.block_at(from.rank, t.args.rank), into)?;
        } else if !t.args.in_place {
            t.keep(t.of(t.args.send_block(t.args.rank)), into, board);
        }
        Ok(())
    }

    #[inline(always)]
    fn meanwhile<B: Board>(t: &Turn, board: &mut B) {
        let me = t.args.rank;
        if t.is_direct() && !t.args.in_place {
            t.keep_rest(t.args.send_block(me), t.args.recv_block(me), board);
        }
    }
}
