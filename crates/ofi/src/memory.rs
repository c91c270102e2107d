//! Buffers and contexts that operations use: they stay where they are until
//! the endpoint is closed.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::UnsafeCell;
use std::ffi::c_void;

use catena_ofi_sys::Context2;

/// Smallest unit that the kernel hands out.
const PAGE: usize = 4096;

/// Memory for messages, all zero.
#[derive(Debug)]
pub(crate) struct Memory {
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

/// The contexts of all operations. An operation is known by its number.
#[derive(Debug)]
pub(crate) struct Contexts(Box<[UnsafeCell<Context2>]>);

// SAFETY: the provider writes them, and only during its calls; we never look.
unsafe impl Send for Contexts {}

impl Contexts {
    /// As many as there can be operations.
    pub fn new(operations: usize) -> Contexts {
        let empty = || {
            UnsafeCell::new(Context2 {
                internal: [std::ptr::null_mut(); 8],
            })
        };
        Contexts((0..operations).map(|_| empty()).collect())
    }

    /// The context of an operation.
    pub fn of(&self, operation: usize) -> *mut Context2 {
        self.0[operation].get()
    }

    /// The operation with that context, if it is one of ours.
    pub fn operation(&self, context: *mut c_void) -> Option<usize> {
        let offset = (context as usize).wrapping_sub(self.0.as_ptr() as usize);
        let operation = offset / size_of::<Context2>();
        let sound = offset.is_multiple_of(size_of::<Context2>()) && operation < self.0.len();
        sound.then_some(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_known_by_their_contexts() {
        let contexts = Contexts::new(5);
        for operation in 0..5 {
            let context: *mut c_void = contexts.of(operation).cast();
            assert_eq!(contexts.operation(context), Some(operation));
            assert_eq!(contexts.operation(context.wrapping_byte_add(8)), None);
        }
        let end: *mut c_void = contexts.of(4).cast();
        assert_eq!(contexts.operation(end.wrapping_byte_add(64)), None);
        assert_eq!(contexts.operation(std::ptr::null_mut()), None);
    }

    #[test]
    fn memory_is_there_and_zero() {
        let memory = Memory::new(10_000).expect("a little memory");
        assert_eq!(memory.len(), 10_000);
        assert!((memory.at(0) as usize).is_multiple_of(PAGE));
        // SAFETY: ours.
        assert_eq!(unsafe { memory.at(9_999).read() }, 0);
    }
}
