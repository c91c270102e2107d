//! The memory that a schedule works on.

use catena_link::Numbers;
use catena_schedule::{Buf, Region};

use crate::buffer::SendBuf;
use catena_objects::op::Reducer;
use catena_objects::room::Scratch;

/// The three buffers of a schedule and what combines them.
#[derive(Debug, Default)]
pub struct Memory {
    /// Send buffer.
    pub input: *const u8,
    /// Receive buffer.
    pub output: *mut u8,
    /// Scratch memory, 64-byte aligned.
    pub scratch: Scratch,
    /// Combines elements, if the schedule reduces.
    pub reducer: Option<Reducer>,
    /// What the elements are, if messages may be compressed.
    pub numbers: Option<Numbers>,
}

impl Memory {
    /// The message that is a region.
    #[inline]
    pub(super) fn message(&mut self, r: Region) -> SendBuf {
        let at = self.address(r);
        match self.numbers {
            Some(numbers) => SendBuf::run_of(at, r.len as u64, numbers),
            None => SendBuf::Bytes(at, r.len as u64),
        }
    }

    #[inline]
    pub(super) fn address(&mut self, r: Region) -> *mut u8 {
        match r.buf {
            Buf::Input => self.input.cast_mut().wrapping_add(r.offset),
            Buf::Output => self.output.wrapping_add(r.offset),
            Buf::Scratch => self.scratch.base().wrapping_add(r.offset),
        }
    }
}
