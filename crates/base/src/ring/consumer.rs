//! The receiving end.

use super::{ANEW, Area, Corrupt, GIVEN_BACK, INLINE, PAYLOAD_AT, PacketSpan, Touch, place, stamp};
use crate::mem::PeerBytes;
use crate::sync::Ordering::{Acquire, Release};

/// The receiving end of a ring. There is one per ring.
#[derive(Debug)]
pub struct Consumer<A> {
    area: A,
    mask: u64,
    shift: u32,
    /// Packets taken since the start.
    got: u64,
    /// What `head` says.
    published: u64,
    at: usize,
    data_size: usize,
    /// How much of it can be touched, from its beginning.
    present: usize,
    /// Data bytes taken since the start, skipped ones included.
    taken: u64,
    /// What `freed` says.
    freed: u64,
}

/// What one cell brought.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The header; the low byte of the first word is the ring's own.
    pub words: [u64; 3],
    /// What the producer passed to `commit`; 0 for a packet inside a cell.
    pub flags: u32,
    /// The payload, as untrusted as the rest.
    pub bytes: PeerBytes<'a>,
}

/// Why no packet could be taken although one is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its payload reaches up to this byte of the data area, which is not present yet; 0 if no area
    /// is attached.
    Absent(usize),
    /// It is nonsense. The ring cannot be used any more.
    Corrupt(Corrupt),
}

impl<A: Area> Consumer<A> {
    /// The receiving end of a ring without a data area.
    ///
    /// # Safety
    /// `area` must have `cells` cells and no other consumer.
    ///
    /// # Panics
    /// If `cells` is no power of two, or less than 2.
    pub unsafe fn new(area: A, cells: usize) -> Self {
        assert!(
            cells.is_power_of_two() && cells >= 2,
            "a ring of {cells} cells"
        );
        Consumer {
            area,
            mask: cells as u64 - 1,
            shift: cells.trailing_zeros(),
            got: 0,
            published: 0,
            at: 0,
            data_size: 0,
            present: 0,
            taken: 0,
            freed: 0,
        }
    }

    /// Adds the data area, of which nothing is touched before [`Consumer::extend_data`] says so.
    ///
    /// # Safety
    /// `area` must be the ring's memory, now with `size` data bytes.
    ///
    /// # Panics
    /// If there is one already, or `size` is not a positive multiple of 64.
    pub unsafe fn attach_data(&mut self, area: A, size: usize) {
        assert!(self.data_size == 0 && size > 0 && size.is_multiple_of(super::ALIGN));
        self.area = area;
        self.data_size = size;
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

    /// Whether a packet is there.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        let cell = (self.got & self.mask) as usize;
        self.area.word(cell).load(Acquire) as u8 == stamp(self.got, self.shift)
    }

    /// How many cells were given back so far.
    #[inline(always)]
    pub fn given_back(&self) -> u64 {
        self.published
    }

    /// Takes one packet, if there is one, and shows it to `take`.
    ///
    /// # Errors
    /// See [`Stop`]; then `take` was not called.
    #[inline(always)]
    pub fn pop(&mut self, take: impl FnOnce(Packet<'_>)) -> Result<bool, Stop> {
        let cell = (self.got & self.mask) as usize;
        // W2: pairs with W1; cell and data are ours now.
        let word = self.area.word(cell).load(Acquire);
        if word as u8 != stamp(self.got, self.shift) {
            return Ok(false);
        }
        self.area.reads(Touch::Cell(cell));
        let rest = self.area.rest(cell);
        // SAFETY: `rest` is valid for 56 bytes and aligned (`Area`). Volatile:
        // each is read once, so what is checked is what is used.
        let (words, meta) = unsafe {
            let at = rest.cast::<u64>();
            (
                [word, at.read_volatile(), at.add(1).read_volatile()],
                at.add(2).read_volatile(),
            )
        };
        let len = meta as u32 as usize;
        if len > INLINE {
            return self.pop_bulk(words, meta, take);
        }
        // SAFETY: 32 bytes of the cell, which stays mapped as long as
        // `area`, and ours until R1.
        let bytes = unsafe { PeerBytes::new(rest.wrapping_add(PAYLOAD_AT), len) };
        take(Packet {
            words,
            flags: 0,
            bytes,
        });
        self.got += 1;
        // A quarter at a time: the line that says so travels to the producer.
        if self.got - self.published > self.mask >> 2 {
            self.give_back();
        }
        Ok(true)
    }

    /// [`Consumer::pop`] of a packet in the data area.
    #[inline(never)]
    fn pop_bulk(
        &mut self,
        words: [u64; 3],
        meta: u64,
        take: impl FnOnce(Packet<'_>),
    ) -> Result<bool, Stop> {
        let (told, flags) = (meta as u32, (meta >> 32) as u32);
        let (len, anew) = ((told & !ANEW) as usize, told & ANEW != 0);
        let PacketSpan {
            from, skip, need, ..
        } = place(self.at, len, self.data_size, anew);
        if from + need > self.present {
            return Err(self.cannot_take(len, from + need));
        }
        self.area.reads(Touch::Data { from, len: need });
        // SAFETY: from + len is at most `present`, as just checked. The bytes are ours until R1.
        let bytes = unsafe { PeerBytes::new(self.area.data(from), len) };
        take(Packet {
            words,
            flags,
            bytes,
        });
        self.at = from + need;
        self.taken += (skip + need) as u64;
        self.got += 1;
        let due = self.taken - self.freed > (self.data_size / 4).min(GIVEN_BACK) as u64;
        if due || self.got - self.published > self.mask >> 2 {
            self.give_back();
        }
        Ok(true)
    }

    /// Why the payload of `len` bytes up to `end` cannot be touched.
    #[cold]
    fn cannot_take(&self, len: usize, end: usize) -> Stop {
        match self.data_size {
            0 => Stop::Absent(0),
            size if len > size / 2 || end > size => Stop::Corrupt(Corrupt {
                what: "the length of a packet",
                found: len as u64,
            }),
            _ => Stop::Absent(end),
        }
    }

    /// Several packets may be there: fetches one that comes soon.
    #[inline(always)]
    pub fn fetch_ahead(&self) {
        self.area.will_read(((self.got + 2) & self.mask) as usize);
    }

    /// Gives back everything taken so far, for when nothing is left to do.
    #[inline(always)]
    pub fn idle(&mut self) {
        if self.got != self.published {
            self.give_back();
        }
    }

    #[inline]
    fn give_back(&mut self) {
        // R1: cells and bytes are the producer's again; pairs with R2.
        if self.taken != self.freed {
            self.freed = self.taken;
            self.area.freed().store(self.taken, Release);
        }
        self.published = self.got;
        self.area.head().store(self.got, Release);
    }
}
