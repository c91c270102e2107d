//! What requests that are under way wait for, for those who look at a process that hangs.

use catena_fabric::Peer;

use super::Endpoint;
use crate::key::MatchKey;
use crate::net::Net;
use crate::protocol::Send;
use crate::request::Phase;
use crate::slab::NIL;
use crate::types::{Context, ReqId};

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
            },
            Phase::Send(_) | Phase::Recv(_) => Needs::Rest {
                context,
                peer,
                bytes,
            },
        })
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
