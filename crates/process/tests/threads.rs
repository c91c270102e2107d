//! Several threads wait in one process: each gets what it waits for, whoever of them watches.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use catena_process::{Host, Lock, Slept, Threads, Waits, block, is_watcher_asleep, watch_once};

static LOCK: Lock = Lock::new();

/// Each round of progress brings the counter on by one, up to where it is allowed.
struct Counter {
    rounds: Cell<u32>,
    allowed: AtomicU32,
    threads: Threads<Counter>,
    waits: Waits,
}

/// Threads share it under the lock.
struct Shared(Counter);
// SAFETY: all but `allowed` is touched under `LOCK` only.
unsafe impl Sync for Shared {}

impl Host for Counter {
    fn lock(&self) -> &'static Lock {
        &LOCK
    }

    fn threads(&self) -> &Threads<Counter> {
        &self.threads
    }

    fn waits(&self) -> &Waits {
        &self.waits
    }

    fn progress(&self) -> bool {
        let moves = self.rounds.get() < self.allowed.load(Relaxed);
        if moves {
            self.rounds.set(self.rounds.get() + 1);
        }
        moves
    }

    fn sleep(
        &self,
        limit: Duration,
        _since: u64,
        ready: &mut dyn FnMut() -> bool,
        nap: &mut dyn FnMut(Duration) -> bool,
    ) -> Slept {
        Slept {
            woken: !ready() && nap(limit),
            lasted: Duration::ZERO,
        }
    }

    fn wake(&self) {}
}

/// In the library, as a call would be.
fn within<R>(shared: &Shared, call: impl FnOnce(&Counter) -> R) -> R {
    LOCK.acquire();
    let result = call(&shared.0);
    if is_watcher_asleep() && !LOCK.is_nested() {
        watch_once(&shared.0);
    }
    LOCK.release();
    result
}

fn counter(cores: u32) -> Shared {
    let threads = Threads::new(cores, false);
    threads.set_many(true);
    Shared(Counter {
        rounds: Cell::new(0),
        allowed: AtomicU32::new(0),
        threads,
        waits: Waits::default(),
    })
}

/// Each thread waits for one round more than another, and that round comes only when the other one
/// is through.
fn all_come_through(cores: u32) {
    const THREADS: u32 = 6;
    let shared = &counter(cores);
    thread::scope(|scope| {
        let wait = |goal: u32| {
            within(shared, |counter| {
                block(counter, |_, _| {}, |counter| counter.rounds.get() >= goal);
                assert!(counter.rounds.get() >= goal);
            });
            // Lets the next one go, from outside of the library.
            shared.0.allowed.fetch_max(goal + 1, Relaxed);
            within(shared, |_| ());
        };
        for goal in 1..=THREADS {
            scope.spawn(move || wait(goal));
        }
        shared.0.allowed.fetch_max(1, Relaxed);
        within(shared, |_| ());
    });
    let last = |counter: &Counter| {
        counter.progress();
        counter.rounds.get()
    };
    assert_eq!(within(shared, last), THREADS + 1);
}

/// What waits in a callback of another wait is not left to other threads.
fn a_callback_waits_by_itself() {
    let shared = &counter(1);
    within(shared, |counter| {
        counter.allowed.store(8, Relaxed);
        let mut inner = 0;
        block(
            counter,
            |_, _| {},
            |counter| {
                LOCK.acquire();
                block(counter, |_, _| {}, |counter| counter.rounds.get() >= 4);
                inner = counter.rounds.get();
                LOCK.release();
                counter.rounds.get() >= 8
            },
        );
        assert!(inner >= 4);
    });
}

/// One after the other: a program has one process.
#[test]
fn threads_wait_at_once() {
    for cores in [1, 2, 64] {
        all_come_through(cores);
    }
    a_callback_waits_by_itself();
}
