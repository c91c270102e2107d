//! What a program wants to be told of.

use std::ffi::c_void;
use std::ptr;

use catena_abi::{Comm, TCbSafety};
use catena_base::slab::Key;
use catena_core::Process;
use catena_core::events::{self, Event, What};
use catena_objects::callback::{DroppedFn, EventFn, FreedFn};

use crate::catalog::EventType;

/// The safety levels, lowest first.
pub(crate) const LEVELS: [TCbSafety; 4] = [
    TCbSafety::NONE,
    TCbSafety::MPI_RESTRICTED,
    TCbSafety::THREAD_SAFE,
    TCbSafety::ASYNC_SIGNAL_SAFE,
];
/// The least that a callback must be fit for.
pub(crate) const RESTRICTED: usize = 1;

/// Data for a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserData(usize);

impl UserData {
    /// The pointer that the program gave.
    pub fn new(data: *mut c_void) -> Self {
        UserData(data as usize)
    }

    /// That pointer.
    pub fn pointer(self) -> *mut c_void {
        self.0 as *mut c_void
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Callback {
    pub function: EventFn,
    pub data: UserData,
}

/// What is called when all is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub function: FreedFn,
    pub data: UserData,
}

/// An event that a callback is to be told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub event: Event,
    /// Whose callback it is, of which level.
    pub to: Key,
    pub level: usize,
    pub callback: Callback,
}

#[derive(Debug)]
pub(crate) struct Registration {
    pub kind: &'static EventType,
    pub comm: Option<Comm>,
    /// By safety level.
    pub callbacks: [Option<Callback>; LEVELS.len()],
    pub dropped: Option<DroppedFn>,
    /// Events that could not be raised, if anybody wants to know.
    pub lost: u64,
    /// How many events are due to be told.
    pub due: usize,
    /// Calls of its callbacks that are under way, in any threads, and that which frees it.
    pub under_way: u32,
    /// It was freed, and this is for the last call that is under way to call.
    pub end: Option<End>,
}

impl Registration {
    /// Whether it was not freed.
    pub fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// The callback to call, and its level: the lowest one that is enough.
    pub fn callback(&self) -> Option<(usize, Callback)> {
        let mut levels = self.callbacks.iter().enumerate().skip(RESTRICTED);
        levels.find_map(|(level, callback)| Some((level, (*callback)?)))
    }

    /// What the handler for dropped events is given: the data of the callback; null without one.
    pub fn data(&self) -> UserData {
        let callback = self.callback();
        callback.map_or(UserData::new(ptr::null_mut()), |(_, it)| it.data)
    }

    /// Whether it has a callback of any level.
    pub fn has_callback(&self) -> bool {
        self.is_open() && self.callbacks.iter().any(Option::is_some)
    }

    /// Whether an event that has happened since anything last changed is for a callback of this
    /// one.
    pub fn wants(&self, process: &Process, event: &Event) -> bool {
        bit(event.what) == self.kind.bit
            && self.has_callback()
            && self.comm.is_none_or(|comm| {
                let comm = process.comm_ref(comm).ok();
                comm.is_some_and(|comm| Some(comm.cid) == event.comm)
            })
    }

    pub fn lose(&mut self, events: u64) {
        if self.dropped.is_some() {
            self.lost = self.lost.saturating_add(events);
        }
    }
}

/// An event whose callback is running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance(pub Event);

fn bit(what: What) -> u32 {
    match what {
        What::Collective { what, .. } => events::COLLECTIVES << what as u32,
        What::Unexpected { .. } => events::UNEXPECTED,
        What::Slept(_) => events::SLEEPS,
    }
}
