//! The memory of boards in the segment of a node: the first member of each finds it.

use catena_shm::Shm;

use crate::area::{Area, BoardShape};
use crate::limits::Limits;

/// Where a board is, as its first member tells the others: an offset in the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardOffset(pub u64);

impl BoardOffset {
    /// No memory was found.
    pub const NOWHERE: Self = BoardOffset(u64::MAX);

    /// Added to the offset of a board that has long rings, or is small: regions are aligned.
    const LONG_RINGS: u64 = 1;
    const SMALL: u64 = 2;
    const MARKS: u64 = Self::LONG_RINGS | Self::SMALL;
}

/// Boards get long rings until those of a process take so many bytes: programs that make many
/// communicators mostly have short blocks for each.
const ROOMY: usize = 32 << 20;

/// Boards are small once the regions of all take this part of their room: that is for thousands more, and whoever finds none
/// at all uses messages.
const SMALL_FROM: usize = 2;

/// The memory of one board in the segment.
#[derive(Clone, Copy, Debug)]
pub struct BoardMemory {
    area: Area,
    offset: u64,
}

impl BoardMemory {
    /// The memory of a board of this shape which another member has found, or this one; `None` if
    /// that found none, or what it told is no place for one.
    pub fn open(shm: &Shm, told: BoardOffset, shape: BoardShape) -> Option<Self> {
        let offset = told.0 & !BoardOffset::MARKS;
        let shape = match told.0 & BoardOffset::MARKS {
            0 => shape,
            BoardOffset::LONG_RINGS => shape.with_long_rings()?,
            BoardOffset::SMALL => shape.small(),
            _ => return None,
        };
        let base = shm.region(offset, shape.bytes())?;
        // SAFETY: the transport vouches for an aligned range that stays mapped as long as it lives:
        // while the process runs.
        let area = unsafe { Area::new(base, shape) };
        Some(BoardMemory { area, offset })
    }

    /// Where its parts lie.
    pub(crate) fn area(&self) -> Area {
        self.area
    }

    /// What the members must know of it; blocks of `direct` bytes and more are reached directly.
    pub fn limits(&self, direct: usize) -> Limits {
        self.area.shape.limits(direct)
    }
}

/// The boards that this process has found memory for, and left.
#[derive(Debug, Default)]
pub struct Pool {
    left: Vec<BoardMemory>,
}

impl Pool {
    /// Finds memory for a board, after what deserted ones had is given back, and readies it. With
    /// long rings if they fit.
    pub fn find(&mut self, shm: &mut Shm, shape: BoardShape) -> BoardOffset {
        self.left.retain(|memory| {
            let deserted = memory.area.is_deserted();
            if deserted {
                shm.region_free(memory.offset, memory.area.shape.bytes());
            }
            !deserted
        });
        let arena = shm.arena();
        let many = arena.room() / SMALL_FROM;
        let find = |shape: BoardShape, most, mark| {
            let bytes = shape.bytes();
            let offset = arena.reserve(bytes, most)?;
            let memory = BoardMemory::open(shm, BoardOffset(offset), shape)?;
            if arena.provide(offset, shape.head()).is_err() {
                arena.free(offset, bytes);
                return None;
            }
            memory.area.clear();
            Some(BoardOffset(offset | mark))
        };
        let longer = shape.with_long_rings();
        longer
            .and_then(|longer| find(longer, (ROOMY, many), BoardOffset::LONG_RINGS))
            .or_else(|| find(shape, (usize::MAX, many), 0))
            .or_else(|| find(shape.small(), (usize::MAX, usize::MAX), BoardOffset::SMALL))
            .unwrap_or(BoardOffset::NOWHERE)
    }

    /// This process, which found that memory, has left the board: it is given back when all others
    /// have left it, too.
    pub fn leave(&mut self, memory: BoardMemory) {
        self.left.push(memory);
    }
}
