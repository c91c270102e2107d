//! How this process waits: by its progress engine.

use std::time::Duration;

use catena_process::{Host, Lock, Slept, Threads, Waits};

use crate::events::{self, What};
use crate::process::{Process, life};

impl Process {
    /// Whether this process shares its core with others of the job.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.threads.is_crowded()
    }

    /// Whether other threads may want the library while a call of this one waits for the system.
    #[inline]
    pub fn has_threads(&self) -> bool {
        self.threads.are_many()
    }
}

impl Host for Process {
    #[inline]
    fn lock(&self) -> &'static Lock {
        life().lock()
    }

    #[inline]
    fn threads(&self) -> &Threads<Process> {
        &self.threads
    }

    #[inline]
    fn waits(&self) -> &Waits {
        &self.waits
    }

    #[inline]
    fn progress(&self) -> bool {
        self.progress()
    }

    fn after_pause(&self) {
        self.engine.after_pause();
    }

    fn before_sleeping(&self) {
        self.engine.before_sleeping();
    }

    fn look_before_sleep(&self) -> bool {
        self.engine
            .look_before_sleep(self, |awaited| self.requests_await(awaited))
    }

    fn sleep(
        &self,
        limit: Duration,
        since: u64,
        ready: &mut dyn FnMut() -> bool,
        nap: &mut dyn FnMut(Duration) -> bool,
    ) -> Slept {
        self.engine.sleep(limit, since, ready, nap)
    }

    fn slept(&self, slept: Slept) {
        self.waits.slept(slept);
        if events::wanted(events::SLEEPS) {
            events::note(self, None, What::Slept(slept.lasted.as_nanos() as u64));
        }
    }

    fn wake(&self) {
        self.engine.wake();
    }
}

impl Process {
    /// Progresses until `done`. With several threads others may ask it, too,
    /// while this one sleeps.
    #[inline]
    pub fn block(&self, done: impl FnMut(&Process) -> bool) {
        catena_process::block(self, done);
    }

    /// The same where `done` may call functions of the program: no other thread asks it.
    pub fn block_alone(&self, done: impl FnMut(&Process) -> bool) {
        catena_process::block_alone(self, done);
    }

    /// Progresses until `done`, which may call functions of the program if it is `foreign`.
    #[inline]
    pub(crate) fn block_for(&self, foreign: bool, done: impl FnMut(&Process) -> bool) {
        match foreign {
            false => self.block(done),
            true => self.block_alone(done),
        }
    }
}
