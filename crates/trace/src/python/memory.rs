//! Memory of this process, of which is not known whether it is there.

use std::ffi::{c_int, c_void};

/// Copies memory of this process, that many bytes behind an address; `None` where there is none.
pub(super) fn read(base: usize, offset: usize, to: &mut [u8]) -> Option<()> {
    let own = libc::iovec {
        iov_base: to.as_mut_ptr().cast(),
        iov_len: to.len(),
    };
    let there = libc::iovec {
        iov_base: base.wrapping_add(offset) as *mut c_void,
        iov_len: to.len(),
    };
    // SAFETY: bytes of the caller's; the kernel looks whether the others are there.
    let done = unsafe { libc::process_vm_readv(libc::getpid(), &own, 1, &there, 1, 0) };
    (done == to.len() as isize).then_some(())
}

/// A word of this process, as [`read`] reads it.
pub(super) fn word(base: usize, offset: usize) -> Option<usize> {
    let mut bytes = [0; 8];
    read(base, offset, &mut bytes)?;
    Some(usize::from_ne_bytes(bytes))
}

/// A number of 32 bits, as [`read`] reads it.
pub(super) fn number(base: usize, offset: usize) -> Option<c_int> {
    let mut bytes = [0; 4];
    read(base, offset, &mut bytes)?;
    Some(c_int::from_ne_bytes(bytes))
}
