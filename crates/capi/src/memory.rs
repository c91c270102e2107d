//! The memory of the library: that of the system. If there is no more, most who ask end the
//! process; before, the user is told what may help.

use std::alloc::{GlobalAlloc, Layout, System};

use catena_base::tell::no_memory;

#[global_allocator]
static MEMORY: Memory = Memory;

struct Memory;

/// Only a call that fails with `MPI_ERR_NO_MEM` asks for more than this at once, in bytes.
const MUCH: usize = 1 << 30;

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        told(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        told(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        told(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[inline(always)]
fn told(got: *mut u8, bytes: usize) -> *mut u8 {
    if got.is_null() && bytes <= MUCH {
        no_memory(bytes);
    }
    got
}
