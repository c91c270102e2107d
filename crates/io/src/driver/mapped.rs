//! Bytes of a file in memory, to be stored into.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use super::calls::{checked, offset};
use super::carrier::Carrier;

/// Bytes of a file in memory: what is stored there is in the file at once, for all who use it on
/// this host.
///
/// Nothing else in the pages changes. The pages have room on the storage and are there, so a store
/// does not fail but where somebody cuts the file meanwhile. That would end the process by
/// `SIGBUS`, so the kernel stores ([`Carrier`]), and nobody else is given an address.
#[derive(Debug)]
pub struct Mapped {
    page: *mut libc::c_void,
    /// Bytes of the pages before those of the file that were asked for.
    before: usize,
    len: usize,
}

impl Mapped {
    /// Bytes `[at, at + len)`, at least one, of a file that is open for reading and writing.
    ///
    /// # Errors
    /// What the system says: that there is no room for them, or that the file system cannot provide
    /// it beforehand.
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
        match checked(unsafe { libc::madvise(page, len, libc::MADV_POPULATE_WRITE) }) {
            // Linux before 5.14: each page comes when something is stored in it.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(mapped),
            result => result.map(|()| mapped),
        }
    }

    /// Stores the bytes from `from` on in pieces, each given by its place behind the first byte of
    /// the map and its length, in their order; how many bytes before the first piece that the file
    /// does not have any more; `None` without a pipe. `carrier` is made if there is none, and goes
    /// if not all could be stored.
    ///
    /// # Safety
    /// There are as many bytes at `from` as the pieces have together.
    pub unsafe fn store(
        &self,
        carrier: &mut Option<Carrier>,
        from: *const u8,
        pieces: impl Iterator<Item = (u64, u64)>,
    ) -> Option<u64> {
        let mut carries = carrier.take().or_else(|| Carrier::new().ok())?;
        let base = self.page.cast::<u8>().wrapping_add(self.before);
        let mut want = 0;
        let places = pieces.map(|(at, len)| {
            let end = at.checked_add(len);
            let is_inside = end.is_some_and(|end| end <= (self.len - self.before) as u64);
            assert!(is_inside, "a piece lies outside of the map");
            want += len;
            (base.wrapping_add(at as usize), len as usize)
        });
        // SAFETY: the caller's promise; the places are pages of the file.
        let stored = unsafe { carries.carry(from, places) };
        if stored == want {
            *carrier = Some(carries);
        }
        Some(stored)
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
        let mut carrier = None;
        let pieces = [(0, 1), (3, 1), (7999, 1)];
        // SAFETY: three bytes.
        let stored = unsafe { mapped.store(&mut carrier, [9; 3].as_ptr(), pieces.into_iter()) };
        assert_eq!(stored, Some(3));
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
    fn a_file_that_is_cut_takes_no_more_bytes() {
        let path = std::env::temp_dir().join(format!("catena-cut-{}", std::process::id()));
        std::fs::write(&path, b"").unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mapped = Mapped::new(file.as_fd(), 0, 1 << 20).unwrap();
        file.set_len(100_000).unwrap();
        let bytes = vec![5; 1 << 19];
        let pieces = || (0..1 << 16).map(|i| (16 * i, 8));
        let mut carrier = None;
        // SAFETY: 65,536 pieces of 8 bytes.
        let stored = unsafe { mapped.store(&mut carrier, bytes.as_ptr(), pieces()) };
        assert!(carrier.is_none(), "it is not empty");
        // The page in which it ends is there; the system may not count the last bytes that it has
        // stored.
        let most = 100_000u64.next_multiple_of(4096) / 2;
        assert!(
            (most - 4096..=most).contains(&stored.unwrap()),
            "{stored:?}"
        );
        let now = std::fs::read(&path).unwrap();
        assert_eq!(now.len(), 100_000);
        assert!(
            now.iter()
                .enumerate()
                .all(|(i, byte)| *byte == if i % 16 < 8 { 5 } else { 0 })
        );
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
