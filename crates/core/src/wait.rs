//! Waiting for something to happen, and what it took.

use std::time::{Duration, Instant};

use catena_base::{WakeSocket, Waker, clock};
use catena_fabric::Sleeper;
use catena_link::Awaited;
use catena_net::Route;
use catena_process::{Host, Lock, Slept, Threads, Waits};
use catena_shm::Shm;

use crate::events::{self, What};
use crate::process::{LOCK, Link, Process};
use crate::request::State;

/// Longest sleep of a process that nobody can wake.
const UNHEARD: Duration = Duration::from_millis(1);
/// Sleep of a process that what it waits for cannot wake, at first.
const BLIND: Duration = Duration::from_micros(50);
/// The same, after a long wait.
const BLIND_MOST: Duration = Duration::from_millis(5);
/// What part of the wait so far it may oversleep: with many ranks on a core,
/// looking takes it from those that have something to do.
const OVERSLEEP: u32 = 8;

/// What wakes a process that sleeps on descriptors, and these, unless there may be something to
/// do.
type OnDescriptors = (Waker, Option<Sleeper>);

/// How long a wait has lasted that came to sleeping at the tick `since`.
fn waited(since: u64) -> Duration {
    clock::duration(clock::ticks().wrapping_sub(since))
}

impl Host for Process {
    #[inline]
    fn lock(&self) -> &'static Lock {
        &LOCK
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

    /// The next look is at all networks.
    fn after_pause(&self) {
        self.link(|link| {
            if let Some(networks) = link.net().networks_mut() {
                networks.look_next();
            }
        });
    }

    fn before_sleeping(&self) {
        if self.bell.get().is_none() {
            // Nobody rings: this process looks for itself.
            self.hear();
        }
    }

    fn look_before_sleep(&self) -> bool {
        let moved = self.hooks.has_work() && self.ask_hooks_before_sleep();
        moved || self.link(|link| link.net().shm().is_some_and(Shm::is_ready))
    }

    fn sleep(
        &self,
        limit: Duration,
        since: u64,
        ready: &mut dyn FnMut() -> bool,
        nap: &mut dyn FnMut(Duration) -> bool,
    ) -> Slept {
        self.sleep_until_rung(limit, since, ready, nap)
    }

    fn slept(&self, slept: Slept) {
        self.waits.slept(slept);
        if events::wanted(events::SLEEPS) {
            self.note(None, What::Slept(slept.lasted.as_nanos() as u64));
        }
    }

    fn wake(&self) {
        match self.bell.get() {
            Some(bell) => bell.ring(),
            None => self.wake_from_descriptors(),
        }
    }
}

impl Process {
    /// Progresses until `done`. With several threads others may ask it, too,
    /// while this one sleeps.
    #[inline]
    pub fn block(&self, done: impl FnMut(&Process) -> bool) {
        catena_process::block(self, done);
    }

    /// Sleeps until somebody rings or a network has something, at most for
    /// `limit`; not at all if `ready`, asked last, says so. Where nobody can wake
    /// this process `nap` is how it sleeps, and whether a thread woke it. The wait
    /// came to sleeping at the tick `since`.
    fn sleep_until_rung(
        &self,
        limit: Duration,
        since: u64,
        ready: &mut dyn FnMut() -> bool,
        nap: &mut dyn FnMut(Duration) -> bool,
    ) -> Slept {
        // `ready` uses the engine, and other threads do while this one sleeps.
        let on_networks = self.link(|link| {
            let networks = link.net().networks_mut()?;
            Some((networks.waker(), networks.sleeper()))
        });
        let mut limit = limit;
        let on_descriptors = match self
            .hooks
            .has_work()
            .then(|| self.hooks.sleeper())
            .flatten()
        {
            None => on_networks,
            Some(hooks) => {
                let on = self.with_hooks(on_networks, hooks);
                if on.is_none() {
                    limit = limit.min(UNHEARD);
                }
                on
            }
        };
        let began = Instant::now();
        let woken = match (on_descriptors, self.bell.get()) {
            (None, Some(bell)) => bell.sleep(limit, ready),
            (None, None) => !ready() && nap(limit.min(UNHEARD)),
            (Some((waker, sleeper)), bell) => sleeper.is_some_and(|sleeper| {
                let limit = match sleeper.is_blind() {
                    true => self.blind_for(since),
                    false => limit,
                };
                let mut woken = false;
                let mut wait = |limit| woken = sleeper.sleep(limit);
                match bell {
                    Some(bell) => {
                        bell.sleep_on(waker, limit, ready, wait);
                    }
                    None if !ready() => wait(limit),
                    None => {}
                }
                woken
            }),
        };
        Slept {
            woken,
            lasted: began.elapsed(),
        }
    }

    /// What to sleep on where hooks have descriptors, and what wakes this process then; `None`
    /// if the process has no networks and too many open files to do without.
    #[cold]
    fn with_hooks(
        &self,
        on_networks: Option<OnDescriptors>,
        hooks: Sleeper,
    ) -> Option<OnDescriptors> {
        match on_networks {
            Some((waker, sleeper)) => Some((waker, sleeper.map(|it| it.or(hooks)))),
            None => {
                let socket = self.wake_socket.get_or_init(|| WakeSocket::new().ok());
                let socket = socket.as_ref()?;
                socket.silence();
                let sleeper = Sleeper::new(Some(socket.fd())).or(hooks);
                Some((socket.waker(), Some(sleeper)))
            }
        }
    }

    /// Wakes the thread of this process that sleeps on descriptors, if one does.
    fn wake_from_descriptors(&self) {
        let waker = self.link(|link| Some(link.net().networks()?.waker()));
        let own = || Some(self.wake_socket.get()?.as_ref()?.waker());
        if let Some(waker) = waker.or_else(own) {
            waker.wake();
        }
    }

    /// How long to sleep where one does not hear everything, in a wait that came
    /// to sleeping at the tick `since`.
    fn blind_for(&self, since: u64) -> Duration {
        (waited(since) / OVERSLEEP).clamp(BLIND, BLIND_MOST)
    }

    /// Now and then, finds out whether those that this process waits for are there
    /// and whether there is a way to them; true if that gives it something to do.
    #[inline]
    pub(crate) fn pings(&self) -> bool {
        let may_ping = |link: &mut Link| {
            let networks = link.net().networks_mut();
            networks.is_some_and(|it| it.may_ping())
        };
        self.link(may_ping) && self.ping()
    }

    #[cold]
    #[inline(never)]
    fn ping(&self) -> bool {
        let mut awaited = self.link(Link::awaited);
        for (_, request) in self.objects.requests.all() {
            if matches!(request.state(self), Ok(State::Pending)) {
                request.awaits(self, &mut awaited);
            }
        }
        self.hooks_await(&mut awaited);
        self.link(|link| ping(link, awaited))
    }
}

/// Asks those for a sign of life; true if that gives this process something to do.
fn ping(link: &mut Link, mut awaited: Awaited) -> bool {
    let net = link.net();
    for peers in [&mut awaited.named, &mut awaited.any] {
        peers.retain(|&peer| net.route(peer) == Route::Network);
    }
    let watched = net.networks_mut().map(|it| it.watch(awaited));
    let (lost, unwatched) = watched.unwrap_or_default();
    let some = !(lost.is_empty() && unwatched.is_empty());
    for peer in unwatched {
        link.ping(peer);
    }
    for loss in lost {
        link.peer_lost(loss);
    }
    some
}
