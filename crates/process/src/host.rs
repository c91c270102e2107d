//! What waiting needs of a process, and what it took.

use std::cell::Cell;
use std::time::Duration;

use catena_hang::{Sent, WaitsFor};

use crate::lock::Lock;
use crate::threads::Threads;

/// A process, for those that wait in it. All methods are called inside the library: under its
/// lock if it has one.
pub trait Host: Sized + 'static {
    /// The lock that calls take, if they take one.
    fn lock(&self) -> &'static Lock;

    /// Its threads that wait.
    fn threads(&self) -> &Threads<Self>;

    /// What waiting took so far.
    fn waits(&self) -> &Waits;

    /// Moves everything that can move; true if anything did. Does not wait.
    fn progress(&self) -> bool;

    /// Whether what this process has sent over networks has arrived.
    fn sent(&self) -> Sent {
        Sent::Arrived
    }

    /// The core goes to somebody else, who may take long: the next round of progress is to look at
    /// everything.
    fn after_pause(&self) {}

    /// A wait has come to sleeping: asked before each sleep of a thread that waits alone, before it
    /// is announced.
    fn before_sleeping(&self) {}

    /// A last look before a sleep, which has been announced; true if something has moved or can
    /// be moved.
    fn look_before_sleep(&self) -> bool {
        false
    }

    /// Sleeps until something may have happened, at most for `limit`; not at all if `ready`, asked
    /// after the sleep was announced, says so. The wait came to sleeping at the tick `since`. Where
    /// nobody can wake this process, `nap` is how it sleeps, and says whether a thread woke it.
    fn sleep(
        &self,
        limit: Duration,
        since: u64,
        ready: &mut dyn FnMut() -> bool,
        nap: &mut dyn FnMut(Duration) -> bool,
    ) -> Slept;

    /// A sleep is over, and the lock is held again.
    fn slept(&self, slept: Slept) {
        self.waits().slept(slept);
    }

    /// Ends the sleep of the thread that is in [`sleep`](Host::sleep).
    fn wake(&self);

    /// A wait has come to pausing or sleeping, and what this process has counted was not told for a
    /// while: it may tell it to those who look.
    fn tell_counts(&self) {}

    /// A thread has waited for long, for that. Asked before it sleeps, again and again: what can
    /// never come may end.
    fn has_waited(&self, _waits: &WaitsFor) {}
}

/// What a process did while it waited.
#[derive(Debug, Default)]
pub struct Waits {
    /// Looks that found nothing.
    pub looks: Cell<u64>,
    /// Times the core was handed to somebody else.
    pub yields: Cell<u64>,
    /// Times the process went to sleep.
    pub sleeps: Cell<u64>,
    /// Sleeps that somebody ended by ringing.
    pub woken: Cell<u64>,
    /// How long the sleeps lasted, in nanoseconds.
    pub asleep: Cell<u64>,
}

/// A sleep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slept {
    /// Whether somebody ended it.
    pub woken: bool,
    /// How long it was.
    pub lasted: Duration,
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

    /// Counts a sleep.
    pub fn slept(&self, slept: Slept) {
        add(&self.sleeps, 1);
        add(&self.woken, slept.woken.into());
        add(&self.asleep, slept.lasted.as_nanos() as u64);
    }
}
