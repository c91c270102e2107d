//! The stack of a thread.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;

thread_local! {
    static OWN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The stack of the calling thread. Cost: some nanoseconds, but for the first time.
pub fn own() -> Range<usize> {
    let (low, high) = OWN.try_with(Cell::get).unwrap_or_default();
    if high > 0 {
        return low..high;
    }
    let mut about = MaybeUninit::uninit();
    let (mut low, mut len) = (std::ptr::null_mut(), 0);
    // SAFETY: places for what is told of this thread.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), about.as_mut_ptr()) != 0 {
            return 0..0;
        }
        libc::pthread_attr_getstack(about.as_ptr(), &raw mut low, &raw mut len);
        libc::pthread_attr_destroy(about.as_mut_ptr());
    }
    let range = low.addr()..low.addr() + len;
    _ = OWN.try_with(|own| own.set((range.start, range.end)));
    range
}
