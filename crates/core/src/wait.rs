//! How this process waits: by its progress engine.

use std::time::Duration;

use catena_base::clock;
use catena_hang::{Sent, WaitsFor};
use catena_link::Tally;
use catena_net::Networks;
use catena_process::{Host, Lock, Slept, Threads, Wait, Waits};
use catena_trace::{Counts, Moved};

use crate::abroad;
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

    fn sent(&self) -> Sent {
        match self.link(|link| link.net().has_all_arrived()) {
            Some(true) => Sent::Arrived,
            Some(false) => Sent::UnderWay,
            None => Sent::Unknown,
        }
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

    #[cold]
    fn tell_counts(&self) {
        let moved = |it: Tally| Moved {
            messages: it.messages,
            bytes: it.bytes,
        };
        let mut counts = self.link(|link| {
            let (traffic, unexpected) = (link.traffic(None), link.unexpected(None));
            let net = link.net();
            let (itself, network) = (net.to_itself(), net.over_network());
            let sent = traffic.sent.all();
            let shm = Tally {
                messages: sent
                    .messages
                    .saturating_sub(itself.messages + network.messages),
                bytes: sent.bytes.saturating_sub(itself.bytes + network.bytes),
            };
            let networks: Vec<String> = net.networks().map(Networks::about).collect();
            Counts {
                shm: moved(shm),
                network: moved(network),
                itself: moved(itself),
                received: moved(traffic.received.all()),
                unexpected,
                networks: networks.join(" and "),
                ..Counts::default()
            }
        });
        counts.at = clock::monotonic_ns();
        counts.asleep = self.waits.asleep.get();
        counts.sleeps = self.waits.sleeps.get();
        catena_trace::tell_counts(&counts);
    }

    fn has_waited(&self, waits: &WaitsFor) {
        self.end_vain_wait(waits);
        abroad::post(self);
    }
}

impl Process {
    /// Progresses until `is_done`. With several threads others may ask it, too,
    /// while this one sleeps. If it lasts, `describe` adds what it is for, for those who look at a
    /// job that hangs.
    #[inline]
    pub fn block(
        &self,
        describe: impl Fn(&Process, &mut WaitsFor),
        is_done: impl FnMut(&Process) -> bool,
    ) {
        catena_process::block(self, describe, is_done);
    }

    /// As [`Process::block`], for a wait that is a value. If it may call functions of the program,
    /// as it is `foreign`, no other thread asks it.
    #[inline]
    pub fn wait_on(&self, foreign: bool, wait: &mut impl Wait<Process>) {
        match foreign {
            false => catena_process::block_on(self, wait),
            true => catena_process::block_alone(self, wait),
        }
    }
}
