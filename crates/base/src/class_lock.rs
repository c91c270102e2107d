//! A lock of two classes: any number of members of one class are inside together, and none of the
//! other one meanwhile. Windows have one each, for `MPI_Win_lock_all` on the one side and those who
//! lock exclusively on the other.
//!
//! | word      | who writes it                | meaning                                             |
//! |-----------|------------------------------|-----------------------------------------------------|
//! | `inside`  | all                          | members inside of each class, and how many wait     |
//! | `next`    | whoever has to wait: adds 1  | the next ticket                                     |
//! | `serving` | whoever enters by a ticket: adds 1 | the ticket that enters next                   |
//!
//! A member enters at once if nobody of the other class is inside and nobody waits. Else it waits
//! in a queue, first come first served, or beside it ([`Queue::Beside`]): a member that holds
//! something for which the head of the queue may wait must not wait behind it. Only the other class
//! inside keeps that one out.
//!
//! All that matters to somebody who goes to sleep changes in `inside`, where the sleeper has
//! counted itself before its last look, or in `serving`, whose writer looks at `inside` afterwards
//! (`SeqCst` both). The lock does not know which processes wait: the caller does, and wakes them.
//!
//! Model: `tests/loom_class_lock.rs`.

use crate::sync::Ordering::{AcqRel, Relaxed, SeqCst};
use crate::sync::{AtomicU32, AtomicU64};

/// Bits of a count in `inside`.
const BITS: u32 = 20;
const MASK: u64 = (1 << BITS) - 1;
/// One more who waits.
const WAITS: u64 = 1 << (2 * BITS);

/// The model takes `SeqCst` for `AcqRel` but in fences, so it gets one.
#[inline(always)]
fn ordered() {
    #[cfg(loom)]
    crate::sync::fence(SeqCst);
}

/// A class of holders: those of one keep those of the other out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Those who hold some target exclusively.
    Exclusive,
    /// Those who hold all targets shared.
    All,
}

impl Class {
    const fn shift(self) -> u32 {
        match self {
            Class::Exclusive => 0,
            Class::All => BITS,
        }
    }

    const fn one(self) -> u64 {
        1 << self.shift()
    }

    const fn other(self) -> Class {
        match self {
            Class::Exclusive => Class::All,
            Class::All => Class::Exclusive,
        }
    }

    const fn count(self, inside: u64) -> u64 {
        inside >> self.shift() & MASK
    }
}

/// How a member waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Behind those who came before.
    Behind,
    /// Beside them, as it holds what they may wait for.
    Beside,
}

/// A member that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a ticket that is not used stops all behind it"]
pub struct Waiting {
    class: Class,
    ticket: Option<u32>,
}

/// The lock. Zeroed memory is a free one. It has at most 2^20 - 1 members.
#[derive(Debug, Default)]
#[cfg_attr(not(loom), repr(C))]
pub struct ClassLock {
    inside: AtomicU64,
    next: AtomicU32,
    serving: AtomicU32,
}

impl ClassLock {
    /// Enters, if that needs no wait.
    #[inline]
    pub fn try_enter(&self, class: Class, queue: Queue) -> bool {
        let mut now = self.inside.load(Relaxed);
        loop {
            let is_free = class.other().count(now) == 0 && (now < WAITS || queue == Queue::Beside);
            if !is_free {
                return false;
            }
            let new = now + class.one();
            match self.inside.compare_exchange_weak(now, new, SeqCst, Relaxed) {
                Ok(_) => return true,
                Err(seen) => now = seen,
            }
        }
    }

    /// Begins to wait.
    pub fn wait(&self, class: Class, queue: Queue) -> Waiting {
        self.inside.fetch_add(WAITS, SeqCst);
        let behind = queue == Queue::Behind;
        Waiting {
            class,
            ticket: behind.then(|| self.next.fetch_add(1, AcqRel)),
        }
    }

    /// Enters, if it is the turn of one that waits. It asks for [`ClassLock::has_waiters`] then:
    /// others may enter, too.
    pub fn try_turn(&self, waiting: Waiting) -> bool {
        let Waiting { class, ticket } = waiting;
        ordered();
        if ticket.is_some_and(|ticket| self.serving.load(SeqCst) != ticket) {
            return false;
        }
        let mut now = self.inside.load(SeqCst);
        loop {
            if class.other().count(now) != 0 {
                return false;
            }
            let new = now + class.one() - WAITS;
            match self.inside.compare_exchange(now, new, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(seen) => now = seen,
            }
        }
        if ticket.is_some() {
            self.serving.fetch_add(1, SeqCst);
        }
        true
    }

    /// Leaves; whether somebody waits, whom the caller wakes.
    #[inline]
    pub fn leave(&self, class: Class) -> bool {
        self.inside.fetch_sub(class.one(), SeqCst) >= WAITS
    }

    /// Whether somebody waits.
    pub fn has_waiters(&self) -> bool {
        ordered();
        self.inside.load(SeqCst) >= WAITS
    }

    /// How many of a class are inside.
    pub fn inside(&self, class: Class) -> u64 {
        class.count(self.inside.load(SeqCst))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn classes_take_turns_in_the_order_of_their_coming() {
        let lock = ClassLock::default();
        assert!(lock.try_enter(Class::Exclusive, Queue::Behind));
        assert!(lock.try_enter(Class::Exclusive, Queue::Behind));
        assert!(!lock.try_enter(Class::All, Queue::Behind));
        let all = lock.wait(Class::All, Queue::Behind);
        assert!(!lock.try_turn(all));
        // Nobody passes it, but for those who hold something.
        assert!(!lock.try_enter(Class::Exclusive, Queue::Behind));
        assert!(lock.try_enter(Class::Exclusive, Queue::Beside));
        let late = lock.wait(Class::Exclusive, Queue::Behind);
        assert!(!lock.try_turn(late));
        assert_eq!(lock.inside(Class::Exclusive), 3);
        for _ in 0..3 {
            assert!(!lock.try_turn(all) && lock.leave(Class::Exclusive));
        }
        assert!(!lock.try_turn(late), "the other one came before");
        assert!(lock.try_turn(all) && lock.has_waiters());
        assert!(!lock.try_turn(late) && !lock.try_enter(Class::Exclusive, Queue::Beside));
        assert!(lock.leave(Class::All));
        assert!(lock.try_turn(late) && !lock.has_waiters());
        assert!(!lock.leave(Class::Exclusive));
        assert!(lock.try_enter(Class::All, Queue::Behind));
    }

    #[test]
    fn whoever_waits_beside_is_in_nobodys_way() {
        let lock = ClassLock::default();
        assert!(lock.try_enter(Class::All, Queue::Behind));
        let beside = lock.wait(Class::Exclusive, Queue::Beside);
        let behind = lock.wait(Class::All, Queue::Behind);
        assert!(!lock.try_turn(beside) && lock.try_turn(behind));
        assert!(lock.leave(Class::All) && lock.leave(Class::All));
        assert!(lock.try_turn(beside) && !lock.leave(Class::Exclusive));
    }
}
