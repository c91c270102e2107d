//! The lock of a target's elements in a window, under which every accumulate to it is carried out.
//!
//! | word                    | meaning                                            |
//! |-------------------------|----------------------------------------------------|
//! | 0                       | free                                               |
//! | `n + 1`                 | member `n` of the node holds it; nobody sleeps     |
//! | `n + 1` and `CONTENDED` | the same, and somebody may sleep                 |
//!
//! So the word names who would have to be dead if it stayed taken. It is held for one operation,
//! within which its holder waits for nobody: whoever wants it spins, yields, and then sleeps on the
//! word. It is not fair: operations are short, and a turn that waits for a sleeper costs more than
//! hundreds of them.
//!
//! Model: `tests/loom_element_lock.rs`.

use crate::sync::AtomicU32;
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{spin_loop, yield_now};

/// Somebody may sleep.
const CONTENDED: u32 = 1 << 31;

/// Looks before the first yield.
const SPINS: u32 = if cfg!(loom) { 1 } else { 200 };
/// Yields before the first sleep.
const YIELDS: u32 = if cfg!(loom) { 0 } else { 20 };

/// The lock. Zeroed memory is a free one.
#[derive(Debug, Default)]
#[cfg_attr(not(loom), repr(transparent))]
pub struct ElementLock(Word);

/// Lets go of the lock when it is dropped.
#[derive(Debug)]
pub struct Held<'a>(&'a ElementLock);

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.release();
    }
}

impl ElementLock {
    /// Takes the lock for member `me` of the node, less than 2^31 - 1.
    #[inline]
    pub fn hold(&self, me: u32) -> Held<'_> {
        match self.hold_unless(me, |_| false) {
            Ok(held) => held,
            Err(_) => unreachable!("nobody is said to be dead"),
        }
    }

    /// As [`ElementLock::hold`], unless `is_dead` says of the member that holds it that it has
    /// died: it is asked now and then while this one waits. The elements may be half changed, so
    /// the lock stays taken.
    ///
    /// # Errors
    /// The member that has died.
    #[inline]
    pub fn hold_unless(&self, me: u32, is_dead: impl FnMut(u32) -> bool) -> Result<Held<'_>, u32> {
        let taken = self.0.0.compare_exchange(0, me + 1, Acquire, Relaxed);
        if taken.is_err() {
            self.acquire_slow(me + 1, is_dead)?;
        }
        Ok(Held(self))
    }

    /// The member of the node that holds it.
    pub fn holder(&self) -> Option<u32> {
        (self.0.0.load(Relaxed) & !CONTENDED).checked_sub(1)
    }

    #[cold]
    fn acquire_slow(&self, mine: u32, mut is_dead: impl FnMut(u32) -> bool) -> Result<(), u32> {
        for look in 0..SPINS + YIELDS {
            if self.0.0.load(Relaxed) == 0 && self.take(mine) {
                return Ok(());
            }
            if look < SPINS {
                spin_loop();
            } else {
                yield_now();
            }
        }
        // Others may sleep as well, which only the word would tell.
        let mine = mine | CONTENDED;
        loop {
            let word = self.0.0.load(Relaxed);
            match word {
                0 if self.take(mine) => return Ok(()),
                0 => continue,
                _ => {}
            }
            let holder = (word & !CONTENDED) - 1;
            if is_dead(holder) {
                return Err(holder);
            }
            let marked = word | CONTENDED;
            let told = self.0.0.compare_exchange(word, marked, Relaxed, Relaxed);
            if told.is_ok() {
                self.0.sleep(marked);
            }
        }
    }

    #[inline]
    fn take(&self, mine: u32) -> bool {
        let taken = self.0.0.compare_exchange(0, mine, Acquire, Relaxed);
        taken.is_ok()
    }

    #[inline]
    fn release(&self) {
        if self.0.0.swap(0, Release) & CONTENDED != 0 {
            self.0.wake();
        }
    }
}

#[cfg(not(loom))]
#[derive(Debug, Default)]
#[repr(transparent)]
struct Word(AtomicU32);

#[cfg(not(loom))]
impl Word {
    /// Sleeps while the word is what is expected. A holder may die, so whoever waits looks now and
    /// then.
    fn sleep(&self, expected: u32) {
        use crate::futex::{Reach, wait};
        let limit = std::time::Duration::from_millis(100);
        wait(&self.0, expected, Some(limit), Reach::Node);
    }

    #[cold]
    fn wake(&self) {
        use crate::futex::{Reach, wake};
        wake(&self.0, 1, Reach::Node);
    }
}

/// What the kernel does: it compares and queues in one step. Here nobody wakes by himself.
#[cfg(loom)]
#[derive(Debug, Default)]
struct Word(AtomicU32, loom::sync::Mutex<()>, loom::sync::Condvar);

#[cfg(loom)]
impl Word {
    fn sleep(&self, expected: u32) {
        let queue = self.1.lock().unwrap();
        if self.0.load(Relaxed) == expected {
            drop(self.2.wait(queue));
        }
    }

    fn wake(&self) {
        let _queue = self.1.lock().unwrap();
        self.2.notify_one();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct Counter(ElementLock, Cell<u64>);
    // SAFETY: the count is touched under the lock only.
    unsafe impl Sync for Counter {}

    #[test]
    fn a_dead_holder_is_named_and_keeps_the_lock() {
        let lock = ElementLock::default();
        std::mem::forget(lock.hold(5));
        for _ in 0..2 {
            let mut asked = 0;
            let refused = lock.hold_unless(1, |holder| {
                asked += 1;
                holder == 5 && asked == 2
            });
            assert_eq!(refused.map(|_| ()), Err(5));
        }
        assert_eq!(lock.holder(), Some(5));
    }

    #[test]
    fn excludes_and_tells_its_holder() {
        let counter = Counter(ElementLock::default(), Cell::new(0));
        std::thread::scope(|s| {
            for me in 0..4 {
                let c = &counter;
                s.spawn(move || {
                    for _ in 0..20_000 {
                        let _held = c.0.hold(me);
                        assert_eq!(c.0.holder(), Some(me));
                        c.1.set(c.1.get() + 1);
                    }
                });
            }
        });
        assert_eq!(counter.1.get(), 80_000);
        assert_eq!(counter.0.holder(), None);
    }
}
