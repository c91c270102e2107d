//! Where an error belongs: the object whose error handler is called
//! (MPI-5, chapter 9.3).

use catena_abi::{self as abi, consts};

/// Kinds of object that have an error handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Target {
    Comm,
    Win,
    File,
    Session,
}

impl Target {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// The null handle of this kind.
    pub const fn null(self) -> usize {
        match self {
            Target::Comm => consts::COMM_NULL.0,
            Target::Win => consts::WIN_NULL.0,
            Target::File => consts::FILE_NULL.0,
            Target::Session => consts::SESSION_NULL.0,
        }
    }
}

/// An object that an error belongs to, by its handle. An error that belongs to
/// none has no place.
///
/// # Examples
/// ```
/// use catena_abi::consts;
/// use catena_objects::error_place::{ErrorPlace, Target};
/// use catena_objects::{Error, Kind};
///
/// let error = Error::new(Kind::Rank, "rank 9 is not in a group of 4");
/// assert_eq!(error.place(), None);
///
/// let place = ErrorPlace::from(consts::COMM_WORLD);
/// assert_eq!(place.target, Target::Comm);
/// assert_eq!(error.on(consts::COMM_WORLD).place(), Some(place));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorPlace {
    /// What it is.
    pub target: Target,
    /// Its handle.
    pub handle: usize,
}

macro_rules! places {
    ($($handle:ident)*) => {$(
        impl From<abi::$handle> for ErrorPlace {
            fn from(handle: abi::$handle) -> Self {
                ErrorPlace {
                    target: Target::$handle,
                    handle: handle.0,
                }
            }
        }
    )*};
}

places! { Comm Win File Session }
