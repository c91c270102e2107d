//! Those that have initialised the interface.

use catena_abi::consts;
use catena_core::enter;
use catena_core::process::keep_lock;

use crate::Result;
use crate::event;
use crate::state::{lock, state};

/// Whether calls are allowed.
pub fn is_initialized() -> bool {
    lock().users > 0
}

/// `MPI_T_init_thread`; returns the thread level that is provided. Where MPI
/// runs already, that is at most its own level: it takes no lock below
/// `MPI_THREAD_MULTIPLE`. Asked for that level before, it will take the lock.
pub fn init(required: i32) -> i32 {
    lock().users += 1;
    let required = catena_core::life::granted(required);
    if required < consts::THREAD_MULTIPLE || keep_lock() {
        return required;
    }
    enter().map_or(required, |process| process.thread_level())
}

/// `MPI_T_finalize`. With the last one all handles and sessions end.
///
/// # Errors
/// `NotInitialized` if it was called as often as [`init`].
pub fn finalize() -> Result<()> {
    event::catch_up();
    let mut state = state()?;
    state.users -= 1;
    if state.users == 0 {
        state.clear();
        drop(state);
        event::subscribe();
    }
    Ok(())
}
