//! Split collective access (MPI-5, chapter 14.4.5): one call begins, another ends.
//! This is what is kept between the two.

use std::fmt;
use std::sync::Arc;

use crate::driver::Direction;
use crate::operation::Operation;

/// Which pair of calls it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `MPI_File_..._at_all`
    At,
    /// `MPI_File_..._all`
    Individual,
    /// `MPI_File_..._ordered`
    Ordered,
}

/// An operation that has begun.
#[derive(Debug)]
pub struct Split {
    pub(crate) form: Form,
    pub(crate) direction: Direction,
    pub(crate) base: *mut u8,
    pub(crate) operation: Arc<Operation>,
}

/// The name of the two calls without `_begin` and `_end`.
#[derive(Debug)]
pub(crate) struct Call(pub Form, pub Direction);

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self.1 {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        let form = match self.0 {
            Form::At => "at_all",
            Form::Individual => "all",
            Form::Ordered => "ordered",
        };
        write!(f, "MPI_File_{way}_{form}")
    }
}

impl Split {
    /// The name of its calls without `_begin` and `_end`.
    pub(crate) fn call(&self) -> impl fmt::Display {
        Call(self.form, self.direction)
    }
}
