//! A peer as this process reaches it, and an attempt to.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::addr::{self, Interface};

/// Greetings that a peer may hang up on before it counts as a stranger.
pub(crate) const REFUSALS: u32 = 3;
/// Calls that end before they were heard, at least, before a peer counts as out of
/// reach.
pub(crate) const DROPS: u32 = 16;
/// The first pause before a call is made again; each is twice as long as the one
/// before, up to 128 of the first.
pub(crate) const PAUSE: Duration = Duration::from_millis(1);

/// A peer as this process reaches it.
#[derive(Debug, Default)]
pub(crate) struct Target {
    pub(crate) port: u16,
    /// Empty until the peer is known.
    pub(crate) addresses: Vec<IpAddr>,
    /// The connection that is sent over.
    pub(crate) link: Option<usize>,
    pub(crate) calling: Option<Box<Calling>>,
    /// When it closed its connection, and where it was.
    pub(crate) closed: Option<(Instant, IpAddr)>,
}

/// An attempt to reach a peer.
#[derive(Debug)]
pub(crate) struct Calling {
    /// Addresses that were not tried yet.
    pub(crate) rest: VecDeque<IpAddr>,
    pub(crate) at: IpAddr,
    /// The connection that is being made; none during a pause.
    pub(crate) link: Option<usize>,
    pub(crate) again: Again,
    /// What came of the addresses that were tried.
    pub(crate) tried: Vec<String>,
}

/// Calls at one address that were hung up on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    /// When the first one was made.
    pub(crate) begun: Instant,
    /// How many calls had been heard before.
    pub(crate) refused: u32,
    /// How many calls had not been heard.
    pub(crate) dropped: u32,
    /// When the next one is due.
    pub(crate) next: Instant,
}

impl Again {
    pub(crate) fn new(now: Instant) -> Again {
        Again {
            begun: now,
            refused: 0,
            dropped: 0,
            next: now,
        }
    }

    /// A call of this `age` was hung up on, which had been `heard` or not; whether
    /// another one is to be made. A host may be out of reach for `timeout`. If the call
    /// is older, it was this process that did not answer, as it was computing: that
    /// does not count.
    pub(crate) fn goes_on(
        &mut self,
        heard: bool,
        age: Duration,
        now: Instant,
        timeout: Duration,
    ) -> bool {
        if age > timeout {
            self.next = now;
            return true;
        }
        self.refused += u32::from(heard);
        self.dropped += u32::from(!heard);
        let doublings = (self.refused + self.dropped - 1).min(7);
        self.next = now + (PAUSE * (1 << doublings));
        let late = now.saturating_duration_since(self.begun) > timeout;
        self.refused < REFUSALS && (self.dropped < DROPS || !late)
    }
}

impl Target {
    /// Learns where it is.
    pub(crate) fn learn(&mut self, address: &[u8], ours: &[Interface]) -> Option<()> {
        let (port, all) = addr::decode(address)?;
        (self.port, self.addresses) = (port, addr::in_order(all, ours));
        Some(())
    }
}
