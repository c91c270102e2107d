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

/// How far below the caller's part of the stack a call keeps the address that it returns to.
#[cfg(target_arch = "x86_64")]
const RETURN: usize = 8;
/// How far below the caller's part of the stack a call keeps the address that it returns to.
#[cfg(target_arch = "aarch64")]
const RETURN: usize = 72;

/// The least that a call within another one begins below it: both have arguments there, and the
/// tool its own.
const LEAST: usize = 128;

/// Whether the address that a call returns to is still where the call has put it: the caller's part
/// of the stack begins at `top`.
///
/// # Safety
/// The call has to be one on the stack of this thread.
pub unsafe fn is_intact(top: usize, caller: usize) -> bool {
    // SAFETY: memory of the stack of this thread.
    unsafe { ((top - RETURN) as *const usize).read_volatile() == caller }
}

/// Whether a call with one part of a stack was left where another one begins: a call that a
/// function makes which the first one has called lies below that, and leaves it intact. Of two
/// stacks nothing is known.
pub fn is_left(
    before: usize,
    now: usize,
    own: &Range<usize>,
    is_intact: impl FnOnce() -> bool,
) -> bool {
    let are_own = own.contains(&before) && own.contains(&now);
    before == now || are_own && (before < now + LEAST || !is_intact())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_a_call_is_over() {
        let own = 1000..2000;
        let is_left = |before, now| is_left(before, now, &own, || true);
        assert!(is_left(1500, 1500) && is_left(1400, 1500));
        assert!(is_left(1564, 1500), "the new one has more arguments");
        assert!(!is_left(1700, 1500), "the new one is in a function of it");
        assert!(!is_left(400, 1500) && !is_left(1500, 2500), "two stacks");
        assert!(is_left(400, 400));
        assert!(super::is_left(1700, 1500, &own, || false));
    }
}
