//! Event queues. Nothing here happens by itself later, so they have no events: programs open one
//! with every fabric all the same.

use std::ffi::{c_char, c_int, c_void};
use std::time::Duration;

use crate::host;
use crate::object::{free, no_bind, no_control, no_ops_open};
use crate::sys::{EqAttr, EqOps, Fid, FidEq, FidOps, class, err, num};

static FID_OPS: FidOps = FidOps {
    size: size_of::<FidOps>(),
    close,
    bind: no_bind,
    control: no_control,
    ops_open: no_ops_open,
};

static OPS: EqOps = EqOps {
    size: size_of::<EqOps>(),
    read,
    readerr,
    write,
    sread,
    strerror,
};

/// Opens a queue; an error number, negative, if it cannot be had.
///
/// # Safety
/// Null, or attributes.
pub unsafe fn open(attr: *const EqAttr, context: *mut c_void) -> Result<*mut FidEq, c_int> {
    // SAFETY: as promised.
    if let Some(attr) = unsafe { attr.as_ref() } {
        let known = [num::WAIT_NONE, num::WAIT_UNSPEC, num::WAIT_YIELD];
        if !known.contains(&attr.wait_obj) {
            return Err(err::NOSYS);
        }
    }
    Ok(Box::into_raw(Box::new(FidEq {
        fid: Fid {
            class: class::EQ,
            context,
            ops: &FID_OPS,
        },
        ops: &OPS,
    })))
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: an open queue.
    unsafe { free::<FidEq, _>(fid) };
    0
}

unsafe extern "C" fn read(_: *mut FidEq, _: *mut u32, _: *mut c_void, _: usize, _: u64) -> isize {
    err::AGAIN as isize
}

unsafe extern "C" fn readerr(_: *mut FidEq, _: *mut c_void, _: u64) -> isize {
    err::AGAIN as isize
}

unsafe extern "C" fn write(_: *mut FidEq, _: u32, _: *const c_void, _: usize, _: u64) -> isize {
    err::NOSYS as isize
}

/// Waits as long as it is asked to: an event never comes.
unsafe extern "C" fn sread(
    _: *mut FidEq,
    _: *mut u32,
    _: *mut c_void,
    _: usize,
    timeout: c_int,
    _: u64,
) -> isize {
    let Ok(limit) = u64::try_from(timeout) else {
        return err::NOSYS as isize;
    };
    std::thread::sleep(Duration::from_millis(limit));
    err::AGAIN as isize
}

unsafe extern "C" fn strerror(
    _: *mut FidEq,
    error: c_int,
    _: *const c_void,
    _: *mut c_char,
    _: usize,
) -> *const c_char {
    host::strerror(error)
}
