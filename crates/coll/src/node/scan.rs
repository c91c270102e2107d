//! Reductions over those below: scan, exscan.

use super::board::{Board, Payload};
use super::error::Trouble;
use super::program::{Program, Turn};
use super::reduce::{take_upwards, upwards};
use crate::Args;

/// All publish, each combines those below its own, and its own if `INCLUSIVE`.
pub(super) struct Scan<const INCLUSIVE: bool>;

impl<const INCLUSIVE: bool> Scan<INCLUSIVE> {
    /// Operands of this member's result.
    #[inline]
    fn end(t: &Turn) -> u32 {
        t.args.rank + u32::from(INCLUSIVE)
    }
}

impl<const INCLUSIVE: bool> Program for Scan<INCLUSIVE> {
    const ALL: bool = false;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank + 1 < t.args.size || INCLUSIVE && t.args.in_place && !t.is_direct()
    }

    #[inline]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, t.of(t.args.vector_in()));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        board.address(t.args.vector_in())
    }

    #[inline]
    fn scratch(t: &Turn) -> usize {
        t.len
    }

    #[inline]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        upwards(t, i, Self::end(t))
    }

    #[inline]
    fn take<B: Board>(t: &Turn, from: &Payload, i: u32, board: &mut B) -> Result<(), Trouble> {
        let into = t.grows(t.of(t.args.vector_out()));
        take_upwards(
            t,
            (from, i, Self::end(t)),
            0,
            t.of(t.args.vector_in()),
            into,
            board,
        )
    }

    #[inline]
    fn uses(t: &Turn, rank: u32) -> bool {
        rank > t.args.rank
    }

    #[inline]
    fn finish<B: Board>(t: &Turn, board: &mut B) {
        if INCLUSIVE || t.args.rank > 0 {
            t.harvest(t.args.vector_out(), board);
        }
    }
}
