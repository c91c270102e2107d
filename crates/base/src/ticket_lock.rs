//! The lock of `MPI_Win_lock`: shared or exclusive, first come first served.
//!
//! | word      | who writes it                         | meaning                               |
//! |-----------|---------------------------------------|---------------------------------------|
//! | `numbers` | all                                   | three numbers, see below              |
//! | `holder`  | the exclusive holder                  | its number and 1, or 0                |
//! | `waiters` | whoever waits                         | how many may sleep                    |
//!
//! | number  | who adds 1                                                               | meaning                  |
//! |---------|--------------------------------------------------------------------------|--------------------------|
//! | `NEXT`  | whoever wants the lock                                                   | the next ticket          |
//! | `READ`  | a shared holder when it is admitted, an exclusive one when it leaves     | the ticket that may enter shared |
//! | `WRITE` | every holder when it leaves                                              | the ticket that may enter exclusively |
//!
//! They share a word, so a lock that is free is taken, and left, by one step each.
//!
//! A ticket is a place in the queue, so nobody is passed, and a caller that has drawn one may do
//! something else until it is served. A caller that changes the numbers looks at `waiters`
//! afterwards, and one that goes to sleep has counted itself there before it looks at them for the
//! last time: both in one order for all (`SeqCst`), so one of them sees the other, and nobody sleeps
//! for ever. The lock does not know which processes wait: the caller does, and wakes them.
//!
//! Model: `tests/loom_ticket_lock.rs`.

use crate::sync::Ordering::{Acquire, Relaxed, SeqCst};
use crate::sync::{AtomicU32, AtomicU64};

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

/// Bits of a number in the word. They wrap around.
const BITS: u32 = 21;
const MASK: u64 = (1 << BITS) - 1;

/// One of the numbers.
#[derive(Clone, Copy)]
struct Number(u32);

const NEXT: Number = Number(0);
const READ: Number = Number(BITS);
const WRITE: Number = Number(2 * BITS);

impl Number {
    #[inline(always)]
    fn of(self, word: u64) -> u32 {
        (word >> self.0 & MASK) as u32
    }

    /// The word with 1 more.
    #[inline(always)]
    fn add_one(self, word: u64) -> u64 {
        let mask = MASK << self.0;
        (word & !mask) | (word.wrapping_add(1 << self.0) & mask)
    }
}

impl Mode {
    /// The number that a ticket for it is compared with.
    #[inline(always)]
    fn served(self) -> Number {
        match self {
            Mode::Shared => READ,
            Mode::Exclusive => WRITE,
        }
    }
}

/// The lock. Zeroed memory is a free one. At most 2^21 - 1 are in its queue.
#[derive(Debug, Default)]
#[cfg_attr(not(loom), repr(C))]
pub struct TicketLock {
    numbers: AtomicU64,
    holder: AtomicU32,
    waiters: AtomicU32,
}

impl TicketLock {
    /// Changes the numbers; what they were.
    #[inline(always)]
    fn change(&self, change: impl Fn(u64) -> u64) -> u64 {
        let mut now = self.numbers.load(Relaxed);
        loop {
            let new = change(now);
            match self
                .numbers
                .compare_exchange_weak(now, new, SeqCst, Relaxed)
            {
                Ok(was) => return was,
                Err(seen) => now = seen,
            }
        }
    }

    /// Draws a ticket, which has to be served: see [`TicketLock::try_enter`].
    #[inline]
    pub fn draw(&self, mode: Mode) -> Ticket {
        Ticket {
            number: NEXT.of(self.change(|word| NEXT.add_one(word))),
            mode,
        }
    }

    /// Enters at once as member `me`, as [`TicketLock::try_enter`] does, or draws a ticket.
    ///
    /// # Errors
    /// The ticket.
    #[inline]
    pub fn enter(&self, mode: Mode, me: u32) -> Result<(), Ticket> {
        let is_served = |word| mode.served().of(word) == NEXT.of(word);
        let was = self.change(|word| match mode {
            Mode::Shared if is_served(word) => READ.add_one(NEXT.add_one(word)),
            _ => NEXT.add_one(word),
        });
        if !is_served(was) {
            let number = NEXT.of(was);
            return Err(Ticket { number, mode });
        }
        if mode == Mode::Exclusive {
            self.holder.store(me + 1, Relaxed);
        }
        Ok(())
    }

    /// Whether a ticket may enter now.
    #[inline]
    pub fn is_served(&self, ticket: Ticket) -> bool {
        ordered();
        let now = self.numbers.load(SeqCst);
        ticket.mode.served().of(now) == ticket.number
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
                self.change(|word| READ.add_one(word));
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
        }
        self.change(|word| match mode {
            Mode::Shared => WRITE.add_one(word),
            Mode::Exclusive => READ.add_one(WRITE.add_one(word)),
        });
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
        let now = self.numbers.load(Acquire);
        NEXT.of(now) == WRITE.of(now)
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
    fn whoever_does_not_enter_at_once_has_a_ticket() {
        let lock = TicketLock::default();
        assert_eq!(lock.enter(Mode::Shared, 0), Ok(()));
        assert_eq!(lock.enter(Mode::Shared, 1), Ok(()));
        let writer = lock
            .enter(Mode::Exclusive, 2)
            .expect_err("there are readers");
        let late = lock.enter(Mode::Shared, 3).expect_err("behind the writer");
        lock.leave(Mode::Shared);
        assert!(!lock.is_served(writer));
        lock.leave(Mode::Shared);
        assert!(lock.try_enter(writer, 2) && lock.holder() == Some(2));
        assert!(!lock.is_served(late));
        lock.leave(Mode::Exclusive);
        assert!(lock.try_enter(late, 3));
        lock.leave(Mode::Shared);
        assert_eq!(lock.enter(Mode::Exclusive, 4), Ok(()));
        assert_eq!(lock.holder(), Some(4));
    }

    #[test]
    fn numbers_wrap_around() {
        let lock = TicketLock::default();
        lock.numbers.store((1 << (3 * BITS)) - 1, Relaxed);
        for mode in [Mode::Exclusive, Mode::Shared, Mode::Exclusive] {
            let ticket = lock.draw(mode);
            assert!(lock.try_enter(ticket, 0));
            lock.leave(mode);
            assert_eq!(lock.enter(mode, 0), Ok(()));
            lock.leave(mode);
        }
        assert!(lock.is_free());
    }
}
