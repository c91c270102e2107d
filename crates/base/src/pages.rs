//! Arrays whose memory goes back to the system when they go, whatever else has been allocated
//! since.

use std::alloc::{Layout, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

use crate::tell::no_memory;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// An array in pages of its own, for what is large and seldom made: each costs a few system calls.
///
/// # Examples
/// ```
/// use catena_base::Pages;
///
/// let mut squares = Pages::from_fn(1000, |at| at * at);
/// squares[3] += 1;
/// assert_eq!((squares[3], squares[999]), (10, 998_001));
/// assert!(Pages::<u8>::default().is_empty());
/// ```
pub struct Pages<T> {
    /// Dangling if there are no elements.
    first: NonNull<T>,
    len: usize,
}

// SAFETY: the elements belong to the array, as those of a box do.
unsafe impl<T: Send> Send for Pages<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Pages<T> {}

impl<T> Pages<T> {
    /// An array of `len` elements, each made by `element` from its index. If there is no memory for
    /// the array the process ends, as when a box is made.
    ///
    /// # Panics
    /// If the elements have no size, or are aligned to more than a page.
    pub fn from_fn(len: usize, mut element: impl FnMut(usize) -> T) -> Self {
        assert!(size_of::<T>() > 0 && align_of::<T>() <= 4096);
        if len == 0 {
            return Pages::default();
        }
        let layout = Layout::array::<T>(len).expect("fewer bytes than there are addresses");
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory, at an address that the kernel chooses.
        let mapped =
            unsafe { mmap_anonymous(ptr::null_mut(), layout.size(), access, MapFlags::PRIVATE) };
        let first = mapped.ok().and_then(|at| NonNull::new(at.cast::<T>()));
        let Some(first) = first else {
            no_memory(layout.size());
            handle_alloc_error(layout);
        };
        // What an element that panics leaves behind is only memory.
        for at in 0..len {
            // SAFETY: room for `len` elements was mapped, and nobody else has it.
            unsafe { first.add(at).write(element(at)) };
        }
        Pages { first, len }
    }
}

/// Gives back to the system what was freed of ordinary memory and lies between pieces that are
/// still in use. Cost: all that is free there; for those who have just freed many megabytes in
/// small pieces.
#[cold]
pub fn return_freed() {
    // SAFETY: it may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

impl<T> Default for Pages<T> {
    /// No elements, and no memory.
    fn default() -> Self {
        Pages {
            first: NonNull::dangling(),
            len: 0,
        }
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` elements were written there, and they live as long as the array.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Pages<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; the array is borrowed as a whole.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

impl<T> Drop for Pages<T> {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        let bytes = self.len * size_of::<T>();
        // SAFETY: the elements are dropped once, here; then nobody knows of the memory, which was
        // mapped for them alone.
        unsafe {
            ptr::drop_in_place(&raw mut **self);
            // It cannot fail for a whole mapping.
            let _ = munmap(self.first.as_ptr().cast(), bytes);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn elements_are_dropped_once() {
        let count = Rc::new(());
        let mut pages = Pages::from_fn(300, |_| Some(count.clone()));
        assert_eq!(Rc::strong_count(&count), 301);
        pages[7] = None;
        assert_eq!(Rc::strong_count(&count), 300);
        pages = Pages::default();
        assert_eq!(Rc::strong_count(&count), 1);
        assert!(pages.is_empty());
    }
}
