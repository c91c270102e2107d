//! Which parts of a range of bytes are free: the book-keeping of the heap, without its memory.
//!
//! The shortest free part that is long enough is taken; what is given back joins its free neighbours.

use std::collections::{BTreeMap, BTreeSet};

/// How many parts that are long enough, but perhaps not at the right place, are looked at before one is taken that fits
/// wherever it lies.
const LOOKS: usize = 8;

/// The free parts of `[0, len)`.
#[derive(Debug)]
pub struct Pool {
    len: usize,
    unit: usize,
    /// Length by place; no two of them touch.
    free: BTreeMap<usize, usize>,
    /// The same parts: length, then place.
    by_len: BTreeSet<(usize, usize)>,
}

impl Pool {
    /// All of it is free. What is taken has a multiple of `unit` bytes.
    pub fn new(len: usize, unit: usize) -> Self {
        let mut pool = Pool {
            len,
            unit,
            free: BTreeMap::new(),
            by_len: BTreeSet::new(),
        };
        pool.add(0, len);
        pool
    }

    fn add(&mut self, at: usize, len: usize) {
        self.free.insert(at, len);
        self.by_len.insert((len, at));
    }

    /// The length of the free part at a place, which is free no more.
    fn remove(&mut self, at: usize) -> Option<usize> {
        let len = self.free.remove(&at)?;
        self.by_len.remove(&(len, at));
        Some(len)
    }

    /// Takes `len` bytes, more than none, at a multiple of `align`, a power of two; where they lie. Cost: O(log of the free
    /// parts).
    pub fn take(&mut self, len: usize, align: usize) -> Option<usize> {
        let fits = |&(room, at): &(usize, usize)| {
            let start = at.next_multiple_of(align);
            (start.checked_add(len)? <= at + room).then_some((at, room, start))
        };
        let near = self.by_len.range((len, 0)..).take(LOOKS).find_map(fits);
        // Parts from here on fit, as all places are multiples of the unit.
        let surely = len.checked_add(align.saturating_sub(self.unit));
        let rest = || self.by_len.range((surely?, 0)..).find_map(fits);
        let (at, room, start) = near.or_else(rest)?;
        self.remove(at);
        if start != at {
            self.add(at, start - at);
        }
        let end = start + len;
        if end != at + room {
            self.add(end, at + room - end);
        }
        Some(start)
    }

    /// Gives back `len` bytes at `at`, which were taken. Cost: O(log of the free parts).
    pub fn give(&mut self, at: usize, len: usize) {
        let (mut start, mut end) = (at, at + len);
        if let Some((&before, &room)) = self.free.range(..at).next_back()
            && before + room == at
        {
            self.remove(before);
            start = before;
        }
        if let Some(room) = self.remove(end) {
            end += room;
        }
        self.add(start, end - start);
    }

    /// The free parts: their places and lengths.
    pub fn free(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.free.iter().map(|(&at, &len)| (at, len))
    }

    /// Whether nothing of it is taken.
    pub fn is_unused(&self) -> bool {
        self.free.get(&0) == Some(&self.len)
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
        assert_eq!(pool.free().count(), 400);
        assert_eq!(pool.take(65, 1), None);
    }
}
