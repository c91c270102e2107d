//! How a binary interface differs from the standard's.

use std::ffi::c_int;

use catena_abi::{self as abi, Offset};

use crate::handle::Handle;
use crate::layout::Foreign;

/// A constant of the interface and the standard's.
pub type Pair = (c_int, c_int);

/// Named constants by what takes them.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Families {
    pub thread_level: &'static [Pair],
    pub comparison: &'static [Pair],
    pub topology: &'static [Pair],
    pub split_type: &'static [Pair],
    pub combiner: &'static [Pair],
    pub typeclass: &'static [Pair],
    pub order: &'static [Pair],
    pub distribution: &'static [Pair],
    pub darg: &'static [Pair],
    pub access: &'static [Pair],
    pub assertion: &'static [Pair],
    pub lock: &'static [Pair],
    pub whence: &'static [Pair],
    pub flavor: &'static [Pair],
    pub model: &'static [Pair],
    pub verbosity: &'static [Pair],
    pub bind: &'static [Pair],
    pub scope: &'static [Pair],
    pub var_class: &'static [Pair],
    pub safety: &'static [Pair],
    pub ordering: &'static [Pair],
}

/// A way to split a communicator that the standard has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// Those of one hardware resource, by the name that the info key `mpi_hw_resource_type` has for
    /// it, with a zero at its end.
    Resource(&'static std::ffi::CStr),
    /// All of them.
    Everything,
}

/// A binary interface of MPI.
pub trait Abi: Copy + 'static {
    /// What `MPI_Get_library_version` calls it.
    const NAME: &'static str;
    /// The version of the standard that it ends with; `None` if it follows the newest.
    const VERSION: Option<(c_int, c_int)>;

    /// `MPI_Comm`
    type Comm: Handle<Native = abi::Comm>;
    /// `MPI_Datatype`
    type Datatype: Handle<Native = abi::Datatype>;
    /// `MPI_Op`
    type Op: Handle<Native = abi::Op>;
    /// `MPI_Group`
    type Group: Handle<Native = abi::Group>;
    /// `MPI_Win`
    type Win: Handle<Native = abi::Win>;
    /// `MPI_File`
    type File: Handle<Native = abi::File>;
    /// `MPI_Session`
    type Session: Handle<Native = abi::Session>;
    /// `MPI_Message`
    type Message: Handle<Native = abi::Message>;
    /// `MPI_Info`
    type Info: Handle<Native = abi::Info>;
    /// `MPI_Errhandler`
    type Errhandler: Handle<Native = abi::Errhandler>;
    /// `MPI_Request`
    type Request: Handle<Native = abi::Request>;
    /// `MPI_Status`
    type Status: Foreign;

    /// `MPI_ANY_SOURCE`
    const ANY_SOURCE: c_int;
    /// `MPI_PROC_NULL`
    const PROC_NULL: c_int;
    /// `MPI_ROOT`
    const ROOT: c_int;
    /// `MPI_ANY_TAG`
    const ANY_TAG: c_int;
    /// `MPI_DISPLACEMENT_CURRENT`
    const DISPLACEMENT_CURRENT: Offset;
    /// `MPI_KEYVAL_INVALID`
    const KEYVAL_INVALID: c_int;
    /// `MPI_IN_PLACE`
    const IN_PLACE: usize;
    /// `MPI_BUFFER_AUTOMATIC`
    const BUFFER_AUTOMATIC: usize;
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`
    const STATUS_IGNORE: usize;
    /// `MPI_ERR_LASTCODE`
    const ERR_LASTCODE: c_int;

    /// Lengths with the final zero, in the order of the names below.
    const MAX_PROCESSOR_NAME: usize;
    /// See [`Abi::MAX_PROCESSOR_NAME`].
    const MAX_OBJECT_NAME: usize;
    /// See [`Abi::MAX_PROCESSOR_NAME`].
    const MAX_ERROR_STRING: usize;
    /// See [`Abi::MAX_PROCESSOR_NAME`].
    const MAX_LIBRARY_VERSION_STRING: usize;
    /// See [`Abi::MAX_PROCESSOR_NAME`].
    const MAX_INFO_KEY: usize;
    /// See [`Abi::MAX_PROCESSOR_NAME`].
    const MAX_PORT_NAME: usize;
    /// See [`Abi::MAX_PROCESSOR_NAME`].
    const MAX_PSET_NAME_LEN: usize;
    /// See [`Abi::MAX_PROCESSOR_NAME`].
    const MAX_DATAREP_STRING: usize;

    /// Constants with names.
    const FAMILIES: Families;
    /// Predefined keys of attributes.
    const KEYS: &'static [Pair];
    /// Error classes.
    const CLASSES: &'static [Pair];

    /// What a way to split a communicator means that only the interface has.
    fn split_by(_split_type: c_int) -> Option<SplitBy> {
        None
    }
    /// Where `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY` point to.
    fn weights() -> [usize; 2];
    /// The standard's handle of a performance variable, which differs for the one of all.
    fn pvar_handle(handle: usize) -> usize;
    /// The code that a function returns for an error code of the standard, which is not 0.
    fn code(native: c_int) -> c_int;
    /// Whether the code is a class that the interface has and the standard has not.
    fn is_own_class(_code: c_int) -> bool {
        false
    }
    /// The standard's error code for one of this interface, which is not 0; `None` for a number
    /// that is no code.
    fn native_code(code: c_int) -> Option<c_int>;
}
