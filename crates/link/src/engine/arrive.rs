//! Messages and announcements in their turn: matched, or kept as unexpected.

use catena_base::PeerBytes;
use catena_fabric::{Header, Peer};

use super::{Engine, Target};
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
            .insert((key.context, key.source, header.seq), Target::Request(at));
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
        let assembly = (Context::of(header), header.source, header.seq);
        let (at, here) = (header.len, payload.len() as u64);
        match self.assemblies.get(&assembly) {
            None => false,
            Some(&Target::Request(index)) => {
                let placed = self.place_in(index, at, payload);
                if placed && !matches!(self.requests.get(index).phase, Phase::Recv(_)) {
                    self.assemblies.remove(&assembly);
                }
                placed
            }
            Some(&Target::Unexpected(index)) => {
                let entry = self.unexpected.entries.get_mut(index);
                if !entry.coverage.add(at, here, entry.len) {
                    return false;
                }
                payload.read(&mut entry.bytes_mut()[at as usize..]);
                if entry.is_whole() {
                    self.assemblies.remove(&assembly);
                }
                true
            }
        }
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
        if let Buffer::Sink(sink) = &mut request.buffer {
            sink.place_part(at, payload, whole);
        }
        if recv.step(RecvEvent::Placed { whole }) == Ok(RecvAction::Complete) {
            if rare.asked != 0 {
                let streamed = (rare.peer, rare.total, std::mem::take(&mut rare.asked));
                self.streamed.push(streamed);
                self.work = true;
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
            let assembly = (key.context, key.source, header.seq);
            self.assemblies.insert(assembly, Target::Unexpected(at));
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
        entry.reply = Reply::None;
        entry.reserve(&mut self.pool);
        let (key, seq, peer) = (entry.key(), entry.seq, entry.peer);
        let assembly = (key.context, key.source, seq);
        self.assemblies.insert(assembly, Target::Unexpected(index));
        let header = wire::with_number(kind::EAGER_CTS, 0, request.to_bits());
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
            return;
        }
        std::mem::swap(&mut request.rare.coverage, &mut entry.coverage);
        request.phase = Phase::Recv(Recv::Assembling);
        (
            request.rare.peer,
            request.rare.total,
            request.rare.header.seq,
        ) = (peer, len, seq);
        self.unexpected.entries.free_slot(from);
        if let Some(lost) = self.losses.get(&peer).cloned() {
            self.fail(at, &lost);
        } else {
            self.assemblies
                .insert((key.context, key.source, seq), Target::Request(at));
        }
    }

    /// Throws a kept message away, which is in no queue any more.
    pub fn discard(&mut self, from: u32) {
        let entry = self.unexpected.entries.get_mut(from);
        let (key, seq) = (entry.key(), entry.seq);
        entry.release(&mut self.pool);
        self.assemblies.remove(&(key.context, key.source, seq));
        self.unexpected.entries.free_slot(from);
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
