//! Packets that name a request, and cancellation. Each returns whether the
//! packet made sense.

use catena_base::PeerBytes;
use catena_fabric::{Header, Peer};

use super::Engine;
use crate::matching::Reply;
use crate::net::Net;
use crate::outbox::Item;
use crate::protocol::{Recv, SendAction, SendEvent};
use crate::request::{Phase, Request};
use crate::slab::NIL;
use crate::types::ReqId;
use crate::wire::{self, SyncToken, Wanted, kind};

impl<N: Net> Engine<N> {
    /// The request that a packet names, if it is under way with that peer.
    fn named(&mut self, from: Peer, bits: u64) -> Option<(u32, &mut Request<N>)> {
        let ReqId { index, generation } = ReqId::from_bits(bits);
        if !self.requests.holds(index, generation) {
            return None;
        }
        let request = self.requests.get_mut(index);
        let under_way = matches!(request.phase, Phase::Send(_) | Phase::Recv(_));
        (under_way && request.rare.peer == from).then_some((index, request))
    }

    fn named_send(&mut self, from: Peer, bits: u64, event: SendEvent) -> Option<(u32, SendAction)> {
        let (index, request) = self.named(from, bits)?;
        let Phase::Send(send) = &mut request.phase else {
            return None;
        };
        let action = send.step(request.len, event).ok()?;
        Some((index, action))
    }

    pub fn on_cts(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let Some(wanted) = Wanted::decode(payload) else {
            return false;
        };
        let Some((index, action)) = self.named_send(from, header.len, SendEvent::Cts(wanted))
        else {
            return false;
        };
        debug_assert_eq!(action, SendAction::Stream);
        self.counters.streamed.add(wanted.upto - wanted.from);
        self.requests.get_mut(index).rare.other = ReqId::from_bits(wire::number(header));
        self.outbox.push_stream(from, self.id(index));
        self.work = true;
        true
    }

    pub fn on_data(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let Some((index, request)) = self.named(from, header.len) else {
            return false;
        };
        if request.phase != Phase::Recv(Recv::Streaming) {
            return false;
        }
        let placed = self.place_in(index, wire::number(header), payload);
        self.counters.asked.bytes += if placed { payload.len() as u64 } else { 0 };
        placed
    }

    pub fn on_fin(&mut self, from: Peer, header: &Header) -> bool {
        let Some((index, _)) = self.named_send(from, header.len, SendEvent::Fin) else {
            return false;
        };
        self.counters.fetched.add(self.requests.get(index).len);
        self.complete_send(index);
        true
    }

    pub fn on_ack(&mut self, from: Peer, header: &Header) -> bool {
        let Ok(token) = u32::try_from(header.len).map(SyncToken) else {
            return false;
        };
        let index = token.index();
        if index >= self.requests.capacity() {
            return false;
        }
        let id = self.id(index);
        if SyncToken::of(id) != Some(token)
            || self.requests.get(index).rare.header.seq != header.seq
        {
            return false;
        }
        match self.named_send(from, id.to_bits(), SendEvent::Ack) {
            Some((index, SendAction::Complete)) => {
                self.complete_send(index);
                true
            }
            other => other.is_some(),
        }
    }

    /// A sender takes its message back, if no receive has matched it. It gets
    /// an answer only then; otherwise it hears of the match anyway.
    pub fn on_cancel_request(&mut self, from: Peer, header: &Header) -> bool {
        let id = ReqId::from_bits(header.len);
        let seq = header.tag as u16;
        let context = &mut self.contexts[(header.context >> 1) as usize];
        let arrivals = &mut context.unexpected[(header.context & 1) as usize];
        let store = &mut self.unexpected;
        let at = store.find_from(arrivals, header.context, header.source, |entry| {
            let same = match entry.reply {
                Reply::None => false,
                Reply::Ack(token) => SyncToken::of(id) == Some(token),
                Reply::Data { request, .. } => request == id,
            };
            same && entry.seq == seq
        });
        if at != NIL {
            store.unlink(arrivals, at);
            self.discard(at);
            let header = wire::with_number(kind::CANCEL_REPLY, 0, header.len);
            self.control(
                from,
                Item::Control {
                    header,
                    payload: None,
                },
            );
        }
        true
    }

    pub fn on_cancel_reply(&mut self, from: Peer, header: &Header) -> bool {
        let asked = self
            .named(from, header.len)
            .is_some_and(|(_, it)| it.rare.cancelling);
        if !asked {
            return false;
        }
        let Some((index, action)) = self.named_send(from, header.len, SendEvent::CancelGranted)
        else {
            return false;
        };
        debug_assert_eq!(action, SendAction::CancelDone);
        self.cancelled(index);
        true
    }

    /// Ends a request of which nothing was transferred.
    pub fn cancelled(&mut self, at: u32) {
        let request = self.requests.get_mut(at);
        request.cancelled = true;
        request.len = 0;
        if matches!(request.phase, Phase::Send(_)) {
            self.complete_send(at);
        } else {
            self.complete(at);
        }
    }
}
