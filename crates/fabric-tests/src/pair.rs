//! Two ends of a transport, and what is claimed of the route between them.

use catena_fabric::{Peer, Transport};

/// Whether a route does something, as the test that makes a [`Pair`] declares: what is
/// declared must work, and what is not must not be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It is not offered.
    Never,
    /// It may be refused at any time, as a simulated fault, but not always.
    Flaky,
    /// It is never refused.
    Always,
}

/// What a route does besides carrying packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Reads of the peer's memory, [`Rma::get`](catena_fabric::Rma::get).
    pub reads: Offer,
    /// Writes to the peer's memory, [`Rma::put`](catena_fabric::Rma::put).
    pub writes: Offer,
    /// Whether there are atomics of some kind, [`Rma::atomic`](catena_fabric::Rma::atomic).
    pub atomics: bool,
    /// Messages that both ends copy, [`NodeLocal::take_part`](catena_fabric::NodeLocal::take_part).
    pub parts: bool,
    /// Operations fail whose keys, places or kinds of access are not those of a registration.
    pub keys_are_checked: bool,
}

impl Claims {
    /// Packets alone.
    pub const NONE: Claims = Claims {
        reads: Offer::Never,
        writes: Offer::Never,
        atomics: false,
        parts: false,
        keys_are_checked: true,
    };
    /// Packets, and remote reads and writes.
    pub const READS_AND_WRITES: Claims = Claims {
        reads: Offer::Always,
        writes: Offer::Always,
        ..Claims::NONE
    };
}

/// Two ends of one transport.
#[derive(Debug)]
pub struct Pair<T: Transport> {
    /// One end.
    pub a: T,
    /// The process at the end `a`.
    pub a_is: Peer,
    /// The other end.
    pub b: T,
    /// The process at the end `b`.
    pub b_is: Peer,
    /// What the route does besides carrying packets.
    pub claims: Claims,
    /// Ends process `b` and lets `a` notice.
    pub lose_b: fn(&mut T, T),
    /// Makes memory at an end that atomics work on; `None` if they work on all memory.
    pub window: fn(&mut T, usize) -> Option<*mut u8>,
}
