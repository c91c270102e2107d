//! Files that Linux reads and writes: any file system that is mounted.

use std::ffi::{CStr, CString, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::calls::{checked, offset};
use super::{Direction, Driver, FileSystem, Mapped, Part, Stripes};

/// A descriptor that is closed once.
#[derive(Debug)]
struct Descriptor(AtomicI32);

/// What stands for a descriptor that was closed: the system refuses it.
const CLOSED: c_int = -1;

impl Descriptor {
    #[inline]
    fn get(&self) -> c_int {
        self.0.load(Relaxed)
    }

    /// Linux gives the descriptor back also where it tells an error. That a signal came is none of
    /// the file's.
    fn close(&self) -> io::Result<()> {
        match self.0.swap(CLOSED, Relaxed) {
            CLOSED => Ok(()),
            // SAFETY: it is this one's, and nobody has it any more.
            fd => match checked(unsafe { libc::close(fd) }) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                result => result,
            },
        }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // Whoever wants to know of errors has closed it.
        let _ = self.close();
    }
}

/// An open file.
#[derive(Debug)]
pub struct Posix {
    fd: Descriptor,
    system: FileSystem,
    /// The file again, open for reading and writing as maps need it, if that is allowed.
    for_maps: OnceLock<Option<OwnedFd>>,
}

/// The folder that a path lies in.
fn folder(path: &CStr) -> CString {
    let bytes = path.to_bytes();
    let folder = match bytes.iter().rposition(|byte| *byte == b'/') {
        None => b".",
        Some(0) => b"/",
        Some(end) => &bytes[..end],
    };
    CString::new(folder).expect("it is part of a path")
}

impl Posix {
    /// Opens `path` with flags of `open(2)`; a file that is created gets the permissions `mode`,
    /// but for those that the process's mask withholds. Programs that the process starts do not get
    /// the descriptor.
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
                    let file = Posix {
                        system: FileSystem::of(fd),
                        fd: Descriptor(AtomicI32::new(fd)),
                        for_maps: OnceLock::new(),
                    };
                    return match file.stat()?.st_mode & libc::S_IFMT {
                        libc::S_IFDIR => Err(io::Error::from_raw_os_error(libc::EISDIR)),
                        _ => Ok(file),
                    };
                }
            }
        }
    }

    /// Makes a new file, with stripes as wanted where it lies on Lustre. The file is laid out
    /// before it is opened for good, as an open file has its layout already.
    ///
    /// # Errors
    /// What the system says; `EEXIST` for a file that is there. That stripes cannot be had is no
    /// failure: they are hints, and [`Driver::stripes`] tells what there is.
    pub fn create(path: &CStr, flags: c_int, mode: u32, stripes: Stripes) -> io::Result<Self> {
        let flags = flags | libc::O_CREAT | libc::O_EXCL;
        let wants = stripes.unit != 0 || stripes.count != 0;
        if !wants || FileSystem::of_path(&folder(path)) != FileSystem::Lustre {
            return Posix::open(path, flags, mode);
        }
        // SAFETY: the path ends with NUL.
        checked(unsafe { libc::mknod(path.as_ptr(), libc::S_IFREG | mode, 0) })?;
        let made = Posix::open(path, flags & !(libc::O_CREAT | libc::O_EXCL), 0);
        match made {
            Ok(file) => {
                let _ = stripes.set(file.fd());
                Ok(file)
            }
            Err(error) => {
                // SAFETY: the path ends with NUL.
                unsafe { libc::unlink(path.as_ptr()) };
                Err(error)
            }
        }
    }

    fn fd(&self) -> c_int {
        self.fd.get()
    }

    /// Forgets what the kernel has cached of a file on NFS: opening it has the server asked for its
    /// state.
    fn forget(&self) -> io::Result<()> {
        // SAFETY: no memory is involved. What cannot be dropped is checked when it is opened.
        unsafe { libc::posix_fadvise64(self.fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        std::fs::File::open(format!("/proc/self/fd/{}", self.fd())).map(drop)
    }

    /// What can be mapped to be stored into: stores of several hosts into one page would be lost,
    /// so the file is one of this host alone.
    fn for_maps(&self) -> Option<BorrowedFd<'_>> {
        if self.system != FileSystem::Local {
            return None;
        }
        let open = || {
            let path = format!("/proc/self/fd/{}", self.fd());
            let file = std::fs::File::options().read(true).write(true).open(path);
            file.ok().map(OwnedFd::from)
        };
        Some(self.for_maps.get_or_init(open).as_ref()?.as_fd())
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
    unsafe fn move_some(&self, direction: Direction, part: Part, at: u64) -> io::Result<usize> {
        let (fd, at, len) = (self.fd(), offset(at)?, part.len);
        // SAFETY: the caller's promise for both.
        let moved = unsafe {
            match direction {
                Direction::Read => libc::pread64(fd, part.base.cast(), len, at),
                Direction::Write => libc::pwrite64(fd, part.base.cast_const().cast(), len, at),
            }
        };
        usize::try_from(moved).map_err(|_| io::Error::last_os_error())
    }

    fn maps(&self) -> bool {
        self.for_maps().is_some()
    }

    fn map(&self, at: u64, len: u64) -> Option<Mapped> {
        Mapped::new(self.for_maps()?, at, len).ok()
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

    fn refresh(&self) -> io::Result<()> {
        match self.system {
            FileSystem::Nfs => self.forget(),
            _ => Ok(()),
        }
    }

    fn stripes(&self) -> Option<Stripes> {
        match self.system {
            FileSystem::Lustre => Stripes::of(self.fd()),
            _ => None,
        }
    }

    fn close(&self) -> io::Result<()> {
        self.fd.close()
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = self.stat()?;
        Ok((stat.st_dev, stat.st_ino))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_path() {
        for (path, parent) in [
            (c"a", c"."),
            (c"/a", c"/"),
            (c"/b/a", c"/b"),
            (c"b/c/a", c"b/c"),
        ] {
            assert_eq!(&*folder(path), parent);
        }
    }

    #[test]
    fn a_file_that_forgets_its_cache_still_has_its_bytes() {
        let path = std::env::temp_dir().join(format!("catena-forget-{}", std::process::id()));
        std::fs::write(&path, b"bytes").unwrap();
        let name = CString::new(path.to_str().unwrap()).unwrap();
        let file = Posix::open(&name, libc::O_RDWR, 0).unwrap();
        file.forget().unwrap();
        assert_eq!(file.size().unwrap(), 5);
        let stripes = Stripes {
            unit: 1 << 20,
            count: 2,
        };
        let again = Posix::create(&name, libc::O_RDWR, 0o600, stripes);
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        std::fs::remove_file(&path).unwrap();
        // Elsewhere than on Lustre stripes are passed over.
        let new = Posix::create(&name, libc::O_RDWR, 0o600, stripes).unwrap();
        assert_eq!(new.stripes(), None);
        std::fs::remove_file(&path).unwrap();
    }
}
