//! What requests that are under way wait for, for those who look at a process that hangs.

use catena_fabric::Peer;

use super::Endpoint;
use crate::engine::Engine;
use crate::key::MatchKey;
use crate::net::Net;
use crate::peer_state::Turn;
use crate::protocol::Send;
use crate::request::Phase;
use crate::slab::NIL;
use crate::types::{Cid, Context, Failure, ReqId};

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs<S, T> {
    /// A receive: a message that fits.
    Message {
        /// Where it was posted.
        context: Context,
        /// What it accepts.
        selector: S,
    },
    /// A send that is not over before it is received.
    Receive {
        /// Where it was made.
        context: Context,
        /// To whom.
        peer: Peer,
        /// Its tag.
        tag: T,
        /// Its length, bytes.
        bytes: u64,
        /// The receiver has thrown it away, and never receives it.
        is_dropped: bool,
    },
    /// The rest of a message that moves.
    Rest {
        /// Where that is.
        context: Context,
        /// Between this process and whom.
        peer: Peer,
        /// Its length, bytes.
        bytes: u64,
    },
}

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// What a request waits for; `None` if it is complete, or is none. Cost: small.
    pub fn needs(&self, id: ReqId) -> Option<Needs<K::Selector, K::Tag>> {
        if !self.is_under_way(id) {
            return None;
        }
        let request = self.engine.requests.get(id.index);
        let (key, peer, bytes) = (request.link.key, request.rare.peer, request.len);
        let context = key.context();
        Some(match request.phase {
            Phase::Free | Phase::Done => return None,
            Phase::Posted => Needs::Message {
                context,
                selector: key.selector(),
            },
            Phase::Send(Send::AwaitAck | Send::AwaitMatch) => Needs::Receive {
                context,
                peer,
                tag: key.tag(),
                bytes,
                is_dropped: request.rare.dropped,
            },
            Phase::Send(_) | Phase::Recv(_) => Needs::Rest {
                context,
                peer,
                bytes,
            },
        })
    }

    /// The number of the next packet to a rank of a communicator; `None` if that is not open. The
    /// receiver knows when it [has all before](Endpoint::has_all_before) it.
    pub fn next_to(&self, cid: Cid, rank: u32) -> Option<u16> {
        let comm = self.engine.comm(cid).filter(|it| it.open)?;
        Some(comm.peer_states.get(rank as usize)?.send_seq)
    }

    /// Whether all packets from a rank of a communicator before the one with that number were
    /// handled; that one may have been, too.
    pub fn has_all_before(&self, cid: Cid, rank: u32, number: u16) -> bool {
        let comm = self.engine.comm(cid).filter(|it| it.open);
        let peer_state = comm.and_then(|it| it.peer_states.get(rank as usize));
        let turn = peer_state.map(|it| Engine::<N, K>::SEQS.turn(it.recv_seq, number));
        matches!(turn, Some(Turn::Now | Turn::Past))
    }

    /// Ends a request, as what it waits for will never be done: a receive that nothing has matched,
    /// or a send whose message was thrown away.
    pub fn end_in_vain(&mut self, id: ReqId, failure: Failure<K::Tag>) {
        if !self.is_under_way(id) {
            return;
        }
        let request = self.engine.requests.get(id.index);
        match request.phase {
            Phase::Posted => self.engine.unpost(id.index),
            Phase::Send(_) if request.rare.dropped => {}
            _ => return,
        }
        self.engine.fail_with(id.index, failure);
        self.settle();
    }

    /// That rank of a communicator sends nothing any more, and all that it has sent is there: see
    /// [`Endpoint::seek`].
    pub fn note_end(&mut self, cid: Cid, rank: u32) {
        self.engine.finalized.insert((cid, rank));
    }

    /// The processes of a context, in the order of their ranks; those that have none are left out.
    pub fn peers_in(&self, context: Context) -> impl Iterator<Item = Peer> + '_ {
        let members = self.engine.peer_states(context).iter();
        members.map(|it| it.peer).filter(|it| it.0 != NIL)
    }

    /// The process that is a rank of a context.
    pub fn peer_in(&self, context: Context, rank: u32) -> Option<Peer> {
        let members = self.engine.peer_states(context);
        members.get(rank as usize).map(|it| it.peer)
    }
}
