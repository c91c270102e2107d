//! Regions: memory of the segment for what stands above the transport, which all ranks of the node
//! see, at offsets that one tells the others. Boards of collectives and windows are made of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::addr::PAGE;
use crate::error::ShmError;
use crate::mapped::MappedParts;
use crate::segment::{Mapped, Segment, map_pages};

/// Regions of the segment, for any thread, also one that does not hold the transport.
#[derive(Debug)]
pub struct Arena {
    segment: Arc<Segment>,
    regions: Mutex<Regions>,
    mapped: Mutex<MappedParts>,
}

impl Arena {
    pub(crate) fn new(segment: Arc<Segment>) -> Self {
        Arena {
            segment,
            regions: Mutex::default(),
            mapped: Mutex::default(),
        }
    }

    fn regions(&self) -> MutexGuard<'_, Regions> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that is the same for all processes that have mapped this segment, and another one
    /// for every other segment of the node; never 0.
    pub fn number(&self) -> u64 {
        self.segment.number()
    }

    /// Bytes that this process has taken so far.
    pub(crate) fn bytes(&self) -> usize {
        self.regions().bytes
    }

    /// Room for a region of at least `bytes` bytes, aligned to a page, whose memory is to be
    /// provided; its offset, which is good on all ranks of the node. It is all zeros, or what a
    /// region that was given back has left. `None` if the regions of this process would take more
    /// than `own` bytes then, those of all more than `all`, or more than there is room for.
    pub fn reserve(&self, bytes: usize, (own, all): (usize, usize)) -> Option<u64> {
        self.regions().reserve(&self.segment, bytes, (own, all))
    }

    /// Room for the regions of all ranks of the node, bytes.
    pub fn room(&self) -> usize {
        self.segment.regions_room()
    }

    /// Provides the memory of `bytes` bytes of a region from `offset` on.
    ///
    /// # Errors
    /// If there is none, or no such region.
    pub fn provide(&self, offset: u64, bytes: usize) -> Result<(), ShmError> {
        if self.at(offset, bytes).is_none() {
            return Err(ShmError::ArenaFull { bytes });
        }
        let what = "a region for a board or a window";
        self.segment.commit(what, offset as usize, bytes)
    }

    /// Provides and maps `bytes` bytes of a region at an address; costs next to nothing where they
    /// are mapped in this process already, as another user of that memory had them mapped.
    pub fn map(&self, at: *mut u8, bytes: usize) -> Mapped {
        let Some(from) = self.segment.offset_of(at, bytes) else {
            return map_pages(at, bytes);
        };
        let end = from + bytes as u64;
        // What is given back from here on, nobody uses: it is none of these bytes.
        let discards = self.segment.discards();
        let known = || self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        if known().after(discards).contains(from, end) {
            return Mapped::Done;
        }
        let mapped = map_pages(at, bytes);
        if mapped == Mapped::Done {
            known().after(discards).add(from, end);
        }
        mapped
    }

    /// Gives the memory of whole pages of a region back to the system, which are all zeros when
    /// they are provided again.
    pub fn discard(&self, offset: u64, bytes: usize) {
        self.segment.discard(offset, bytes);
    }

    /// The address of `bytes` bytes at `offset`; `None` if that is no place where a region can be.
    /// Good as long as the transport, or this.
    pub fn at(&self, offset: u64, bytes: usize) -> Option<*mut u8> {
        self.segment.range(offset, bytes, 1)
    }

    /// Gives a region back that this process took with `bytes` bytes. No rank may use it any more.
    pub fn free(&self, offset: u64, bytes: usize) {
        debug_assert!(self.at(offset, bytes).is_some());
        self.regions().free(&self.segment, offset, bytes);
    }
}

/// The regions that this process took.
#[derive(Debug, Default)]
struct Regions {
    /// Given back, for reuse, by size.
    free: BTreeMap<usize, Vec<FreeRegion>>,
    /// The sizes of those in use that are longer than they had to be, by offset.
    longer: HashMap<u64, usize>,
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

/// Regions that were given back keep their memory until it is so many bytes: to provide it again
/// takes as long as to use it.
const KEPT: usize = 32 << 20;

/// Few sizes, so that regions can be used again: eight between two powers of
/// two, and whole pages.
fn class(bytes: usize) -> Option<usize> {
    let step = bytes.checked_next_power_of_two()? / 8;
    bytes.max(1).checked_next_multiple_of(step.max(PAGE))
}

impl Regions {
    fn reserve(
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
        match segment.reserve_region(size, all) {
            Some(offset) => {
                self.bytes += size;
                Some(offset)
            }
            None if all < segment.regions_room() => None,
            // There is no more: one that is longer than it has to be will do.
            None => {
                let fits = |(_, free): &(&usize, &mut Vec<FreeRegion>)| !free.is_empty();
                let (&size, free) = self.free.range_mut(size..).find(fits)?;
                let region = free.pop()?;
                self.kept -= if region.is_kept { size } else { 0 };
                self.longer.insert(region.offset, size);
                Some(region.offset)
            }
        }
    }

    fn free(&mut self, segment: &Segment, offset: u64, bytes: usize) {
        let longer = self.longer.remove(&offset);
        let Some(size) = longer.or_else(|| class(bytes)) else {
            return;
        };
        if size > KEPT {
            segment.discard(offset, size);
            if segment.return_region(offset, size) {
                self.bytes -= size;
                return;
            }
        }
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
