//! Sleeping on a word: `futex(2)`.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Who may sleep on a word and wake others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Threads of this process.
    Process,
    /// Every process that maps the word.
    Node,
}

impl Reach {
    fn flag(self) -> libc::c_int {
        match self {
            Reach::Process => libc::FUTEX_PRIVATE_FLAG,
            Reach::Node => 0,
        }
    }
}

/// Sleeps while `word` is `expected`, until woken or for `limit`. May wake for
/// no reason.
pub fn wait(word: &AtomicU32, expected: u32, limit: Option<Duration>, reach: Reach) {
    let limit = limit.map(|limit| libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: limit.subsec_nanos() as libc::c_long,
    });
    let until = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both addresses are valid for the whole call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | reach.flag(),
            expected,
            until,
        )
    };
}

/// Wakes at most `n` of those who sleep on `word`, who slept longest first.
pub fn wake(word: &AtomicU32, n: i32, reach: Reach) {
    // SAFETY: the address is valid for the whole call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | reach.flag(),
            n,
        )
    };
}
