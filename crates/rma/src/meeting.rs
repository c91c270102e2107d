//! How all members of a window come together, for fences and to free it: in the memory that they
//! share, so that a window needs no communicator of its own.
//!
//! Few members of one node look at each other. Otherwise the last one to come ends the meeting: it
//! tells the outcome, then counts the meeting as over, and wakes the others. Nobody comes to the
//! next one before it has seen that, so the outcome stays until all have read it.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use catena_core::Process;
use catena_objects::error::Result;

use crate::lost::Awaits;
use crate::message::state::LOST;
use crate::window::Window;

/// Most members that look at each other.
const FEW: u32 = 8;

impl Window {
    /// Waits until all members are here; how many came with an error, of those on other hosts at
    /// least one.
    ///
    /// # Errors
    /// `ProcAborted` if a member has died or is lost: no meeting comes about any more.
    pub(crate) fn meet(&self, process: &Process, has_failed: bool) -> Result<u32> {
        self.all_live(process)?;
        let spans_hosts = self.node.leaders.len() > 1;
        if !spans_hosts && self.control.members() <= FEW {
            return self.meet_few(process, has_failed);
        }
        let meeting = self.control.meeting();
        let before = meeting.over.load(Acquire);
        if has_failed {
            meeting.failures.fetch_add(1, Relaxed);
        }
        let arrived = meeting.arrived.fetch_add(1, AcqRel) + 1;
        let all = self.control.members();
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
            self.wait_unless_lost(process, Awaits::Together, is_over, |_| true)?;
            return match meeting.outcome.load(Acquire) {
                LOST => Err(self.missing_member()),
                failures => Ok(failures),
            };
        }
        let all_here = || meeting.arrived.load(SeqCst) == all;
        if !all_here() {
            self.wait_unless_lost(process, Awaits::Together, all_here, |_| true)?;
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

    /// The first of those that have come to a meeting with an error, in words, if there are some.
    /// All members ask.
    pub(crate) fn refused_by(
        &self,
        process: &Process,
        met: &Result<u32>,
        has_failed: bool,
    ) -> Option<String> {
        if !matches!(met, Ok(1..)) {
            return None;
        }
        let first = self.first_of(process, has_failed);
        Some(first.map_or("a member".into(), |rank| format!("rank {rank}")))
    }

    /// The lowest rank of those for which something is true, of which there are some: all members
    /// ask together, for one bit of it after the other.
    ///
    /// # Errors
    /// As [`Window::meet`].
    #[cold]
    fn first_of(&self, process: &Process, is_true: bool) -> Result<u32> {
        let (mut is_candidate, mut first) = (is_true, 0);
        for bit in (0..u32::BITS - self.size().leading_zeros()).rev() {
            let is_low = self.me >> bit & 1 == 0;
            let is_one = is_candidate && is_low;
            let are_some = self.meet(process, is_one)? > 0 || is_one;
            is_candidate &= is_low == are_some;
            first |= u32::from(!are_some) << bit;
        }
        Ok(first)
    }

    /// As [`Window::meet`], of few members on one node: each says in its row that it has come, and
    /// looks at those of the others. So what the first one to come waits for is one line of the
    /// last one's.
    fn meet_few(&self, process: &Process, has_failed: bool) -> Result<u32> {
        let (control, me) = (&self.control, self.node.me);
        let number = self.epochs.meetings.get().wrapping_add(1) & u32::MAX >> 1;
        self.epochs.meetings.set(number);
        // Nobody comes to the meeting after the next one before all have seen this word.
        let word = |member| &control.row(member).came[number as usize & 1];
        word(me).store(number << 1 | u32::from(has_failed), Release);
        let (mut seen, mut failures) = (0, 0);
        let mut is_over = || {
            while seen < control.members() {
                let told = word(seen).load(Acquire);
                if told >> 1 != number {
                    return false;
                }
                failures += told & 1;
                seen += 1;
            }
            true
        };
        if !is_over() {
            self.wait_unless_lost(process, Awaits::Together, &mut is_over, |_| true)?;
        }
        // Whoever went to sleep before the last one came is woken by all who have seen it.
        self.node.ranks.iter().for_each(|&rank| self.ring(rank));
        Ok(failures)
    }

    /// Makes sure that nobody needs what the members share: whoever owns it waits for the others,
    /// which do not look at it again.
    ///
    /// # Errors
    /// `ProcAborted` if a member has died.
    pub(crate) fn leave(&self, process: &Process) -> Result<()> {
        let meeting = self.control.meeting();
        if self.control.is_own() {
            let others = self.control.members() - 1;
            let is_alone = || meeting.left.load(SeqCst) == others;
            self.wait_unless_lost(process, Awaits::Together, is_alone, |_| true)?;
        } else {
            meeting.left.fetch_add(1, SeqCst);
            // The owner is the lowest.
            self.ring(self.node.ranks[0]);
        }
        Ok(())
    }
}
