//! The end of a process that has left its last session.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use super::segment::Segment;
use super::{Shared, lock};
use crate::sys;

/// What is left to do when the process ends.
struct Farewell {
    /// A child has a copy of this that is not its own.
    process: u32,
    manager: Shared,
    segment: Arc<Segment>,
}

static EXPECTED: Mutex<Option<Farewell>> = Mutex::new(None);

fn expected() -> MutexGuard<'static, Option<Farewell>> {
    EXPECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has `manager` told when the process ends, unless [`put_off`] comes before.
pub(super) fn expect(manager: &Shared, segment: &Arc<Segment>) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| sys::at_exit(say));
    *expected() = Some(Farewell {
        process: process::id(),
        manager: Arc::clone(manager),
        segment: Arc::clone(segment),
    });
}

/// Takes back [`expect`].
pub(super) fn put_off() {
    *expected() = None;
}

extern "C" fn say() {
    // Bound here, so that the lock is free again before anything waits.
    let due = expected().take();
    if let Some(farewell) = due.filter(|f| f.process == process::id()) {
        farewell.segment.wait_until_opened();
        // Nobody is left who could be told that it failed.
        let _ = lock(&farewell.manager).depart();
    }
}
