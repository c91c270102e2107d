//! What can go wrong on a board.

use std::fmt;

use super::Kind;
use super::board::Meta;

/// Why an operation failed. The board cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Two members called different things.
    Mismatch(Mismatch),
    /// A buffer could not be reached.
    Refused(Refused),
}

/// Two members called different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The other member.
    pub rank: u32,
    /// What it called.
    pub theirs: Meta,
    /// What this one called, or what it expects of the other one.
    pub mine: Meta,
}

/// The kernel did not let this member reach another one's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The other member.
    pub rank: u32,
    /// Number of the system's error.
    pub errno: i32,
}

impl From<Refused> for Trouble {
    fn from(refused: Refused) -> Self {
        Trouble::Refused(refused)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Mismatch(mismatch) => {
                write!(
                    f,
                    "the members of the communicator called different collectives: {mismatch}"
                )
            }
            Trouble::Refused(refused) => refused.fmt(f),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (theirs, mine) = (self.theirs, self.mine);
        write!(
            f,
            "rank {} is in {} with root {} and {} bytes, this rank in {} with root {} and {} bytes",
            self.rank,
            Kind::name_of(theirs.kind),
            theirs.root,
            theirs.bytes,
            Kind::name_of(mine.kind),
            mine.root,
            mine.bytes
        )
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the buffer of rank {} could not be reached: {}",
            self.rank,
            std::io::Error::from_raw_os_error(self.errno)
        )
    }
}

impl std::error::Error for Trouble {}
