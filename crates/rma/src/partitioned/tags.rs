//! Tags of partitions that are messages: each receiver of them has a row of its own as long as it
//! is there.
//!
//! A row that was given back rests as long as others are free: the search goes on behind the row
//! that was given out last.

use std::collections::BTreeMap;

/// Which numbers below a limit are free.
#[derive(Debug)]
pub struct Tags {
    /// The free rows by their first numbers, with their lengths. No two touch.
    free: BTreeMap<u32, u32>,
    /// Where the search begins.
    next: u32,
}

impl Tags {
    /// All numbers below `limit`.
    pub fn below(limit: u32) -> Tags {
        Tags {
            free: BTreeMap::from([(0, limit)]),
            next: 0,
        }
    }

    /// The first of `many` numbers in a row that nobody has; `None` if there is no such row. Cost:
    /// the free rows.
    pub fn reserve(&mut self, many: u32) -> Option<u32> {
        let next = self.next;
        // A row that begins in front of `next` may reach beyond it.
        let before = self.free.range(..next).next_back();
        let here = before.filter(|&(&first, &len)| first + len >= next.saturating_add(many));
        let rest = self.free.range(next..).find(|it| *it.1 >= many);
        let found = match here {
            Some((&row, &len)) => Some((next, row, len)),
            None => rest
                .or_else(|| self.free.iter().find(|it| *it.1 >= many))
                .map(|(&row, &len)| (row, row, len)),
        };
        let (first, row, len) = found?;
        self.free.remove(&row);
        let end = row + len;
        if row < first {
            self.free.insert(row, first - row);
        }
        if first + many < end {
            self.free.insert(first + many, end - first - many);
        }
        self.next = first + many;
        Some(first)
    }

    /// Takes a row back.
    pub fn release(&mut self, first: u32, many: u32) {
        let (mut first, mut many) = (first, many);
        if let Some((&row, &len)) = self.free.range(..first).next_back()
            && row + len == first
        {
            self.free.remove(&row);
            (first, many) = (row, len + many);
        }
        if let Some(len) = self.free.remove(&(first + many)) {
            many += len;
        }
        self.free.insert(first, many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With so few numbers that they come again all the time.
    #[test]
    fn no_number_is_given_out_while_somebody_has_it() {
        let mut tags = Tags::below(16);
        let mut rows: Vec<(u32, u32)> = Vec::new();
        let mut owned = [false; 16];
        let mut random = 1_u32;
        let mut refused = 0;
        for _ in 0..100_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (choice, number) = (random >> 16 & 3, random >> 24);
            if choice == 0 && !rows.is_empty() {
                let (first, many) = rows.swap_remove(number as usize % rows.len());
                owned[first as usize..][..many as usize].fill(false);
                tags.release(first, many);
                continue;
            }
            let many = 1 + number % 5;
            match tags.reserve(many) {
                Some(first) => {
                    let row = &mut owned[first as usize..][..many as usize];
                    assert!(!row.contains(&true), "{first} {many} {rows:?}");
                    row.fill(true);
                    rows.push((first, many));
                }
                None => {
                    let free = |at: usize| owned.get(at..at + many as usize);
                    let fits = (0..16).any(|at| free(at).is_some_and(|it| !it.contains(&true)));
                    assert!(!fits, "there is room for {many}: {rows:?}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 0);
        for (first, many) in rows {
            tags.release(first, many);
        }
        assert_eq!(tags.free, BTreeMap::from([(0, 16)]));
    }

    #[test]
    fn what_was_given_back_rests() {
        let mut tags = Tags::below(16);
        assert_eq!(tags.reserve(5), Some(0));
        tags.release(0, 5);
        assert_eq!(tags.reserve(5), Some(5));
        assert_eq!(tags.reserve(5), Some(10));
        assert_eq!(tags.reserve(5), Some(0));
        assert_eq!(tags.reserve(2), None);
        assert_eq!(tags.reserve(17), None);
    }
}
