//! Packets that name a request, and cancellation. Each returns whether the
//! packet made sense.

use std::ops::Range;

use catena_base::PeerBytes;
use catena_compress::Codec;
use catena_fabric::{Header, Peer};

use super::Engine;
use crate::key::MatchKey;
use crate::matching::Reply;
use crate::net::Net;
use crate::protocol::{Recv, RecvAction, RecvEvent, Send, SendAction, SendEvent};
use crate::request::{Fate, Operation, Phase, Request, Share};
use crate::send_queue::Item;
use crate::slab::NIL;
use crate::types::{Failure, ReqId};
use crate::wire::{self, Note, Offer, SyncToken, Wanted, kind};

impl<N: Net, K: MatchKey> Engine<N, K> {
    /// The request that a packet names, if it is under way with that peer.
    fn named(&mut self, from: Peer, bits: u64) -> Option<(u32, &mut Request<N, K>)> {
        let ReqId { index, generation } = ReqId::from_bits(bits);
        if !self.requests.holds(index, generation) {
            return None;
        }
        let request = self.requests.get_mut(index);
        let under_way = matches!(request.phase, Phase::Send(_) | Phase::Recv(_));
        (under_way && !request.rare.ends && request.rare.peer == from).then_some((index, request))
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
        self.note_asked(index, true);
        self.counters.streamed.add(wanted.upto - wanted.from);
        let rare = &mut self.requests.get_mut(index).rare;
        rare.other = ReqId::from_bits(wire::number(header));
        // A number that is no codec's asks for none.
        rare.codec = u8::try_from(header.tag).ok().and_then(Codec::of);
        rare.in_vain = 0;
        // Else it is streamed when the operation on its buffer has ended.
        if !rare.operation.is_under_way() {
            rare.operation = Operation::None;
            self.send_queues.push_stream(from, self.id(index));
        }
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
        request.rare.came += payload.len() as u64;
        let placed = self.place_in(index, wire::number(header), payload);
        self.counters.asked.bytes += if placed { payload.len() as u64 } else { 0 };
        placed
    }

    /// A piece of a message that was asked for with a codec. One that is damaged ends the receive
    /// with an error.
    pub fn on_packed(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let Some((index, request)) = self.named(from, header.len) else {
            return false;
        };
        let rare = &mut request.rare;
        if request.phase != Phase::Recv(Recv::Streaming) || rare.codec.is_none() {
            return false;
        }
        rare.came += payload.len() as u64;
        let mut unpacking = std::mem::take(&mut self.unpacking);
        let placed = match unpacking.decode(payload) {
            Ok(piece) => {
                self.counters.asked.bytes += piece.len() as u64;
                self.place_in(index, wire::number(header), PeerBytes::from(piece))
            }
            Err(error) => {
                self.requests
                    .get_mut(index)
                    .set_failed(Failure::Damaged(error));
                self.complete(index);
                true
            }
        };
        self.unpacking = unpacking;
        placed
    }

    pub fn on_fin(&mut self, from: Peer, header: &Header) -> bool {
        let Some((index, _)) = self.named_send(from, header.len, SendEvent::Fin) else {
            return false;
        };
        let request = self.requests.get(index);
        let is_asked = request.phase == Phase::Send(Send::AwaitMatch);
        if is_asked && !matches!(request.rare.header.kind, kind::LENT | kind::SEALED_LENT) {
            self.note_asked(index, false);
        }
        self.counters.fetched.add(self.requests.get(index).len);
        self.complete_send(index);
        true
    }

    /// The receiver shares a message with us. One that came late is ignored:
    /// the receiver got on without us.
    pub fn on_share(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let Some(offer) = Offer::decode(payload).filter(|offer| offer.parts().is_some()) else {
            return false;
        };
        let event = SendEvent::Share { upto: offer.upto };
        let Some((index, action)) = self.named_send(from, header.len, event) else {
            return self.is_over(header.len);
        };
        if action == SendAction::Put {
            let rare = &mut self.requests.get_mut(index).rare;
            rare.other = ReqId::from_bits(wire::number(header));
            rare.share = Share {
                number: header.tag as u32,
                offer,
                ..Share::default()
            };
            self.puts.push_back(self.id(index));
            self.note_asked(index, false);
            self.work = true;
        }
        true
    }

    /// Whether a request that a packet names existed and is done.
    fn is_over(&self, bits: u64) -> bool {
        let ReqId { index, generation } = ReqId::from_bits(bits);
        index < self.requests.capacity()
            && (self.requests.generation(index) != generation
                || self.requests.get(index).phase == Phase::Done)
    }

    /// The sender has written a part of a shared message.
    pub fn on_put(&mut self, from: Peer, header: &Header) -> bool {
        let part = wire::number(header);
        let Some((index, request)) = self.named(from, header.len) else {
            return self.is_over(header.len);
        };
        if request.phase != Phase::Recv(Recv::Sharing) {
            // What it wrote is streamed, too.
            return request.phase == Phase::Recv(Recv::Streaming);
        }
        let Ok(part) = u32::try_from(part) else {
            return false;
        };
        let range = request.rare.share.offer.range(part);
        self.counters.put += range.end - range.start;
        self.place_part(index, range)
    }

    /// Bytes of a shared message are there. `false` if they were before.
    pub fn place_part(&mut self, index: u32, range: Range<u64>) -> bool {
        let request = self.requests.get_mut(index);
        let (Phase::Recv(recv), rare) = (&mut request.phase, &mut request.rare) else {
            return false;
        };
        let (at, len) = (range.start, range.end - range.start);
        if !rare.coverage.add(at, len, rare.total) {
            return false;
        }
        let whole = rare.coverage.is_whole(rare.total);
        if recv.step(RecvEvent::Placed { whole }) == Ok(RecvAction::CompleteAndFin) {
            let (peer, other) = (rare.peer, rare.other.to_bits());
            let header = wire::with_number(kind::FIN, 0, other);
            self.counters.got.messages += 1;
            self.note_moved(index, false);
            self.close_target(index);
            self.control(
                peer,
                Item::Control {
                    header,
                    note: Note::Empty,
                },
            );
            self.complete_when_quiet(index);
        }
        true
    }

    /// The sender of a shared message cannot write.
    pub fn on_refuse(&mut self, from: Peer, header: &Header) -> bool {
        let Some((index, request)) = self.named(from, header.len) else {
            return self.is_over(header.len);
        };
        if request.phase == Phase::Recv(Recv::Sharing) {
            request.rare.share.refused = true;
            self.gets.push_back(self.id(index));
            self.work = true;
        }
        true
    }

    pub fn on_ack(&mut self, from: Peer, header: &Header) -> bool {
        let Some(id) = self.named_by_token(header) else {
            return false;
        };
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
        let context = K::context_of(header);
        let Some(comm) = self.comms.get_mut(context.index()) else {
            return false;
        };
        let arrivals = &mut comm.unexpected[context.plane() as usize];
        let store = &mut self.unexpected;
        let like = K::new(context, K::source_of(header, from), K::Tag::default());
        let at = store.find_from(arrivals, like, |entry| {
            let same = match entry.reply {
                Reply::None => false,
                Reply::Ack(token) => SyncToken::of(id) == Some(token),
                // Who has lent one takes it back before it cancels.
                Reply::Data {
                    request, is_lent, ..
                } => request == id && !is_lent,
            };
            same && entry.seq == seq
        });
        if at != NIL {
            store.unlink(arrivals, at);
            self.discard(at);
        }
        true
    }

    /// Tells a sender, if it waits for the match of a message, that there is none any more.
    pub fn tell_dropped(&mut self, peer: Peer, seq: u16, reply: Reply) {
        let header = match reply {
            Reply::None => return,
            Reply::Data { request, .. } => wire::with_number(kind::DROPPED, 0, request.to_bits()),
            Reply::Ack(token) => Header {
                kind: kind::SYNC_DROPPED,
                seq,
                len: u64::from(token.0),
                ..Header::default()
            },
        };
        let note = Note::Empty;
        self.control(peer, Item::Control { header, note });
    }

    /// The receiver has thrown a message of ours away.
    pub fn on_dropped(&mut self, from: Peer, bits: u64) -> bool {
        let Some((index, request)) = self.named(from, bits) else {
            return false;
        };
        let waits = matches!(
            request.phase,
            Phase::Send(
                Send::AwaitAck
                    | Send::AwaitMatch
                    | Send::Flowing {
                        awaits_ack: true,
                        ..
                    }
            )
        );
        if waits {
            request.rare.dropped = true;
            self.end_dropped(index);
        }
        waits
    }

    pub fn on_sync_dropped(&mut self, from: Peer, header: &Header) -> bool {
        match self.named_by_token(header) {
            Some(id) => self.on_dropped(from, id.to_bits()),
            None => false,
        }
    }

    /// Ends a send whose message the receiver has dropped, if its user has cancelled it or given it
    /// up and all of it has left. Who has not may still do so.
    pub fn end_dropped(&mut self, at: u32) {
        let request = self.requests.get_mut(at);
        if !request.rare.cancelling && request.fate != Fate::Detached {
            return;
        }
        if let Phase::Send(send) = &mut request.phase
            && send.step(request.len, SendEvent::Dropped) == Ok(SendAction::CancelDone)
        {
            self.cancelled(at);
        }
    }

    /// The synchronous send that a packet names.
    fn named_by_token(&self, header: &Header) -> Option<ReqId> {
        let token = u32::try_from(header.len).map(SyncToken).ok()?;
        let index = token.index();
        if index >= self.requests.capacity() {
            return None;
        }
        let id = self.id(index);
        let is_it = SyncToken::of(id) == Some(token)
            && self.requests.get(index).rare.header.seq == header.seq;
        is_it.then_some(id)
    }

    /// Ends a request of which nothing was transferred.
    pub fn cancelled(&mut self, at: u32) {
        let revoked = self.is_revoked(self.requests.get(at).link.key.context());
        let request = self.requests.get_mut(at);
        match revoked {
            true => request.set_failed(Failure::Revoked),
            false => (request.cancelled, request.len) = (true, 0),
        }
        if matches!(request.phase, Phase::Send(_)) {
            self.complete_send(at);
        } else {
            self.complete(at);
        }
    }
}
