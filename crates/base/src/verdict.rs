//! What several processes come to that share memory, whoever of them dies: each brings a value, and
//! the first one to say what becomes of the round decides, for all.
//!
//! | word                   | who writes it                     | meaning                     |
//! |------------------------|-----------------------------------|-----------------------------|
//! | `words[n]` of votes    | the member whose they are         | the rounds whose number is n modulo 2: number, what it brings |
//! | `words[n]` of verdicts | the first one to decide the round | the same rounds: number, outcome |
//!
//! Each round is decided by one compare-and-exchange, so whoever asks finds the same, also if the
//! one that has decided is dead. A word may be written again two rounds later: nobody begins a
//! round before it has the outcome of the one before, and no round is [`Agreed`](Outcome::Agreed)
//! before all have begun it. After one that is [`Abandoned`](Outcome::Abandoned) there is no other
//! one.
//!
//! Model: `tests/loom_verdict.rs`.

use crate::sync::AtomicU64;
use crate::sync::Ordering::{AcqRel, Acquire, Release};

/// How a round ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All have brought something, which comes to this.
    Agreed(u32),
    /// They go another way.
    Abandoned,
}

/// Above the value: whether it was agreed.
const AGREED: u64 = 1 << 32;
/// Above that: the number of the round.
const NUMBER: u32 = 33;

impl Outcome {
    fn in_round(self, number: u32) -> u64 {
        let outcome = match self {
            Outcome::Agreed(value) => AGREED | u64::from(value),
            Outcome::Abandoned => 0,
        };
        u64::from(number) << NUMBER | outcome
    }

    fn of_round(word: u64, number: u32) -> Option<Outcome> {
        let is_it = word >> NUMBER == u64::from(number) << NUMBER >> NUMBER;
        is_it.then_some(match word & AGREED {
            0 => Outcome::Abandoned,
            _ => Outcome::Agreed(word as u32),
        })
    }
}

/// What one member brings to two rounds, in memory that all share; zeros at first. Rounds are
/// numbered from 1.
#[derive(Debug)]
#[repr(C)]
pub struct Votes {
    words: [AtomicU64; 2],
}

impl Default for Votes {
    fn default() -> Self {
        Votes {
            words: [AtomicU64::new(0), AtomicU64::new(0)],
        }
    }
}

impl Votes {
    /// Brings a value to a round, after the outcome of the one before.
    #[inline]
    pub fn cast(&self, number: u32, value: u32) {
        let word = Outcome::Agreed(value).in_round(number);
        self.words[number as usize % 2].store(word, Release);
    }

    /// What the member brings to a round, if it has.
    #[inline]
    pub fn of(&self, number: u32) -> Option<u32> {
        match Outcome::of_round(self.words[number as usize % 2].load(Acquire), number)? {
            Outcome::Agreed(value) => Some(value),
            Outcome::Abandoned => None,
        }
    }
}

/// The outcomes of two rounds, in memory that all share; zeros at first. Rounds are numbered from 1.
///
/// # Examples
/// ```
/// use catena_base::verdict::{Outcome, Verdicts};
///
/// let verdicts = Verdicts::default();
/// assert_eq!(verdicts.decide(1, Outcome::Agreed(7)), Outcome::Agreed(7));
/// assert_eq!(verdicts.decide(1, Outcome::Abandoned), Outcome::Agreed(7));
/// assert_eq!(verdicts.decide(2, Outcome::Abandoned), Outcome::Abandoned);
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Verdicts {
    words: [AtomicU64; 2],
}

impl Default for Verdicts {
    fn default() -> Self {
        Verdicts {
            words: [AtomicU64::new(0), AtomicU64::new(0)],
        }
    }
}

impl Verdicts {
    /// The outcome of a round, if it is decided.
    #[inline]
    pub fn of(&self, number: u32) -> Option<Outcome> {
        Outcome::of_round(self.words[number as usize % 2].load(Acquire), number)
    }

    /// The outcome of a round: that of whoever was first, else `own`. Cost: a load, and one
    /// compare-and-exchange for the first.
    #[inline]
    pub fn decide(&self, number: u32, own: Outcome) -> Outcome {
        let word = &self.words[number as usize % 2];
        let mut seen = word.load(Acquire);
        loop {
            if let Some(outcome) = Outcome::of_round(seen, number) {
                return outcome;
            }
            match word.compare_exchange(seen, own.in_round(number), AcqRel, Acquire) {
                Ok(_) => return own,
                Err(now) => seen = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn rounds_do_not_disturb_each_other() {
        let verdicts = Verdicts::default();
        for number in (1..9).chain([1 << 30, (1 << 30) + 1, u32::MAX]) {
            let own = Outcome::Agreed(number ^ 0xffff_0000);
            assert_eq!(verdicts.of(number), None);
            assert_eq!(verdicts.decide(number, own), own);
            assert_eq!(verdicts.of(number), Some(own));
            assert_eq!(verdicts.decide(number, Outcome::Abandoned), own);
            assert_eq!(verdicts.decide(number, Outcome::Agreed(0)), own);
        }
    }

    #[test]
    fn a_vote_counts_in_its_round() {
        let votes = Votes::default();
        for number in 1..9 {
            assert_eq!(votes.of(number), None);
            votes.cast(number, number << 8);
            assert_eq!(votes.of(number), Some(number << 8));
            assert_eq!(votes.of(number + 2), None);
        }
    }
}
