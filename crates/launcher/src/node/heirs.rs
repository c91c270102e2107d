//! Who goes on as a rank when its first process has ended: programs fork, let their first process
//! end, and use MPI in the other one.
//!
//! The first process ends with status 0 then. A process goes on in its place that has called
//! MPI_Init, or may be about to: a descendant with Catena's library in its memory. All descendants
//! whose parents have ended are children of this process ([`sys::adopt`]), which finds them by the
//! rank's group or by the place in their environment, and learns of their ends.

use std::process;

use catena_boot::BOOT_VAR;
use catena_job::Exit;

use super::{Local, Node};
use crate::foreign;
use crate::sys;

/// Whether a process of the rank with that first process is about to use MPI, for all that is
/// known; `place` is what the rank's environment says to be taken in.
fn has_heir(first: i32, place: &str) -> bool {
    let var = format!("{BOOT_VAR}={place}");
    let is_of_rank = |pid: u32| {
        let is_placed = || {
            let vars = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            vars.split(|&byte| byte == 0).any(|it| it == var.as_bytes())
        };
        sys::is_in_group(pid as i32, first) || is_placed()
    };
    let mut next = foreign::children(process::id());
    next.retain(|&pid| !sys::is_claimed(pid as i32));
    while let Some(pid) = next.pop() {
        if is_of_rank(pid) && foreign::has_catena(pid) {
            return true;
        }
        next.extend(foreign::children(pid));
    }
    false
}

impl Local {
    /// How the rank has ended, if it has; `place` is what its environment says to be taken in.
    pub(super) fn exit(&mut self, place: impl FnOnce() -> String) -> Option<Exit> {
        let was_gone = self.first_exit.is_some();
        self.first_exit = self.first_exit.or_else(|| sys::peek_exit(self.pid));
        let exit = self.first_exit?;
        if exit != Exit::Code(0) || self.is_known && self.joined.is_none() {
            return Some(exit);
        }
        match &self.joined {
            Some(joined) if joined.is_alive() => None,
            // It was this process's own child, once it had no other parent.
            Some(joined) if was_gone => Some(sys::peek_exit(joined.pid()).unwrap_or(exit)),
            Some(_) => Some(exit),
            None => (!has_heir(self.pid, &place())).then_some(exit),
        }
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
