//! The one lock of the library, taken by every call if and only if the program
//! was granted `MPI_THREAD_MULTIPLE` (MPI-5, chapter 11.6).
//!
//! It is re-entrant, because callbacks (attribute copy functions, user
//! operations, error handlers) may call MPI again.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicU32, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const CONTENDED: u32 = 2;

/// A re-entrant futex lock.
#[derive(Debug)]
pub struct Lock {
    state: AtomicU32,
    /// Address of a thread-local of the owner; 0 if there is none.
    owner: AtomicUsize,
    /// How often the owner holds it. Touched by the owner only.
    depth: Cell<u32>,
}

// SAFETY: `depth` is only accessed by the thread that holds the lock.
unsafe impl Sync for Lock {}

thread_local! {
    static ME: u8 = const { 0 };
}

fn me() -> usize {
    ME.with(|m| std::ptr::from_ref(m) as usize)
}

impl Lock {
    /// A free lock.
    pub const fn new() -> Self {
        Lock {
            state: AtomicU32::new(FREE),
            owner: AtomicUsize::new(0),
            depth: Cell::new(0),
        }
    }

    /// Takes the lock, or takes it once more.
    #[inline]
    pub fn acquire(&self) {
        let me = me();
        if self.owner.load(Relaxed) == me {
            self.depth.set(self.depth.get() + 1);
            return;
        }
        if self
            .state
            .compare_exchange(FREE, TAKEN, Acquire, Relaxed)
            .is_err()
        {
            self.acquire_slow();
        }
        self.owner.store(me, Relaxed);
        self.depth.set(1);
    }

    #[cold]
    fn acquire_slow(&self) {
        for _ in 0..100 {
            if self.state.load(Relaxed) == FREE
                && self
                    .state
                    .compare_exchange(FREE, TAKEN, Acquire, Relaxed)
                    .is_ok()
            {
                return;
            }
            std::hint::spin_loop();
        }
        while self.state.swap(CONTENDED, Acquire) != FREE {
            // SAFETY: a futex wait on an address that lives as long as `self`.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.state.as_ptr(),
                    libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                    CONTENDED,
                    std::ptr::null::<libc::timespec>(),
                );
            }
        }
    }

    /// Gives back what one [`Lock::acquire`] took.
    #[inline]
    pub fn release(&self) {
        debug_assert_eq!(self.owner.load(Relaxed), me(), "released by a stranger");
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        if depth == 0 {
            self.unlock();
        }
    }

    #[inline]
    fn unlock(&self) {
        self.owner.store(0, Relaxed);
        if self.state.swap(FREE, Release) == CONTENDED {
            // SAFETY: as in `acquire_slow`.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.state.as_ptr(),
                    libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                    1,
                );
            }
        }
    }

    /// Runs `f`, without the lock if it is `held`.
    pub fn released_if<T>(&self, held: bool, f: impl FnOnce() -> T) -> T {
        if held { self.released(f) } else { f() }
    }

    /// Lets go of the lock however often it is held, runs `f`, and takes it
    /// back as often.
    pub fn released<T>(&self, f: impl FnOnce() -> T) -> T {
        debug_assert_eq!(self.owner.load(Relaxed), me(), "released by a stranger");
        let depth = self.depth.replace(0);
        self.unlock();
        let out = f();
        self.acquire();
        self.depth.set(depth);
        out
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
                        c.0.release();
                        if i % 64 == 0 {
                            c.0.released(std::thread::yield_now);
                        }
                        c.0.release();
                    }
                });
            }
        });
        assert_eq!(counter.1.get(), 40_000);
        assert_eq!(counter.0.state.load(Relaxed), FREE);
    }
}
