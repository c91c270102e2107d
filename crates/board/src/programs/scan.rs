//! Reductions over those below: scan, exscan.
//!
//! A chain: each member reads the prefix that the one below has published,
//! and publishes its own for the one above. That is one payload to read and
//! one to write for each, whatever their number, and calls follow each other
//! through the chain as through a pipe. Of two members the first has nothing
//! else to do in an exscan: both copy, as in a bcast.

use catena_coll::Args;
use catena_schedule::{Buf, Order, Region};

use super::rooted::copy_half;
use crate::board::Board;
use crate::payload::Payload;
use crate::program::{Program, Turn};
use crate::trouble::Trouble;

/// A member gets the prefix that ends with its own operand if `INCLUSIVE`,
/// else the one before.
pub(crate) struct Scan<const INCLUSIVE: bool>;

impl<const INCLUSIVE: bool> Scan<INCLUSIVE> {
    /// Whether two members copy what the first one has together.
    #[inline]
    fn is_joint(t: &Turn) -> bool {
        !INCLUSIVE && t.is_direct()
    }

    /// The prefix that ends with this member's operand, which it publishes.
    #[inline]
    fn prefix(t: &Turn) -> Region {
        match t.args.rank {
            0 => t.of(t.args.vector_in()),
            _ if INCLUSIVE => t.of(t.args.vector_out()),
            _ => Region::new(Buf::Scratch, 0, t.len),
        }
    }
}

impl<const INCLUSIVE: bool> Program for Scan<INCLUSIVE> {
    const ALL: bool = false;

    /// Of two, the second reads what the first one has published.
    #[inline(always)]
    fn decider(t: &Turn) -> Option<u32> {
        (t.args.size == 2).then_some(0)
    }

    #[inline(always)]
    fn is_sole(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    /// A member that lends its prefix waits for the next one, and the chain stops.
    #[inline]
    fn lends(a: &Args, oversubscribed: bool) -> bool {
        a.size == 2 && (INCLUSIVE || !oversubscribed)
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank == 0 || Self::is_joint(t)
    }

    #[inline]
    fn publishes_last(t: &Turn) -> bool {
        (1..t.args.size - 1).contains(&t.args.rank)
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, Self::prefix(t));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        if t.args.rank > 0 && Self::is_joint(t) {
            return board.address(t.args.vector_out());
        }
        board.address(Self::prefix(t))
    }

    #[inline]
    fn scratch(t: &Turn) -> usize {
        if Self::publishes_last(t) && !INCLUSIVE {
            t.len
        } else {
            0
        }
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        let from = if Self::is_joint(t) {
            1 - t.args.rank
        } else {
            t.args.rank.saturating_sub(1)
        };
        (i == 0).then_some(from)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let (own, out) = (t.of(t.args.vector_in()), t.of(t.args.vector_out()));
        if Self::is_joint(t) {
            let first = t.args.rank == 0;
            copy_half(first, if first { own } else { out }, from, board)?;
        } else if t.args.rank == 0 {
            if INCLUSIVE && !t.args.in_place {
                board.copy(own, out);
            }
        } else if INCLUSIVE && t.args.in_place {
            board.combine(from, 0, out, Order::FromLeft)?;
        } else if INCLUSIVE {
            board.join(from, 0, own, out, Order::FromLeft)?;
        } else {
            if Self::publishes_last(t) {
                board.join(from, 0, own, Self::prefix(t), Order::FromLeft)?;
            }
            board.get(from, 0, out)?;
        }
        Ok(())
    }

    #[inline]
    fn uses(t: &Turn, rank: u32) -> bool {
        rank == t.args.rank + 1 || Self::is_joint(t)
    }
}
