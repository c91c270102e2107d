//! Communicators and peer_states: where a communicator's packets go and in which order
//! they are handled.

use catena_fabric::Peer;

use crate::counters::Traffic;
use crate::matching::{Arrivals, Wild};
use crate::types::{Cid, Context, Plane};

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

/// Sequence numbers of a width. They wrap; what keeps those apart that are in use is the *window*
/// (`engine/window.rs`): packets that have not been handled span less than half of all numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seqs {
    mask: u16,
    /// A quarter of all numbers.
    quarter: u16,
}

impl Seqs {
    /// The number of the first packet: no mark's, as few communicators see a second one.
    pub const FIRST: u16 = 1;

    /// Numbers of so many bits, 3 to 16.
    pub const fn of(bits: u32) -> Self {
        assert!(3 <= bits && bits <= 16);
        Seqs {
            mask: u16::MAX >> (16 - bits),
            quarter: 1 << (bits - 2),
        }
    }

    /// The number after that one.
    #[inline(always)]
    pub const fn after(self, seq: u16) -> u16 {
        seq.wrapping_add(1) & self.mask
    }

    /// The number before that one.
    pub const fn before(self, seq: u16) -> u16 {
        seq.wrapping_sub(1) & self.mask
    }

    /// Whether that number is a mark's where routes do not keep order: the first one of each
    /// quarter.
    #[inline(always)]
    pub const fn is_mark(self, seq: u16) -> bool {
        seq & (self.quarter - 1) == 0
    }

    /// Where a packet stands if `next` is handled next.
    pub const fn turn(self, next: u16, seq: u16) -> Turn {
        let ahead = seq.wrapping_sub(next) & self.mask;
        match ahead {
            0 if seq == next => Turn::Now,
            1.. if seq & !self.mask == 0 && ahead < 2 * self.quarter => Turn::Early,
            _ => Turn::Past,
        }
    }
}

/// A mark that is answered later: from whom, in which communicator, as which rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub from: Peer,
    pub cid: Cid,
    pub source: u32,
    pub seq: u16,
}

/// A communicator as the engine sees it.
#[derive(Debug)]
pub(crate) struct Comm {
    /// Whose slot it is; [`Cid::NONE`] while it is nobody's.
    pub cid: Cid,
    pub open: bool,
    /// Closed by its owner, kept until it is known that nothing is under way.
    pub closed: bool,
    /// Nothing is sent or received any more but on [`Plane::Control`].
    pub revoked: bool,
    /// Messages of the program that find no receive are thrown away.
    pub refuses: bool,
    /// Closed, with requests under way.
    pub draining: bool,
    /// Requests under way; kept up to date only while draining.
    pub pending: u32,
    /// This process's rank, as receivers know it.
    pub me: u32,
    pub peer_states: Vec<PeerState>,
    pub traffic: Traffic,
    /// Receives with a wildcard, per plane, in order of posting.
    pub wild: [Wild; Plane::ALL.len()],
    /// Messages that found no receive, per plane, in order of arrival.
    pub unexpected: [Arrivals; Plane::ALL.len()],
}

impl Default for Comm {
    fn default() -> Self {
        Comm {
            cid: Cid::NONE,
            open: false,
            closed: false,
            revoked: false,
            refuses: false,
            draining: false,
            pending: 0,
            me: 0,
            peer_states: Vec::new(),
            traffic: Traffic::default(),
            wild: Default::default(),
            unexpected: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_survive_the_wrap() {
        let all = Seqs::of(16);
        assert_eq!(all.turn(65535, 65535), Turn::Now);
        assert_eq!(all.turn(65535, 0), Turn::Early);
        assert_eq!(all.turn(0, 65535), Turn::Past);
        assert_eq!(all.turn(10, 10 + 32767), Turn::Early);
        assert_eq!(all.turn(10, 10 + 32768), Turn::Past);
    }

    #[test]
    fn narrow_numbers_wrap_sooner() {
        let few = Seqs::of(4);
        assert_eq!((few.after(15), few.before(0)), (0, 15));
        assert_eq!(few.turn(15, 0), Turn::Early);
        assert_eq!(few.turn(14, 5), Turn::Early);
        assert_eq!(few.turn(14, 6), Turn::Past);
        for none in [16, 16 + 3] {
            assert_eq!(few.turn(0, none), Turn::Past, "no such number");
        }
        let marks: Vec<u16> = (0..16).filter(|&seq| few.is_mark(seq)).collect();
        assert_eq!(marks, [0, 4, 8, 12]);
    }
}
