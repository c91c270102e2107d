//! Memory of the tool's own that MPI writes instead of the program's.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::buffers::Piece;
use crate::{maps, sums};

/// Memory that MPI is given instead of the program's, until the operation is complete: so it is
/// seen if the program changes its own meanwhile.
#[derive(Debug)]
pub struct Shadow {
    memory: Vec<u8>,
    piece: Piece,
    /// Of the program's memory, when the operation began.
    sum: Option<u64>,
}

/// Bytes of all shadows, and most of them.
static SHADOWS: AtomicUsize = AtomicUsize::new(0);
const MOST_SHADOWS: usize = 64 << 20;

impl Drop for Shadow {
    fn drop(&mut self) {
        SHADOWS.fetch_sub(self.memory.len(), Relaxed);
    }
}

impl Shadow {
    /// For a piece without gaps; `None` where there are many.
    pub fn new(piece: Piece) -> Option<Shadow> {
        if !maps::is_readable(piece.first, piece.end) {
            return None;
        }
        if SHADOWS.fetch_add(piece.len(), Relaxed) + piece.len() > MOST_SHADOWS {
            SHADOWS.fetch_sub(piece.len(), Relaxed);
            return None;
        }
        Some(Shadow {
            memory: vec![0; piece.len()],
            // SAFETY: memory that MPI was told to write.
            sum: unsafe { sums::sum(&piece) },
            piece,
        })
    }

    /// What MPI is given as the buffer's address.
    pub fn base(&mut self) -> usize {
        let before_base = self.piece.base.wrapping_sub(self.piece.first);
        self.memory.as_mut_ptr().addr().wrapping_add(before_base)
    }

    pub fn is_changed(&self) -> bool {
        // SAFETY: memory that MPI was told to write.
        self.sum != unsafe { sums::sum(&self.piece) }
    }

    /// Writes to the program's memory what MPI has written here.
    pub fn copy(&self) {
        // SAFETY: memory that MPI was told to write, which is as long.
        unsafe {
            let to = self.piece.first as *mut u8;
            std::ptr::copy_nonoverlapping(self.memory.as_ptr(), to, self.memory.len());
        }
    }
}
