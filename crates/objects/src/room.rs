//! Memory that operations need besides the program's buffers.

use std::mem::MaybeUninit;

use catena_datatype::TypeRef;

use crate::error::{Error, no_memory};

/// There is no memory for this many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom(pub usize);

/// Result of what takes memory.
pub type AllocResult<T> = std::result::Result<T, NoRoom>;

impl From<NoRoom> for Error {
    fn from(NoRoom(bytes): NoRoom) -> Self {
        no_memory(bytes)
    }
}

/// Memory aligned to cache lines, with anything in it.
#[derive(Debug, Default)]
pub struct Scratch(Box<[MaybeUninit<Line>]>);

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its address is used")] [u8; 64]);

/// Scratch memory that is kept for the next execution.
const KEPT: usize = 256 << 10;

impl Scratch {
    /// Memory of at least `len` bytes.
    ///
    /// # Errors
    /// If there is not enough.
    pub fn new(len: usize) -> AllocResult<Self> {
        let (lines, mut memory) = (len.div_ceil(64), Vec::new());
        memory.try_reserve_exact(lines).map_err(|_| NoRoom(len))?;
        memory.resize_with(lines, MaybeUninit::uninit);
        Ok(Scratch(memory.into()))
    }

    /// Its address.
    #[inline]
    pub fn base(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    /// Makes it hold `len` bytes; what it held may be lost.
    ///
    /// # Errors
    /// If there is not enough.
    #[inline]
    pub fn reserve(&mut self, len: usize) -> AllocResult<()> {
        if self.0.len() * 64 < len {
            *self = Scratch::new(len)?;
        }
        Ok(())
    }

    /// Gives it back if it is much.
    #[inline]
    pub fn trim(&mut self) {
        if self.0.len() * 64 > KEPT {
            *self = Scratch::default();
        }
    }
}

/// Memory for elements in their own layout, 16-byte aligned.
pub struct LaidOut {
    memory: Vec<u128>,
    shift: isize,
}

impl LaidOut {
    /// Zeroed room for `count` elements of `ty`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn new(ty: &TypeRef, count: usize) -> AllocResult<Self> {
        let last = ty.extent() * (count as i64 - 1).max(0);
        let low = ty.true_lb().min(ty.true_lb() + last);
        let high = (ty.true_lb() + ty.true_extent()).max(ty.true_lb() + ty.true_extent() + last);
        let bytes = (high - low).max(0) as usize;
        let (cells, mut memory) = (bytes.div_ceil(16) + 1, Vec::new());
        memory.try_reserve_exact(cells).map_err(|_| NoRoom(bytes))?;
        memory.resize(cells, 0);
        Ok(LaidOut {
            memory,
            shift: -(low as isize),
        })
    }

    /// Where element 0 has its origin.
    pub fn base(&mut self) -> *mut u8 {
        self.memory
            .as_mut_ptr()
            .cast::<u8>()
            .wrapping_offset(self.shift)
    }
}
