//! Which addresses were found to be memory of devices.

use std::collections::BTreeMap;
use std::ops::{Bound, Range};
use std::sync::{PoisonError, RwLock};

use crate::kinds::Kind;

/// Ranges that are kept; when there would be more, all are asked for anew.
const MOST: usize = 4096;

/// Ranges of addresses, none of which overlap, by their ends.
#[derive(Debug)]
pub(crate) struct Ranges(RwLock<BTreeMap<usize, (usize, Kind)>>);

impl Ranges {
    pub const fn new() -> Ranges {
        Ranges(RwLock::new(BTreeMap::new()))
    }

    /// The kind of memory at an address, if it was found before.
    pub fn find(&self, at: *const u8) -> Option<Kind> {
        let ranges = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (_, &(begin, kind)) = ranges.range(after(at.addr())).next()?;
        (begin <= at.addr()).then_some(kind)
    }

    /// Keeps a range, instead of those of former allocations that it overlaps.
    pub fn add(&self, range: Range<usize>, kind: Kind) {
        let mut ranges = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if ranges.len() == MOST {
            ranges.clear();
        }
        let over = ranges.range(after(range.start));
        let over = over.take_while(|(_, (begin, _))| *begin < range.end);
        let over: Vec<usize> = over.map(|(&end, _)| end).collect();
        for end in over {
            ranges.remove(&end);
        }
        ranges.insert(range.end, (range.start, kind));
    }

    /// Forgets the range around an address.
    pub fn forget(&self, at: *const u8) {
        let mut ranges = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let found = ranges.range(after(at.addr())).next();
        let end = found.filter(|(_, (begin, _))| *begin <= at.addr());
        if let Some(end) = end.map(|(&end, _)| end) {
            ranges.remove(&end);
        }
    }
}

/// The ends of ranges that have bytes from an address on.
fn after(at: usize) -> (Bound<usize>, Bound<usize>) {
    (Bound::Excluded(at), Bound::Unbounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(ranges: &Ranges, at: usize) -> Option<Kind> {
        ranges.find(std::ptr::without_provenance(at))
    }

    #[test]
    fn addresses_are_found_in_their_ranges_alone() {
        let ranges = Ranges::new();
        ranges.add(100..200, Kind::Cuda);
        ranges.add(200..201, Kind::Rocm);
        let found = [99, 100, 199, 200, 201].map(|at| find(&ranges, at));
        let (cuda, rocm) = (Some(Kind::Cuda), Some(Kind::Rocm));
        assert_eq!(found, [None, cuda, cuda, rocm, None]);
        ranges.forget(std::ptr::without_provenance(150));
        assert_eq!([find(&ranges, 150), find(&ranges, 200)], [None, rocm]);
    }

    #[test]
    fn a_new_range_takes_the_place_of_those_that_it_overlaps() {
        let ranges = Ranges::new();
        ranges.add(0..10, Kind::Cuda);
        ranges.add(10..20, Kind::Cuda);
        ranges.add(30..40, Kind::Cuda);
        ranges.add(5..31, Kind::Rocm);
        let found = [4, 5, 25, 30, 31, 39].map(|at| find(&ranges, at));
        let rocm = Some(Kind::Rocm);
        assert_eq!(found, [None, rocm, rocm, rocm, None, None]);
    }

    #[test]
    fn ranges_do_not_grow_without_bound() {
        let ranges = Ranges::new();
        for n in 0..MOST + 10 {
            ranges.add(n * 8..n * 8 + 4, Kind::Cuda);
        }
        let kept = ranges.0.read().expect("no panic").len();
        assert!(kept <= MOST, "{kept}");
        assert_eq!(find(&ranges, (MOST + 9) * 8), Some(Kind::Cuda));
    }
}
