//! Callers that have not proven yet that they belong to the job, and whether there is time for
//! them.

use std::time::{Duration, Instant};

use catena_fabric::ProcessName;
use catena_proof::{Door, TAG};

use crate::socket::cpu_time;

/// Polls to one that asks for the time while packets arrive.
pub(crate) const LOOK_EVERY: u64 = 64;
/// After this many polls in which nothing has arrived there is time for strangers.
pub(crate) const QUIET: u64 = 20_000;

/// Time asleep counts this much less than processor time: to be woken for callers
/// costs about as much as they do.
pub(crate) const ASLEEP: u32 = 2;

/// A caller that was not added yet.
#[derive(Debug)]
pub(crate) struct Unmet {
    pub(crate) name: ProcessName,
    /// Its connection.
    pub(crate) at: usize,
    /// What it is told once it is added.
    pub(crate) welcome: [u8; TAG],
}

/// A connection to a process that was removed.
#[derive(Debug)]
pub(crate) struct Departing {
    pub(crate) at: usize,
    pub(crate) name: ProcessName,
    pub(crate) since: Instant,
}

/// The callers, and what else tells whether there is time for them.
#[derive(Debug, Default)]
pub(crate) struct Guests {
    pub(crate) door: Door<usize, ProcessName>,
    /// Packets that had arrived when this was last looked at and had changed, and
    /// the number of that poll.
    pub(crate) seen: (u64, u64),
    /// The first poll that may ask for the time again.
    pub(crate) ask: u64,
    /// Callers wait, and there was no time for them.
    pub(crate) shut: bool,
    /// The listening sockets wake nobody, as there is no time for callers.
    pub(crate) muted: bool,
    /// Time slept while they were mute, by [`ASLEEP`], and when the present sleep began.
    pub(crate) slept: Duration,
    pub(crate) asleep: Option<Instant>,
}

impl Guests {
    /// Whether packets arrive.
    pub(crate) fn is_busy(&mut self, received: u64, turn: u64) -> bool {
        if received != self.seen.0 {
            self.seen = (received, turn);
        }
        turn - self.seen.1 < QUIET
    }

    /// Whether there is time for another caller, although packets arrive.
    pub(crate) fn may_open(&mut self, turn: u64) -> bool {
        if turn < self.ask {
            return false;
        }
        let spent = self.spent();
        self.shut = !self.door.may_open(spent);
        if self.shut {
            self.ask = turn + LOOK_EVERY;
        }
        !self.shut
    }

    /// The time in which strangers are counted.
    pub(crate) fn spent(&mut self) -> Duration {
        if let Some(since) = self.asleep.take() {
            self.slept += since.elapsed() / ASLEEP;
        }
        cpu_time() + self.slept
    }
}
