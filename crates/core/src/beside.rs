//! Progress beside a program that computes: a thread that serves others when no call does.
//!
//! It exists only while somebody needs it ([`Demand`]), sleeps on what networks wake a process by,
//! and leaves progress to the program's calls as long as they make some within the time that
//! [`start`] is given. It enters the library like any other thread, so calls take the lock from its
//! start on.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::AcqRel, Ordering::Relaxed};
use std::thread::{self, Builder};
use std::time::Duration;

use catena_process::{is_watcher_asleep, rounds};

use crate::process::{Process, enter, lock_for_good};

/// Longest sleep on networks.
const LONGEST: Duration = Duration::from_millis(10);
/// Rounds of progress while something moves, before others may enter.
const ROUNDS: u32 = 64;

/// How many need it.
static NEEDED: AtomicU32 = AtomicU32::new(0);
/// How many demands wait for something that wakes nobody.
static BLIND: AtomicU32 = AtomicU32::new(0);
/// Whether the thread is there.
static RUNS: AtomicBool = AtomicBool::new(false);

/// What a crate above this one needs the thread for: a static of that crate.
#[derive(Debug, Default)]
pub struct Demand {
    is_blind: AtomicBool,
}

impl Demand {
    /// Nothing yet.
    pub const fn new() -> Self {
        Demand {
            is_blind: AtomicBool::new(false),
        }
    }

    /// One more object needs the thread, which [`start`] starts.
    pub fn raise(&self) {
        NEEDED.fetch_add(1, AcqRel);
    }

    /// One less needs it; it ends when nobody does.
    pub fn lower(&self) {
        NEEDED.fetch_sub(1, AcqRel);
    }

    /// Says whether something is awaited that no network tells of, so that the thread has to look
    /// for it. The caller holds the library's lock.
    pub fn look_often(&self, often: bool) {
        if self.is_blind.load(Relaxed) == often {
            return;
        }
        self.is_blind.store(often, Relaxed);
        let blind = BLIND.load(Relaxed);
        BLIND.store(if often { blind + 1 } else { blind - 1 }, Relaxed);
    }
}

/// Starts the thread if somebody needs it and it is not there. The caller is outside of the
/// library, and if calls have not taken the lock so far, the only thread that calls it: they take
/// it from now on. It leaves others unserved for `latency` at most; if that is 0 they wait for the
/// program's calls.
///
/// Without a thread, as when the system has none left, others wait for the program's calls.
pub fn start(latency: Duration) {
    let is_wanted = NEEDED.load(Relaxed) != 0 && !latency.is_zero();
    if !is_wanted || RUNS.swap(true, AcqRel) {
        return;
    }
    lock_for_good();
    // Signals are the program's.
    let signals = Blocked::all();
    let thread = Builder::new()
        .name("catena-beside".to_owned())
        .stack_size(256 << 10);
    if thread.spawn(move || serve(latency)).is_err() {
        RUNS.store(false, Relaxed);
    }
    drop(signals);
}

/// Signals that a thread blocks until this is dropped.
struct Blocked(libc::sigset_t);

impl Blocked {
    fn all() -> Blocked {
        // SAFETY: both are sets of signals, which the calls fill.
        unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Blocked(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: a set that the kernel has given.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut())
        };
    }
}

/// What the thread does.
fn serve(latency: Duration) {
    let mut seen = rounds();
    loop {
        let now = rounds();
        if now != seen || is_watcher_asleep() {
            // The program makes progress itself, or sleeps in a call until there is some to make.
            seen = now;
            thread::sleep(latency);
            continue;
        }
        let Ok(process) = enter() else {
            RUNS.store(false, Relaxed);
            return;
        };
        if NEEDED.load(Relaxed) == 0 {
            RUNS.store(false, Relaxed);
            return;
        }
        let moved = (0..ROUNDS).take_while(|_| process.progress()).count() != 0;
        let sleeper = match moved || BLIND.load(Relaxed) != 0 {
            true => None,
            false => sleeper(&process),
        };
        seen = rounds();
        drop(process);
        match sleeper {
            Some(sleeper) => {
                sleeper.sleep(LONGEST);
            }
            None if moved => thread::yield_now(),
            None => thread::sleep(latency),
        }
    }
}

/// What wakes the process, if anything does.
fn sleeper(process: &Process) -> Option<catena_fabric::Sleeper> {
    process.link(|link| {
        let sleeper = link.net().sleeper()?;
        (!sleeper.is_blind()).then_some(sleeper)
    })
}
