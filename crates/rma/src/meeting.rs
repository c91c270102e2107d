//! How all members of a window come together, for fences and to free it: in the memory that they
//! share, so that a window needs no communicator of its own.
//!
//! The last one to come ends the meeting: it tells the outcome, then counts the meeting as over, and
//! wakes the others. Nobody comes to the next one before it has seen that, so the outcome stays until all have read
//! it.

use std::sync::atomic::{Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst};

use catena_core::Process;
use catena_objects::error::Result;

use crate::message::state::LOST;
use crate::window::Window;

impl Window {
    /// Waits until all members are here; how many came with an error, of those on other hosts at
    /// least one.
    ///
    /// # Errors
    /// `ProcAborted` if a member has died or is lost: no meeting comes about any more.
    pub(crate) fn meet(&self, process: &Process, has_failed: bool) -> Result<u32> {
        self.all_live(process)?;
        let meeting = self.control.meeting();
        let before = meeting.over.load(Acquire);
        meeting.failures.fetch_add(has_failed.into(), Relaxed);
        let arrived = meeting.arrived.fetch_add(1, AcqRel) + 1;
        let all = self.control.members();
        let spans_hosts = self.node.leaders.len() > 1;
        // The lowest member goes to meet other hosts, when all are here.
        let ends = match spans_hosts {
            true => self.node.me == 0,
            false => arrived == all,
        };
        if !ends {
            if arrived == all {
                self.ring(self.node.ranks[0]);
            }
            let is_over = || meeting.over.load(SeqCst) != before;
            self.wait_unless_lost(process, is_over, |_| true)?;
            return match meeting.outcome.load(Acquire) {
                LOST => Err(self.missing_member()),
                failures => Ok(failures),
            };
        }
        let all_here = || meeting.arrived.load(SeqCst) == all;
        if !all_here() {
            self.wait_unless_lost(process, all_here, |_| true)?;
        }
        let failures = meeting.failures.swap(0, Relaxed);
        let outcome = match spans_hosts {
            true => self.meet_hosts(process, failures),
            false => Ok(failures),
        };
        let told = outcome.as_ref().map_or(LOST, |failures| *failures);
        meeting.outcome.store(told, Relaxed);
        meeting.arrived.store(0, Relaxed);
        meeting.over.fetch_add(1, SeqCst);
        self.node.ranks.iter().for_each(|&rank| self.ring(rank));
        outcome
    }

    /// Makes sure that nobody needs what the members share: whoever owns it waits for the others, which do
    /// not look at it again.
    ///
    /// # Errors
    /// `ProcAborted` if a member has died.
    pub(crate) fn leave(&self, process: &Process) -> Result<()> {
        let meeting = self.control.meeting();
        if self.control.is_own() {
            let others = self.control.members() - 1;
            let is_alone = || meeting.left.load(SeqCst) == others;
            self.wait_unless_lost(process, is_alone, |_| true)?;
        } else {
            meeting.left.fetch_add(1, SeqCst);
            // The owner is the lowest.
            self.ring(self.node.ranks[0]);
        }
        Ok(())
    }
}
