//! The shared memory of a board: how long its parts are, and where they lie.
//!
//! | part of a member | bytes      | what                          |
//! |------------------|------------|-------------------------------|
//! | done counter     | 8          | see `member`                  |
//! | lacks            | 24         | see `lacks`                   |
//! | votes            | 32         | what it brings to agreements: see `verdict` of `base` |
//! | rounds           | 64         | see `rounds`                  |
//! | records          | lines × 64 | stamp, meta, 48 bytes payload |
//!
//! Behind the parts of all members are the verdicts on their agreements (see `verdict` of `base`),
//! and behind those the rings of each member, two at most, for longer payloads. Their memory is
//! provided when it is used first.
//!
//! Every position is computed here or clipped to the ring, whatever a member has written.

use std::sync::atomic::{
    AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use catena_base::verdict::{Verdicts, Votes};

use crate::board::{FAILED, GONE, LOST};
use crate::limits::{INLINE, LINE, Limits, ROUNDS};
use crate::payload::{Payload, PayloadPlace};

/// Two lines: processors fetch them in pairs.
const COUNTER: usize = 128;
/// Where the votes lie: in the line of the counter, which rests meanwhile.
const VOTES: usize = 32;
/// Room for the verdicts.
const VERDICTS: usize = 128;
/// Where the payload, or the word that says where it is, begins in a record.
pub(crate) const PAYLOAD: usize = 16;

/// Where the parts of a board lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardShape {
    pub(crate) size: usize,
    pub(crate) lines: usize,
    pub(crate) ring: usize,
    pub(crate) long: usize,
}

/// Bytes of the long ring of each of a few members: what was written there has left the nearest
/// cache of who read it before it is written again. Measured here, where those have 1 MiB, a gather
/// of 1 MiB takes 68 µs with it, 73 with twice as many bytes, and 82 with a ring of 512 KiB.
const LONG_RING: usize = 2 << 20;

/// A board of at most this many members has long rings.
const LONG_MEMBERS: usize = 8;

/// The least ring, and the fewest records, of a member.
const SMALL_RING: usize = 8 << 10;
const SMALL_LINES: usize = 16;

impl BoardShape {
    /// The board of `size` members; the more there are, the less each has. Where
    /// there are more ranks than cores, `oversubscribed`, to hand a core on takes as
    /// long as many calls: there must be room for those that can be made before.
    pub fn new(size: u32, oversubscribed: bool) -> Self {
        let size = size as usize;
        // The rings of a few members stay in the nearest caches even so.
        let most = if size <= 8 { 512 << 10 } else { 256 << 10 };
        let ring = ((4 << 20) / size.next_power_of_two()).clamp(SMALL_RING, most);
        let lines = match size {
            0..=32 if oversubscribed => 256,
            0..=16 => 64,
            _ => SMALL_LINES,
        };
        BoardShape {
            size,
            lines,
            ring,
            long: 0,
        }
    }

    /// The smallest board of as many members, for programs with many communicators.
    pub fn small(self) -> Self {
        BoardShape {
            lines: SMALL_LINES.min(self.lines),
            ring: SMALL_RING.min(self.ring),
            long: 0,
            ..self
        }
    }

    /// This board for payloads that fit into records.
    pub fn with_short_rings(self) -> Self {
        BoardShape {
            ring: SMALL_RING.min(self.ring),
            long: 0,
            ..self
        }
    }

    /// This board with long rings, if it is for a few.
    pub fn with_long_rings(self) -> Option<Self> {
        let long = LONG_RING;
        (self.size <= LONG_MEMBERS).then_some(BoardShape { long, ..self })
    }

    /// What the members must know of it; blocks of `direct` bytes and more are reached directly.
    pub const fn limits(&self, direct: usize) -> Limits {
        Limits {
            lines: self.lines as u64,
            ring: self.ring,
            long: self.long,
            direct,
        }
    }

    const fn member(&self) -> usize {
        COUNTER + self.lines * LINE
    }

    pub(crate) const fn rings(&self) -> usize {
        self.ring + self.long
    }

    /// Bytes before the rings.
    pub(crate) const fn head(&self) -> usize {
        self.size * self.member() + VERDICTS
    }

    /// Bytes in all.
    pub const fn bytes(&self) -> usize {
        self.head() + self.size * self.rings()
    }
}

/// The mapped memory of a board.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    base: *mut u8,
    /// Bytes of each member.
    member: usize,
    /// Bits of the place of a record among those of its owner.
    places: usize,
    /// Where the rings begin.
    rings: *mut u8,
    pub(crate) shape: BoardShape,
}

impl Area {
    /// A board at `base`.
    ///
    /// # Safety
    /// `base` is aligned to 64 and valid for `shape.bytes()` as long as the
    /// area is used.
    pub unsafe fn new(base: *mut u8, shape: BoardShape) -> Self {
        Area {
            base,
            member: shape.member(),
            places: (shape.lines - 1) * LINE,
            rings: base.wrapping_add(shape.head()),
            shape,
        }
    }

    /// Where it begins.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    #[inline(always)]
    fn member(&self, rank: u32) -> *mut u8 {
        debug_assert!((rank as usize) < self.shape.size);
        self.base.wrapping_add(rank as usize * self.member)
    }

    #[inline]
    pub(crate) fn counter(&self, rank: u32) -> &AtomicU64 {
        // SAFETY: within the area, which is aligned and only holds atomics
        // there: ranks are below the size of the communicator.
        unsafe { AtomicU64::from_ptr(self.member(rank).cast()) }
    }

    /// See [`Board::lacks`](crate::Board::lacks).
    #[inline]
    pub(crate) fn lacks(&self, rank: u32) -> &AtomicU64 {
        // SAFETY: as in `counter`; the word behind it.
        unsafe { AtomicU64::from_ptr(self.member(rank).cast::<u64>().add(1)) }
    }

    /// How often member `rank` has begun the operation that counts its rounds at `place`.
    #[inline]
    pub(crate) fn round(&self, rank: u32, place: usize) -> &AtomicU32 {
        const { assert!(LINE + ROUNDS * size_of::<u32>() <= COUNTER) };
        assert!(place < ROUNDS);
        // SAFETY: as in `counter`; the line behind it.
        unsafe { AtomicU32::from_ptr(self.member(rank).add(LINE).cast::<u32>().add(place)) }
    }

    /// What a member brings to agreements.
    #[inline]
    pub(crate) fn votes(&self, rank: u32) -> &Votes {
        const { assert!(VOTES + size_of::<Votes>() <= LINE) };
        // SAFETY: as in `counter`; it is zero at first, and only holds atomics.
        unsafe { &*self.member(rank).add(VOTES).cast() }
    }

    /// What all members come to that agree.
    #[inline]
    pub(crate) fn verdicts(&self) -> &Verdicts {
        // SAFETY: within the area, and aligned, as the parts of members are whole lines; it is zero
        // at first, and only holds atomics.
        unsafe { &*self.behind_members().cast() }
    }

    fn behind_members(&self) -> *mut u8 {
        self.rings.wrapping_sub(VERDICTS)
    }

    #[inline(always)]
    pub(crate) fn record(&self, rank: u32, seq: u64) -> *mut u8 {
        let at = (seq as usize).wrapping_mul(LINE) & self.places;
        self.member(rank).wrapping_add(COUNTER + at)
    }

    #[inline(always)]
    pub(crate) fn ring(&self, rank: u32) -> *mut u8 {
        debug_assert!((rank as usize) < self.shape.size);
        self.rings.wrapping_add(rank as usize * self.shape.rings())
    }

    #[inline(always)]
    pub(crate) fn word(&self, rank: u32, seq: u64, at: usize) -> &AtomicU64 {
        // SAFETY: as in `counter`; `at` is 0, 8 or 16.
        unsafe { AtomicU64::from_ptr(self.record(rank, seq).add(at).cast()) }
    }

    /// Whose ring a payload is in, whatever its owner says.
    #[inline(always)]
    pub(crate) fn ring_of(&self, p: &Payload) -> u32 {
        match self.shape.size {
            2 => p.ring_of(),
            _ => p.rank,
        }
    }

    /// Up to `len` bytes at `at` of a payload on the board: clipped to where
    /// payloads can be.
    #[inline(always)]
    pub(crate) fn clip(&self, p: &Payload, at: usize, len: usize) -> (*mut u8, usize) {
        let (base, from, room) = if p.place == PayloadPlace::Line {
            (self.record(p.rank, p.seq).wrapping_add(PAYLOAD), 0, INLINE)
        } else {
            let (from, end) = p.ring_place(&self.shape.limits(usize::MAX));
            (self.ring(self.ring_of(p)), from, end)
        };
        let from = from.saturating_add(at).min(room);
        (base.wrapping_add(from), len.min(room - from))
    }

    /// Readies memory that another board may have had. Nobody reads a ring before it is written.
    pub fn clear(&self) {
        // SAFETY: within the area, which nobody else uses yet.
        unsafe { self.base.write_bytes(0, self.shape.head()) };
    }

    /// Says that member `rank` gave up.
    pub fn fail(&self, rank: u32) {
        self.counter(rank).store(FAILED, Release);
    }

    /// Says that member `rank` will never look at the board again.
    pub fn leave(&self, rank: u32) {
        let counter = self.counter(rank);
        let mark = match counter.load(Relaxed) {
            FAILED => LOST,
            _ => GONE,
        };
        counter.store(mark, Release);
    }

    /// Whether nobody will look at it again.
    pub fn is_deserted(&self) -> bool {
        let mut members = 0..self.shape.size as u32;
        members.all(|r| matches!(self.counter(r).load(Acquire), GONE | LOST))
    }
}
