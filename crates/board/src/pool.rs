//! The memory of boards in the segment of a node: the first member of each finds it.

use std::sync::Arc;

use catena_shm::{Arena, Mapped, Shm};

use crate::area::{Area, BoardShape};
use crate::limits::Limits;

/// Where a board is, as its first member tells the others: an offset in the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardOffset(pub u64);

impl BoardOffset {
    /// No memory was found.
    pub const NOWHERE: Self = BoardOffset(u64::MAX);

    /// Added to the offset of a board that has long rings, is small, or has short rings alone:
    /// regions are aligned.
    const LONG_RINGS: u64 = 1;
    const SMALL: u64 = 2;
    const SHORT_RINGS: u64 = 4;
    const MARKS: u64 = Self::LONG_RINGS | Self::SMALL | Self::SHORT_RINGS;
}

/// What a board is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardUse {
    /// All that a communicator does.
    All,
    /// One operation, which is done again and again.
    One {
        /// Its payloads are about as short as what fits into a record.
        is_short: bool,
    },
}

/// Boards get long rings until those of a process take so many bytes: programs that make many
/// communicators mostly have short blocks for each.
const ROOMY: usize = 64 << 20;

/// Those for one operation get long rings until the regions of a process take so many bytes, and
/// take no more than this part of the room of all.
const ROOMY_FOR_ONE: usize = ROOMY / 2;
const FOR_ONE: usize = 4;

/// Boards are small once the regions of all take this part of their room: that is for thousands
/// more, and whoever finds none at all uses messages.
const SMALL_FROM: usize = 2;

/// The memory of one board in the segment.
#[derive(Clone, Debug)]
pub struct BoardMemory {
    area: Area,
    offset: u64,
    arena: Arc<Arena>,
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
            BoardOffset::SHORT_RINGS => shape.with_short_rings(),
            _ => return None,
        };
        let base = shm.region(offset, shape.bytes())?;
        // SAFETY: the transport vouches for an aligned range that stays mapped as long as it lives:
        // while the process runs.
        let area = unsafe { Area::new(base, shape) };
        let arena = shm.arena().clone();
        Some(BoardMemory {
            area,
            offset,
            arena,
        })
    }

    /// Where its parts lie.
    pub(crate) fn area(&self) -> Area {
        self.area
    }

    /// What provides and maps its parts.
    pub(crate) fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// Provides and maps what is before the rings; whether there is memory.
    fn map_head(&self) -> bool {
        let head = self.area.shape.head();
        match self.arena.map(self.area.base(), head) {
            Mapped::Done => true,
            Mapped::WhenTouched => self.arena.provide(self.offset, head).is_ok(),
            Mapped::NoMemory => false,
        }
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
    /// long rings if they fit and are of use.
    pub fn find(&mut self, shm: &mut Shm, shape: BoardShape, of: BoardUse) -> BoardOffset {
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
            if !memory.map_head() {
                arena.free(offset, bytes);
                return None;
            }
            memory.area.clear();
            Some(BoardOffset(offset | mark))
        };
        let longer = shape.with_long_rings();
        let longer = |most| find(longer?, most, BoardOffset::LONG_RINGS);
        let few = arena.room() / FOR_ONE;
        let found = match of {
            BoardUse::All => longer((ROOMY, many))
                .or_else(|| find(shape, (usize::MAX, many), 0))
                .or_else(|| find(shape.small(), (usize::MAX, usize::MAX), BoardOffset::SMALL)),
            BoardUse::One { is_short: true } => {
                let short = shape.with_short_rings();
                find(short, (usize::MAX, few), BoardOffset::SHORT_RINGS)
            }
            BoardUse::One { is_short: false } => {
                longer((ROOMY_FOR_ONE, few)).or_else(|| find(shape, (usize::MAX, few), 0))
            }
        };
        found.unwrap_or(BoardOffset::NOWHERE)
    }

    /// This process, which found that memory, has left the board: it is given back when all others
    /// have left it, too.
    pub fn leave(&mut self, memory: BoardMemory) {
        self.left.push(memory);
    }
}
