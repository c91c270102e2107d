//! Messages and announcements in their turn: matched, or kept as unexpected.

use catena_base::PeerBytes;
use catena_fabric::{Header, Peer};

use super::Engine;
use super::assemblies::{Assembly, FillId, Target};
use crate::counters::Traffic;
use crate::matching::{Key, Reply};
use crate::net::{Net, RemoteKeys, Sink};
use crate::protocol::{Recv, RecvAction, RecvEvent};
use crate::request::{Buffer, Phase};
use crate::send_queue::Item;
use crate::slab::NIL;
use crate::types::{Context, MessageId, Plane, ReqId};
use crate::wire::{self, Announce, EAGER_CEILING, Note, SyncLen, SyncToken, kind};

fn key(header: &Header) -> Key {
    Key {
        context: Context::of(header),
        source: header.source,
        tag: header.tag,
    }
}

impl<N: Net> Engine<N> {
    fn traffic(&mut self, key: Key) -> &mut Traffic {
        &mut self.comms[key.context.index()].traffic
    }

    /// Takes the receive that a message matches, or `NIL`.
    fn match_posted(&mut self, key: Key) -> u32 {
        let comm = &self.comms[key.context.index()];
        if comm.wild[key.context.plane() as usize].is_empty() {
            self.posted.pop(&mut self.requests, key)
        } else {
            self.match_among_wild(key)
        }
    }

    /// The first packet of an eager message.
    pub fn on_eager(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let mut header = *header;
        let mut reply = Reply::None;
        if header.kind == kind::EAGER_SYNC {
            let SyncLen { len, token } = SyncLen::decode(header.len);
            header.len = len;
            reply = Reply::Ack(token);
        }
        let here = payload.len() as u64;
        let fits = here == header.len || (0 < here && here < header.len);
        if !fits || header.len > EAGER_CEILING {
            return false;
        }
        let key = key(&header);
        self.traffic(key).received.eager(header.len);
        let at = self.match_posted(key);
        if at == NIL {
            self.keep(from, &header, payload, reply);
            return true;
        }
        self.note_match(at, key, header.len);
        if let Reply::Ack(token) = reply {
            self.ack(from, header.seq, token);
        }
        let request = self.requests.get_mut(at);
        if let Buffer::Sink(sink) = &mut request.buffer
            && here > 0
        {
            sink.place(0, payload);
        }
        if here == header.len {
            self.complete(at);
            return true;
        }
        request.phase = Phase::Recv(Recv::Assembling);
        request.rare.peer = from;
        request.rare.total = header.len;
        request.rare.header = header;
        request.rare.coverage.reset(here);
        self.assemblies
            .begin((key.context, key.source, header.seq), Target::Request(at));
        true
    }

    /// The announcement of a message: a long one, or an eager one whose sender
    /// asks whether a receive waits for it.
    pub fn on_rts(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let Some(Announce {
            request,
            registered,
        }) = Announce::decode(payload)
        else {
            return false;
        };
        let is_eager = header.kind == kind::EAGER_RTS;
        if is_eager && !(1..=EAGER_CEILING).contains(&header.len) {
            return false;
        }
        let key = key(header);
        self.traffic(key).received.announced(header.len);
        let at = self.match_posted(key);
        if at == NIL {
            let reply = Reply::Data {
                request,
                registered,
            };
            let index = self.keep(from, header, PeerBytes::EMPTY, reply);
            if is_eager {
                let generation = self.unexpected.entries.generation(index);
                self.eager_rts[0].push(MessageId { index, generation });
                self.work = true;
            }
        } else {
            self.note_match(at, key, header.len);
            self.begin_rendezvous(at, from, request, registered);
        }
        true
    }

    /// A fragment whose first packet was handled.
    pub fn place_more(&mut self, header: &Header, payload: PeerBytes<'_>) -> bool {
        let first = (Context::of(header), header.source, header.seq);
        self.place(Assembly::Sent(first), header.len, payload)
    }

    /// A fragment of a message that was asked for.
    pub fn on_fill(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let assembly = Assembly::Asked(FillId::from_bits(header.len));
        let sender = match self.assemblies.target(assembly) {
            Some(&Target::Request(index)) => self.requests.get(index).rare.peer,
            Some(&Target::Unexpected(index)) => self.unexpected.entries.get(index).peer,
            Some(Target::Nobody(_) | Target::None) | None => return false,
        };
        sender == from && self.place(assembly, wire::number(header), payload)
    }

    /// Places a fragment where the rest of its message goes.
    fn place(&mut self, assembly: Assembly, at: u64, payload: PeerBytes<'_>) -> bool {
        let here = payload.len() as u64;
        let (placed, whole) = match self.assemblies.target_mut(assembly) {
            None | Some(Target::None) => (false, false),
            Some(&mut Target::Request(index)) => {
                let placed = self.place_in(index, at, payload);
                let whole = !matches!(self.requests.get(index).phase, Phase::Recv(_));
                (placed, whole)
            }
            Some(&mut Target::Unexpected(index)) => {
                let entry = self.unexpected.entries.get_mut(index);
                let placed = entry.coverage.add(at, here, entry.len);
                if placed {
                    payload.read(&mut entry.bytes_mut()[at as usize..]);
                }
                (placed, entry.is_whole())
            }
            Some(Target::Nobody(rest)) => {
                let (len, coverage) = &mut **rest;
                (coverage.add(at, here, *len), coverage.is_whole(*len))
            }
        };
        if placed && whole {
            self.end_assembly(assembly);
        }
        placed
    }

    /// Places a fragment into a matched receive, and ends it with the last one.
    pub fn place_in(&mut self, index: u32, at: u64, payload: PeerBytes<'_>) -> bool {
        let request = self.requests.get_mut(index);
        let Phase::Recv(recv) = &mut request.phase else {
            return false;
        };
        let rare = &mut request.rare;
        if !matches!(recv, Recv::Assembling | Recv::Streaming)
            || !rare.coverage.add(at, payload.len() as u64, rare.total)
        {
            return false;
        }
        let whole = rare.coverage.is_whole(rare.total);
        let streamed = *recv == Recv::Streaming;
        if let Buffer::Sink(sink) = &mut request.buffer {
            sink.place_part(at, payload, whole);
        }
        if recv.step(RecvEvent::Placed { whole }) == Ok(RecvAction::Complete) {
            if streamed {
                self.note_moved(index, true);
            }
            self.complete(index);
        }
        true
    }

    /// Keeps a whole eager message that found no receive.
    #[inline(never)]
    pub fn keep_eager(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        self.keep(from, &header, payload, Reply::None);
    }

    fn keep(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>, reply: Reply) -> u32 {
        let key = key(header);
        let comm = &mut self.comms[key.context.index()];
        comm.traffic.unexpected += 1;
        self.control += u64::from(key.context.plane() == Plane::Control);
        if self.watch.on && key.context.plane() == Plane::User {
            self.watch.note(key, header.len);
        }
        let list = &mut comm.unexpected[key.context.plane() as usize];
        let at = self.unexpected.push(list, key);
        let entry = self.unexpected.entries.get_mut(at);
        (entry.peer, entry.seq, entry.len, entry.reply) = (from, header.seq, header.len, reply);
        entry.coverage.reset(payload.len() as u64);
        if matches!(reply, Reply::Data { .. }) {
            return at;
        }
        entry.reserve(&mut self.pool);
        payload.read(entry.bytes_mut());
        if !entry.is_whole() {
            let first = (key.context, key.source, header.seq);
            self.assemblies.begin(first, Target::Unexpected(at));
        }
        at
    }

    /// Lets a message come whose sender asked, unless a receive has taken it meanwhile.
    pub fn let_come(&mut self, MessageId { index, generation }: MessageId) {
        if !self.unexpected.entries.holds(index, generation) {
            return;
        }
        let entry = self.unexpected.entries.get_mut(index);
        let Reply::Data { request, .. } = entry.reply else {
            return;
        };
        let fill = self.assemblies.ask(Target::Unexpected(index));
        entry.reply = Reply::Fills(fill);
        entry.reserve(&mut self.pool);
        let peer = entry.peer;
        let header = wire::with_number(kind::EAGER_CTS, fill.to_bits(), request.to_bits());
        let note = Note::Empty;
        self.control(peer, Item::Control { header, note });
    }

    /// Gives a kept message, which is in no queue any more, to a receive.
    pub fn hand_over(&mut self, from: u32, at: u32) {
        let entry = self.unexpected.entries.get_mut(from);
        let (key, peer, seq, len, reply) =
            (entry.key(), entry.peer, entry.seq, entry.len, entry.reply);
        let whole = entry.is_whole();
        self.note_match(at, key, len);
        if let Reply::Data {
            request,
            registered,
        } = reply
        {
            self.unexpected.entries.free_slot(from);
            self.begin_rendezvous(at, peer, request, registered);
            return;
        }
        if let Reply::Ack(token) = reply {
            self.ack(peer, seq, token);
        }
        let entry = self.unexpected.entries.get_mut(from);
        let request = self.requests.get_mut(at);
        if let Buffer::Sink(sink) = &mut request.buffer {
            for (start, end) in entry.coverage.ranges().filter(|(start, end)| start < end) {
                sink.place(
                    start,
                    PeerBytes::from(&entry.bytes()[start as usize..end as usize]),
                );
            }
        }
        entry.release(&mut self.pool);
        if whole {
            self.unexpected.entries.free_slot(from);
            self.complete(at);
        } else {
            self.hand_over_rest(from, at);
        }
    }

    /// Gives a kept message of which packets are missing to a receive, which has got the others.
    #[cold]
    #[inline(never)]
    fn hand_over_rest(&mut self, from: u32, at: u32) {
        let entry = self.unexpected.entries.get_mut(from);
        let request = self.requests.get_mut(at);
        let (assembly, peer, len) = (entry.assembly(), entry.peer, entry.len);
        std::mem::swap(&mut request.rare.coverage, &mut entry.coverage);
        request.phase = Phase::Recv(Recv::Assembling);
        (request.rare.peer, request.rare.total) = (peer, len);
        self.unexpected.entries.free_slot(from);
        if let Some(lost) = self.losses.get(&peer).cloned() {
            self.fail(at, &lost);
        } else if let Some(target) = self.assemblies.target_mut(assembly) {
            *target = Target::Request(at);
        }
    }

    /// Throws a kept message away, which is in no queue any more. What is missing of it may still
    /// come, under a name that has to be its own until then.
    pub fn discard(&mut self, from: u32) {
        let entry = self.unexpected.entries.get_mut(from);
        let (assembly, peer, seq, reply) = (entry.assembly(), entry.peer, entry.seq, entry.reply);
        if let Some(target) = self.assemblies.target_mut(assembly) {
            let coverage = std::mem::take(&mut entry.coverage);
            match assembly {
                Assembly::Sent(_) => *target = Target::Nobody(Box::new((entry.len, coverage))),
                Assembly::Asked(_) => self.assemblies.end(assembly),
            }
        }
        entry.release(&mut self.pool);
        self.unexpected.entries.free_slot(from);
        self.tell_dropped(peer, seq, reply);
    }

    /// A message for a communicator that is closed.
    #[cold]
    pub fn drop_late(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) {
        let reply = match header.kind {
            kind::EAGER_SYNC => Reply::Ack(SyncLen::decode(header.len).token),
            kind::RTS | kind::EAGER_RTS => match Announce::decode(payload) {
                Some(Announce { request, .. }) => Reply::Data {
                    request,
                    registered: None,
                },
                None => return,
            },
            _ => return,
        };
        self.tell_dropped(from, header.seq, reply);
    }

    fn begin_rendezvous(
        &mut self,
        at: u32,
        peer: Peer,
        other: ReqId,
        registered: Option<RemoteKeys>,
    ) {
        let request = self.requests.get_mut(at);
        request.phase = Phase::Recv(Recv::Starting);
        let rare = &mut request.rare;
        (rare.peer, rare.other, rare.registered, rare.total) =
            (peer, other, registered, request.len);
        if let Some(lost) = self.losses.get(&peer).cloned() {
            self.fail(at, &lost);
            return;
        }
        self.starting.push(self.id(at));
        self.work = true;
    }

    fn ack(&mut self, peer: Peer, seq: u16, token: SyncToken) {
        let header = Header {
            kind: kind::ACK,
            seq,
            len: u64::from(token.0),
            ..Header::default()
        };
        self.control(
            peer,
            Item::Control {
                header,
                note: Note::Empty,
            },
        );
    }
}
