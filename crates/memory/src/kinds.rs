//! The kinds of memory.

use std::error;
use std::fmt;

/// The kind of memory that an address lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Memory that the processor reads and writes.
    Host,
    /// Memory of a device that CUDA drives.
    Cuda,
    /// Memory of a device that ROCm drives.
    Rocm,
    /// Memory of a device that Level Zero drives.
    LevelZero,
}

impl Kind {
    /// A number for the wire, which [`Kind::from_number`] reads.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The kind of that number.
    pub const fn from_number(number: u8) -> Option<Kind> {
        Some(match number {
            0 => Kind::Host,
            1 => Kind::Cuda,
            2 => Kind::Rocm,
            3 => Kind::LevelZero,
            _ => return None,
        })
    }

    /// Whether the processor may read and write there.
    #[inline]
    pub fn is_host(self) -> bool {
        self == Kind::Host
    }
}

/// A set of kinds of memory.
///
/// # Examples
/// ```
/// use catena_memory::{Kind, Kinds};
///
/// let both = Kinds::HOST.with(Kind::Cuda);
/// assert!(both.has(Kind::Host) && both.has(Kind::Cuda) && !both.has(Kind::Rocm));
/// assert_eq!(both.and(Kinds::HOST), Kinds::HOST);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// The host's memory alone.
    pub const HOST: Kinds = Kinds(1 << Kind::Host as u8);

    /// This set and one kind more.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Kinds {
        Kinds(self.0 | 1 << kind as u8)
    }

    /// Those that `other` has, too.
    #[must_use]
    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// Whether the kind is among them.
    #[inline]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [Kind::Host, Kind::Cuda, Kind::Rocm, Kind::LevelZero];
        let there = all.into_iter().filter(|&kind| self.has(kind));
        f.debug_set().entries(there).finish()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Host => "host",
            Kind::Cuda => "CUDA",
            Kind::Rocm => "ROCm",
            Kind::LevelZero => "Level Zero",
        })
    }
}

/// No device of this kind is registered, so nothing can be copied there or from
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported(
    /// The kind of memory.
    pub Kind,
);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} memory is not supported", self.0)
    }
}

impl error::Error for Unsupported {}
