//! Sleeping and being woken across processes.
//!
//! | field  | writer               | reader | rule                          |
//! |--------|----------------------|--------|-------------------------------|
//! | `word` | owner (0→n, n→0), any sender (n→0) | senders | see below      |
//! | `key`  | owner, before `word` is above 1    | senders | Release/Acquire of `word` |
//!
//! The owner announces its sleep, executes a heavy barrier, looks once more
//! whether work has come, and sleeps. The announcement says how it is woken: 1 as
//! who sleeps on the word, or a number above for who sleeps on descriptors, its
//! [`WakeSocket`](crate::WakeSocket) among them. A sender publishes work, executes a
//! light barrier and looks at the announcement. Light means: nothing but a
//! hint to the compiler, because the owner's heavy barrier (`membarrier(2)`)
//! makes all running threads of registered processes execute a full one. So
//! the one that comes second sees the other, and sending costs no fence.
//!
//! Where `membarrier` does not exist a wake-up can be missed; sleeps are then
//! short. They are bounded in any case.
//!
//! Model: `tests/loom_bell.rs`, both barriers being full fences there.

use std::time::Duration;

#[cfg(not(loom))]
use rustix::thread::{self, MembarrierCommand};

use crate::Waker;
#[cfg(not(loom))]
use crate::futex::{self, Reach};
use crate::sync::AtomicU32;
use crate::sync::Ordering::{AcqRel, Relaxed, Release};

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
/// Added to the number of a wake_socket.
const WAKER: u32 = 2;

/// A word in shared memory that one process sleeps on and others ring. Zeroed
/// memory is a valid doorbell.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Doorbell {
    word: AtomicU32,
    /// Halves of the key of the owner's wake_socket.
    key: [AtomicU32; 2],
}

/// How the sleeper makes sure that it misses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// `membarrier(2)`, which all senders have registered for.
    Membarrier,
    /// None: a wake-up may be missed.
    Missing,
}

impl Barrier {
    /// Finds out what the kernel offers and registers this process, as sender
    /// and as sleeper.
    #[cfg(not(loom))]
    pub fn register() -> Barrier {
        let register = MembarrierCommand::RegisterGlobalExpedited;
        if thread::membarrier_query().contains_command(register)
            && thread::membarrier(register).is_ok()
        {
            Barrier::Membarrier
        } else {
            Barrier::Missing
        }
    }

    /// The longest sleep that still does no harm if a wake-up is missed. With
    /// `membarrier` that never happens, short of a peer that could not
    /// register.
    pub const fn bound(self) -> Duration {
        match self {
            Barrier::Membarrier => Duration::from_millis(10),
            Barrier::Missing => Duration::from_millis(1),
        }
    }

    /// The sleeper's side.
    #[cfg(not(loom))]
    pub(crate) fn heavy(self) {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        if self == Barrier::Membarrier {
            // Registered, so it cannot fail.
            let _ = thread::membarrier(MembarrierCommand::GlobalExpedited);
        }
    }

    #[cfg(loom)]
    pub(crate) fn heavy(self) {
        crate::sync::fence(crate::sync::Ordering::SeqCst);
    }

    /// What makes threads of this process alone execute a full one, and registers them for it;
    /// [`Barrier::Missing`] if the kernel has none.
    #[cfg(not(loom))]
    pub fn register_own() -> Barrier {
        match thread::membarrier(MembarrierCommand::RegisterPrivateExpedited) {
            Ok(()) => Barrier::Membarrier,
            Err(_) => Barrier::Missing,
        }
    }

    /// The heavy side towards threads of this process, for which that was registered.
    #[cfg(not(loom))]
    pub fn heavy_for_own() {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        // Registered, so it cannot fail.
        let _ = thread::membarrier(MembarrierCommand::PrivateExpedited);
    }

    /// The heavy side in the model.
    #[cfg(loom)]
    pub fn heavy_for_own() {
        crate::sync::fence(crate::sync::Ordering::SeqCst);
    }

    /// The sender's side.
    #[inline(always)]
    pub(crate) fn light() {
        #[cfg(not(loom))]
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        #[cfg(loom)]
        crate::sync::fence(crate::sync::Ordering::SeqCst);
    }
}

impl Doorbell {
    /// A doorbell whose owner is awake.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Doorbell {
            word: AtomicU32::new(AWAKE),
            key: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    /// A doorbell whose owner is awake.
    #[cfg(loom)]
    pub fn new() -> Self {
        Doorbell {
            word: AtomicU32::new(AWAKE),
            key: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    /// Wakes the owner if it sleeps. Called after work was published. Cost if
    /// it does not sleep: one load of a line that nobody writes.
    #[inline(always)]
    pub fn ring(&self) {
        Barrier::light();
        if self.word.load(Relaxed) != AWAKE {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // Of several senders one makes the call.
        match self.word.swap(AWAKE, AcqRel) {
            AWAKE => {}
            ASLEEP => futex_wake(&self.word),
            waker => {
                let [high, low] = self.key.each_ref().map(|half| half.load(Relaxed));
                let waker = Waker {
                    number: waker - WAKER,
                    key: u64::from(high) << 32 | u64::from(low),
                };
                waker.wake();
            }
        }
    }

    /// Sleeps until rung, at most for `limit` and at most for
    /// [`Barrier::bound`]; not at all if `ready`, asked after the sleep was
    /// announced, says so. May wake for no reason. Only the owner sleeps.
    /// Returns whether it was rung.
    pub fn sleep(&self, barrier: Barrier, limit: Duration, ready: impl FnOnce() -> bool) -> bool {
        self.announced(ASLEEP, barrier, || {
            if !ready() {
                futex_wait(&self.word, ASLEEP, limit.min(barrier.bound()));
            }
        })
    }

    /// As [`Doorbell::sleep`], with `wait`, which lasts no longer than it is told
    /// and ends when `waker` is used.
    pub fn sleep_on(
        &self,
        waker: Waker,
        barrier: Barrier,
        limit: Duration,
        ready: impl FnOnce() -> bool,
        wait: impl FnOnce(Duration),
    ) -> bool {
        self.key[0].store((waker.key >> 32) as u32, Relaxed);
        self.key[1].store(waker.key as u32, Relaxed);
        self.announced(WAKER + waker.number, barrier, || {
            if !ready() {
                wait(limit.min(barrier.bound()));
            }
        })
    }

    /// Looks for work and sleeps between announcement and withdrawal; whether it was rung.
    fn announced(&self, how: u32, barrier: Barrier, sleep: impl FnOnce()) -> bool {
        // Release: who reads it may read the key.
        self.word.store(how, Release);
        barrier.heavy();
        sleep();
        let rung = self.word.load(Relaxed) == AWAKE;
        self.word.store(AWAKE, Relaxed);
        rung
    }
}

#[cfg(not(loom))]
fn futex_wait(word: &AtomicU32, expected: u32, limit: Duration) {
    futex::wait(word, expected, Some(limit), Reach::Node);
}

#[cfg(not(loom))]
fn futex_wake(word: &AtomicU32) {
    futex::wake(word, i32::MAX, Reach::Node);
}

/// The model has no time: a missed wake-up is a sleep that never ends.
#[cfg(loom)]
fn futex_wait(word: &AtomicU32, expected: u32, _limit: Duration) {
    while word.load(Relaxed) == expected {
        crate::sync::yield_now();
    }
}

#[cfg(loom)]
fn futex_wake(_word: &AtomicU32) {}
