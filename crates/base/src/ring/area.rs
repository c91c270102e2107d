//! The memory below a ring.

use crate::sync::AtomicU64;

/// A plain access that is about to happen, for the model checker.
#[derive(Clone, Copy, Debug)]
pub enum Touch {
    /// Everything but word 0 of this cell.
    Cell(usize),
    /// `len` data bytes from `from`.
    Data {
        /// First byte.
        from: usize,
        /// How many.
        len: usize,
    },
}

/// The memory below a ring: in shared memory, or instrumented for tests.
///
/// # Safety
/// For a ring built with `cells` cells and `data` data bytes, `rest` must be
/// valid for 56 bytes, aligned to 8, for every cell below `cells`; `data` for
/// every byte below that size. Accesses through them must not touch anything
/// that Rust references point to.
pub unsafe trait Area {
    /// Word 0 of a cell.
    fn word(&self, cell: usize) -> &AtomicU64;
    /// Counts the cells that the consumer has given back.
    fn head(&self) -> &AtomicU64;
    /// Counts the data bytes that the consumer has given back.
    fn freed(&self) -> &AtomicU64;
    /// The 56 bytes after word 0 of a cell.
    fn rest(&self, cell: usize) -> *mut u8;
    /// The data byte at `offset`.
    fn data(&self, offset: usize) -> *mut u8;
    /// The producer will write a cell soon: its line may be fetched meanwhile.
    #[inline(always)]
    fn will_write(&self, _cell: usize) {}
    /// The consumer will look at a cell soon, likewise.
    #[inline(always)]
    fn will_read(&self, _cell: usize) {}
    /// The producer is about to write.
    #[inline(always)]
    fn writes(&self, _what: Touch) {}
    /// The consumer is about to read.
    #[inline(always)]
    fn reads(&self, _what: Touch) {}
}

/// The two counters of a ring, as they lie in shared memory, on a line of
/// their own.
#[cfg(not(loom))]
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Heads {
    /// Cells given back.
    pub head: AtomicU64,
    /// Data bytes given back.
    pub freed: AtomicU64,
}

/// A ring's memory in a shared mapping.
#[cfg(not(loom))]
#[derive(Clone, Copy, Debug)]
pub struct RawArea {
    cells: *mut u8,
    heads: *const Heads,
    data: *mut u8,
}

#[cfg(not(loom))]
impl RawArea {
    /// Describes the memory of a ring.
    ///
    /// # Safety
    /// As long as this or a copy of it is used, `heads` must be valid, `cells`
    /// (aligned to 64) valid for all cells of the ring, and `data` (aligned to
    /// 64) for the data bytes it is told to have. The memory is touched by the
    /// two ends of one ring only, by atomics and raw copies.
    pub unsafe fn new(cells: *mut u8, heads: *const Heads, data: *mut u8) -> Self {
        debug_assert!(cells.cast::<[u64; 8]>().is_aligned() && heads.is_aligned());
        RawArea { cells, heads, data }
    }

    /// This area together with a data area.
    ///
    /// # Safety
    /// As for [`RawArea::new`].
    pub unsafe fn with_data(self, data: *mut u8) -> Self {
        RawArea { data, ..self }
    }
}

// SAFETY: the promises are those that the caller of `RawArea::new` made.
#[cfg(not(loom))]
unsafe impl Area for RawArea {
    #[inline(always)]
    fn word(&self, cell: usize) -> &AtomicU64 {
        // SAFETY: `new` vouches for the cell; an atomic may be shared.
        unsafe { &*self.cells.add(cell * super::CELL).cast() }
    }

    #[inline(always)]
    fn head(&self) -> &AtomicU64 {
        // SAFETY: `new` vouches for the line; an atomic may be shared.
        unsafe { &(*self.heads).head }
    }

    #[inline(always)]
    fn freed(&self) -> &AtomicU64 {
        // SAFETY: `new` vouches for the line; an atomic may be shared.
        unsafe { &(*self.heads).freed }
    }

    #[inline(always)]
    fn rest(&self, cell: usize) -> *mut u8 {
        self.cells.wrapping_add(cell * super::CELL + 8)
    }

    #[inline(always)]
    fn data(&self, offset: usize) -> *mut u8 {
        self.data.wrapping_add(offset)
    }

    #[inline(always)]
    fn will_write(&self, cell: usize) {
        crate::copy::claim(self.cells.wrapping_add(cell * super::CELL));
    }

    #[inline(always)]
    fn will_read(&self, cell: usize) {
        crate::copy::prefetch(self.cells.wrapping_add(cell * super::CELL));
    }
}
