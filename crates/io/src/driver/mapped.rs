//! Bytes of a file in memory, to be stored into.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::OnceLock;

use super::calls::{checked, offset};

/// Bytes of a file in memory: what is stored there is in the file at once, for all who use it on this host.
///
/// Nothing else in the pages changes. The pages have room on the storage and are there, so a store does not fail; only
/// if somebody cuts the file meanwhile does it end the process by `SIGBUS`.
#[derive(Debug)]
pub struct Mapped {
    page: *mut libc::c_void,
    /// Bytes of the pages before those of the file that were asked for.
    before: usize,
    len: usize,
}

impl Mapped {
    /// Whether the system can provide pages beforehand: Linux can from 5.14 on.
    pub(super) fn is_possible() -> bool {
        static ANSWER: OnceLock<bool> = OnceLock::new();
        *ANSWER.get_or_init(|| {
            // SAFETY: there are no pages to provide.
            checked(unsafe { libc::madvise(ptr::null_mut(), 0, libc::MADV_POPULATE_WRITE) }).is_ok()
        })
    }

    /// Bytes `[at, at + len)`, at least one, of a file that is open for reading and writing.
    ///
    /// # Errors
    /// What the system says: that there is no room for them, or that the file system cannot provide it beforehand.
    pub(super) fn new(file: BorrowedFd<'_>, at: u64, len: u64) -> io::Result<Self> {
        let fd = file.as_raw_fd();
        loop {
            // SAFETY: no memory is involved.
            match checked(unsafe { libc::fallocate64(fd, 0, offset(at)?, offset(len)?) }) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        }
        // SAFETY: no memory is involved.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        let before = at % page;
        let (begin, len) = (offset(at - before)?, (before + len) as usize);
        let both = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the mapping is a new one.
        let page = unsafe { libc::mmap64(ptr::null_mut(), len, both, libc::MAP_SHARED, fd, begin) };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let before = before as usize;
        let mapped = Mapped { page, before, len };
        // SAFETY: the pages have just been mapped.
        checked(unsafe { libc::madvise(page, len, libc::MADV_POPULATE_WRITE) })?;
        Ok(mapped)
    }

    /// The first of the bytes.
    pub fn base(&self) -> *mut u8 {
        self.page.cast::<u8>().wrapping_add(self.before)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the pages were mapped by this, and nobody has their address any more.
        unsafe { libc::munmap(self.page, self.len) };
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn stores_are_in_the_file_and_nothing_else_changes() {
        let path = std::env::temp_dir().join(format!("catena-mapped-{}", std::process::id()));
        std::fs::write(&path, vec![7; 5000]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mapped = Mapped::new(file.as_fd(), 4990, 8000).unwrap();
        for at in [0, 3, 7999] {
            // SAFETY: the map has 8000 bytes.
            unsafe { mapped.base().add(at).write(9) };
        }
        let now = std::fs::read(&path).unwrap();
        drop(mapped);
        assert_eq!(std::fs::read(&path).unwrap(), now);
        let mut want = vec![7; 5000];
        want.resize(4990 + 8000, 0);
        for at in [0, 3, 7999] {
            want[4990 + at] = 9;
        }
        assert_eq!(now, want);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_cannot_be_mapped_is_an_error() {
        let path = std::env::temp_dir().join(format!("catena-unmapped-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        let error = Mapped::new(file.as_fd(), 0, 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let error = Mapped::new(file.as_fd(), i64::MAX as u64, 10).unwrap_err();
        assert!(error.raw_os_error().is_some());
        std::fs::remove_file(&path).unwrap();
    }
}
