//! Buffers that a network's operations use: they stay where they are.

use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Smallest unit that the kernel hands out.
const PAGE: usize = 4096;

/// Memory for messages, all zero.
///
/// # Examples
/// ```
/// use catena_fabric::Memory;
///
/// let memory = Memory::new(100).expect("a little memory");
/// // SAFETY: ours, and zeroed.
/// assert_eq!(unsafe { memory.at(99).read() }, 0);
/// ```
#[derive(Debug)]
pub struct Memory {
    at: *mut u8,
    layout: Layout,
}

// SAFETY: plain memory, owned.
unsafe impl Send for Memory {}

impl Memory {
    /// `len` bytes, at least one; `None` if there is no such memory.
    pub fn new(len: usize) -> Option<Memory> {
        let layout = Layout::from_size_align(len.max(1), PAGE).ok()?;
        // SAFETY: not empty.
        let at = unsafe { alloc_zeroed(layout) };
        (!at.is_null()).then_some(Memory { at, layout })
    }

    /// Number of bytes.
    #[allow(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.layout.size()
    }

    /// The address of byte `offset`.
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.layout.size());
        self.at.wrapping_add(offset)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.at, self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_there_and_zero() {
        let memory = Memory::new(10_000).expect("a little memory");
        assert_eq!(memory.len(), 10_000);
        assert!((memory.at(0) as usize).is_multiple_of(PAGE));
        // SAFETY: ours.
        assert_eq!(unsafe { memory.at(9_999).read() }, 0);
    }
}
