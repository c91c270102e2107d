//! Messages to peers, as [`Transport`](catena_fabric::Transport) has them: with the method of
//! the same name.

use catena_fabric::{Caps, Header, Load, Payload, Peer, PeerLost, Posted, Rendezvous};
use catena_link::RemoteKeys;

use super::{Networks, with_host};
use crate::ways::Via;

/// What becomes of a packet to a process that has ended, which the next poll tells: a message waits for that, and
/// nobody misses an answer.
#[cold]
fn to_nobody(header: &Header) -> Posted {
    match catena_link::begins(header) {
        Some(_) => Posted::Full,
        None => Posted::Done,
    }
}

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
        let posted = match self.ways.via(peer) {
            Via::Network(number) => {
                let rails = &mut self.members[number as usize].rails;
                match rails.try_send(peer, header, payload) {
                    Ok(posted) => {
                        self.untold.talks(peer, number.into());
                        posted
                    }
                    Err(_) if self.may_end(peer) => return Ok(to_nobody(&header)),
                    Err(lost) => return Err(with_host(&*self.exchange, lost)),
                }
            }
            Via::Unknown | Via::Wanted => {
                self.ways.want(peer);
                return Ok(Posted::Full);
            }
            Via::Nowhere if self.may_end(peer) => return Ok(to_nobody(&header)),
            Via::Nowhere => return Err(self.lost(peer)),
        };
        if posted == Posted::Done {
            self.ways.has_talked(peer);
            if let Some(len) = catena_link::begins(&header) {
                self.sent.add(len);
            }
        }
        Ok(posted)
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
        if let Some(number) = self.number(peer) {
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
