//! Access modes (MPI-5, chapter 14.2.1).

use std::ffi::c_int;
use std::fmt;

use catena_abi::consts;
use catena_objects::error::Result;
use catena_objects::fail;

/// The modes by their names.
const NAMES: [(c_int, &str); 9] = [
    (consts::MODE_RDONLY, "MPI_MODE_RDONLY"),
    (consts::MODE_RDWR, "MPI_MODE_RDWR"),
    (consts::MODE_WRONLY, "MPI_MODE_WRONLY"),
    (consts::MODE_CREATE, "MPI_MODE_CREATE"),
    (consts::MODE_EXCL, "MPI_MODE_EXCL"),
    (consts::MODE_DELETE_ON_CLOSE, "MPI_MODE_DELETE_ON_CLOSE"),
    (consts::MODE_UNIQUE_OPEN, "MPI_MODE_UNIQUE_OPEN"),
    (consts::MODE_SEQUENTIAL, "MPI_MODE_SEQUENTIAL"),
    (consts::MODE_APPEND, "MPI_MODE_APPEND"),
];

/// A checked access mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amode(c_int);

impl fmt::Display for Amode {
    /// The names of its modes, joined by bars.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = NAMES
            .iter()
            .filter(|(bit, _)| self.0 & bit != 0)
            .map(|(_, name)| *name)
            .collect();
        f.write_str(&names.join(" | "))
    }
}

impl Amode {
    /// Checks an access mode.
    ///
    /// # Errors
    /// `Amode` if not exactly one of the three ways to use a file is given, for modes that exclude
    /// each other, and for unknown bits.
    pub fn new(amode: c_int) -> Result<Self> {
        let all = NAMES.iter().fold(0, |all, (bit, _)| all | bit);
        let way = amode & (consts::MODE_RDONLY | consts::MODE_RDWR | consts::MODE_WRONLY);
        let mode = Amode(amode);
        if amode & !all != 0 {
            fail!(Amode, "the access mode {amode:#x} has unknown bits");
        }
        if way.count_ones() != 1 {
            fail!(
                Amode,
                "the access mode has {} of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY: it \
                 must have one",
                way.count_ones()
            );
        }
        let making = amode & (consts::MODE_CREATE | consts::MODE_EXCL);
        if way == consts::MODE_RDONLY && making != 0 {
            fail!(
                Amode,
                "the access mode is {mode}: a file that is made cannot be only read"
            );
        }
        if way == consts::MODE_RDWR && mode.is_sequential() {
            fail!(
                Amode,
                "the access mode is {mode}: a sequential file is either read or written"
            );
        }
        Ok(mode)
    }

    /// A mode that another member has checked.
    pub(crate) fn told(amode: c_int) -> Self {
        Amode(amode)
    }

    /// As the program passed it.
    pub fn bits(self) -> c_int {
        self.0
    }

    #[inline]
    fn has(self, bit: c_int) -> bool {
        self.0 & bit != 0
    }

    /// Whether the file may be read.
    #[inline]
    pub fn reads(self) -> bool {
        !self.has(consts::MODE_WRONLY)
    }

    /// Whether the file may be written.
    #[inline]
    pub fn writes(self) -> bool {
        !self.has(consts::MODE_RDONLY)
    }

    /// Whether a file that is not there is made.
    pub fn creates(self) -> bool {
        self.has(consts::MODE_CREATE)
    }

    /// Whether the file must not be there yet.
    pub fn is_exclusive(self) -> bool {
        self.has(consts::MODE_EXCL)
    }

    /// Whether the file goes with its last user.
    pub fn deletes_on_close(self) -> bool {
        self.has(consts::MODE_DELETE_ON_CLOSE)
    }

    /// Whether only the shared pointer may be used.
    #[inline]
    pub fn is_sequential(self) -> bool {
        self.has(consts::MODE_SEQUENTIAL)
    }

    /// Whether all pointers are at the end of the file at first.
    pub fn appends(self) -> bool {
        self.has(consts::MODE_APPEND)
    }

    /// The flags of `open(2)` for it, but for those that make a file.
    pub(crate) fn flags(self) -> c_int {
        if self.has(consts::MODE_RDONLY) {
            libc::O_RDONLY
        } else if self.has(consts::MODE_WRONLY) {
            libc::O_WRONLY
        } else {
            libc::O_RDWR
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modes_that_make_sense_are_accepted() {
        let good = [
            consts::MODE_RDONLY,
            consts::MODE_RDWR | consts::MODE_CREATE | consts::MODE_EXCL,
            consts::MODE_WRONLY | consts::MODE_SEQUENTIAL | consts::MODE_APPEND,
            consts::MODE_RDONLY | consts::MODE_UNIQUE_OPEN | consts::MODE_DELETE_ON_CLOSE,
        ];
        for amode in good {
            assert_eq!(Amode::new(amode).unwrap().bits(), amode);
        }
        for amode in [
            0,
            -1,
            consts::MODE_CREATE,
            consts::MODE_RDONLY | consts::MODE_RDWR,
            consts::MODE_RDONLY | consts::MODE_CREATE,
            consts::MODE_RDONLY | consts::MODE_EXCL,
            consts::MODE_RDWR | consts::MODE_SEQUENTIAL,
            consts::MODE_RDWR | 1 << 20,
        ] {
            assert!(Amode::new(amode).is_err(), "{amode:#x}");
        }
        let shown = Amode::new(good[1]).unwrap().to_string();
        assert_eq!(shown, "MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL");
    }
}
