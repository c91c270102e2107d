//! Whether processes of other jobs, with which this one shares memory, have ended: nothing comes of
//! them then, and no network tells it.

use std::time::Instant;

use catena_fabric::{Peer, PeerLost};
use catena_link::Awaited;
use catena_shm::Shm;

use crate::networks::PING_EVERY;

/// Polls to one look at the clock.
const CLOCK: u32 = 256;

/// When to look.
#[derive(Debug)]
pub(crate) struct Looks {
    next: Instant,
    polls: u32,
}

impl Looks {
    /// At once.
    pub fn new() -> Looks {
        Looks {
            next: Instant::now(),
            polls: 0,
        }
    }

    /// Whether it is time, before a sleep.
    pub fn are_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Whether it is time, after a poll: of these there may be many, so that not each asks for the
    /// time.
    pub fn are_due_after_poll(&mut self) -> bool {
        self.polls = self.polls.wrapping_add(1);
        self.polls.is_multiple_of(CLOCK) && self.are_due()
    }

    /// This is the look; the next one is due a second later. Gives those of other jobs that have
    /// ended, of whom this process waits for.
    pub fn look(
        &mut self,
        shm: Option<&Shm>,
        awaited: &Awaited,
        is_own: impl Fn(&Peer) -> bool,
    ) -> Vec<PeerLost> {
        self.next = Instant::now() + PING_EVERY;
        let others = awaited.named.iter().chain(&awaited.any);
        let others = others.filter(|peer| !is_own(peer));
        let gone = others.filter(|peer| shm.is_some_and(|shm| shm.has_left(**peer)));
        gone.map(|&peer| PeerLost {
            peer,
            cause: "it has ended".into(),
        })
        .collect()
    }
}
