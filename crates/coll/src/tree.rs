//! Trees over places 0 to size − 1, the root at place 0.
//!
//! The children of a place are it plus 1, 2, … radix − 1 times each power of the
//! radix below the lowest digit that it has, written in that radix; so every
//! subtree is a range of places. With radix 2 it is the binomial tree; a higher
//! radix has fewer hops, and more messages at each.

/// A tree. The radix is a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree<const RADIX: u32> {
    /// Number of places.
    pub(crate) size: u32,
}

impl<const RADIX: u32> Tree<RADIX> {
    const BITS: u32 = RADIX.trailing_zeros();

    /// The place of the lowest digit, as a shift.
    fn lowest(place: u32) -> u32 {
        place.trailing_zeros() / Self::BITS * Self::BITS
    }

    /// Number of places in the subtree of `place`, itself included.
    pub(crate) fn subtree(&self, place: u32) -> u32 {
        if place == 0 {
            self.size
        } else {
            (self.size - place).min(1 << Self::lowest(place))
        }
    }

    /// The parent of a place other than 0.
    pub(crate) fn parent(&self, place: u32) -> u32 {
        let digit = Self::lowest(place);
        place & !((RADIX - 1) << digit)
    }

    /// The children of `place`, those with the smallest subtrees first.
    pub(crate) fn children(&self, place: u32) -> impl DoubleEndedIterator<Item = u32> + use<RADIX> {
        let end = place + self.subtree(place);
        let bits = u32::BITS - (end - place - 1).leading_zeros();
        let child = move |i: u32| {
            let times = 1 + i % (RADIX - 1);
            place + (times << (i / (RADIX - 1) * Self::BITS))
        };
        (0..bits.div_ceil(Self::BITS) * (RADIX - 1))
            .map(child)
            .filter(move |&c| c < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const RADIX: u32>() {
        for size in 1..70 {
            let tree = Tree::<RADIX> { size };
            let mut parents = vec![None; size as usize];
            for place in 0..size {
                let mut next = place + 1;
                for child in tree.children(place) {
                    assert_eq!(child, next, "subtrees are ranges one behind the other");
                    assert_eq!(tree.parent(child), place);
                    assert!(parents[child as usize].replace(place).is_none());
                    next += tree.subtree(child);
                }
                assert_eq!(next, place + tree.subtree(place));
            }
            assert!(parents[1..].iter().all(Option::is_some));
        }
    }

    #[test]
    fn every_place_but_the_root_has_one_parent() {
        check::<2>();
        check::<4>();
        check::<8>();
    }
}
