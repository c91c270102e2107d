//! What a thread tells of its wait, once that has lasted: in a notice of the trace, for whoever
//! looks at a job that hangs.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use catena_base::clock;
use catena_boot::FAULT_TOLERANCE;
use catena_hang::{FRAMES, Sent, WaitsFor};
use catena_trace::Notice;

use crate::own_watch;

/// How long nothing has moved before anything is told. Shorter waits cost nothing.
const LONG: Duration = Duration::from_secs(1);

/// One that waits looks ten times a second whether it is over. If it has not for so long, its
/// process was stopped, or busy with something else: that time is no waiting.
const AWAY: Duration = Duration::from_secs(5);

/// How long from one time that a wait is told to the next, at least.
const AGAIN: Duration = Duration::from_millis(50);

/// A wait is told at one of this many pauses that are no sleep: where others want the core, each
/// pause may take a tenth of a second.
const PAUSES: u32 = 8;

/// How long from one time that a process tells what it has counted to the next, at least.
const COUNTED_AGAIN: Duration = Duration::from_millis(100);

/// The tick at which this process told that last; 0 before.
static COUNTED: AtomicU64 = AtomicU64::new(0);

/// A wait of a thread, a part of a process `P`.
pub trait Wait<P> {
    /// Whether what is waited for has come.
    fn is_done(&mut self, process: &P) -> bool;

    /// Adds what that is. Called now and then in a wait that lasts, between two calls of
    /// [`is_done`](Self::is_done): it neither progresses, nor waits, nor calls the program.
    fn describe(&self, process: &P, waits: &mut WaitsFor);
}

/// A wait of two functions.
#[derive(Debug)]
pub(crate) struct WaitOf<D, W> {
    pub is_done: D,
    pub describe: W,
}

impl<P, D: FnMut(&P) -> bool, W: Fn(&P, &mut WaitsFor)> Wait<P> for WaitOf<D, W> {
    #[inline]
    fn is_done(&mut self, process: &P) -> bool {
        (self.is_done)(process)
    }

    fn describe(&self, process: &P, waits: &mut WaitsFor) {
        (self.describe)(process, waits);
    }
}

/// What a thread has told of its wait.
#[derive(Debug, Default)]
pub(crate) struct WaitReport {
    /// The tick at which it has come to sleeping first, and later by what it was away; 0 before.
    began: u64,
    /// The tick at which it has come to sleeping last.
    last: u64,
    /// The tick at which it was told last; 0 before.
    told: u64,
    /// How long it was away since then.
    away: Duration,
    /// How many pauses it has made.
    pauses: u32,
    notes: Option<Box<Notes>>,
}

/// What a process says of a wait, and does about it: see [`Host`](crate::Host).
#[derive(Clone, Copy)]
pub(crate) struct ProcessSays<'p> {
    /// What has become of what it has sent.
    pub sent: Sent,
    pub has_waited: &'p dyn Fn(&WaitsFor),
}

#[derive(Debug)]
struct Notes {
    notice: Notice,
    /// What is said.
    waits: WaitsFor,
    /// When it was said last.
    said: u64,
}

impl WaitReport {
    /// It comes to sleeping once more: how long it was away, if it was.
    fn sleeps_again(&mut self, now: u64) -> Duration {
        if self.began == 0 {
            (self.began, self.last) = (now, now);
        }
        // The clocks of two processors may differ.
        let gap = now.saturating_sub(self.last);
        self.last = now;
        let away = clock::duration(gap);
        if away < AWAY {
            return Duration::ZERO;
        }
        self.began = self.began.wrapping_add(gap);
        away
    }

    /// It comes to a pause that is no sleep: whether it is time to tell what it waits for, as with
    /// many programs on a core such pauses may take seconds together.
    pub fn is_due_in_pause(&mut self) -> bool {
        self.pauses = self.pauses.wrapping_add(1);
        self.pauses.is_multiple_of(PAUSES) && self.is_due()
    }

    /// It comes to sleeping: whether it is time to tell what it waits for.
    pub fn is_due(&mut self) -> bool {
        self.is_due_at(clock::ticks())
    }

    /// Whether it is time that the process tells what it has counted, as of when this wait last
    /// looked at the clock. It is asked wherever a wait asks whether it is due, and nowhere else: a
    /// message for which nobody had to pause takes no longer for it.
    pub fn are_counts_due(&self) -> bool {
        let told = COUNTED.load(Relaxed);
        // The clocks of two processors may differ.
        let is_soon = clock::duration(self.last.saturating_sub(told)) < COUNTED_AGAIN;
        if self.last == 0 || told != 0 && is_soon {
            return false;
        }
        COUNTED.store(self.last, Relaxed);
        true
    }

    fn is_due_at(&mut self, now: u64) -> bool {
        let away = self.sleeps_again(now);
        self.away += away;
        if self.waited() < LONG {
            return false;
        }
        let is_soon = clock::duration(now.saturating_sub(self.told)) < AGAIN;
        if self.told != 0 && is_soon {
            return false;
        }
        self.told = now;
        true
    }

    /// How long it has waited.
    fn waited(&self) -> Duration {
        clock::duration(self.last.saturating_sub(self.began))
    }

    /// Tells what thread `thread` waits for: it is [time](Self::is_due) to. The calling thread is
    /// that one if it is `mine`: then its calls are told, too. What comes in the meantime for
    /// others, or is about something else, changes nothing: the wait is as old as what it is for.
    #[cold]
    pub fn tell<P>(
        &mut self,
        process: &P,
        (thread, is_mine): (u32, bool),
        wait: &dyn Wait<P>,
        process_says: ProcessSays<'_>,
    ) {
        let (waited, away) = (self.waited(), std::mem::take(&mut self.away));
        let mut waits = WaitsFor {
            sent: process_says.sent,
            // Each of them may revoke the communicator.
            by_others: FAULT_TOLERANCE.get().into(),
            ..WaitsFor::default()
        };
        wait.describe(process, &mut waits);
        (process_says.has_waited)(&waits);
        if let Some(notes) = &mut self.notes {
            notes.waits.since += away.as_nanos() as u64;
        } else {
            let since = clock::monotonic_ns().saturating_sub(waited.as_nanos() as u64);
            self.notes = Notice::of(thread).map(|notice| {
                let (frames, python) = match is_mine {
                    true => (catena_trace::frames(FRAMES), catena_trace::python()),
                    false => Default::default(),
                };
                let waits = WaitsFor {
                    since,
                    told: since,
                    sent: waits.sent,
                    frames,
                    python,
                    any: waits.any,
                    by_others: waits.by_others,
                    needs: waits.needs.clone(),
                };
                Box::new(Notes {
                    notice,
                    waits,
                    said: since,
                })
            });
        }
        let Some(notes) = &mut self.notes else {
            return;
        };
        if (notes.waits.any, &notes.waits.needs) != (waits.any, &waits.needs) {
            notes.waits.since = clock::monotonic_ns();
            (notes.waits.any, notes.waits.needs) = (waits.any, waits.needs);
        }
        // Of the look between the last time and this one it is not known when it was.
        notes.waits.told = std::mem::replace(&mut notes.said, clock::monotonic_ns());
        notes.waits.sent = waits.sent;
        notes.notice.write(&notes.waits.to_bytes());
        own_watch::watch();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_which_a_process_is_stopped_is_no_waiting() {
        let mut report = WaitReport::default();
        let at = |tenths: u64| 1 + clock::ticks_in(Duration::from_millis(100)) * tenths;
        // A tenth of a second is no whole number of ticks.
        let seconds = |it: Duration| it.as_secs_f64().round() as u64;
        let waited = |it: &WaitReport| seconds(clock::duration(it.last - it.began));
        for tenth in 0..=30 {
            assert_eq!(report.sleeps_again(at(tenth)), Duration::ZERO);
        }
        assert_eq!(waited(&report), 3);
        assert_eq!(seconds(report.sleeps_again(at(1030))), 100);
        assert_eq!(waited(&report), 3);
        for tenth in 1031..=1050 {
            assert_eq!(report.sleeps_again(at(tenth)), Duration::ZERO);
        }
        assert_eq!(waited(&report), 5);
        // On another processor, whose clock is behind.
        assert_eq!(report.sleeps_again(at(1049)), Duration::ZERO);
    }

    /// Each of the pauses before the first sleep is long where other programs want the core.
    #[test]
    fn a_wait_is_told_after_a_second_and_not_too_often() {
        let mut report = WaitReport::default();
        let at = |hundredths: u64| 1 + clock::ticks_in(Duration::from_millis(10)) * hundredths;
        let due: Vec<u64> = (0..130).filter(|&it| report.is_due_at(at(it))).collect();
        assert!((100..=101).contains(&due[0]), "{due:?}");
        assert!(
            due.windows(2).all(|it| (5..=6).contains(&(it[1] - it[0]))),
            "{due:?}"
        );
        assert!(report.is_due_at(at(2000)), "it was away");
        assert_eq!(report.away.as_secs_f64().round(), 19.0);
        let mut report = WaitReport::default();
        let due = (0..4 * PAUSES).filter(|_| report.is_due_in_pause());
        assert_eq!(due.count(), 0, "it has not waited for a second");
        assert!(report.began != 0, "the pauses count");
    }
}
