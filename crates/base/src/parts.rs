//! Work that two processes share.

use crate::sync::AtomicU64;
use crate::sync::Ordering::{Acquire, Relaxed, Release};

/// A word is a number (24 bits), parts taken from the front (20) and from the back (20).
const BITS: u32 = 20;
const AHEAD: u64 = Parts::AHEAD as u64;

/// From which end parts are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// First parts first.
    Front,
    /// Last parts first.
    Back,
}

/// The parts of pieces of work, of which a few may be open. Two processes take them, each
/// from its own end, until they meet; so each part is taken once, and the end that
/// has more time takes more.
///
/// All zero is a valid beginning. Model: `tests/loom_parts.rs`.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Parts {
    /// Number of the last piece of work. Only who opens them uses it.
    last: AtomicU64,
    /// A piece of work each, found by its number.
    open: [AtomicU64; Parts::AHEAD],
}

impl Parts {
    /// Most parts of a piece of work.
    pub const MOST: u32 = (1 << BITS) - 1;
    /// Pieces of work that may be open.
    pub const AHEAD: usize = 6;
    const FRONT: u64 = 1 << BITS;
    /// Numbers are from 1 to this, in turn.
    const NUMBERS: u64 = ((1 << (64 - 2 * BITS)) - 1) / AHEAD * AHEAD;

    fn at(&self, number: u64) -> &AtomicU64 {
        &self.open[(number % AHEAD) as usize]
    }

    /// Begins the next piece of work; its number, never 0. One process may do that, and
    /// only after all parts of the piece [`AHEAD`](Self::AHEAD) before it were taken.
    pub fn open(&self) -> u32 {
        let number = self.last.load(Relaxed) % Self::NUMBERS + 1;
        self.last.store(number, Relaxed);
        self.at(number).store(number << (2 * BITS), Release);
        number as u32
    }

    /// Takes one of `parts` parts of the piece of work `number`; `None` if all
    /// are taken.
    pub fn take(&self, number: u32, end: End, parts: u32) -> Option<u32> {
        let open = self.at(number.into());
        let mut seen = open.load(Acquire);
        loop {
            let back = seen as u32 & Self::MOST;
            let front = (seen >> BITS) as u32 & Self::MOST;
            if seen >> (2 * BITS) != u64::from(number) || front + back >= parts {
                return None;
            }
            let (step, part) = match end {
                End::Front => (Self::FRONT, front),
                End::Back => (1, parts - 1 - back),
            };
            match open.compare_exchange(seen, seen + step, Relaxed, Acquire) {
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
        assert_eq!(parts.take(first, End::Back, 1), None);
        // The last of these lies where the first one lay.
        let last = (0..Parts::AHEAD).map(|_| parts.open()).last().unwrap_or(0);
        assert_eq!(parts.take(first, End::Back, 9), None);
        assert_eq!(parts.take(last, End::Back, 9), Some(8));
    }

    #[test]
    fn a_few_pieces_are_open_at_a_time() {
        let parts = Parts::default();
        let numbers: Vec<u32> = (0..Parts::AHEAD).map(|_| parts.open()).collect();
        for &number in &numbers {
            assert_eq!(parts.take(number, End::Front, 2), Some(0));
        }
        for &number in &numbers {
            assert_eq!(parts.take(number, End::Back, 2), Some(1));
            assert_eq!(parts.take(number, End::Front, 2), None);
        }
    }

    #[test]
    fn numbers_begin_anew_without_0() {
        let parts = Parts::default();
        parts.last.store(Parts::NUMBERS - 1, Relaxed);
        let (last, first) = (parts.open(), parts.open());
        assert_eq!((u64::from(last), first), (Parts::NUMBERS, 1));
        assert_eq!(parts.take(last, End::Front, Parts::MOST), Some(0));
        assert_eq!(parts.take(first, End::Front, Parts::MOST), Some(0));
    }
}
