//! How a payload gets to the others, and how much of it at a time.

use catena_coll::Args;

use crate::limits::{INLINE, LINE};
use crate::member::{FEW, Member};
use crate::payload::PayloadPlace;
use crate::program::{Program, Turn};

/// What one member has for others comes in so many segments, unless they are
/// shorter than `PART`: they read the first while the second is written.
const PARTS: usize = 4;
const PART: usize = 64 << 10;

/// Where ranks outnumber cores, payloads of up to [`FEW`] members, or of so many bytes, are taken
/// by all their readers. Measured here: 64 KiB from one of 4 take 8 instead of 18 µs.
const LONG: usize = 16 << 10;

/// How this member's payload gets to the others, and the longest segment.
#[inline]
pub(crate) fn place<P: Program>(
    whole: usize,
    args: &Args,
    member: &Member,
) -> (PayloadPlace, usize) {
    let (blocks, elem) = (P::blocks(args), args.elem.max(1));
    if whole * blocks <= INLINE {
        return (PayloadPlace::Line, whole);
    }
    let lent = match P::VARIES {
        true => whole >= lent_from(member),
        false => {
            let from = match blocks {
                1 => member.direct_from(whole * blocks),
                _ => member.direct_of_several(whole * blocks),
            };
            P::lends(args, member.oversubscribed) && whole >= from
        }
    };
    if lent {
        return (PayloadPlace::Direct, whole);
    }
    if P::VARIES {
        return (PayloadPlace::Ring, whole);
    }
    let is_long = member.size == 2 && member.limits.is_long(whole * blocks);
    let ring = member.limits.bytes(is_long);
    let mut segment = match P::ROUNDS {
        // Each segment takes a turn of all on their cores.
        1 if member.takes_turns() || P::MUTUAL && member.oversubscribed => ring / 2,
        1 => ring / 4,
        // All wait for all in every round: the fewer there are the better.
        _ => ring,
    };
    debug_assert!(member.limits.holds(elem, blocks), "it was chosen");
    if !P::ALL && !member.takes_turns() {
        segment = segment.min((whole * blocks / PARTS).max(PART));
    }
    (
        PayloadPlace::Ring,
        longest_segment(whole, blocks, elem, segment),
    )
}

/// Whether the payloads of an operation are in the long ring.
#[inline(always)]
pub(crate) fn uses_long<P: Program>(turn: &Turn, member: &Member) -> bool {
    match P::VARIES {
        true => member.limits.long > 0 && turn.whole > member.limits.row(false),
        false => member.size == 2 && member.limits.is_long(turn.whole * P::blocks(turn.args)),
    }
}

/// Whether who reads a payload takes its lines. Several readers would take them from each other,
/// but for few cores, where the next reader mostly is where the last one was.
#[inline(always)]
pub(crate) fn is_taken<P: Program>(turn: &Turn, oversubscribed: bool) -> bool {
    P::is_sole(turn) || oversubscribed && (turn.args.size <= FEW || turn.len >= LONG)
}

/// Where not all know the lengths, there are no segments.
#[inline]
pub(crate) fn lent_from(member: &Member) -> usize {
    member.direct_from(0).min(member.limits.longest_row() + 1)
}

/// Bytes of each block in one segment of about `segment` bytes: all, if that many blocks fit; else
/// whole elements, and at least one of each block, as
/// [`Limits::holds`](crate::limits::Limits::holds) says that there is room for it.
#[inline]
pub(crate) fn longest_segment(extent: usize, blocks: usize, elem: usize, segment: usize) -> usize {
    if extent * blocks <= segment {
        return extent;
    }
    let fits = (segment / blocks).max(elem);
    // Whole cache lines if they hold whole elements.
    let unit = if elem <= LINE && LINE.is_multiple_of(elem) && fits >= LINE {
        LINE
    } else {
        elem
    };
    fits - fits % unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_whole_elements_and_never_nothing() {
        for elem in [1, 3, 4, 48, 63, 64, 65, 4096, 20_000, 65_536] {
            for blocks in [1, 2, 5, 64] {
                for segment in [64, 256, PART, 4 * PART, 1 << 20] {
                    let extent = elem * (segment / blocks / elem + 3);
                    let len = longest_segment(extent, blocks, elem, segment);
                    assert!(
                        len > 0 && len.is_multiple_of(elem),
                        "{elem} {blocks} {segment}: {len}"
                    );
                    assert!(len * blocks <= segment.max(elem * blocks));
                }
            }
        }
    }
}
