//! What a file system is to the rest: a file that bytes are moved to and from at offsets of 64
//! bits.
//!
//! A [`Driver`] may move less than it is asked to, and may be interrupted. [`move_run`] is the one
//! loop that finishes both, so everything above sees either all bytes moved, or the end of the
//! file, or an error and how far it came.

mod calls;
mod carrier;
mod deferred;
mod faulty;
mod mapped;
mod posix;
mod system;

use std::fmt;
use std::io::{self, ErrorKind};

pub use carrier::Carrier;
pub use deferred::Deferred;
pub use faulty::{Fault, Faulty};
pub use mapped::Mapped;
pub use posix::Posix;
pub use system::{FileSystem, Stripes};

/// What is wrong where another file is found than the one that was opened.
pub const REPLACED: &str = "another file has its name now, and stays as it is; the one that was \
                            opened was renamed or deleted";

/// A run of bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub base: *mut u8,
    /// Its bytes.
    pub len: usize,
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the file to memory.
    Read,
    /// From memory to the file.
    Write,
}

/// An open file of some file system.
///
/// Any thread may call any method at any time. Offsets count bytes from the beginning of the file,
/// and are at most `i64::MAX`.
pub trait Driver: Send + Sync + fmt::Debug {
    /// Moves bytes between the file from `at` on and memory; how many, which may be fewer than
    /// asked for. 0 for a read means that `at` is at or beyond the end of the file.
    ///
    /// # Errors
    /// What the system says; `Interrupted` moves nothing and is no failure.
    ///
    /// # Safety
    /// The part is valid for reads, or for writes if the direction is [`Direction::Read`]. It is
    /// not empty.
    unsafe fn move_some(&self, direction: Direction, part: Part, at: u64) -> io::Result<usize>;

    /// Whether [`Driver::map`] may give something.
    fn maps(&self) -> bool {
        false
    }

    /// Bytes `[at, at + len)` of the file in memory, ready to be stored into, with room for them on
    /// the storage; the file is at least that long then. `None` where that cannot be had.
    fn map(&self, _at: u64, _len: u64) -> Option<Mapped> {
        None
    }

    /// Bytes of the file.
    ///
    /// # Errors
    /// What the system says.
    fn size(&self) -> io::Result<u64>;

    /// Cuts the file, or makes it longer by a hole.
    ///
    /// # Errors
    /// What the system says.
    fn set_size(&self, size: u64) -> io::Result<()>;

    /// Provides room for the first `size` bytes; a shorter file becomes that long.
    ///
    /// # Errors
    /// What the system says.
    fn allocate(&self, size: u64) -> io::Result<()>;

    /// Everything that was written is on the storage when it returns.
    ///
    /// # Errors
    /// What the system says; what was written before may be lost then.
    fn sync(&self) -> io::Result<()>;

    /// What others have written to the storage before is what is read from now on.
    ///
    /// # Errors
    /// What the system says.
    fn refresh(&self) -> io::Result<()>;

    /// How the file is laid out over devices, if the file system tells.
    fn stripes(&self) -> Option<Stripes>;

    /// Closes the file; nobody uses it any more. Some file systems write only now, or notice only
    /// now that they could not.
    ///
    /// # Errors
    /// What the system says; the file is closed then, too.
    fn close(&self) -> io::Result<()>;

    /// What tells this file from others: numbers of the device and of the file there.
    ///
    /// # Errors
    /// What the system says.
    fn identity(&self) -> io::Result<(u64, u64)>;
}

/// Moves all bytes of a run, or up to the end of the file; counts them in `done` as they are moved.
///
/// # Errors
/// That of the driver; `done` says how many bytes were moved before. `WriteZero` if a write moves
/// nothing.
///
/// # Safety
/// The run is valid for reads, or for writes if the direction is [`Direction::Read`].
#[inline]
pub unsafe fn move_run(
    driver: &dyn Driver,
    direction: Direction,
    mut run: Part,
    mut at: u64,
    done: &mut u64,
) -> io::Result<()> {
    while run.len != 0 {
        // SAFETY: the caller's promise.
        let moved = match unsafe { driver.move_some(direction, run, at) } {
            Ok(0) if direction == Direction::Read => break,
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(moved) => moved,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        at += moved as u64;
        *done += moved as u64;
        run.base = run.base.wrapping_add(moved);
        run.len -= moved;
    }
    Ok(())
}
