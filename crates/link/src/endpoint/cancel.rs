//! `MPI_Cancel` (MPI-5.0 section 3.8.4).

use catena_fabric::{Header, Peer};

use super::Endpoint;
use crate::net::Net;
use crate::protocol::{SendAction, SendEvent};
use crate::request::Phase;
use crate::send_queue::Item;
use crate::types::{ANY_SOURCE, Cid, Failure, Plane, ReqId};
use crate::wire::{Note, kind};

impl<N: Net> Endpoint<N> {
    /// Cancels a request if nothing of it has happened at the receiver: a
    /// receive that is not matched, a send that has not left, or one that the
    /// receiver has not matched and whose sender still waits for it. The
    /// request completes in any case; [`Completion::cancelled`] tells which
    /// way.
    ///
    /// [`Completion::cancelled`]: crate::Completion::cancelled
    pub fn cancel(&mut self, id: ReqId) {
        debug_assert!(self.valid(id), "stale request {id:?}");
        let request = self.engine.requests.get_mut(id.index);
        match &mut request.phase {
            Phase::Posted => {
                self.engine.unpost(id.index);
                self.engine.cancelled(id.index);
            }
            Phase::Send(_) if request.rare.cancelling => {}
            Phase::Send(send) => match send.step(request.len, SendEvent::Cancel) {
                Ok(SendAction::CancelHere) => self.cancel_here(id),
                Ok(SendAction::AskReceiver) => self.ask_receiver(id),
                _ => {}
            },
            Phase::Free | Phase::Recv(_) | Phase::Done => {}
        }
        self.settle();
    }

    /// Revokes a communicator (`MPI_Comm_revoke`): but for what members tell each other about it
    /// ([`Plane::Control`](crate::Plane::Control)) nothing is sent or received on it any more. Receives that have not matched fail, and so do sends as [`Endpoint::cancel`] takes them
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
        let comm = self.engine.comms.get(cid.0 as usize);
        comm.is_some_and(|it| it.revoked)
    }

    /// Whether a peer is lost or a communicator was revoked, or it was [noted](Endpoint::note_trouble) that others know of
    /// such a thing.
    #[inline]
    pub fn is_troubled(&self) -> bool {
        self.engine.troubled
    }

    /// Others know of a loss of which this process has not been told yet: from now on it
    /// [is troubled](Endpoint::is_troubled).
    pub fn note_trouble(&mut self) {
        self.engine.troubled = true;
    }

    /// Whether that peer is lost.
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
            && request.selector().source == ANY_SOURCE
            && request.link.key.context.plane() == Plane::User
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

    /// The message has not left; an empty packet takes its place in the order.
    fn cancel_here(&mut self, id: ReqId) {
        let rare = &self.engine.requests.get(id.index).rare;
        let header = Header {
            kind: kind::SKIP,
            tag: 0,
            len: 0,
            ..rare.header
        };
        let skip = Item::Control {
            header,
            note: Note::Empty,
        };
        let replaced = self.engine.send_queues.replace_send(rare.peer, id, skip);
        debug_assert!(replaced, "a send that has not left is queued");
        self.engine.cancelled(id.index);
    }

    fn ask_receiver(&mut self, id: ReqId) {
        let request = self.engine.requests.get_mut(id.index);
        let (key, first, peer) = (request.link.key, request.rare.header, request.rare.peer);
        let Some(comm) = self.engine.comms.get_mut(key.context.index()) else {
            return;
        };
        let Some(peer_state) = comm.peer_states.get_mut(key.source as usize) else {
            return;
        };
        request.rare.cancelling = true;
        let header = Header {
            kind: kind::CANCEL_REQ,
            seq: peer_state.next_send(),
            tag: i32::from(first.seq),
            len: id.to_bits(),
            ..first
        };
        self.engine.control(
            peer,
            Item::Control {
                header,
                note: Note::Empty,
            },
        );
    }
}
