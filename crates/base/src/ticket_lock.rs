//! The lock of `MPI_Win_lock`: shared or exclusive, first come first served.
//!
//! | word      | who writes it                         | meaning                               |
//! |-----------|---------------------------------------|---------------------------------------|
//! | `numbers` | all                                   | five numbers, see below               |
//! | `holder`  | the exclusive holder                  | its number and 1, or 0; and `PASSER` |
//! | `waiters` | whoever waits                         | how many may sleep                    |
//!
//! | number   | who changes it                                                          | meaning                  |
//! |----------|-------------------------------------------------------------------------|--------------------------|
//! | `NEXT`   | whoever wants the lock adds 1                                           | the next ticket          |
//! | `READ`   | adds 1: a shared holder when it is admitted, an exclusive one when it leaves | the ticket that may enter shared |
//! | `WRITE`  | adds 1: every holder of a ticket when it leaves                         | the ticket that may enter exclusively |
//! | `HELD`   | the exclusive holder                                                    | whether there is one     |
//! | `PASSED` | who passes the queue adds 1, who enters by a ticket sets it to 0        | how often the head of the queue was passed |
//!
//! They share a word, so a lock that is free is taken, and left, by one step each.
//!
//! A ticket is a place in the queue, and a caller that has drawn one may do something else until it
//! is served. Where ranks outnumber cores, the head of the queue seldom runs at the moment when it
//! is served, and until it does, the lock would lie idle while those who run wait for it. So a
//! caller may ask to **pass**: it enters exclusively without a ticket if nobody is inside. The head
//! of the queue is passed [`MOST_PASSED`] times at most; then whoever comes waits behind it.
//!
//! A caller that changes the numbers looks at `waiters`
//! afterwards, and one that goes to sleep has counted itself there before it looks at them for the
//! last time: both in one order for all (`SeqCst`), so one of them sees the other, and nobody
//! sleeps for ever. The lock does not know which processes wait: the caller does, and wakes them.
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

/// Bits of a ticket's number in the word. They wrap around.
const BITS: u32 = 19;
const MASK: u64 = (1 << BITS) - 1;
/// Somebody is inside exclusively.
const HELD: u64 = 1 << (3 * BITS);
/// How often the head of the queue was passed: the bits above.
const PASSED: u64 = HELD << 1;
/// How often it may be.
#[cfg(not(loom))]
pub const MOST_PASSED: u64 = u64::MAX / PASSED;
/// How often it may be, in the model.
#[cfg(loom)]
pub const MOST_PASSED: u64 = 1;

/// Beside the number of an exclusive holder: it has passed the queue.
const PASSER: u32 = 1 << 31;

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

    /// Whether whoever comes now may enter at once, nobody being before it.
    #[inline(always)]
    fn is_in_turn(self, word: u64) -> bool {
        word & HELD == 0 && self.served().of(word) == NEXT.of(word)
    }

    /// The word after the ticket that is served has entered.
    #[inline(always)]
    fn admit(self, word: u64) -> u64 {
        let word = word & (PASSED - 1);
        match self {
            Mode::Shared => READ.add_one(word),
            Mode::Exclusive => word | HELD,
        }
    }
}

impl Ticket {
    /// Whether it may enter, by the numbers.
    #[inline(always)]
    fn is_served(self, word: u64) -> bool {
        word & HELD == 0 && self.mode.served().of(word) == self.number
    }

    /// What tells it from those near it in the queue; not 0. See [`TicketLock::is_next`].
    pub fn tag(self) -> u16 {
        tag_of(self.number)
    }
}

/// See [`Ticket::tag`].
fn tag_of(number: u32) -> u16 {
    (number as u16) << 1 | 1
}

/// How a caller comes in.
#[derive(Clone, Copy)]
enum Entry {
    InTurn,
    Past,
    Behind,
}

/// Whether somebody may pass the queue: nobody is inside, and its head was not passed too often.
#[inline(always)]
fn can_pass(word: u64) -> bool {
    word & HELD == 0 && READ.of(word) == WRITE.of(word) && word / PASSED < MOST_PASSED
}

/// Whether the caller passes those who wait but do not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It comes behind them.
    Queue,
    /// It passes them, where that is allowed.
    Pass,
}

/// The lock. Zeroed memory is a free one. At most 2^19 - 1 are in its queue.
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

    /// Enters at once as member `me`, as [`TicketLock::try_enter`] does or past the queue, or draws
    /// a ticket.
    ///
    /// # Errors
    /// The ticket.
    #[inline]
    pub fn enter(&self, mode: Mode, admission: Admission, me: u32) -> Result<(), Ticket> {
        let now = self.numbers.load(Relaxed);
        if mode.is_in_turn(now) {
            let new = mode.admit(NEXT.add_one(now));
            let entered = self.numbers.compare_exchange(now, new, SeqCst, Relaxed);
            if entered.is_ok() {
                if mode == Mode::Exclusive {
                    self.holder.store(me + 1, Relaxed);
                }
                return Ok(());
            }
        }
        self.enter_slow(mode, admission, me)
    }

    #[cold]
    #[inline(never)]
    fn enter_slow(&self, mode: Mode, admission: Admission, me: u32) -> Result<(), Ticket> {
        let way = |word| match mode {
            _ if mode.is_in_turn(word) => Entry::InTurn,
            Mode::Exclusive if admission == Admission::Pass && can_pass(word) => Entry::Past,
            _ => Entry::Behind,
        };
        let was = self.change(|word| match way(word) {
            Entry::InTurn => mode.admit(NEXT.add_one(word)),
            Entry::Past => (word | HELD) + PASSED,
            Entry::Behind => NEXT.add_one(word),
        });
        let by = match way(was) {
            Entry::InTurn => 0,
            Entry::Past => PASSER,
            Entry::Behind => {
                let number = NEXT.of(was);
                return Err(Ticket { number, mode });
            }
        };
        if mode == Mode::Exclusive {
            self.holder.store((me + 1) | by, Relaxed);
        }
        Ok(())
    }

    /// Whether a ticket may enter now. Others may pass it before it does.
    #[inline]
    pub fn is_served(&self, ticket: Ticket) -> bool {
        ordered();
        ticket.is_served(self.numbers.load(SeqCst))
    }

    /// Whether a ticket of this tag may be the one that enters next, or as soon as whoever passes
    /// it has left.
    pub fn is_next(&self, tag: u16) -> bool {
        let now = self.numbers.load(SeqCst);
        [READ, WRITE].iter().any(|of| tag_of(of.of(now)) == tag)
    }

    /// Enters, if the ticket of member `me` is served. Whoever has entered shared asks for
    /// [`TicketLock::has_waiters`]: others may enter, too.
    #[inline]
    pub fn try_enter(&self, ticket: Ticket, me: u32) -> bool {
        ordered();
        let mut now = self.numbers.load(SeqCst);
        loop {
            if !ticket.is_served(now) {
                return false;
            }
            let new = ticket.mode.admit(now);
            match self.numbers.compare_exchange(now, new, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(seen) => now = seen,
            }
        }
        if ticket.mode == Mode::Exclusive {
            self.holder.store(me + 1, Relaxed);
        }
        true
    }

    /// Leaves. Then the caller asks for [`TicketLock::has_waiters`].
    #[inline]
    pub fn leave(&self, mode: Mode) {
        if mode == Mode::Shared {
            self.change(|word| WRITE.add_one(word));
            return;
        }
        let holder = self.holder.load(Relaxed);
        self.holder.store(0, Relaxed);
        self.change(|word| match holder & PASSER {
            0 => READ.add_one(WRITE.add_one(word)) & !HELD,
            _ => word & !HELD,
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
        (self.holder.load(Relaxed) & !PASSER).checked_sub(1)
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

    const QUEUE: Admission = Admission::Queue;

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
        assert_eq!(lock.enter(Mode::Shared, QUEUE, 0), Ok(()));
        assert_eq!(lock.enter(Mode::Shared, QUEUE, 1), Ok(()));
        let writer = lock
            .enter(Mode::Exclusive, QUEUE, 2)
            .expect_err("there are readers");
        let late = lock
            .enter(Mode::Shared, QUEUE, 3)
            .expect_err("behind the writer");
        lock.leave(Mode::Shared);
        assert!(!lock.is_served(writer));
        lock.leave(Mode::Shared);
        assert!(lock.try_enter(writer, 2) && lock.holder() == Some(2));
        assert!(!lock.is_served(late));
        lock.leave(Mode::Exclusive);
        assert!(lock.try_enter(late, 3));
        lock.leave(Mode::Shared);
        assert_eq!(lock.enter(Mode::Exclusive, QUEUE, 4), Ok(()));
        assert_eq!(lock.holder(), Some(4));
    }

    #[test]
    fn the_head_of_the_queue_is_passed_some_times() {
        let lock = TicketLock::default();
        assert_eq!(lock.enter(Mode::Exclusive, Admission::Pass, 0), Ok(()));
        let head = lock.draw(Mode::Exclusive);
        let late = lock.enter(Mode::Exclusive, Admission::Pass, 1);
        let late = late.expect_err("somebody is inside");
        lock.leave(Mode::Exclusive);
        for _ in 0..MOST_PASSED {
            assert!(lock.is_served(head) && lock.is_next(head.tag()));
            assert_eq!(lock.enter(Mode::Exclusive, Admission::Pass, 2), Ok(()));
            assert_eq!(lock.holder(), Some(2));
            assert!(!lock.is_served(head) && !lock.try_enter(head, 3));
            assert!(lock.is_next(head.tag()) && !lock.is_next(late.tag()));
            lock.leave(Mode::Exclusive);
        }
        let third = lock.enter(Mode::Exclusive, Admission::Pass, 2);
        let third = third.expect_err("the head was passed often enough");
        assert!(lock.try_enter(head, 3) && !lock.is_served(late));
        lock.leave(Mode::Exclusive);
        // The next one may be passed as often.
        assert_eq!(lock.enter(Mode::Exclusive, Admission::Pass, 4), Ok(()));
        lock.leave(Mode::Exclusive);
        assert!(lock.try_enter(late, 1));
        lock.leave(Mode::Exclusive);
        assert!(lock.try_enter(third, 2));
        lock.leave(Mode::Exclusive);
        assert!(lock.is_free());
    }

    #[test]
    fn nobody_passes_while_there_are_readers() {
        let lock = TicketLock::default();
        assert_eq!(lock.enter(Mode::Shared, Admission::Pass, 0), Ok(()));
        let writer = lock.draw(Mode::Exclusive);
        for mode in [Mode::Shared, Mode::Exclusive] {
            let late = lock.enter(mode, Admission::Pass, 1);
            assert!(late.is_err(), "{mode:?} comes behind");
        }
        lock.leave(Mode::Shared);
        assert_eq!(lock.enter(Mode::Exclusive, Admission::Pass, 1), Ok(()));
        assert!(!lock.try_enter(writer, 2));
        lock.leave(Mode::Exclusive);
        assert!(lock.try_enter(writer, 2));
    }

    #[test]
    fn numbers_wrap_around() {
        let lock = TicketLock::default();
        lock.numbers.store(HELD - 1, Relaxed);
        for mode in [Mode::Exclusive, Mode::Shared, Mode::Exclusive] {
            let ticket = lock.draw(mode);
            assert!(lock.try_enter(ticket, 0));
            lock.leave(mode);
            assert_eq!(lock.enter(mode, QUEUE, 0), Ok(()));
            lock.leave(mode);
        }
        assert!(lock.is_free());
    }
}
