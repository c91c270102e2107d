//! Which parts of a range of bytes are free: the book-keeping of the heap, without its memory.
//!
//! The first free part that is long enough is taken; what is given back joins its free neighbours.

use std::collections::BTreeMap;

/// The free parts of `[0, len)`.
#[derive(Debug)]
pub struct Pool {
    /// Length by place; no two of them touch.
    free: BTreeMap<usize, usize>,
}

impl Pool {
    /// All of it is free.
    pub fn new(len: usize) -> Self {
        Pool {
            free: BTreeMap::from([(0, len)]),
        }
    }

    /// Takes `len` bytes, more than none, at a multiple of `align`; where they lie.
    pub fn take(&mut self, len: usize, align: usize) -> Option<usize> {
        let fits = |(&at, &room): (&usize, &usize)| {
            let start = at.next_multiple_of(align);
            (start.checked_add(len)? <= at + room).then_some((at, room, start))
        };
        let (at, room, start) = self.free.iter().find_map(fits)?;
        self.free.remove(&at);
        if start != at {
            self.free.insert(at, start - at);
        }
        let end = start + len;
        if end != at + room {
            self.free.insert(end, at + room - end);
        }
        Some(start)
    }

    /// Gives back `len` bytes at `at`, which were taken.
    pub fn give(&mut self, at: usize, len: usize) {
        let (mut start, mut end) = (at, at + len);
        if let Some((&before, &room)) = self.free.range(..at).next_back()
            && before + room == at
        {
            self.free.remove(&before);
            start = before;
        }
        if let Some(room) = self.free.remove(&end) {
            end += room;
        }
        self.free.insert(start, end - start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_whole_again() {
        let mut pool = Pool::new(1000);
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
        assert_eq!(pool.take(1000, 1), Some(0));
        assert_eq!(pool.take(1, 1), None);
    }
}
