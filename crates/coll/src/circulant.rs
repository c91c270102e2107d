//! Rounds in which every rank sends to those some distances above it, round the
//! ring of ranks, and does the same as all others; so they serve any number of ranks
//! (Bruck, Ho, Kipnis, Upfal, Weathersby, 1997; Träff, 2024).
//!
//! Every rank is in charge of a block; it counts blocks from its own one upwards.
//! What scatters starts with all blocks and narrows them to the first: in a round it
//! gives away those behind the first `keep`, in parts of as many, and each rank that
//! gets a part counts it from its own block on. What gathers goes the other way.

use std::ops::Range;

use catena_schedule::Region;

use crate::Terms;

/// One round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// Blocks before it, and behind it.
    left: u32,
    pub(crate) keep: u32,
}

impl Round {
    /// How far up each message goes, and of how many blocks it is: from the one that
    /// is as far up.
    pub(crate) fn messages(self) -> impl Iterator<Item = (u32, u32)> {
        let starts = (self.keep..self.left).step_by(self.keep as usize);
        starts.map(move |at| (at, self.keep.min(self.left - at)))
    }
}

/// The rounds that narrow `size` blocks to one, in ⌈log p⌉ rounds of at most
/// radix − 1 messages.
pub(crate) fn rounds<const RADIX: u32>(size: u32) -> impl Iterator<Item = Round> + Clone {
    let narrow = |left: u32| Round {
        left,
        keep: left.div_ceil(RADIX),
    };
    let some = |round: Round| (round.left > 1).then_some(round);
    std::iter::successors(some(narrow(size)), move |last| some(narrow(last.keep)))
}

/// Time of those rounds with blocks of one length, and some work on each message.
pub(crate) fn cost<const RADIX: u32>(t: &Terms, block: f64, work: impl Fn(f64) -> f64) -> f64 {
    let round = |r: Round| {
        // The last message may have fewer blocks.
        let number = f64::from(r.left - r.keep) / f64::from(r.keep);
        let bytes = number.min(1.0) * f64::from(r.keep) * block;
        (r.keep, number.max(1.0), bytes, work(bytes))
    };
    // Of three blocks neither of the two that go waits for the other.
    let mut done = false;
    let rounds = rounds::<RADIX>(t.shape.size).map_while(|r| {
        let three = r.left == 3;
        let keep = if three { 1 } else { r.keep };
        (!std::mem::replace(&mut done, three)).then_some(Round { keep, ..r })
    });
    t.shifts(rounds.map(round))
}

/// `number` blocks from `first` on, round the ring of `size`, in a vector in which
/// block i starts at `start(i)`, or ends there for i − 1: two runs of bytes, either of
/// which may be empty.
pub(crate) fn runs(
    vector: Region,
    start: impl Fn(u32) -> usize,
    [first, number, size]: [u32; 3],
) -> [Region; 2] {
    let before = number.min(size - first);
    [first..first + before, 0..number - before].map(|blocks: Range<u32>| {
        let at = start(blocks.start);
        vector.part(at, start(blocks.end) - at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const RADIX: u32>() {
        for size in 1..100 {
            let mut left = size;
            for round in rounds::<RADIX>(size) {
                assert_eq!(round.left, left);
                let mut given = round.keep;
                let mut number = 0;
                for (distance, blocks) in round.messages() {
                    assert_eq!(distance, given);
                    assert!(blocks <= round.keep);
                    given += blocks;
                    number += 1;
                }
                assert_eq!(given, left);
                assert!(number < RADIX);
                left = round.keep;
            }
            assert_eq!(left, 1);
        }
    }

    #[test]
    fn every_block_but_the_first_is_given_once() {
        check::<2>();
        check::<4>();
    }
}
