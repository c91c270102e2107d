//! The frames of the calling thread, with what is needed to find variables in them.

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

struct Walk {
    frames: Vec<Frame>,
    most: usize,
}

extern "C" fn each(context: *mut Context, data: *mut c_void) -> c_int {
    // SAFETY: what `walk` has given, and nobody else has it meanwhile.
    let walk = unsafe { &mut *data.cast::<Walk>() };
    // SAFETY: the context of this call.
    let frame = unsafe {
        Frame {
            at: _Unwind_GetIP(context),
            low: _Unwind_GetCFA(context),
            high: 0,
            pointer: _Unwind_GetGR(context, POINTER),
        }
    };
    if let Some(last) = walk.frames.last_mut() {
        last.high = frame.low;
    }
    walk.frames.push(frame);
    match walk.frames.len() < walk.most {
        true => GO_ON,
        false => STOP,
    }
}

/// The frames of the calling thread, the innermost first; of the last one the end is not known.
/// Cost: about a microsecond a frame.
pub fn walk(most: usize) -> Vec<Frame> {
    let mut walk = Walk {
        frames: Vec::with_capacity(most),
        most,
    };
    // SAFETY: `each` and what it takes live as long as the call.
    unsafe { _Unwind_Backtrace(each, (&raw mut walk).cast()) };
    walk.frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_variables_lie_in_the_frame_of_their_function() {
        #[inline(never)]
        fn inner(outer: usize) -> (usize, Vec<Frame>) {
            let local = [0_u8; 64];
            std::hint::black_box(&local);
            (outer.min(local.as_ptr().addr()), walk(16))
        }
        let local = [0_u8; 64];
        std::hint::black_box(&local);
        let at = local.as_ptr().addr();
        let (_, frames) = inner(at);
        let holds = frames.iter().position(|it| it.low <= at && at < it.high);
        assert!(holds.is_some_and(|it| it >= 2), "{at:x} {frames:x?}");
    }
}
