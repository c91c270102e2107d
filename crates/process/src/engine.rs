//! What moves a process on: its transfers, the facts that the launcher tells it, and its hooks.
//!
//! | field         | who touches it                                                      |
//! |---------------|---------------------------------------------------------------------|
//! | `link`        | the closure that it is lent to: see [`ProgressEngine::link`]        |
//! | `boot`        | whoever talks to the launcher; nobody keeps the borrow while it waits |
//! | `bell`        | waiting; set anew when the process attaches its first segment        |
//! | all others    | any thread inside the library                                       |

use std::cell::{Cell, OnceCell};
use std::fmt;

use catena_base::WakeSocket;
use catena_fabric::Peer;
use catena_link::{Awaited, Endpoint, Sink, Source};
use catena_net::{Routes, Watched};
use catena_shm::{Bell, Shm};

use crate::exchange::SharedBoot;
use crate::hooks::Hooks;
use crate::scoped::Scoped;

/// The matching engine over all routes, for messages of these types.
pub type LinkOf<S, R> = Endpoint<Routes<S, R>>;

/// What a process, a `P`, progresses and sleeps on. Its messages are read from `S` and written
/// to `R`.
///
/// All of it is touched inside the library only: under its lock if it has one.
pub struct ProgressEngine<P: 'static, S: Source, R: Sink> {
    /// This process.
    pub me: Peer,
    /// The connection to the launcher.
    pub boot: SharedBoot,
    /// What else progress carries on.
    pub hooks: Hooks<P>,
    /// Whether the processes of this node are more than its cores.
    pub oversubscribed: bool,
    /// This process's doorbell, if it has neighbours on its node.
    pub bell: Cell<Option<Bell>>,
    /// What wakes the process where it sleeps on descriptors of hooks alone.
    pub(crate) wake_socket: OnceCell<Option<WakeSocket>>,
    pub(crate) link: Scoped<LinkOf<S, R>>,
}

impl<P, S: Source, R: Sink> fmt::Debug for ProgressEngine<P, S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressEngine")
            .field("me", &self.me)
            .finish_non_exhaustive()
    }
}

impl<P, S: Source, R: Sink> ProgressEngine<P, S, R> {
    /// Lends the matching engine to `use_it` and returns what that returns. The closure must do
    /// nothing that may lend it again: progress, wait, or call back the program.
    ///
    /// # Panics
    /// In debug builds, if a closure has it already.
    #[inline(always)]
    #[track_caller]
    pub fn link<T>(&self, use_it: impl FnOnce(&mut LinkOf<S, R>) -> T) -> T {
        self.link.with(use_it)
    }

    /// Moves everything that can move; true if anything did. `awaits` adds whom the process
    /// waits for besides transfers and hooks; it is asked now and then.
    #[inline]
    pub fn progress(&self, process: &P, awaits: impl FnOnce(&mut Awaited)) -> bool {
        let idle = !self.hooks.have_work();
        if idle && self.link(|link| link.is_silent()) {
            return false;
        }
        let moved =
            self.link(|link| link.progress()) || self.pings(process, awaits) || self.notices();
        if idle {
            moved
        } else {
            self.hooks.progress(process) | moved
        }
    }

    /// Moves transfers, and learns what the launcher tells, but leaves the hooks alone: for who
    /// waits while it has something that a function of the program's, which a hook may call, must
    /// not meet.
    pub fn progress_transfers(&self) -> bool {
        self.link(|link| link.progress()) | self.notices()
    }

    /// Moves what can be moved beside the program: transfers, and what those hooks carry on that
    /// call no function of the program's. `looks` as before a sleep, `awaits` as in
    /// [`ProgressEngine::progress`].
    pub fn progress_beside(
        &self,
        process: &P,
        looks: bool,
        awaits: impl FnOnce(&mut Awaited),
    ) -> bool {
        let moved =
            self.link(|link| link.progress()) || self.pings(process, awaits) || self.notices();
        moved | (self.hooks.have_work() && self.hooks.progress_beside(process, looks))
    }

    /// Whether something may be moved that a sleeping process has to look for: the last look before
    /// a sleep. `awaits` as in [`ProgressEngine::progress`].
    pub fn look_before_sleep(&self, process: &P, awaits: impl FnOnce(&mut Awaited)) -> bool {
        let moved = self.hooks.have_work() && self.hooks.before_sleep(process);
        moved
            || self.link(|link| link.net().shm().is_some_and(Shm::is_ready))
            || self.link(|link| link.net().may_look_at_guests()) && self.ping(process, awaits)
    }

    /// Now and then, finds out whether those that this process waits for are there
    /// and whether there is a way to them; true if that gives it something to do.
    #[inline]
    fn pings(&self, process: &P, awaits: impl FnOnce(&mut Awaited)) -> bool {
        let may_ping = |link: &mut LinkOf<S, R>| link.net().may_ping();
        self.link(may_ping) && self.ping(process, awaits)
    }

    #[cold]
    #[inline(never)]
    fn ping(&self, process: &P, awaits: impl FnOnce(&mut Awaited)) -> bool {
        let mut awaited = self.link(|link| link.awaited());
        awaits(&mut awaited);
        self.hooks.awaits(process, &mut awaited);
        self.link(|link| ping(link, awaited))
    }
}

/// Asks those for a sign of life; true if that gives this process something to do.
fn ping<S: Source, R: Sink>(link: &mut LinkOf<S, R>, awaited: Awaited) -> bool {
    let Watched {
        lost,
        ended,
        unwatched,
    } = link.net().watch(&awaited);
    let some = !(lost.is_empty() && ended.is_empty() && unwatched.is_empty());
    for peer in unwatched {
        link.ping(peer);
    }
    for loss in lost {
        link.peer_lost(loss);
    }
    for end in ended {
        link.peer_ended(end);
    }
    some
}
