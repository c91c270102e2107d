//! Short messages that are lent: their receivers read them where they lie, or their senders take
//! them back and send them. The claim of a message says who was quicker.
//!
//! The packets of one that is taken back are named by its number, as those of any eager message.
//! They leave before that number comes again: all are taken back where a quarter of all numbers
//! ends ([`window`](crate::engine)).

use catena_base::clock;
use catena_fabric::Peer;

use super::Endpoint;
use crate::engine::Engine;
use crate::key::MatchKey;
use crate::net::{Net, RemoteKeys, Source};
use crate::protocol::{Send, SendAction, SendEvent, Style};
use crate::request::Phase;
use crate::send_queue::Item;
use crate::types::{Cid, ReqId};
use crate::wire::{self, Note, kind};

/// A sender that has other work waits for a receiver at most so many times as long as one
/// that has not.
const LONGEST: u64 = 50;

/// Registers a short message for its receiver to read, and opens the claim on it, if that may be
/// better than to send it ahead.
pub(super) fn lend<N: Net>(
    net: &mut N,
    peer: Peer,
    id: ReqId,
    source: &N::Source,
    lends: impl FnOnce(&mut N) -> bool,
) -> Option<RemoteKeys> {
    let is_host = || source.run().is_some_and(|run| run.kind.is_host());
    if source.len() == 0 || !lends(net) || !is_host() {
        return None;
    }
    let registered = net.register(peer, source)?;
    if net.open_claim(id.to_bits()) {
        return Some(registered);
    }
    net.deregister(peer, registered);
    None
}

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// Takes back and sends what nobody has begun to read while this end had nothing else to do for
    /// a while, or for long, and lets senders go on whose messages nobody receives.
    pub(super) fn settle_lent(&mut self, moved: bool) -> bool {
        let mut moved = moved;
        while let Some((peer, request, first)) = self.engine.unwanted.pop() {
            moved = true;
            if self.net.take_claim(Some(peer), request.to_bits()) {
                self.engine.end_assembly(first);
                let header = wire::with_number(kind::FIN, 0, request.to_bits());
                self.control(peer, header, Note::Empty);
            }
        }
        if self.engine.lent.is_empty() {
            return moved;
        }
        let (now, patience) = (clock::ticks(), clock::ticks_in(self.net.patience()));
        if moved || self.engine.is_busy {
            self.engine.rests_since = now;
        }
        while let Some(&(id, since)) = self.engine.lent.front() {
            let waits = self.valid(id)
                && matches!(
                    self.engine.requests.get(id.index).phase,
                    Phase::Send(Send::Queued(Style::Lent) | Send::AwaitMatch)
                );
            let rests_since = since.max(self.engine.rests_since);
            let is_patient = now.saturating_sub(rests_since) < patience
                && now.saturating_sub(since) < patience.saturating_mul(LONGEST);
            if waits && is_patient {
                break;
            }
            self.engine.lent.pop_front();
            moved |= self.take_back(id);
        }
        moved
    }

    /// A sequenced packet is about to be sent to a rank of a communicator; the process. Where its
    /// number begins a quarter of all, nothing of the messages of the quarter before may be left
    /// out: their numbers come again, and none may name two messages.
    pub(super) fn begin_number(&mut self, cid: Cid, dest: u32) -> Peer {
        let peer_state = self.engine.comms[cid.index()].peer_states[dest as usize];
        if Engine::<N, K>::SEQS.is_mark(peer_state.send_seq) {
            while let Some((id, _)) = self.engine.lent.pop_front() {
                self.take_back(id);
            }
            if !self.net.caps(peer_state.peer).ordered {
                self.engine.mark(cid, dest);
            }
        }
        peer_state.peer
    }

    /// Takes a lent message back, unless its receiver was quicker, and sends it.
    pub(super) fn take_back(&mut self, id: ReqId) -> bool {
        let is_ours = self.net.take_claim(None, id.to_bits());
        if !is_ours || !self.valid(id) {
            return false;
        }
        let request = self.engine.requests.get_mut(id.index);
        let Phase::Send(send) = &mut request.phase else {
            return false;
        };
        let Ok(action) = send.step(request.len, SendEvent::TakenBack) else {
            return false;
        };
        let (peer, header) = (request.rare.peer, request.rare.header);
        self.engine.counters.taken_back += 1;
        if action == SendAction::Stream {
            self.engine.control(peer, Item::Send { id, header });
        }
        true
    }

    /// Whether a lent message is ours to read; else it comes in packets.
    pub(super) fn claim(&mut self, at: u32) -> bool {
        let rare = &mut self.engine.requests.get_mut(at).rare;
        let (peer, other) = (rare.peer, rare.other.to_bits());
        if !self.net.take_claim(Some(peer), other) {
            self.engine.taken_back(at);
            return false;
        }
        self.engine.requests.get_mut(at).rare.lent = false;
        let first = self.engine.lent_first(at);
        self.engine.end_assembly(first);
        true
    }
}
