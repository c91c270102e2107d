//! Messages to peers, as [`Transport`](catena_fabric::Transport) has them: with the method of
//! the same name.

use catena_fabric::{Buf, Caps, Header, Load, Payload, Peer, PeerLost, Posted, Rendezvous};
use catena_link::RemoteKeys;

use super::{Networks, with_host};
use crate::ways::Via;

impl Networks {
    /// What the network to a peer can do; the least of all before it is known.
    pub(crate) fn caps(&self, peer: Peer) -> Caps {
        match self.ways.via(peer) {
            Via::Network(number) => self.members[number as usize].rails.caps(peer),
            _ => self.least,
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        match self.ways.via(peer) {
            Via::Network(number) => {
                let rails = &mut self.members[number as usize].rails;
                match rails.try_send(peer, header, payload) {
                    Ok(Posted::Done) => self.receipts.sent(peer, &header),
                    Ok(Posted::Full) => return Ok(Posted::Full),
                    Err(lost) => return self.not_sent(lost, &header),
                }
            }
            Via::Unknown | Via::Wanted => {
                self.ways.want(peer);
                return Ok(Posted::Full);
            }
            Via::Nowhere => return self.not_sent(self.lost(peer), &header),
        }
        if let Some(len) = catena_link::begins(&header) {
            self.sent.add(len);
        }
        Ok(Posted::Done)
    }

    /// What becomes of a packet that cannot be sent, as its peer is gone. Where that one has ended
    /// nobody misses an answer, and the next poll tells of it, for which a message waits.
    #[cold]
    fn not_sent(&mut self, lost: PeerLost, header: &Header) -> Result<Posted, PeerLost> {
        let lost = with_host(&*self.exchange, lost);
        self.receipts.lose(lost.peer);
        if !self.may_end(lost.peer) {
            return Err(lost);
        }
        if catena_link::begins(header).is_none() {
            return Ok(Posted::Done);
        }
        if self.ended.iter().all(|it| it.peer != lost.peer) {
            self.ended.push(lost);
        }
        Ok(Posted::Full)
    }

    pub(crate) fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        match self.number(peer) {
            Some(number) => self.members[number].rails.rendezvous(peer, len, load),
            None => Rendezvous::Stream,
        }
    }

    pub(crate) fn register(&mut self, peer: Peer, buf: Buf) -> Option<RemoteKeys> {
        let number = self.number(peer)?;
        self.members[number].rails.register(peer, buf)
    }

    pub(crate) fn deregister(&mut self, peer: Peer, registered: RemoteKeys) {
        // Also where the peer has turned out since to be nowhere.
        let only = (self.members.len() == 1).then_some(0);
        if let Some(number) = self.number(peer).or(only) {
            self.members[number].rails.deregister(registered);
        }
    }

    /// The network that leads to a peer, or will if any does.
    fn number(&self, peer: Peer) -> Option<usize> {
        match self.ways.via(peer) {
            Via::Network(number) => Some(number.into()),
            Via::Unknown | Via::Wanted if self.members.len() == 1 => Some(0),
            _ => None,
        }
    }

    #[cold]
    pub(super) fn lost(&self, peer: Peer) -> PeerLost {
        let cause = self.lost.get(&peer).cloned();
        PeerLost {
            peer,
            cause: cause.unwrap_or_else(|| "no network leads there".to_string()),
        }
    }
}
