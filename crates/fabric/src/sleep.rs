//! What a process with nothing to do sleeps on.

use std::os::fd::RawFd;
use std::time::Duration;

/// Longest sleep: some networks have timers that run only in calls.
const LONGEST: Duration = Duration::from_millis(10);
/// Sleep where nothing can wake us.
const BLIND: Duration = Duration::from_micros(50);

/// What a process may sleep on now, without the transport.
#[derive(Debug)]
pub struct Sleeper {
    fd: Option<RawFd>,
}

impl Sleeper {
    /// Nothing that could wake the process.
    pub const BLIND: Sleeper = Sleeper { fd: None };

    /// A descriptor that becomes readable when there is something to do, if
    /// there is one.
    pub fn new(fd: Option<RawFd>) -> Sleeper {
        Sleeper { fd }
    }

    /// Sleeps until something may have happened, at most for `limit`; whether
    /// it was woken. May wake for no reason.
    pub fn sleep(self, limit: Duration) -> bool {
        let Some(fd) = self.fd else {
            std::thread::sleep(limit.min(BLIND));
            return false;
        };
        let limit = limit.min(LONGEST);
        let limit = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        let mut ask = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry, valid for the call, which keeps the signals as
        // they are.
        unsafe { libc::ppoll(&mut ask, 1, &limit, std::ptr::null()) > 0 }
    }
}
