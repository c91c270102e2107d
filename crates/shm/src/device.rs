//! Memory of devices that one process reads of another one: a copy by the device, from there to
//! where it belongs.
//!
//! Whoever registers such memory writes a record into the segment that says how others open the
//! allocation. The key of the memory says where the record is, its address how far into the
//! allocation the memory begins. Whoever reads opens the allocation once and keeps it open for
//! what comes next; when many are open, those that were not used for the longest time are closed.
//! An owner that registers another allocation looks which of the former ones it has freed, and
//! takes their records away; whoever opens another one closes those whose records are gone.
//! Copies are made while this process does other things, and polls tell their end.

use std::ops::Range;

use catena_fabric::{Kind, OpId, RmaError};
use catena_memory::{self as memory, CopyError, HANDLE, Handle, Marked};

use crate::segment::DEVICE;

/// Bits of a key below the offset of the record.
pub(crate) const TAG_BITS: u32 = 8;
/// Bytes of a record.
pub(crate) const RECORD: usize = 128;
/// Allocations that are kept open, or open to others, though nothing uses them.
const KEPT: usize = 16;

/// In `Shm::cold`: copies of devices are under way.
pub(crate) const COPIES: u32 = u32::MAX;

/// How an allocation is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    /// See [`memory::Exported::id`].
    pub(crate) id: u64,
    /// Bytes of the allocation.
    pub(crate) len: u64,
    pub(crate) handle: Handle,
}

impl Record {
    pub(crate) fn encode(&self) -> [u8; RECORD] {
        let mut out = [0; RECORD];
        out[0] = self.kind.number();
        out[8..16].copy_from_slice(&self.id.to_le_bytes());
        out[16..24].copy_from_slice(&self.len.to_le_bytes());
        out[24..24 + HANDLE].copy_from_slice(&self.handle);
        out
    }

    /// Reads what a peer wrote.
    pub(crate) fn decode(bytes: &[u8; RECORD]) -> Option<Record> {
        let word = |at: usize| {
            bytes[at..at + 8]
                .first_chunk()
                .map(|it| u64::from_le_bytes(*it))
        };
        let kind = Kind::from_number(bytes[0])?;
        Some(Record {
            kind: (!kind.is_host()).then_some(kind)?,
            id: word(8)?,
            len: word(16)?,
            handle: *bytes[24..].first_chunk()?,
        })
    }
}

/// An allocation of this process that others may open.
#[derive(Debug)]
pub(crate) struct Export {
    pub(crate) record: Record,
    /// Where the record is.
    pub(crate) at: u64,
    /// An address in the allocation.
    pub(crate) memory: *const u8,
    /// Registrations that live.
    pub(crate) users: usize,
    pub(crate) used: u64,
}

/// An allocation of a peer that is open here.
#[derive(Debug)]
pub(crate) struct Import {
    /// The peer's number on the node.
    pub(crate) number: u32,
    pub(crate) record: Record,
    /// Where that is at the peer.
    pub(crate) place: u64,
    pub(crate) base: *mut u8,
    /// Copies that are under way.
    pub(crate) users: usize,
    pub(crate) used: u64,
}

/// A copy that is under way.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) op: OpId,
    pub(crate) number: u32,
    pub(crate) record: Record,
    pub(crate) marked: Marked,
}

/// What this process does with memory of devices.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    pub(crate) exports: Vec<Export>,
    pub(crate) imports: Vec<Import>,
    pub(crate) pending: Vec<Pending>,
    /// Counts uses.
    pub(crate) clock: u64,
}

/// Whether a key is that of memory of a device.
pub(crate) fn is_device(key: u64) -> bool {
    key & ((1 << TAG_BITS) - 1) == DEVICE
}

/// The one of `all` that nothing uses and that was not used for the longest time, if more than
/// [`KEPT`] are not used.
pub(crate) fn surplus<T>(all: &[T], state: impl Fn(&T) -> (usize, u64)) -> Option<usize> {
    let unused = || (0..all.len()).filter(|&at| state(&all[at]).0 == 0);
    let at = unused().min_by_key(|&at| state(&all[at]).1)?;
    (unused().count() > KEPT).then_some(at)
}

pub(crate) fn refused(error: &CopyError) -> RmaError {
    RmaError::Refused(error.to_string())
}

impl Devices {
    /// Whether copies are under way.
    pub(crate) fn are_copying(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn import(&mut self, number: u32, record: &Record) -> Option<&mut Import> {
        let mut all = self.imports.iter_mut();
        all.find(|it| it.number == number && it.record == *record)
    }

    /// Where the allocation of a peer begins here, if it is open.
    pub(crate) fn opened(&mut self, number: u32, record: &Record) -> Option<*mut u8> {
        self.clock += 1;
        let now = self.clock;
        let known = self.import(number, record)?;
        known.used = now;
        Some(known.base)
    }

    /// Opens an allocation of a peer, which is not open; where it begins here.
    pub(crate) fn open(
        &mut self,
        number: u32,
        (record, place): (&Record, u64),
        near: *const u8,
    ) -> Result<*mut u8, RmaError> {
        let now = self.clock;
        let device = memory::device(record.kind).map_err(|_| RmaError::Memory(record.kind))?;
        let base = device.import(&record.handle, near);
        let base = base.map_err(|error| refused(&error))?;
        self.imports.push(Import {
            number,
            record: *record,
            place,
            base,
            users: 0,
            used: now,
        });
        Ok(base)
    }

    pub(crate) fn close_surplus(&mut self) {
        while let Some(at) = surplus(&self.imports, |it| (it.users, it.used)) {
            close(self.imports.swap_remove(at));
        }
    }

    /// Closes what nothing uses of a peer, if its record is not what `look` finds in its place.
    pub(crate) fn close_freed(&mut self, number: u32, look: impl Fn(u64) -> Option<Record>) {
        let is_freed = |it: &mut Import| {
            it.number == number && it.users == 0 && look(it.place) != Some(it.record)
        };
        self.imports.extract_if(.., is_freed).for_each(close);
    }

    /// Closes all that nothing uses now.
    pub(crate) fn close_unused(&mut self) {
        self.imports
            .extract_if(.., |it| it.users == 0)
            .for_each(close);
    }

    /// Processes with these numbers are gone, and others may come to have them.
    pub(crate) fn forget(&mut self, numbers: &Range<u32>) {
        let is_gone = |it: &mut Import| numbers.contains(&it.number) && it.users == 0;
        self.imports.extract_if(.., is_gone).for_each(close);
    }
}

impl Drop for Devices {
    /// Closes all, when no copy works there any more.
    fn drop(&mut self) {
        for pending in self.pending.drain(..) {
            // One that has failed is over, too.
            while let Ok(false) = pending.marked.has_passed() {
                std::thread::yield_now();
            }
        }
        self.imports.drain(..).for_each(close);
    }
}

/// Closes what is open.
fn close(import: Import) {
    if let Ok(device) = memory::device(import.record.kind) {
        // SAFETY: no copy is under way there, and nothing else uses it.
        unsafe { device.close(import.base) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written_or_not_at_all() {
        let record = Record {
            kind: Kind::Cuda,
            id: 7,
            len: 1 << 40,
            handle: [9; HANDLE],
        };
        let bytes = record.encode();
        assert_eq!(Record::decode(&bytes), Some(record));
        for kind in [Kind::Host.number(), 4, 255] {
            let mut other = bytes;
            other[0] = kind;
            assert_eq!(Record::decode(&other), None);
        }
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_is_too_much() {
        let all: Vec<(usize, u64)> = (0..=KEPT as u64).map(|used| (0, 100 - used)).collect();
        assert_eq!(surplus(&all, |it| *it), Some(KEPT));
        assert_eq!(surplus(&all[1..], |it| *it), None);
        let mut busy = all.clone();
        busy[KEPT].0 = 1;
        assert_eq!(surplus(&busy, |it| *it), None);
    }
}
