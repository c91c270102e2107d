//! Signals that are to end the job, and the patience of those who send them.

use std::time::{Duration, Instant};

/// What was done to have the job end.
#[derive(Debug, Default)]
pub struct Interrupts {
    /// The last signal that was to end the job, and when it came.
    last: Option<(i32, Instant)>,
    /// Whether the job is to end although nobody may read what is left of its output.
    is_hurried: bool,
}

impl Interrupts {
    /// A signal comes that is to end the job. Whether it is one more after the job was to end
    /// already; none if it is the last one again.
    pub fn take(&mut self, signal: i32, now: Instant) -> Option<bool> {
        let is_known = self
            .last
            .is_some_and(|(last, at)| is_again(signal, last, now - at));
        if is_known {
            return None;
        }
        self.last = Some((signal, now));
        Some(self.hurry())
    }

    /// The job is to end, whoever reads its output. Whether that was so already.
    pub fn hurry(&mut self) -> bool {
        std::mem::replace(&mut self.is_hurried, true)
    }

    /// Whether the job is to end, whoever reads its output.
    pub fn is_hurried(&self) -> bool {
        self.is_hurried
    }

    /// The signal by which ranks are asked to end. Whoever has interrupted the job has chosen how;
    /// a terminal that is closed, or a session that ends, is no wish of anybody's, and programs
    /// save their work for SIGTERM.
    pub fn signal(&self) -> i32 {
        match self.last {
            Some((signal @ (libc::SIGINT | libc::SIGQUIT), _)) => signal,
            _ => libc::SIGTERM,
        }
    }
}

/// Whether a signal that comes this long after another one is that one again. `timeout` and batch
/// systems send theirs to the launcher and to its group, and some SIGHUP behind SIGTERM, while a
/// user who presses Ctrl-C again means it.
fn is_again(signal: i32, last: i32, since: Duration) -> bool {
    let kind = |signal| match signal {
        libc::SIGHUP => libc::SIGTERM,
        other => other,
    };
    let limit = match signal {
        libc::SIGINT => Duration::from_millis(100),
        _ => Duration::from_secs(1),
    };
    kind(signal) == kind(last) && since < limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_sent_twice_counts_once() {
        let (mut interrupts, start) = (Interrupts::default(), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        assert_eq!(interrupts.signal(), libc::SIGTERM);
        assert_eq!(interrupts.take(libc::SIGTERM, start), Some(false));
        assert_eq!(interrupts.take(libc::SIGHUP, after(900)), None);
        assert_eq!(interrupts.take(libc::SIGINT, after(900)), Some(true));
        assert_eq!(interrupts.take(libc::SIGINT, after(950)), None);
        assert_eq!(interrupts.take(libc::SIGINT, after(1100)), Some(true));
        assert_eq!(interrupts.signal(), libc::SIGINT);
    }
}
