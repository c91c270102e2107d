//! `MPI_Cancel` (MPI-5.0 section 3.8.4).

use catena_fabric::{Header, Peer};

use super::Endpoint;
use crate::engine::Engine;
use crate::key::MatchKey;
use crate::net::Net;
use crate::protocol::{SendAction, SendEvent};
use crate::request::Phase;
use crate::send_queue::Item;
use crate::types::{Cid, Failure, Plane, ReqId};
use crate::wire::{Note, kind};

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// Cancels a request if nothing of it has happened at the receiver: a
    /// receive that is not matched, a send that has not left, or one that the
    /// receiver has not matched and whose sender still waits for it. The
    /// request completes in any case; [`Completion::cancelled`] tells which
    /// way.
    ///
    /// [`Completion::cancelled`]: crate::Completion::cancelled
    pub fn cancel(&mut self, id: ReqId) {
        debug_assert!(self.valid(id), "stale request {id:?}");
        if self.engine.lent.iter().any(|(lent, _)| *lent == id) {
            // It is sent now; as of any short message, it is then too late to cancel it.
            self.take_back(id);
        }
        let request = self.engine.requests.get_mut(id.index);
        match &mut request.phase {
            Phase::Posted => {
                self.engine.unpost(id.index);
                self.engine.cancelled(id.index);
            }
            Phase::Send(_) if request.rare.cancelling => {}
            Phase::Send(send) => match send.step(request.len, SendEvent::Cancel) {
                // It has not left; when its turn comes, an empty packet does.
                Ok(SendAction::CancelHere) => self.engine.cancelled(id.index),
                Ok(SendAction::AskReceiver) if request.rare.dropped => {
                    request.rare.cancelling = true;
                    self.engine.end_dropped(id.index);
                }
                Ok(SendAction::AskReceiver) => self.ask_receiver(id),
                _ => {}
            },
            Phase::Free | Phase::Recv(_) | Phase::Done => {}
        }
        self.settle();
    }

    /// Revokes a communicator (`MPI_Comm_revoke`): but for what members tell each other about it
    /// ([`Plane::Control`](crate::Plane::Control)) nothing is sent or received on it any more.
    /// Receives that have not matched fail, and so do sends as [`Endpoint::cancel`] takes them
    /// back; what both ends are in the middle of goes on to its end, as the other end may be
    /// reading this one's memory. Local: nobody is told.
    pub fn revoke(&mut self, cid: Cid) {
        for at in self.engine.revoke(cid) {
            let id = self.engine.id(at);
            if self.valid(id) {
                self.cancel(id);
            }
        }
        self.settle();
    }

    /// Whether a communicator was revoked.
    pub fn is_revoked(&self, cid: Cid) -> bool {
        let comm = self.engine.comm(cid);
        comm.is_some_and(|it| it.revoked)
    }

    /// Whether a peer is lost or a communicator was revoked, or it was
    /// [noted](Endpoint::note_trouble) that others know of such a thing.
    #[inline]
    pub fn is_troubled(&self) -> bool {
        self.engine.troubled
    }

    /// Others know of a loss of which this process has not been told yet: from now on it
    /// [is troubled](Endpoint::is_troubled).
    pub fn note_trouble(&mut self) {
        self.engine.troubled = true;
    }

    /// Whether that peer is gone: it has died, or ended.
    pub fn is_lost(&self, peer: Peer) -> bool {
        self.engine.losses.contains_key(&peer)
    }

    /// From now on a receive from [`ANY_SOURCE`](crate::ANY_SOURCE) stays when a peer is lost:
    /// others may still send it something.
    pub fn tolerate(&mut self) {
        self.engine.tolerant = true;
    }

    /// Whether that request is a receive from [`ANY_SOURCE`](crate::ANY_SOURCE) of the program's
    /// that nothing has matched.
    pub fn is_open(&self, id: ReqId) -> bool {
        let request = self.engine.requests.get(id.index);
        request.phase == Phase::Posted
            && K::named(request.link.key.selector()).is_none()
            && request.link.key.context().plane() == Plane::User
    }

    /// Ends a receive that nothing has matched, with [`Failure::Interrupted`].
    ///
    /// [`Failure::Interrupted`]: crate::Failure::Interrupted
    pub fn interrupt(&mut self, id: ReqId) {
        if self.engine.requests.get(id.index).phase == Phase::Posted {
            self.engine.unpost(id.index);
            self.engine.fail_with(id.index, Failure::Interrupted);
        }
    }

    fn ask_receiver(&mut self, id: ReqId) {
        let request = self.engine.requests.get_mut(id.index);
        let (key, first, peer) = (request.link.key, request.rare.header, request.rare.peer);
        request.rare.cancelling = true;
        let (cid, dest) = (key.context().cid(), key.source());
        self.begin_number(cid, dest);
        let peer_state = &mut self.engine.comms[cid.index()].peer_states[dest as usize];
        let header = Header {
            kind: kind::CANCEL_REQ,
            seq: peer_state.send_seq,
            tag: i32::from(first.seq),
            len: id.to_bits(),
            ..first
        };
        peer_state.send_seq = Engine::<N, K>::SEQS.after(header.seq);
        let note = Note::Empty;
        let item = Item::Control { header, note };
        self.engine.push_sequenced(cid, dest, peer, item);
    }
}
