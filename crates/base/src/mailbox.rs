//! A mailbox: one process asks another one on its node to do something short for it. It holds one
//! letter at a time, which its origin takes back if the owner of the box does not begin with it
//! soon.
//!
//! | state     | who changes it      | to                                             |
//! |-----------|---------------------|------------------------------------------------|
//! | `FREE`    | any origin          | `TAKEN`: the words are its to write            |
//! | `TAKEN`   | that origin         | `FULL`                                         |
//! | `FULL`    | the owner           | `READING`                                      |
//! | `FULL`    | that origin         | `FREE`: it has waited long enough              |
//! | `READING` | the owner           | `DONE` or `REFUSED`; the answer is there       |
//! | `DONE`, `REFUSED` | that origin | `FREE`                                         |
//!
//! Whoever may write the words has come to its state by an acquiring step from one that the last
//! writer or reader released, so the words themselves are written and read without an order. If an
//! origin dies with a letter, the mailbox stays as it is: nobody else gets it.
//!
//! An owner that does not read is left alone for some letters, twice as many each time.
//!
//! Model: `tests/loom_mailbox.rs`.

use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sync::{AtomicU32, AtomicU64};

/// Words of a letter.
pub const WORDS: usize = 6;
/// Words of an answer, which lie where the last ones of the letter were.
pub const ANSWER: usize = 4;
/// An owner is left alone for 2 to the power of this many letters at most.
pub const MOST_MISSES: u32 = 8;

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const FULL: u32 = 2;
const READING: u32 = 3;
const DONE: u32 = 4;
const REFUSED: u32 = 5;

/// What has become of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Open,
    /// It was carried out.
    Done([u64; ANSWER]),
    /// The owner does not do it.
    Refused,
}

/// The mailbox. Zeroed memory is an empty one.
#[derive(Debug, Default)]
#[cfg_attr(not(loom), repr(C, align(64)))]
pub struct Mailbox {
    state: AtomicU32,
    /// For how many letters the owner is left alone, and, from bit 16 on, how often that was so in
    /// a row.
    pause: AtomicU32,
    words: [AtomicU64; WORDS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Mailbox>() == 64);

impl Mailbox {
    /// Whether a letter is there.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.state.load(Relaxed) == FULL
    }

    /// As the owner, carries out the letter that is there, unless it is taken back: `carry_out`
    /// gives the answer, or refuses. True if there was one.
    pub fn serve(&self, carry_out: impl FnOnce(&[u64; WORDS]) -> Option<[u64; ANSWER]>) -> bool {
        let taken = self.state.compare_exchange(FULL, READING, Acquire, Relaxed);
        if taken.is_err() {
            return false;
        }
        let letter = std::array::from_fn(|i| self.words[i].load(Relaxed));
        let answer = carry_out(&letter);
        if let Some(answer) = &answer {
            for (to, word) in self.words[WORDS - ANSWER..].iter().zip(answer) {
                to.store(*word, Relaxed);
            }
        }
        let state = if answer.is_some() { DONE } else { REFUSED };
        self.state.store(state, Release);
        true
    }

    /// Puts a letter in. False if there is one.
    pub fn put(&self, letter: &[u64; WORDS]) -> bool {
        let taken = self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed);
        if taken.is_err() {
            return false;
        }
        for (to, word) in self.words.iter().zip(letter) {
            to.store(*word, Relaxed);
        }
        self.state.store(FULL, Release);
        true
    }

    /// What has become of the letter that this origin has put in. The mailbox is free once that is
    /// known.
    pub fn look(&self) -> Outcome {
        let outcome = match self.state.load(Acquire) {
            DONE => {
                let answer = &self.words[WORDS - ANSWER..];
                Outcome::Done(std::array::from_fn(|i| answer[i].load(Relaxed)))
            }
            REFUSED => Outcome::Refused,
            _ => return Outcome::Open,
        };
        self.state.store(FREE, Release);
        outcome
    }

    /// Takes the letter of this origin back, unless the owner has begun with it. Then the mailbox
    /// is free, and nothing has happened.
    pub fn take_back(&self) -> bool {
        let taken_back = self.state.compare_exchange(FULL, FREE, AcqRel, Relaxed);
        taken_back.is_ok()
    }

    /// Whether the owner is to be tried now.
    pub fn is_worth_it(&self) -> bool {
        let pause = self.pause.load(Relaxed);
        if pause & 0xffff == 0 {
            return true;
        }
        self.pause.store(pause - 1, Relaxed);
        false
    }

    /// The owner has not read a letter.
    pub fn missed(&self) {
        let misses = (self.pause.load(Relaxed) >> 16) + 1;
        let misses = misses.min(MOST_MISSES);
        self.pause.store(misses << 16 | 1 << misses, Relaxed);
    }

    /// The owner has read one.
    pub fn hit(&self) {
        self.pause.store(0, Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_answered_refused_or_taken_back() {
        let mailbox = Mailbox::default();
        assert!(!mailbox.serve(|_| panic!("there is none")));
        assert!(mailbox.put(&[1, 2, 3, 4, 5, 6]) && mailbox.is_full());
        assert!(!mailbox.put(&[0; WORDS]), "one at a time");
        assert_eq!(mailbox.look(), Outcome::Open);
        assert!(mailbox.serve(|letter| {
            assert_eq!(letter, &[1, 2, 3, 4, 5, 6]);
            Some([7, 8, 9, 10])
        }));
        assert!(!mailbox.take_back());
        assert_eq!(mailbox.look(), Outcome::Done([7, 8, 9, 10]));
        assert!(mailbox.put(&[0; WORDS]) && mailbox.serve(|_| None));
        assert_eq!(mailbox.look(), Outcome::Refused);
        assert!(mailbox.put(&[0; WORDS]) && mailbox.take_back());
        assert!(!mailbox.is_full() && !mailbox.take_back());
        assert!(mailbox.put(&[0; WORDS]), "it is free again");
    }

    #[test]
    fn an_owner_that_does_not_read_is_left_alone_for_longer_and_longer() {
        let mailbox = Mailbox::default();
        for misses in 1..12u32 {
            assert!(mailbox.is_worth_it());
            mailbox.missed();
            for _ in 0..1 << misses.min(MOST_MISSES) {
                assert!(!mailbox.is_worth_it());
            }
        }
        mailbox.missed();
        mailbox.hit();
        assert!(mailbox.is_worth_it());
    }
}
