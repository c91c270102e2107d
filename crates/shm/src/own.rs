//! What the kernel's copies take at best: reads of our own memory, where distance does not matter.
//!
//! Who weighs these copies against a ring, as boards do (`Balance` of
//! the crate `board`), begins with this. It is measured once for the process, a little with each
//! question, so that no message waits for all of it. Until the last look it can be too much, never
//! too little: who asks early takes the kernel for slower than it is, and the ring's better time
//! has to be seen several times before it counts.

use std::sync::{Mutex, OnceLock, PoisonError};

use catena_base::clock;

use crate::calls::read_process;

/// Looks until it is known: others may use the core during some.
const LOOKS: u32 = 8;

/// Bytes of a read, besides one of next to nothing.
const LEN: usize = 16 << 10;

/// More than any read takes, and little enough to be multiplied.
const UNKNOWN: u64 = u64::MAX >> 8;

/// What was seen so far.
#[derive(Debug)]
struct Own {
    /// The least that next to nothing, and `LEN` bytes, took.
    least: [u64; 2],
    looks: u32,
    /// From where is read, and to where.
    memory: Vec<u8>,
}

impl Own {
    const fn new() -> Own {
        Own {
            least: [UNKNOWN; 2],
            looks: 0,
            memory: Vec::new(),
        }
    }

    /// Reads once, in two lengths.
    #[cold]
    fn look(&mut self) {
        if self.memory.try_reserve_exact(2 * LEN).is_err() {
            // It is only a measurement.
            return;
        }
        // Written, so that its pages are there.
        self.memory.resize(2 * LEN, 1);
        let (from, into) = self.memory.split_at_mut(LEN);
        let pid = std::process::id() as i32;
        for (least, len) in self.least.iter_mut().zip([8, LEN]) {
            let began = clock::ticks();
            // SAFETY: `into` has `LEN` bytes.
            let read = unsafe { read_process(pid, from.as_ptr() as u64, into.as_mut_ptr(), len) };
            if read.is_ok() {
                *least = clock::ticks().wrapping_sub(began).min(*least);
            }
        }
        self.looks += 1;
    }

    /// What a read of 64 KiB takes by what was seen.
    fn block(&self) -> u64 {
        let [call, some] = self.least;
        match some < UNKNOWN {
            true => call + (some.saturating_sub(call) << 16) / LEN as u64,
            false => UNKNOWN,
        }
    }
}

/// What a read of 64 KiB of another process's memory takes where distance does not matter, ticks:
/// of our own. Known after some questions, each of which takes a few microseconds until then.
pub fn read_ticks() -> u64 {
    static KNOWN: OnceLock<u64> = OnceLock::new();
    static OWN: Mutex<Own> = Mutex::new(Own::new());
    if let Some(&ticks) = KNOWN.get() {
        return ticks;
    }
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    own.look();
    let ticks = own.block();
    if own.looks >= LOOKS {
        own.memory = Vec::new();
        return *KNOWN.get_or_init(|| ticks);
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_only_becomes_less_until_it_is_known() {
        let mut own = Own::new();
        let mut last = UNKNOWN;
        for _ in 0..LOOKS {
            own.look();
            let [nothing, some] = own.least;
            assert!(nothing <= UNKNOWN && some <= last);
            last = some;
        }
        let known: Vec<u64> = (0..=LOOKS).map(|_| read_ticks()).collect();
        assert_eq!(
            known[LOOKS as usize],
            read_ticks(),
            "nothing is measured any more"
        );
    }

    #[test]
    fn where_nothing_can_be_read_that_is_no_number_to_compare_with() {
        assert!(Own::new().block() >= UNKNOWN);
    }
}
