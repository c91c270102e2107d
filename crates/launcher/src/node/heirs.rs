//! Who goes on as a rank when its first process has ended: programs fork, let their first process
//! end, and use MPI in the other one; scripts start programs in the background and end.
//!
//! The first process ends with status 0 then. A process goes on in its place that has called
//! MPI_Init, or may be about to: for [`GRACE`] any descendant that runs, as it may be about to
//! execute its program and to load libraries; later one with Catena's library in its memory, or
//! whose program is linked to it. All descendants whose parents have ended are children of this
//! process ([`sys::adopt`]), which finds them by the rank's group or by the place in their
//! environment. It learns of the ends of its children at once; for those of others, whose parents
//! live, the node looks now and then.

use std::process;
use std::time::{Duration, Instant};

use catena_boot::BOOT_VAR;
use catena_job::Exit;

use super::{Local, Node};
use crate::foreign;
use crate::sys;

/// How long any process of a rank may be about to use MPI.
const GRACE: Duration = Duration::from_secs(2);

/// How often the walk through the processes of a rank may begin anew, because some of them have
/// ended. A rank whose processes end faster than they can be looked at is not over.
const WALKS: usize = 8;

/// The processes of a rank that run, besides those that this process has started.
struct Descendants<'a> {
    /// The rank's first process, which its group is named by.
    first: i32,
    /// What the rank's environment says to be taken in.
    place: &'a str,
}

impl Descendants<'_> {
    fn has(&self, pid: u32) -> bool {
        let var = format!("{BOOT_VAR}={}", self.place);
        let is_placed = || {
            let vars = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            vars.split(|&byte| byte == 0).any(|it| it == var.as_bytes())
        };
        sys::is_in_group(pid as i32, self.first) || is_placed()
    }

    /// Whether one of them is as `wanted`; none if processes have ended during the walk and left
    /// children, which are this process's since then.
    fn walk(&self, wanted: fn(u32) -> bool) -> Option<bool> {
        let own = foreign::children(process::id());
        let mut next = own.clone();
        next.retain(|&pid| !sys::is_claimed(pid as i32));
        while let Some(pid) = next.pop() {
            if self.has(pid) && wanted(pid) && foreign::is_running(pid) {
                return Some(true);
            }
            next.extend(foreign::children(pid));
        }
        let again = foreign::children(process::id());
        again.iter().all(|pid| own.contains(pid)).then_some(false)
    }

    fn any(&self, wanted: fn(u32) -> bool) -> bool {
        (0..WALKS).find_map(|_| self.walk(wanted)).unwrap_or(true)
    }
}

impl Local {
    /// How the rank has ended, if it has; `place` is what its environment says to be taken in.
    pub(super) fn exit(&mut self, place: impl FnOnce() -> String) -> Option<Exit> {
        if self.first_exit.is_none() {
            self.first_exit = sys::peek_exit(self.pid).map(|exit| (exit, Instant::now()));
        }
        let (exit, at) = self.first_exit?;
        if exit != Exit::Code(0) || self.is_known && self.joined.is_none() {
            return Some(exit);
        }
        match &self.joined {
            Some(joined) if joined.is_alive() => None,
            // If its parent has asked for its status, that of the first process has to do.
            Some(joined) => Some(joined.peek_exit().unwrap_or(exit)),
            None => {
                let is_wanted: fn(u32) -> bool = match at.elapsed() < GRACE {
                    true => |_| true,
                    false => foreign::may_use_catena,
                };
                let (first, place) = (self.pid, &*place());
                let is_over = !Descendants { first, place }.any(is_wanted);
                is_over.then_some(exit)
            }
        }
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

    /// Sends a signal to all processes of the rank.
    pub(super) fn signal(&self, signal: i32) {
        sys::kill_group(self.pid, signal);
        if let Some(joined) = &self.joined
            && !sys::is_in_group(joined.pid(), self.pid)
        {
            joined.signal(signal);
        }
    }

    /// Sends a signal to the process that the rank is.
    pub(super) fn signal_alone(&self, signal: i32) {
        match (&self.first_exit, &self.joined) {
            (Some(_), Some(joined)) if joined.is_alive() => sys::kill(joined.pid(), signal),
            (Some(_), _) => {}
            (None, _) => sys::kill(self.pid, signal),
        }
    }
}

impl Node {
    /// Reaps children that this process has taken in and that have ended, but for those of which it
    /// is still to be known how.
    pub(super) fn bury_orphans(&self) {
        let all = || self.processes.iter().flatten().filter(|it| it.running);
        let joined = || all().filter_map(|it| it.joined.as_ref());
        let children = foreign::children(process::id()).into_iter();
        for pid in children.map(|pid| pid as i32) {
            let is_kept = sys::is_claimed(pid) || joined().any(|it| it.pid() == pid);
            if !is_kept && sys::peek_exit(pid).is_some() {
                sys::reap(pid);
            }
        }
    }
}
