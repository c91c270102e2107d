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
}

impl Placed {
    /// The bytes of the file from its first to its last one; there are some.
    pub fn span(&self, view: &View, direction: Direction) -> Span {
        Span {
            begin: view.offset(self.from),
            end: view.offset(self.from + self.len - 1) + 1,
            writes: direction == Direction::Write,
        }
    }
}
