//! A driver that fails on purpose, for tests: what a file system does seldom it does always.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Direction, Driver, Part, Stripes};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Each call moves at most this many bytes.
    Short(usize),
    /// Every other call is interrupted before it moves anything.
    Interrupted,
    /// No byte at this offset or behind it can be written: the disk is full.
    Full(u64),
    /// No byte at this offset or behind it can be written: the user's quota is used up.
    Quota(u64),
    /// The byte at this offset can neither be read nor written.
    Broken(u64),
}

impl Fault {
    /// Reads faults that commas separate: `short=N`, `eintr`, `enospc=OFFSET`, `edquot=OFFSET`,
    /// `eio=OFFSET`.
    ///
    /// # Errors
    /// The word that is none of them.
    pub fn parse(text: &str) -> Result<Vec<Fault>, String> {
        let words = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        words.map(Self::one).collect()
    }

    fn one(word: &str) -> Result<Fault, String> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let number = value.parse::<u64>();
        match (name, number) {
            ("eintr", _) if value.is_empty() => Ok(Fault::Interrupted),
            ("short", Ok(n @ 1..)) => Ok(Fault::Short(n as usize)),
            ("enospc", Ok(at)) => Ok(Fault::Full(at)),
            ("edquot", Ok(at)) => Ok(Fault::Quota(at)),
            ("eio", Ok(at)) => Ok(Fault::Broken(at)),
            _ => Err(word.to_owned()),
        }
    }
}

/// A file whose driver injects faults.
#[derive(Debug)]
pub struct Faulty<D> {
    inner: D,
    faults: Vec<Fault>,
    calls: AtomicU64,
}

impl<D: Driver> Faulty<D> {
    /// `inner` with these faults.
    pub fn new(inner: D, faults: Vec<Fault>) -> Self {
        Faulty {
            inner,
            faults,
            calls: AtomicU64::new(0),
        }
    }

    /// How many of `len` bytes at `at` can be moved by call number `call`.
    fn allowed(&self, direction: Direction, at: u64, len: u64, call: u64) -> io::Result<u64> {
        let mut allowed = len;
        for fault in &self.faults {
            let (end, code) = match *fault {
                Fault::Short(most) => {
                    allowed = allowed.min(most as u64);
                    continue;
                }
                Fault::Interrupted if call.is_multiple_of(2) => {
                    return Err(io::Error::from_raw_os_error(libc::EINTR));
                }
                Fault::Interrupted => continue,
                Fault::Full(_) | Fault::Quota(_) if direction == Direction::Read => continue,
                Fault::Full(end) => (end, libc::ENOSPC),
                Fault::Quota(end) => (end, libc::EDQUOT),
                Fault::Broken(byte) if at > byte => continue,
                Fault::Broken(byte) => (byte, libc::EIO),
            };
            allowed = allowed.min(end.saturating_sub(at));
            if allowed == 0 {
                return Err(io::Error::from_raw_os_error(code));
            }
        }
        Ok(allowed)
    }
}

impl<D: Driver> Driver for Faulty<D> {
    unsafe fn move_some(&self, direction: Direction, part: Part, at: u64) -> io::Result<usize> {
        let call = self.calls.fetch_add(1, Relaxed);
        let len = self.allowed(direction, at, part.len as u64, call)? as usize;
        // SAFETY: the caller's promise; it is not longer than its part.
        unsafe { self.inner.move_some(direction, Part { len, ..part }, at) }
    }

    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.inner.set_size(size)
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        for fault in &self.faults {
            if let Fault::Full(end) = fault
                && size > *end
            {
                return Err(io::Error::from_raw_os_error(libc::ENOSPC));
            }
        }
        self.inner.allocate(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }

    fn refresh(&self) -> io::Result<()> {
        self.inner.refresh()
    }

    fn stripes(&self) -> Option<Stripes> {
        self.inner.stripes()
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.inner.identity()
    }
}
