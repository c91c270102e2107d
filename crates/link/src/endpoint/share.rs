//! Remote reads, and messages that both ends copy: the receiver reads parts
//! from the front, the sender writes parts from the back, until they meet. An end
//! that is not here, or late, does less. While other messages wait, the receiver leaves
//! the last part of each to the sender, so that each end goes on in memory that it
//! used before.

use std::collections::VecDeque;
use std::ops::Range;

use catena_base::{End, Parts};
use catena_fabric::Header;

use super::Endpoint;
use super::operations::Moved;
use crate::key::MatchKey;
use crate::net::Net;
use crate::protocol::{Recv, RecvEvent, Send};
use crate::request::{Buffer, Operation, Phase};
use crate::types::ReqId;
use crate::wire::{self, Note, Offer, Wanted, kind};

/// Bytes of remote reads, and of remote writes, per call of
/// [`Endpoint::progress`]: polling must not wait long for them.
const BUDGET: u64 = 1 << 20;
/// What became of one read or write of a message.
enum Turn {
    /// That many bytes were copied, and more are to come.
    More(u64),
    /// The route is busy.
    Busy,
    /// There is nothing left to do here.
    Over,
}

impl<N: Net, K: MatchKey> Endpoint<N, K> {
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
        let Some(target) = self.net.register_writable(peer, sink, upto) else {
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
                Some(Phase::Recv(Recv::Starting)) => self.get_lent(id),
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
                // Others are claimed, and their senders told, before the next but one.
                Turn::Over => left = left.saturating_sub(BUDGET / 2),
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

    /// Reads a lent message if it is ours to read; else it comes in packets. Who claims one reads
    /// it at once, as its sender cannot send it any more.
    fn get_lent(&mut self, id: ReqId) -> Turn {
        if !self.claim(id.index) {
            return Turn::Over;
        }
        let rare = &self.engine.requests.get(id.index).rare;
        let upto = rare.total;
        let event = match rare.registered {
            _ if upto == 0 => RecvEvent::WantNothing,
            Some(_) => RecvEvent::ChooseGet { upto },
            None => RecvEvent::ChooseStream { upto },
        };
        match self.advance(id, event) {
            true => self.get(id, 0, upto),
            false => Turn::Over,
        }
    }

    /// Reads some of a message that nobody else copies.
    fn get(&mut self, id: ReqId, at: u64, upto: u64) -> Turn {
        let (n, event) = match self.read_some(id, at, upto) {
            Moved::Full => return Turn::Busy,
            Moved::Bytes(n) => (n, RecvEvent::Got(n)),
            Moved::Unable => (0, RecvEvent::Unable),
            // It is read on when that has ended.
            Moved::UnderWay | Moved::Lost => return Turn::Over,
        };
        match self.advance(id, event) && n > 0 {
            true => Turn::More(n),
            false => Turn::Over,
        }
    }

    /// Reads some of a shared message: all that is left, or all but its last part, which
    /// is the sender's then.
    fn get_part(&mut self, id: ReqId, leaves: bool) -> Turn {
        if !self.open_share(id) {
            return Turn::Over;
        }
        let rare = &self.engine.requests.get(id.index).rare;
        if rare.operation.is_under_way() {
            return Turn::Busy;
        }
        let share = &rare.share;
        if share.refused {
            return self.stop_sharing(id);
        }
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
            Moved::Full | Moved::UnderWay => Turn::Busy,
            Moved::Bytes(n) => {
                self.have_read(id, n);
                Turn::More(n)
            }
            Moved::Unable => self.stop_sharing(id),
            Moved::Lost => Turn::Over,
        }
    }

    /// The next `n` bytes of the part of a shared message that is being read are there.
    fn have_read(&mut self, id: ReqId, n: u64) {
        let part = &mut self.engine.requests.get_mut(id.index).rare.share.part;
        let from = part.start;
        part.start += n;
        self.engine.place_part(id.index, from..from + n);
    }

    /// A read of `n` bytes, which took its time, has ended.
    pub(super) fn end_read(&mut self, id: ReqId, n: u64, succeeded: bool) {
        let phase = self.engine.requests.get(id.index).phase;
        match (phase, succeeded) {
            (Phase::Recv(Recv::Getting { .. }), _) => {
                let event = match succeeded {
                    true => RecvEvent::Got(n),
                    false => RecvEvent::Unable,
                };
                if self.advance(id, event) {
                    self.engine.gets.push_front(id);
                }
            }
            (Phase::Recv(Recv::Sharing), true) => self.have_read(id, n),
            // It is streamed when its turn comes.
            (Phase::Recv(Recv::Sharing), false) => {
                self.engine.requests.get_mut(id.index).rare.share.refused = true;
            }
            _ => {}
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
        let rare = &self.engine.requests.get(id.index).rare;
        let moved = match rare.operation {
            Operation::None if rare.share.refused => return Turn::Over,
            Operation::None => {
                let Some(part) = self.part_at_hand(id, End::Back) else {
                    // The receiver, which may have nothing left to read, ends it.
                    let peer = self.engine.requests.get(id.index).rare.peer;
                    self.engine.calls.push(peer);
                    return Turn::Over;
                };
                self.write_some(id, part.start, part.end)
            }
            Operation::Written(n) => self.flush_written(id, n),
            Operation::Get(_) | Operation::Put(_) | Operation::Flush(_) => Moved::UnderWay,
        };
        match moved {
            Moved::Full | Moved::UnderWay => Turn::Busy,
            Moved::Bytes(n) => {
                self.have_written(id, n);
                Turn::More(n)
            }
            Moved::Unable => {
                self.refuse_to_write(id);
                Turn::Over
            }
            Moved::Lost => Turn::Over,
        }
    }

    /// The next `n` bytes of the part of a shared message that is being written are at the
    /// receiver: it is told when the part is whole.
    pub(super) fn have_written(&mut self, id: ReqId, n: u64) {
        let rare = &mut self.engine.requests.get_mut(id.index).rare;
        let share = &mut rare.share;
        share.part.start += n;
        if share.part.is_empty() {
            let number = (share.part.end - 1) / share.offer.part;
            let (peer, other) = (rare.peer, rare.other.to_bits());
            self.control(
                peer,
                wire::with_number(kind::PUT, number, other),
                Note::Empty,
            );
        }
    }

    /// Tells the receiver of a shared message that this end cannot write.
    pub(super) fn refuse_to_write(&mut self, id: ReqId) {
        let rare = &mut self.engine.requests.get_mut(id.index).rare;
        rare.share.refused = true;
        let (peer, other) = (rare.peer, rare.other.to_bits());
        self.control(peer, wire::with_number(kind::REFUSE, 0, other), Note::Empty);
    }
}
