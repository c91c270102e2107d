//! A lock for threads of one process that starves none of them.
//!
//! | state       | meaning                                                   |
//! |-------------|-----------------------------------------------------------|
//! | `FREE`      | the first thread that comes takes it                      |
//! | `TAKEN`     | held; nobody sleeps                                       |
//! | `CONTENDED` | held; somebody may sleep: who lets go wakes one           |
//! | `HUNGRY`    | the same, and one of the sleepers has waited too long     |
//! | `RESERVED`  | free, for those who have slept                            |
//!
//! As long as nobody is hungry a thread that runs takes the lock from under
//! one that is being woken, which keeps the lock busy. After `PATIENCE` that
//! ends, for one turn: letting go reserves the lock.
//!
//! A thread that takes the lock after it slept takes it as `CONTENDED`, because it
//! cannot know whether others sleep.
//!
//! Model: `tests/loom_lock.rs`.

use std::time::Duration;

use crate::clock;
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicU32, spin_loop, yield_now};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const CONTENDED: u32 = 2;
const HUNGRY: u32 = 3;
const RESERVED: u32 = 4;

/// Looks at a held lock before the first sleep.
const SPINS: u32 = if cfg!(loom) { 1 } else { 100 };
/// How long others may go first.
const PATIENCE: Duration = Duration::from_micros(100);
/// How long somebody who was woken has to come, if nothing is urgent.
const COURTESY: Duration = Duration::from_micros(if cfg!(loom) { 0 } else { 50 });

/// The lock. It knows nothing of its owner.
#[derive(Debug, Default)]
pub struct Lock {
    state: Word,
    /// Threads that wait for it.
    wanted: AtomicU32,
}

impl Lock {
    /// A free lock.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Lock {
            state: Word(AtomicU32::new(FREE)),
            wanted: AtomicU32::new(0),
        }
    }

    /// Takes it, waiting as long as it takes.
    #[inline]
    pub fn acquire(&self) {
        if !self.take(FREE, TAKEN) {
            self.acquire_slow();
        }
    }

    #[inline]
    fn take(&self, from: u32, to: u32) -> bool {
        let taken = self.state.0.compare_exchange(from, to, Acquire, Relaxed);
        taken.is_ok()
    }

    #[cold]
    fn acquire_slow(&self) {
        self.wanted.fetch_add(1, Relaxed);
        if !self.spin() {
            self.sleep();
        }
        self.wanted.fetch_sub(1, Relaxed);
    }

    fn spin(&self) -> bool {
        for _ in 0..SPINS {
            if self.state.0.load(Relaxed) == FREE && self.take(FREE, TAKEN) {
                return true;
            }
            spin_loop();
        }
        false
    }

    fn sleep(&self) {
        let until = clock::ticks().wrapping_add(clock::ticks_in(PATIENCE));
        let (mut slept, mut wanted) = (false, CONTENDED);
        loop {
            let state = self.state.0.load(Relaxed);
            match state {
                FREE if self.take(FREE, CONTENDED) => return,
                RESERVED if slept && self.take(RESERVED, CONTENDED) => return,
                // Its sleepers were told of: `RESERVED` goes to one of them.
                TAKEN | CONTENDED if state < wanted => {
                    let told = self
                        .state
                        .0
                        .compare_exchange(state, wanted, Relaxed, Relaxed);
                    if told.is_err() {
                        continue;
                    }
                    self.state.wait(wanted);
                }
                FREE => continue,
                RESERVED if slept => continue,
                held => self.state.wait(held),
            }
            slept = true;
            // The model knows no time.
            if cfg!(loom) || clock::ticks().wrapping_sub(until) as i64 >= 0 {
                wanted = HUNGRY;
            }
        }
    }

    /// Whether somebody has it; what that one did before letting go is seen by who is told no.
    #[inline(always)]
    pub fn is_taken(&self) -> bool {
        self.state.0.load(Acquire) != FREE
    }

    /// Lets go of it.
    #[inline]
    pub fn release(&self) {
        let freed = self.state.0.compare_exchange(TAKEN, FREE, Release, Relaxed);
        if freed.is_err() {
            self.wake();
        }
    }

    /// Lets one who waits for it have it first, then takes it again.
    #[cold]
    pub fn give_way(&self) {
        self.release();
        let until = clock::ticks().wrapping_add(clock::ticks_in(COURTESY));
        while self.is_wanted()
            && matches!(self.state.0.load(Relaxed), FREE | RESERVED)
            && (until.wrapping_sub(clock::ticks()) as i64) > 0
        {
            yield_now();
        }
        self.acquire();
    }

    /// Whether a thread waits for it.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Relaxed) != 0
    }

    /// Somebody may sleep.
    #[cold]
    fn wake(&self) {
        let hungry = self.state.0.load(Relaxed) == HUNGRY;
        let free = if hungry { RESERVED } else { FREE };
        self.state.0.swap(free, Release);
        self.state.wake_one();
    }
}

#[cfg(not(loom))]
#[derive(Debug, Default)]
struct Word(AtomicU32);

#[cfg(not(loom))]
impl Word {
    fn wait(&self, expected: u32) {
        use crate::futex::{Reach, wait};
        wait(&self.0, expected, None, Reach::Process);
    }

    fn wake_one(&self) {
        use crate::futex::{Reach, wake};
        wake(&self.0, 1, Reach::Process);
    }
}

/// What the kernel does: it compares and queues in one step, and wakes in the
/// order of the queue.
#[cfg(loom)]
#[derive(Debug, Default)]
struct Word(AtomicU32, loom::sync::Mutex<()>, loom::sync::Condvar);

#[cfg(loom)]
impl Word {
    fn wait(&self, expected: u32) {
        let queue = self.1.lock().unwrap();
        if self.0.load(Relaxed) == expected {
            drop(self.2.wait(queue));
        }
    }

    fn wake_one(&self) {
        let _queue = self.1.lock().unwrap();
        self.2.notify_one();
    }
}
