//! Parts of a whole that several threads say are ready, in batches: the thread that completes a batch learns
//! that it has, and of all that try to take a complete one exactly one does.
//!
//! | bits of a word     | meaning                        |
//! |--------------------|--------------------------------|
//! | 0 to [`MOST`] - 1  | that part of the batch is ready |
//! | [`TAKEN`]          | somebody has taken the batch   |
//!
//! A part is written before it is said to be ready (Release), and a batch is read after it was taken
//! (Acquire). Readiness is one read-modify-write; where only one thread runs at a time, a load and a store.
//!
//! Model: `tests/loom_batches.rs`.

use crate::sync::AtomicU64;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed};

/// Most parts of a batch.
pub const MOST: u32 = 63;
/// Somebody has taken the batch.
const TAKEN: u64 = 1 << 63;

/// How many may call at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callers {
    /// One, and what it did is seen by the next one.
    One,
    /// Any number.
    Many,
}

/// A part was ready already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyAlready;

/// The parts of a whole.
///
/// # Examples
/// ```
/// use catena_base::batches::{Batches, Callers};
///
/// let batches = Batches::new(5, 2);
/// assert_eq!(batches.set_ready(0, Callers::Many), Ok(None));
/// assert_eq!(batches.set_ready(1, Callers::Many), Ok(Some(0)));
/// assert!(batches.set_ready(1, Callers::Many).is_err());
/// assert!(batches.take(0, Callers::Many) && !batches.take(0, Callers::Many));
/// ```
#[derive(Debug)]
pub struct Batches {
    words: Box<[AtomicU64]>,
    parts: u32,
    /// Parts of each batch but the last.
    each: u32,
}

impl Batches {
    /// `parts` of which none is ready, `each` of them a batch: from 1 to [`MOST`].
    pub fn new(parts: u32, each: u32) -> Self {
        let each = each.clamp(1, MOST);
        Batches {
            words: (0..parts.div_ceil(each))
                .map(|_| AtomicU64::new(0))
                .collect(),
            parts,
            each,
        }
    }

    /// How many batches there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The first part of a batch, and how many it has.
    #[inline]
    pub fn parts_of(&self, batch: usize) -> (u32, u32) {
        let first = batch as u32 * self.each;
        (first, self.each.min(self.parts - first))
    }

    /// None is ready any more. Nobody else calls anything meanwhile.
    pub fn reset(&self) {
        for word in &self.words {
            word.store(0, Relaxed);
        }
    }

    /// What the word of a batch is when all of it is ready.
    #[inline]
    fn full(&self, batch: usize) -> u64 {
        let (_, many) = self.parts_of(batch);
        (1 << many) - 1
    }

    /// Says that a part is ready; its batch if that completes it.
    ///
    /// # Errors
    /// If it was ready already: nothing changes then.
    #[inline]
    pub fn set_ready(&self, part: u32, callers: Callers) -> Result<Option<usize>, ReadyAlready> {
        // A division takes as long as all the rest.
        let (batch, bit) = match self.words.len() {
            1 => (0, part),
            _ if self.each == 1 => (part as usize, 0),
            _ => ((part / self.each) as usize, part % self.each),
        };
        let bit = 1 << bit;
        let word = &self.words[batch];
        let before = match callers {
            Callers::One => {
                let before = word.load(Relaxed);
                word.store(before | bit, Relaxed);
                before
            }
            Callers::Many => word.fetch_or(bit, AcqRel),
        };
        if before & bit != 0 {
            return Err(ReadyAlready);
        }
        Ok((before | bit == self.full(batch)).then_some(batch))
    }

    /// Takes a batch if all of it is ready and nobody has taken it.
    #[inline]
    pub fn take(&self, batch: usize, callers: Callers) -> bool {
        let word = &self.words[batch];
        let full = self.full(batch);
        match callers {
            Callers::One => {
                let takes = word.load(Relaxed) == full;
                if takes {
                    word.store(full | TAKEN, Relaxed);
                }
                takes
            }
            Callers::Many => {
                let taken = word.compare_exchange(full, full | TAKEN, Acquire, Relaxed);
                taken.is_ok()
            }
        }
    }

    /// Whether a part is ready.
    pub fn is_ready(&self, part: u32) -> bool {
        let word = self.words[(part / self.each) as usize].load(Acquire);
        word & 1 << (part % self.each) != 0
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn every_part_belongs_to_one_batch_which_the_last_of_them_completes() {
        for callers in [Callers::One, Callers::Many] {
            for (parts, each) in [
                (1, 1),
                (8, 63),
                (63, 63),
                (64, 63),
                (130, 7),
                (9, 1),
                (5, 0),
            ] {
                let batches = Batches::new(parts, each);
                for round in 0..3 {
                    let mut complete = vec![0; batches.len()];
                    for i in 0..parts {
                        let part = if round == 1 { parts - 1 - i } else { i };
                        assert!(!batches.is_ready(part));
                        if let Some(batch) = batches.set_ready(part, callers).expect("the first") {
                            complete[batch] += 1;
                            let (first, many) = batches.parts_of(batch);
                            assert!((first..first + many).contains(&part));
                            assert!((first..first + many).all(|it| batches.is_ready(it)));
                            assert!(batches.take(batch, callers));
                        }
                        assert_eq!(batches.set_ready(part, callers), Err(ReadyAlready));
                    }
                    assert!(complete.iter().all(|&times| times == 1));
                    assert!((0..batches.len()).all(|batch| !batches.take(batch, callers)));
                    batches.reset();
                }
            }
        }
    }

    #[test]
    fn an_incomplete_batch_is_not_taken() {
        let batches = Batches::new(3, 3);
        assert_eq!(batches.set_ready(2, Callers::Many), Ok(None));
        assert!(!batches.take(0, Callers::Many) && !batches.is_ready(0) && batches.is_ready(2));
    }
}
