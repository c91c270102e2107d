//! Files that Linux reads and writes: any file system that is mounted.

use std::ffi::{CStr, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::{Direction, Driver, Part};

/// A descriptor of an open file.
#[derive(Debug)]
pub struct Posix(OwnedFd);

/// The result of a system call that gives −1 for an error.
fn checked(result: c_int) -> io::Result<()> {
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// An offset as the system takes it.
fn offset(at: u64) -> io::Result<i64> {
    i64::try_from(at).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}

impl Posix {
    /// Opens `path` with flags of `open(2)`; a file that is created gets the permissions `mode`, but for
    /// those that the process's mask withholds. Programs that the process starts do not get the descriptor.
    ///
    /// # Errors
    /// What the system says; `EISDIR` for a directory, however it is opened.
    pub fn open(path: &CStr, flags: c_int, mode: u32) -> io::Result<Self> {
        loop {
            // SAFETY: the path ends with NUL.
            let fd = unsafe { libc::open64(path.as_ptr(), flags | libc::O_CLOEXEC, mode) };
            match checked(fd) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    // SAFETY: it has just been opened, for nobody else.
                    let file = Posix(unsafe { OwnedFd::from_raw_fd(fd) });
                    return match file.stat()?.st_mode & libc::S_IFMT {
                        libc::S_IFDIR => Err(io::Error::from_raw_os_error(libc::EISDIR)),
                        _ => Ok(file),
                    };
                }
            }
        }
    }

    fn fd(&self) -> c_int {
        self.0.as_raw_fd()
    }

    fn stat(&self) -> io::Result<libc::stat64> {
        let mut stat = MaybeUninit::uninit();
        // SAFETY: there is room for the answer.
        checked(unsafe { libc::fstat64(self.fd(), stat.as_mut_ptr()) })?;
        // SAFETY: the call has filled it.
        Ok(unsafe { stat.assume_init() })
    }
}

impl Driver for Posix {
    unsafe fn move_some(&self, direction: Direction, parts: &[Part], at: u64) -> io::Result<usize> {
        let (fd, at) = (self.fd(), offset(at)?);
        // SAFETY: the caller's promise for all four; a part has the layout of an `iovec`.
        let moved = unsafe {
            match (direction, parts) {
                (Direction::Read, [part]) => libc::pread64(fd, part.base.cast(), part.len, at),
                (Direction::Write, [part]) => {
                    libc::pwrite64(fd, part.base.cast_const().cast(), part.len, at)
                }
                _ => {
                    let vectors: Vec<libc::iovec> = parts
                        .iter()
                        .map(|part| libc::iovec {
                            iov_base: part.base.cast(),
                            iov_len: part.len,
                        })
                        .collect();
                    let n = vectors.len() as c_int;
                    match direction {
                        Direction::Read => libc::preadv64(fd, vectors.as_ptr(), n, at),
                        Direction::Write => libc::pwritev64(fd, vectors.as_ptr(), n, at),
                    }
                }
            }
        };
        usize::try_from(moved).map_err(|_| io::Error::last_os_error())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.stat()?.st_size as u64)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        // SAFETY: no memory is involved.
        checked(unsafe { libc::ftruncate64(self.fd(), offset(size)?) })
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        if size == 0 {
            return Ok(());
        }
        loop {
            // SAFETY: no memory is involved. Unlike its own call, that of the C library also works
            // where the file system has no such operation.
            let code = unsafe { libc::posix_fallocate64(self.fd(), 0, offset(size)?) };
            match code {
                0 => return Ok(()),
                libc::EINTR => {}
                code => return Err(io::Error::from_raw_os_error(code)),
            }
        }
    }

    fn sync(&self) -> io::Result<()> {
        // SAFETY: no memory is involved.
        match checked(unsafe { libc::fsync(self.fd()) }) {
            // A pipe or a device that keeps nothing.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            result => result,
        }
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = self.stat()?;
        Ok((stat.st_dev, stat.st_ino))
    }
}
