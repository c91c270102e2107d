//! Blocks in rows, as one side of a copy has them.

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;

/// Blocks in rows.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    /// The first block.
    pub(super) first: *mut u8,
    /// From block to block.
    pub(super) step: isize,
    /// From row to row.
    pub(super) row: isize,
}

impl Grid {
    /// One row.
    pub(super) fn line(first: *mut u8, step: isize) -> Self {
        let row = 0;
        Grid { first, step, row }
    }

    /// Bytes from the first to the end of the last block of a row.
    pub(super) fn width(self, columns: usize, len: usize) -> usize {
        let steps = columns.saturating_sub(1);
        steps
            .saturating_mul(self.step.unsigned_abs())
            .saturating_add(len)
    }

    /// Whether blocks share cache lines.
    pub(super) fn is_dense(self) -> bool {
        self.step.unsigned_abs() < LINE
    }

    /// Block `i` of the first row.
    #[inline(always)]
    pub(super) fn at(self, i: isize) -> *mut u8 {
        self.first.wrapping_offset(self.step.wrapping_mul(i))
    }

    /// This kernel from row `i` on.
    #[inline(always)]
    pub(super) fn skip_rows(self, i: usize) -> Self {
        let first = self
            .first
            .wrapping_offset(self.row.wrapping_mul(i as isize));
        Grid { first, ..self }
    }

    /// This kernel from block `i` of each row on.
    #[inline(always)]
    pub(super) fn skip(self, i: usize) -> Self {
        let first = self.at(i as isize);
        Grid { first, ..self }
    }

    /// Rows as columns.
    pub(super) fn turned(self) -> Self {
        Grid {
            step: self.row,
            row: self.step,
            ..self
        }
    }
}
