//! What distinguishes one operation on a board from another.

use catena_plan::Region;

use super::{Board, Place};
use crate::Args;

/// One round of one segment of an operation on one member.
pub(super) struct Turn<'t, 'a> {
    pub(super) args: &'t Args<'a>,
    /// The segment is `[offset, offset + len)` of every block.
    pub(super) offset: usize,
    pub(super) len: usize,
    /// Length of the longest block.
    pub(super) whole: usize,
    pub(super) round: u8,
    pub(super) place: Place,
    pub(super) seq: u64,
}

impl Turn<'_, '_> {
    /// The part of a block that belongs to this segment; blocks may be shorter
    /// than the longest.
    #[inline]
    pub(super) fn of(&self, block: Region) -> Region {
        let from = self.offset.min(block.len);
        block.part(from, self.len.min(block.len - from))
    }

    /// Puts block i at i times the length of the segment, for every i.
    #[inline]
    pub(super) fn put_blocks<B: Board>(&self, board: &mut B, block: impl Fn(u32) -> Region) {
        for i in 0..self.args.size {
            board.put(
                self.place,
                self.seq,
                i as usize * self.len,
                self.of(block(i)),
            );
        }
    }
}

/// An operation, as a type so that each gets code of its own.
pub(super) trait Program {
    /// Whether completing a round proves that every member has begun it.
    const ALL: bool;
    /// Rounds of one segment.
    const ROUNDS: u8 = 1;
    /// Whether it does anything without data.
    const EMPTY: bool = false;

    /// Bytes of the longest block; alike on all members.
    fn extent(args: &Args) -> usize;

    /// Blocks in one payload.
    #[inline]
    fn blocks(_args: &Args) -> usize {
        1
    }

    /// The root, if there is one, for comparison.
    #[inline]
    fn root(_args: &Args) -> u32 {
        0
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

    /// The `i`-th rank to hear from; may be the own one.
    fn source(turn: &Turn, i: u32) -> Option<u32>;

    /// Takes what `rank`, the `i`-th source, has published.
    fn take<B: Board>(turn: &Turn, rank: u32, i: u32, board: &mut B);
}
