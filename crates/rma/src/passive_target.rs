//! Passive target synchronization (MPI-5, chapters 12.5.3 to 12.5.5): locks and flushes.
//!
//! The locks of all members lie in the memory that they share, so a target takes no part. Operations
//! are complete when their calls return; a flush only orders them.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::fence;

use catena_abi::consts;
use catena_core::Process;
use catena_objects::error::Result;
use catena_objects::fail;

use crate::access::Access;
use crate::epoch::{OF_OTHERS, check_assert, sync_error};
use crate::window::Window;
use catena_base::ticket_lock::Mode;

/// The kind of lock that a program asks for.
///
/// # Errors
/// `LockType` if there is no such kind.
pub fn lock_mode(kind: i32) -> Result<Mode> {
    match kind {
        consts::LOCK_SHARED => Ok(Mode::Shared),
        consts::LOCK_EXCLUSIVE => Ok(Mode::Exclusive),
        _ => fail!(
            LockType,
            "the lock type is {kind}: it must be MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE"
        ),
    }
}

impl Window {
    fn check_lockable(&self) -> Result<()> {
        if self.hints.borrow().no_locks {
            return Err(sync_error(
                "the window was made with the hint no_locks, so it has no locks",
            ));
        }
        Ok(())
    }

    /// Waits for a target's lock.
    fn acquire(&self, process: &Process, rank: u32, mode: Mode) {
        let lock = &self.control.target(rank).lock;
        let pair = self.control.pair(rank, self.me);
        let ticket = lock.draw(mode);
        if !lock.try_enter(ticket, self.me) {
            pair.waits.store(1, Relaxed);
            lock.wait();
            process.block(|_| lock.is_served(ticket));
            let entered = lock.try_enter(ticket, self.me);
            debug_assert!(entered, "a ticket stays served until it is used");
            lock.wait_no_more();
            pair.waits.store(0, Relaxed);
        }
        let how = match mode {
            Mode::Shared => 1,
            Mode::Exclusive => 2,
        };
        pair.holds.store(how, Relaxed);
        self.targets[rank as usize].locked.set(Some(mode));
        if mode == Mode::Shared {
            self.wake_waiters(rank);
        }
    }

    fn release(&self, rank: u32, mode: Mode) {
        self.control.pair(rank, self.me).holds.store(0, Relaxed);
        self.targets[rank as usize].locked.set(None);
        self.control.target(rank).lock.leave(mode);
        self.wake_waiters(rank);
    }

    /// Wakes whoever waits for the lock of a target: it changed.
    #[inline]
    fn wake_waiters(&self, target: u32) {
        if self.control.target(target).lock.has_waiters() {
            self.wake_waiters_slow(target);
        }
    }

    #[cold]
    fn wake_waiters_slow(&self, target: u32) {
        for origin in 0..self.size() {
            if self.control.pair(target, origin).waits.load(Acquire) != 0 {
                self.ring(origin);
            }
        }
    }

    /// `MPI_Win_lock`; nothing for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// `RmaSync` if the target is locked, or in an epoch of another kind; `Assert`.
    pub fn lock(
        &self,
        process: &Process,
        mode: Mode,
        rank: Option<u32>,
        assert: i32,
    ) -> Result<()> {
        check_assert(assert, OF_OTHERS)?;
        self.check_lockable()?;
        if self.epochs.access.get() != Access::Lock {
            self.leave_fence("an epoch of MPI_Win_lock")?;
        }
        let locks = &self.epochs.locks;
        if let Some(rank) = rank {
            let target = &self.targets[rank as usize];
            if target.locked.get().is_some() {
                return Err(sync_error(format!(
                    "rank {rank} of the window is locked by this process already: call \
                    MPI_Win_unlock first"
                )));
            }
            self.acquire(process, rank, mode);
            target.open.set(true);
        }
        locks.set(locks.get() + 1);
        self.epochs.access.set(Access::Lock);
        Ok(())
    }

    /// `MPI_Win_unlock`.
    ///
    /// # Errors
    /// `RmaSync` if the target is not locked.
    pub fn unlock(&self, rank: Option<u32>) -> Result<()> {
        let epochs = &self.epochs;
        if epochs.access.get() != Access::Lock {
            return Err(sync_error(
                "MPI_Win_unlock ends what MPI_Win_lock begins, which was not called",
            ));
        }
        if let Some(rank) = rank {
            let target = &self.targets[rank as usize];
            let Some(mode) = target.locked.get() else {
                return Err(sync_error(format!(
                    "rank {rank} of the window is not locked by this process"
                )));
            };
            target.open.set(false);
            self.release(rank, mode);
        }
        let left = epochs.locks.get().saturating_sub(1);
        epochs.locks.set(left);
        if left == 0 {
            epochs.access.set(Access::None);
        }
        Ok(())
    }

    /// `MPI_Win_lock_all`.
    ///
    /// # Errors
    /// `RmaSync` in another access epoch; `Assert`.
    pub fn lock_all(&self, process: &Process, assert: i32) -> Result<()> {
        check_assert(assert, OF_OTHERS)?;
        self.check_lockable()?;
        self.leave_fence("an epoch of MPI_Win_lock_all")?;
        // Said first: while it waits, other threads of this process see it.
        self.epochs.access.set(Access::LockAll);
        if assert & consts::MODE_NOCHECK == 0 {
            for rank in 0..self.size() {
                self.acquire(process, rank, Mode::Shared);
            }
        }
        self.epochs.all_open.set(true);
        Ok(())
    }

    /// `MPI_Win_unlock_all`.
    ///
    /// # Errors
    /// `RmaSync` without `MPI_Win_lock_all`.
    pub fn unlock_all(&self) -> Result<()> {
        if self.epochs.access.get() != Access::LockAll {
            return Err(sync_error(
                "MPI_Win_unlock_all ends what MPI_Win_lock_all begins, which was not called",
            ));
        }
        self.epochs.all_open.set(false);
        self.epochs.access.set(Access::None);
        for rank in 0..self.size() {
            if let Some(mode) = self.targets[rank as usize].locked.get() {
                self.release(rank, mode);
            }
        }
        Ok(())
    }

    /// `MPI_Win_flush`, and its local form; of all targets if none is named.
    ///
    /// # Errors
    /// `RmaSync` if the target is not locked.
    #[inline]
    pub fn flush(&self, rank: Option<u32>) -> Result<()> {
        self.check_passive(rank)?;
        fence(AcqRel);
        Ok(())
    }

    /// `MPI_Win_sync`.
    pub fn sync(&self) {
        fence(SeqCst);
    }
}
