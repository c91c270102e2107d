//! Which parts of a range of bytes are free: the book-keeping of the heap, without its memory.
//!
//! The shortest free part that is long enough is taken; what is given back joins its free
//! neighbours.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How many parts that are long enough, but perhaps not at the right place, are looked at before
/// one is taken that fits wherever it lies.
const LOOKS: usize = 8;

/// A free part of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    len: usize,
    /// What of it may still hold what was there before it was given back: all that does lies in
    /// this range of places.
    used: Range<usize>,
}

/// What two ranges have in common.
fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let (start, end) = (a.start.max(b.start), a.end.min(b.end));
    start..end.max(start)
}

/// The least range that has both.
fn hull(a: Range<usize>, b: Range<usize>) -> Range<usize> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b,
        (_, true) => a,
        _ => a.start.min(b.start)..a.end.max(b.end),
    }
}

/// The free parts of `[0, len)`.
#[derive(Debug)]
pub struct Pool {
    len: usize,
    unit: usize,
    /// By place; no two of them touch.
    free: BTreeMap<usize, Part>,
    /// All parts of `free`, by length, then place.
    by_len: BTreeSet<(usize, usize)>,
    /// Bytes of all `used` ranges.
    used: usize,
}

impl Pool {
    /// All of it is free, and was never in use. What is taken has a multiple of `unit` bytes.
    pub fn new(len: usize, unit: usize) -> Self {
        let mut pool = Pool {
            len,
            unit,
            free: BTreeMap::new(),
            by_len: BTreeSet::new(),
            used: 0,
        };
        pool.add(0, len, 0..0);
        pool
    }

    fn add(&mut self, at: usize, len: usize, used: Range<usize>) {
        self.used += used.len();
        self.free.insert(at, Part { len, used });
        self.by_len.insert((len, at));
    }

    /// The free part at a place, which is free no more.
    fn remove(&mut self, at: usize) -> Option<Part> {
        let part = self.free.remove(&at)?;
        self.by_len.remove(&(part.len, at));
        self.used -= part.used.len();
        Some(part)
    }

    /// Takes `len` bytes, more than none, at a multiple of `align`, a power of two; where they lie.
    /// Cost: O(log of the free parts).
    pub fn take(&mut self, len: usize, align: usize) -> Option<usize> {
        let fits = |&(room, at): &(usize, usize)| {
            let start = at.next_multiple_of(align);
            (start.checked_add(len)? <= at + room).then_some((at, start))
        };
        let near = self.by_len.range((len, 0)..).take(LOOKS).find_map(fits);
        // Parts from here on fit, as all places are multiples of the unit.
        let surely = len.checked_add(align.saturating_sub(self.unit));
        let rest = || self.by_len.range((surely?, 0)..).find_map(fits);
        let (at, start) = near.or_else(rest)?;
        let part = self.remove(at)?;
        for (from, to) in [(at, start), (start + len, at + part.len)] {
            if from != to {
                self.add(from, to - from, common(&part.used, &(from..to)));
            }
        }
        Some(start)
    }

    /// Gives back `len` bytes at `at`, which were taken. Cost: O(log of the free parts).
    pub fn give(&mut self, at: usize, len: usize) {
        let (mut start, mut end, mut used) = (at, at + len, at..at + len);
        if let Some((&before, part)) = self.free.range(..at).next_back()
            && before + part.len == at
            && let Some(part) = self.remove(before)
        {
            start = before;
            used = hull(part.used, used);
        }
        if let Some(part) = self.remove(end) {
            end += part.len;
            used = hull(used, part.used);
        }
        self.add(start, end - start, used);
    }

    /// Bytes of free parts that may still hold what was there before they were given back, or more.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Gives what [`Pool::used`] counts to `clear`, with the free part that it lies in: that sees
    /// to it that nothing is left there.
    pub fn clear(&mut self, mut clear: impl FnMut(Range<usize>, Range<usize>)) {
        for (&at, part) in self.free.iter_mut().filter(|it| !it.1.used.is_empty()) {
            clear(std::mem::take(&mut part.used), at..at + part.len);
        }
        self.used = 0;
    }

    /// Whether nothing of it is taken.
    pub fn is_unused(&self) -> bool {
        self.free.get(&0).is_some_and(|it| it.len == self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_whole_again() {
        let mut pool = Pool::new(1000, 1);
        let parts = [(10, 1), (100, 64), (1, 128), (500, 8)];
        let taken: Vec<_> = parts
            .iter()
            .map(|&(len, align)| (pool.take(len, align).expect("room"), len, align))
            .collect();
        for (i, &(at, len, align)) in taken.iter().enumerate() {
            assert!(at.is_multiple_of(align) && at + len <= 1000);
            for &(other, theirs, _) in &taken[i + 1..] {
                assert!(at + len <= other || other + theirs <= at, "they overlap");
            }
        }
        assert_eq!(pool.take(600, 1), None);
        for i in [2, 0, 3, 1] {
            pool.give(taken[i].0, taken[i].1);
        }
        assert!(pool.is_unused());
        assert_eq!(pool.take(1000, 1), Some(0));
        assert_eq!(pool.take(1, 1), None);
    }

    #[test]
    fn a_part_that_fits_is_found_behind_many_that_do_not() {
        let mut pool = Pool::new(1000 * 64, 64);
        for _ in 0..1000 {
            assert!(pool.take(64, 1).is_some());
        }
        // Holes of 64 bytes between multiples of 128, and a longer one.
        for at in (64..800 * 64).step_by(128) {
            pool.give(at, 64);
        }
        pool.give(900 * 64, 64);
        pool.give(901 * 64, 64);
        assert_eq!(pool.take(64, 128), Some(900 * 64));
        assert_eq!(pool.take(64, 64), Some(64), "the shortest");
        assert_eq!(pool.free.len(), 400);
        assert_eq!(pool.take(65, 1), None);
    }

    #[test]
    fn what_was_in_use_is_counted_until_it_is_taken_again_or_cleared() {
        let mut pool = Pool::new(1000, 1);
        for _ in 0..100 {
            assert_eq!(pool.take(90, 1), Some(0));
            assert_eq!(pool.used(), 0, "it is in use again");
            pool.give(0, 90);
            assert_eq!(pool.used(), 90);
        }
        let at: Vec<usize> = (0..5).filter_map(|_| pool.take(100, 1)).collect();
        assert_eq!((at, pool.used()), (vec![0, 100, 200, 300, 400], 0));
        for (at, used) in [(0, 100), (400, 200), (200, 300), (100, 400)] {
            pool.give(at, 100);
            assert_eq!(pool.used(), used);
        }
        assert_eq!(pool.take(50, 1), Some(0), "the shorter part");
        assert_eq!(pool.used(), 350);
        let mut cleared = Vec::new();
        pool.clear(|used, part| cleared.push((used, part)));
        assert_eq!(cleared, [(50..300, 50..300), (400..500, 400..1000)]);
        assert_eq!(pool.used(), 0);
        pool.give(0, 50);
        assert_eq!(pool.used(), 50);
        pool.give(300, 100);
        assert_eq!(pool.used(), 400, "with what lies between the two");
        assert!(pool.is_unused());
    }
}
