//! Communicators of the tool's own: the program has nothing to do with their messages.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_abi::Comm;

/// Notes one that was made.
pub fn made(comm: Comm) {
    all().insert(comm.0);
}

/// Notes one that is given back.
pub fn gone(comm: Comm) {
    all().remove(&comm.0);
}

/// Whether a communicator is the tool's own.
pub fn is_own(comm: Comm) -> bool {
    all().contains(&comm.0)
}

fn all() -> MutexGuard<'static, BTreeSet<usize>> {
    static ALL: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
