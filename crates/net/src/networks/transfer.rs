//! Messages to peers, as [`Transport`](catena_fabric::Transport) has them: with the method of
//! the same name.

use catena_fabric::{Caps, Header, Load, Payload, Peer, PeerLost, Posted, Rendezvous};
use catena_link::RemoteKeys;

use super::receipts::Word;
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
                let member = &mut self.members[number as usize];
                match member.rails.try_send(peer, header, payload) {
                    Ok(Posted::Done) if member.counted => self.receipts.sent(peer, &header),
                    Ok(Posted::Done) => {}
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

    /// What a packet means that cannot be sent, as its peer is lost: nothing where that one has left, unless it begins a
    /// message, which nobody will ever receive.
    #[cold]
    fn not_sent(&mut self, lost: PeerLost, header: &Header) -> Result<Posted, PeerLost> {
        self.receipts.lose(lost.peer);
        if self.receipts.has_left(lost.peer) && catena_link::begins(header).is_none() {
            return Ok(Posted::Done);
        }
        Err(with_host(&*self.exchange, lost))
    }

    /// Sends a word of the networks' own, if that can be done now.
    pub(super) fn say(&mut self, word: Word) {
        match self.ways.via(word.to) {
            Via::Network(number) => {
                let rails = &mut self.members[number as usize].rails;
                match rails.try_send(word.to, word.header(), [].as_slice()) {
                    Ok(Posted::Done) => self.receipts.said(word),
                    Ok(Posted::Full) => self.receipts.refused(word),
                    Err(lost) => self.receipts.lose(lost.peer),
                }
            }
            // It is said once the way is known.
            Via::Unknown | Via::Wanted => self.ways.want(word.to),
            Via::Nowhere => self.receipts.lose(word.to),
        }
    }

    pub(crate) fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        match self.number(peer) {
            Some(number) => self.members[number].rails.rendezvous(peer, len, load),
            None => Rendezvous::Stream,
        }
    }

    pub(crate) fn register(&mut self, peer: Peer, addr: *mut u8, len: u64) -> Option<RemoteKeys> {
        let number = self.number(peer)?;
        self.members[number].rails.register(peer, addr, len)
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
