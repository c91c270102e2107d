//! Telling: who is told of an event, and the calls.
//!
//! [`keep`] decides, where nothing of who is told may have changed since the events happened.
//! [`tell`] makes the calls, outside of all locks. Each is counted in its registration while it is
//! under way, from under the lock under which it was chosen: so a registration that is freed
//! meanwhile ends with the last of them.

use std::ffi::c_int;
use std::sync::OnceLock;

use catena_abi::{Count, TCbSafety, TEventInstance, TEventRegistration};
use catena_base::slab::Key;
use catena_core::Process;
use catena_core::events::Event;
use catena_objects::callback::{DroppedFn, EventFn, FreedFn};

use crate::registration::{Due, End, Instance, LEVELS, RESTRICTED, Registration, UserData};
use crate::state::{State, encode, lock, state};

/// Index of the one source.
pub const SOURCE: usize = 0;

/// Most events that are due to one registration; more are lost. It is more than the library notes
/// at a time.
const KEPT: usize = 4096;

/// How functions of the program are called.
#[derive(Clone, Copy, Debug)]
pub struct Callers {
    /// Calls the callback of an event.
    pub event: fn(EventFn, TEventInstance, TEventRegistration, TCbSafety, UserData),
    /// Calls the handler for dropped events, of the given source.
    pub dropped: fn(DroppedFn, Count, TEventRegistration, c_int, TCbSafety, UserData),
    /// Calls the function for the end of a registration.
    pub freed: fn(FreedFn, TEventRegistration, TCbSafety, UserData),
}

static CALLERS: OnceLock<Callers> = OnceLock::new();

/// Says how functions of the program are called; once.
pub fn call_by(callers: Callers) {
    CALLERS.get_or_init(|| callers);
}

/// Decides who is to be told of what `core` noted, and that more was lost.
pub(crate) fn keep(process: &Process, noted: &[Event], lost: u64) {
    let Ok(mut state) = state() else { return };
    let State {
        registrations,
        due,
        short,
        ..
    } = &mut *state;
    for event in noted {
        for (key, registration) in registrations.iter_mut() {
            if !registration.wants(process, event) {
                continue;
            }
            match registration.callback() {
                Some((level, callback)) if registration.due < KEPT => {
                    registration.due += 1;
                    due.push_back(Due {
                        event: *event,
                        to: key,
                        level,
                        callback,
                    });
                }
                _ => registration.lose(1),
            }
        }
    }
    if lost > 0 {
        for (key, registration) in registrations.iter_mut() {
            if registration.has_callback() {
                registration.lose(lost);
                short.push(key);
            }
        }
    }
}

/// Tells what is due.
pub(crate) fn tell() {
    while let Some(call) = Call::next() {
        call.make();
    }
}

/// A call that is under way for a registration.
pub(crate) struct Call {
    key: Key,
    /// Events that were lost, to be told first, to whom.
    lost: u64,
    dropped: Option<DroppedFn>,
    data: UserData,
    /// What to tell then, to whom.
    event: Option<(Key, EventFn)>,
}

impl Call {
    /// Begins one that tells what was lost; `None` if there is no such registration.
    pub fn begin(state: &mut State, key: Key, data: UserData) -> Option<Call> {
        let registration = state.registrations.get_mut(key)?;
        registration.under_way += 1;
        Some(Call {
            key,
            lost: std::mem::take(&mut registration.lost),
            dropped: registration.dropped,
            data,
            event: None,
        })
    }

    /// Begins the next one that is due.
    fn next() -> Option<Call> {
        let mut state = state().ok()?;
        while let Some(due) = state.due.pop_front() {
            if let Some(mut call) = Call::begin(&mut state, due.to, due.callback.data) {
                if let Some(registration) = state.registrations.get_mut(due.to) {
                    registration.due -= 1;
                }
                let instance = state.instances.insert(Instance(due.event));
                call.event = Some((instance, due.callback.function));
                return Some(call);
            }
        }
        while let Some(key) = state.short.pop() {
            let registration = state.registrations.get(key).filter(|it| it.is_open());
            // Where no callback is fit for that now, it is told with the next event.
            if let Some((_, callback)) = registration.and_then(Registration::callback) {
                return Call::begin(&mut state, key, callback.data);
            }
        }
        None
    }

    /// Makes it.
    pub fn make(self) {
        self.tell_lost();
        let (callers, handle) = (CALLERS.get(), self.handle());
        if let (Some(callers), Some((instance, function))) = (callers, self.event) {
            let instance = TEventInstance(encode(instance));
            let safety = LEVELS[RESTRICTED];
            (callers.event)(function, instance, handle, safety, self.data);
        }
        if let (Some(end), Some(callers)) = (self.end(), callers) {
            (callers.freed)(end.function, handle, LEVELS[RESTRICTED], end.data);
        }
    }

    fn handle(&self) -> TEventRegistration {
        TEventRegistration(encode(self.key))
    }

    /// Tells what was lost, if anything was.
    pub fn tell_lost(&self) {
        if self.lost > 0
            && let (Some(callers), Some(dropped)) = (CALLERS.get(), self.dropped)
        {
            (callers.dropped)(
                dropped,
                Count::try_from(self.lost).unwrap_or(Count::MAX),
                self.handle(),
                SOURCE as c_int,
                LEVELS[RESTRICTED],
                self.data,
            );
        }
    }

    /// It is over. If it was the last one of a registration that was freed, that has ended: returns
    /// what to call.
    pub fn end(self) -> Option<End> {
        let mut state = lock();
        if let Some((instance, _)) = self.event {
            state.instances.remove(instance);
        }
        let registration = state.registrations.get_mut(self.key)?;
        registration.under_way -= 1;
        match registration.under_way {
            0 if !registration.is_open() => state.registrations.remove(self.key)?.end,
            _ => None,
        }
    }
}
