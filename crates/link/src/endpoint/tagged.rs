//! Matching without ranks: by a tag of 64 bits, of which receives may ignore some, and by the peer
//! itself.

use catena_fabric::{Peer, PeerLost};

use super::Endpoint;
use crate::net::Net;
use crate::slab::NIL;
use crate::tag_key::{TagKey, TagSelector};
use crate::types::{Cid, Envelope, MessageId, Mode, Plane, ReqId, Sent};

/// The only context.
const ALL: Cid = Cid(0);

impl<N: Net> Endpoint<N, TagKey> {
    /// An endpoint that knows no peers and matches by tags of 64 bits.
    pub fn tagged(net: N) -> Self {
        let mut endpoint = Endpoint::matching(net);
        endpoint.open(ALL, 0, Vec::new());
        endpoint
    }

    /// Opens another space of messages, which never match those of other ones: `send`, `recv` and
    /// their neighbours name it by `cid`, with which peers go by their numbers. All peers have the
    /// same spaces; those that are taken in later are in it, too.
    ///
    /// # Panics
    /// If that id is in use; 0 is that of [`Endpoint::send_tagged`].
    pub fn open_space(&mut self, cid: Cid) {
        self.open(cid, 0, Vec::new());
        let known: Vec<Peer> = self.members(ALL).map(|(peer, _)| peer).collect();
        for peer in known.into_iter().filter(|peer| peer.0 != NIL) {
            self.engine.add_member(cid, peer);
        }
    }

    /// Takes in a peer, with which messages may be exchanged from now on; nothing happens if it is
    /// known. To be called before the routes are polled that know it: what comes from it earlier is
    /// thrown away.
    pub fn add_peer(&mut self, peer: Peer) {
        for cid in self.engine.open_cids() {
            self.engine.add_member(cid, peer);
        }
    }

    /// Removes a peer; nothing happens if it is not known. To be called before the routes remove
    /// it. Sends to it and receives from it alone that are under way complete with
    /// [`Failure::Lost`](crate::Failure::Lost), once no operation uses their memory any more;
    /// receives from any peer go on. Messages of its that no receive has matched are thrown away.
    /// Its number may be [taken in](Endpoint::add_peer) again, for whichever process has it then.
    pub fn remove_peer(&mut self, peer: Peer) {
        if self.members(ALL).all(|(member, _)| member != peer) {
            return;
        }
        let cause = "it was removed".to_string();
        self.peer_ended(PeerLost { peer, cause });
        for cid in self.engine.open_cids() {
            self.engine.remove_member(cid, peer);
        }
    }

    /// Sends a message to a peer; see [`Endpoint::send`].
    ///
    /// # Panics
    /// If the peer was not [taken in](Endpoint::add_peer).
    pub fn send_tagged(&mut self, peer: Peer, tag: u64, mode: Mode, source: N::Source) -> Sent {
        self.send(ALL, Plane::User, peer.0, tag, mode, source)
    }

    /// Receives a message that `selector` accepts into `sink`; see [`Endpoint::recv`].
    pub fn recv_tagged(&mut self, selector: TagSelector, sink: N::Sink) -> ReqId {
        self.recv(ALL, Plane::User, selector, sink)
    }

    /// The message that such a receive would get now; see [`Endpoint::probe`].
    pub fn probe_tagged(&mut self, selector: TagSelector) -> Option<Envelope<u64>> {
        self.probe(ALL, Plane::User, selector)
    }

    /// As [`Endpoint::probe_tagged`], and takes the message out of the queues; see
    /// [`Endpoint::mprobe`].
    pub fn claim_tagged(&mut self, selector: TagSelector) -> Option<(MessageId, Envelope<u64>)> {
        self.mprobe(ALL, Plane::User, selector)
    }
}
