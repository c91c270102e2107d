//! What can go wrong on a board.

use std::fmt;

use crate::meta::Meta;

/// Why an operation failed. The board cannot be used any more, but where that is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Two members called different things.
    Mismatch(Mismatch),
    /// Two members called different things before; no more is known.
    Parted {
        /// The other member.
        rank: u32,
        /// This member.
        me: u32,
    },
    /// A buffer could not be reached.
    Refused(Refused),
    /// A member has completed the operation, but published nothing.
    Skipped(Skipped),
    /// The member of this rank gave up.
    Failed(u32),
    /// There is no memory for this many bytes. The operation can go on [without
    /// data](crate::WithoutData), and the board can be used.
    NoMemory(usize),
    /// The member of this rank takes part without data. This one has to, too.
    WithoutData(u32),
}

/// Two members called different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The other member.
    pub rank: u32,
    /// What it called.
    pub theirs: Meta,
    /// This member; or another one, if both called that before.
    pub me: u32,
    /// What this one called, or what it expects of the other one.
    pub mine: Meta,
}

/// A member has completed an operation in which this one waits for it in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The other member.
    pub rank: u32,
    /// This member.
    pub me: u32,
    /// What this one called.
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
            Trouble::Parted { rank, me } => write!(
                f,
                "the members of the communicator called different collectives: before this one, \
                 rank {rank} called something else than rank {me}, or with another root or \
                 operation"
            ),
            Trouble::Refused(refused) => refused.fmt(f),
            Trouble::Skipped(Skipped { rank, me, mine }) => write!(
                f,
                "the members of the communicator called different collectives: rank {me} waits in \
                 {mine} for rank {rank}, which called something else, or \
                 had nothing for anybody"
            ),
            Trouble::Failed(rank) => write!(f, "rank {rank} gave up"),
            Trouble::NoMemory(bytes) => write!(f, "no memory for {bytes} bytes"),
            Trouble::WithoutData(rank) => write!(
                f,
                "rank {rank} has no data for this call: it has no memory for it, or a member whose \
                 data it needs has none"
            ),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch {
            rank,
            theirs,
            me,
            mine,
        } = self;
        write!(f, "rank {rank} is in {theirs}, rank {me} in {mine}")
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
