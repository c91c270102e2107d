//! Over which network each peer is reached, and whose records are wanted for
//! it.
//!
//! A peer's record is asked for when the peer is first needed: this process has
//! something for it, or has got something from it.

use std::collections::VecDeque;

use catena_fabric::Peer;

/// Over which network a peer is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Nobody has asked: the route is full.
    Unknown,
    /// Its record is awaited: the route is full.
    Wanted,
    /// The network of that number.
    Network(u8),
    /// No network leads to it.
    Nowhere,
}

/// How each peer of the job is reached.
#[derive(Debug)]
pub struct Ways {
    /// By process.
    via: Vec<Via>,
    /// The number that each peer gives to the network over which it is reached.
    there: Vec<u8>,
    /// The peers whose records are awaited.
    wanted: VecDeque<Peer>,
}

impl Ways {
    /// A table in which all peers are unknown.
    pub fn new(processes: u32) -> Ways {
        Ways {
            via: vec![Via::Unknown; processes as usize],
            there: vec![0; processes as usize],
            wanted: VecDeque::new(),
        }
    }

    /// Adds a peer, reached so.
    pub fn add(&mut self, peer: Peer, via: Via) {
        let numbers = self.via.len().max(peer.0 as usize + 1);
        self.via.resize(numbers, Via::Unknown);
        self.there.resize(numbers, 0);
        self.via[peer.0 as usize] = via;
    }

    /// Removes a peer: there is no way to it.
    pub fn remove(&mut self, peer: Peer) {
        self.via[peer.0 as usize] = Via::Nowhere;
        self.wanted.retain(|it| *it != peer);
    }

    /// How a peer is reached.
    #[inline]
    pub fn via(&self, peer: Peer) -> Via {
        self.via[peer.0 as usize]
    }

    /// The number that a peer which is reached gives to the network over which it is.
    #[inline]
    pub fn number_there(&self, peer: Peer) -> usize {
        self.there[peer.0 as usize].into()
    }

    /// Learns the number that a peer gives to the network over which it is reached.
    pub fn set_number_there(&mut self, peer: Peer, number: usize) {
        self.there[peer.0 as usize] = number as u8;
    }

    /// The peer is needed: if its way is unknown, its record is wanted.
    #[inline]
    pub fn want(&mut self, peer: Peer) {
        if self.via(peer) == Via::Unknown {
            self.via[peer.0 as usize] = Via::Wanted;
            self.wanted.push_back(peer);
        }
    }

    /// The peer is gone: unless its way is known, there is none, and its record is wanted no more;
    /// whether that is so.
    pub fn give_up(&mut self, peer: Peer) -> bool {
        let is_open = matches!(self.via(peer), Via::Network(_));
        if !is_open {
            self.via[peer.0 as usize] = Via::Nowhere;
            self.wanted.retain(|it| *it != peer);
        }
        !is_open
    }

    /// How many records are wanted.
    #[inline]
    pub fn wanted(&self) -> usize {
        self.wanted.len()
    }

    /// The peer whose record is to be asked for next, those asked for least
    /// recently first.
    pub fn next(&mut self) -> Option<Peer> {
        self.wanted
            .rotate_left(usize::from(!self.wanted.is_empty()));
        self.wanted.back().copied()
    }

    /// The way to the peer that [`Ways::next`] gave is known: its record is
    /// wanted no more.
    pub fn settle(&mut self, via: Via) {
        let peer = self.wanted.pop_back().expect("one was asked for");
        self.via[peer.0 as usize] = via;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_wanted_once_and_asked_for_in_turn() {
        let mut ways = Ways::new(5);
        assert_eq!((ways.next(), ways.wanted()), (None, 0));
        for rank in [3, 1, 3, 4] {
            ways.want(Peer(rank));
        }
        assert_eq!(ways.wanted(), 3);
        assert_eq!(
            [ways.via(Peer(3)), ways.via(Peer(2))],
            [Via::Wanted, Via::Unknown]
        );
        let asked: Vec<u32> = (0..4).filter_map(|_| ways.next()).map(|it| it.0).collect();
        assert_eq!(asked, [3, 1, 4, 3]);

        assert_eq!(ways.next(), Some(Peer(1)));
        ways.settle(Via::Network(1));
        assert_eq!(ways.next(), Some(Peer(4)));
        ways.settle(Via::Nowhere);
        ways.want(Peer(1));
        ways.want(Peer(4));
        assert_eq!((ways.wanted(), ways.next()), (1, Some(Peer(3))));
        assert_eq!(
            [1, 2, 3].map(|rank| ways.give_up(Peer(rank))),
            [false, true, true]
        );
        assert_eq!((ways.wanted(), ways.via(Peer(3))), (0, Via::Nowhere));
        ways.want(Peer(2));
        assert_eq!(ways.wanted(), 0);
        assert_eq!(
            [ways.via(Peer(1)), ways.via(Peer(4))],
            [Via::Network(1), Via::Nowhere]
        );
    }
}
