//! Copies of this process that `fork` makes.
//!
//! A copy has this process's memory and descriptors, and one of its threads: what it did with them
//! would be done in the name of this process. So whatever the library does at the end of a process
//! it leaves out in a copy, which [`is_copy`] tells.
//!
//! Only `fork` tells of copies. What `vfork` and `posix_spawn` make, and `_Fork` in handlers of
//! signals, executes another program or ends.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_COPY: AtomicBool = AtomicBool::new(false);

extern "C" fn note() {
    IS_COPY.store(true, Relaxed);
}

/// Has `call` called in each copy of this process, before `fork` returns there. Like a handler of
/// signals it may wait for nothing, as another thread may have held any lock.
pub fn in_copies(call: extern "C" fn()) {
    watch();
    add(call);
}

/// Whether this process is a copy of one that has called [`watch`] or [`in_copies`].
#[must_use]
pub fn is_copy() -> bool {
    IS_COPY.load(Relaxed)
}

/// Has [`is_copy`] tell from now on.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| add(note));
}

fn add(call: extern "C" fn()) {
    // SAFETY: plain functions without arguments. If there is no memory for another one, it is not
    // called.
    unsafe { libc::pthread_atfork(None, None, Some(call)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_knows_that_it_is_one() {
        watch();
        assert!(!is_copy());
        // SAFETY: the child calls nothing but what handlers of signals may.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(if is_copy() { 7 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a place for its status.
        let waited = unsafe { libc::waitpid(child, &mut status, 0) };
        assert_eq!((waited, libc::WEXITSTATUS(status)), (child, 7));
        assert!(!is_copy());
    }
}
