//! When to spin, yield, sleep.
//!
//! Spinning answers fastest but keeps a core busy; `sched_yield` hands the
//! core to another rank on it (1.4 µs) but is useless to a rank on another
//! core; sleeping costs the waker a system call and the sleeper 12 µs and
//! more. So: spin for about as long as a wake-up costs, yield a while, sleep.
//! With more ranks than cores nothing is to be gained by spinning while others want the
//! core: they may be those who are waited for, and have something to do in any case. Where the last
//! yield came back at once nobody does, and the sender runs elsewhere.
//!
//! Where other programs compete for the cores a yield gives a time slice of
//! milliseconds to one of them. Who sleeps instead gets the core back when it is
//! woken, so two ranks run at the same time for most of what they get: nobody
//! with a core of its own yields while yields are long. More ranks than cores
//! are other_processes to each other in that, if they have much to do.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
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
    /// Looks before the next yield, with more ranks than cores.
    spins: u32,
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
/// A yield that takes no longer has found nobody who wants the core: to switch to somebody and back
/// takes longer.
const BRIEF: Duration = Duration::from_micros(1);
/// Looks before the next yield then, a microsecond or two.
const SPINS: u32 = 32;
/// Yields of a wait that has come to sleeping, and goes on with that.
const SLEEPY: u32 = u32::MAX;
/// A yield that takes so long has given a time slice away.
const SLICE: Duration = Duration::from_millis(2);
/// Share of such yields, of 256, from which on other programs are taken to run.
const FOUND: u32 = 64;
/// How long nobody yields then.
const LATELY: Duration = Duration::from_millis(250);
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
            spins: 0,
            oversubscribed,
        }
    }

    /// Something was found: start over.
    #[inline(always)]
    pub fn reset(&mut self) {
        self.looks = 0;
        self.yields = 0;
        self.until = 0;
        self.spins = 0;
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
            self.idle_oversubscribed(&OTHERS)
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
        if self.yields <= YIELDS && !OTHERS.compete() {
            return Idle::Yield;
        }
        self.yields = YIELDS;
        Idle::Sleep(SLEEP)
    }

    fn idle_oversubscribed(&mut self, others: &OtherProcesses) -> Idle {
        if self.spins < SPINS && self.yields != SLEEPY && others.leave_core() {
            self.spins += 1;
            std::hint::spin_loop();
            return Idle::Spin;
        }
        self.spins = 0;
        self.yields = self.yields.saturating_add(1);
        if self.yields <= YIELDS_AT_LEAST || self.yields < SLEEPY && !self.over(YIELD_FOR) {
            return Idle::Yield;
        }
        self.yields = SLEEPY;
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

/// Whether other programs compete for the cores, by what yields take.
#[derive(Debug)]
struct OtherProcesses {
    /// Which part of the last yields was long, of 256.
    share: AtomicU32,
    /// Tick until which they are taken to be there; 0 before they were found.
    until: AtomicU64,
    /// Whether the last yield came back at once.
    left: AtomicBool,
}

static OTHERS: OtherProcesses = OtherProcesses::new();

impl OtherProcesses {
    const fn new() -> Self {
        OtherProcesses {
            share: AtomicU32::new(0),
            until: AtomicU64::new(0),
            left: AtomicBool::new(false),
        }
    }

    /// Whether they are there now.
    #[inline]
    fn compete(&self) -> bool {
        let until = self.until.load(Relaxed);
        until != 0 && clock::ticks() < until
    }

    /// Whether nobody, of this job or another, wanted the core when it was last yielded.
    #[inline]
    fn leave_core(&self) -> bool {
        self.left.load(Relaxed)
    }

    /// Records that a yield took `ticks` ticks, until `now`.
    #[inline]
    fn yielded(&self, ticks: u64, now: u64) {
        self.left.store(ticks < clock::ticks_in(BRIEF), Relaxed);
        let share = self.share.load(Relaxed);
        let share = if ticks < clock::ticks_in(SLICE) {
            share - share.div_ceil(8)
        } else {
            share + (256 - share) / 8
        };
        if share < FOUND {
            self.share.store(share, Relaxed);
            return;
        }
        self.until.store(now + clock::ticks_in(LATELY), Relaxed);
        self.share.store(0, Relaxed);
    }
}

/// Hands the core to any other thread that is ready to run on it.
#[inline(never)]
pub fn yield_core() {
    let began = clock::ticks();
    rustix::thread::sched_yield();
    let now = clock::ticks();
    OTHERS.yielded(now.wrapping_sub(began), now);
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

    /// Follows a wait with more ranks than cores until it sleeps; how often it spun and yielded.
    fn crowded(others: &OtherProcesses) -> (u32, u32) {
        let (mut waiter, mut spins, mut yields) = (Waiter::new(true), 0, 0);
        loop {
            match waiter.idle_oversubscribed(others) {
                Idle::Spin => spins += 1,
                Idle::Yield => yields += 1,
                Idle::Sleep(limit) => {
                    assert!(limit > Duration::ZERO);
                    assert!(clock::ticks().wrapping_sub(waiter.sleepy_since()) < 1 << 63);
                    let next = waiter.idle_oversubscribed(others);
                    assert!(matches!(next, Idle::Sleep(_)), "goes on sleeping");
                    return (spins, yields);
                }
            }
        }
    }

    #[test]
    fn crowded_ranks_spin_only_where_nobody_wants_the_core() {
        let others = OtherProcesses::new();
        let (spins, yields) = crowded(&others);
        assert!(spins == 0 && yields >= YIELDS_AT_LEAST);
        others.left.store(true, Relaxed);
        let (spins, yields) = crowded(&others);
        assert!(spins == SPINS * (yields + 1) && yields >= YIELDS_AT_LEAST);
    }

    #[test]
    fn a_yield_that_comes_back_at_once_has_found_nobody() {
        let other_processes = OtherProcesses::new();
        let brief = clock::ticks_in(BRIEF);
        assert!(!other_processes.leave_core());
        other_processes.yielded(brief - 1, 1000);
        assert!(other_processes.leave_core());
        other_processes.yielded(brief, 1000);
        assert!(!other_processes.leave_core());
    }

    #[test]
    fn other_processes_are_found_by_long_yields() {
        let (short, long) = (clock::ticks_in(SLICE) / 2, clock::ticks_in(SLICE));
        let found = |yields: &[u64]| {
            let other_processes = OtherProcesses::new();
            yields
                .iter()
                .for_each(|&y| other_processes.yielded(y, 1000));
            let until = other_processes.until.load(Relaxed);
            assert!(until == 0 || until == 1000 + clock::ticks_in(LATELY));
            until != 0
        };
        assert!(found(&[long; 3]) && !found(&[long; 2]));
        assert!(found(&[short, long, short, long, short, long]));
        let rare: Vec<_> = (0..1000)
            .map(|i| if i % 20 < 2 { long } else { short })
            .collect();
        assert!(!found(&rare), "one that works for long at times");
    }

    #[test]
    fn nobody_yields_to_other_processes_for_a_while() {
        let other_processes = OtherProcesses::new();
        assert!(!other_processes.compete());
        let now = clock::ticks();
        other_processes.until.store(now + (1 << 60), Relaxed);
        assert!(other_processes.compete());
        other_processes.until.store(now, Relaxed);
        assert!(!other_processes.compete());
    }
}
