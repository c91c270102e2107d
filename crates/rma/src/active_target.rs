//! Active target synchronization (MPI-5, chapters 12.5.1 and 12.5.2): fences, and post, start,
//! complete, wait.
//!
//! A fence is a meeting of all: what was moved by the processor or the kernel is there when the call
//! that moved it has returned, and what went by messages is waited for first. Post and complete count in the word of
//! a [`Pair`](crate::control::Pair) that only one side writes, and ring the other;
//! members on other hosts tell each other by messages.

use std::sync::atomic::Ordering::{AcqRel, Acquire};

use catena_abi::consts;
use catena_core::Process;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Group;

use crate::access::Access;
use crate::epoch::{OF_FENCE, OF_OTHERS, OF_POST, check_assert, sync_error};
use crate::message::record::What;
use crate::message::state::ELSEWHERE;
use crate::window::{Flavor, Window};

impl Window {
    /// The ranks of the members of a group.
    fn ranks(&self, group: &Group) -> Result<Vec<u32>> {
        let rank = |peer| match self.group.rank_of(peer) {
            Some(rank) => Ok(rank),
            None => fail!(
                Group,
                "process {} of the group is no member of the window",
                peer.0
            ),
        };
        group.members().map(rank).collect()
    }

    /// `MPI_Win_fence`.
    ///
    /// # Errors
    /// `RmaSync` in an epoch of another kind, `Assert`; what has gone wrong in an operation at a target;
    /// `ProcAborted` if a member has died: no epoch is open then.
    pub fn fence(&self, process: &Process, assert: i32) -> Result<()> {
        check_assert(assert, OF_FENCE)?;
        let epochs = &self.epochs;
        if epochs.access.get() != Access::Fence {
            self.leave_fence("an epoch of MPI_Win_fence")?;
        }
        if epochs.posted.borrow().is_some() {
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
        let ranks = self.ranks(group)?;
        if self.epochs.posted.borrow().is_some() {
            return Err(sync_error(
                "MPI_Win_post was called before: call MPI_Win_wait first",
            ));
        }
        if self.epochs.access.get() == Access::Fence {
            self.leave_fence("an epoch of MPI_Win_post")?;
        }
        for &origin in &ranks {
            match self.targets[origin as usize].local {
                ELSEWHERE => self.tell_far(process, origin, What::Post),
                local => {
                    let posted = &self.control.pair(self.node.me, local).posted;
                    posted.fetch_add(1, AcqRel);
                    self.ring(origin);
                }
            }
        }
        *self.epochs.posted.borrow_mut() = Some(ranks);
        Ok(())
    }

    /// `MPI_Win_start`. The posts are waited for when they are needed.
    ///
    /// # Errors
    /// `RmaSync` in another access epoch, `Group`, `Assert`.
    pub fn start(&self, group: &Group, assert: i32) -> Result<()> {
        check_assert(assert, OF_OTHERS)?;
        let ranks = self.ranks(group)?;
        self.leave_fence("an epoch of MPI_Win_start")?;
        self.epochs.access.set(Access::Start);
        *self.epochs.started.borrow_mut() = ranks;
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
        let used = target.used.get();
        let has_posted = || match target.local {
            ELSEWHERE => target.far.posted.get() != used,
            local => self.control.pair(local, self.node.me).posted.load(Acquire) != used,
        };
        if !has_posted() {
            self.wait_unless_lost(process, has_posted, |dead| dead == rank)?;
        }
        target.used.set(used.wrapping_add(1));
        target.open.set(true);
        Ok(())
    }

    /// `MPI_Win_complete`.
    ///
    /// # Errors
    /// `RmaSync` without `MPI_Win_start`; `ProcAborted` if a target has died: the epoch has ended, for the other
    /// targets as well.
    pub fn complete(&self, process: &Process) -> Result<()> {
        if self.epochs.access.get() != Access::Start {
            return Err(sync_error(
                "MPI_Win_complete ends what MPI_Win_start begins, which was not called",
            ));
        }
        let started = self.epochs.started.take();
        let mut outcome = Ok(());
        for &rank in &started {
            if let Err(gone) = self.await_post(process, rank) {
                outcome = Err(gone);
                continue;
            }
            let target = &self.targets[rank as usize];
            target.open.set(false);
            if target.local == ELSEWHERE {
                // It comes behind the operations that go by messages; only what was attached the target
                // alone knows.
                if self.flavor == Flavor::Dynamic || target.far.moved.get() {
                    outcome = outcome.and(self.flush_far(process, Some(rank)));
                }
                target.far.dirty.set(false);
                self.tell_far(process, rank, What::Complete);
                continue;
            }
            outcome = outcome.and(self.flush_far(process, Some(rank)));
            let completed = &self.control.pair(target.local, self.node.me).completed;
            completed.fetch_add(1, AcqRel);
            self.ring(rank);
        }
        outcome = outcome.and(self.flush_far_locally(process, None));
        self.epochs.access.set(Access::None);
        outcome
    }

    /// `MPI_Win_test`: whether all origins have completed, which ends the exposure epoch.
    ///
    /// # Errors
    /// `RmaSync` without `MPI_Win_post`; `ProcAborted` if an origin has died before it completed, which
    /// ends the epoch.
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
            outcome = self.wait_unless_lost(process, is_completed, |dead| self.is_awaited(dead));
        }
        self.end_exposure();
        outcome
    }

    fn is_completed(&self) -> Result<bool> {
        let posted = self.epochs.posted.borrow();
        let Some(origins) = &*posted else {
            return Err(sync_error(
                "MPI_Win_wait and MPI_Win_test end what MPI_Win_post begins, which was not called",
            ));
        };
        Ok(origins.iter().all(|&origin| self.has_completed(origin)))
    }

    /// Whether an origin has completed its epoch.
    fn has_completed(&self, origin: u32) -> bool {
        let target = &self.targets[origin as usize];
        let completed = match target.local {
            ELSEWHERE => target.far.completed.get(),
            local => {
                let pair = self.control.pair(self.node.me, local);
                pair.completed.load(Acquire)
            }
        };
        completed != target.awaited.get()
    }

    /// Whether the exposure epoch needs an origin to complete.
    fn is_awaited(&self, origin: u32) -> bool {
        let posted = self.epochs.posted.borrow();
        let is_named = posted.as_ref().is_some_and(|all| all.contains(&origin));
        is_named && !self.has_completed(origin)
    }

    fn end_exposure(&self) {
        for origin in self.epochs.posted.take().unwrap_or_default() {
            if self.has_completed(origin) {
                let awaited = &self.targets[origin as usize].awaited;
                awaited.set(awaited.get().wrapping_add(1));
            }
        }
    }
}
