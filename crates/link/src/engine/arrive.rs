//! Messages and announcements in their turn: matched, or kept as unexpected.

use catena_base::PeerBytes;
use catena_fabric::{Header, NEVER_LENT, Peer};

use super::Engine;
use super::assemblies::{First, Target};
use crate::counters::Traffic;
use crate::key::MatchKey;
use crate::matching::Reply;
use crate::net::{Net, RemoteKeys, Sink};
use crate::protocol::{Recv, RecvAction, RecvEvent};
use crate::request::{Buffer, Phase};
use crate::send_queue::Item;
use crate::slab::NIL;
use crate::types::{Plane, ReqId};
use crate::wire::{Announce, EAGER_CEILING, Note, SyncLen, SyncToken, kind, unseal};

/// The key of the message that a packet is the first of.
fn key<K: MatchKey>(from: Peer, header: &Header) -> K {
    let (context, source) = (K::context_of(header), K::source_of(header, from));
    K::new(context, source, K::tag_of(header))
}

/// What names the message that a packet is of.
fn first<K: MatchKey>(from: Peer, header: &Header) -> First {
    let (context, source) = (K::context_of(header), K::source_of(header, from));
    (context, source, header.seq)
}

impl<N: Net, K: MatchKey> Engine<N, K> {
    fn traffic(&mut self, key: K) -> &mut Traffic {
        &mut self.comms[key.context().index()].traffic
    }

    /// Takes the receive that a message matches, or `NIL`.
    fn match_posted(&mut self, key: K) -> u32 {
        let context = key.context();
        let comm = &self.comms[context.index()];
        if comm.wild[context.plane() as usize].is_empty() {
            self.posted.pop(&mut self.requests, key)
        } else {
            self.match_among_wild(key)
        }
    }

    /// The first packet of a message has come that may be lent.
    fn note_came(&mut self, from: Peer, len: u64, is_lent: bool) {
        self.came.push((from, len, is_lent));
        self.work = true;
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
        // A synchronous one is never lent.
        if header.len > NEVER_LENT && matches!(reply, Reply::None) {
            self.note_came(from, header.len, false);
        }
        let key = key(from, &header);
        self.traffic(key).received.eager(header.len);
        let at = self.match_posted(key);
        if at == NIL {
            self.keep(from, &header, payload, reply);
            return true;
        }
        self.note_match(at, key, header.len);
        if self.seal != 0 {
            self.check_seal(at, self.seal, key, header.len);
        }
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
            .begin(first::<K>(from, &header), Target::Request(at));
        true
    }

    /// The announcement of a message, which may be lent.
    pub fn on_rts(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let Some(Announce {
            request,
            registered,
        }) = Announce::decode(payload)
        else {
            return false;
        };
        let is_lent = header.kind == kind::LENT;
        if is_lent {
            if header.len > EAGER_CEILING {
                return false;
            }
            self.note_came(from, header.len, true);
        }
        let key = key(from, header);
        self.traffic(key).received.announced(header.len);
        let at = self.match_posted(key);
        if at == NIL {
            let reply = Reply::Data {
                request,
                registered,
                is_lent,
            };
            self.keep(from, header, PeerBytes::EMPTY, reply);
        } else {
            self.note_match(at, key, header.len);
            if self.seal != 0 {
                self.check_seal(at, self.seal, key, header.len);
            }
            self.begin_rendezvous(at, from, request, registered);
            if is_lent {
                self.assemblies
                    .begin(first::<K>(from, header), Target::Request(at));
                self.begin_lent(at, header.seq, header.len);
            }
        }
        true
    }

    /// A receive has matched a lent message of `len` bytes, with that number.
    fn begin_lent(&mut self, at: u32, seq: u16, len: u64) {
        let request = self.requests.get_mut(at);
        (request.rare.header.seq, request.rare.header.len) = (seq, len);
        request.rare.lent = true;
        if request.phase != Phase::Recv(Recv::Starting) {
            // It has failed already.
            let first = self.lent_first(at);
            self.end_assembly(first);
        }
    }

    /// What names the packets of the lent message that a receive has matched.
    pub fn lent_first(&self, at: u32) -> First {
        let request = self.requests.get(at);
        let key = request.link.key;
        (key.context(), key.source(), request.rare.header.seq)
    }

    /// A lent message that a receive has matched comes in packets: its sender has taken it back.
    pub fn taken_back(&mut self, at: u32) {
        let request = self.requests.get_mut(at);
        request.phase = Phase::Recv(Recv::Assembling);
        let rare = &mut request.rare;
        (rare.lent, rare.registered, rare.total) = (false, None, rare.header.len);
        rare.coverage.reset(0);
    }

    /// A fragment. While a receive gets the message from there, its communicator is open, and its
    /// first packet was handled.
    pub fn on_more(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) -> bool {
        let first = first::<K>(from, &header);
        match self.assemblies.target_mut(first) {
            Some(&mut Target::Request(at)) if self.requests.get(at).rare.peer == from => {
                self.place_in_assembled(first, at, header.len, payload)
            }
            _ => self.in_context(from, header, payload),
        }
    }

    /// A fragment whose first packet was handled.
    pub fn place_more(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        self.place(first::<K>(from, header), header.len, payload)
    }

    /// Places a fragment where the rest of its message goes.
    fn place(&mut self, first: First, at: u64, payload: PeerBytes<'_>) -> bool {
        let here = payload.len() as u64;
        let (placed, whole) = match self.assemblies.target_mut(first) {
            None => (false, false),
            Some(&mut Target::Request(index)) => {
                return self.place_in_assembled(first, index, at, payload);
            }
            Some(&mut Target::Unexpected(index)) => {
                let entry = self.unexpected.entries.get_mut(index);
                if let Reply::Data { .. } = entry.reply {
                    // It was lent, and is taken back.
                    entry.reply = Reply::None;
                    entry.reserve(&mut self.pool);
                }
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
            self.end_assembly(first);
        }
        placed
    }

    /// Places a fragment into the receive that gets its message, and forgets that with the last
    /// one.
    fn place_in_assembled(
        &mut self,
        first: First,
        index: u32,
        at: u64,
        payload: PeerBytes<'_>,
    ) -> bool {
        let placed = self.place_in(index, at, payload);
        if placed && !matches!(self.requests.get(index).phase, Phase::Recv(_)) {
            self.end_assembly(first);
        }
        placed
    }

    /// Places a fragment into a matched receive, and ends it with the last one.
    pub fn place_in(&mut self, index: u32, at: u64, payload: PeerBytes<'_>) -> bool {
        let request = self.requests.get(index);
        if request.rare.lent && request.phase == Phase::Recv(Recv::Starting) {
            self.taken_back(index);
        }
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
                self.note_compressed(index);
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

    fn keep(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>, reply: Reply) {
        let key: K = key(from, header);
        let context = key.context();
        let comm = &mut self.comms[context.index()];
        comm.traffic.unexpected += 1;
        self.control += u64::from(context.plane() == Plane::Control);
        if self.watch.on && context.plane() == Plane::User {
            self.watch.note(key, header.len);
        }
        let list = &mut comm.unexpected[context.plane() as usize];
        let at = self.unexpected.push(list, key);
        if self.seal != 0 {
            self.kept_seals.insert(at, self.seal);
        }
        let entry = self.unexpected.entries.get_mut(at);
        (entry.peer, entry.seq, entry.len, entry.reply) = (from, header.seq, header.len, reply);
        entry.coverage.reset(payload.len() as u64);
        if let Reply::Data { is_lent, .. } = reply {
            if is_lent {
                let first = first::<K>(from, header);
                self.assemblies.begin(first, Target::Unexpected(at));
            }
        } else {
            entry.reserve(&mut self.pool);
            payload.read(entry.bytes_mut());
            if !entry.is_whole() {
                let first = first::<K>(from, header);
                self.assemblies.begin(first, Target::Unexpected(at));
            }
        }
        let comm = &mut self.comms[key.context().index()];
        if comm.refuses && key.context().plane() == Plane::User {
            self.unexpected
                .unlink(&mut comm.unexpected[Plane::User as usize], at);
            self.discard(at);
        }
    }

    /// Gives a kept message, which is in no queue any more, to a receive.
    pub fn hand_over(&mut self, from: u32, at: u32) {
        let entry = self.unexpected.entries.get_mut(from);
        let (key, peer, seq, len, reply) =
            (entry.key(), entry.peer, entry.seq, entry.len, entry.reply);
        let whole = entry.is_whole();
        self.note_match(at, key, len);
        if !self.kept_seals.is_empty()
            && let Some(seal) = self.kept_seals.remove(&from)
        {
            self.check_seal(at, seal, key, len);
        }
        if let Reply::Data {
            request,
            registered,
            is_lent,
        } = reply
        {
            let first = self.unexpected.entries.get(from).first();
            self.unexpected.entries.free_slot(from);
            self.begin_rendezvous(at, peer, request, registered);
            if is_lent {
                if let Some(target) = self.assemblies.target_mut(first) {
                    *target = Target::Request(at);
                }
                self.begin_lent(at, seq, len);
            }
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
        let (first, peer, len) = (entry.first(), entry.peer, entry.len);
        std::mem::swap(&mut request.rare.coverage, &mut entry.coverage);
        request.phase = Phase::Recv(Recv::Assembling);
        (request.rare.peer, request.rare.total) = (peer, len);
        self.unexpected.entries.free_slot(from);
        if let Some(lost) = self.losses.get(&peer).cloned() {
            self.fail(at, &lost);
        } else if let Some(target) = self.assemblies.target_mut(first) {
            *target = Target::Request(at);
        }
    }

    /// Throws a kept message away, which is in no queue any more. What is missing of it may still
    /// come, under a name that has to be its own until then.
    pub fn discard(&mut self, from: u32) {
        if !self.kept_seals.is_empty() {
            self.kept_seals.remove(&from);
        }
        let entry = self.unexpected.entries.get_mut(from);
        let (first, peer, seq, reply) = (entry.first(), entry.peer, entry.seq, entry.reply);
        if let Some(target) = self.assemblies.target_mut(first) {
            let coverage = std::mem::take(&mut entry.coverage);
            *target = Target::Nobody(Box::new((entry.len, coverage)));
        }
        entry.release(&mut self.pool);
        self.unexpected.entries.free_slot(from);
        match reply {
            Reply::Data {
                request,
                is_lent: true,
                ..
            } => self.refuse_lent(peer, request, first),
            _ => self.tell_dropped(peer, seq, reply),
        }
    }

    /// A message for a communicator that is closed.
    #[cold]
    pub fn drop_late(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) {
        let mut header = *header;
        unseal(&mut header);
        let reply = match header.kind {
            kind::EAGER_SYNC => Reply::Ack(SyncLen::decode(header.len).token),
            kind::LENT => {
                let first = first::<K>(from, &header);
                if let Some(Announce { request, .. }) = Announce::decode(payload) {
                    self.refuse_lent(from, request, first);
                }
                return;
            }
            kind::RTS => match Announce::decode(payload) {
                Some(Announce { request, .. }) => Reply::Data {
                    request,
                    registered: None,
                    is_lent: false,
                },
                None => return,
            },
            _ => return,
        };
        self.tell_dropped(from, header.seq, reply);
    }

    /// Nobody receives a lent message: its sender may go on.
    fn refuse_lent(&mut self, from: Peer, request: ReqId, first: First) {
        self.unwanted.push((from, request, first));
        self.work = true;
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
        rare.lent = false;
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
