//! Sending active messages.

use catena_fabric::{Payload, Peer, PeerLost, Posted};

use super::Endpoint;
use crate::active::{ActiveHeader, Class, Handler};
use crate::key::MatchKey;
use crate::net::Net;

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// Has `handler` take the active messages of a class from now on; gives back the one before.
    /// Packets of a class without a handler are dropped, so it is set before any peer may send
    /// some.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn set_handler(
        &mut self,
        class: Class,
        handler: Option<Box<dyn Handler>>,
    ) -> Option<Box<dyn Handler>> {
        self.engine.handlers.set(class, handler)
    }

    /// Longest payload of an active message to a peer, bytes.
    pub fn max_active(&self, peer: Peer) -> usize {
        self.net.caps(peer).max_packet
    }

    /// Posts an active message of at most [`Endpoint::max_active`] bytes, which are copied before
    /// return. If the route is full nothing is sent: call [`Endpoint::progress`], then post it
    /// again.
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone.
    pub fn try_post_active<P: Payload>(
        &mut self,
        peer: Peer,
        header: ActiveHeader,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        if let Some(lost) = self.engine.losses.get(&peer) {
            return Err(lost.clone());
        }
        let posted = self.net.try_send(peer, header.encode(), payload);
        if let Err(lost) = &posted {
            self.engine.peer_lost(lost.clone());
            self.settle();
        }
        posted
    }
}
