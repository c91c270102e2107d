//! Moving what can move.

use catena_base::clock;
use catena_compress::Codec;
use catena_fabric::{Header, Load, Peer, Posted, Rendezvous};

use super::Endpoint;
use crate::compression::{Class, Stretch};
use crate::key::MatchKey;
use crate::net::{Net, Source};
use crate::protocol::{Recv, RecvAction, RecvEvent, Send, SendAction, SendEvent, Style};
use crate::request::{Buffer, Phase};
use crate::send_queue::Item;
use crate::types::{Cid, Plane, ReqId};
use crate::wire::{self, Announce, MIN_PACKET, Note, kind};

/// Bytes of streams to one peer per call of [`Endpoint::progress`]: polling
/// must not wait long for them.
const BUDGET: u64 = 1 << 20;

/// Bytes of a step of something that was started that takes longer than to wake somebody.
const SHORT_STEP: u64 = 4 << 10;

/// Requests that are noted before a look which of them are done.
const LEAST_NOTED: usize = 64;

/// Longest rest, from byte `at` on, of a message to a peer that is not cut: while the peer is
/// behind, or sends itself, nothing is gained by handing it a part early.
fn whole<N: Net>(net: &N, peer: Peer, at: u64) -> u64 {
    let caps = net.caps(peer);
    let whole = match at {
        0 if net.is_behind(peer) => caps.max_packet,
        0 => caps.whole,
        _ if net.sends(peer) => caps.max_packet,
        _ => 0,
    };
    whole as u64
}

/// Bytes of the packet that leaves next, of a message of `len` bytes of which those below `at`
/// have left. Long messages begin and end with short packets: the receiver
/// copies while the sender does, begins one packet later and ends one later.
fn piece(at: u64, len: u64, whole: u64, max_packet: usize) -> u64 {
    let (left, most) = (len - at, max_packet as u64);
    if left <= whole {
        return left;
    }
    let least = (most / 4).max(MIN_PACKET as u64).min(most);
    let share = (left / 2).next_multiple_of(64);
    share.min(at).clamp(least, most).min(left)
}

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// Polls all routes once and does what that has given rise to; a bounded
    /// amount. Returns whether anything moved.
    #[inline]
    pub fn progress(&mut self) -> bool {
        let polled = self.net.poll(&mut self.engine) != 0;
        if self.engine.work {
            self.work(polled)
        } else {
            polled
        }
    }

    #[inline(never)]
    pub(super) fn work(&mut self, polled: bool) -> bool {
        for (peer, moved) in self.engine.moved.drain(..) {
            self.net.moved(peer, moved);
        }
        for (peer, len, streamed) in self.engine.asked.drain(..) {
            self.net.asked(peer, len, streamed);
        }
        for (peer, len, is_lent) in self.engine.came.drain(..) {
            self.net.came(peer, len, is_lent);
        }
        let mut moved = polled | self.end_operations();
        moved |= self.settle_lent(moved);
        moved |= self.start();
        moved |= self.read();
        moved |= self.write();
        moved |= self.flush();
        self.call();
        self.settle_deregistrations();
        self.engine.work = !self.engine.starting.is_empty()
            || !self.engine.gets.is_empty()
            || !self.engine.left.is_empty()
            || !self.engine.puts.is_empty()
            || !self.engine.lent.is_empty()
            || !self.engine.send_queues.is_empty();
        self.engine.is_busy = moved;
        moved
    }

    /// Deregisters what nobody reads any more.
    pub(super) fn settle_deregistrations(&mut self) {
        for (peer, registered) in self.engine.deregistrations.drain(..) {
            self.net.deregister(peer, registered);
        }
    }

    pub(super) fn control(&mut self, peer: Peer, header: Header, note: Note) {
        if matches!(header.kind, kind::CTS | kind::REFUSE) {
            self.engine.calls.push(peer);
        }
        self.engine.control(peer, Item::Control { header, note });
    }

    /// The peer of a request has to go on with what the message is a step of, once it has what is
    /// queued for it.
    pub(super) fn call_for_step(&mut self, at: u32) {
        let request = self.engine.requests.get(at);
        if request.link.key.context().plane() != Plane::User {
            self.engine.calls.push(request.rare.peer);
        }
    }

    /// Calls those for whom something has left that they have to act on.
    fn call(&mut self) {
        let (net, queues) = (&self.net, &self.engine.send_queues);
        self.engine.calls.retain(|&peer| {
            let waits = !queues.has_no_items_for(peer);
            if !waits {
                net.call(peer, false);
            }
            waits
        });
    }

    /// Calls a rank of a communicator, which was sent `bytes` as the step of something that was
    /// started: for a short one it is not woken from a nap.
    pub fn call_rank(&self, cid: Cid, dest: u32, bytes: u64) {
        let peer = self.engine.comms[cid.index()].peer_states[dest as usize].peer;
        self.net.call(peer, bytes < SHORT_STEP);
    }

    /// Whether something may be to be done here. Cost: one load.
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        self.engine.work
    }

    /// Whether something is to be done here that nobody else has to do anything for.
    pub fn has_own_work(&self) -> bool {
        let engine = &self.engine;
        !(engine.starting.is_empty()
            && engine.gets.is_empty()
            && engine.left.is_empty()
            && engine.puts.is_empty()
            && engine.send_queues.is_empty())
    }

    /// A request may have to be acted on while the program computes. Cost: O(1), and now and then a
    /// look at all that were noted.
    pub fn note_unfinished(&mut self, id: ReqId) {
        if self.engine.unfinished.len() >= self.engine.most_unfinished {
            let mut all = std::mem::take(&mut self.engine.unfinished);
            all.retain(|&id| self.is_under_way(id));
            self.engine.most_unfinished = LEAST_NOTED.max(2 * all.len());
            self.engine.unfinished = all;
        }
        self.engine.unfinished.push(id);
    }

    /// How many are noted: those under way, and others that are done.
    pub fn noted_unfinished(&self) -> usize {
        self.engine.unfinished.len()
    }

    /// Whether any that was noted is under way between both ends: no receive that waits for its
    /// message. Cost: O(noted).
    pub fn is_announced(&self) -> bool {
        let mut noted = self.engine.unfinished.iter();
        noted.any(|&id| self.is_under_way(id) && !self.is_posted(id))
    }

    /// Whether any that was noted is under way.
    pub fn is_unfinished(&mut self) -> bool {
        while let Some(&id) = self.engine.unfinished.last() {
            if self.is_under_way(id) {
                return true;
            }
            self.engine.unfinished.pop();
        }
        false
    }

    /// Chooses the way of every newly matched announcement.
    fn start(&mut self) -> bool {
        let mut moved = false;
        while let Some(id) = self.engine.starting.pop() {
            let Some((upto, peer, readable)) = self.receiving(id, |recv| recv == Recv::Starting)
            else {
                continue;
            };
            moved = true;
            let rare = &mut self.engine.requests.get_mut(id.index).rare;
            rare.codec = None;
            if rare.lent {
                self.engine.gets.push_back(id);
                continue;
            }
            // What is to be read of this process, or waits for the route, keeps both ends as busy.
            let is_one_way =
                self.engine.registered < upto && self.engine.send_queues.has_no_items_for(peer);
            let load = match is_one_way {
                true => self
                    .engine
                    .requests
                    .get(id.index)
                    .link
                    .key
                    .context()
                    .plane()
                    .load(),
                false => Load::Exchange,
            };
            let is_elsewhere = self.is_elsewhere(id.index);
            let way = match readable {
                true if is_elsewhere => Rendezvous::Get,
                true => self.net.rendezvous(peer, upto, load),
                false => Rendezvous::Stream,
            };
            let has_choice = upto > 0 && way != Rendezvous::Stream && !is_elsewhere;
            self.engine.requests.get_mut(id.index).rare.asked = match has_choice {
                true => clock::ticks().max(1),
                false => 0,
            };
            let codec = self.choose_codec(id.index, upto);
            // What a sender that computes would have to stream is read.
            let may_stream = has_choice && !self.net.is_away(peer);
            let way = match may_stream && self.net.streams(peer, upto) {
                true => Rendezvous::Stream,
                false => way,
            };
            let event = match way {
                _ if upto == 0 => RecvEvent::WantNothing,
                _ if codec != Codec::Stored => RecvEvent::ChooseStream { upto },
                Rendezvous::Get => RecvEvent::ChooseGet { upto },
                Rendezvous::Share { part } if self.offer(id, upto, part) => RecvEvent::ChooseShare,
                _ => RecvEvent::ChooseStream { upto },
            };
            if self.advance(id, event) {
                self.engine.gets.push_back(id);
            }
        }
        moved
    }

    /// Chooses by which codec a matched message is to be compressed, if messages are.
    fn choose_codec(&mut self, at: u32, upto: u64) -> Codec {
        let request = self.engine.requests.get_mut(at);
        let rare = &mut request.rare;
        if upto == 0 || !self.engine.compression.is_on || !self.net.crosses_network(rare.peer) {
            return Codec::Stored;
        }
        let class = Class::new(rare.peer, request.link.key.context(), upto);
        let codec = self.engine.compression.choose(class);
        (rare.codec, rare.since, rare.came) = (Some(codec), clock::ticks(), 0);
        codec
    }

    /// Whether a message lies in other memory than the host's, where the receiver reads it.
    pub(super) fn is_elsewhere(&self, at: u32) -> bool {
        let rare = &self.engine.requests.get(at).rare;
        let registered = rare.registered.as_ref();
        registered.is_some_and(|keys| self.net.is_elsewhere(rare.peer, keys))
    }

    /// What is to come for a receive, from whom, and whether its memory can be
    /// read; `None` if the receive is gone or in another state.
    fn receiving(&self, id: ReqId, test: impl Fn(Recv) -> bool) -> Option<(u64, Peer, bool)> {
        if !self.valid(id) {
            return None;
        }
        let request = self.engine.requests.get(id.index);
        match request.phase {
            Phase::Recv(recv) if test(recv) => Some((
                request.rare.total,
                request.rare.peer,
                request.rare.registered.is_some(),
            )),
            _ => None,
        }
    }

    /// Steps a receive and does what follows. Returns whether it is still
    /// reading.
    pub(super) fn advance(&mut self, id: ReqId, event: RecvEvent) -> bool {
        let request = self.engine.requests.get_mut(id.index);
        let Phase::Recv(recv) = &mut request.phase else {
            return false;
        };
        let (peer, other) = (request.rare.peer, request.rare.other.to_bits());
        match recv.step(event) {
            Ok(RecvAction::None | RecvAction::Get) => true,
            Ok(RecvAction::Cts(wanted)) => {
                if !matches!(event, RecvEvent::ChooseStream { .. }) {
                    // Some of it was read: what it takes says nothing of either way.
                    (request.rare.asked, request.rare.codec) = (0, None);
                }
                request.rare.coverage.reset(wanted.from);
                self.engine.counters.asked.messages += 1;
                let codec = request.rare.codec.map_or(0, Codec::number);
                let header = Header {
                    tag: codec.into(),
                    ..wire::with_number(kind::CTS, id.to_bits(), other)
                };
                self.control(peer, header, Note::Wanted(wanted));
                false
            }
            Ok(RecvAction::CompleteAndFin) => {
                self.engine.counters.got.messages += u64::from(matches!(event, RecvEvent::Got(_)));
                self.engine.note_moved(id.index, false);
                self.engine.note_compressed(id.index);
                self.call_for_step(id.index);
                self.control(peer, wire::with_number(kind::FIN, 0, other), Note::Empty);
                self.engine.complete(id.index);
                false
            }
            Ok(RecvAction::Complete) => {
                self.engine.complete(id.index);
                false
            }
            // A route that claims to have read more than was asked for.
            Err(_) => false,
        }
    }

    /// Sends what is queued, as far as the routes take it.
    pub(super) fn flush(&mut self) -> bool {
        let (mut at, mut moved) = (0, false);
        while let Some(peer) = self.engine.send_queues.active(at) {
            let blocked = self.flush_items(peer, &mut moved);
            if !blocked {
                self.flush_streams(peer, &mut moved);
            }
            // A peer with nothing left is dropped and another takes its place.
            if self.engine.send_queues.active(at) == Some(peer) {
                at += 1;
            }
        }
        moved
    }

    /// Returns whether the route is full.
    fn flush_items(&mut self, peer: Peer, moved: &mut bool) -> bool {
        while let Some(item) = self.engine.send_queues.front(peer) {
            let out = match item {
                Item::Send { id, .. } if self.is_sending(id) => self.drive(id.index),
                Item::Send { header, .. } => {
                    let skip = Header {
                        kind: kind::SKIP,
                        tag: 0,
                        len: 0,
                        ..header
                    };
                    self.post(peer, skip, Note::Empty)
                }
                Item::Control { header, note } => self.post(peer, header, note),
            };
            if !out {
                return true;
            }
            // Nothing to pop if the peer was lost meanwhile.
            self.engine.send_queues.pop(peer);
            *moved = true;
        }
        false
    }

    /// Whether a send is under way.
    fn is_sending(&self, id: ReqId) -> bool {
        let requests = &self.engine.requests;
        self.valid(id) && matches!(requests.get(id.index).phase, Phase::Send(_))
    }

    /// Posts a packet of the protocol; `false` if the route is full.
    fn post(&mut self, peer: Peer, header: Header, note: Note) -> bool {
        let (bytes, n) = note.encode();
        match self.net.try_send(peer, header, &bytes[..n]) {
            Ok(posted) => posted == Posted::Done,
            Err(lost) => {
                self.engine.peer_lost(lost);
                true
            }
        }
    }

    /// Posts the packets of a send that may leave now: all of an eager one, or
    /// the announcement. Returns `false` if the route was full before the end.
    pub(super) fn drive(&mut self, at: u32) -> bool {
        let id = self.engine.id(at);
        let rare = &self.engine.requests.get(at).rare;
        let (peer, header) = (rare.peer, rare.header);
        let max_packet = self.net.caps(peer).max_packet;
        loop {
            let request = self.engine.requests.get_mut(at);
            let (Phase::Send(send), Buffer::Source(source)) = (&mut request.phase, &request.buffer)
            else {
                return true;
            };
            let announces = matches!(*send, Send::Queued(Style::Rendezvous | Style::Lent));
            let (posted, n) = match *send {
                Send::Queued(Style::Rendezvous | Style::Lent | Style::TakenBack) => {
                    let registered = request.rare.registered;
                    let (bytes, n) = Announce {
                        request: id,
                        registered,
                    }
                    .encode();
                    (self.net.try_send(peer, header, &bytes[..n]), 0)
                }
                Send::Queued(_) => {
                    let n = piece(0, request.len, whole(&self.net, peer, 0), max_packet);
                    let part = source.part(0, n as usize);
                    (self.net.try_send(peer, header, part), n)
                }
                Send::Flowing { at, .. } => {
                    let n = piece(at, request.len, whole(&self.net, peer, at), max_packet);
                    let header = Header {
                        kind: kind::MORE,
                        tag: 0,
                        len: at,
                        ..header
                    };
                    let part = source.part(at, n as usize);
                    (self.net.try_send(peer, header, part), n)
                }
                _ => return true,
            };
            match posted {
                Ok(Posted::Full) => {
                    self.net.call(peer, false);
                    return false;
                }
                Err(lost) => {
                    self.engine.peer_lost(lost);
                    return true;
                }
                Ok(Posted::Done) if announces => self.net.call(peer, false),
                Ok(Posted::Done) => {}
            }
            if send.step(request.len, SendEvent::Posted(n)) == Ok(SendAction::Complete) {
                self.engine.complete_send(at);
                return true;
            }
            if request.rare.dropped {
                self.engine.end_dropped(at);
            }
        }
    }

    /// Streams to one peer until its route is full or the budget is spent.
    fn flush_streams(&mut self, peer: Peer, moved: &mut bool) {
        let mut left = BUDGET;
        while left > 0
            && let Some(id) = self.engine.send_queues.pop_stream(peer)
        {
            if !self.valid(id) {
                continue;
            }
            let max_packet = self.net.caps(peer).max_packet;
            let request = self.engine.requests.get_mut(id.index);
            let (Phase::Send(send), Buffer::Source(source)) = (&mut request.phase, &request.buffer)
            else {
                continue;
            };
            let other = request.rare.other.to_bits();
            let mut complete = false;
            while left > 0
                && !complete
                && let Send::Streaming { at, upto } = *send
            {
                let n = piece(at, upto, whole(&self.net, peer, at), max_packet);
                let header = wire::with_number(kind::DATA, at, other);
                let packed = match request.rare.codec {
                    None | Some(Codec::Stored) => None,
                    Some(codec) => {
                        let stretch = Stretch {
                            source,
                            at,
                            len: n as usize,
                            in_vain: &mut request.rare.in_vain,
                        };
                        self.engine.packing.encode(id, codec, stretch)
                    }
                };
                let posted = match packed {
                    Some(piece) => {
                        let kind = kind::PACKED;
                        self.net.try_send(peer, Header { kind, ..header }, piece)
                    }
                    None => self.net.try_send(peer, header, source.part(at, n as usize)),
                };
                match posted {
                    Ok(Posted::Done) => self.net.call(peer, false),
                    Ok(Posted::Full) => {
                        self.net.call(peer, false);
                        self.engine.send_queues.push_stream_front(peer, id);
                        return;
                    }
                    Err(lost) => {
                        self.engine.peer_lost(lost);
                        *moved = true;
                        return;
                    }
                }
                if let Some(piece) = packed {
                    self.engine.counters.compressed += n;
                    self.engine.counters.compressed_to += piece.len() as u64;
                }
                *moved = true;
                left = left.saturating_sub(n.max(1));
                complete = send.step(request.len, SendEvent::Posted(n)) == Ok(SendAction::Complete);
            }
            if complete {
                self.engine.complete_send(id.index);
            } else {
                // One is through before the next begins: each ends as early as it can.
                self.engine.send_queues.push_stream_front(peer, id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packets of a message.
    fn pieces(len: u64, whole: u64, max_packet: usize) -> Vec<u64> {
        let (mut at, mut all) = (0, Vec::new());
        while at < len {
            let n = piece(at, len, whole, max_packet);
            assert!(0 < n && n <= max_packet as u64 && n <= len - at);
            all.push(n);
            at += n;
        }
        all
    }

    #[test]
    fn packets_are_short_at_both_ends() {
        assert_eq!(pieces(16, 16, 16), [16]);
        assert_eq!(pieces(40, 16, 16), [16, 16, 8]);
        const KIB: u64 = 1 << 10;
        let kib = |len, whole, most: usize| -> Vec<u64> {
            let all = pieces(len * KIB, whole * KIB, most << 10);
            all.into_iter().map(|n| n / KIB).collect()
        };
        assert_eq!(kib(16, 16, 64), [16]);
        assert_eq!(kib(17, 16, 64), [16, 1]);
        assert_eq!(kib(32, 16, 64), [16, 16]);
        assert_eq!(kib(64, 16, 64), [16, 16, 16, 16]);
        assert_eq!(kib(64, 64, 64), [64]);
        assert_eq!(kib(256, 16, 64), [16, 16, 32, 64, 64, 32, 16, 16]);
        assert_eq!(kib(1024, 16, 64).len(), 20);
        (1..3000).for_each(|len| _ = pieces(len, 100, 100));
    }
}
