//! Runs of any length one after the other.

use std::ops::Range;

use super::Seq;
use super::block;
use super::direction::Direction;
#[cfg(target_arch = "x86_64")]
use crate::processor::has_masks;

/// Copies those runs of a sequence of nothing else; returns where the packed bytes end.
///
/// # Safety
/// Every run is valid, at `packed` there are as many bytes, and the sides do not overlap.
pub(super) unsafe fn runs<D: Direction>(
    s: &Seq,
    which: Range<usize>,
    user: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    // SAFETY: the caller's promise; the processor has what it is asked for.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if has_masks() {
            return by_masks::<D>(s, which, user, packed);
        }
        by_branches::<D>(s, which, user, packed)
    }
}

/// By loads and stores that suit the length.
///
/// # Safety
/// As [`runs`].
#[inline(never)]
unsafe fn by_branches<D: Direction>(
    s: &Seq,
    which: Range<usize>,
    user: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    each(s, which, user, packed, |user, packed, len| {
        // SAFETY: the caller's promise.
        unsafe { block::run::<D>(user, packed, len) }
    })
}

/// By loads and stores of any length: no branch depends on it that would be foreseen wrongly.
///
/// # Safety
/// As [`runs`]; the processor [has masks](has_masks).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
unsafe fn by_masks<D: Direction>(
    s: &Seq,
    which: Range<usize>,
    user: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    each(s, which, user, packed, |user, packed, len| {
        // SAFETY: the caller's promise.
        unsafe { block::masked::<D>(user, packed, len) }
    })
}

/// Calls `copy` for each with its two places and its length; returns where the packed bytes end.
#[inline(always)]
fn each(
    s: &Seq,
    which: Range<usize>,
    user: *mut u8,
    mut packed: *mut u8,
    copy: impl Fn(*mut u8, *mut u8, usize),
) -> *mut u8 {
    let ends = s.starts[which.start..=which.end].windows(2);
    let lens = ends.map(|ends| (ends[1] - ends[0]) as usize);
    for (at, len) in s.at[which].iter().zip(lens) {
        copy(user.wrapping_offset(*at as isize), packed, len);
        packed = packed.wrapping_add(len);
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::super::direction::{Pack, Unpack};
    use super::super::{Builder, Node};
    use super::*;

    const LONGEST: usize = 300;

    /// A gap of one byte is behind each.
    fn of_all_lengths() -> (Seq, usize) {
        let mut runs = Builder::default();
        let mut at = 0;
        for len in 1..=LONGEST {
            runs.push(at as i64, Node::Run(len as u64));
            at += len + 1;
        }
        match runs.finish().unwrap().node {
            Node::Seq(s) => (std::sync::Arc::into_inner(s).unwrap(), at),
            node => panic!("{node:?}"),
        }
    }

    type Copy = unsafe fn(&Seq, Range<usize>, *mut u8, *mut u8) -> *mut u8;

    fn check(pack: Copy, unpack: Copy) {
        let (s, span) = of_all_lengths();
        let mut memory: Vec<u8> = (0..span).map(|i| (i % 250) as u8 + 1).collect();
        let mut packed = Vec::new();
        let mut rest = memory.as_slice();
        for len in 1..=LONGEST {
            packed.extend(&rest[..len]);
            rest = &rest[len + 1..];
        }
        let mut out = vec![0; packed.len() + 64];
        let mut back = vec![0; span];
        // SAFETY: each side has all bytes of the runs.
        unsafe {
            let end = pack(&s, 0..LONGEST, memory.as_mut_ptr(), out.as_mut_ptr());
            assert_eq!(end.offset_from(out.as_ptr()), packed.len() as isize);
            unpack(&s, 0..LONGEST, back.as_mut_ptr(), packed.as_mut_ptr());
        }
        assert!(out[..packed.len()] == packed && out[packed.len()..] == [0; 64]);
        let mut gap = 0;
        for len in 1..=LONGEST {
            gap += len;
            memory[gap] = 0;
            gap += 1;
        }
        assert!(back == memory);
    }

    #[test]
    fn both_ways_copy_runs_of_all_lengths_and_nothing_else() {
        check(by_branches::<Pack>, by_branches::<Unpack>);
        #[cfg(target_arch = "x86_64")]
        if has_masks() {
            check(by_masks::<Pack>, by_masks::<Unpack>);
        }
    }
}
