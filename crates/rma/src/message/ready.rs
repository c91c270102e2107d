//! The windows that progress has to look at: those for whose locks, or at whose gate, members
//! elsewhere wait. What these wait for is let go in memory that they do not share, so this process
//! looks for them. All other windows cost progress nothing, however many there are.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::registry;
use crate::window::Window;

/// Numbers of windows. Under the library's lock.
#[derive(Debug, Default)]
struct Ready(RefCell<BTreeSet<u32>>);

// SAFETY: whoever comes here holds the library's lock, or is the one thread that calls MPI.
unsafe impl Sync for Ready {}
// SAFETY: as above.
unsafe impl Send for Ready {}

static READY: LazyLock<Ready> = LazyLock::new(Ready::default);

/// Has progress look at a window as long as members elsewhere wait there.
pub(crate) fn add(window: &Window) {
    READY.0.borrow_mut().insert(window.number);
}

/// Whether there are some.
pub(crate) fn are_some() -> bool {
    !READY.0.borrow().is_empty()
}

/// Calls `look` for each of them; those at which nobody waits any more leave. Cost: those that are
/// there.
pub(crate) fn each(mut look: impl FnMut(&Window)) {
    if !are_some() {
        return;
    }
    // A look may have others wait.
    let mut numbers = READY.0.take();
    numbers.retain(|number| {
        let Some(window) = registry::numbered(*number) else {
            return false;
        };
        look(window);
        window.has_far_waiters()
    });
    READY.0.borrow_mut().append(&mut numbers);
}
