//! Passive target synchronization (MPI-5, chapters 12.5.3 to 12.5.5): locks and flushes.
//!
//! The locks of the members of a node lie in the memory that they share, so a target takes no part.
//! Those of members elsewhere are asked for by messages, which also tell that operations are
//! complete; other operations are so when their calls return, and a flush only orders them.
//!
//! `MPI_Win_lock_all` takes the locks of all targets of the node one after the other. So that this
//! ends whatever locks a program nests, and in whichever order, a **gate** keeps those who lock all
//! apart from those who hold something exclusively: whoever is inside to lock all finds no
//! exclusive lock, and waits for nobody while it holds some of them. So targets on other nodes need
//! not be asked. A process that holds a lock already passes those who wait at the gate, as they may
//! wait for that lock. The gate is that of the lowest node, whose lowest member is asked by those
//! elsewhere.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::fence;

use catena_abi::consts;
use catena_core::Process;
use catena_hang::{Need, What};
use catena_objects::error::Result;
use catena_objects::fail;

use crate::access::Access;
use crate::epoch::{OF_OTHERS, check_assert, sync_error};
use crate::lost::Awaits;
use crate::message::carry;
use crate::message::state::ELSEWHERE;
use crate::window::Window;
use catena_base::class_lock::{Class, Queue};
use catena_base::ticket_lock::{Admission, Mode, Ticket};

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
    /// Waits for a target's lock.
    fn acquire(&self, process: &Process, rank: u32, mode: Mode) -> Result<()> {
        let (target, me) = (self.targets[rank as usize].local, self.node.me);
        let lock = &self.control.target(target).lock;
        self.control.pair(me, target).holds.store(1, Relaxed);
        // Where ranks outnumber cores, those who wait seldom run.
        let admission = match process.is_crowded() {
            true => Admission::Pass,
            false => Admission::Queue,
        };
        if let Err(ticket) = lock.enter(mode, admission, me) {
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
        let (local, me) = (self.targets[rank as usize].local, self.node.me);
        let target = self.control.target(local);
        let pair = self.control.pair(me, local);
        pair.waits.store(ticket.tag(), Relaxed);
        target.lock.wait();
        // Other threads may ask for this one.
        let mut is_inside = false;
        let enter = || {
            is_inside = is_inside || target.lock.try_enter(ticket, me);
            is_inside
        };
        // The ticket of this process stays drawn then, and stops those behind it.
        let is_lost_by = |dead| self.is_lock_lost_by(local, dead);
        let outcome = self.wait_unless_lost(process, Awaits::Holders(local), enter, is_lost_by);
        if outcome.is_err() {
            pair.holds.store(0, Release);
        }
        target.lock.wait_no_more();
        pair.waits.store(0, Relaxed);
        outcome
    }

    /// Whether whoever waits for a target's lock waits in vain for a member that has died; notes it
    /// for those who come later.
    pub(crate) fn is_lock_lost_by(&self, target: u32, dead: u32) -> bool {
        let lost = &self.control.target(target).lost;
        let is_lost = lost.load(Acquire) == dead + 1 || self.had_lock(target, dead);
        if is_lost {
            lost.store(dead + 1, Release);
        }
        is_lost
    }

    /// As [`Window::is_lock_lost_by`] at the gate of this node.
    pub(crate) fn is_gate_lost_by(&self, dead: u32) -> bool {
        let lost = &self.control.meeting().gate_lost;
        let local = self.targets[dead as usize].local;
        let in_gate = || self.control.row(local).in_gate.load(Acquire) != 0;
        let is_lost = lost.load(Acquire) == dead + 1 || local != ELSEWHERE && in_gate();
        if is_lost {
            lost.store(dead + 1, Release);
        }
        is_lost
    }

    /// Whether a member has a target's lock, as far as that is known here, and does not only wait
    /// for it.
    pub(crate) fn has_lock(&self, target: u32, rank: u32) -> bool {
        let local = self.targets[rank as usize].local;
        match local {
            ELSEWHERE => target == self.node.me && self.has_own_lock_from_far(rank),
            _ => local != self.node.me && self.is_holding(local, target),
        }
    }

    /// Whether a process of the node has a target's lock, and does not only wait for it.
    pub(crate) fn is_holding(&self, local: u32, target: u32) -> bool {
        let pair = self.control.pair(local, target);
        pair.holds.load(Acquire) != 0 && pair.waits.load(Relaxed) == 0
    }

    /// Whether a member that has died held a target's lock or was in its queue, for itself or, as
    /// the target, for origins elsewhere.
    fn had_lock(&self, target: u32, dead: u32) -> bool {
        let dead = self.targets[dead as usize].local;
        let holds = || self.control.pair(dead, target).holds.load(Acquire) != 0;
        let as_proxy = || self.control.row(dead).proxy_holds.load(Acquire) != 0;
        dead != ELSEWHERE && (holds() || dead == target && as_proxy())
    }

    /// Whether this process holds the lock of a member elsewhere by message.
    fn is_held_far(&self, rank: u32) -> bool {
        let far = self.fars.known(rank);
        far.is_some_and(|far| far.held.get().is_some())
    }

    fn release(&self, process: &Process, rank: u32, mode: Mode) {
        let target = self.targets[rank as usize].local;
        self.targets[rank as usize].locked.set(None);
        self.control.target(target).lock.leave(mode);
        let pair = self.control.pair(self.node.me, target);
        pair.holds.store(0, Release);
        self.wake_waiters(rank);
        if rank == self.me && self.has_far_waiters() {
            carry::carry_on(process);
        }
    }

    /// Enters the gate.
    fn enter_gate(&self, process: &Process, class: Class) -> Result<()> {
        let mine = self.control.row(self.node.me);
        let queue = match self.epochs.locks.get() {
            0 => Queue::Behind,
            _ => Queue::Beside,
        };
        if self.is_gate_elsewhere() {
            return self.enter_far_gate(process, class, queue);
        }
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
        let mine = self.control.row(self.node.me);
        mine.gate_waits
            .store(mine.gate_waits.load(Relaxed) + 1, Relaxed);
        let waiting = meeting.gate.wait(class, queue);
        // Other threads may ask for this one.
        let mut is_inside = false;
        let enter = || {
            is_inside = is_inside || meeting.gate.try_turn(waiting);
            is_inside
        };
        let outcome = self.wait_unless_lost(process, Awaits::Gate, enter, |dead| {
            self.is_gate_lost_by(dead)
        });
        mine.gate_waits
            .store(mine.gate_waits.load(Relaxed) - 1, Relaxed);
        match outcome {
            Ok(()) if meeting.gate.has_waiters() => self.wake_at_gate(),
            Ok(()) => {}
            Err(_) => mine.in_gate.store(mine.in_gate.load(Relaxed) - 1, Release),
        }
        outcome
    }

    /// Whether a member is inside of the gate, and does not only wait there, as far as that is
    /// known here.
    pub(crate) fn is_in_gate(&self, rank: u32) -> bool {
        let local = self.targets[rank as usize].local;
        if local == ELSEWHERE {
            return self.is_in_own_gate_from_far(rank);
        }
        let row = self.control.row(local);
        let (inside, waits) = (row.in_gate.load(Acquire), row.gate_waits.load(Relaxed));
        // Its keeper's row counts those elsewhere, too.
        let (far, far_waits) = match local == self.node.me {
            true => self.count_in_own_gate_from_far(),
            false => (0, 0),
        };
        inside.saturating_sub(far) > waits.saturating_sub(far_waits)
    }

    /// What a wait at the gate of this node is for: those who are inside.
    pub(crate) fn need_of_gate(&self, process: &Process) -> Need {
        let is_inside = |rank| rank != self.me && self.is_in_gate(rank);
        let mut need = self.need(process, What::Lock, is_inside);
        // Of those elsewhere the keeper alone knows.
        let are_all_here = self.node.ranks.len() == self.size() as usize;
        need.open |= !are_all_here && self.me != self.node.leaders[0];
        need
    }

    fn leave_gate(&self, process: &Process, class: Class) {
        if self.is_gate_elsewhere() {
            return self.leave_far_gate(process, class);
        }
        let waits = self.control.meeting().gate.leave(class);
        let mine = self.control.row(self.node.me);
        mine.in_gate.store(mine.in_gate.load(Relaxed) - 1, Release);
        if waits {
            self.wake_at_gate();
            if self.has_far_waiters() {
                carry::carry_on(process);
            }
        }
    }

    /// Wakes those who wait at the gate.
    #[cold]
    pub(crate) fn wake_at_gate(&self) {
        for (member, &rank) in (0..).zip(&self.node.ranks) {
            if self.control.row(member).gate_waits.load(Acquire) != 0 {
                self.ring(rank);
            }
        }
    }

    /// Wakes whoever comes next to the lock of a target: it changed.
    #[inline]
    pub(crate) fn wake_waiters(&self, rank: u32) {
        let target = self.targets[rank as usize].local;
        if self.control.target(target).lock.has_waiters() {
            self.wake_waiters_slow(rank, target);
        }
    }

    #[cold]
    fn wake_waiters_slow(&self, rank: u32, target: u32) {
        let lock = &self.control.target(target).lock;
        for (origin, &of) in (0..).zip(&self.node.ranks) {
            let tag = self.control.pair(origin, target).waits.load(Acquire);
            if tag != 0 && lock.is_next(tag) {
                self.ring(of);
            }
        }
        if self.control.row(target).proxy_waits.load(Acquire) != 0 {
            self.ring(rank);
        }
    }

    /// `MPI_Win_lock`; nothing for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// `RmaSync` if the target is locked, or in an epoch of another kind; `Assert`; `ProcAborted`
    /// if a member that held the lock has died.
    pub fn lock(
        &self,
        process: &Process,
        mode: Mode,
        rank: Option<u32>,
        assert: i32,
    ) -> Result<()> {
        check_assert(assert, OF_OTHERS)?;
        if self.epochs.access.get() != Access::Lock {
            self.leave_fence("an epoch of MPI_Win_lock")?;
        }
        let epochs = &self.epochs;
        if let Some(rank) = rank {
            let target = &self.targets[rank as usize];
            if target.locked.get().is_some() {
                return Err(sync_error(format!(
                    "rank {rank} of the window is locked by this process already, or one of its \
                     threads waits for that: call MPI_Win_unlock first"
                )));
            }
            // Said first: while it waits, other threads of this process see it.
            target.locked.set(Some(mode));
            epochs.access.set(Access::Lock);
            if !self.is_far(rank) || assert & consts::MODE_NOCHECK == 0 {
                epochs.asking.set(epochs.asking.get() + 1);
                let acquired = self.lock_at_gate(process, rank, mode);
                epochs.asking.set(epochs.asking.get() - 1);
                if acquired.is_err() {
                    target.locked.set(None);
                    self.end_locks();
                }
                acquired?;
            }
            target.open.set(true);
        }
        epochs.locks.set(epochs.locks.get() + 1);
        epochs.access.set(Access::Lock);
        Ok(())
    }

    /// The epoch ends if nothing is locked, and nobody waits for a lock.
    fn end_locks(&self) {
        if self.epochs.locks.get() + self.epochs.asking.get() == 0 {
            self.epochs.access.set(Access::None);
        }
    }

    /// Takes the lock of a member, inside the gate if it is an exclusive one.
    fn lock_at_gate(&self, process: &Process, rank: u32, mode: Mode) -> Result<()> {
        if mode == Mode::Exclusive {
            self.enter_gate(process, Class::Exclusive)?;
        }
        let acquired = match self.is_far(rank) {
            true => self.lock_far(process, rank, mode),
            false => self.acquire(process, rank, mode),
        };
        if acquired.is_err() && mode == Mode::Exclusive {
            self.leave_gate(process, Class::Exclusive);
        }
        acquired
    }

    /// `MPI_Win_unlock`.
    ///
    /// # Errors
    /// `RmaSync` if the target is not locked; what has gone wrong in an operation at the target,
    /// and `ProcAborted` if that is gone: the epoch ends nevertheless.
    pub fn unlock(&self, process: &Process, rank: Option<u32>) -> Result<()> {
        let epochs = &self.epochs;
        let mut outcome = Ok(());
        if epochs.access.get() != Access::Lock {
            return Err(sync_error(
                "MPI_Win_unlock ends what MPI_Win_lock begins, which was not called",
            ));
        }
        if let Some(rank) = rank {
            let target = &self.targets[rank as usize];
            let Some(mode) = target.locked.get().filter(|_| target.open.get()) else {
                return Err(sync_error(format!(
                    "rank {rank} of the window is not locked by this process"
                )));
            };
            target.open.set(false);
            let was_held = !self.is_far(rank) || self.is_held_far(rank);
            outcome = self.flush_before_unlock(process, Some(rank));
            if self.is_far(rank) {
                target.locked.set(None);
            } else {
                self.release(process, rank, mode);
            }
            if was_held && mode == Mode::Exclusive {
                self.leave_gate(process, Class::Exclusive);
            }
        }
        epochs.locks.set(epochs.locks.get().saturating_sub(1));
        self.end_locks();
        outcome
    }

    /// Gives back the locks of members elsewhere, and has all operations complete.
    #[inline]
    fn flush_before_unlock(&self, process: &Process, rank: Option<u32>) -> Result<()> {
        if !self.has_messages.get() {
            return Ok(());
        }
        let is_held = |rank: &u32| self.is_held_far(*rank);
        let ranks: Vec<u32> = match rank {
            Some(rank) => Some(rank).filter(is_held).into_iter().collect(),
            None => (0..self.size()).filter(is_held).collect(),
        };
        // Whoever gets the lock next finds what has moved.
        let completed = self.complete_remote(process, rank);
        let unlocked = self.unlock_far(process, &ranks);
        completed.and(unlocked).and(self.flush_far(process, rank))
    }

    /// `MPI_Win_lock_all`.
    ///
    /// # Errors
    /// `RmaSync` in another access epoch; `Assert`; `ProcAborted` if a member that held a lock has
    /// died.
    pub fn lock_all(&self, process: &Process, assert: i32) -> Result<()> {
        check_assert(assert, OF_OTHERS)?;
        self.leave_fence("an epoch of MPI_Win_lock_all")?;
        // Said first: while it waits, other threads of this process see it.
        self.epochs.access.set(Access::LockAll);
        if assert & consts::MODE_NOCHECK == 0
            && let Err(error) = self.acquire_all(process)
        {
            self.release_all(process);
            self.epochs.access.set(Access::None);
            return Err(error);
        }
        self.epochs.all_open.set(true);
        Ok(())
    }

    fn acquire_all(&self, process: &Process) -> Result<()> {
        self.enter_gate(process, Class::All)?;
        self.epochs.in_gate.set(true);
        let mut near = self.node.ranks.iter();
        near.try_for_each(|&rank| self.acquire(process, rank, Mode::Shared))
    }

    fn release_all(&self, process: &Process) {
        for &rank in &self.node.ranks {
            if let Some(mode) = self.targets[rank as usize].locked.get() {
                self.release(process, rank, mode);
            }
        }
        if self.epochs.in_gate.replace(false) {
            self.leave_gate(process, Class::All);
        }
    }

    /// `MPI_Win_unlock_all`.
    ///
    /// # Errors
    /// `RmaSync` without `MPI_Win_lock_all`; as [`Window::unlock`].
    pub fn unlock_all(&self, process: &Process) -> Result<()> {
        if self.epochs.access.get() != Access::LockAll {
            return Err(sync_error(
                "MPI_Win_unlock_all ends what MPI_Win_lock_all begins, which was not called",
            ));
        }
        self.epochs.all_open.set(false);
        let outcome = self.flush_before_unlock(process, None);
        self.epochs.access.set(Access::None);
        self.release_all(process);
        outcome
    }

    /// `MPI_Win_flush`; of all targets if none is named.
    ///
    /// # Errors
    /// `RmaSync` if the target is not locked; what has gone wrong in an operation at the target,
    /// and `ProcAborted` if that is gone.
    #[inline]
    pub fn flush(&self, process: &Process, rank: Option<u32>) -> Result<()> {
        self.check_passive(rank)?;
        fence(AcqRel);
        match self.has_messages.get() {
            true => self.flush_far(process, rank),
            false => Ok(()),
        }
    }

    /// `MPI_Win_flush_local`; of all targets if none is named.
    ///
    /// # Errors
    /// As [`Window::flush`].
    #[inline]
    pub fn flush_local(&self, process: &Process, rank: Option<u32>) -> Result<()> {
        self.check_passive(rank)?;
        fence(AcqRel);
        match self.has_messages.get() {
            true => self.flush_far_locally(process, rank),
            false => Ok(()),
        }
    }

    /// `MPI_Win_sync`.
    pub fn sync(&self) {
        fence(SeqCst);
    }
}
