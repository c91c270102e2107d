//! Collective buffers: windows on the file in memory that all members of a node map.
//!
//! There are two *sets*, so that one is filled while the other is written. A set has a window for
//! each aggregator, one behind the other, and for each member a *mask* with a bit for each byte of
//! them: the bytes that this member has put there. Lists of runs would take as much room as the
//! bytes, where these are interleaved in short pieces.
//!
//! | part    | who writes it        | when                                                    |
//! |---------|----------------------|---------------------------------------------------------|
//! | `Slot`  | its member           | before it comes to the barrier of a round               |
//! | windows | members, aggregators | each byte by one of them, between two barriers          |
//! | masks   | their member; the aggregator unites those of its window in its own | as windows |

use std::alloc::{self, Layout};
use std::ptr;
use std::sync::atomic::AtomicU64;

use catena_core::Process;

/// Sets of windows.
pub(crate) const SETS: usize = 2;
/// What windows are a multiple of: pages are written as a whole.
pub(crate) const PAGE: u64 = 4096;
/// Aggregators at most: one bit each.
pub(crate) const MOST: usize = 64;

/// What a member tells the others in each round, twice as they may be one round apart.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct Slot {
    /// The offset of its next byte; `u64::MAX` for no more.
    pub next: [AtomicU64; SETS],
    /// The windows in which it has bytes, as bits.
    pub used: [AtomicU64; SETS],
    /// As an aggregator: the error of the system, 0 for none.
    pub code: [AtomicU64; SETS],
    /// As an aggregator: the first offset that was not moved.
    pub until: [AtomicU64; SETS],
}

/// How large the buffers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Members of this node.
    pub members: usize,
    /// Aggregators of all nodes.
    pub aggregators: usize,
    /// Bytes of a window.
    pub window: usize,
}

/// What windows may be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Members of the largest node.
    pub members: usize,
    /// Aggregators of all nodes.
    pub aggregators: usize,
    /// Aggregators of the node that has the fewest.
    pub share: usize,
    /// Whether there are several nodes.
    pub across: bool,
    /// Bytes that one aggregator may have.
    pub buffer: u64,
    /// Bytes of a window at most.
    pub block: u64,
    /// What it should be a multiple of.
    pub unit: u64,
}

impl Limits {
    /// Bytes of a window: a multiple of the unit where that fits; a page at least. On a node all
    /// windows and their masks, and what is on its way between nodes, take no more than its
    /// aggregators may have.
    pub fn window(&self) -> usize {
        // In eighths of a window. It has a bit of mask for each byte and member, in both sets.
        let mut eighths = (SETS * (8 + self.members) * self.aggregators) as u64;
        if self.across {
            // Parcels that leave, and one that comes, each of a window, its mask and a head.
            eighths += 10 * (self.aggregators + self.share) as u64;
        }
        let most = self.buffer.saturating_mul(8 * self.share as u64) / eighths;
        let most = most.min(self.block).min(1 << 30);
        let unit = match self.unit.is_multiple_of(PAGE) && self.unit != 0 && self.unit <= most {
            true => self.unit,
            false => PAGE,
        };
        (most / unit * unit).max(PAGE) as usize
    }
}

impl Shape {
    /// Bytes of the file in one round.
    pub fn span(&self) -> usize {
        self.aggregators * self.window
    }

    fn mask(&self) -> usize {
        self.span() / 8
    }

    /// Bytes of all.
    pub fn bytes(&self) -> usize {
        self.members * size_of::<Slot>() + SETS * (self.span() + self.members * self.mask())
    }
}

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// This member's, which is alone on its node.
    Alone,
    /// The segment's; whether this member gives it back.
    Segment { is_own: bool },
}

/// The buffers, as one member has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    pub shape: Shape,
    at: *mut u8,
    memory: Memory,
}

/// How memory of a shape lies.
fn layout(shape: Shape) -> Layout {
    Layout::from_size_align(shape.bytes(), align_of::<Slot>()).expect("windows are short")
}

impl Buffers {
    /// The windows of a member that is alone on its node; `None` if there is no memory for them.
    pub fn alone(shape: Shape) -> Option<Self> {
        // SAFETY: there is at least a slot. All zeros are valid slots.
        let at = unsafe { alloc::alloc_zeroed(layout(shape)) };
        (!at.is_null()).then_some(Buffers {
            shape,
            at,
            memory: Memory::Alone,
        })
    }

    /// Takes memory of the node for them; its offset in the segment.
    pub fn take(process: &Process, shape: Shape) -> Option<u64> {
        let bytes = shape.bytes();
        let (offset, at) = process.link(|link| {
            let shm = link.net().shm_mut()?;
            let offset = shm.region_alloc(bytes, usize::MAX)?;
            Some((offset, shm.region(offset, bytes)?))
        })?;
        // SAFETY: nobody else knows it yet. All zeros are valid slots.
        unsafe { ptr::write_bytes(at, 0, shape.members * size_of::<Slot>()) };
        Some(offset)
    }

    /// Those at an offset that the member told which has taken them.
    pub fn at(process: &Process, shape: Shape, offset: u64, is_own: bool) -> Option<Self> {
        let at = process.link(|link| {
            let shm = link.net().shm();
            shm.and_then(|shm| shm.region(offset, shape.bytes()))
        })?;
        let memory = Memory::Segment { is_own };
        Some(Buffers { shape, at, memory })
    }

    /// Gives back what this member has taken. No member uses it any more.
    pub fn close(self, process: &Process) {
        match self.memory {
            // SAFETY: it was made so, and is given back once.
            Memory::Alone => unsafe { alloc::dealloc(self.at, layout(self.shape)) },
            Memory::Segment { is_own: true } => {
                process.link(|link| link.net().free(self.at, self.shape.bytes()));
            }
            Memory::Segment { is_own: false } => {}
        }
    }

    /// What a member tells the others.
    pub fn slot(&self, member: usize) -> &Slot {
        assert!(member < self.shape.members);
        // SAFETY: slots are atomics, and lie at the beginning; the memory stays until `close`.
        unsafe { &*self.at.cast::<Slot>().add(member) }
    }

    /// The windows of a set, one behind the other.
    pub fn windows(&self, set: usize) -> *mut u8 {
        let slots = self.shape.members * size_of::<Slot>();
        self.at.wrapping_add(slots + set * self.shape.span())
    }

    /// The mask of a member for all windows of a set.
    pub fn mask(&self, set: usize, member: usize) -> *mut u64 {
        let masks = self.windows(SETS);
        let number = set * self.shape.members + member;
        masks.wrapping_add(number * self.shape.mask()).cast()
    }
}

/// Sets bits `[at, at + len)`; there is at least one.
///
/// # Safety
/// The words have them, and nobody else uses these.
#[inline]
pub(crate) unsafe fn mark(words: *mut u64, at: usize, len: usize) {
    let (first, last) = (at / 64, (at + len - 1) / 64);
    let low = u64::MAX << (at % 64);
    let high = u64::MAX >> (63 - (at + len - 1) % 64);
    // SAFETY: the caller's promise.
    unsafe {
        if first == last {
            *words.add(first) |= low & high;
            return;
        }
        *words.add(first) |= low;
        for word in first + 1..last {
            *words.add(word) = u64::MAX;
        }
        *words.add(last) |= high;
    }
}

/// Adds the bits of one mask to another, of so many words.
///
/// # Safety
/// Both have these words. Nobody else uses `to`, and nobody writes `from`.
pub(crate) unsafe fn unite(to: *mut u64, from: *const u64, words: usize) {
    for word in 0..words {
        // SAFETY: the caller's promise.
        unsafe { *to.add(word) |= *from.add(word) };
    }
}

/// The next run of bits in `words` words from bit `from` on: where it begins and ends.
///
/// # Safety
/// There are so many words, and nobody writes them.
pub(crate) unsafe fn next_run(
    mask: *const u64,
    words: usize,
    from: usize,
) -> Option<(usize, usize)> {
    // The first bit from `at` on that is as wanted, or the end.
    let find = |at: usize, wanted: bool| {
        let flip = if wanted { 0 } else { u64::MAX };
        let mut word = at / 64;
        let mut keep = u64::MAX << (at % 64);
        while word < words {
            // SAFETY: the caller's promise.
            let bits = (unsafe { *mask.add(word) } ^ flip) & keep;
            if bits != 0 {
                return word * 64 + bits.trailing_zeros() as usize;
            }
            (word, keep) = (word + 1, u64::MAX);
        }
        words * 64
    };
    let begin = find(from, true);
    (begin < words * 64).then(|| (begin, find(begin, false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_bits_are_found_as_runs() {
        let runs = [
            (0, 1),
            (3, 70),
            (128, 64),
            (193, 62),
            (256, 128),
            (400, 1),
            (511, 1),
        ];
        let (mut one, mut two) = ([0u64; 8], [0u64; 8]);
        for (i, (at, len)) in runs.into_iter().enumerate() {
            let words = if i % 2 == 0 { &mut one } else { &mut two };
            // SAFETY: they have 512 bits.
            unsafe { mark(words.as_mut_ptr(), at, len) };
        }
        // SAFETY: both have 8 words.
        unsafe { unite(one.as_mut_ptr(), two.as_ptr(), 8) };
        let mut at = 0;
        let mut found = Vec::new();
        // SAFETY: as above.
        while let Some((begin, end)) = unsafe { next_run(one.as_ptr(), 8, at) } {
            found.push((begin, end - begin));
            at = end;
        }
        assert_eq!(found, runs);
    }

    #[test]
    fn buffers_keep_to_what_the_hints_allow() {
        let limits = |members, aggregators, buffer, block, unit| Limits {
            members,
            aggregators,
            share: aggregators,
            across: false,
            buffer,
            block,
            unit,
        };
        for (members, aggregators, buffer) in
            [(2, 2, 1 << 20), (8, 2, 16 << 20), (100, 64, 1 << 22)]
        {
            let limits = limits(members, aggregators, buffer, 1 << 20, 0);
            let window = limits.window();
            let shape = Shape {
                members,
                aggregators,
                window,
            };
            let slots = shape.members * size_of::<Slot>();
            assert!(shape.bytes() - slots <= shape.aggregators * buffer as usize);
            assert!(window <= 1 << 20 && window.is_multiple_of(PAGE as usize));
            // Two nodes: windows of all, and a parcel for each.
            let across = Limits {
                aggregators: 2 * aggregators,
                across: true,
                ..limits
            };
            let shape = Shape {
                aggregators: 2 * aggregators,
                window: across.window(),
                ..shape
            };
            let parcels = 3 * aggregators * (shape.window / 8 * 9 + 8);
            let bytes = shape.bytes() - slots + parcels;
            assert!(bytes <= aggregators * buffer as usize, "{bytes}");
        }
        assert_eq!(limits(2, 2, 1, 1, 0).window(), 4096);
        assert_eq!(limits(2, 2, 1 << 30, 100_000, 3 * PAGE).window(), 24 * 4096);
        assert_eq!(limits(2, 1, 1 << 30, 1 << 20, 1 << 30).window(), 1 << 20);
    }
}
