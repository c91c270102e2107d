//! Active target synchronization (MPI-5, chapters 12.5.1 and 12.5.2): fences, and post, start,
//! complete, wait.
//!
//! A fence is a meeting of all: what was moved by the processor or the kernel is there when the
//! call that moved it has returned, and what went by messages is waited for first. Post and
//! complete count in a word that only one side writes, of its [`Pair`](crate::control::Pair) with
//! the other, and ring that; members on other hosts tell each other by messages.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use catena_abi::consts;
use catena_core::Process;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Group;

use crate::access::Access;
use crate::epoch::{OF_FENCE, OF_OTHERS, OF_POST, check_assert, sync_error};
use crate::lost::Awaits;
use crate::message::record::What;
use crate::message::state::ELSEWHERE;
use crate::window::{Flavor, Window};

impl Window {
    /// Lists the ranks of the members of a group.
    fn list(&self, group: &Group, ranks: &mut Vec<u32>) -> Result<()> {
        ranks.clear();
        for peer in group.members() {
            match self.group.rank_of(peer) {
                Some(rank) => ranks.push(rank),
                None => fail!(
                    Group,
                    "process {} of the group is no member of the window",
                    peer.0
                ),
            }
        }
        Ok(())
    }

    /// `MPI_Win_fence`.
    ///
    /// # Errors
    /// `RmaSync` in an epoch of another kind, `Assert`; what has gone wrong in an operation at a
    /// target; `ProcAborted` if a member has died: no epoch is open then.
    pub fn fence(&self, process: &Process, assert: i32) -> Result<()> {
        check_assert(assert, OF_FENCE)?;
        let epochs = &self.epochs;
        if epochs.access.get() != Access::Fence {
            self.leave_fence("an epoch of MPI_Win_fence")?;
        }
        if epochs.exposes.get() {
            return Err(sync_error(
                "MPI_Win_fence cannot be called between MPI_Win_post and MPI_Win_wait",
            ));
        }
        let used = epochs.used.replace(false);
        if assert & consts::MODE_NOPRECEDE != 0 && epochs.access.get() == Access::Fence && used {
            return Err(sync_error(
                "MPI_MODE_NOPRECEDE says that there were no operations since the last fence, but \
                there were",
            ));
        }
        let outcome = self.flush_far(process, None);
        if let Err(error) = self.meet(process, false) {
            epochs.all_open.set(false);
            epochs.access.set(Access::None);
            return Err(error);
        }
        let goes_on = assert & consts::MODE_NOSUCCEED == 0;
        epochs.all_open.set(goes_on);
        epochs.access.set(match goes_on {
            true => Access::Fence,
            false => Access::None,
        });
        outcome
    }

    /// `MPI_Win_post`.
    ///
    /// # Errors
    /// `RmaSync` in another exposure epoch, `Group`, `Assert`.
    pub fn post(&self, process: &Process, group: &Group, assert: i32) -> Result<()> {
        check_assert(assert, OF_POST)?;
        if self.epochs.exposes.get() {
            return Err(sync_error(
                "MPI_Win_post was called before: call MPI_Win_wait first",
            ));
        }
        let mut ranks = self.epochs.posted.borrow_mut();
        self.list(group, &mut ranks)?;
        if self.epochs.access.get() == Access::Fence {
            self.leave_fence("an epoch of MPI_Win_post")?;
        }
        self.epochs.exposes.set(true);
        for &origin in &*ranks {
            match self.targets[origin as usize].local {
                ELSEWHERE => self.tell_far(process, origin, What::Post),
                local => {
                    let posted = &self.control.pair(self.node.me, local).posted;
                    posted.store(posted.load(Relaxed).wrapping_add(1), Release);
                    self.ring(origin);
                }
            }
        }
        Ok(())
    }

    /// `MPI_Win_start`. The posts are waited for when they are needed.
    ///
    /// # Errors
    /// `RmaSync` in another access epoch, `Group`, `Assert`.
    pub fn start(&self, group: &Group, assert: i32) -> Result<()> {
        check_assert(assert, OF_OTHERS)?;
        self.leave_fence("an epoch of MPI_Win_start")?;
        self.list(group, &mut self.epochs.started.borrow_mut())?;
        self.epochs.access.set(Access::Start);
        Ok(())
    }

    /// Waits for the post of a target that was started.
    ///
    /// # Errors
    /// `ProcAborted` if it has died.
    pub(crate) fn await_post(&self, process: &Process, rank: u32) -> Result<()> {
        let target = &self.targets[rank as usize];
        if target.open.get() {
            return Ok(());
        }
        let me = self.node.me;
        // Every post is used by one epoch, so there is one more of them when it can begin.
        let has_posted = || match target.local {
            ELSEWHERE => self.far(rank).posts.get() != 0,
            local => {
                let used = self.control.pair(me, local).completed.load(Relaxed);
                self.control.pair(local, me).posted.load(Acquire) != used
            }
        };
        if !has_posted() {
            self.wait_unless_lost(process, Awaits::Each, has_posted, |dead| dead == rank)?;
        }
        target.open.set(true);
        Ok(())
    }

    /// `MPI_Win_complete`.
    ///
    /// # Errors
    /// `RmaSync` without `MPI_Win_start`; `ProcAborted` if a target has died: the epoch has ended,
    /// for the other targets as well.
    pub fn complete(&self, process: &Process) -> Result<()> {
        if self.epochs.access.get() != Access::Start {
            return Err(sync_error(
                "MPI_Win_complete ends what MPI_Win_start begins, which was not called",
            ));
        }
        let mut started = self.epochs.started.take();
        let mut outcome = Ok(());
        for &rank in &started {
            if let Err(gone) = self.await_post(process, rank) {
                outcome = Err(gone);
                continue;
            }
            let target = &self.targets[rank as usize];
            target.open.set(false);
            if target.local == ELSEWHERE {
                // It comes behind the operations that go by messages; only what was attached the
                // target alone knows.
                let far = self.far(rank);
                if self.flavor == Flavor::Dynamic || far.is_moving() {
                    outcome = outcome.and(self.flush_far(process, Some(rank)));
                }
                far.dirty.set(false);
                far.posts.set(far.posts.get().wrapping_sub(1));
                self.tell_far(process, rank, What::Complete);
                continue;
            }
            outcome = outcome.and(self.flush_far(process, Some(rank)));
            let completed = &self.control.pair(self.node.me, target.local).completed;
            completed.store(completed.load(Relaxed).wrapping_add(1), Release);
            self.ring(rank);
        }
        outcome = outcome.and(self.flush_far_locally(process, None));
        // Its memory serves the next one.
        started.clear();
        self.epochs.started.replace(started);
        self.epochs.access.set(Access::None);
        outcome
    }

    /// `MPI_Win_test`: whether all origins have completed, which ends the exposure epoch.
    ///
    /// # Errors
    /// `RmaSync` without `MPI_Win_post`; `ProcAborted` if an origin has died before it completed,
    /// which ends the epoch.
    pub fn test(&self, process: &Process) -> Result<bool> {
        let done = self.is_completed()?;
        if !done {
            process.progress();
        }
        let done = done || self.is_completed()?;
        let lost = if done {
            None
        } else {
            self.death_among(process, |dead| self.is_awaited(dead))
        };
        if done || lost.is_some() {
            self.end_exposure();
        }
        lost.map_or(Ok(done), Err)
    }

    /// `MPI_Win_wait`.
    ///
    /// # Errors
    /// As [`Window::test`].
    pub fn wait(&self, process: &Process) -> Result<()> {
        let mut outcome = Ok(());
        if !self.is_completed()? {
            let is_completed = || self.is_completed().unwrap_or(true);
            outcome = self.wait_unless_lost(process, Awaits::Each, is_completed, |dead| {
                self.is_awaited(dead)
            });
        }
        self.end_exposure();
        outcome
    }

    fn is_completed(&self) -> Result<bool> {
        if !self.epochs.exposes.get() {
            return Err(sync_error(
                "MPI_Win_wait and MPI_Win_test end what MPI_Win_post begins, which was not called",
            ));
        }
        let origins = self.epochs.posted.borrow();
        Ok(origins.iter().all(|&origin| self.has_completed(origin)))
    }

    /// Whether an origin has completed its epoch.
    fn has_completed(&self, origin: u32) -> bool {
        let me = self.node.me;
        match self.targets[origin as usize].local {
            ELSEWHERE => self.far(origin).completions.get() != 0,
            // An origin completes as often as it was named.
            local => {
                let posted = self.control.pair(me, local).posted.load(Relaxed);
                self.control.pair(local, me).completed.load(Acquire) == posted
            }
        }
    }

    /// Whether the exposure epoch needs an origin to complete.
    fn is_awaited(&self, origin: u32) -> bool {
        let is_named = || self.epochs.posted.borrow().contains(&origin);
        self.epochs.exposes.get() && is_named() && !self.has_completed(origin)
    }

    fn end_exposure(&self) {
        self.epochs.exposes.set(false);
        for &origin in &*self.epochs.posted.borrow() {
            if self.is_far(origin) && self.has_completed(origin) {
                let completions = &self.far(origin).completions;
                completions.set(completions.get() - 1);
            }
        }
    }
}
