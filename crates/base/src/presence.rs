//! Whether the program of a process is in its library, for the thread that acts for it while it is
//! not, and for other processes, which send it something to act on.
//!
//! | field     | writer                                    | reader  | rule                    |
//! |-----------|-------------------------------------------|---------|-------------------------|
//! | `state`   | the program; `AWAY` to `AWAKE`: anybody   | all     | see below               |
//! | `missed`  | 1: anybody; 0: the program                | program | behind a change of `state` |
//! | `calls`   | anybody, adds                             | thread  | Release/Acquire         |
//! | `asleep`  | thread                                    | anybody | before a look at `calls` |
//! | `key`     | thread, before `waker`                    | anybody | Release/Acquire of `waker` |
//!
//! The program enters by a store, behind which it looks whether the thread works; the thread takes
//! the lock, executes a [heavy barrier](Barrier), and looks whether the program is inside. So one
//! of the two sees the other, and entering costs no fence. Leaving is an exchange, so that of the
//! program, which then looks at `missed`, and somebody who calls, who has written it and looks at
//! `state` again, one sees the other, too.
//!
//! Who calls a process publishes first what is to be acted on. Nobody is woken while the program is
//! inside, nor where it expects nothing (`NOBODY`: zeroed memory), nor more than once for each time
//! that the thread sleeps.
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
/// It is not, and the thread was called.
const AWAKE: u32 = 3;

/// Added to the number of a wake socket.
const WAKER: u32 = 1;

/// Where the program of a process is. It may lie in shared memory; zeroed memory is a valid one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Presence {
    state: AtomicU32,
    missed: AtomicU32,
    calls: AtomicU32,
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

    /// The program leaves; true if somebody has called it meanwhile, so that the thread is to be
    /// [woken](Presence::wake).
    #[inline]
    pub fn leave(&self) -> bool {
        self.state.swap(AWAY, SeqCst);
        // All four of these accesses are in one order; the model knows only fences.
        #[cfg(loom)]
        fence(SeqCst);
        let missed = self.missed.load(SeqCst) != 0;
        if missed {
            self.missed.store(0, Relaxed);
        }
        missed
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
        self.calls.fetch_add(1, AcqRel);
        fence(SeqCst);
        if self.asleep.load(Relaxed) == 0 {
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

    /// The thread has done what there was to do, and will look once more: whoever calls from now on
    /// wakes it. If the program has come, somebody may have called the thread in vain before that,
    /// so that the program tells it when it leaves.
    pub fn rearm(&self) {
        let before = self.state.compare_exchange(AWAKE, AWAY, AcqRel, Relaxed);
        fence(SeqCst);
        if before == Err(INSIDE) {
            self.leave_word();
        }
    }

    /// The thread sleeps until it is called more often than `calls` times. It may wake for no
    /// reason. It sleeps by `wait`, which `waker` ends, if there is one.
    pub fn sleep(&self, calls: u32, limit: Option<Duration>) {
        self.asleep_while(calls, 0, || wait(&self.calls, calls, limit));
    }

    /// As [`Presence::sleep`], by `wait`, which ends when `waker` is used.
    pub fn sleep_on(&self, calls: u32, waker: Waker, wait: impl FnOnce()) {
        self.key[0].store((waker.key >> 32) as u32, Relaxed);
        self.key[1].store(waker.key as u32, Relaxed);
        self.asleep_while(calls, WAKER + waker.number, wait);
    }

    fn asleep_while(&self, calls: u32, waker: u32, sleep: impl FnOnce()) {
        self.waker.store(waker, Release);
        self.asleep.store(1, Relaxed);
        fence(SeqCst);
        if self.calls.load(Acquire) == calls {
            sleep();
        }
        self.asleep.store(0, Relaxed);
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
