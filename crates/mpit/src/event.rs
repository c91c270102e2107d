//! Events (MPI-5, 15.3.8): registrations of callbacks, and raising.
//!
//! There is one source, the process, and its events are in order. They are
//! raised from within calls of MPI, so that callbacks may use this interface
//! but not communicate: `MPI_T_CB_REQUIRE_MPI_RESTRICTED`. There are no hints.
//!
//! The standard lets a callback come later than its event, of which the time stamp tells. Here it comes at the latest
//! when the process next waits or polls, and before a call returns that changes who is told: a registration is made or freed, a
//! callback or a handler for dropped events is set or removed, the interface is finalised. So
//! an event reaches those callbacks that were registered when it happened, and no others; and whoever frees a
//! registration is told first of all that has happened, or, if that cannot be as a callback is running, how much of it is
//! dropped. Nothing is raised for it after the function that is called when it is freed.

use std::ffi::c_int;
use std::ptr;
use std::sync::OnceLock;

use catena_abi::{Comm, Count, TCbSafety, TEventInstance, TEventRegistration};
use catena_base::clock;
use catena_base::slab::Key;
use catena_core::events::{self, Event, What};
use catena_core::{Process, enter};
use catena_objects::callback::{DroppedFn, EventFn};

use crate::catalog::catalog;
use crate::facts::Value;
pub use crate::registration::UserData;
use crate::registration::{Callback, Instance, LEVELS, RESTRICTED, Registration};
use crate::state::{State, decode, encode, state};
use crate::{Bind, Error, Result};

/// Index of the one source.
pub const SOURCE: usize = 0;
/// Its name.
pub const SOURCE_NAME: &str = "process";
/// What it is.
pub const SOURCE_DOC: &str = "Everything that happens in this process.";

/// How functions of the program are called.
#[derive(Clone, Copy, Debug)]
pub struct Callers {
    /// Calls the callback of an event.
    pub event: fn(EventFn, TEventInstance, TEventRegistration, TCbSafety, UserData),
    /// Calls the handler for dropped events, of the given source.
    pub dropped: fn(DroppedFn, Count, TEventRegistration, c_int, TCbSafety, UserData),
}

static CALLERS: OnceLock<Callers> = OnceLock::new();

/// Says how functions of the program are called; once.
pub fn call_by(callers: Callers) {
    CALLERS.get_or_init(|| callers);
}

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
    found.ok_or(Error::InvalidHandle)
}

fn level(safety: TCbSafety) -> Result<usize> {
    let at = LEVELS.iter().position(|level| *level == safety);
    at.ok_or(Error::Invalid)
}

/// Tells `core` which events are wanted now.
pub(crate) fn subscribe() {
    let mut wanted = 0;
    if let Ok(state) = state() {
        for (_, r) in state.registrations.iter() {
            if r.callbacks.iter().any(Option::is_some) {
                wanted |= r.kind.bit;
            }
        }
    }
    events::want(wanted, raise);
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
    let mut state = state()?;
    let kind = catalog().events.get(index).ok_or(Error::InvalidIndex)?;
    let comm = match kind.bind {
        Bind::Process | Bind::File => None,
        Bind::Comm => Some(comm.ok_or(Error::Invalid)?),
    };
    if let Some(comm) = comm {
        let process = enter().map_err(|_| Error::Invalid)?;
        process.comm_ref(comm).map_err(|_| Error::Invalid)?;
    }
    Ok(encode(state.registrations.insert(Registration {
        kind,
        comm,
        since: clock::ticks(),
        callbacks: [None; LEVELS.len()],
        dropped: None,
        lost: 0,
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

/// Sets the callback for a safety level, or removes it.
///
/// # Errors
/// `Invalid` if there is no such level.
pub fn register(handle: usize, safety: TCbSafety, function: EventFn, data: UserData) -> Result<()> {
    catch_up();
    let mut state = state()?;
    let registration = registration(&mut state, handle)?;
    registration.callbacks[level(safety)?] = function.given().map(|function| Callback {
        function,
        data,
        since: clock::ticks(),
    });
    drop(state);
    subscribe();
    Ok(())
}

/// Sets the handler for dropped events, or removes it.
#[allow(clippy::missing_errors_doc, reason = "see `check`")]
pub fn on_dropped(handle: usize, function: DroppedFn) -> Result<()> {
    catch_up();
    let mut state = state()?;
    let registration = registration(&mut state, handle)?;
    (registration.dropped, registration.lost) = (function.given(), 0);
    Ok(())
}

/// Frees a registration: nothing is raised for it from now on. What has happened is raised before, or told as dropped if
/// a callback is running. Returns what the callback that is told of the end must be fit for.
#[allow(clippy::missing_errors_doc, reason = "see `check`")]
pub fn close(handle: usize) -> Result<TCbSafety> {
    catch_up();
    let process = enter().ok();
    let mut state = state()?;
    let gone = state.registrations.remove(decode(handle));
    let mut gone = gone.ok_or(Error::InvalidHandle)?;
    if let Some(process) = &process {
        let due = state.due.iter();
        let missed = due.filter(|it| gone.wants(process, it) && gone.had_callback(it.at));
        gone.lose(missed.count() as u64 + state.overflow);
    }
    let safety = match state.instances.is_empty() {
        true => LEVELS[0],
        false => LEVELS[RESTRICTED],
    };
    drop((state, process));
    subscribe();
    let callback = gone.callback(u64::MAX);
    if let Some(callers) = CALLERS.get() {
        Due {
            handle,
            lost: gone.lost,
            dropped: gone.dropped,
            data: callback.map_or(UserData::new(ptr::null_mut()), |it| it.data),
        }
        .tell_lost(callers);
    }
    Ok(safety)
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

/// What a registration is to be told.
struct Due {
    handle: usize,
    /// Events that were lost, to be told first, to whom.
    lost: u64,
    dropped: Option<DroppedFn>,
    data: UserData,
}

impl Due {
    /// What it is told before a callback is called.
    fn new(key: Key, registration: &mut Registration, callback: &Callback) -> Due {
        Due {
            handle: encode(key),
            lost: std::mem::take(&mut registration.lost),
            dropped: registration.dropped,
            data: callback.data,
        }
    }

    fn tell_lost(&self, callers: &Callers) {
        if self.lost > 0
            && let Some(dropped) = self.dropped
        {
            (callers.dropped)(
                dropped,
                Count::try_from(self.lost).unwrap_or(Count::MAX),
                TEventRegistration(self.handle),
                SOURCE as c_int,
                LEVELS[RESTRICTED],
                self.data,
            );
        }
    }
}

/// Raises what `core` noted.
fn raise(process: &Process, noted: &[Event], lost: u64) {
    let Some(callers) = CALLERS.get() else { return };
    // Those who free their registration meanwhile are told what they miss.
    if let Ok(mut state) = state() {
        state.due.extend(noted);
        state.overflow = lost;
    }
    while let Ok(mut state) = state()
        && let Some(event) = state.due.pop_front()
    {
        drop(state);
        raise_one(process, &event, callers);
    }
    if lost > 0 {
        let due: Vec<Due> = match state() {
            Ok(mut state) => {
                state.overflow = 0;
                let all = state.registrations.iter_mut();
                all.filter_map(|(key, r)| {
                    r.lose(lost);
                    let callback = r.callback(u64::MAX)?;
                    Some(Due::new(key, r, &callback))
                })
                .collect()
            }
            Err(_) => return,
        };
        due.iter().for_each(|due| due.tell_lost(callers));
    }
}

fn raise_one(process: &Process, event: &Event, callers: &Callers) {
    let Ok(mut state) = state() else { return };
    let all = state.registrations.iter_mut();
    let due: Vec<(Due, Callback)> = all
        .filter(|(_, r)| r.wants(process, event))
        .filter_map(|(key, r)| match r.callback(event.at) {
            Some(callback) => Some((Due::new(key, r, &callback), callback)),
            None => {
                if r.had_callback(event.at) {
                    r.lose(1);
                }
                None
            }
        })
        .collect();
    if due.is_empty() {
        return;
    }
    let instance = state.instances.insert(Instance(*event));
    drop(state);
    for (due, callback) in &due {
        // An earlier callback may have freed it.
        if check(due.handle).is_err() {
            continue;
        }
        due.tell_lost(callers);
        (callers.event)(
            callback.function,
            TEventInstance(encode(instance)),
            TEventRegistration(due.handle),
            LEVELS[RESTRICTED],
            callback.data,
        );
    }
    if let Ok(mut state) = crate::state::state() {
        state.instances.remove(instance);
    }
}
