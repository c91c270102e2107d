//! Outgoing rings.

use std::ptr;
use std::sync::atomic::Ordering::Release;

use catena_base::ring::{Corrupt, INLINE, Producer, RawArea};
use catena_fabric::{Deliver, Header, Payload, PeerLost, Posted};

use crate::addr::RingHead;
use crate::class::Class;
use crate::device::COPIES;
use crate::error::ShmError;
use crate::init::Shm;
use crate::peer_state::RingState;
use crate::tune::CopyMethod;

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
            len <= self.most(number),
            "a packet of {len} bytes is too long"
        );
        let small = len <= INLINE;
        let peer_state = &mut self.peer_states[number];
        peer_state.turn(len);
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
            Some(CopyMethod::Take | CopyMethod::Share | CopyMethod::String) => {
                self.counters.plain += 1
            }
            Some(CopyMethod::Stream) => self.counters.streamed += 1,
            None => return Ok(Posted::Done),
        }
        let class = Class::of(len);
        if class == Class::Long {
            peer_state.sent_long = Some(self.arrived);
            peer_state.span.sent_long(len);
        }
        peer_state.tuners[class as usize].sent(len);
        Ok(Posted::Done)
    }

    /// Opens the rings to all others, if they are few. What cannot be had now is an error when it
    /// is needed.
    pub(crate) fn open_early(&mut self) {
        let early = self.config.early;
        for number in (0..self.peer_states.len()).filter(|_| early > 0) {
            if number != self.me as usize && self.open_ring(number).is_ok() {
                let opened = self.open_data(number);
                let _ = opened.and_then(|()| self.extend_outlet(number, early));
            }
        }
    }

    /// Nothing has arrived: uses the time for the next message.
    #[inline(never)]
    pub(crate) fn use_silence<D: Deliver>(&mut self, deliver: &mut D) {
        let Some(&number) = self.cold.last() else {
            return;
        };
        if number == COPIES {
            // Others have their turn, too.
            self.cold.rotate_right(1);
            if self.end_copies(deliver) {
                self.cold.retain(|&number| number != COPIES);
            }
            return;
        }
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
        peer_state.turn(len);
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
    pub(crate) fn open_ring(&mut self, number: usize) -> Result<(), ShmError> {
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
            _ => {
                let entry = used.map(|(entry, ..)| entry);
                let entry = self.announce_guest(number, offset, entry)?;
                if let Some(other) = &mut self.others[usize::from(home.segment - 1)] {
                    other.entries[home.number as usize] = entry;
                }
            }
        }
        let block = self.peer_states[number].block();
        block.epoch.fetch_add(1, Release);
        block.bell.ring();
        Ok(())
    }

    /// Whether a packet of `len` bytes fits in the data area of the ring to a peer, of which more
    /// may have to be provided.
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
        let geometry = segment.layout.geometry;
        let bytes = match self.peer_states[number].home.segment {
            0 => geometry.data,
            _ => geometry.guest_data(),
        };
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
        self.peer_states[number].span.open(geometry.near(), bytes);
        Ok(())
    }

    /// Provides the data area of the ring to a peer up to byte `end` at least.
    fn extend_outlet(&mut self, number: usize, end: usize) -> Result<(), ShmError> {
        let (tx, segment) = (&self.peer_states[number].tx, self.segment_of(number));
        let most = segment
            .layout
            .geometry
            .most_present(end)
            .min(tx.data_size());
        let (area, span) = ((tx.data(), most), (tx.present(), end));
        let extended = segment.extend("the data area of a ring", area, span)?;
        self.peer_states[number].tx.extend_data(extended);
        Ok(())
    }
}
