//! Sessions and handles of performance variables (MPI-5, 15.3.7).
//!
//! The library counts on and on; a handle remembers where the count stood when
//! it was started, so that what one handle does touches no other. Only the
//! highest level is forgotten when it is looked up, so it is looked up for all
//! handles at once.

use catena_base::slab::Key;
use catena_core::variables::{Pvar, Source};
use catena_core::{Process, observe};

use crate::catalog::catalog;
use crate::facts::Value;
use crate::handles::{PvarHandle, Session, look};
use crate::state::{State, decode, encode, state};
use crate::{Bind, Bound, Class, Error, Result};

/// Which handles of a session a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// One.
    One(usize),
}

impl State {
    fn session(&mut self, session: usize) -> Result<(Key, &mut Session)> {
        let key = decode(session);
        let session = self.sessions.get_mut(key).ok_or(Error::InvalidSession)?;
        Ok((key, session))
    }

    /// The handle, if it belongs to the session. What the library forgets when
    /// it is asked has been noted in all handles then.
    fn handle(&mut self, session: usize, handle: usize) -> Result<&mut PvarHandle> {
        let (session, _) = self.session(session)?;
        let key = decode(handle);
        match self.handles.get(key) {
            Some(found) if found.session == session => {}
            _ => return Err(Error::InvalidHandle),
        }
        let class = self.handles.get(key).map(|h| h.variable.class);
        if class == Some(Class::HighWatermark) {
            self.note_peaks();
        }
        self.handles.get_mut(key).ok_or(Error::InvalidHandle)
    }

    /// Asks for the highest levels since this was last done, and notes them in
    /// the handles that are running.
    fn note_peaks(&mut self) {
        let Some(process) = observe() else { return };
        let takers = catalog()
            .pvars
            .iter()
            .filter_map(|variable| match variable.source {
                Source::Peak { take, .. } => Some((variable, take)),
                _ => None,
            });
        for (variable, take) in takers {
            self.note_peak(variable, take, &process);
        }
    }

    fn note_peak(&mut self, variable: &Pvar, take: fn(&Process) -> u64, process: &Process) {
        let peak = take(process);
        for (_, handle) in self.handles.iter_mut() {
            if handle.running && std::ptr::eq(handle.variable, variable) {
                handle.value = handle.value.max(peak);
            }
        }
    }

    /// Does something with one handle, or with all of a session that can.
    fn each(
        &mut self,
        session: usize,
        which: Which,
        skip: impl Fn(&PvarHandle) -> bool,
        refuse: Error,
        act: impl Fn(&mut PvarHandle) -> Result<()>,
    ) -> Result<()> {
        match which {
            Which::One(handle) => {
                let handle = self.handle(session, handle)?;
                if handle.is_continuous() {
                    return Err(refuse);
                }
                if skip(handle) { Ok(()) } else { act(handle) }
            }
            Which::All => {
                let keys = self.session(session)?.1.handles.clone();
                self.note_peaks();
                let mut done = Ok(());
                for key in keys {
                    if let Some(handle) = self.handles.get_mut(key)
                        && !handle.is_continuous()
                        && !skip(handle)
                    {
                        done = done.and(act(handle).map_err(|_| refuse));
                    }
                }
                done
            }
        }
    }
}

/// Makes a session.
///
/// # Errors
/// `NotInitialized`.
pub fn create() -> Result<usize> {
    Ok(encode(state()?.sessions.insert(Session::default())))
}

/// Whether there is such a session.
///
/// # Errors
/// `InvalidSession`.
pub fn check(session: usize) -> Result<()> {
    state()?.session(session).map(drop)
}

/// Ends a session and its handles.
///
/// # Errors
/// `InvalidSession`.
pub fn free(session: usize) -> Result<()> {
    let mut state = state()?;
    let gone = state.sessions.remove(decode(session));
    for key in gone.ok_or(Error::InvalidSession)?.handles {
        state.handles.remove(key);
    }
    Ok(())
}

/// Makes a handle for a variable, bound to an object if it must be.
///
/// # Errors
/// `InvalidSession`, `InvalidIndex`; `Invalid` if it must be bound and the object is not of its
/// kind.
pub fn open(session: usize, index: usize, bound: Option<Bound>) -> Result<usize> {
    let mut state = state()?;
    let (session, _) = state.session(session)?;
    let variable = catalog().pvars.get(index).ok_or(Error::InvalidIndex)?;
    let bound = match (variable.bind(), bound) {
        (Bind::Process, _) => None,
        (Bind::Object(kind), Some((of, _))) if kind == of => bound,
        _ => return Err(Error::Invalid),
    };
    look(variable, bound).map_err(|_| Error::Invalid)?;
    let key = state.handles.insert(PvarHandle {
        session,
        variable,
        bound,
        running: false,
        value: 0,
        base: 0,
    });
    if let Some(session) = state.sessions.get_mut(session) {
        session.handles.insert(key);
    }
    Ok(encode(key))
}

/// Frees a handle.
///
/// # Errors
/// `InvalidSession`, `InvalidHandle`; so with all that follow.
pub fn close(session: usize, handle: usize) -> Result<()> {
    let mut state = state()?;
    state.handle(session, handle)?;
    let key = decode(handle);
    state.handles.remove(key);
    state.session(session)?.1.handles.remove(&key);
    Ok(())
}

/// Starts variables that are stopped.
///
/// # Errors
/// `PvarNoStartStop` for one that is always active.
pub fn start(session: usize, which: Which) -> Result<()> {
    state()?.each(
        session,
        which,
        |h| h.running,
        Error::PvarNoStartStop,
        PvarHandle::start,
    )
}

/// Stops variables that are running.
///
/// # Errors
/// As [`start`].
pub fn stop(session: usize, which: Which) -> Result<()> {
    state()?.each(
        session,
        which,
        |h| !h.running,
        Error::PvarNoStartStop,
        PvarHandle::stop,
    )
}

/// Sets variables to their starting values.
///
/// # Errors
/// `PvarNoWrite` for one that can only be read.
pub fn reset(session: usize, which: Which) -> Result<()> {
    state()?.each(
        session,
        which,
        |_| false,
        Error::PvarNoWrite,
        PvarHandle::reset,
    )
}

/// The value.
#[allow(clippy::missing_errors_doc, reason = "see `close`")]
pub fn read(session: usize, handle: usize) -> Result<Value> {
    state()?.handle(session, handle)?.read()
}

/// The value; the variable is reset.
///
/// # Errors
/// `PvarNoAtomic` if that cannot be done at once.
pub fn read_reset(session: usize, handle: usize) -> Result<Value> {
    let mut state = state()?;
    let handle = state.handle(session, handle)?;
    if handle.is_continuous() {
        return Err(Error::PvarNoAtomic);
    }
    let value = handle.read()?;
    handle.reset()?;
    Ok(value)
}

/// The class of the variable, which tells how values lie in memory.
#[allow(clippy::missing_errors_doc, reason = "see `close`")]
pub fn class(session: usize, handle: usize) -> Result<Class> {
    Ok(state()?.handle(session, handle)?.variable.class)
}

/// Sets the value.
///
/// # Errors
/// `PvarNoWrite` if it can only be read, `Invalid` for a value of another type
/// or a negative one.
pub fn write(session: usize, handle: usize, value: Value) -> Result<()> {
    let mut state = state()?;
    let handle = state.handle(session, handle)?;
    if handle.is_continuous() {
        return Err(Error::PvarNoWrite);
    }
    match (handle.variable.class, value) {
        (Class::Timer, Value::Real(seconds)) if seconds >= 0.0 => {
            handle.set((seconds * 1e9) as u64)
        }
        (Class::Timer, _) => Err(Error::Invalid),
        (_, Value::Long(n)) => handle.set(n),
        _ => Err(Error::Invalid),
    }
}
