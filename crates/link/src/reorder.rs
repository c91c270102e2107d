//! Packets that cannot be handled yet: their communicator is not open here, or
//! an earlier packet is still on its way.

use std::collections::HashMap;
use std::ops::Range;

use catena_base::PeerBytes;
use catena_fabric::{Header, Peer};

use crate::types::Cid;
use crate::wire::is_sequenced;

#[derive(Debug)]
pub(crate) struct Packet {
    pub from: Peer,
    pub header: Header,
    pub payload: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct StreamKey {
    cid: Cid,
    source: u32,
    seq: u16,
}

#[derive(Debug, Default)]
pub(crate) struct ReorderBuffer {
    /// By communicator, in order of arrival.
    unopened: HashMap<Cid, Vec<Packet>>,
    ahead: HashMap<StreamKey, Vec<Packet>>,
}

fn packet(from: Peer, header: Header, payload: PeerBytes<'_>) -> Packet {
    Packet {
        from,
        header,
        payload: payload.to_vec().into_boxed_slice(),
    }
}

impl ReorderBuffer {
    /// Whether no packet waits for an earlier one.
    #[inline]
    pub fn is_nothing_ahead(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Keeps a packet until its communicator is opened.
    pub fn until_open(&mut self, cid: Cid, from: Peer, header: Header, payload: PeerBytes<'_>) {
        self.unopened
            .entry(cid)
            .or_default()
            .push(packet(from, header, payload));
    }

    /// Everything that waited for that communicator.
    pub fn opened(&mut self, cid: Cid) -> Vec<Packet> {
        if self.unopened.is_empty() {
            return Vec::new();
        }
        self.unopened.remove(&cid).unwrap_or_default()
    }

    /// Keeps a packet of a rank of a communicator until its turn; refuses a second sequenced packet
    /// with the same number.
    pub fn until_turn(
        &mut self,
        (cid, source): (Cid, u32),
        from: Peer,
        header: Header,
        payload: PeerBytes<'_>,
    ) -> bool {
        let seq = header.seq;
        let waiting = self
            .ahead
            .entry(StreamKey { cid, source, seq })
            .or_default();
        if is_sequenced(header.kind) && waiting.iter().any(|it| is_sequenced(it.header.kind)) {
            return false;
        }
        waiting.push(packet(from, header, payload));
        true
    }

    /// Takes the sequenced packet with that number.
    pub fn take_first(&mut self, cid: Cid, source: u32, seq: u16) -> Option<Packet> {
        let place = StreamKey { cid, source, seq };
        let waiting = self.ahead.get_mut(&place)?;
        let at = waiting.iter().position(|it| is_sequenced(it.header.kind))?;
        let first = waiting.swap_remove(at);
        if waiting.is_empty() {
            self.ahead.remove(&place);
        }
        Some(first)
    }

    /// Takes the fragments that waited for the packet with that number.
    pub fn take_rest(&mut self, cid: Cid, source: u32, seq: u16) -> Vec<Packet> {
        self.ahead
            .remove(&StreamKey { cid, source, seq })
            .unwrap_or_default()
    }

    /// Forgets what waited in a communicator, or for it; returns the packets.
    pub fn close(&mut self, cid: Cid) -> Vec<Packet> {
        let mut gone = self.opened(cid);
        self.ahead.retain(|place, waiting| {
            let keep = place.cid != cid;
            if !keep {
                gone.append(waiting);
            }
            keep
        });
        gone
    }

    /// Forgets what waited for an earlier packet of one rank of a communicator.
    pub fn forget_rank(&mut self, cid: Cid, source: u32) {
        self.ahead
            .retain(|place, _| (place.cid, place.source) != (cid, source));
    }

    /// Forgets what came from peers that are others from now on.
    pub fn forget_peers(&mut self, peers: &Range<u32>) {
        let stays = |packet: &Packet| !peers.contains(&packet.from.0);
        for waiting in self.unopened.values_mut() {
            waiting.retain(stays);
        }
        self.ahead.retain(|_, waiting| {
            waiting.retain(stays);
            !waiting.is_empty()
        });
    }
}
