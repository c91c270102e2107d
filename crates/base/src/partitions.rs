//! Partitions that several threads say are ready, each of which exactly one thread takes.
//!
//! A partition is written before it is said to be ready (Release), and read after it was taken
//! (Acquire). Either is one read-modify-write; where only one thread runs at a time, a load and a
//! store.
//!
//! Model: `tests/loom_partitions.rs`.

use crate::sync::AtomicU32;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed};

/// The partition may be taken.
const READY: u32 = 1;
/// Somebody has taken it.
const TAKEN: u32 = 2;

/// How many may call at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callers {
    /// One, and what it did is seen by the next one.
    One,
    /// Any number.
    Many,
}

/// A partition was ready already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyAlready;

/// The partitions of a message.
///
/// # Examples
/// ```
/// use catena_base::partitions::{Callers, Partitions};
///
/// let partitions = Partitions::new(2);
/// assert!(!partitions.take(1, Callers::Many), "it is not ready");
/// assert!(partitions.set_ready(1, Callers::Many).is_ok());
/// assert!(partitions.set_ready(1, Callers::Many).is_err());
/// assert!(partitions.take(1, Callers::Many) && !partitions.take(1, Callers::Many));
/// ```
#[derive(Debug)]
pub struct Partitions(Box<[AtomicU32]>);

impl Partitions {
    /// That many, of which none is ready.
    pub fn new(many: u32) -> Self {
        Partitions((0..many).map(|_| AtomicU32::new(0)).collect())
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// None is ready any more. Nobody else calls anything meanwhile.
    pub fn reset(&self) {
        for state in &self.0 {
            state.store(0, Relaxed);
        }
    }

    /// Says that a partition is ready.
    ///
    /// # Errors
    /// If it was ready already: nothing changes then.
    #[inline]
    pub fn set_ready(&self, partition: usize, callers: Callers) -> Result<(), ReadyAlready> {
        let state = &self.0[partition];
        let before = match callers {
            Callers::One => {
                let before = state.load(Relaxed);
                state.store(before | READY, Relaxed);
                before
            }
            Callers::Many => state.fetch_or(READY, AcqRel),
        };
        match before {
            0 => Ok(()),
            _ => Err(ReadyAlready),
        }
    }

    /// Takes a partition if it is ready and nobody has taken it.
    #[inline]
    pub fn take(&self, partition: usize, callers: Callers) -> bool {
        let state = &self.0[partition];
        match callers {
            Callers::One => {
                let takes = state.load(Relaxed) == READY;
                if takes {
                    state.store(READY | TAKEN, Relaxed);
                }
                takes
            }
            Callers::Many => {
                let taken = state.compare_exchange(READY, READY | TAKEN, Acquire, Relaxed);
                taken.is_ok()
            }
        }
    }

    /// Whether a partition is ready, or was taken.
    pub fn is_ready(&self, partition: usize) -> bool {
        self.0[partition].load(Acquire) != 0
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn each_partition_is_ready_once_and_taken_once_in_a_round() {
        for callers in [Callers::One, Callers::Many] {
            let partitions = Partitions::new(9);
            for round in 0..3 {
                for i in 0..partitions.len() {
                    let partition = if round == 1 { 8 - i } else { i };
                    assert!(
                        !partitions.is_ready(partition) && !partitions.take(partition, callers)
                    );
                    assert_eq!(partitions.set_ready(partition, callers), Ok(()));
                    assert!(partitions.is_ready(partition) && partitions.take(partition, callers));
                    assert!(partitions.is_ready(partition) && !partitions.take(partition, callers));
                    assert_eq!(partitions.set_ready(partition, callers), Err(ReadyAlready));
                }
                assert!((0..9).all(|partition| !partitions.take(partition, callers)));
                partitions.reset();
            }
        }
    }
}
