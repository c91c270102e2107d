//! What is written into a ring.
//!
//! An entry has two words of 64 bits:
//!
//! | bits   | call                     | time                             |
//! |--------|--------------------------|----------------------------------|
//! | 0–15   | number of the function   | 0                                |
//! | 16–31  | [`CALL`]                 | [`TIME`]                         |
//! | 32–63  | its first argument       | 0                                |
//! | 64–127 | its second and its third | nanoseconds since 1970           |

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::area::{ENTRIES, Ring};
use crate::thread::ring;

/// Most arguments that an entry has.
pub const ARGUMENTS: usize = 3;

/// Every so manieth entry is followed by a time.
pub const STAMP_EVERY: u64 = 64;

pub(crate) const CALL: u64 = 1 << 16;
pub(crate) const TIME: u64 = 2 << 16;
/// This thread enters a function, of whose arguments these are kept as far as 32 bits hold them. Cost: fifteen
/// instructions, of which three store.
#[inline(always)]
pub fn enter(function: u16, arguments: [u32; ARGUMENTS]) {
    let ring = ring();
    let number = ring.written.load(Relaxed);
    let entry = &ring.entries.0[number as usize % ENTRIES];
    let [first, second, third] = arguments.map(u64::from);
    entry[0].store(u64::from(function) | CALL | first << 32, Relaxed);
    entry[1].store(second | third << 32, Relaxed);
    ring.written.store(number + 1, Release);
    if number.is_multiple_of(STAMP_EVERY) {
        stamp(ring);
    }
}

/// Writes the time.
#[cold]
#[inline(never)]
pub(crate) fn stamp(ring: &Ring) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |it| it.as_nanos() as u64);
    let number = ring.written.load(Relaxed);
    let entry = &ring.entries.0[number as usize % ENTRIES];
    entry[0].store(TIME, Relaxed);
    entry[1].store(now, Relaxed);
    ring.written.store(number + 1, Release);
}
