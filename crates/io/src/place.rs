//! Where in a file a call works.

use crate::common::Span;
use crate::driver::Direction;
use crate::view::View;

/// Where in the view a call works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePosition {
    /// At an offset, in etypes.
    At(i64),
    /// At the individual file pointer.
    Individual,
    /// At the shared file pointer.
    Shared,
    /// Behind members of lower rank, from the shared file pointer on, which all of them move
    /// together.
    Ordered,
}

/// Where in the stream a call works, and by which pointer it has found that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub place: FilePosition,
    pub from: u64,
    /// Bytes in the file.
    pub len: u64,
    /// Bytes in memory: others than in the file, where values are converted.
    pub in_memory: u64,
}

impl Placed {
    /// Converts a number of bytes from the beginning of what lies in the file to bytes in memory.
    pub fn to_memory(self, in_file: u64) -> u64 {
        share(in_file, self.len, self.in_memory)
    }

    /// Converts a number of bytes from the beginning of what lies in memory to bytes in the file.
    pub fn to_file(self, in_memory: u64) -> u64 {
        share(in_memory, self.in_memory, self.len)
    }

    /// The bytes of the file from its first to its last one; there are some.
    pub fn span(&self, view: &View, direction: Direction) -> Span {
        Span {
            begin: view.offset(self.from),
            end: view.offset(self.from + self.len - 1) + 1,
            writes: direction == Direction::Write,
        }
    }
}

/// Scales `part` of `all` to the same part of `other`: each element is converted to equally many
/// bytes.
fn share(part: u64, all: u64, other: u64) -> u64 {
    match all == other || all == 0 {
        true => part.min(all),
        false => (u128::from(part.min(all)) * u128::from(other) / u128::from(all)) as u64,
    }
}
