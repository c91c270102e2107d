//! The sending end.

use super::{ALIGN, ANEW, Area, Corrupt, INLINE, PAYLOAD_AT, PacketSpan, Touch, place, stamp};
use crate::sync::Ordering::{Acquire, Release};

/// The sending end of a ring. There is one per ring.
#[derive(Debug)]
pub struct Producer<A> {
    area: A,
    mask: u64,
    shift: u32,
    /// Packets sent since the start.
    sent: u64,
    /// Packets may be sent while `sent != limit`.
    limit: u64,
    /// Next byte in the data area.
    at: usize,
    /// Size of the data area; 0 while there is none.
    data_size: usize,
    /// No packet reaches beyond this byte of it.
    turn: usize,
    /// How much of it can be touched, from its beginning.
    present: usize,
    /// Data bytes used since the start, skipped ones included.
    used: u64,
    /// Data bytes given back, as last seen.
    freed: u64,
    /// Data bytes that may be used since the start: the size, and what was given back.
    granted: u64,
}

/// Room in the data area for one packet, reserved but not sent.
#[derive(Debug)]
#[must_use]
pub struct Bulk {
    /// Where the bytes go; aligned to 64.
    pub ptr: *mut u8,
    /// How many fit: what was asked for.
    pub len: usize,
    place: PacketSpan,
}

/// How many packets ahead the line of a cell is fetched from the consumer's core.
const AHEAD: u64 = 4;

impl<A: Area> Producer<A> {
    /// The sending end of a fresh (zeroed) ring without a data area.
    ///
    /// # Safety
    /// `area` must have `cells` cells and no other producer.
    ///
    /// # Panics
    /// If `cells` is no power of two, or less than 2.
    pub unsafe fn new(area: A, cells: usize) -> Self {
        assert!(
            cells.is_power_of_two() && cells >= 2,
            "a ring of {cells} cells"
        );
        Producer {
            area,
            mask: cells as u64 - 1,
            shift: cells.trailing_zeros(),
            sent: 0,
            limit: cells as u64,
            at: 0,
            data_size: 0,
            turn: 0,
            present: 0,
            used: 0,
            freed: 0,
            granted: 0,
        }
    }

    /// An end that never has room, for places where no ring exists yet.
    ///
    /// # Safety
    /// Only `has_room` and `can_reserve` may be called; `area` may be anything.
    pub unsafe fn closed(area: A) -> Self {
        Producer {
            area,
            mask: 0,
            shift: 0,
            sent: 0,
            limit: 0,
            at: 0,
            data_size: 0,
            turn: 0,
            present: 0,
            used: 0,
            freed: 0,
            granted: 0,
        }
    }

    /// Adds the data area, of which nothing can be touched before [`Producer::extend_data`] says
    /// so.
    ///
    /// # Safety
    /// `area` must be the ring's memory, now with `size` data bytes.
    ///
    /// # Panics
    /// If there is one already, or `size` is not a positive multiple of 64.
    pub unsafe fn attach_data(&mut self, area: A, size: usize) {
        assert!(self.data_size == 0 && size > 0 && size.is_multiple_of(ALIGN));
        self.area = area;
        self.data_size = size;
        self.turn = size;
        self.granted = self.freed + size as u64;
    }

    /// From now on the producer goes back to the beginning of the data area where a packet would
    /// reach beyond byte `turn`, or where the area ends, if that is sooner: packets that take turns
    /// in less memory find it in the caches. At least twice the length of the packets that follow.
    #[inline(always)]
    pub fn turn_at(&mut self, turn: usize) {
        self.turn = turn.min(self.data_size);
    }

    /// Whether a packet of `len` bytes, the next one, is the first that reaches beyond byte `end`.
    #[inline(always)]
    pub fn crosses(&self, end: usize, len: usize) -> bool {
        self.at <= end && self.at + len.next_multiple_of(ALIGN) > end
    }

    /// Whether all data is known to have been given back.
    #[inline(always)]
    pub fn is_drained(&self) -> bool {
        self.freed == self.used
    }

    /// The first `present` bytes of the data area can be touched.
    ///
    /// # Panics
    /// If the area is not so long, or they were more before.
    pub fn extend_data(&mut self, present: usize) {
        assert!((self.present..=self.data_size).contains(&present));
        self.present = present;
    }

    /// Where the data area begins.
    pub fn data(&self) -> *mut u8 {
        self.area.data(0)
    }

    /// How many bytes of the data area can be touched.
    pub fn present(&self) -> usize {
        self.present
    }

    /// How many must be for a packet of `len` bytes to be the next one; at most the size.
    pub fn reach(&self, len: usize) -> usize {
        let place = self.place(len);
        place.from + place.need
    }

    /// Where the next packet of `len` bytes goes.
    #[inline(always)]
    fn place(&self, len: usize) -> PacketSpan {
        let anew = self.at + len.next_multiple_of(ALIGN) > self.turn;
        place(self.at, len, self.data_size, anew)
    }

    /// Size of the data area in bytes; 0 if there is none.
    #[inline(always)]
    pub fn data_size(&self) -> usize {
        self.data_size
    }

    /// Whether a cell is known to be free. Cost: no shared memory is read.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.sent != self.limit
    }

    /// Learns what the consumer has given back; true if a cell is free.
    ///
    /// # Errors
    /// [`Corrupt`] if the consumer gave back what it never had.
    #[cold]
    #[inline(never)]
    pub fn refresh(&mut self) -> Result<bool, Corrupt> {
        // R2: pairs with R1; what was given back may be written again.
        let head = self.area.head().load(Acquire);
        let seen = self.limit - (self.mask + 1);
        if head.wrapping_sub(seen) > self.sent - seen {
            return Err(Corrupt {
                what: "the count of cells given back",
                found: head,
            });
        }
        self.limit = head + self.mask + 1;
        let freed = self.area.freed().load(Acquire);
        if freed.wrapping_sub(self.freed) > self.used - self.freed {
            return Err(Corrupt {
                what: "the count of bytes given back",
                found: freed,
            });
        }
        self.freed = freed;
        self.granted = freed + self.data_size as u64;
        Ok(self.has_room())
    }

    /// Whether the consumer has given anything back that `refresh` has not
    /// seen yet.
    pub fn moved(&self) -> bool {
        let seen = self.limit - (self.mask + 1);
        self.area.head().load(Acquire) != seen || self.area.freed().load(Acquire) != self.freed
    }

    /// Sends a packet of up to 32 bytes, which `fill` writes. The low byte of
    /// `words[0]` is lost.
    ///
    /// Only after [`Producer::has_room`] said so.
    #[inline(always)]
    pub fn push(&mut self, words: [u64; 3], len: usize, fill: impl FnOnce(*mut u8)) {
        debug_assert!(len <= INLINE && self.has_room());
        let cell = (self.sent & self.mask) as usize;
        self.area.writes(Touch::Cell(cell));
        fill(self.area.rest(cell).wrapping_add(PAYLOAD_AT));
        self.publish(cell, words, len as u32, 0);
        let next = (self.sent + AHEAD) & self.mask;
        self.area.will_write(next as usize);
    }

    /// Whether a packet of `len` bytes is known to fit in the data area.
    #[inline(always)]
    pub fn can_reserve(&self, len: usize) -> bool {
        let place = self.place(len);
        self.used + (place.skip + place.need) as u64 <= self.granted
            && place.from + place.need <= self.present
    }

    /// Where the `len` bytes lie that come `ahead` bytes after the next one to
    /// be written, if they are in one piece and known to be free.
    pub fn free_at(&self, ahead: usize, len: usize) -> Option<*const u8> {
        let at = self.at + ahead;
        let (from, skip) = match at < self.turn {
            true => (at, 0),
            false => (at - self.turn, self.data_size - self.turn),
        };
        let is_free = self.used + (skip + ahead + len) as u64 <= self.granted;
        (is_free && from + len <= self.present).then(|| self.area.data(from).cast_const())
    }

    /// Reserves room in the data area, which [`Producer::commit`] sends.
    ///
    /// Only after [`Producer::can_reserve`] said so for this length.
    #[inline(always)]
    pub fn reserve(&mut self, len: usize) -> Bulk {
        debug_assert!(len <= self.turn / 2 && self.can_reserve(len));
        let place = self.place(len);
        self.area.writes(Touch::Data {
            from: place.from,
            len: place.need,
        });
        Bulk {
            ptr: self.area.data(place.from),
            len,
            place,
        }
    }

    /// Sends what was written into `bulk`; `flags` travel along.
    ///
    /// Only after [`Producer::has_room`] said so.
    #[inline(always)]
    pub fn commit(&mut self, words: [u64; 3], bulk: Bulk, flags: u32) {
        debug_assert!(bulk.len > INLINE && self.has_room());
        self.at = bulk.place.from + bulk.place.need;
        self.used += (bulk.place.skip + bulk.place.need) as u64;
        let cell = (self.sent & self.mask) as usize;
        self.area.writes(Touch::Cell(cell));
        let anew = if bulk.place.anew { ANEW } else { 0 };
        self.publish(cell, words, bulk.len as u32 | anew, flags);
    }

    #[inline(always)]
    fn publish(&mut self, cell: usize, words: [u64; 3], len: u32, flags: u32) {
        let rest = self.area.rest(cell).cast::<u64>();
        // SAFETY: `rest` is valid for 56 bytes and aligned (`Area`), and the
        // cell is ours: it is free (R2), and W1 has not happened.
        unsafe {
            rest.write(words[1]);
            rest.add(1).write(words[2]);
            rest.add(2).write(u64::from(len) | u64::from(flags) << 32);
        }
        let word = words[0] & !0xff | u64::from(stamp(self.sent, self.shift));
        // W1: publishes cell and data; pairs with W2.
        self.area.word(cell).store(word, Release);
        self.sent += 1;
    }
}
