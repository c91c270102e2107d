//! Work that two processes share.

use crate::sync::AtomicU64;
use crate::sync::Ordering::{Acquire, Relaxed, Release};

/// From which end parts are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// First parts first.
    Front,
    /// Last parts first.
    Back,
}

/// The parts of one piece of work after another. Two processes take them, each
/// from its own end, until they meet; so each part is taken once, and whoever
/// has more time takes more.
///
/// One word: the number of the piece of work (24 bits), parts taken from the
/// front (20) and from the back (20). All zero is a valid beginning.
///
/// Model: `tests/loom_parts.rs`.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Parts(AtomicU64);

impl Parts {
    /// Most parts of a piece of work.
    pub const MOST: u32 = (1 << Self::BITS) - 1;
    const BITS: u32 = 20;
    const FRONT: u64 = 1 << Self::BITS;

    /// Begins the next piece of work; its number, never 0. One process may do
    /// that, and only after all parts of the last piece were taken.
    pub fn open(&self) -> u32 {
        let last = self.0.load(Relaxed) >> (2 * Self::BITS);
        let number = (last + 1) & 0xff_ffff;
        let number = if number == 0 { 1 } else { number };
        self.0.store(number << (2 * Self::BITS), Release);
        number as u32
    }

    /// Takes one of `parts` parts of the piece of work `number`; `None` if all
    /// are taken.
    pub fn take(&self, number: u32, end: End, parts: u32) -> Option<u32> {
        let mut seen = self.0.load(Acquire);
        loop {
            let back = seen as u32 & Self::MOST;
            let front = (seen >> Self::BITS) as u32 & Self::MOST;
            if seen >> (2 * Self::BITS) != u64::from(number) || front + back >= parts {
                return None;
            }
            let (step, part) = match end {
                End::Front => (Self::FRONT, front),
                End::Back => (1, parts - 1 - back),
            };
            match self.0.compare_exchange(seen, seen + step, Relaxed, Acquire) {
                Ok(_) => return Some(part),
                Err(now) => seen = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn both_ends_meet() {
        let parts = Parts::default();
        let number = parts.open();
        assert_eq!(parts.take(number, End::Front, 4), Some(0));
        assert_eq!(parts.take(number, End::Back, 4), Some(3));
        assert_eq!(parts.take(number, End::Back, 4), Some(2));
        assert_eq!(parts.take(number, End::Front, 4), Some(1));
        assert_eq!(parts.take(number, End::Front, 4), None);
        assert_eq!(parts.take(number, End::Back, 4), None);
    }

    #[test]
    fn what_is_over_has_no_parts() {
        let parts = Parts::default();
        let first = parts.open();
        assert_eq!(parts.take(first, End::Front, 1), Some(0));
        let second = parts.open();
        assert_ne!(first, second);
        assert_eq!(parts.take(first, End::Back, 9), None);
        assert_eq!(parts.take(second, End::Back, 9), Some(8));
    }

    #[test]
    fn numbers_begin_anew_without_0() {
        let parts = Parts(AtomicU64::new(0xff_ffff << 40 | 3));
        assert_eq!(parts.open(), 1);
        assert_eq!(parts.take(1, End::Front, Parts::MOST), Some(0));
    }
}
