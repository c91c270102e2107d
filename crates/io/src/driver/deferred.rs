//! A file that is opened when it is first used: `romio_no_indep_rw` says that most members will not
//! use it themselves.

use std::ffi::{CString, c_int};
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{Direction, Driver, Mapped, Part, Posix, REPLACED, Stripes};

/// A file that is there, and perhaps open.
#[derive(Debug)]
pub struct Deferred {
    path: CString,
    flags: c_int,
    /// Its number in the file system, by which it is told from one that has taken its name.
    number: u64,
    file: OnceLock<Posix>,
    /// One thread opens it.
    opening: Mutex<()>,
}

impl Deferred {
    /// The file at `path` that has this number, to be opened with flags of `open(2)`.
    pub fn new(path: CString, flags: c_int, number: u64) -> Self {
        Deferred {
            path,
            flags,
            number,
            file: OnceLock::new(),
            opening: Mutex::new(()),
        }
    }

    fn file(&self) -> io::Result<&Posix> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let _alone = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = Posix::open(&self.path, self.flags, 0)?;
        if file.identity()?.1 != self.number {
            return Err(io::Error::new(io::ErrorKind::NotFound, REPLACED));
        }
        Ok(self.file.get_or_init(|| file))
    }
}

impl Driver for Deferred {
    unsafe fn move_some(&self, direction: Direction, part: Part, at: u64) -> io::Result<usize> {
        // SAFETY: the caller's promise.
        unsafe { self.file()?.move_some(direction, part, at) }
    }

    fn maps(&self) -> bool {
        self.file().is_ok_and(Driver::maps)
    }

    fn map(&self, at: u64, len: u64) -> Option<Mapped> {
        self.file().ok()?.map(at, len)
    }

    fn size(&self) -> io::Result<u64> {
        self.file()?.size()
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.file()?.set_size(size)
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        self.file()?.allocate(size)
    }

    /// What was never opened has written nothing.
    fn sync(&self) -> io::Result<()> {
        self.file.get().map_or(Ok(()), Driver::sync)
    }

    fn refresh(&self) -> io::Result<()> {
        self.file.get().map_or(Ok(()), Driver::refresh)
    }

    fn close(&self) -> io::Result<()> {
        self.file.get().map_or(Ok(()), Driver::close)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.file()?.identity()
    }

    fn stripes(&self) -> Option<Stripes> {
        self.file.get().and_then(Driver::stripes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_used_is_not_opened() {
        let nowhere = Deferred::new(c"/nonexistent/file".into(), libc::O_RDONLY, 1);
        assert!(nowhere.sync().is_ok() && nowhere.refresh().is_ok());
        assert_eq!(nowhere.stripes(), None);
        let error = nowhere.size().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let number = Posix::open(c"/proc/self/exe", libc::O_RDONLY, 0)
            .and_then(|file| file.identity())
            .unwrap()
            .1;
        let other = Deferred::new(c"/proc/self/exe".into(), libc::O_RDONLY, number + 1);
        assert!(other.size().is_err(), "it has another number");
        let there = Deferred::new(c"/proc/self/exe".into(), libc::O_RDONLY, number);
        assert!(there.file.get().is_none());
        assert!(there.size().unwrap() > 0);
        assert!(there.file.get().is_some());
    }
}
