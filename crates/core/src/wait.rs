//! Waiting for something to happen, and what it took.

use std::cell::Cell;
use std::time::{Duration, Instant};

use catena_base::clock;
use catena_base::wait::{Idle, Waiter};

use crate::events::{self, What};
use crate::routes::Networks;
use crate::world::World;

/// Longest sleep of a process that nobody can wake.
pub(crate) const UNHEARD: Duration = Duration::from_millis(1);
/// Sleep of a process that a network cannot wake, at first.
const BESIDE_NETWORK: Duration = Duration::from_micros(100);
/// The same, after a long wait.
const BESIDE_NETWORK_MOST: Duration = Duration::from_millis(5);
/// What part of the wait so far it may oversleep: with many ranks on a core,
/// looking takes it from those that have something to do.
const OVERSLEEP: u32 = 8;

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

impl Waits {
    pub(crate) fn looked(&self, looks: u64) {
        add(&self.looks, looks);
    }

    pub(crate) fn yielded(&self) {
        add(&self.yields, 1);
    }
}

impl World {
    /// Progresses until `done`. With several threads others may ask it, too,
    /// while this one sleeps (see `threads`).
    #[inline]
    pub fn block(&self, mut done: impl FnMut(&World) -> bool) {
        if self.threads.get() {
            return self.block_beside_others(&mut done);
        }
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
                Idle::Spin => {}
                idle => {
                    if self.idle_slow(idle, waiter.sleepy_since(), &mut done) {
                        break;
                    }
                }
            }
        }
        self.waits.looked(looks);
    }

    /// Idles; true if `done` was asked in the meantime and said so.
    #[cold]
    #[inline(never)]
    fn idle_slow(&self, idle: Idle, since: u64, done: &mut impl FnMut(&World) -> bool) -> bool {
        let mut finished = false;
        if idle == Idle::Yield {
            self.waits.yielded();
        }
        idle.act(|limit| {
            self.sleep_by(|| match self.bell {
                Some(_) if self.network_is_busy() => false,
                // What is waited for may lie outside of the rings.
                Some(bell) => bell.sleep(self.deaf_for(limit, since), || {
                    finished = done(self);
                    let shm = self.link().net().shm();
                    finished || shm.is_some_and(catena_shm::Shm::is_ready)
                }),
                None => match self.link().net().networks_mut().map(Networks::sleeper) {
                    Some(Some(sleeper)) => sleeper.sleep(limit),
                    // There may be something to do.
                    Some(None) => false,
                    None => {
                        std::thread::park_timeout(limit.min(UNHEARD));
                        false
                    }
                },
            });
        });
        finished
    }

    /// Before a sleep on the doorbell: whether there may be something to do in a
    /// network, whose next poll looks at everything.
    pub(crate) fn network_is_busy(&self) -> bool {
        let networks = self.link().net().networks_mut();
        networks.is_some_and(|networks| networks.sleeper().is_none())
    }

    /// How long to sleep where one does not hear from a network, in a wait that
    /// came to sleeping at the tick `since`.
    pub(crate) fn deaf_for(&self, limit: Duration, since: u64) -> Duration {
        if self.link().net().networks().is_none() {
            return limit;
        }
        let waited = clock::duration(clock::ticks().wrapping_sub(since));
        (waited / OVERSLEEP).clamp(BESIDE_NETWORK, BESIDE_NETWORK_MOST)
    }

    /// Has `sleep` sleep, which says whether it was woken.
    pub(crate) fn sleep_by(&self, sleep: impl FnOnce() -> bool) {
        let began = Instant::now();
        let woken = sleep();
        add(&self.waits.sleeps, 1);
        add(&self.waits.woken, woken.into());
        let nanos = began.elapsed().as_nanos() as u64;
        add(&self.waits.asleep, nanos);
        if events::wanted(events::SLEEPS) {
            self.note(None, What::Slept(nanos));
        }
    }
}
