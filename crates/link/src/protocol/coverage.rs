//! Which bytes of a message have arrived.

/// All of `[0, upto)` and the ranges `ahead`, which are sorted, disjoint and
/// beyond `upto`. On an ordered route nothing is ever ahead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    upto: u64,
    ahead: Vec<(u64, u64)>,
}

impl Coverage {
    /// Starts anew, with the bytes below `upto` there.
    #[inline]
    pub fn reset(&mut self, upto: u64) {
        self.upto = upto;
        self.ahead.clear();
    }

    /// Whether all of `len` bytes are there.
    #[inline]
    pub fn is_whole(&self, len: u64) -> bool {
        self.upto == len
    }

    /// Adds `[at, at + len)`; refuses what goes beyond `total` or was, wholly or
    /// partly, there before.
    #[inline]
    pub fn add(&mut self, at: u64, len: u64, total: u64) -> bool {
        let Some(end) = at.checked_add(len).filter(|&end| end <= total) else {
            return false;
        };
        if len == 0 || at < self.upto {
            return false;
        }
        if at == self.upto && self.ahead.is_empty() {
            self.upto = end;
            return true;
        }
        self.add_ahead(at, end)
    }

    /// Adds what does not simply follow what was there.
    #[inline(never)]
    fn add_ahead(&mut self, at: u64, end: u64) -> bool {
        let place = self.ahead.partition_point(|&(from, _)| from < at);
        let clear_before = place == 0 || self.ahead[place - 1].1 <= at;
        let clear_after = self.ahead.get(place).is_none_or(|&(from, _)| end <= from);
        if !clear_before || !clear_after {
            return false;
        }
        if at > self.upto {
            self.ahead.insert(place, (at, end));
            return true;
        }
        self.upto = end;
        let mut joined = 0;
        while let Some(&(_, upto)) = self.ahead.get(joined).filter(|range| range.0 == self.upto) {
            self.upto = upto;
            joined += 1;
        }
        self.ahead.drain(..joined);
        true
    }

    /// The ranges that are there, in order.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        std::iter::once((0, self.upto)).chain(self.ahead.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_set_of_bytes(adds in prop::collection::vec((0u64..40, 0u64..12), 1..40)) {
            let total = 40;
            let mut coverage = Coverage::default();
            let mut bytes = [false; 40];
            for (at, len) in adds {
                let end = at + len;
                let fresh = len > 0 && end <= total
                    && bytes[at as usize..end as usize].iter().all(|there| !there);
                prop_assert_eq!(coverage.add(at, len, total), fresh);
                if fresh {
                    bytes[at as usize..end as usize].fill(true);
                }
                let mut model = [false; 40];
                for (from, upto) in coverage.ranges() {
                    model[from as usize..upto as usize].fill(true);
                }
                prop_assert_eq!(model, bytes);
                prop_assert_eq!(coverage.is_whole(total), bytes.iter().all(|&there| there));
            }
        }
    }

    #[test]
    fn no_overflow() {
        assert!(!Coverage::default().add(u64::MAX, 2, 10));
    }
}
