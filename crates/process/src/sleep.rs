//! How a process sleeps until something may have happened, and how it is woken.
//!
//! It sleeps on its doorbell, which the sender rings, or, with networks or descriptors of hooks, on
//! descriptors and a socket to which a neighbour sends instead
//! (`docs/decisions/0009-one-sleep-for-all.md`). `catena_base::wait` says when a process that waits
//! spins, yields and sleeps: that is what makes more ranks than cores work.

use std::time::{Duration, Instant};

use catena_base::{WakeSocket, Waker, clock};
use catena_fabric::{LONGEST_SLEEP, Sleeper};
use catena_link::{Sink, Source};

use crate::engine::ProgressEngine;
use crate::host::Slept;

/// Longest sleep of a process that nobody can wake.
const UNHEARD: Duration = Duration::from_millis(1);
/// Sleep of a process that what it waits for cannot wake, at first.
const BLIND: Duration = Duration::from_micros(50);
/// Sleep of such a process after a long wait.
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

/// How long to sleep where one does not hear everything, in a wait that came
/// to sleeping at the tick `since`.
fn blind_for(since: u64) -> Duration {
    (waited(since) / OVERSLEEP).clamp(BLIND, BLIND_MOST)
}

impl<P, S: Source, R: Sink> ProgressEngine<P, S, R> {
    /// Sleeps until somebody rings or a network has something: [`Host::sleep`](crate::Host::sleep).
    pub fn sleep(
        &self,
        limit: Duration,
        since: u64,
        ready: &mut dyn FnMut() -> bool,
        nap: &mut dyn FnMut(Duration) -> bool,
    ) -> Slept {
        let mut limit = limit;
        let on_descriptors = self.on_descriptors(&mut limit);
        let began = Instant::now();
        let woken = match (on_descriptors, self.bell.get()) {
            (None, Some(bell)) => bell.sleep(limit, ready),
            (None, None) => !ready() && nap(limit.min(UNHEARD)),
            (Some((waker, sleeper)), bell) => sleeper.is_some_and(|sleeper| {
                let limit = match sleeper.is_blind() {
                    true => blind_for(since),
                    false => limit.min(LONGEST_SLEEP),
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

    /// Ends the sleep of the thread of this process that sleeps.
    pub fn wake(&self) {
        match self.bell.get() {
            Some(bell) => bell.ring(),
            None => self.wake_from_descriptors(),
        }
    }

    /// The core goes to somebody else: the next look is at all networks.
    pub fn after_pause(&self) {
        self.link(|link| link.net().look_next());
    }

    /// A wait has come to sleeping.
    pub fn before_sleeping(&self) {
        if self.bell.get().is_none() {
            // Nobody rings: this process looks for itself.
            self.hear();
        }
    }

    /// The descriptors to sleep on, if there are some; shortens `limit` where not all can be.
    fn on_descriptors(&self, limit: &mut Duration) -> Option<OnDescriptors> {
        // `ready` uses the engine, and other threads do while this one sleeps.
        let on_networks = self.link(|link| {
            let net = link.net();
            Some((net.waker()?, net.sleeper()))
        });
        let hooks = match self.hooks.have_work() {
            true => self.hooks.sleeper(),
            false => None,
        };
        let Some(hooks) = hooks else {
            return on_networks;
        };
        let on = self.with_hooks(on_networks, hooks);
        if on.is_none() {
            *limit = (*limit).min(UNHEARD);
        }
        on
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
        let waker = self.link(|link| link.net().waker());
        let own = || Some(self.wake_socket.get()?.as_ref()?.waker());
        if let Some(waker) = waker.or_else(own) {
            waker.wake();
        }
    }
}
