//! When the next look comes.
//!
//! Looks are close together at first, and later at most [`NEAR`] apart, which is less than what
//! MPI_Init of another MPI takes, as long as they cost no more than a part [`LASTING`] of a core,
//! beside [`CREDIT`] that may be spent soon. If that does not suffice, as where many ranks change
//! their memory all the time, they are further apart, [`LONGEST`] at most.

use std::time::{Duration, Instant};

/// The pause after the first looks.
const FIRST: Duration = Duration::from_millis(25);

/// The pause is this part of the time that the ranks have run.
const PART: u32 = 25;

/// The longest pause, if looks cost little.
const NEAR: Duration = Duration::from_millis(100);

/// The longest pause if they cost more.
const LONGEST: Duration = Duration::from_secs(1);

/// What looks may cost altogether at first.
const CREDIT: Duration = Duration::from_millis(100);

/// Looks take at most one part in `LASTING` of a core's time in the long run.
const LASTING: u32 = 1000;

/// The pause after a look is at least `SHARE` times as long as the look, even at first.
const SHARE: u32 = 20;

/// What it costs to be woken for a look.
const WAKE: Duration = Duration::from_micros(20);

/// Keeps what looks have cost.
#[derive(Debug)]
pub(super) struct Pace {
    started: Instant,
    spent: Duration,
    at: Instant,
}

impl Pace {
    /// One for ranks that were started at `now`.
    pub(super) fn new(now: Instant) -> Pace {
        Pace {
            started: now,
            spent: Duration::ZERO,
            at: now + FIRST,
        }
    }

    /// When the next look comes.
    pub(super) fn next_time(&self) -> Instant {
        self.at
    }

    /// A look that cost `took` has ended.
    pub(super) fn looked(&mut self, took: Duration, end: Instant) {
        self.spent += took + WAKE;
        let age = end - self.started;
        let pause = (age / PART).clamp(FIRST, NEAR).max(took * SHARE);
        let fair = self.started + self.spent.saturating_sub(CREDIT) * LASTING;
        let latest = end + LONGEST.max(took * SHARE);
        self.at = (end + pause).max(fair).min(latest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An hour of looks that each take `took`: the longest pause, and what they have cost.
    fn hour(took: Duration) -> (Duration, Duration) {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let (mut longest, mut cost) = (Duration::ZERO, Duration::ZERO);
        let mut now = start;
        while now < start + Duration::from_secs(3600) {
            now = pace.next_time();
            pace.looked(took, now + took);
            longest = longest.max(pace.next_time() - now);
            cost += took;
        }
        (longest, cost)
    }

    #[test]
    fn looks_are_near_each_other_and_cost_little() {
        // 64 processes in which nothing changes.
        let (longest, cost) = hour(Duration::from_micros(64));
        assert!(
            longest <= NEAR + WAKE + Duration::from_millis(1),
            "{longest:?}"
        );
        assert!(cost <= Duration::from_millis(3600) + CREDIT, "{cost:?}");
        // 64 that change their memory all the time.
        let (longest, cost) = hour(Duration::from_micros(900));
        assert!(longest <= LONGEST + Duration::from_millis(1), "{longest:?}");
        assert!(cost <= Duration::from_millis(3600) + CREDIT, "{cost:?}");
        // More than can be looked at so often.
        let (longest, cost) = hour(Duration::from_millis(100));
        assert!(longest <= Duration::from_millis(2100), "{longest:?}");
        assert!(
            cost <= Duration::from_secs(3600) / SHARE + CREDIT,
            "{cost:?}"
        );
    }

    #[test]
    fn the_first_looks_are_soon() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        assert_eq!(pace.next_time(), start + FIRST);
        pace.looked(Duration::ZERO, start + FIRST);
        assert_eq!(pace.next_time(), start + 2 * FIRST);
        let took = Duration::from_millis(10);
        pace.looked(took, start + 2 * FIRST);
        assert_eq!(pace.next_time(), start + 2 * FIRST + took * SHARE);
    }
}
