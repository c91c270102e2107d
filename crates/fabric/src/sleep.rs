//! What a process with nothing to do sleeps on.

use std::os::fd::RawFd;
use std::time::Duration;

/// Descriptors of one sleep, at most.
const MOST: usize = 8;
/// Longest sleep on a descriptor: some networks have timers that run only in
/// calls.
const LONGEST: Duration = Duration::from_millis(10);
/// Sleep where nothing can wake the process.
const BLIND: Duration = Duration::from_micros(50);

/// What a process may sleep on now, without the transport.
#[derive(Clone, Copy, Debug)]
pub struct Sleeper {
    fds: [RawFd; MOST],
    count: usize,
    limit: Duration,
}

impl Sleeper {
    /// Nothing that could wake the process: it looks again soon.
    pub const BLIND: Sleeper = Sleeper {
        fds: [-1; MOST],
        count: 0,
        limit: BLIND,
    };

    /// A descriptor that becomes readable when there is something to do, if
    /// there is one.
    pub fn new(fd: Option<RawFd>) -> Sleeper {
        let mut sleeper = Sleeper::BLIND;
        if let Some(fd) = fd {
            (sleeper.fds[0], sleeper.count, sleeper.limit) = (fd, 1, LONGEST);
        }
        sleeper
    }

    /// Either of two; as long as the more restless of them sleeps.
    #[must_use]
    pub fn or(mut self, other: Sleeper) -> Sleeper {
        self.limit = self.limit.min(other.limit);
        for &fd in &other.fds[..other.count] {
            if self.count == MOST {
                self.limit = BLIND;
                break;
            }
            self.fds[self.count] = fd;
            self.count += 1;
        }
        self
    }

    /// Sleeps until something may have happened, at most for `limit`; whether
    /// a descriptor woke it. May wake for no reason.
    pub fn sleep(self, limit: Duration) -> bool {
        let limit = limit.min(self.limit);
        if self.count == 0 {
            std::thread::sleep(limit);
            return false;
        }
        let limit = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        let mut ask = self.fds.map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        });
        let count = self.count as libc::nfds_t;
        // SAFETY: so many entries, valid for the call, which keeps the signals
        // as they are.
        unsafe { libc::ppoll(ask.as_mut_ptr(), count, &limit, std::ptr::null()) > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeWriter, Write, pipe};
    use std::os::fd::AsRawFd;
    use std::time::Instant;

    /// Pipes, the last of which can be read; what reads them is kept open.
    fn pipes(count: usize) -> (Sleeper, Vec<(std::io::PipeReader, PipeWriter)>) {
        let mut pipes: Vec<_> = (0..count).map(|_| pipe().expect("a pipe")).collect();
        pipes[count - 1].1.write_all(b"x").expect("room for a byte");
        let on = |(reader, _): &(std::io::PipeReader, _)| Sleeper::new(Some(reader.as_raw_fd()));
        let all = pipes.iter().map(on).reduce(Sleeper::or);
        (all.expect("at least one"), pipes)
    }

    #[test]
    fn any_descriptor_wakes() {
        for count in [1, 2, MOST] {
            let (sleeper, _pipes) = pipes(count);
            assert!(sleeper.sleep(Duration::from_secs(9)), "{count}");
        }
    }

    #[test]
    fn who_cannot_hear_all_looks_again_soon() {
        let (sleeper, _pipes) = pipes(MOST + 1);
        assert!(!sleeper.sleep(Duration::from_secs(9)));
        let (one, _pipe) = pipes(1);
        assert_eq!(one.or(Sleeper::BLIND).limit, BLIND);
        let began = Instant::now();
        assert!(!Sleeper::BLIND.sleep(Duration::from_secs(9)));
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}
