//! What a member publishes, and where it is.

use crate::limits::Limits;

/// How a payload gets to those who want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PayloadPlace {
    /// In the record itself: at most `INLINE` bytes, one cache line in all.
    Line,
    /// In the ring of bytes behind the records.
    Ring,
    /// Not at all: it stays in the buffers of the program, where the others
    /// read it, or write it themselves, and its owner waits for them.
    Direct,
}

/// In the position of a payload of one of two members: it is in the ring of the other one.
pub const SWAPPED: u64 = 1 << 63;

/// In the position of a payload: it is in a long ring.
pub const IN_LONG: u64 = 1 << 62;

/// In the position of a payload: its readers had better leave its lines where they are.
pub const LEFT: u64 = 1 << 61;

/// What one member publishes in one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Payload {
    /// How it gets to the others.
    pub place: PayloadPlace,
    /// Its owner.
    pub rank: u32,
    /// The operation.
    pub seq: u64,
    /// In a ring: the position, counted without end, to which [`IN_LONG`] and [`LEFT`] may be
    /// added, and [`SWAPPED`] of two. Direct: the address.
    pub at: u64,
    /// Whether its readers had better take its lines, see [`Board::get`](crate::Board::get).
    pub is_taken: bool,
}

impl Payload {
    /// A payload in the memory of the same owner, at another address.
    pub(crate) fn direct(&self, at: u64) -> Self {
        let place = PayloadPlace::Direct;
        Payload { place, at, ..*self }
    }

    /// Whose ring it is in.
    #[inline(always)]
    pub fn ring_of(&self) -> u32 {
        self.rank ^ u32::from(self.at & SWAPPED != 0)
    }

    /// Where it is, and where its ring ends: bytes behind the begin of the ring of its
    /// [owner](Payload::ring_of), which the long one follows if there is one.
    #[inline(always)]
    pub fn ring_place(&self, limits: &Limits) -> (usize, usize) {
        let (begin, bytes) = match self.at & IN_LONG {
            IN_LONG if limits.long > 0 => (limits.ring, limits.long),
            _ => (0, limits.ring),
        };
        (begin + (self.at as usize & (bytes - 1)), begin + bytes)
    }

    /// The part of the payload that is in its owner's ring: a table.
    pub(crate) fn ring(&self) -> Self {
        let place = PayloadPlace::Ring;
        Payload { place, ..*self }
    }
}
