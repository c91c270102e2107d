//! From one to all and from all to one: bcast, scatter, gather; between two members, who both know
//! its length, also a block of scatterv and gatherv. Those are in `rows` otherwise.

use catena_coll::Args;
use catena_schedule::Region;

use super::rows::fits;
use crate::board::Board;
use crate::payload::Payload;
use crate::program::{Program, Turn, at_root, first, root_only};
use crate::trouble::Trouble;

/// The kernel copies whole pages best.
const PAGE: usize = 4096;

#[inline]
pub(crate) fn is_root(t: &Turn) -> bool {
    t.args.rank == t.args.root
}

/// The root publishes. Direct, the other one does too, and each copies half.
pub(crate) struct Bcast;

/// One of two members has `block`, and the other one wants it; each shows where
/// it has it or wants it, and copies half. `peer` is what the other one shows.
#[inline(always)]
pub(crate) fn copy_half<B: Board>(
    has: bool,
    block: Region,
    peer: &Payload,
    board: &mut B,
) -> Result<(), Trouble> {
    let half = (block.len / 2).next_multiple_of(PAGE).min(block.len);
    if has {
        board.give(peer, half, block.part(half, block.len - half))?;
    } else {
        board.get(peer, 0, block.part(0, half))?;
    }
    Ok(())
}

impl Program for Bcast {
    const ALL: bool = false;

    #[inline(always)]
    fn decider(t: &Turn) -> Option<u32> {
        Some(t.args.root)
    }

    #[inline]
    fn lends(a: &Args, oversubscribed: bool) -> bool {
        a.size == 2 && !oversubscribed
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        a.recv.len(0)
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        is_root(t) || t.is_direct()
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, t.of(t.args.recv_block(0)));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        board.address(t.args.recv_block(0))
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        match (t.is_direct(), is_root(t)) {
            (true, _) => (i == 0).then_some(1 - t.args.rank),
            (false, true) => None,
            (false, false) => (i == 0).then_some(t.args.root),
        }
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let all = t.of(t.args.recv_block(0));
        if !t.is_direct() {
            return Ok(board.get(from, 0, all)?);
        }
        copy_half(is_root(t), all, from, board)
    }
}

/// The root publishes all blocks.
pub(crate) struct Scatter;

impl Program for Scatter {
    const ALL: bool = false;

    #[inline(always)]
    fn decider(t: &Turn) -> Option<u32> {
        Some(t.args.root)
    }

    #[inline(always)]
    fn is_sole(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        if a.rank == a.root {
            a.send.len(first(a.rank))
        } else {
            a.recv.len(a.rank)
        }
    }

    #[inline]
    fn blocks(a: &Args) -> usize {
        a.size as usize - 1
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        is_root(t)
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        t.put_blocks(board, |i| t.args.send_block(i));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        board.address(t.args.send_block(first(t.args.rank)))
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        root_only(t, i)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let me = t.args.rank;
        if !is_root(t) {
            let into = t.of(Region::output(0, t.whole));
            board.get(from, t.block_at(from.rank, me), into)?;
        } else if !t.args.in_place && t.is_last() {
            // The others have all that they wait for.
            let own = t.args.send_block(me);
            let into = Region::output(0, t.args.recv.len(me));
            fits(t, me, own.len as u64, into.len)?;
            board.keep(own, into, own.len);
        }
        Ok(())
    }
}

/// All publish, the root copies. Direct, the others write: at the same time, and
/// while the root copies its own block.
pub(crate) struct Gather;

impl Program for Gather {
    const ALL: bool = false;

    #[inline(always)]
    fn decider(t: &Turn) -> Option<u32> {
        t.is_direct().then_some(t.args.root)
    }

    #[inline(always)]
    fn is_sole(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        if a.rank == a.root {
            a.recv.len(first(a.rank))
        } else {
            a.send.len(a.rank)
        }
    }

    #[inline]
    fn reader(t: &Turn) -> Option<u32> {
        (!is_root(t)).then_some(t.args.root)
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        !is_root(t) || t.is_direct()
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, t.of(Region::input(0, t.whole)));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        if is_root(t) {
            board.address(t.args.recv_block(first(t.args.rank)))
        } else {
            0
        }
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        if t.is_direct() && !is_root(t) {
            root_only(t, i)
        } else {
            at_root(t, i)
        }
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let me = t.args.rank;
        if !is_root(t) {
            let own = t.of(Region::input(0, t.whole));
            return Ok(board.give(from, t.block_at(from.rank, me), own)?);
        }
        let into = t.args.recv_block(from.rank);
        if from.rank == me {
            if !t.args.in_place {
                let own = Region::input(0, into.len);
                board.keep(t.of_own(own), t.of_own(into), into.len);
            }
        } else if !t.is_direct() {
            board.get(from, 0, t.of(into))?;
        }
        Ok(())
    }

    #[inline]
    fn uses(t: &Turn, _: u32) -> bool {
        is_root(t)
    }
}
