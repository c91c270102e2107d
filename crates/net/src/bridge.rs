//! The networks that join this process to another job, opened when the two connect.
//!
//! Networks join the processes of one space of numbers. For a pair of jobs that space is the
//! ranks of the job with the lower number, then those of the other; so both sides number the
//! processes alike, and the transports need not know that there are several jobs. Here the
//! numbers of the space become this process's peers and back.

use std::ops::Range;

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Header, LocalPeer, OpId, Peer, PeerLost, RmaError};

use crate::networks::Networks;

/// Where the processes of two jobs are in the space of numbers that they share.
///
/// # Examples
/// ```
/// use catena_fabric::Peer;
/// use catena_net::Pair;
///
/// // Rank 1 of the two of job 9 meets job 4, which has three processes.
/// let pair = Pair::new((9, 2), 1, (4, 3));
/// assert_eq!(pair.place().me, Peer(4));
/// assert_eq!((pair.other_rank(Peer(2)), pair.other_rank(Peer(3))), (Some(2), None));
/// assert_eq!(pair.own_rank(Peer(3)), Some(0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    place: LocalPeer,
    /// The number of this job's rank 0, and how many ranks it has.
    own: (u32, u32),
    /// Those of the other job.
    other: (u32, u32),
}

impl Pair {
    /// Process `rank` of `own` and another job, each by its random number and size.
    pub fn new(own: (u64, u32), rank: u32, other: (u64, u32)) -> Pair {
        let is_first = own.0 < other.0;
        let (own_first, other_first) = if is_first { (0, own.1) } else { (other.1, 0) };
        let (low, high) = (own.0.min(other.0), own.0.max(other.0));
        Pair {
            place: LocalPeer {
                me: Peer(own_first + rank),
                processes: own.1 + other.1,
                job: low ^ high.rotate_left(1),
            },
            own: (own_first, own.1),
            other: (other_first, other.1),
        }
    }

    /// Who opens the networks.
    pub fn place(&self) -> LocalPeer {
        self.place
    }

    /// The rank in the other job of a process by its number.
    pub fn other_rank(&self, number: Peer) -> Option<u32> {
        rank_in(self.other, number)
    }

    /// The rank in this process's own job of a process by its number.
    pub fn own_rank(&self, number: Peer) -> Option<u32> {
        rank_in(self.own, number)
    }
}

fn rank_in((first, size): (u32, u32), number: Peer) -> Option<u32> {
    let rank = number.0.checked_sub(first)?;
    (rank < size).then_some(rank)
}

/// The networks to one other job.
#[derive(Debug)]
pub(crate) struct Bridge {
    pub job: u64,
    /// The peers that its ranks are here.
    pub peers: Range<u32>,
    /// The number of its rank 0 in the space of the networks.
    first: u32,
    pub networks: Box<Networks>,
    /// Whether anything here leads to that job: else its processes may leave without a word.
    pub connected: bool,
    /// Whether what was sent there has arrived since this process has parted from that job: nothing
    /// that is sent later is missed.
    is_settled: bool,
}

impl Bridge {
    pub fn new(job: u64, peers: Range<u32>, pair: &Pair, networks: Box<Networks>) -> Bridge {
        Bridge {
            job,
            peers,
            first: pair.other.0,
            networks,
            connected: true,
            is_settled: false,
        }
    }

    /// This process is connected to that job or not, from now on.
    pub fn set_connected(&mut self, connected: bool) {
        self.connected = connected;
        self.is_settled &= !connected;
    }

    /// As [`Networks::is_delivered`].
    pub fn is_delivered(&mut self) -> bool {
        if self.is_settled {
            return self.networks.is_quiet();
        }
        let is_delivered = self.networks.is_delivered();
        self.is_settled = is_delivered && !self.connected;
        is_delivered
    }

    /// As [`Networks::keeps`].
    pub fn keeps(&mut self) -> bool {
        match self.is_settled {
            true => !self.networks.is_quiet(),
            false => self.networks.keeps(),
        }
    }

    /// The number of a peer of that job in the space of the networks.
    #[inline]
    pub fn number(&self, peer: Peer) -> Peer {
        Peer(peer.0 - self.peers.start + self.first)
    }

    /// The peer that has a number.
    #[inline]
    pub fn peer(&self, number: Peer) -> Option<Peer> {
        peer_of(self.first, &self.peers, number)
    }

    /// A loss as the networks tell it, of the peer that it is here.
    #[cold]
    pub fn lost(&self, lost: PeerLost) -> PeerLost {
        PeerLost {
            peer: self.peer(lost.peer).unwrap_or(Peer(self.peers.start)),
            ..lost
        }
    }

    /// As [`Networks::poll_beside`].
    pub fn poll_beside<D: Deliver>(&mut self, shm: bool, deliver: &mut D) -> usize {
        let mut across = Across {
            first: self.first,
            peers: self.peers.clone(),
            connected: self.connected,
            deliver,
        };
        self.networks.poll_beside(shm, &mut across)
    }
}

fn peer_of(first: u32, peers: &Range<u32>, number: Peer) -> Option<Peer> {
    let rank = rank_in((first, peers.len() as u32), number)?;
    Some(Peer(peers.start + rank))
}

/// Takes what comes from the other job. Processes of this process's own job, which the networks
/// could reach too, send nothing here.
struct Across<'a, D> {
    first: u32,
    peers: Range<u32>,
    connected: bool,
    deliver: &'a mut D,
}

impl<D> Across<'_, D> {
    #[inline]
    fn peer(&self, number: Peer) -> Option<Peer> {
        peer_of(self.first, &self.peers, number)
    }
}

impl<D: Deliver> Deliver for Across<'_, D> {
    #[inline]
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        if let Some(peer) = self.peer(from) {
            self.deliver.deliver(peer, header, payload);
        }
    }

    fn lost(&mut self, lost: PeerLost) {
        if let Some(peer) = self.peer(lost.peer).filter(|_| self.connected) {
            self.deliver.lost(PeerLost { peer, ..lost });
        }
    }

    fn ended(&mut self, lost: PeerLost) {
        if let Some(peer) = self.peer(lost.peer).filter(|_| self.connected) {
            self.deliver.ended(PeerLost { peer, ..lost });
        }
    }

    fn left(&mut self, end: PeerLost) {
        self.ended(end);
    }

    fn wanted(&mut self, by: Peer) {
        if let Some(peer) = self.peer(by) {
            self.deliver.wanted(peer);
        }
    }

    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        let result = result.map_err(|error| match error {
            RmaError::Lost(lost) => match self.peer(lost.peer) {
                Some(peer) => RmaError::Lost(PeerLost { peer, ..lost }),
                None => RmaError::Lost(lost),
            },
            other => other,
        });
        self.deliver.completed(op, result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_number_the_processes_alike() {
        let (low, high) = ((3, 2), (8, 4));
        for (own, other) in [(low, high), (high, low)] {
            for rank in 0..own.1 {
                let here = Pair::new(own, rank, other);
                assert_eq!(here.place().processes, 6);
                assert_eq!(here.own_rank(here.place().me), Some(rank));
                for far in 0..other.1 {
                    let there = Pair::new(other, far, own);
                    assert_eq!(there.place().job, here.place().job);
                    assert_eq!(here.other_rank(there.place().me), Some(far));
                    assert_eq!(there.other_rank(here.place().me), Some(rank));
                    assert_eq!(here.own_rank(there.place().me), None);
                }
            }
        }
        let other = Pair::new(low, 0, (9, 4));
        assert_ne!(other.place().job, Pair::new(low, 0, high).place().job);
    }
}
