//! What all objects have in common: an allocation that begins with libfabric's part, and the
//! functions of what an object cannot do.

use std::ffi::{c_char, c_int, c_void};

use libc::iovec;

use crate::sys::{Fid, FidOps, err};

/// The object that libfabric's part is the beginning of.
///
/// # Safety
/// `at` is the beginning of a `T`, which is open; it is used by calls that do not change it at
/// once.
pub unsafe fn of<'a, T, F>(at: *mut F) -> &'a T {
    // SAFETY: as promised.
    unsafe { &*at.cast::<T>() }
}

/// What libfabric's part of an object begins with.
pub fn begun(class: usize, context: *mut c_void, ops: &'static FidOps) -> Fid {
    Fid {
        class,
        context,
        ops,
    }
}

/// An object as libfabric has it, which its beginning names.
pub fn made<T, F>(object: T) -> *mut F {
    Box::into_raw(Box::new(object)).cast()
}

/// The functions of an object that only closes, which others replace.
pub const NOTHING: FidOps = FidOps {
    size: size_of::<FidOps>(),
    close: no_close,
    bind: no_bind,
    control: no_control,
    ops_open: no_ops_open,
};

/// Closes an object that others may go on without.
///
/// # Safety
/// As [`free`].
pub unsafe extern "C" fn close<T>(fid: *mut Fid) -> c_int {
    // SAFETY: as promised.
    unsafe { free::<T, _>(fid) };
    0
}

/// Frees an object.
///
/// # Safety
/// As [`of`], and it is used no more.
pub unsafe fn free<T, F>(at: *mut F) {
    // SAFETY: all objects are made by `Box`.
    drop(unsafe { Box::from_raw(at.cast::<T>()) });
}

/// One run of memory.
pub fn one(at: *const c_void, len: usize) -> [iovec; 1] {
    [iovec {
        iov_base: at.cast_mut(),
        iov_len: len,
    }]
}

/// Several things that a caller names by the first one and their number.
///
/// # Safety
/// There are as many as `count`.
pub unsafe fn many<'a, T>(first: *const T, count: usize) -> &'a [T] {
    match count {
        0 => &[],
        // SAFETY: as promised.
        _ => unsafe { std::slice::from_raw_parts(first, count) },
    }
}

unsafe extern "C" fn no_close(_: *mut Fid) -> c_int {
    err::NOSYS
}

/// Nothing can be bound to it.
unsafe extern "C" fn no_bind(_: *mut Fid, _: *mut Fid, _: u64) -> c_int {
    err::NOSYS
}

/// It takes no commands.
unsafe extern "C" fn no_control(_: *mut Fid, _: c_int, _: *mut c_void) -> c_int {
    err::NOSYS
}

/// It has no further tables.
unsafe extern "C" fn no_ops_open(
    _: *mut Fid,
    _: *const c_char,
    _: u64,
    _: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    err::NOSYS
}
