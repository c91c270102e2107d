//! A lock with a usual side, which takes it without an atomic operation that waits for others.
//!
//! | field     | writer          | reader       | rule                                          |
//! |-----------|-----------------|--------------|-----------------------------------------------|
//! | `inside`  | the usual side  | the visitor  | raised before `visited` is looked at          |
//! | `visited` | the visitor     | the usual side | raised before `inside` is looked at         |
//!
//! Each side raises its flag and looks at the other's. Between the two the visitor executes a heavy
//! barrier, so that the usual side needs none ([`Barrier`]): the one that comes second sees the
//! other. The usual side gives way to the visitor.
//!
//! A locked operation waits until all that was stored before has reached its line, which another
//! core may have: after a message was written into a ring that is what sending it takes.
//!
//! Model: `tests/loom_biased.rs`.

use crate::Barrier;
use crate::sync::AtomicU32;
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::yield_now;

/// Such a lock. Each side is one thread at a time: somebody else sees to that.
///
/// # Examples
/// ```
/// use catena_base::{Barrier, Biased};
///
/// let lock = Biased::default();
/// lock.enter();
/// lock.leave();
/// lock.visit(Barrier::register());
/// lock.end_visit();
/// ```
#[derive(Debug, Default)]
pub struct Biased {
    inside: AtomicU32,
    visited: AtomicU32,
}

impl Biased {
    /// The usual side takes it, once no visitor has it.
    #[inline]
    pub fn enter(&self) {
        self.inside.store(1, Relaxed);
        Barrier::light();
        if self.visited.load(Acquire) != 0 {
            self.give_way();
        }
    }

    #[cold]
    #[inline(never)]
    fn give_way(&self) {
        while self.visited.load(Acquire) != 0 {
            self.inside.store(0, Release);
            while self.visited.load(Relaxed) != 0 {
                yield_now();
            }
            self.inside.store(1, Relaxed);
            Barrier::light();
        }
    }

    /// The usual side lets it go.
    #[inline]
    pub fn leave(&self) {
        self.inside.store(0, Release);
    }

    /// The visitor takes it, once the usual side has let it go. `barrier` is that of both.
    pub fn visit(&self, barrier: Barrier) {
        self.visited.store(1, Relaxed);
        barrier.heavy();
        while self.inside.load(Acquire) != 0 {
            yield_now();
        }
    }

    /// The visitor lets it go.
    pub fn end_visit(&self) {
        self.visited.store(0, Release);
    }
}
