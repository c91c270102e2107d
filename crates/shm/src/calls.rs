//! The calls by which the kernel copies from the memory of one process to that of another one
//! (`process_vm_readv(2)`).

use std::io;

/// Reads up to `len` bytes at `addr` of process `pid`.
///
/// # Safety
/// `into` must be valid for `len` bytes.
pub(crate) unsafe fn read_process(
    pid: i32,
    addr: u64,
    into: *mut u8,
    len: usize,
) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: into.cast(),
        iov_len: len,
    };
    let remote = libc::iovec {
        iov_base: addr as *mut libc::c_void,
        iov_len: len,
    };
    // SAFETY: the caller vouches for `into`; the kernel checks `addr`.
    match unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) } {
        -1 => Err(io::Error::last_os_error()),
        n => Ok(n as usize),
    }
}

/// Writes up to `len` bytes at `addr` of process `pid`.
///
/// # Safety
/// `from` must be valid for `len` bytes, and the process must let them change.
pub(crate) unsafe fn write_process(
    pid: i32,
    addr: u64,
    from: *const u8,
    len: usize,
) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: from.cast_mut().cast(),
        iov_len: len,
    };
    let remote = libc::iovec {
        iov_base: addr as *mut libc::c_void,
        iov_len: len,
    };
    // SAFETY: the caller vouches for both.
    match unsafe { libc::process_vm_writev(pid, &local, 1, &remote, 1, 0) } {
        -1 => Err(io::Error::last_os_error()),
        n => Ok(n as usize),
    }
}

/// The word at `address` of a process, as ranks of a node read each other's memory.
///
/// # Errors
/// Why the kernel does not allow it, or that there is no memory at that address.
pub fn word_of(pid: u32, address: u64) -> io::Result<u64> {
    let mut word = [0; size_of::<u64>()];
    // SAFETY: as long as it says.
    match unsafe { read_process(pid as i32, address, word.as_mut_ptr(), word.len()) }? {
        read if read == word.len() => Ok(u64::from_ne_bytes(word)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
