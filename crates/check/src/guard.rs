//! Whether a thread is in the tool: what it allocates and frees then is the tool's own. A process
//! that the program has forked is not looked at.

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

thread_local! {
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, the thread is in the tool.
#[derive(Debug)]
pub struct Inside(());

impl Inside {
    pub fn enter() -> Inside {
        INSIDE.set(INSIDE.get() + 1);
        Inside(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(INSIDE.get() - 1);
    }
}

/// Whether this process was forked from one that had begun MPI. Its memory is a copy, which it may
/// free and change as it likes.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn forked() {
    IS_FORKED.store(true, Relaxed);
}

/// MPI begins.
pub fn begin() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        // SAFETY: a function that may be called in a child.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    });
}

/// Whether the tool looks away: at what it does itself, and at all that a forked process does.
pub fn is_inside() -> bool {
    INSIDE.get() != 0 || IS_FORKED.load(Relaxed)
}
