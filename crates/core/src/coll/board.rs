//! The board of a communicator whose members share a node: the memory behind
//! [`catena_coll::node`].
//!
//! | part of a member | bytes                  | what                          |
//! |------------------|------------------------|-------------------------------|
//! | done counter     | 64                     | see `node`                    |
//! | records          | [`LINES`] × 64         | stamp, meta, 48 bytes payload |
//! | slots            | [`SLOTS`] × `capacity` | longer payloads               |
//!
//! Members may write it at any time, so it is read with atomics and raw copies
//! only, and every position is computed here, never taken from it.

use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use catena_base::copy;
use catena_coll::node::{Board, INLINE, Place};
use catena_plan::{Order, Region};
use catena_shm::Bell;

use super::run::Memory;
use crate::op::Reducer;

/// Records of a member.
pub const LINES: usize = 4;
/// Slots of a member.
pub const SLOTS: usize = 4;

const LINE: usize = 64;
/// Payload within a record.
const PAYLOAD: usize = 16;

/// Where the parts of a board lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    size: usize,
    capacity: usize,
}

impl Shape {
    /// The board of `size` members; the more there are, the smaller their
    /// slots.
    pub fn new(size: u32) -> Self {
        let size = size as usize;
        let capacity = ((256 << 10) / size).clamp(1 << 10, 32 << 10) / LINE * LINE;
        Shape { size, capacity }
    }

    const fn member(&self) -> usize {
        LINE + LINES * LINE + SLOTS * self.capacity
    }

    /// Bytes in all.
    pub const fn bytes(&self) -> usize {
        self.size * self.member()
    }
}

/// The mapped memory of a board.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    base: *mut u8,
    shape: Shape,
}

/// Says that a member will never look at the board again.
const GONE: u64 = u64::MAX;

impl Area {
    /// A board at `base`.
    ///
    /// # Safety
    /// `base` is aligned to 64 and valid for `shape.bytes()` as long as the
    /// area is used.
    pub unsafe fn new(base: *mut u8, shape: Shape) -> Self {
        Area { base, shape }
    }

    fn counter(&self, rank: u32) -> &AtomicU64 {
        let at = rank as usize % self.shape.size * self.shape.member();
        // SAFETY: within the area, which is aligned and only holds atomics
        // there.
        unsafe { AtomicU64::from_ptr(self.base.add(at).cast()) }
    }

    fn record(&self, rank: u32, seq: u64) -> *mut u8 {
        let member = rank as usize % self.shape.size * self.shape.member();
        self.base
            .wrapping_add(member + LINE + seq as usize % LINES * LINE)
    }

    fn word(&self, rank: u32, seq: u64, at: usize) -> &AtomicU64 {
        // SAFETY: as in `counter`; `at` is 0 or 8.
        unsafe { AtomicU64::from_ptr(self.record(rank, seq).add(at).cast()) }
    }

    fn payload(&self, place: Place, rank: u32, seq: u64) -> (*mut u8, usize) {
        match place {
            Place::Line => (self.record(rank, seq).wrapping_add(PAYLOAD), INLINE),
            Place::Slot => {
                let member = rank as usize % self.shape.size * self.shape.member();
                let slot = seq as usize % SLOTS * self.shape.capacity;
                let at = member + LINE + LINES * LINE + slot;
                (self.base.wrapping_add(at), self.shape.capacity)
            }
        }
    }

    /// Says that this member will never look at the board again.
    pub fn leave(&self, rank: u32) {
        self.counter(rank).store(GONE, Release);
    }

    /// Whether nobody will look at it again.
    pub fn is_deserted(&self) -> bool {
        (0..self.shape.size).all(|r| self.counter(r as u32).load(Acquire) == GONE)
    }
}

/// A board as one member sees it during one operation.
#[derive(Debug)]
pub struct View<'a> {
    /// The board.
    pub area: Area,
    /// This member.
    pub rank: u32,
    /// Its buffers.
    pub memory: &'a mut Memory,
    /// The doorbells of the other members.
    pub bells: &'a [Bell],
}

impl View<'_> {
    /// Wakes members that sleep.
    #[inline]
    fn ring(&self) {
        for bell in self.bells {
            bell.ring();
        }
    }

    /// The part of a peer's payload that starts at `at`, clipped to what there
    /// is.
    fn theirs(
        &self,
        place: Place,
        rank: u32,
        seq: u64,
        at: usize,
        len: usize,
    ) -> (*const u8, usize) {
        let (base, room) = self.area.payload(place, rank, seq);
        let at = at.min(room);
        (base.wrapping_add(at), len.min(room - at))
    }
}

impl Board for View<'_> {
    const LINES: u64 = LINES as u64;
    const SLOTS: u64 = SLOTS as u64;

    #[inline]
    fn capacity(&self) -> usize {
        self.area.shape.capacity
    }

    #[inline]
    fn stamp(&self, rank: u32, seq: u64) -> u64 {
        self.area.word(rank, seq, 0).load(Acquire)
    }

    #[inline]
    fn meta(&self, rank: u32, seq: u64) -> u64 {
        self.area.word(rank, seq, 8).load(Relaxed)
    }

    #[inline]
    fn put(&mut self, place: Place, seq: u64, at: usize, from: Region) {
        let (base, room) = self.area.payload(place, self.rank, seq);
        assert!(
            at <= room && from.len <= room - at,
            "payload overruns its slot"
        );
        let source = self.memory.address(from);
        // SAFETY: in bounds as just checked; the record is ours until it is
        // published, and the program lends its buffer.
        unsafe { copy::plain(base.add(at), source, from.len) };
    }

    #[inline]
    fn publish(&mut self, seq: u64, meta: u64) {
        self.area.word(self.rank, seq, 8).store(meta, Relaxed);
        self.area.word(self.rank, seq, 0).store(seq, Release);
        self.ring();
    }

    #[inline]
    fn get(&mut self, place: Place, rank: u32, seq: u64, at: usize, into: Region) {
        let (from, len) = self.theirs(place, rank, seq, at, into.len);
        let to = self.memory.address(into);
        // SAFETY: `theirs` stays within the peer's slot; the program lends its
        // buffer.
        unsafe { copy::plain(to, from, len) };
    }

    #[inline]
    fn combine(
        &mut self,
        place: Place,
        rank: u32,
        seq: u64,
        at: usize,
        into: Region,
        order: Order,
    ) {
        let (from, len) = self.theirs(place, rank, seq, at, into.len);
        let to = self.memory.address(into);
        match &self.memory.reducer {
            Some(Reducer::Kernel { run, size }) => {
                // SAFETY: as in `get`. Predefined operations commute, and their
                // kernels read each element once.
                unsafe { run(from, to, len / size) }
            }
            Some(user) => combine_by_user(user, from, to, len, order),
            None => unreachable!("a reduction has an operation"),
        }
    }

    #[inline]
    fn copy(&mut self, from: Region, into: Region) {
        let (a, b) = (self.memory.address(from), self.memory.address(into));
        // SAFETY: the program lends both buffers.
        unsafe { ptr::copy(a, b, from.len) };
    }

    #[inline]
    fn set_done(&mut self, seq: u64) {
        self.area.counter(self.rank).store(seq, Release);
        self.ring();
    }

    #[inline]
    fn done(&self, rank: u32) -> u64 {
        self.area.counter(rank).load(Acquire)
    }
}

/// A function of the program sees a copy: the peer may write its slot.
#[cold]
fn combine_by_user(user: &Reducer, from: *const u8, to: *mut u8, len: usize, order: Order) {
    let mut copy = super::Scratch::new(len);
    // SAFETY: `from` and `to` are valid for `len` bytes, see `combine`.
    unsafe {
        ptr::copy_nonoverlapping(from, copy.base(), len);
        match order {
            Order::FromLeft => user.apply(copy.base(), to, len),
            Order::FromRight => user.apply_right(copy.base(), to, len),
        }
    }
}
