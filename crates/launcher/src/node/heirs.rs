//! Who goes on as a rank when its first process has ended: programs fork, let their first process
//! end, and use MPI in the other one; scripts start programs in the background and end.
//!
//! The first process ends with status 0 then. A process goes on in its place that has called
//! MPI_Init, or may be about to: for [`GRACE`] any process of the rank that runs, as it may be
//! about to execute its program and to load libraries; later one with Catena's library in its
//! memory, or whose program is linked to it. The rank has ended when that process has, and those
//! that it was started by, such as a script: the last of them says how.

use std::process;
use std::time::{Duration, Instant};

use catena_boot::BOOT_VAR;
use catena_job::Exit;

use super::family::{self, Member};
use super::{Local, Node};
use crate::foreign::{self, Users};
use crate::sys;

/// How long any process of a rank may be about to use MPI.
const GRACE: Duration = Duration::from_secs(2);

impl Local {
    /// How the rank has ended, if it has. `family` are the processes of all ranks, if they are
    /// known; `users` knows who uses Catena.
    pub(super) fn exit(&mut self, family: Option<&[Member]>, users: &mut Users) -> Option<Exit> {
        let (exit, at) = self.first_exit?;
        if exit != Exit::Code(0) || self.is_known && self.joined.is_none() {
            return Some(exit);
        }
        if let Some(heir) = &self.joined {
            return Some(heir.exit()?.unwrap_or(exit));
        }
        let is_new = at.elapsed() < GRACE;
        let mut own = family?.iter().filter(|it| it.first == self.pid);
        let goes_on = own.any(|it| is_new || users.may_use_catena(it.pid));
        (!goes_on).then(|| self.orphan_exit.unwrap_or(exit))
    }

    /// Looks whether its first process has ended; whether it is to be known then which processes
    /// it has.
    pub(super) fn look_at_first(&mut self) -> bool {
        if self.first_exit.is_none() {
            self.first_exit = sys::peek_exit(self.pid).map(|exit| (exit, Instant::now()));
        }
        self.first_exit.is_some_and(|it| it.0 == Exit::Code(0)) && !self.is_known
    }

    /// Whether it goes on without its first process.
    pub(super) fn is_orphaned(&self) -> bool {
        self.running && self.first_exit.is_some()
    }

    /// The process that has called MPI_Init, or the first one.
    pub(super) fn process_of_mpi(&self) -> u32 {
        let joined = self.joined.as_ref();
        joined.map_or(self.pid, |joined| joined.pid()) as u32
    }

    /// Sends a signal to the process that the rank is.
    pub(super) fn signal_alone(&self, signal: i32) {
        match (&self.first_exit, &self.joined) {
            (Some(_), Some(heir)) if heir.is_alive() => sys::kill(heir.pid(), signal),
            (Some(_), _) => {}
            (None, _) => sys::kill(self.pid, signal),
        }
    }
}

impl Node {
    /// All processes of ranks that run, besides the first ones; none if they end faster than they
    /// can be looked at.
    pub(super) fn family(&self) -> Option<Vec<Member>> {
        let processes = self.processes.iter().flatten();
        let ranks = processes.map(|it| {
            let var = format!("{BOOT_VAR}={}", self.server.place(it.rank));
            (var, it.pid)
        });
        family::members(&ranks.collect(), &self.orphans)
    }

    /// Sends a signal to the processes of some ranks that have left the groups of these.
    pub(super) fn signal_far(&self, signal: i32, is_meant: impl Fn(i32) -> bool) {
        for Member { pid, first } in self.family().unwrap_or_default() {
            if is_meant(first) && !sys::is_in_group(pid as i32, first) {
                sys::kill(pid as i32, signal);
            }
        }
    }

    /// Reaps children that this process has taken in and that have ended, but for those of which it
    /// is still to be known how.
    pub(super) fn bury_orphans(&mut self) {
        let children = foreign::children(process::id()).into_iter();
        for pid in children.map(|pid| pid as i32) {
            let all = self.processes.iter_mut().flatten();
            let mut all = all.filter(|it| it.running);
            let heirs = |it: &mut Local| it.joined.as_ref().is_some_and(|heir| heir.is(pid));
            if sys::is_claimed(pid) || all.any(heirs) {
                continue;
            }
            let Some(exit) = sys::peek_exit(pid) else {
                continue;
            };
            let first = self.orphans.forget(pid as u32);
            let mut all = self.processes.iter_mut().flatten();
            if let Some(local) = all.find(|it| Some(it.pid) == first)
                && exit != Exit::Code(0)
            {
                local.orphan_exit.get_or_insert(exit);
            }
            sys::reap(pid);
        }
    }
}
