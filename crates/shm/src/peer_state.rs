//! The way to one peer: the ring to it, and what is known of it.

use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use catena_base::ring::{INLINE, Producer, RawArea};
use catena_base::{End, Parts, PayloadRoom, copy};
use catena_fabric::{Header, Payload, Peer, PeerLost};

use crate::addr::{Block, RingHead};
use crate::class::Class;
use crate::lend::Lending;
use crate::pace::Pace;
use crate::prefetched::{Prefetched, STEP};
use crate::settings::Config;
use crate::span::Span;
use crate::tune::{CopyMethod, Tuner, WORTH_CHOOSING};

/// Where a process is at home: the segment in which its doorbell and the rings to it lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// 0 for that of this process, else one more than the number of another one.
    pub segment: u16,
    /// The process's number among those that are at home there.
    pub number: u32,
}

/// What is known about reading a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Not tried yet.
    Unknown,
    /// Reading works, with this process id.
    Allowed(i32),
    /// Reading does not work.
    Denied,
}

/// What stands at the address that rank `me` shows.
pub(crate) fn probe_value(me: u32) -> u64 {
    0x7072_6f62_6500_0000 ^ u64::from(me)
}

/// The way to one peer.
#[derive(Debug)]
pub(crate) struct PeerState {
    /// Never has room unless `state` is `Open`.
    pub(crate) tx: Producer<RawArea>,
    /// The peer's.
    pub(crate) block: *const Block,
    /// Where it is at home.
    pub(crate) home: Home,
    pub(crate) state: RingState,
    /// Whether the last send found no room, and the peer was told.
    pub(crate) blocked: bool,
    /// Whether the ring from this peer was seen.
    pub(crate) heard: bool,
    /// The ring from the peer, if what it says of it makes sense.
    pub(crate) inbound: Option<*const RingHead>,
    pub(crate) peer: Peer,
    /// By class.
    pub(crate) tuners: [Tuner; 2],
    /// Apart: what each packet needs lies together.
    pub(crate) pace: Box<Pace>,
    /// Which short messages to there are lent.
    pub(crate) lending: Box<Lending>,
    pub(crate) warm: Prefetched,
    /// How much of the ring's data area packets take turns in.
    pub(crate) span: Span,
    /// How many packets had arrived when the last long one left.
    pub(crate) sent_long: Option<u64>,
    pub(crate) reader: Reader,
    /// Offset of a data area for the ring that another had, or 0.
    pub(crate) spare_data: u64,
}

#[derive(Debug)]
pub(crate) enum RingState {
    /// Nothing was ever sent.
    Unopened,
    /// The ring exists.
    Open(*mut RingHead),
    Lost(PeerLost),
}

/// A header as the ring carries it.
#[inline(always)]
fn to_words(header: &Header) -> [u64; 3] {
    // SAFETY: both are 24 plain bytes without padding, aligned to 8.
    unsafe { ptr::from_ref(header).cast::<[u64; 3]>().read() }
}

/// Writes a small payload.
#[inline(always)]
fn fill<P: Payload>(payload: &P, to: *mut u8) {
    let len = payload.len();
    match payload.contiguous() {
        // SAFETY: `from` has `len` bytes, the cell has room for 32, and it is
        // no part of the user's memory.
        Some(from) => unsafe { copy::small(to, from, len) },
        // SAFETY: a free cell, published after this call.
        None => payload.write(unsafe { PayloadRoom::new(to, len) }),
    }
}

impl PeerState {
    /// That of a peer with which nothing was exchanged. `leads` at one of its two ends: that one
    /// chooses the way of messages that go to and fro.
    pub(crate) fn unopened(
        peer: Peer,
        home: Home,
        block: *const Block,
        config: Config,
        leads: bool,
    ) -> PeerState {
        PeerState {
            tx: closed(),
            block,
            home,
            state: RingState::Unopened,
            blocked: false,
            heard: false,
            inbound: None,
            peer,
            tuners: Class::ALL.map(|class| Tuner::new(config, class)),
            pace: Box::new(Pace::new(leads)),
            lending: Box::new(Lending::new(leads)),
            warm: Prefetched::default(),
            span: Span::new(config.oversubscribed),
            sent_long: None,
            reader: Reader::Unknown,
            spare_data: 0,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, RingState::Open(_))
    }

    /// Bytes of the ring's data area for which there is memory.
    pub(crate) fn data_bytes(&self) -> usize {
        self.tx.present()
    }

    /// The peer's error, if it is lost.
    pub(crate) fn lost(&self) -> Option<&PeerLost> {
        match &self.state {
            RingState::Lost(lost) => Some(lost),
            _ => None,
        }
    }

    /// The peer is gone; the first cause stays.
    pub(crate) fn lose(&mut self, cause: String) -> PeerLost {
        if let Some(lost) = self.lost() {
            return lost.clone();
        }
        let lost = PeerLost {
            peer: self.peer,
            cause,
        };
        self.state = RingState::Lost(lost.clone());
        self.tx = closed();
        self.blocked = false;
        lost
    }

    pub(crate) fn block(&self) -> &Block {
        // SAFETY: in a mapping, which outlives the peer state; atomics only.
        unsafe { &*self.block }
    }

    /// Sends what fits into a cell, if one is known to be free.
    #[inline(always)]
    pub(crate) fn try_small<P: Payload>(&mut self, header: &Header, payload: &P) -> bool {
        let len = payload.len();
        if len > INLINE || !self.tx.has_room() {
            return false;
        }
        self.tx.push(to_words(header), len, |to| fill(payload, to));
        self.block().bell.ring();
        true
    }

    /// Whether the peer has made room that a blocked send waits for.
    pub(crate) fn is_unblocked(&self) -> bool {
        self.blocked && self.tx.moved()
    }

    /// The head of the ring, if there is one.
    pub(crate) fn head(&self) -> Option<&RingHead> {
        match &self.state {
            // SAFETY: in the mapping, which outlives the peer state; atomics only.
            RingState::Open(head) => Some(unsafe { &**head }),
            _ => None,
        }
    }

    /// The parts of the messages that are shared with the peer: from it if we
    /// are at the front, else to it.
    pub(crate) fn parts(&self, end: End) -> Option<&Parts> {
        let head = match end {
            // SAFETY: in the mapping, which outlives the peer state; atomics only.
            End::Front => self.inbound.map(|head| unsafe { &*head }),
            End::Back => self.head(),
        };
        head.map(|head| &head.parts)
    }

    /// Remembers whether a send waits for room, so that the peer rings when
    /// there is some.
    #[cold]
    pub(crate) fn set_blocked(&mut self, blocked: bool) {
        if self.blocked != blocked
            && let Some(head) = self.head()
        {
            head.tail.blocked.store(blocked.into(), Relaxed);
            self.blocked = blocked;
        }
    }

    /// Copies a payload into the data area and sends it.
    #[inline(always)]
    pub(crate) fn push_bulk<P: Payload>(
        &mut self,
        header: &Header,
        payload: &P,
    ) -> Option<CopyMethod> {
        let len = payload.len();
        let bulk = self.tx.reserve(len);
        let way = self.tuners[Class::of(len) as usize].choose();
        if matches!(way, CopyMethod::Take | CopyMethod::Share) {
            self.warm.sent(len);
        }
        let mut used = None;
        match payload.contiguous() {
            Some(from) if len >= WORTH_CHOOSING => {
                // SAFETY: `from` has `len` bytes; as many were reserved, and
                // the reserved ones are no part of the user's memory.
                unsafe {
                    match way {
                        CopyMethod::Take => copy::plain(bulk.ptr, from, len),
                        CopyMethod::Share => copy::claiming(bulk.ptr, from, len),
                        CopyMethod::Stream => copy::stream(bulk.ptr, from, len),
                        CopyMethod::String => copy::string(bulk.ptr, from, len),
                    }
                }
                used = Some(way);
            }
            // SAFETY: as above.
            Some(from) => unsafe { copy::plain(bulk.ptr, from, len) },
            // SAFETY: reserved, and published after this call.
            None => payload.write(unsafe { PayloadRoom::new(bulk.ptr, len) }),
        }
        let flags = used.map_or(0, CopyMethod::to_flags);
        self.tx.commit(to_words(header), bulk, flags);
        self.block().bell.ring();
        used
    }

    /// Settles where the next packet, of `len` bytes, goes back to the beginning of the data area.
    #[inline(always)]
    pub(crate) fn turn(&mut self, len: usize) {
        let mut turn = self.span.of(len);
        if let Some(closest) = Span::closest(len)
            && self.tx.crosses(closest, len)
            // A mad peer's counters end the ring where room is made.
            && (self.tx.is_drained() || self.tx.refresh().is_ok() && self.tx.is_drained())
        {
            turn = turn.min(closest);
        }
        self.tx.turn_at(turn);
    }

    /// Fetches some of the room that the next message will take, as much as
    /// the last one took; whether that was all.
    pub(crate) fn fetch_ahead(&mut self) -> bool {
        let Some(ahead) = self.warm.next() else {
            return true;
        };
        if ahead == 0 {
            self.turn(self.warm.wanted());
        }
        let known = self.tx.free_at(ahead, STEP);
        // A mad peer's counters end the ring at the next send.
        let free = known.or_else(|| {
            self.tx.refresh().ok()?;
            self.tx.free_at(ahead, STEP)
        });
        match free {
            Some(at) => (0..STEP)
                .step_by(64)
                .for_each(|line| copy::claim(at.wrapping_add(line))),
            None => self.warm.stop(),
        }
        false
    }
}

/// An end that never has room.
fn closed() -> Producer<RawArea> {
    // SAFETY: a peer state without an open ring only asks `has_room`.
    unsafe { Producer::closed(RawArea::new(ptr::null_mut(), ptr::null(), ptr::null_mut())) }
}
