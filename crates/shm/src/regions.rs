//! Regions: memory of the segment for what stands above the transport, which all ranks of the node
//! see, at offsets that one tells the others. Boards of collectives and windows are made of them.

use std::collections::HashMap;

use crate::segment::Segment;

/// The regions that this process took.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    /// Given back, for reuse, by size.
    free: HashMap<usize, Vec<FreeRegion>>,
    /// Memory of those, bytes at most.
    kept: usize,
    /// Taken from the arena so far.
    bytes: usize,
}

/// A region that was given back.
#[derive(Clone, Copy, Debug)]
struct FreeRegion {
    offset: u64,
    /// Whether its memory may still be there.
    is_kept: bool,
}

/// Regions that were given back keep their memory until it is so many bytes: to provide it again takes as long as to use it.
const KEPT: usize = 32 << 20;

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

    /// Room for a region of at least `bytes` bytes, whose memory is to be provided, unless those of this process would take
    /// more than `own` bytes then, or all more than `all`.
    pub fn reserve(
        &mut self,
        segment: &Segment,
        bytes: usize,
        (own, all): (usize, usize),
    ) -> Option<u64> {
        let size = class(bytes)?;
        if let Some(region) = self.free.get_mut(&size).and_then(Vec::pop) {
            self.kept -= if region.is_kept { size } else { 0 };
            return Some(region.offset);
        }
        if self.bytes.checked_add(size)? > own {
            return None;
        }
        let offset = segment.reserve_region(size, all)?;
        self.bytes += size;
        Some(offset)
    }

    /// Gives a region back that was taken with `bytes` bytes.
    pub fn free(&mut self, segment: &Segment, offset: u64, bytes: usize) {
        let Some(size) = class(bytes) else { return };
        let is_kept = self.kept + size <= KEPT;
        if is_kept {
            self.kept += size;
        } else {
            segment.discard(offset, size);
        }
        let free = self.free.entry(size).or_default();
        free.push(FreeRegion { offset, is_kept });
    }
}
