//! The one lock of the library, taken by every call if and only if the program
//! was granted `MPI_THREAD_MULTIPLE` (MPI-5, chapter 11.6).
//!
//! It is re-entrant, because callbacks (attribute copy functions, user
//! operations, error handlers) may call MPI again.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use catena_base as base;

/// A re-entrant lock.
#[derive(Debug)]
pub struct Lock {
    lock: base::Lock,
    /// Address of a thread-local of the owner; 0 if there is none.
    owner: AtomicUsize,
    /// How often the owner holds it. Touched by the owner only.
    depth: Cell<u32>,
}

// SAFETY: `depth` is only accessed by the thread that holds the lock.
unsafe impl Sync for Lock {}

/// How often a thread held the lock that it let go of.
#[derive(Debug)]
#[must_use = "the lock is to be taken back"]
pub struct Depth(u32);

thread_local! {
    static ME: u8 = const { 0 };
}

/// A number of this thread, not of any other one that lives.
pub(crate) fn here() -> usize {
    ME.with(|m| std::ptr::from_ref(m) as usize)
}

impl Lock {
    /// A free lock.
    pub const fn new() -> Self {
        Lock {
            lock: base::Lock::new(),
            owner: AtomicUsize::new(0),
            depth: Cell::new(0),
        }
    }

    /// Takes the lock, or takes it once more.
    #[inline]
    pub fn acquire(&self) {
        let me = here();
        if self.owner.load(Relaxed) == me {
            self.depth.set(self.depth.get() + 1);
            return;
        }
        self.lock.acquire();
        self.owner.store(me, Relaxed);
        self.depth.set(1);
    }

    /// Gives back what one [`Lock::acquire`] took.
    #[inline]
    pub fn release(&self) {
        debug_assert_eq!(self.owner.load(Relaxed), here(), "released by a stranger");
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        if depth == 0 {
            self.owner.store(0, Relaxed);
            self.lock.release();
        }
    }

    /// Whether a thread has it. What that did before it let go is seen by who is told no.
    #[inline(always)]
    pub fn is_taken(&self) -> bool {
        self.lock.is_taken()
    }

    /// Whether its owner is in a call from a callback.
    #[inline]
    pub fn is_nested(&self) -> bool {
        self.depth.get() > 1
    }

    /// Lets go of it however often it is held.
    pub fn let_go(&self) -> Depth {
        debug_assert_eq!(self.owner.load(Relaxed), here(), "released by a stranger");
        let depth = Depth(self.depth.replace(0));
        self.owner.store(0, Relaxed);
        self.lock.release();
        depth
    }

    /// Takes it as often as [`Lock::let_go`] let go of it.
    pub fn take_back(&self, depth: Depth) {
        self.acquire();
        self.depth.set(depth.0);
    }

    /// Runs `f` without the lock.
    pub fn released<T>(&self, f: impl FnOnce() -> T) -> T {
        let depth = self.let_go();
        let out = f();
        self.take_back(depth);
        out
    }

    /// Whether this thread has it.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.owner.load(Relaxed) == here()
    }

    /// Runs `f` without the lock, if this thread holds it.
    pub fn released_if_held<T>(&self, f: impl FnOnce() -> T) -> T {
        match self.is_held() {
            true => self.released(f),
            false => f(),
        }
    }

    /// Lets one who waits for it, if there is one, have it first.
    #[inline]
    pub fn give_way(&self) {
        if self.lock.is_wanted() {
            let depth = self.depth.replace(0);
            self.owner.store(0, Relaxed);
            self.lock.give_way();
            self.owner.store(here(), Relaxed);
            self.depth.set(depth);
        }
    }
}

impl Default for Lock {
    fn default() -> Self {
        Lock::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counter(Lock, Cell<u64>);
    // SAFETY: the cell is only touched under the lock.
    unsafe impl Sync for Counter {}

    #[test]
    fn excludes_other_threads_and_nests() {
        let counter = Counter(Lock::new(), Cell::new(0));
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    let c = &counter;
                    for i in 0..10_000 {
                        c.0.acquire();
                        c.0.acquire();
                        c.1.set(c.1.get() + 1);
                        assert!(c.0.is_nested());
                        c.0.release();
                        match i % 64 {
                            0 => c.0.released(std::thread::yield_now),
                            1 => c.0.give_way(),
                            _ => {}
                        }
                        c.0.release();
                    }
                });
            }
        });
        assert_eq!(counter.1.get(), 40_000);
        assert_eq!(counter.0.owner.load(Relaxed), 0);
    }
}
