//! Row 0: the MPI-5 application binary interface as data (MPI 5.0, chapter 20).
//!
//! Owns what every MPI library with this ABI agrees on: handle types and their
//! predefined values, constants, the layout of a status, the types of
//! callbacks, the error classes and the list of functions with what each of their
//! arguments means. It has no code that communicates and depends on nothing.
//!
//! [`consts`] and [`names`] are generated from `tables/constants.tbl` by
//! `cargo xtask gen`, which also writes `include/mpi.h`.

#![forbid(unsafe_code)]

mod callbacks;
#[rustfmt::skip]
pub mod consts;
mod handles;
pub mod meaning;
#[rustfmt::skip]
pub mod names;
mod status;
pub mod table;

/// The block size of a distributed array that is the number of `MPI_DISTRIBUTE_DFLT_DARG`, from an
/// interface where that constant has another number. The standard's interface has no way to ask for
/// it.
pub const DARG_AS_SIZE: i32 = i32::MIN / 2 + 19;

pub use callbacks::*;
pub use handles::*;
pub use names::{class_name, class_text};
pub use status::Status;

/// `MPI_Aint`: an address or a distance in memory, in bytes.
pub type Aint = isize;
/// `MPI_Count`: a number of elements or bytes.
pub type Count = i64;
/// `MPI_Offset`: a position in a file, in elementary types.
pub type Offset = i64;

/// Name of a predefined datatype, as in `MPI_INT`.
pub fn datatype_name(datatype: Datatype) -> Option<&'static str> {
    datatype.name()
}
