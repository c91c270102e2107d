//! What the members of a board share, and how it is reached.

use std::fmt;

use catena_schedule::{Order, Region};

use super::Kind;
use super::error::{Refused, Trouble};
use crate::Collective;

/// How a payload gets to those who want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Place {
    /// In the record itself: at most [`INLINE`] bytes, one cache line in all.
    Line,
    /// In the ring of bytes behind the records.
    Ring,
    /// Not at all: it stays in the buffers of the program, where the others
    /// read it, or write it themselves, and its owner waits for them.
    Direct,
}

/// What a member says in place of the operations that it has completed when it has
/// left the board for good.
pub const GONE: u64 = u64::MAX;

/// When it had given up before.
pub const LOST: u64 = u64::MAX - 1;

/// When it gives up: it uses nobody's memory any more, but looks if others use its own.
pub const FAILED: u64 = u64::MAX - 2;

/// Bytes of payload that share a cache line with stamp and meta, 8 bytes each.
pub const INLINE: usize = 48;

/// In the position of a payload of one of two members: it is in the ring of the other one.
pub const SWAPPED: u64 = 1 << 63;

/// In the position of a payload: it is in a long ring.
pub const IN_LONG: u64 = 1 << 62;

/// The same: who reads it had better leave its lines where they are.
pub const LEFT: u64 = 1 << 61;

/// What one member publishes in one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Payload {
    /// How it gets to the others.
    pub place: Place,
    /// Its owner.
    pub rank: u32,
    /// The operation.
    pub seq: u64,
    /// In a ring: the position, counted without end, to which [`IN_LONG`] and [`LEFT`] may be added, and
    /// [`SWAPPED`] of two. Direct: the address.
    pub at: u64,
    /// Whether who reads it had better take its lines, see [`Board::get`].
    pub is_taken: bool,
}

impl Payload {
    /// The same owner's memory at another address.
    pub(super) fn direct(&self, at: u64) -> Self {
        let place = Place::Direct;
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

    /// The same owner's ring.
    pub(super) fn ring(&self) -> Self {
        let place = Place::Ring;
        Payload { place, ..*self }
    }
}

/// The size of a board; alike for all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Records of each member, a power of two, at least 2.
    pub lines: u64,
    /// Bytes of each member's ring, a power of two, at least 256.
    pub ring: usize,
    /// Bytes of a second ring of each member, for operations that do not fit into the first; a power
    /// of two, or 0.
    pub long: usize,
    /// From this many bytes on a block is reached directly; `usize::MAX` if
    /// members cannot.
    pub direct: usize,
}

/// Memory shared by the members of a communicator on one node, as one of them
/// sees it, and that member's buffers.
///
/// Each member owns [`Limits::lines`] records of one cache line, a ring of
/// bytes or two, and one counter in a line of its own. Operation `seq` uses record
/// `seq % lines`. Only the owner writes; everybody reads. At the start
/// everything is zero.
///
/// What a peer wrote is not trusted: whatever it contains, implementations
/// stay within the ring and the buffers.
pub trait Board {
    /// The stamp of `rank`'s record for operation `seq` (Acquire); equals `seq`
    /// once that is published. May look more than once before it says another.
    fn stamp(&self, rank: u32, seq: u64) -> u64;

    /// The meta word of `rank`'s record for operation `seq`.
    fn meta(&self, rank: u32, seq: u64) -> u64;

    /// What `rank` published for operation `seq`.
    fn payload(&self, rank: u32, seq: u64, place: Place) -> Payload;

    /// Copies `from` to byte `at` of the own payload, which is not direct.
    fn put(&mut self, to: &Payload, at: usize, from: Region);

    /// The same with a number.
    fn put_word(&mut self, to: &Payload, at: usize, word: u32);

    /// Publishes the own record of an operation, which one `reader` wants or
    /// several do: meta, where the payload is unless in the record, then the
    /// stamp (Release).
    fn publish(&mut self, own: &Payload, meta: u64, reader: Option<u32>);

    /// Copies bytes from `at` on of a payload. If it is to be taken, they may be written as they
    /// are, so that the owner need not take their lines away before it writes there again.
    ///
    /// # Errors
    /// If the kernel lets nobody reach it.
    fn get(&mut self, from: &Payload, at: usize, into: Region) -> Result<(), Refused>;

    /// Copies `from` to byte `at` of another member's direct payload.
    ///
    /// # Errors
    /// As [`Board::get`].
    fn give(&mut self, to: &Payload, at: usize, from: Region) -> Result<(), Refused>;

    /// A number from a payload that is not direct.
    fn word(&self, from: &Payload, at: usize) -> u32;

    /// Combines bytes from `at` on of a payload with `into`; see
    /// [`catena_schedule::Step::Reduce`].
    ///
    /// # Errors
    /// As [`Board::get`], and `NoMemory`.
    fn combine(
        &mut self,
        from: &Payload,
        at: usize,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble>;

    /// Combines bytes from `at` on of a payload with `own`, as [`Board::combine`]
    /// does, but puts the result elsewhere: the two do not overlap.
    ///
    /// # Errors
    /// As [`Board::combine`].
    fn join(
        &mut self,
        from: &Payload,
        at: usize,
        own: Region,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble>;

    /// Combines bytes from `at` on of two payloads, which got here the same way, and puts the result
    /// elsewhere: the first of them is the left operand.
    ///
    /// # Errors
    /// As [`Board::combine`].
    fn pair(&mut self, of: (&Payload, &Payload), at: usize, into: Region) -> Result<(), Trouble>;

    /// Makes sure that scratch memory has `len` bytes. What it held is lost.
    ///
    /// # Errors
    /// `NoMemory`.
    fn reserve(&mut self, len: usize) -> Result<(), Trouble>;

    /// Copies between the own buffers; the two do not overlap.
    fn copy(&mut self, from: Region, into: Region);

    /// [`Board::copy`] of a part of this member's own block, which has `whole` bytes.
    fn keep(&mut self, from: Region, into: Region, _whole: usize) {
        self.copy(from, into);
    }

    /// Combines own buffers; the two do not overlap.
    ///
    /// # Errors
    /// `NoMemory`.
    fn fold(&mut self, from: Region, into: Region, order: Order) -> Result<(), Trouble>;

    /// Where the others find a part of the own buffers.
    fn address(&mut self, of: Region) -> u64;

    /// Says that this member has completed all operations below `seq`
    /// (Release).
    fn set_done(&mut self, seq: u64);

    /// What `rank` said last with [`Board::set_done`] (Acquire), or [`FAILED`],
    /// [`LOST`] or [`GONE`].
    fn done(&self, rank: u32) -> u64;

    /// This member waits for `rank`, and has for some time.
    fn awaits(&mut self, _rank: u32) {}

    /// Operation `seq` will be published soon: a good time to fetch the record
    /// for writing.
    fn warm(&mut self, _seq: u64) {}

    /// Whether long payloads had better pass through the ring from now on, as far as this member
    /// sees; it publishes one of that place. Of two members the first is asked.
    fn prefers_ring(&mut self, _place: Place) -> bool {
        false
    }

    /// The next `len` bytes at `at` of the own ring will be written soon: a good
    /// time to fetch the first of them.
    fn warm_ring(&mut self, _at: u64, _len: usize) {}

    /// Whether those who read the own payload in the long ring had better leave its lines where they
    /// are, instead of taking them.
    fn leaves(&mut self) -> bool {
        false
    }

    /// `rank` has probably published operation `seq` already: a good time to
    /// fetch the record for reading.
    fn expect(&self, _rank: u32, _seq: u64) {}
}

/// What a member says about its call, so that calls that do not fit are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Number of the [`Kind`].
    pub kind: u8,
    /// What else must be alike, as [`Node::start`](super::Node::start) was told; its lowest 22 bits.
    pub detail: u32,
    /// Bytes, modulo 2³¹.
    pub bytes: u32,
}

impl Meta {
    /// The bits for what is called and its detail.
    pub(super) const CALL: u64 = 0x3E3F_FFFF << 32;
    /// Those for the bytes.
    pub(super) const BYTES: u64 = 0x7FFF_FFFF;
    /// The one that says that the member prefers the ring for long payloads.
    pub(super) const RING: u64 = 1 << 31;

    /// That bit.
    #[inline(always)]
    pub(super) fn ring(preferred: bool) -> u64 {
        u64::from(preferred) << 31
    }

    /// As a word; `detail` is that of an [`Op`](super::Op), with its [`Past`].
    pub(super) fn pack(kind: Kind, place: Place, detail: u32, bytes: usize) -> u64 {
        let first = kind as u64 | (place as u64) << 5;
        first << 57 | u64::from(detail & Past::DETAIL) << 32 | (bytes as u64 & Self::BYTES)
    }

    /// What a member says of an operation of that kind with that detail.
    pub(super) fn new(kind: Kind, detail: u32, bytes: u64) -> Self {
        Meta::unpack(Meta::pack(kind, Place::Line, detail, bytes as usize))
    }

    pub(super) fn unpack(word: u64) -> Self {
        Meta {
            kind: (word >> 57) as u8 & 0x1F,
            detail: (word >> 32) as u32 & Past::BELOW,
            bytes: (word & Self::BYTES) as u32,
        }
    }

    /// What is called; one of its forms.
    pub fn what(&self) -> Option<Collective> {
        Kind::collective_of(self.kind)
    }

    pub(super) fn place(word: u64) -> Place {
        match word >> 62 {
            0 => Place::Line,
            1 => Place::Ring,
            _ => Place::Direct,
        }
    }
}

/// A sum over the calls that a member began, by which others notice that it has called something
/// else, though nobody read it: two roots, say, each for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Past(u32);

impl Past {
    /// Its place in the detail of an operation.
    const SHIFT: u32 = 22;
    const BELOW: u32 = (1 << Past::SHIFT) - 1;
    /// The detail of an operation, with three bits of it.
    const DETAIL: u32 = (1 << (Past::SHIFT + 3)) - 1;

    /// The detail of a call that begins, with what was before; from now on that is one of it.
    #[inline(always)]
    pub fn detail(&mut self, kind: Kind, detail: u32) -> u32 {
        let before = self.0 << Past::SHIFT;
        // Details that differ by less than eight, or in their upper bits alone, make a difference,
        // and 3 is a unit modulo 8: it stays.
        let what = [detail, detail >> 3, detail >> 16, kind as u32];
        self.0 = what
            .into_iter()
            .fold(self.0.wrapping_mul(3), u32::wrapping_add);
        before | detail & Past::BELOW
    }
}

impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.what().map_or("something unknown", Collective::name);
        write!(f, "{name} ({}) with {} bytes", self.detail, self.bytes)
    }
}
