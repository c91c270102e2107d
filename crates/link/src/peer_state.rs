//! Communicators and peer_states: where a communicator's packets go and in which order
//! they are handled.

use catena_fabric::Peer;

use crate::counters::Traffic;
use crate::matching::{Arrivals, List};
use crate::types::{Context, Plane};

/// One direction pair between this process and one rank of a communicator.
/// All planes share it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerState {
    /// The process.
    pub peer: Peer,
    /// Its context for [`Plane::User`] of the communicator.
    pub remote: Context,
    /// Of the next sequenced packet to it.
    pub send_seq: u16,
    /// Of the next sequenced packet from it.
    pub recv_seq: u16,
    /// One more than the longest message that leaves in one eager packet; 0
    /// until the first send has asked the route.
    pub fast: u32,
}

const _: () = assert!(size_of::<PeerState>() == 16);

/// Where a sequenced packet stands relative to what was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Now,
    Early,
    Past,
}

impl PeerState {
    /// Sequence numbers wrap, so a packet may overtake, or be repeated after,
    /// up to 2^15 others.
    pub fn turn(&self, seq: u16) -> Turn {
        match seq.wrapping_sub(self.recv_seq) as i16 {
            0 => Turn::Now,
            1.. => Turn::Early,
            _ => Turn::Past,
        }
    }
}

/// A communicator as the engine sees it.
#[derive(Debug, Default)]
pub(crate) struct Comm {
    pub open: bool,
    /// Closed by its owner, kept until it is known that nothing is under way.
    pub closed: bool,
    /// Nothing is sent or received any more but on [`Plane::Control`].
    pub revoked: bool,
    /// Closed, with requests under way.
    pub draining: bool,
    /// Requests under way; kept up to date only while draining.
    pub pending: u32,
    /// This process's rank, as receivers know it.
    pub me: u32,
    pub peer_states: Vec<PeerState>,
    pub traffic: Traffic,
    /// Receives with a wildcard, per plane, in order of posting.
    pub wild: [List; Plane::ALL.len()],
    /// Messages that found no receive, per plane, in order of arrival.
    pub unexpected: [Arrivals; Plane::ALL.len()],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_survive_the_wrap() {
        let at = |recv_seq| PeerState {
            peer: Peer(0),
            remote: Context::default(),
            send_seq: 0,
            recv_seq,
            fast: 0,
        };
        assert_eq!(at(65535).turn(65535), Turn::Now);
        assert_eq!(at(65535).turn(0), Turn::Early);
        assert_eq!(at(0).turn(65535), Turn::Past);
        assert_eq!(at(10).turn(10 + 32767), Turn::Early);
        assert_eq!(at(10).turn(10 + 32768), Turn::Past);
    }
}
