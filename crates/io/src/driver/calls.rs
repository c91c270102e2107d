//! What system calls take and give.

use std::ffi::c_int;
use std::io;

/// The result of a system call that gives −1 for an error.
pub(super) fn checked(result: c_int) -> io::Result<()> {
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// An offset as the system takes it.
pub(super) fn offset(at: u64) -> io::Result<i64> {
    i64::try_from(at).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}
