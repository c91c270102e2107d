//! What a process with nothing to do sleeps on.

use std::os::fd::RawFd;
use std::time::Duration;

/// Descriptors of one sleep, at most.
const MOST: usize = 8;
/// Longest sleep on descriptors of a process that waits in a call: some networks have timers that
/// run only in calls, and what none of them tells is looked for then.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(10);
/// Longest sleep of all: what the kernel can count.
const FOREVER: Duration = Duration::from_secs(3600);

/// What a process may sleep on now, without the transport.
///
/// # Examples
/// ```
/// use std::io::{Write, pipe};
/// use std::os::fd::AsRawFd;
/// use std::time::Duration;
///
/// use catena_fabric::Sleeper;
///
/// let (reader, mut writer) = pipe()?;
/// let sleeper = Sleeper::new(Some(reader.as_raw_fd()));
/// assert!(!sleeper.sleep(Duration::from_millis(1)), "nothing has happened");
/// writer.write_all(b"x")?;
/// assert!(sleeper.sleep(Duration::from_secs(9)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sleeper {
    fds: [RawFd; MOST],
    count: usize,
    blind: bool,
    timers: bool,
    limit: Duration,
}

impl Sleeper {
    /// Nothing that could wake the process: it looks again soon.
    pub const BLIND: Sleeper = Sleeper {
        fds: [-1; MOST],
        count: 0,
        blind: true,
        timers: true,
        limit: FOREVER,
    };

    /// A descriptor that becomes readable when there is something to do, if
    /// there is one.
    pub fn new(fd: Option<RawFd>) -> Sleeper {
        let mut sleeper = Sleeper::BLIND;
        if let Some(fd) = fd {
            (sleeper.fds[0], sleeper.count) = (fd, 1);
            (sleeper.blind, sleeper.timers) = (false, false);
        }
        sleeper
    }

    /// Either of two.
    #[must_use]
    pub fn or(mut self, other: Sleeper) -> Sleeper {
        self.blind |= other.blind;
        self.timers |= other.timers;
        self.limit = self.limit.min(other.limit);
        for &fd in &other.fds[..other.count] {
            if self.count == MOST {
                self.blind = true;
                break;
            }
            self.fds[self.count] = fd;
            self.count += 1;
        }
        self
    }

    /// A sleep on these descriptors of at most `limit`.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Sleeper {
        self.limit = self.limit.min(limit);
        self
    }

    /// These belong to a library that may have timers which run only in calls: it is called now and
    /// then.
    #[must_use]
    pub fn with_timers(mut self) -> Sleeper {
        self.timers = true;
        self
    }

    /// Whether a library is to be called now and then, whatever wakes the process.
    pub fn has_timers(&self) -> bool {
        self.timers
    }

    /// Whether something may happen that does not wake the process.
    pub fn is_blind(&self) -> bool {
        self.blind
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
        // SAFETY: the array has that many entries and is valid for the call, which keeps the
        // signals as they are.
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
    fn who_cannot_hear_all_is_blind() {
        let (sleeper, _pipes) = pipes(MOST + 1);
        assert!(sleeper.is_blind());
        let (one, _pipe) = pipes(1);
        assert!(!one.is_blind() && one.or(Sleeper::BLIND).is_blind());
    }

    #[test]
    fn the_shortest_limit_counts() {
        let millis = Duration::from_millis;
        let short = Sleeper::BLIND.within(millis(1)).within(millis(2));
        assert_eq!(short.limit, millis(1));
        assert_eq!(Sleeper::BLIND.or(short).limit, millis(1));
        assert_eq!(short.or(Sleeper::BLIND).limit, millis(1));
    }

    #[test]
    fn who_hears_all_has_no_timers_and_no_limit() {
        let (one, _pipe) = pipes(1);
        assert!(!one.has_timers() && one.limit == FOREVER);
        for with in [one.or(Sleeper::BLIND), one.or(one.with_timers())] {
            assert!(with.has_timers());
        }
    }

    #[test]
    fn nobody_oversleeps() {
        let (_reader, pipe) = pipe().expect("a pipe");
        let began = Instant::now();
        for sleeper in [Sleeper::BLIND, Sleeper::new(Some(pipe.as_raw_fd()))] {
            let sleeper = sleeper.within(Duration::from_millis(1));
            assert!(!sleeper.sleep(Duration::MAX));
        }
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}
