//! Events (MPI-5, 15.3.8): registrations of callbacks, and raising.
//!
//! There is one source, the process, and its events are in order. They are
//! raised from within calls of MPI, so that callbacks may use this interface
//! but not communicate: `MPI_T_CB_REQUIRE_MPI_RESTRICTED`. There are no hints.
//!
//! The standard lets a callback come later than its event, of which the time stamp tells. Here it
//! comes at the latest when the process next waits or polls, and before a call returns that changes
//! who is told: a registration is made or freed, a callback or a handler for dropped events is set
//! or removed, the interface is finalised. So an event reaches those callbacks that were registered
//! when it happened, and no others; and whoever frees a registration, or replaces or removes a
//! callback, is told first of all that has happened, or, if that cannot be as a callback is
//! running, how much of it is dropped. Therefore who is to be told is decided before anything
//! changes, and every change is made by way of [`for_change`]; communicators see to it before they
//! go. Telling follows, and looks at nothing again.
//!
//! Nothing is raised for a registration after the function that is called when it is freed. Where
//! calls of its callbacks are under way, in this thread or in others, the last of them calls that
//! function: nobody waits, as a callback may wait for a lock of the program's that the thread has
//! which frees.

use catena_abi::{Comm, Count, TCbSafety};
use catena_base::clock;
use catena_core::events::{self, Listener, What};
use catena_core::{enter, enter_any};
use catena_objects::callback::{DroppedFn, EventFn, FreedFn};

use crate::catalog::catalog;
use crate::facts::Value;
pub use crate::registration::UserData;
use crate::registration::{Callback, End, Instance, LEVELS, RESTRICTED, Registration};
use crate::state::{Guard, State, decode, encode, state};
use crate::telling::{self, Call};
pub use crate::telling::{Callers, SOURCE, call_by};
use crate::{Bind, Error, Result};

/// Name of the one source.
pub const SOURCE_NAME: &str = "process";
/// What it is.
pub const SOURCE_DOC: &str = "Everything that happens in this process.";

/// The elements of an event, as its type lists them.
fn elements(what: What) -> Vec<Value> {
    match what {
        What::Collective { way, .. } => vec![Value::Int(way.into())],
        What::Unexpected { source, tag, len } => {
            vec![Value::Int(source as i32), Value::Int(tag), Value::Long(len)]
        }
        What::Slept(nanos) => vec![Value::Long(nanos)],
    }
}

/// Ticks of the source's clock in a second.
pub fn ticks_per_second() -> Count {
    (clock::ticks_per_us() * 1e6).round() as Count
}

/// A time stamp of now.
pub fn now() -> Count {
    clock::ticks() as Count
}

fn registration(state: &mut State, handle: usize) -> Result<&mut Registration> {
    let found = state.registrations.get_mut(decode(handle));
    let open = found.filter(|registration| registration.is_open());
    open.ok_or(Error::InvalidHandle)
}

/// The state, for a change in who is told of what: who is to be told of all that has happened so
/// far is decided.
fn for_change() -> Result<Guard> {
    // Nothing happens in between.
    let _library = enter_any();
    events::hand_over();
    state()
}

fn level(safety: TCbSafety) -> Result<usize> {
    let at = LEVELS.iter().position(|level| *level == safety);
    at.ok_or(Error::Invalid)
}

/// Tells `core` which events are wanted now.
pub(crate) fn subscribe() {
    // Nobody else says so in between, from an older state.
    let _library = enter_any();
    let mut wanted = 0;
    if let Ok(state) = state() {
        for (_, r) in state.registrations.iter() {
            if r.has_callback() {
                wanted |= r.kind.bit;
            }
        }
    }
    let listener = Listener {
        keep: telling::keep,
        tell: telling::tell,
    };
    events::want(wanted, listener);
}

/// Raises what has happened so far, before somebody comes or goes who is told of it.
pub(crate) fn catch_up() {
    events::catch_up();
}

/// Makes a registration for an event type, of `comm` if it must be bound.
///
/// # Errors
/// `InvalidIndex`; `Invalid` if it must be bound and `comm` is not a
/// communicator.
pub fn open(index: usize, comm: Option<Comm>) -> Result<usize> {
    catch_up();
    let mut state = for_change()?;
    let kind = catalog().events.get(index).ok_or(Error::InvalidIndex)?;
    let comm = match kind.bind {
        Bind::Process => None,
        Bind::Object(_) => Some(comm.ok_or(Error::Invalid)?),
    };
    if let Some(comm) = comm {
        let process = enter().map_err(|_| Error::Invalid)?;
        process.comm_ref(comm).map_err(|_| Error::Invalid)?;
    }
    Ok(encode(state.registrations.insert(Registration {
        kind,
        comm,
        callbacks: [None; LEVELS.len()],
        dropped: None,
        lost: 0,
        due: 0,
        under_way: 0,
        end: None,
    })))
}

/// Whether there is such a registration.
///
/// # Errors
/// `InvalidHandle`; so with all that follow.
pub fn check(handle: usize) -> Result<()> {
    registration(&mut *state()?, handle).map(drop)
}

/// Whether there is such a registration, and such a safety level.
///
/// # Errors
/// `Invalid` if there is no such level.
pub fn check_level(handle: usize, safety: TCbSafety) -> Result<()> {
    check(handle)?;
    level(safety).map(drop)
}

/// Sets the callback for a safety level, or removes it. The one that was there is not called any
/// more; calls of it in other threads may still be under way. What it was to be told and cannot be,
/// as a callback is running, is told as dropped.
///
/// # Errors
/// `Invalid` if there is no such level.
pub fn register(handle: usize, safety: TCbSafety, function: EventFn, data: UserData) -> Result<()> {
    catch_up();
    let mut state = for_change()?;
    let registration = registration(&mut state, handle)?;
    let level = level(safety)?;
    let function = function.given();
    let new = function.map(|function| Callback { function, data });
    let old = std::mem::replace(&mut registration.callbacks[level], new);
    let key = decode(handle);
    let mut call = None;
    if let Some(old) = old
        && Some(old) != new
        && state.lose_due(|due| due.to == key && due.level == level)
    {
        call = Call::begin(&mut state, key, old.data);
    }
    drop(state);
    subscribe();
    if let Some(call) = call {
        call.make();
    }
    Ok(())
}

/// Sets the handler for dropped events, or removes it. A new one is also told what its predecessor
/// was not told yet.
#[allow(clippy::missing_errors_doc, reason = "see `check`")]
pub fn on_dropped(handle: usize, function: DroppedFn) -> Result<()> {
    catch_up();
    let mut state = for_change()?;
    let registration = registration(&mut state, handle)?;
    registration.dropped = function.given();
    if registration.dropped.is_none() {
        registration.lost = 0;
    }
    Ok(())
}

/// Frees a registration: nothing is raised for it after the function that is called at its end.
/// What has happened is raised before, or told as dropped if a callback is running. Returns the
/// level with which the caller is to call that function, or `None` if calls of callbacks are under
/// way: the last of them calls it.
#[allow(clippy::missing_errors_doc, reason = "see `check`")]
pub fn close(handle: usize, function: FreedFn, data: UserData) -> Result<Option<TCbSafety>> {
    catch_up();
    let mut state = for_change()?;
    let key = decode(handle);
    let registration = registration(&mut state, handle)?;
    registration.end = Some(End { function, data });
    let data_for_lost = registration.data();
    state.lose_due(|due| due.to == key);
    let safety = match state.instances.is_empty() {
        true => LEVELS[0],
        false => LEVELS[RESTRICTED],
    };
    let call = Call::begin(&mut state, key, data_for_lost);
    drop(state);
    subscribe();
    let call = call.ok_or(Error::InvalidHandle)?;
    call.tell_lost();
    Ok(call.end().map(|_| safety))
}

/// The data of an event whose callback is running.
///
/// # Errors
/// `InvalidHandle`; so with [`timestamp`].
pub fn data(instance: usize) -> Result<Vec<Value>> {
    let state = state()?;
    let Instance(event) = state
        .instances
        .get(decode(instance))
        .ok_or(Error::InvalidHandle)?;
    Ok(elements(event.what))
}

/// When such an event happened.
#[allow(clippy::missing_errors_doc, reason = "see `data`")]
pub fn timestamp(instance: usize) -> Result<Count> {
    let state = state()?;
    let Instance(event) = state
        .instances
        .get(decode(instance))
        .ok_or(Error::InvalidHandle)?;
    Ok(event.at as Count)
}
