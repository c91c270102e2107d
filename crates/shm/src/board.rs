//! Regions for the collectives of a node: memory that all ranks of the node
//! see, at offsets that one tells the others.

use crate::init::Shm;

/// The boards that this process made.
#[derive(Debug, Default)]
pub(crate) struct Boards {
    /// Given back, for reuse: offset and size.
    free: Vec<(u64, usize)>,
    /// Taken from the arena so far.
    bytes: usize,
}

impl Boards {
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Few sizes, so that boards can be used again: eight between two powers of
/// two.
fn class(bytes: usize) -> Option<usize> {
    let step = bytes.max(2048).checked_next_power_of_two()? / 8;
    bytes.checked_next_multiple_of(step)
}

impl Shm {
    /// Makes a board of at least `bytes` bytes, aligned to 64 at least; its
    /// offset, which is good on all ranks of the node. They are zeroed, or what a
    /// board that was given back has left. `None` if there is no memory, or if
    /// the boards of this process would take more than `most` bytes.
    pub fn board_alloc(&mut self, bytes: usize, most: usize) -> Option<u64> {
        let size = class(bytes)?;
        if let Some(at) = self.boards.free.iter().position(|(_, free)| *free == size) {
            return Some(self.boards.free.swap_remove(at).0);
        }
        if self.boards.bytes.checked_add(size)? > most {
            return None;
        }
        let offset = self.segment.alloc("a board for collectives", size).ok()?;
        self.boards.bytes += size;
        Some(offset)
    }

    /// Gives a board back that this process made with `bytes` bytes. No rank
    /// may use it any more.
    pub fn board_free(&mut self, offset: u64, bytes: usize) {
        if let Some(size) = class(bytes) {
            debug_assert!(self.board(offset, size).is_some());
            self.boards.free.push((offset, size));
        }
    }

    /// [`Shm::board_free`] by the address here.
    pub fn board_free_at(&mut self, at: *mut u8, bytes: usize) {
        if let Some(offset) = self.segment.offset_of(at, bytes) {
            self.board_free(offset, bytes);
        }
    }

    /// The address of `bytes` bytes at `offset`; `None` if that is no place
    /// where a board can be. Good as long as this transport.
    pub fn board(&self, offset: u64, bytes: usize) -> Option<*mut u8> {
        self.segment.range(offset, bytes, 64)
    }
}
