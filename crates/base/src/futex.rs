//! Sleeping on a word: `futex(2)`.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::thread::futex::{self, Flags, Timespec};

/// Who may sleep on a word and wake others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Threads of this process.
    Process,
    /// Every process that maps the word.
    Node,
}

impl Reach {
    fn flags(self) -> Flags {
        match self {
            Reach::Process => Flags::PRIVATE,
            Reach::Node => Flags::empty(),
        }
    }
}

/// Sleeps while `word` is `expected`, until woken or for `limit`. May wake for
/// no reason.
pub fn wait(word: &AtomicU32, expected: u32, limit: Option<Duration>, reach: Reach) {
    let limit = limit.map(|limit| Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: limit.subsec_nanos().into(),
    });
    // Every way to return is a reason to look at the word again.
    let _ = futex::wait(word, reach.flags(), expected, limit.as_ref());
}

/// Wakes at most `n` of those who sleep on `word`, who slept longest first.
pub fn wake(word: &AtomicU32, n: i32, reach: Reach) {
    // It fails only for an address that is none.
    let _ = futex::wake(word, reach.flags(), n as u32);
}
