//! Memory of the tool's own that MPI writes instead of the program's.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::buffers::Piece;
use crate::{maps, sums};

/// Memory that MPI is given instead of the program's, until the operation is complete: so it is
/// seen if the program changes its own meanwhile.
///
/// Once MPI knows its address, the memory is freed by [`finish`](Shadow::finish) alone: a shadow
/// that is dropped before leaves it where it is, as MPI may still write there.
#[derive(Debug)]
pub struct Shadow {
    memory: Vec<u8>,
    piece: Piece,
    /// Whether MPI may write to the memory.
    is_in_use: bool,
    /// Of the program's memory, when the operation began.
    sum: Option<u64>,
}

/// Bytes of all shadows, and most of them.
static SHADOWS: AtomicUsize = AtomicUsize::new(0);
const MOST_SHADOWS: usize = 64 << 20;

impl Drop for Shadow {
    fn drop(&mut self) {
        match self.is_in_use {
            true => std::mem::forget(std::mem::take(&mut self.memory)),
            false => _ = SHADOWS.fetch_sub(self.memory.len(), Relaxed),
        }
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
            is_in_use: false,
        })
    }

    /// What MPI is given as the buffer's address.
    pub fn base(&mut self) -> usize {
        self.is_in_use = true;
        let before_base = self.piece.base.wrapping_sub(self.piece.first);
        self.memory.as_mut_ptr().addr().wrapping_add(before_base)
    }

    pub fn is_changed(&self) -> bool {
        // SAFETY: memory that MPI was told to write.
        self.sum != unsafe { sums::sum(&self.piece) }
    }

    /// The operation is complete: writes to the program's memory what MPI has written here.
    pub fn finish(mut self) {
        self.is_in_use = false;
        self.copy();
    }

    /// Nobody will tell when the operation is complete: writes to the program's memory what is here
    /// by now.
    pub fn give_up(self) {
        self.copy();
    }

    fn copy(&self) {
        // SAFETY: memory that MPI was told to write, which is as long.
        unsafe {
            let to = self.piece.first as *mut u8;
            std::ptr::copy_nonoverlapping(self.memory.as_ptr(), to, self.memory.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_may_still_be_written_stays() {
        let mut buffer = [7_u8; 40];
        let at = buffer.as_mut_ptr().expose_provenance();
        let new = || Shadow::new(Piece::of_bytes(at, 40).unwrap()).unwrap();
        let before = SHADOWS.load(Relaxed);
        drop(new());
        let mut done = new();
        done.base();
        done.finish();
        assert_eq!(SHADOWS.load(Relaxed), before);
        let mut left = new();
        let its = left.base() as *mut u8;
        left.give_up();
        // SAFETY: the memory was left where it is.
        unsafe { its.write(1) };
        assert_eq!(SHADOWS.load(Relaxed), before + 40);
        assert_eq!(std::hint::black_box(&buffer)[0], 0);
    }
}
