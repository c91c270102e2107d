//! Whether the program of a process is in its library, for the thread that acts for it while it is
//! not, and for other processes, which send it something to act on.
//!
//! | field     | writer                                    | reader  | rule                    |
//! |-----------|-------------------------------------------|---------|-------------------------|
//! | `state`   | the program; `AWAY` and `AWAKE`: anybody  | all     | see below               |
//! | `missed`  | 1: anybody; 0: program and thread         | both    | behind a change of `state` |
//! | `calls`   | anybody, adds                             | thread  | Release/Acquire         |
//! | `asleep`  | thread                                    | anybody | before a look at `calls` and `state` |
//! | `key`     | thread, before `waker`                    | anybody | Release/Acquire of `waker` |
//!
//! The program enters by a store, behind which it looks whether the thread works; the thread takes
//! the lock, executes a [heavy barrier](Barrier), and looks whether the program is inside. So one
//! of the two sees the other, and entering costs no fence.
//!
//! What leaving costs depends on how the thread sleeps ([`Sleep`]). While it runs or naps, it will
//! look again by itself: the program [leaves](Presence::leave_quietly) by a store, too, and may
//! miss who calls at the same time. Before a longer sleep the thread says so, executes a heavy
//! barrier and looks where the program is and whether somebody has called: it sees what the program
//! has missed, or the program sees how it sleeps, and [leaves](Presence::leave) by an exchange from
//! then on. Of the program, which then looks at `missed`, and somebody who calls, who has written
//! it and looks at `state` again, one sees the other.
//!
//! Who calls a process publishes first what is to be acted on. Nobody is woken while the program is
//! inside, nor where it expects nothing (`NOBODY`: zeroed memory), nor more than once for each time
//! that the thread sleeps. For what is short ([`Presence::call_softly`]) nobody is called unless
//! the thread sleeps until it is: else it will look, and says that it listens before its last look.
//! Who calls softly reads a line of its own, which the program does not write.
//!
//! Model: `tests/loom_presence.rs`.

use std::time::Duration;

use crate::bell::Barrier;
use crate::sync::AtomicU32;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use crate::sync::fence;
use crate::waker::Waker;

/// The program expects nothing that somebody would have to act on.
const NOBODY: u32 = 0;
/// The program is in the library.
const INSIDE: u32 = 1;
/// It is not, and the thread sleeps or will look again before it does.
const AWAY: u32 = 2;
/// It is not, and the thread was called, or has [marked](Presence::mark) that.
const AWAKE: u32 = 3;

/// The thread runs, and looks again before it sleeps.
const RUNS: u32 = 0;
/// It naps, and looks again then.
const NAPS: u32 = 1;
/// It sleeps until it is called.
const HEARS: u32 = 2;
/// It sleeps until the program tells it that it leaves.
const TOLD: u32 = 3;

/// What the program has to do for the thread as it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Left {
    /// Nothing.
    Quietly,
    /// The thread sleeps until it is told that the program leaves, and is to be
    /// [roused](Presence::rouse).
    Told,
    /// Somebody has called meanwhile: the thread is to be [woken](Presence::wake).
    Called,
}

/// How long, and until when, the thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Sleep {
    /// For a while, after which it looks again. It is called for what is long alone.
    Nap = NAPS,
    /// Until it is called: the program was found away, and may come and go meanwhile.
    Calls = HEARS,
    /// Until the program leaves, which was found inside, or to expect nothing.
    Program = TOLD,
}

/// Added to the number of a wake socket.
const WAKER: u32 = 1;

/// Where the program of a process is. It may lie in shared memory; zeroed memory is a valid one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Presence {
    state: AtomicU32,
    missed: AtomicU32,
    calls: AtomicU32,
    _apart: [u32; 13],
    asleep: AtomicU32,
    waker: AtomicU32,
    key: [AtomicU32; 2],
}

impl Presence {
    /// Of a program that expects nothing.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Presence {
            state: AtomicU32::new(NOBODY),
            missed: AtomicU32::new(0),
            calls: AtomicU32::new(0),
            _apart: [0; 13],
            asleep: AtomicU32::new(0),
            waker: AtomicU32::new(0),
            key: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    /// The program, which is inside, expects something from now on. What was published so far by
    /// somebody who found that it expects nothing is seen by who looks behind this.
    pub fn begin(&self) {
        self.missed.store(0, Relaxed);
        self.state.swap(INSIDE, SeqCst);
        fence(SeqCst);
    }

    /// The program, which is inside, expects nothing any more: it enters and leaves without a word.
    pub fn end(&self) {
        self.state.store(NOBODY, Release);
    }

    /// The program enters; a look whether the thread works is to follow. False if it was inside.
    #[inline(always)]
    pub fn enter(&self) -> bool {
        let was_away = self.state.load(Relaxed) != INSIDE;
        #[cfg(not(loom))]
        self.state.store(INSIDE, Release);
        // The model does not know that a store comes behind an exchange that it overtakes.
        #[cfg(loom)]
        self.state.swap(INSIDE, AcqRel);
        Barrier::light();
        was_away
    }

    /// The program leaves without a fence, if the thread will look again by itself. If not, false:
    /// the program is inside, and is to look whether the thread works, as when it enters.
    #[inline(always)]
    pub fn leave_quietly(&self) -> bool {
        #[cfg(not(loom))]
        self.state.store(AWAY, Release);
        // As in `enter`.
        #[cfg(loom)]
        self.state.swap(AWAY, AcqRel);
        Barrier::light();
        if self.asleep.load(Relaxed) <= NAPS {
            return true;
        }
        self.enter();
        false
    }

    /// The program leaves: what is to be done for the thread.
    pub fn leave(&self) -> Left {
        self.state.swap(AWAY, SeqCst);
        // All of these accesses are in one order; the model knows only fences.
        #[cfg(loom)]
        fence(SeqCst);
        match self.asleep.load(SeqCst) {
            TOLD => Left::Told,
            HEARS if self.missed.load(SeqCst) != 0 => Left::Called,
            _ => Left::Quietly,
        }
    }

    /// Whether the thread sleeps until it is called, and for nothing else.
    pub fn hears(&self) -> bool {
        self.asleep.load(Relaxed) == HEARS
    }

    /// Takes note of a call that came while the program was inside, which is and looks for what it
    /// was called for behind this; whether there was one.
    pub fn take_word(&self) -> bool {
        let has_one = self.missed.load(Relaxed) != 0;
        if has_one {
            self.missed.swap(0, SeqCst);
            fence(SeqCst);
        }
        has_one
    }

    /// Whether the program expects something.
    #[inline(always)]
    pub fn expects(&self) -> bool {
        self.state.load(Relaxed) != NOBODY
    }

    /// Whether the program is inside and expects something.
    #[inline]
    pub fn is_inside(&self) -> bool {
        self.state.load(Relaxed) == INSIDE
    }

    /// Whether the program is outside and expects something, so that the thread may act for it. The
    /// thread asks behind a heavy barrier, with the lock held.
    #[inline]
    pub fn is_away(&self) -> bool {
        self.state.load(Acquire) >= AWAY
    }

    /// Calls the process, for which something was published that somebody has to act on.
    #[inline]
    pub fn call(&self) {
        fence(SeqCst);
        self.call_behind_fence();
    }

    /// As [`Presence::call`], for what takes hardly longer than to wake somebody: a thread that
    /// naps finds it when it looks.
    #[inline]
    pub fn call_softly(&self) {
        fence(SeqCst);
        if self.asleep.load(Acquire) == HEARS {
            self.call_behind_fence();
        }
    }

    #[inline]
    fn call_behind_fence(&self) {
        match self.state.load(Acquire) {
            NOBODY | AWAKE => {}
            INSIDE => self.leave_word(),
            _ => self.wake(),
        }
    }

    /// The program is inside, and may be about to leave without a look.
    #[cold]
    pub fn leave_word(&self) {
        if self.missed.load(Relaxed) == 0 {
            self.missed.store(1, SeqCst);
            fence(SeqCst);
            if self.state.load(SeqCst) == AWAY {
                self.wake();
            }
        }
    }

    /// Wakes the thread if the program is away and nobody else has.
    #[cold]
    pub fn wake(&self) {
        match self.state.compare_exchange(AWAY, AWAKE, AcqRel, Acquire) {
            Ok(_) => self.rouse(),
            Err(INSIDE) => self.leave_word(),
            Err(_) => {}
        }
    }

    /// Wakes the thread wherever the program is.
    #[cold]
    pub fn rouse(&self) {
        self.rouse_over(RUNS);
    }

    /// As [`Presence::rouse`], but lets it nap.
    #[cold]
    pub fn rouse_softly(&self) {
        self.rouse_over(NAPS);
    }

    /// Wakes the thread if it sleeps longer than that.
    #[cold]
    fn rouse_over(&self, over: u32) {
        self.calls.fetch_add(1, AcqRel);
        fence(SeqCst);
        if self.asleep.load(Relaxed) <= over {
            return;
        }
        match self.waker.load(Acquire) {
            0 => wake(&self.calls),
            number => {
                let [high, low] = self.key.each_ref().map(|half| half.load(Relaxed));
                let key = u64::from(high) << 32 | u64::from(low);
                let number = number - WAKER;
                Waker { number, key }.wake();
            }
        }
    }

    /// How often the thread was called.
    pub fn calls(&self) -> u32 {
        self.calls.load(Acquire)
    }

    /// The thread has done what there was to do, and will look once more, and then sleep until it
    /// is called, unless it [runs on](Presence::run_on): whoever calls from now on wakes it. If the
    /// program has come, somebody may have called the thread in vain before that, so that the
    /// program tells it when it leaves.
    pub fn rearm(&self) {
        self.waker.store(0, Release);
        self.asleep.store(HEARS, Relaxed);
        self.missed.swap(0, SeqCst);
        let before = self.state.compare_exchange(AWAKE, AWAY, AcqRel, Relaxed);
        fence(SeqCst);
        if before == Err(INSIDE) {
            self.leave_word();
        }
    }

    /// The thread has found more to do.
    pub fn run_on(&self) {
        self.asleep.store(RUNS, Relaxed);
    }

    /// The thread marks that it has found the program away: if it finds that mark after a nap, the
    /// program was away all the time. Whether it is away.
    pub fn mark(&self) -> bool {
        let before = self.state.compare_exchange(AWAY, AWAKE, AcqRel, Relaxed);
        matches!(before, Ok(_) | Err(AWAKE))
    }

    /// Whether the thread was called since it [last looked](Presence::rearm) and the program is
    /// away, or has been since it was [marked](Presence::mark).
    pub fn is_called(&self) -> bool {
        match self.state.load(Acquire) {
            AWAKE => true,
            AWAY => {
                fence(SeqCst);
                self.missed.load(Acquire) != 0
            }
            _ => false,
        }
    }

    /// The thread sleeps in that way, until it is called more often than `calls` times, or `limit`
    /// is over. It may wake for no reason.
    pub fn sleep(&self, how: Sleep, calls: u32, limit: Option<Duration>) {
        self.asleep_while(how, calls, 0, || wait(&self.calls, calls, limit));
    }

    /// As [`Presence::sleep`], by `wait`, which ends when `waker` is used.
    pub fn sleep_on(&self, how: Sleep, calls: u32, waker: Waker, wait: impl FnOnce()) {
        self.key[0].store((waker.key >> 32) as u32, Relaxed);
        self.key[1].store(waker.key as u32, Relaxed);
        self.asleep_while(how, calls, WAKER + waker.number, wait);
    }

    fn asleep_while(&self, how: Sleep, calls: u32, waker: u32, sleep: impl FnOnce()) {
        self.waker.store(waker, Release);
        self.asleep.store(how as u32, Relaxed);
        fence(SeqCst);
        // The program sees how the thread sleeps as it leaves, or is seen here to have left.
        let is_due = match how {
            Sleep::Nap => false,
            Sleep::Calls => {
                Barrier::heavy_for_own();
                self.is_called()
            }
            Sleep::Program => {
                Barrier::heavy_for_own();
                self.is_away()
            }
        };
        if !is_due && self.calls.load(Acquire) == calls {
            sleep();
        }
        self.asleep.store(RUNS, Relaxed);
    }
}

#[cfg(not(loom))]
fn wait(word: &AtomicU32, expected: u32, limit: Option<Duration>) {
    use crate::futex::{Reach, wait};
    wait(word, expected, limit, Reach::Node);
}

#[cfg(not(loom))]
fn wake(word: &AtomicU32) {
    use crate::futex::{Reach, wake};
    wake(word, 1, Reach::Node);
}

/// The model has no time: a call that is missed is a sleep that never ends.
#[cfg(loom)]
fn wait(word: &AtomicU32, expected: u32, _limit: Option<Duration>) {
    while word.load(Acquire) == expected {
        crate::sync::yield_now();
    }
}

#[cfg(loom)]
fn wake(_word: &AtomicU32) {}
