//! The lock of `MPI_Win_lock`: shared or exclusive, first come first served.
//!
//! | word     | who writes it                         | meaning                                |
//! |----------|---------------------------------------|----------------------------------------|
//! | `next`   | whoever wants the lock: adds 1        | the next ticket                        |
//! | `read`   | a shared holder when it is admitted, an exclusive one when it leaves: adds 1 | the ticket that may enter shared |
//! | `write`  | every holder when it leaves: adds 1   | the ticket that may enter exclusively  |
//! | `holder` | the exclusive holder                  | its number and 1, or 0                 |
//! | `waiters`| whoever waits                         | how many may sleep                     |
//!
//! A ticket is a place in the queue, so nobody is passed, and a caller that has drawn one may do
//! something else until it is served. A caller that changes `read` or `write` looks at `waiters`
//! afterwards, and one that goes to sleep has counted itself there before it looks at the two for the
//! last time: both in one order for all (`SeqCst`), so one of them sees the other, and nobody sleeps
//! for ever. The lock does not know which processes wait: the caller does, and wakes them.
//!
//! Model: `tests/loom_ticket_lock.rs`.

use crate::sync::AtomicU32;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

/// The model takes `SeqCst` for `AcqRel` but in fences, so it gets one.
#[inline(always)]
fn ordered() {
    #[cfg(loom)]
    crate::sync::fence(SeqCst);
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `MPI_LOCK_SHARED`
    Shared,
    /// `MPI_LOCK_EXCLUSIVE`
    Exclusive,
}

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a ticket that is not used stops all behind it"]
pub struct Ticket {
    /// Its number.
    pub number: u32,
    /// What it is for.
    pub mode: Mode,
}

/// The lock. Zeroed memory is a free one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct TicketLock {
    next: AtomicU32,
    read: AtomicU32,
    write: AtomicU32,
    holder: AtomicU32,
    waiters: AtomicU32,
}

impl TicketLock {
    /// Draws a ticket, which has to be served: see [`TicketLock::try_enter`].
    #[inline]
    pub fn draw(&self, mode: Mode) -> Ticket {
        Ticket {
            number: self.next.fetch_add(1, AcqRel),
            mode,
        }
    }

    /// Whether a ticket may enter now.
    #[inline]
    pub fn is_served(&self, ticket: Ticket) -> bool {
        ordered();
        let now = match ticket.mode {
            Mode::Shared => self.read.load(SeqCst),
            Mode::Exclusive => self.write.load(SeqCst),
        };
        now == ticket.number
    }

    /// Enters, if the ticket of member `me` is served. Whoever has entered shared asks for
    /// [`TicketLock::has_waiters`]: others may enter, too.
    #[inline]
    pub fn try_enter(&self, ticket: Ticket, me: u32) -> bool {
        if !self.is_served(ticket) {
            return false;
        }
        match ticket.mode {
            Mode::Shared => {
                self.read.fetch_add(1, SeqCst);
            }
            Mode::Exclusive => self.holder.store(me + 1, Relaxed),
        }
        true
    }

    /// Leaves. Then the caller asks for [`TicketLock::has_waiters`].
    #[inline]
    pub fn leave(&self, mode: Mode) {
        if mode == Mode::Exclusive {
            self.holder.store(0, Relaxed);
            self.read.fetch_add(1, SeqCst);
        }
        self.write.fetch_add(1, SeqCst);
    }

    /// Counts one more who may sleep until it is served.
    pub fn wait(&self) {
        self.waiters.fetch_add(1, SeqCst);
    }

    /// One who was counted has been served.
    pub fn wait_no_more(&self) {
        self.waiters.fetch_sub(1, SeqCst);
    }

    /// Whether somebody may sleep.
    #[inline]
    pub fn has_waiters(&self) -> bool {
        ordered();
        self.waiters.load(SeqCst) != 0
    }

    /// The member of the node that holds it exclusively.
    pub fn holder(&self) -> Option<u32> {
        self.holder.load(Relaxed).checked_sub(1)
    }

    /// Whether nobody holds it or waits for it.
    pub fn is_free(&self) -> bool {
        self.next.load(Acquire) == self.write.load(Acquire)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_a_writer() {
        let lock = TicketLock::default();
        let first = lock.draw(Mode::Shared);
        assert!(lock.try_enter(first, 0));
        let writer = lock.draw(Mode::Exclusive);
        let late = lock.draw(Mode::Shared);
        assert!(!lock.try_enter(writer, 1) && !lock.try_enter(late, 2));
        lock.leave(Mode::Shared);
        assert!(!lock.try_enter(late, 2) && lock.try_enter(writer, 1));
        assert_eq!(lock.holder(), Some(1));
        lock.leave(Mode::Exclusive);
        assert!(lock.try_enter(late, 2));
        let other = lock.draw(Mode::Shared);
        assert!(lock.try_enter(other, 3), "readers share");
        lock.leave(Mode::Shared);
        assert!(!lock.is_free());
        lock.leave(Mode::Shared);
        assert!(lock.is_free() && lock.holder().is_none());
    }

    #[test]
    fn numbers_wrap_around() {
        let lock = TicketLock::default();
        for word in [&lock.next, &lock.read, &lock.write] {
            word.store(u32::MAX, Relaxed);
        }
        for mode in [Mode::Exclusive, Mode::Shared, Mode::Exclusive] {
            let ticket = lock.draw(mode);
            assert!(lock.try_enter(ticket, 0));
            lock.leave(mode);
        }
        assert!(lock.is_free());
    }
}
