//! Which parts of the regions are mapped in this process: a region that is used again, by another
//! board, need not be mapped again, which takes as long as to copy that much.

use std::collections::BTreeMap;

/// Parts of a segment, by where they begin and end. They touch neither each other nor overlap.
#[derive(Debug, Default)]
pub(crate) struct MappedParts {
    parts: BTreeMap<u64, u64>,
    /// How often memory was given back to the system before they were mapped.
    discards: u64,
}

impl MappedParts {
    /// Memory was given back so often by now: what is known is void if that is news.
    pub fn after(&mut self, discards: u64) -> &mut Self {
        if self.discards != discards {
            self.parts.clear();
            self.discards = discards;
        }
        self
    }

    /// Whether a part is mapped as a whole.
    pub fn contains(&self, from: u64, end: u64) -> bool {
        let before = self.parts.range(..=from).next_back();
        before.is_some_and(|(_, &upto)| end <= upto)
    }

    /// A part is mapped now.
    pub fn add(&mut self, mut from: u64, mut end: u64) {
        while let Some((&begin, &upto)) = self.parts.range(..=end).next_back()
            && upto >= from
        {
            self.parts.remove(&begin);
            (from, end) = (from.min(begin), end.max(upto));
        }
        self.parts.insert(from, end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_set_of_bytes(adds in prop::collection::vec((0u64..30, 1u64..8), 1..20)) {
            let mut parts = MappedParts::default();
            let mut bytes = [false; 40];
            for (from, len) in adds {
                parts.add(from, from + len);
                bytes[from as usize..(from + len) as usize].fill(true);
                for from in 0..40 {
                    for end in from + 1..=40 {
                        let is_mapped = bytes[from as usize..end as usize].iter().all(|&it| it);
                        prop_assert_eq!(parts.contains(from, end), is_mapped, "{} to {}", from,
                            end);
                    }
                }
                let ends: Vec<_> = parts.parts.iter().map(|(&from, &end)| (from, end)).collect();
                prop_assert!(ends.windows(2).all(|two| two[0].1 < two[1].0), "{:?}", ends);
            }
        }
    }

    #[test]
    fn nothing_is_known_after_memory_was_given_back() {
        let mut parts = MappedParts::default();
        parts.after(0).add(4096, 8192);
        assert!(parts.after(0).contains(4096, 8192));
        assert!(!parts.after(1).contains(4096, 8192));
    }
}
