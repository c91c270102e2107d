//! Outgoing rings.

use std::ptr;
use std::sync::atomic::Ordering::{Relaxed, Release};

use catena_base::ring::{Corrupt, INLINE, Producer, RawArea};
use catena_base::{End, Parts, Room, clock, copy};
use catena_fabric::{Header, Payload, Peer, PeerLost, Posted};

use crate::addr::{Block, RingHead};
use crate::error::ShmError;
use crate::init::{Home, Shm};
use crate::pace::{Pace, Reads};
use crate::rma::Reader;
use crate::settings::Config;
use crate::tune::{Tuner, WORTH_CHOOSING, Way};
use crate::warm::{STEP, Warm};

/// The way to one peer.
#[derive(Debug)]
pub(crate) struct PeerState {
    /// Never has room unless `state` is `Open`.
    tx: Producer<RawArea>,
    /// The peer's.
    block: *const Block,
    /// Where it is at home.
    pub home: Home,
    state: RingState,
    /// Whether the last send found no room, and the peer was told.
    blocked: bool,
    /// Whether the ring from this peer was seen.
    pub heard: bool,
    /// The ring from the peer, if what it says of it makes sense.
    pub inbound: Option<*const RingHead>,
    pub peer: Peer,
    tuner: Tuner,
    pace: Pace,
    pub reads: Reads,
    warm: Warm,
    pub reader: Reader,
    /// Offset of a data area for the ring that another had, or 0.
    spare_data: u64,
}

#[derive(Debug)]
enum RingState {
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
        None => payload.write(unsafe { Room::new(to, len) }),
    }
}

impl PeerState {
    pub fn unopened(peer: Peer, home: Home, block: *const Block, config: Config) -> PeerState {
        PeerState {
            tx: closed(),
            block,
            home,
            state: RingState::Unopened,
            blocked: false,
            heard: false,
            inbound: None,
            peer,
            tuner: Tuner::new(config),
            pace: Pace::default(),
            reads: Reads::default(),
            warm: Warm::default(),
            reader: Reader::Unknown,
            spare_data: 0,
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.state, RingState::Open(_))
    }

    pub fn data_bytes(&self) -> usize {
        self.tx.data_size()
    }

    /// The peer's error, if it is lost.
    pub fn lost(&self) -> Option<&PeerLost> {
        match &self.state {
            RingState::Lost(lost) => Some(lost),
            _ => None,
        }
    }

    /// The peer is gone; the first cause stays.
    pub fn lose(&mut self, cause: String) -> PeerLost {
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

    pub fn block(&self) -> &Block {
        // SAFETY: in a mapping, which outlives the peer state; atomics only.
        unsafe { &*self.block }
    }

    /// Sends what fits into a cell, if one is known to be free.
    #[inline(always)]
    pub fn try_small<P: Payload>(&mut self, header: &Header, payload: &P) -> bool {
        let len = payload.len();
        if len > INLINE || !self.tx.has_room() {
            return false;
        }
        self.tx.push(to_words(header), len, |to| fill(payload, to));
        self.block().bell.ring();
        true
    }

    /// Whether the peer has made room that a blocked send waits for.
    pub fn is_unblocked(&self) -> bool {
        self.blocked && self.tx.moved()
    }

    /// The head of the ring, if there is one.
    fn head(&self) -> Option<&RingHead> {
        match &self.state {
            // SAFETY: in the mapping, which outlives the peer state; atomics only.
            RingState::Open(head) => Some(unsafe { &**head }),
            _ => None,
        }
    }

    /// The parts of the messages that are shared with the peer: from it if we
    /// are at the front, else to it.
    pub fn parts(&self, end: End) -> Option<&Parts> {
        let head = match end {
            // SAFETY: in the mapping, which outlives the peer state; atomics only.
            End::Front => self.inbound.map(|head| unsafe { &*head }),
            End::Back => self.head(),
        };
        head.map(|head| &head.parts)
    }

    /// Whether the next message that may be read is announced.
    pub fn announces(&mut self) -> bool {
        let expensive = self
            .head()
            .map_or(0, |head| head.tail.expensive.load(Relaxed));
        self.pace.announces(expensive != 0)
    }

    /// Tells the peer whether reads of its memory are expensive.
    pub fn tell_expensive(&self, expensive: bool) {
        // SAFETY: in the mapping, which outlives the peer state; atomics only.
        if let Some(head) = self.inbound.map(|head| unsafe { &*head })
            && head.tail.expensive.load(Relaxed) != u32::from(expensive)
        {
            head.tail.expensive.store(expensive.into(), Relaxed);
        }
    }

    /// Remembers whether a send waits for room, so that the peer rings when
    /// there is some.
    #[cold]
    pub fn set_blocked(&mut self, blocked: bool) {
        if self.blocked != blocked
            && let Some(head) = self.head()
        {
            head.tail.blocked.store(blocked.into(), Relaxed);
            self.blocked = blocked;
        }
    }

    /// Copies a payload into the data area and sends it.
    #[inline(always)]
    fn push_bulk<P: Payload>(&mut self, header: &Header, payload: &P) -> Option<Way> {
        let len = payload.len();
        let bulk = self.tx.reserve(len);
        let (way, timed) = (self.tuner.choose(), self.tuner.is_timing());
        if way != Way::Stream {
            self.warm.sent(len);
        }
        let mut used = None;
        match payload.contiguous() {
            Some(from) if len >= WORTH_CHOOSING => {
                let began = if timed { clock::ticks() } else { 0 };
                // SAFETY: `from` has `len` bytes; as many were reserved, and
                // the reserved ones are no part of the user's memory.
                unsafe {
                    match way {
                        Way::Take => copy::plain(bulk.ptr, from, len),
                        Way::Share => copy::claiming(bulk.ptr, from, len),
                        Way::Stream => copy::stream(bulk.ptr, from, len),
                    }
                }
                if timed {
                    let ticks = clock::ticks().wrapping_sub(began);
                    self.tuner.record(way, len, ticks);
                }
                used = Some(way);
            }
            // SAFETY: as above.
            Some(from) => unsafe { copy::plain(bulk.ptr, from, len) },
            // SAFETY: reserved, and published after this call.
            None => payload.write(unsafe { Room::new(bulk.ptr, len) }),
        }
        let flags = used.map_or(0, |way| way.to_flags(timed));
        self.tx.commit(to_words(header), bulk, flags);
        self.block().bell.ring();
        used
    }

    /// Fetches some of the room that the next message will take, as much as
    /// the last one took; whether that was all.
    fn fetch_ahead(&mut self) -> bool {
        let Some(ahead) = self.warm.next() else {
            return true;
        };
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

    /// Reads what the peer's copies cost, when a decision is due.
    #[cold]
    #[inline(never)]
    fn retune(&mut self) {
        if let Some(head) = self.head() {
            let costs = head.costs.load(Relaxed);
            self.tuner.decide(costs);
        }
    }
}

/// An end that never has room.
fn closed() -> Producer<RawArea> {
    // SAFETY: a peer state without an open ring only asks `has_room`.
    unsafe { Producer::closed(RawArea::new(ptr::null_mut(), ptr::null(), ptr::null_mut())) }
}

impl Shm {
    /// Everything but a small packet into a ring with room.
    #[inline(never)]
    pub(crate) fn send_large<P: Payload>(
        &mut self,
        number: usize,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let len = payload.len();
        assert!(
            len <= self.max_packet,
            "a packet of {len} bytes is too long"
        );
        let small = len <= INLINE;
        let peer_state = &self.peer_states[number];
        let ready = peer_state.tx.has_room() && (small || peer_state.tx.can_reserve(len));
        if !ready && !self.make_room(number, len)? {
            return Ok(Posted::Full);
        }
        let peer_state = &mut self.peer_states[number];
        if small {
            let sent = peer_state.try_small(&header, &payload);
            debug_assert!(sent, "room was just found");
            return Ok(Posted::Done);
        }
        let used = peer_state.push_bulk(&header, &payload);
        if !peer_state.warm.listed && !self.config.oversubscribed {
            peer_state.warm.listed = true;
            self.cold.push(number as u32);
        }
        match used {
            Some(Way::Take | Way::Share) => self.counters.plain += 1,
            Some(Way::Stream) => self.counters.streamed += 1,
            None => return Ok(Posted::Done),
        }
        if peer_state.tuner.count(len) {
            peer_state.retune();
        }
        Ok(Posted::Done)
    }

    /// Nothing has arrived: uses the time for the next message.
    #[inline(never)]
    pub(crate) fn fetch_ahead(&mut self) {
        let Some(&number) = self.cold.last() else {
            return;
        };
        let peer_state = &mut self.peer_states[number as usize];
        if !peer_state.is_open() || peer_state.fetch_ahead() {
            peer_state.warm.listed = false;
            self.cold.pop();
        }
    }

    /// Opens the ring or its data area, or looks what was given back; whether
    /// there is room for `len` bytes now.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, number: usize, len: usize) -> Result<bool, PeerLost> {
        match &self.peer_states[number].state {
            RingState::Lost(lost) => return Err(lost.clone()),
            RingState::Unopened => {
                let opened = self.open_ring(number);
                opened.map_err(|e| self.peer_states[number].lose(e.to_string()))?;
            }
            RingState::Open(_) => {}
        }
        if len > INLINE && self.peer_states[number].tx.data_size() == 0 {
            let opened = self.open_data(number);
            opened.map_err(|e| self.peer_states[number].lose(e.to_string()))?;
        }
        let peer_state = &mut self.peer_states[number];
        let refreshed = peer_state.tx.refresh();
        let cell = refreshed.map_err(|e: Corrupt| peer_state.lose(e.to_string()))?;
        let room = cell && (len <= INLINE || self.can_reserve(number, len)?);
        let peer_state = &mut self.peer_states[number];
        if !room {
            self.counters.full += 1;
        }
        peer_state.set_blocked(!room);
        Ok(room)
    }

    /// Makes the ring to a peer, in the segment where that is at home, and announces it.
    fn open_ring(&mut self, number: usize) -> Result<(), ShmError> {
        let segment = self.segment_of(number);
        let geometry = segment.layout.geometry;
        let bytes = geometry.ring_bytes();
        let used = self.take_vacant(number);
        let offset = match used {
            Some((_, ring, _)) => ring,
            None => segment.alloc("a ring to another rank", bytes)?,
        };
        let head = segment
            .range(offset, bytes, 256)
            .ok_or(ShmError::ArenaFull { bytes })?;
        let peer_state = &mut self.peer_states[number];
        peer_state.spare_data = used.map_or(0, |(.., data)| data);
        // SAFETY: zeroed memory of this size and alignment, which only
        // the two ends of this ring use.
        unsafe {
            let cells = head.add(size_of::<RingHead>());
            peer_state.tx = Producer::new(
                RawArea::new(cells, head.cast(), ptr::null_mut()),
                geometry.cells,
            );
        }
        peer_state.state = RingState::Open(head.cast());
        let home = peer_state.home;
        match home.segment {
            0 => {
                let inbox = self.segment.inbox(home.number, self.me);
                inbox.store(offset, Release);
            }
            _ => self.announce_guest(number, offset, used.map(|(entry, ..)| entry))?,
        }
        let block = self.peer_states[number].block();
        block.epoch.fetch_add(1, Release);
        block.bell.ring();
        Ok(())
    }

    /// Whether a packet of `len` bytes fits in the data area of the ring to a peer, of which more may have
    /// to be provided.
    fn can_reserve(&mut self, number: usize, len: usize) -> Result<bool, PeerLost> {
        let tx = &self.peer_states[number].tx;
        let (reach, present) = (tx.reach(len), tx.present());
        if reach > present {
            let extended = self.extend_outlet(number, reach);
            extended.map_err(|e| self.peer_states[number].lose(e.to_string()))?;
        }
        Ok(self.peer_states[number].tx.can_reserve(len))
    }

    /// Makes the data area of the ring to a peer. The first packet that lies there publishes it.
    fn open_data(&mut self, number: usize) -> Result<(), ShmError> {
        let RingState::Open(head) = self.peer_states[number].state else {
            return Ok(());
        };
        let segment = self.segment_of(number);
        let bytes = segment.layout.geometry.data;
        let offset = match self.peer_states[number].spare_data {
            0 => segment.reserve(bytes)?,
            spare => spare,
        };
        let data = segment
            .range(offset, bytes, 64)
            .ok_or(ShmError::ArenaFull { bytes })?;
        if let Some(head) = self.peer_states[number].head() {
            head.tail.data_at.store(offset, Release);
        }
        // SAFETY: the ring's own cells and heads again, and fresh memory.
        unsafe {
            let cells = head.cast::<u8>().add(size_of::<RingHead>());
            self.peer_states[number]
                .tx
                .attach_data(RawArea::new(cells, head.cast(), data), bytes);
        }
        Ok(())
    }

    /// Provides the data area of the ring to a peer up to byte `end` at least.
    fn extend_outlet(&mut self, number: usize, end: usize) -> Result<(), ShmError> {
        let tx = &self.peer_states[number].tx;
        let (area, span) = ((tx.data(), tx.data_size()), (tx.present(), end));
        let extended = self
            .segment_of(number)
            .extend("the data area of a ring", area, span)?;
        self.peer_states[number].tx.extend_data(extended);
        Ok(())
    }
}
