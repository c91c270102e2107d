//! The layout of a status.

use std::ffi::c_int;

/// The layout of `MPI_Status` in an interface. Ranks, tags and codes in it are the interface's.
pub trait Foreign: Copy {
    /// What it says.
    fn load(&self) -> Fields;
    /// Stores everything but the error.
    fn store(&mut self, source: c_int, tag: c_int, bytes: u64, cancelled: bool);
    /// Stores the error.
    fn store_error(&mut self, error: c_int);
}

/// What a status says, in the words of its interface.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Fields {
    pub source: c_int,
    pub tag: c_int,
    pub error: c_int,
    pub bytes: u64,
    pub cancelled: bool,
}
