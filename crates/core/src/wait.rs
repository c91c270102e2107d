//! Waiting for something to happen, and what it took.

use std::cell::Cell;
use std::time::{Duration, Instant};

use catena_base::wait::{Idle, Waiter, yield_core};

use crate::events::{self, What};
use crate::world::{LOCK, World};

/// Longest sleep of a thread that others of the process may have to wake.
const THREADS_SLEEP: Duration = Duration::from_millis(1);

/// What this process did while it waited.
#[derive(Debug, Default)]
pub struct Waits {
    /// Looks that found nothing.
    pub looks: Cell<u64>,
    /// Times the core was handed to somebody else.
    pub yields: Cell<u64>,
    /// Times the process went to sleep.
    pub sleeps: Cell<u64>,
    /// Those of them that somebody ended by ringing.
    pub woken: Cell<u64>,
    /// How long they lasted, in nanoseconds.
    pub asleep: Cell<u64>,
}

fn add(counter: &Cell<u64>, n: u64) {
    counter.set(counter.get() + n);
}

impl World {
    /// Progresses until `done`.
    #[inline]
    pub fn block(&self, mut done: impl FnMut(&World) -> bool) {
        let mut waiter = Waiter::new(self.oversubscribed);
        let mut looks = 0;
        loop {
            let moved = self.progress();
            if done(self) {
                break;
            }
            if moved {
                waiter.reset();
                continue;
            }
            looks += 1;
            match waiter.idle() {
                Idle::Spin if !self.threads.get() => {}
                idle => {
                    if self.idle_slow(idle, &mut done) {
                        break;
                    }
                }
            }
        }
        add(&self.waits.looks, looks);
    }

    pub(crate) fn has_threads(&self) -> bool {
        self.threads.get()
    }

    /// Lets another thread have the lock for a while.
    #[cold]
    pub(crate) fn let_others_in(&self) {
        LOCK.released(yield_core);
    }

    /// Idles; true if `done` was asked in the meantime and said so.
    #[cold]
    #[inline(never)]
    fn idle_slow(&self, idle: Idle, done: &mut impl FnMut(&World) -> bool) -> bool {
        match idle {
            // Another thread may want to send what this one waits for.
            Idle::Spin => LOCK.released(std::hint::spin_loop),
            Idle::Yield => {
                add(&self.waits.yields, 1);
                LOCK.released_if(self.threads.get(), yield_core);
            }
            Idle::Sleep(limit) => return self.sleep(limit, done),
        }
        false
    }

    /// Sleeps until rung; true if `done` was asked in the meantime and said so.
    fn sleep(&self, limit: Duration, done: &mut impl FnMut(&World) -> bool) -> bool {
        let mut finished = false;
        let began = Instant::now();
        let woken = match self.bell {
            Some(bell) if self.threads.get() => {
                // Nobody rings when a thread of ours ends another's wait.
                let limit = limit.min(THREADS_SLEEP);
                LOCK.released(|| bell.sleep(limit, || false))
            }
            // What is waited for may lie outside of the rings.
            Some(bell) => bell.sleep(limit, || {
                finished = done(self);
                let shm = self.link().net().shm();
                finished || shm.is_some_and(catena_shm::Shm::is_ready)
            }),
            None => LOCK.released_if(self.threads.get(), || {
                std::thread::park_timeout(limit.min(THREADS_SLEEP));
                false
            }),
        };
        add(&self.waits.sleeps, 1);
        add(&self.waits.woken, woken.into());
        let nanos = began.elapsed().as_nanos() as u64;
        add(&self.waits.asleep, nanos);
        if events::wanted(events::SLEEPS) {
            self.note(None, What::Slept(nanos));
        }
        finished
    }
}
