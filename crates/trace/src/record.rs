//! What is written into a ring.
//!
//! An entry has two words of 64 bits:
//!
//! | bits   | what                                      |
//! |--------|-------------------------------------------|
//! | 0–15   | the number of the function, and one more  |
//! | 32–63  | the first argument                        |
//! | 64–127 | the second and the third                  |

use std::sync::atomic::Ordering::{Relaxed, Release};

use crate::area::ENTRIES;
use crate::thread::{ring, uses_ring_of_another};

/// Most arguments that an entry has.
pub const ARGUMENTS: usize = 3;

/// This thread enters a function, of whose arguments these are kept as far as 32 bits hold them.
/// Cost: twelve instructions, of which three store.
#[inline(always)]
pub fn enter(function: u16, arguments: [u32; ARGUMENTS]) {
    let ring = ring();
    let number = ring.written.load(Relaxed);
    let entry = &ring.entries.0[number as usize % ENTRIES];
    // Not by a loop over the arguments: where code is built small, that is a call.
    let [first, second, third] = arguments;
    let first = u64::from(first) << 32;
    entry[0].store((u64::from(function) + 1) | first, Relaxed);
    entry[1].store(u64::from(second) | (u64::from(third) << 32), Relaxed);
    ring.written.store(number + 1, Release);
}

/// As [`enter`], of a function that any thread may call at any time: one that another thread's ring
/// would be written by leaves no trace, as it is not what that one does.
#[inline(never)]
pub fn enter_beside(function: u16, arguments: [u32; ARGUMENTS]) {
    if !uses_ring_of_another() {
        enter(function, arguments);
    }
}

/// The function that this thread has entered last, and one more; 0 if it has entered none, or has
/// no ring.
pub fn current() -> u16 {
    let ring = ring();
    let number = ring.written.load(Relaxed).wrapping_sub(1);
    ring.entries.0[number as usize % ENTRIES][0].load(Relaxed) as u16
}
