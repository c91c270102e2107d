//! From one to all and from all to one: bcast, scatter, gather, gatherv.
//! Scatterv is in `rows`.

use catena_plan::Region;

use super::board::{Board, Payload};
use super::error::Trouble;
use super::program::{Program, Turn, at_root, root_only};
use crate::Args;

#[inline]
fn is_root(t: &Turn) -> bool {
    t.args.rank == t.args.root
}

/// The root publishes.
pub(super) struct Bcast;

impl Program for Bcast {
    const ALL: bool = false;

    #[inline]
    fn lends(_: &Args) -> bool {
        false
    }

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
        is_root(t)
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, t.of(t.args.recv_block(0)));
    }

    fn shows<B: Board>(_: &Turn, _: &mut B) -> u64 {
        unreachable!("never direct")
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        (i == 0 && !is_root(t)).then_some(t.args.root)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        Ok(board.get(from, 0, t.of(t.args.recv_block(0)))?)
    }
}

/// The root publishes all blocks.
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
        is_root(t)
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        t.put_blocks(board, |i| t.args.send_block(i));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        board.address(t.args.send_block(0))
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        root_only(t, i)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let into = t.of(Region::output(0, t.whole));
        if !is_root(t) {
            board.get(from, t.args.rank as usize * t.len, into)?;
        } else if !t.args.in_place {
            board.copy(t.of(t.args.send_block(t.args.rank)), into);
        }
        Ok(())
    }
}

/// All publish, the root copies. Lengths differ, or they do not.
pub(super) struct Gather<const VARIES: bool>;

impl<const VARIES: bool> Program for Gather<VARIES> {
    const ALL: bool = false;
    const VARIES: bool = VARIES;
    const EMPTY: bool = VARIES;

    #[inline]
    fn extent(a: &Args) -> usize {
        match a.rank == a.root {
            true if VARIES => 0,
            true => a.recv.len(a.rank),
            false => a.send.len(a.rank),
        }
    }

    #[inline]
    fn root(a: &Args) -> u32 {
        a.root
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        !is_root(t)
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, t.of(Region::input(0, t.whole)));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        board.address(Region::input(0, t.whole))
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        at_root(t, i)
    }

    #[inline]
    fn expects(t: &Turn, rank: u32) -> usize {
        t.args.recv.len(rank)
    }

    #[inline]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let block = t.args.recv_block(from.rank);
        let into = if VARIES { block } else { t.of(block) };
        if from.rank != t.args.rank {
            board.get(from, 0, into)?;
        } else if !t.args.in_place {
            board.copy(Region::input(t.offset, into.len), into);
        }
        Ok(())
    }

    #[inline]
    fn reads(t: &Turn, rank: u32) -> bool {
        rank == t.args.root
    }
}
