//! What a program wants to be told of.

use std::ffi::c_void;

use catena_abi::{Comm, TCbSafety};
use catena_core::Process;
use catena_core::events::{self, Event, What};
use catena_objects::callback::{DroppedFn, EventFn};

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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Callback {
    pub function: EventFn,
    pub data: UserData,
    /// When it was registered, in ticks: what happened before is none of its business.
    pub since: u64,
}

#[derive(Debug)]
pub(crate) struct Registration {
    pub kind: &'static EventType,
    pub comm: Option<Comm>,
    /// When it was made, in ticks.
    pub since: u64,
    /// By safety level.
    pub callbacks: [Option<Callback>; LEVELS.len()],
    pub dropped: Option<DroppedFn>,
    /// Events that could not be raised, if anybody wants to know.
    pub lost: u64,
}

impl Registration {
    /// The callback to call for what has happened at that time: the one of the lowest level that is enough.
    pub fn callback(&self, at: u64) -> Option<Callback> {
        let mut fit = self.callbacks[RESTRICTED..].iter().flatten();
        fit.find(|callback| callback.since <= at).copied()
    }

    pub fn wants(&self, process: &Process, event: &Event) -> bool {
        bit(event.what) == self.kind.bit
            && event.at >= self.since
            && self.comm.is_none_or(|comm| {
                let comm = process.comm_ref(comm).ok();
                comm.is_some_and(|comm| Some(comm.cid) == event.comm)
            })
    }

    /// Whether a callback of any level was there at that time.
    pub fn had_callback(&self, at: u64) -> bool {
        let mut all = self.callbacks.iter().flatten();
        all.any(|callback| callback.since <= at)
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
