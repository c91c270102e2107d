//! What can go wrong when attaching, and when a ring or region is made.

use std::fmt;
use std::io;

/// Why shared memory cannot be used.
#[derive(Debug)]
pub enum ShmError {
    /// The address space is too small.
    Map {
        /// Bytes of address space asked for.
        bytes: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// The memory is not there.
    Memory {
        /// For what.
        what: &'static str,
        /// Bytes asked for.
        bytes: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// The segment could not be made or sized.
    Segment(io::Error),
    /// The arena is used up.
    ArenaFull {
        /// Bytes asked for.
        bytes: usize,
    },
    /// Another process laid the segment out differently.
    Layout {
        /// Our stamp.
        ours: u64,
        /// Theirs.
        theirs: u64,
    },
    /// The segment of another job was not laid out, or not as this version does.
    Foreign,
    /// The arguments make no sense: the number of this rank, of all ranks.
    Ranks {
        /// This rank's number on the node.
        me: u32,
        /// Ranks on the node.
        ranks: usize,
    },
}

impl fmt::Display for ShmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShmError::Map { bytes, source } => write!(
                f,
                "cannot map {} MiB of address space for shared memory ({source}); \
                 raise the limit on address space (ulimit -v unlimited)",
                bytes >> 20
            ),
            ShmError::Memory {
                what,
                bytes,
                source,
            } => write!(
                f,
                "no memory for {what} ({bytes} bytes: {source}); \
                 start fewer ranks on this node or lower CATENA_SHM_DATA"
            ),
            ShmError::Segment(source) => write!(f, "cannot prepare the shared segment: {source}"),
            ShmError::ArenaFull { bytes } => {
                write!(f, "the shared segment has no room for {bytes} more bytes")
            }
            ShmError::Layout { ours, theirs } => write!(
                f,
                "the ranks of this node disagree about the shared segment ({ours:#x} here, \
                 {theirs:#x} there); they must run the same version of Catena with the same \
                 CATENA_SHM_* settings"
            ),
            ShmError::Foreign => f.write_str(
                "the shared segment of the other job cannot be used: its processes have no shared \
                 memory (CATENA_LINK), or run another version of Catena",
            ),
            ShmError::Ranks { me, ranks } => {
                write!(f, "rank {me} of {ranks} on this node does not exist")
            }
        }
    }
}

impl std::error::Error for ShmError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ShmError::Map { source, .. }
            | ShmError::Memory { source, .. }
            | ShmError::Segment(source) => Some(source),
            _ => None,
        }
    }
}
