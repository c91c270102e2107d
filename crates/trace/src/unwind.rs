//! The frames of the calling thread, as the unwinder of the runtime finds them.

use std::ffi::{c_int, c_void};

/// A function that has called the next one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// The address that the call in it returns to.
    pub at: usize,
    /// What the stack pointer is when that call has returned: the lowest address of the frame.
    pub low: usize,
    /// What the stack pointer was before the function was called: the end of the frame.
    pub high: usize,
    /// Its frame pointer, if it has one.
    pub pointer: usize,
}

type Context = c_void;

unsafe extern "C" {
    // Of the C++ ABI for unwinding, which the runtime of every language here is linked with.
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut Context, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    fn _Unwind_GetGR(context: *mut Context, register: c_int) -> usize;
}

const GO_ON: c_int = 0;
const STOP: c_int = 5;

/// The register of the frame pointer.
#[cfg(not(target_arch = "aarch64"))]
const POINTER: c_int = 6;
#[cfg(target_arch = "aarch64")]
const POINTER: c_int = 29;

/// Goes through the frames of the calling thread, the innermost first, as long as `more` says so.
#[inline(always)]
fn each_frame<F: FnMut(*mut Context) -> bool>(mut more: F) {
    extern "C" fn each<F: FnMut(*mut Context) -> bool>(
        context: *mut Context,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: what is given below, and nobody else has it meanwhile.
        let more = unsafe { &mut *data.cast::<F>() };
        match more(context) {
            true => GO_ON,
            false => STOP,
        }
    }
    // SAFETY: `each` and what it takes live as long as the call.
    unsafe { _Unwind_Backtrace(each::<F>, (&raw mut more).cast()) };
}

/// The addresses that the calls of the calling thread return to, the innermost first, at most that
/// many of those that are wanted.
#[inline(always)]
pub(crate) fn returns(most: usize, is_wanted: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut found = Vec::with_capacity(most);
    each_frame(|context| {
        // SAFETY: the context of this call.
        let at = unsafe { _Unwind_GetIP(context) };
        if at != 0 && is_wanted(at) {
            found.push(at as u64);
        }
        found.len() < most
    });
    found
}

/// The frames of the calling thread, the innermost first; of the last one the end is not known. The
/// thread has to be on the stack that it was given. Cost: about a microsecond a frame.
pub fn walk(most: usize) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::with_capacity(most);
    each_frame(|context| {
        // SAFETY: the context of this call.
        let frame = unsafe {
            Frame {
                at: _Unwind_GetIP(context),
                low: _Unwind_GetCFA(context),
                high: 0,
                pointer: _Unwind_GetGR(context, POINTER),
            }
        };
        if let Some(last) = frames.last_mut() {
            last.high = frame.low;
        }
        frames.push(frame);
        frames.len() < most
    });
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_variables_lie_in_the_frame_of_their_function() {
        #[inline(never)]
        fn inner() -> (usize, Vec<Frame>) {
            let local = [0_u8; 64];
            std::hint::black_box(&local);
            (local.as_ptr().addr(), walk(16))
        }
        let local = [0_u8; 64];
        std::hint::black_box(&local);
        let (own, (inner, frames)) = (local.as_ptr().addr(), inner());
        let holder = |at| frames.iter().position(|it| it.low <= at && at < it.high);
        let (first, second) = (holder(inner), holder(own));
        assert!(
            first.is_some() && first < second,
            "{inner:x} {own:x} {frames:x?}"
        );
    }
}
