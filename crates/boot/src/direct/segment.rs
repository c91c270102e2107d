//! The memory that the ranks of a node share, without a launcher that makes it.
//!
//! Every rank makes an anonymous file and publishes its process id, the
//! descriptor and a random mark; the lowest rank of a node keeps its file, and
//! the others open it under `/proc/<pid>/fd`. It has no name that could be left
//! behind. Behind the shared memory the file ends with the mark, by which it is
//! recognised, and a byte for each rank of the node that has opened it: the
//! maker may end only when all have.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::thread;
use std::time::{Duration, Instant};

use crate::server::SEGMENT;
use crate::{BootError, sys};

/// Bytes behind the shared memory: the mark, and a byte per rank of the node.
const TAIL: u64 = 64 << 10;
const MARK: u64 = 8;

/// How long the maker waits at its end for those who have not opened the file.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a rank's file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileLocation {
    pub pid: u32,
    pub fd: i32,
    pub mark: u64,
}

/// The file that this rank has made or opened.
#[derive(Debug)]
pub(super) struct Segment {
    file: Result<File, String>,
    /// Ranks that the maker must wait for.
    others: u64,
}

impl Segment {
    /// A new one, and where it is found.
    ///
    /// # Errors
    /// If descriptors or memory are short, or anonymous files are forbidden.
    pub fn make() -> io::Result<(Segment, FileLocation)> {
        let mut mark = [0; MARK as usize];
        sys::random(&mut mark)?;
        let file = File::from(sys::memfd(SEGMENT + TAIL)?);
        file.write_all_at(&mark, tail(&file)?)?;
        let place = FileLocation {
            pid: std::process::id(),
            fd: file.as_raw_fd(),
            mark: u64::from_le_bytes(mark),
        };
        let file = Ok(file);
        Ok((Segment { file, others: 0 }, place))
    }

    /// This segment, which `others` further ranks of the node will open.
    pub fn shared_with(self, others: u64) -> Segment {
        Segment { others, ..self }
    }

    /// Opens that of `maker`, as number `number` on the node, from 1.
    pub fn open(place: &FileLocation, maker: u32, number: u64) -> Segment {
        let FileLocation { pid, fd, .. } = place;
        let file = find(place, number)
            .map_err(|error| format!("rank {maker}, /proc/{pid}/fd/{fd}: {error}"));
        Segment { file, others: 0 }
    }

    /// The file, if it could be opened.
    pub fn shown(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().ok().map(AsFd::as_fd)
    }

    /// Another descriptor of the file.
    ///
    /// # Errors
    /// [`BootError::Segment`] if it could not be opened.
    pub fn take(&self) -> Result<OwnedFd, BootError> {
        match &self.file {
            Ok(file) => Ok(file.try_clone()?.into()),
            Err(cause) => Err(BootError::Segment(cause.clone())),
        }
    }

    /// Waits until those who shall open the file have done so; not for ever, as
    /// some may have failed.
    pub fn wait_until_opened(&self) {
        let Ok(file) = &self.file else { return };
        let opened = || -> io::Result<bool> {
            let mut bytes = vec![0; self.others as usize];
            file.read_exact_at(&mut bytes, tail(file)? + MARK)?;
            Ok(bytes.iter().all(|&b| b != 0))
        };
        let end = Instant::now() + PATIENCE;
        while matches!(opened(), Ok(false)) && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Where what follows the shared memory begins.
fn tail(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.len().saturating_sub(TAIL))
}

fn find(place: &FileLocation, number: u64) -> io::Result<File> {
    let path = format!("/proc/{}/fd/{}", place.pid, place.fd);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    sys::check_shared(&file)?;
    let mut mark = [0; MARK as usize];
    let at = tail(&file)?;
    file.read_exact_at(&mut mark, at)?;
    if u64::from_le_bytes(mark) != place.mark {
        return Err(io::Error::other("it is another file"));
    }
    file.write_all_at(&[1], at + MARK + number - 1)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_open_the_same_file_and_are_waited_for() {
        let (made, place) = Segment::make().unwrap();
        let made = made.shared_with(2);
        let others = [1, 2].map(|number| {
            thread::spawn(move || File::from(Segment::open(&place, 0, number).take().unwrap()))
        });
        made.wait_until_opened();
        let mine = File::from(made.take().unwrap());
        mine.write_all_at(b"seen", 1 << 20).unwrap();
        for other in others {
            let mut bytes = [0; 4];
            let other = other.join().unwrap();
            other.read_exact_at(&mut bytes, 1 << 20).unwrap();
            assert_eq!(&bytes, b"seen");
        }
    }

    #[test]
    fn another_file_is_not_taken() {
        let (_made, place) = Segment::make().unwrap();
        let (_other, elsewhere) = Segment::make().unwrap();
        let refused = |place: FileLocation| match Segment::open(&place, 5, 1).take() {
            Err(BootError::Segment(cause)) => cause,
            other => panic!("{other:?}"),
        };
        let fd = elsewhere.fd;
        let wrong = refused(FileLocation { fd, ..place });
        assert!(
            wrong.contains("rank 5") && wrong.contains("another file"),
            "{wrong}"
        );
        // One that could shrink while it is used.
        let open = File::open("/proc/self/status").unwrap();
        let fd = open.as_raw_fd();
        assert!(find(&FileLocation { fd, ..place }, 1).is_err());
        // Standard input has no mark; a process that has ended has nothing.
        refused(FileLocation { fd: 0, ..place });
        let gone = refused(FileLocation {
            pid: u32::MAX,
            ..place
        });
        assert!(gone.contains("No such file"), "{gone}");
    }
}
