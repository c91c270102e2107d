//! When to spin, yield, sleep.
//!
//! Spinning answers fastest but keeps a core busy; `sched_yield` hands the
//! core to another rank on it (1.4 µs) but is useless to a rank on another
//! core; sleeping costs the waker a system call and the sleeper 12 µs and
//! more. So: spin for about as long as a wake-up costs, yield a while, sleep.
//! With more ranks than cores nothing is to be gained by spinning: the message
//! cannot come before its sender gets the core.

use std::time::Duration;

use crate::clock;

/// What to do after a look that found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Look again at once.
    Spin,
    /// Call `sched_yield`, then look again ([`Idle::act`] does).
    Yield,
    /// Sleep on the doorbell for at most so long, then look again.
    Sleep(Duration),
}

/// Decides how one wait goes on. Make one per wait, or [`Waiter::reset`] it
/// whenever something was found.
#[derive(Clone, Debug)]
pub struct Waiter {
    /// Looks that found nothing.
    looks: u32,
    yields: u32,
    /// Tick at which this phase ends; 0 before the first look at the clock.
    until: u64,
    oversubscribed: bool,
}

/// Looks without a pause, for answers that are already on their way.
const FAST: u32 = 64;
/// Looks between two looks at the clock.
const CLOCK_EVERY: u32 = 32;
/// How long to spin with a core of one's own.
const SPIN: Duration = Duration::from_micros(50);
/// Yields after that, before the first sleep.
const YIELDS: u32 = 50;
/// How long to yield with more ranks than cores.
const YIELD_FOR: Duration = Duration::from_millis(2);
/// Yields that are made in any case: with many ranks on a core each takes long.
const YIELDS_AT_LEAST: u32 = 100;
/// Longest sleep; the doorbell has a bound of its own.
const SLEEP: Duration = Duration::from_millis(100);

impl Waiter {
    /// A wait that begins now; `oversubscribed` if ranks outnumber cores.
    #[inline]
    pub const fn new(oversubscribed: bool) -> Self {
        Waiter {
            looks: 0,
            yields: 0,
            until: 0,
            oversubscribed,
        }
    }

    /// Something was found: start over.
    #[inline(always)]
    pub fn reset(&mut self) {
        self.looks = 0;
        self.yields = 0;
        self.until = 0;
    }

    /// Tick at which looking without a sleep came to its end; only of a wait
    /// that has come to sleeping.
    #[inline(always)]
    pub fn sleepy_since(&self) -> u64 {
        self.until
    }

    /// Nothing was found: what now?
    #[inline(always)]
    pub fn idle(&mut self) -> Idle {
        self.looks = self.looks.saturating_add(1);
        if self.looks < FAST && !self.oversubscribed {
            return Idle::Spin;
        }
        self.idle_slow()
    }

    #[inline(never)]
    fn idle_slow(&mut self) -> Idle {
        if self.oversubscribed {
            self.idle_crowded()
        } else {
            self.idle_alone()
        }
    }

    fn idle_alone(&mut self) -> Idle {
        if self.yields == 0 {
            std::hint::spin_loop();
            if !self.looks.is_multiple_of(CLOCK_EVERY) || !self.over(SPIN) {
                return Idle::Spin;
            }
        }
        self.yields += 1;
        if self.yields <= YIELDS {
            return Idle::Yield;
        }
        self.yields = YIELDS;
        Idle::Sleep(SLEEP)
    }

    fn idle_crowded(&mut self) -> Idle {
        self.yields = self.yields.saturating_add(1);
        if self.yields <= YIELDS_AT_LEAST || !self.over(YIELD_FOR) {
            return Idle::Yield;
        }
        Idle::Sleep(SLEEP)
    }

    /// Whether `span` has passed since this was first asked.
    fn over(&mut self, span: Duration) -> bool {
        let now = clock::ticks();
        if self.until == 0 {
            self.until = now.wrapping_add(clock::ticks_in(span)).max(1);
            return false;
        }
        now.wrapping_sub(self.until) as i64 >= 0
    }
}

impl Idle {
    /// Does what it says, `sleep` being how the caller sleeps.
    #[inline(always)]
    pub fn act(self, sleep: impl FnOnce(Duration)) {
        match self {
            Idle::Spin => {}
            Idle::Yield => yield_core(),
            Idle::Sleep(limit) => sleep(limit),
        }
    }
}

/// Hands the core to whoever else is ready to run on it.
#[inline(never)]
pub fn yield_core() {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::sched_yield() };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows a waiter until it sleeps; how often it spun and yielded.
    fn phases(waiter: &mut Waiter) -> (u64, u64) {
        let (mut spins, mut yields) = (0, 0);
        loop {
            match waiter.idle() {
                Idle::Spin => {
                    assert_eq!(yields, 0, "no spinning after a yield");
                    spins += 1;
                }
                Idle::Yield => yields += 1,
                Idle::Sleep(limit) => {
                    assert!(limit > Duration::ZERO);
                    return (spins, yields);
                }
            }
        }
    }

    #[test]
    fn spins_then_yields_then_sleeps() {
        let mut waiter = Waiter::new(false);
        let (spins, yields) = phases(&mut waiter);
        assert!(spins >= u64::from(FAST) - 1);
        assert_eq!(yields, u64::from(YIELDS));
        assert!(matches!(waiter.idle(), Idle::Sleep(_)), "goes on sleeping");
        waiter.reset();
        assert_eq!(waiter.idle(), Idle::Spin);
    }

    #[test]
    fn yields_at_once_when_crowded() {
        let mut waiter = Waiter::new(true);
        let (spins, yields) = phases(&mut waiter);
        assert!(clock::ticks().wrapping_sub(waiter.sleepy_since()) < 1 << 63);
        assert_eq!(spins, 0);
        assert!(yields >= u64::from(YIELDS_AT_LEAST));
        assert!(matches!(waiter.idle(), Idle::Sleep(_)), "goes on sleeping");
        waiter.reset();
        assert_eq!(waiter.idle(), Idle::Yield);
    }
}
