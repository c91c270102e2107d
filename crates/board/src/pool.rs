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

    /// Added to the offset of a board that has long rings.
    const LONG_RINGS: u64 = 1;
}

/// Boards get long rings until those of a process take so many bytes: programs that make many
/// communicators mostly have short blocks for each.
const ROOMY: usize = 32 << 20;

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
        let (mut shape, mut offset) = (shape, told.0);
        if told != BoardOffset::NOWHERE && offset & BoardOffset::LONG_RINGS != 0 {
            (shape, offset) = (shape.with_long_rings()?, offset - BoardOffset::LONG_RINGS);
        }
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
        let mut find = |shape: BoardShape, most, mark| {
            let offset = shm.region_alloc(shape.bytes(), most)?;
            BoardMemory::open(shm, BoardOffset(offset), shape)?
                .area
                .clear();
            Some(BoardOffset(offset | mark))
        };
        let longer = shape.with_long_rings();
        longer
            .and_then(|longer| find(longer, ROOMY, BoardOffset::LONG_RINGS))
            .or_else(|| find(shape, usize::MAX, 0))
            .unwrap_or(BoardOffset::NOWHERE)
    }

    /// This process, which found that memory, has left the board: it is given back when all others
    /// have left it, too.
    pub fn leave(&mut self, memory: BoardMemory) {
        self.left.push(memory);
    }
}
