//! What few targets of a window need: it is made for a target when it is first used, so those that
//! never need it cost nothing.

use std::cell::OnceCell;

/// A `T` for each target that has needed one, by rank.
#[derive(Debug)]
pub(crate) struct Sparse<T>(OnceCell<Box<[OnceCell<Box<T>>]>>);

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Sparse(OnceCell::new())
    }
}

impl<T: Default> Sparse<T> {
    /// That of a target, if it has one.
    #[inline]
    pub fn known(&self, rank: u32) -> Option<&T> {
        self.0.get()?[rank as usize].get().map(|it| &**it)
    }

    /// That of a target, one of `size`.
    #[inline]
    pub fn of(&self, rank: u32, size: u32) -> &T {
        let all = self
            .0
            .get_or_init(|| (0..size).map(|_| OnceCell::new()).collect());
        all[rank as usize].get_or_init(Box::default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn only_what_was_used_is_there() {
        let all = Sparse::<Cell<u32>>::default();
        assert!(all.known(7).is_none());
        all.of(2, 8).set(5);
        assert!(all.known(7).is_none());
        assert_eq!(all.known(2).map(Cell::get), Some(5));
        assert_eq!(all.of(2, 8).get(), 5);
    }
}
