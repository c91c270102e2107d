//! The state of the interface itself.
//!
//! It lies behind a lock of its own, which is only taken by who holds the lock
//! of the library if there is one. Callbacks of events run without either.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_base::slab::{Key, Slab};
use catena_core::Objects;
use catena_core::enter_any;
use catena_core::process::Entered;

use crate::handles::{CvarHandle, PvarHandle, Session};
use crate::registration::{Due, Instance, Registration};
use crate::{Error, Result};

#[derive(Default)]
pub(crate) struct State {
    /// How often it was initialised and not finalised.
    pub users: u32,
    pub cvars: Slab<CvarHandle>,
    pub sessions: Slab<Session>,
    pub handles: Slab<PvarHandle>,
    pub registrations: Slab<Registration>,
    /// Events whose callbacks are running.
    pub instances: Slab<Instance>,
    /// What is to be told, in the order in which it happened.
    pub due: VecDeque<Due>,
    /// Registrations that are to be told of lost events after all that is due, if they have any.
    pub short: Vec<Key>,
}

impl State {
    /// Events that are due are told to nobody: they count as lost. Returns whether there were any.
    /// Cost: a look at all that are due.
    pub fn lose_due(&mut self, is_lost: impl Fn(&Due) -> bool) -> bool {
        let before = self.due.len();
        let registrations = &mut self.registrations;
        self.due.retain(|due| {
            let is_lost = is_lost(due);
            if is_lost && let Some(registration) = registrations.get_mut(due.to) {
                registration.due -= 1;
                registration.lose(1);
            }
            !is_lost
        });
        self.due.len() < before
    }

    /// Nobody uses the interface any more. Calls that are under way find what is theirs, and no
    /// handle comes a second time.
    pub fn clear(&mut self) {
        let mut registrations = std::mem::take(&mut self.registrations);
        let open = registrations.iter().filter(|(_, it)| it.is_open());
        let open: Vec<Key> = open.map(|(key, _)| key).collect();
        for key in open {
            registrations.remove(key);
        }
        *self = State {
            registrations,
            instances: std::mem::take(&mut self.instances),
            ..State::default()
        };
    }
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

/// The state, whether anybody has initialised the interface or not.
pub(crate) fn lock() -> Guard {
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
