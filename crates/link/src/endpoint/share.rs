//! Remote reads, and messages that both ends copy: the receiver reads parts
//! from the front, the sender writes parts from the back, until they meet. Who
//! is not here, or late, does less. While other messages wait, the receiver leaves
//! the last part of each to the sender, so that each end goes on in memory that it
//! used before.

use std::collections::VecDeque;
use std::ops::Range;

use catena_base::{End, Parts};
use catena_fabric::{Header, RmaStatus};

use super::Endpoint;
use crate::net::Net;
use crate::protocol::{Recv, RecvEvent, Send};
use crate::request::{Buffer, Phase};
use crate::types::ReqId;
use crate::wire::{self, Note, Offer, Wanted, kind};

/// Bytes of remote reads, and of remote writes, per call of
/// [`Endpoint::progress`]: polling must not wait long for them.
const BUDGET: u64 = 1 << 20;
/// Bytes of one remote read or write.
const CHUNK: u64 = 1 << 19;

/// What became of one read or write of a message.
enum Turn {
    /// That many bytes were copied, and more are to come.
    More(u64),
    /// The route is busy.
    Busy,
    /// There is nothing left to do here.
    Over,
}

impl<N: Net> Endpoint<N> {
    /// Registers the room of a receive for its sender to write into parts of
    /// `part` bytes; whether that is possible.
    pub(super) fn offer(&mut self, id: ReqId, upto: u64, part: u64) -> bool {
        let request = self.engine.requests.get_mut(id.index);
        let (peer, rare) = (request.rare.peer, &mut request.rare);
        if self.net.caps(peer).max_packet < Offer::LEN {
            return false;
        }
        let Buffer::Sink(sink) = &mut request.buffer else {
            return false;
        };
        let Some(target) = self.net.register_writable(peer, sink) else {
            return false;
        };
        rare.coverage.reset(0);
        rare.share = Default::default();
        rare.share.offer = Offer { target, upto, part };
        true
    }

    /// Goes on reading peers' memory.
    pub(super) fn read(&mut self) -> bool {
        let (mut left, mut turns, mut moved) = (BUDGET, self.engine.gets.len() + 1, false);
        while left > 0 && turns > 0 {
            // What was left before comes first where no more may be left.
            let again = self.engine.gets.is_empty() || self.engine.left.len() == Parts::AHEAD;
            let Some(id) = self.reading(again).pop_front() else {
                break;
            };
            let phase = self
                .valid(id)
                .then(|| self.engine.requests.get(id.index).phase);
            let turn = match phase {
                Some(Phase::Recv(Recv::Getting { at, upto })) => self.get(id, at, upto),
                Some(Phase::Recv(Recv::Sharing)) => self.get_part(id, !again),
                _ => Turn::Over,
            };
            moved |= !matches!(turn, Turn::Busy);
            match turn {
                // Its turn goes on, so that one message is done before the next.
                Turn::More(n) => {
                    left = left.saturating_sub(n);
                    self.reading(again).push_front(id);
                }
                // No more messages from there may be shared until all parts of
                // this one are taken.
                Turn::Busy if phase == Some(Phase::Recv(Recv::Sharing)) => {
                    self.reading(again).push_front(id);
                    break;
                }
                Turn::Busy => {
                    self.engine.gets.push_back(id);
                    turns -= 1;
                }
                Turn::Over => {}
            }
        }
        moved
    }

    /// What is to be read: messages of which one part was left, or the others.
    fn reading(&mut self, again: bool) -> &mut VecDeque<ReqId> {
        match again {
            true => &mut self.engine.left,
            false => &mut self.engine.gets,
        }
    }

    /// Reads some of a message that nobody else copies.
    fn get(&mut self, id: ReqId, at: u64, upto: u64) -> Turn {
        let event = match self.read_some(id, at, upto) {
            Some(RmaStatus::Full | RmaStatus::Bytes(0)) => return Turn::Busy,
            Some(RmaStatus::Bytes(n)) => RecvEvent::Got(n as u64),
            Some(RmaStatus::Unable) => RecvEvent::Unable,
            None => return Turn::Over,
        };
        match (self.advance(id, event), event) {
            (true, RecvEvent::Got(n)) => Turn::More(n),
            _ => Turn::Over,
        }
    }

    /// Reads some of a shared message: all that is left, or all but its last part, which
    /// is the sender's then.
    fn get_part(&mut self, id: ReqId, leaves: bool) -> Turn {
        if !self.open_share(id) {
            return Turn::Over;
        }
        if self.engine.requests.get(id.index).rare.share.refused {
            return self.stop_sharing(id);
        }
        let share = &self.engine.requests.get(id.index).rare.share;
        let is_last = share.part.end > 0 && share.offer.upto - share.part.end <= share.offer.part;
        let part = match leaves && is_last && share.part.is_empty() {
            true => None,
            false => self.part_at_hand(id, End::Front),
        };
        let Some(part) = part else {
            if leaves {
                self.engine.left.push_back(id);
            }
            return Turn::Over;
        };
        match self.read_some(id, part.start, part.end) {
            Some(RmaStatus::Full | RmaStatus::Bytes(0)) => Turn::Busy,
            Some(RmaStatus::Bytes(n)) => {
                let upto = part.start + n as u64;
                self.engine.requests.get_mut(id.index).rare.share.part.start = upto;
                self.engine.place_part(id.index, part.start..upto);
                Turn::More(n as u64)
            }
            Some(RmaStatus::Unable) => self.stop_sharing(id),
            None => Turn::Over,
        }
    }

    /// Reads bytes `[at, upto)` of a message, or some of them; `None` if the
    /// peer is lost.
    fn read_some(&mut self, id: ReqId, at: u64, upto: u64) -> Option<RmaStatus> {
        let request = self.engine.requests.get_mut(id.index);
        let (Buffer::Sink(sink), Some(registered)) = (&mut request.buffer, request.rare.registered)
        else {
            return Some(RmaStatus::Unable);
        };
        let len = (upto - at).min(CHUNK);
        match self
            .net
            .try_get(request.rare.peer, registered, sink, at, len)
        {
            Ok(got) => {
                let counters = &mut self.engine.counters;
                match got {
                    RmaStatus::Bytes(n) => counters.got.bytes += n as u64,
                    RmaStatus::Unable => counters.fallbacks += 1,
                    RmaStatus::Full => {}
                }
                Some(got)
            }
            Err(lost) => {
                self.engine.peer_lost(lost);
                None
            }
        }
    }

    /// Tells the sender that the work on a message begins, once; `false` if it
    /// is lost.
    fn open_share(&mut self, id: ReqId) -> bool {
        let rare = &mut self.engine.requests.get_mut(id.index).rare;
        if rare.share.number != 0 {
            return true;
        }
        let (peer, other) = (rare.peer, rare.other.to_bits());
        rare.share.number = self.net.open_parts(peer);
        let header = Header {
            tag: rare.share.number as i32,
            ..wire::with_number(kind::SHARE, id.to_bits(), other)
        };
        let note = Note::Offer(rare.share.offer);
        self.control(peer, header, note);
        // At once: it is to begin when we do.
        self.flush();
        self.valid(id) && self.engine.requests.get(id.index).phase == Phase::Recv(Recv::Sharing)
    }

    /// The part that this end copies now, or the next one; `None` if all are
    /// taken.
    fn part_at_hand(&mut self, id: ReqId, end: End) -> Option<Range<u64>> {
        let rare = &mut self.engine.requests.get_mut(id.index).rare;
        let share = &mut rare.share;
        if share.part.is_empty() {
            let parts = share.offer.parts()?;
            let part = self.net.take_part(rare.peer, end, share.number, parts)?;
            share.part = share.offer.range(part);
        }
        Some(share.part.clone())
    }

    /// One of the two ends cannot copy: what this one has not read is streamed.
    fn stop_sharing(&mut self, id: ReqId) -> Turn {
        let rare = &mut self.engine.requests.get_mut(id.index).rare;
        // We took parts from the front, in order.
        let missing = Wanted {
            from: rare.share.part.start,
            upto: rare.share.offer.upto,
        };
        // Nothing is left for the other end to take.
        rare.share.part = 0..0;
        while self.part_at_hand(id, End::Front).is_some() {
            self.engine.requests.get_mut(id.index).rare.share.part = 0..0;
        }
        self.engine.close_target(id.index);
        self.advance(id, RecvEvent::Refused(missing));
        Turn::Over
    }

    /// Goes on writing into peers' memory.
    pub(super) fn write(&mut self) -> bool {
        let (mut left, mut turns, mut moved) = (BUDGET, self.engine.puts.len(), false);
        while left > 0
            && turns > 0
            && let Some(id) = self.engine.puts.pop_front()
        {
            let turn = self.put_part(id);
            moved |= !matches!(turn, Turn::Busy);
            match turn {
                Turn::More(n) => {
                    left = left.saturating_sub(n);
                    self.engine.puts.push_front(id);
                }
                Turn::Busy => {
                    self.engine.puts.push_back(id);
                    turns -= 1;
                }
                Turn::Over => turns -= 1,
            }
        }
        moved
    }

    /// Writes some of a shared message.
    fn put_part(&mut self, id: ReqId) -> Turn {
        if !self.valid(id) || self.engine.requests.get(id.index).phase != Phase::Send(Send::Sharing)
        {
            return Turn::Over;
        }
        let Some(part) = self.part_at_hand(id, End::Back) else {
            return Turn::Over;
        };
        let request = self.engine.requests.get_mut(id.index);
        let Buffer::Source(source) = &request.buffer else {
            return Turn::Over;
        };
        let (peer, share) = (request.rare.peer, &mut request.rare.share);
        let other = request.rare.other.to_bits();
        let len = (part.end - part.start).min(CHUNK);
        let (n, header) = match self
            .net
            .try_put(peer, source, share.offer.target, part.start, len)
        {
            Ok(RmaStatus::Full | RmaStatus::Bytes(0)) => return Turn::Busy,
            Ok(RmaStatus::Bytes(n)) => {
                share.part.start += n as u64;
                if !share.part.is_empty() {
                    return Turn::More(n as u64);
                }
                let number = (part.end - 1) / share.offer.part;
                (n, wire::with_number(kind::PUT, number, other))
            }
            Ok(RmaStatus::Unable) => {
                self.engine.counters.fallbacks += 1;
                (0, wire::with_number(kind::REFUSE, 0, other))
            }
            Err(lost) => {
                self.engine.peer_lost(lost);
                return Turn::Over;
            }
        };
        self.control(peer, header, Note::Empty);
        if n == 0 {
            Turn::Over
        } else {
            Turn::More(n as u64)
        }
    }
}
