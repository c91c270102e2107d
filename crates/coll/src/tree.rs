//! Binomial trees over places 0 to size − 1, the root at place 0.
//!
//! The children of a place are it plus 1, 2, 4, … as long as that bit is below
//! its own lowest set bit, so every subtree is a range of places.

/// Number of places in the subtree of `place`, itself included.
pub(crate) fn subtree(size: u32, place: u32) -> u32 {
    if place == 0 {
        size
    } else {
        (size - place).min(1 << place.trailing_zeros())
    }
}

/// The parent of a place other than 0.
pub(crate) fn parent(place: u32) -> u32 {
    place & (place - 1)
}

/// The children of `place`, the one with the smallest subtree first.
pub(crate) fn children(size: u32, place: u32) -> impl DoubleEndedIterator<Item = u32> {
    let rounds = subtree(size, place).next_power_of_two().trailing_zeros();
    (0..rounds).map(move |k| place + (1 << k))
}
