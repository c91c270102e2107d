//! Passive target synchronization (MPI-5, chapters 12.5.3 to 12.5.5): locks and flushes.
//!
//! The locks of all members lie in the memory that they share, so a target takes no part. Operations
//! are complete when their calls return; a flush only orders them.
//!
//! `MPI_Win_lock_all` takes the locks of all targets one after the other. So that this ends whatever locks a
//! program nests, and in whichever order, a **gate** keeps those who lock all apart from those who hold
//! something exclusively: whoever is inside to lock all finds no exclusive lock, and waits for nobody while it
//! holds some of them. A process that holds a lock already passes those who wait at the gate, as they may wait for that
//! lock.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::fence;

use catena_abi::consts;
use catena_core::Process;
use catena_objects::error::Result;
use catena_objects::fail;

use crate::access::Access;
use crate::epoch::{OF_OTHERS, check_assert, sync_error};
use crate::window::Window;
use catena_base::class_lock::{Class, Queue};
use catena_base::ticket_lock::{Mode, Ticket};

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
    fn acquire(&self, process: &Process, rank: u32, mode: Mode) -> Result<()> {
        let lock = &self.control.target(rank).lock;
        let pair = self.control.pair(rank, self.me);
        pair.holds.store(1, Relaxed);
        let ticket = lock.draw(mode);
        if !lock.try_enter(ticket, self.me) {
            self.await_turn(process, rank, ticket)?;
        }
        self.targets[rank as usize].locked.set(Some(mode));
        if mode == Mode::Shared {
            self.wake_waiters(rank);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn await_turn(&self, process: &Process, rank: u32, ticket: Ticket) -> Result<()> {
        let target = self.control.target(rank);
        let pair = self.control.pair(rank, self.me);
        pair.waits.store(1, Relaxed);
        target.lock.wait();
        let is_lost_by = |dead| {
            let left = target.lost.load(Acquire) == dead + 1;
            let lost = left || self.control.pair(rank, dead).holds.load(Acquire) != 0;
            if lost {
                // The ticket of this process stays drawn, and stops those behind it.
                target.lost.store(dead + 1, Release);
            }
            lost
        };
        let is_served = || target.lock.is_served(ticket);
        let outcome = self.wait_unless_lost(process, is_served, is_lost_by);
        if outcome.is_ok() {
            let entered = target.lock.try_enter(ticket, self.me);
            debug_assert!(entered, "a ticket stays served until it is used");
        } else {
            pair.holds.store(0, Release);
        }
        target.lock.wait_no_more();
        pair.waits.store(0, Relaxed);
        outcome
    }

    fn release(&self, rank: u32, mode: Mode) {
        self.targets[rank as usize].locked.set(None);
        self.control.target(rank).lock.leave(mode);
        self.control.pair(rank, self.me).holds.store(0, Release);
        self.wake_waiters(rank);
    }

    /// Enters the gate.
    fn enter_gate(&self, process: &Process, class: Class) -> Result<()> {
        let mine = self.control.pair(self.me, self.me);
        let queue = match self.epochs.locks.get() {
            0 => Queue::Behind,
            _ => Queue::Beside,
        };
        // Only this process writes it. Said first, so that the others know what died with it.
        mine.in_gate.store(mine.in_gate.load(Relaxed) + 1, Relaxed);
        if self.control.meeting().gate.try_enter(class, queue) {
            return Ok(());
        }
        self.await_gate(process, class, queue)
    }

    #[cold]
    #[inline(never)]
    fn await_gate(&self, process: &Process, class: Class, queue: Queue) -> Result<()> {
        let meeting = self.control.meeting();
        let mine = self.control.pair(self.me, self.me);
        mine.gate_waits
            .store(mine.gate_waits.load(Relaxed) + 1, Relaxed);
        let waiting = meeting.gate.wait(class, queue);
        let is_lost_by = |dead| {
            let left = meeting.gate_lost.load(Acquire) == dead + 1;
            let lost = left || self.control.pair(dead, dead).in_gate.load(Acquire) != 0;
            if lost {
                meeting.gate_lost.store(dead + 1, Release);
            }
            lost
        };
        // Other threads may ask for this one.
        let mut is_inside = false;
        let enter = || {
            is_inside = is_inside || meeting.gate.try_turn(waiting);
            is_inside
        };
        let outcome = self.wait_unless_lost(process, enter, is_lost_by);
        mine.gate_waits
            .store(mine.gate_waits.load(Relaxed) - 1, Relaxed);
        match outcome {
            Ok(()) if meeting.gate.has_waiters() => self.wake_at_gate(),
            Ok(()) => {}
            Err(_) => mine.in_gate.store(mine.in_gate.load(Relaxed) - 1, Release),
        }
        outcome
    }

    fn leave_gate(&self, class: Class) {
        let waits = self.control.meeting().gate.leave(class);
        let mine = self.control.pair(self.me, self.me);
        mine.in_gate.store(mine.in_gate.load(Relaxed) - 1, Release);
        if waits {
            self.wake_at_gate();
        }
    }

    #[cold]
    fn wake_at_gate(&self) {
        for member in 0..self.size() {
            if self.control.pair(member, member).gate_waits.load(Acquire) != 0 {
                self.ring(member);
            }
        }
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
    /// `RmaSync` if the target is locked, or in an epoch of another kind; `Assert`; `ProcAborted` if a
    /// member that held the lock has died.
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
            if mode == Mode::Exclusive {
                self.enter_gate(process, Class::Exclusive)?;
            }
            if let Err(error) = self.acquire(process, rank, mode) {
                if mode == Mode::Exclusive {
                    self.leave_gate(Class::Exclusive);
                }
                return Err(error);
            }
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
            if mode == Mode::Exclusive {
                self.leave_gate(Class::Exclusive);
            }
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
    /// `RmaSync` in another access epoch; `Assert`; `ProcAborted` if a member that held a lock has died.
    pub fn lock_all(&self, process: &Process, assert: i32) -> Result<()> {
        check_assert(assert, OF_OTHERS)?;
        self.check_lockable()?;
        self.leave_fence("an epoch of MPI_Win_lock_all")?;
        // Said first: while it waits, other threads of this process see it.
        self.epochs.access.set(Access::LockAll);
        if assert & consts::MODE_NOCHECK == 0
            && let Err(error) = self.acquire_all(process)
        {
            self.release_all();
            self.epochs.access.set(Access::None);
            return Err(error);
        }
        self.epochs.all_open.set(true);
        Ok(())
    }

    fn acquire_all(&self, process: &Process) -> Result<()> {
        self.enter_gate(process, Class::All)?;
        self.epochs.in_gate.set(true);
        (0..self.size()).try_for_each(|rank| self.acquire(process, rank, Mode::Shared))
    }

    fn release_all(&self) {
        for rank in 0..self.size() {
            if let Some(mode) = self.targets[rank as usize].locked.get() {
                self.release(rank, mode);
            }
        }
        if self.epochs.in_gate.replace(false) {
            self.leave_gate(Class::All);
        }
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
        self.release_all();
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
