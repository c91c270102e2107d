//! The state of the interface itself.
//!
//! It lies behind a lock of its own, which is only taken by who holds the lock
//! of the library if there is one: callbacks of events run under that one.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_abi::consts;
use catena_base::slab::{Key, Slab};
use catena_core::object::Objects;
use catena_core::process::{Entered, keep_lock};
use catena_core::{enter, enter_any};

use crate::cvar;
use crate::event::{self, Instance, Registration};
use crate::session::{Handle, Session};
use crate::{Error, Result};

#[derive(Default)]
pub(crate) struct State {
    /// How often it was initialised and not finalised.
    users: u32,
    pub cvars: Slab<cvar::Handle>,
    pub sessions: Slab<Session>,
    pub handles: Slab<Handle>,
    pub registrations: Slab<Registration>,
    /// Events whose callbacks are running.
    pub instances: Slab<Instance>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// The state, for one call.
pub(crate) struct Guard {
    state: MutexGuard<'static, Option<State>>,
    // Last: it is given back after the other.
    _library: Entered<Objects>,
}

impl Deref for Guard {
    type Target = State;

    fn deref(&self) -> &State {
        self.state.as_ref().expect("made by `lock`")
    }
}

impl DerefMut for Guard {
    fn deref_mut(&mut self) -> &mut State {
        self.state.as_mut().expect("made by `lock`")
    }
}

fn lock() -> Guard {
    let library = enter_any();
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    state.get_or_insert_default();
    Guard {
        state,
        _library: library,
    }
}

/// The state of the interface.
///
/// # Errors
/// `NotInitialized`.
pub(crate) fn state() -> Result<Guard> {
    let state = lock();
    if state.users == 0 {
        return Err(Error::NotInitialized);
    }
    Ok(state)
}

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
    let mut state = state()?;
    state.users -= 1;
    if state.users == 0 {
        *state = State::default();
        drop(state);
        event::subscribe();
    }
    Ok(())
}

/// A handle as a number: never 0 or 1, which mean something else.
pub(crate) fn encode(key: Key) -> usize {
    (u64::from(key.generation) << 32 | u64::from(key.index)) as usize
}

/// The inverse of [`encode`], for any number.
pub(crate) fn decode(handle: usize) -> Key {
    Key {
        index: handle as u32,
        generation: (handle as u64 >> 32) as u32,
    }
}
