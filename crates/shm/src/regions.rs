//! Regions: memory of the segment for what stands above the transport, which all ranks of the node
//! see, at offsets that one tells the others. Boards of collectives and windows are made of them.

use crate::segment::Segment;

/// The regions that this process took.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    /// Given back, for reuse: offset and size.
    free: Vec<(u64, usize)>,
    /// Taken from the arena so far.
    bytes: usize,
}

/// Few sizes, so that regions can be used again: eight between two powers of
/// two.
fn class(bytes: usize) -> Option<usize> {
    let step = bytes.max(2048).checked_next_power_of_two()? / 8;
    bytes.checked_next_multiple_of(step)
}

impl Regions {
    /// Bytes taken from the arena so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A region of at least `bytes` bytes, unless all would take more than `most` bytes then.
    pub fn alloc(&mut self, segment: &Segment, bytes: usize, most: usize) -> Option<u64> {
        let size = class(bytes)?;
        if let Some(at) = self.free.iter().position(|(_, free)| *free == size) {
            return Some(self.free.swap_remove(at).0);
        }
        if self.bytes.checked_add(size)? > most {
            return None;
        }
        let offset = segment
            .alloc("a region for a board or a window", size)
            .ok()?;
        self.bytes += size;
        Some(offset)
    }

    /// Gives a region back that was taken with `bytes` bytes.
    pub fn free(&mut self, offset: u64, bytes: usize) {
        if let Some(size) = class(bytes) {
            self.free.push((offset, size));
        }
    }
}
