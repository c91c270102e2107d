//! What can go wrong, with cause and remedy in words.
//!
//! An [`Error`] names a [`Kind`], which `capi` translates to an MPI error
//! class, and a text for people. It is one pointer wide, so that the hot path
//! returns it in a register; making one is cold.

use std::fmt;

use crate::error_place::ErrorPlace;

/// Result of everything here, and of what stands on it.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of error it is. One for each error class that is raised here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the MPI error classes")]
pub enum Kind {
    Buffer,
    Count,
    Type,
    Tag,
    Comm,
    Rank,
    Request,
    Root,
    Group,
    Op,
    Topology,
    Dims,
    Arg,
    Truncate,
    Other,
    Intern,
    Pending,
    InStatus,
    InfoKey,
    InfoNoKey,
    InfoValue,
    Info,
    Keyval,
    NoMem,
    NotSame,
    Name,
    Session,
    Errhandler,
    ProcAborted,
    ProcFailed,
    ProcFailedPending,
    Revoked,
    Settings,
    Port,
    Service,
    Spawn,
    ValueTooLarge,
    Unsupported,
    Win,
    Base,
    Size,
    Disp,
    LockType,
    Assert,
    RmaConflict,
    RmaSync,
    RmaRange,
    RmaAttach,
    RmaShared,
    RmaFlavor,
    File,
    Access,
    Amode,
    BadFile,
    Conversion,
    DupDatarep,
    FileExists,
    FileInUse,
    Io,
    NoSpace,
    NoSuchFile,
    Quota,
    ReadOnly,
    UnsupportedDatarep,
    Abi,
    /// A class or code that the program itself defined or returned from a
    /// callback.
    Code(i32),
}

/// An error on its way to the caller.
///
/// # Examples
/// ```
/// use catena_objects::{Kind, Result, fail};
///
/// fn root(rank: i32, size: i32) -> Result<i32> {
///     if !(0..size).contains(&rank) {
///         fail!(Root, "root {rank} is not in a group of {size}");
///     }
///     Ok(rank)
/// }
///
/// let error = root(4, 4).unwrap_err();
/// assert_eq!(error.kind(), Kind::Root);
/// assert_eq!(error.text(), "root 4 is not in a group of 4");
/// ```
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: Kind,
    text: String,
    place: Option<ErrorPlace>,
}

/// The error of a call that needs this much memory besides the program's, and
/// does not get it.
#[cold]
pub fn no_memory(bytes: usize) -> Error {
    let text = format!(
        "no memory for the {bytes} bytes that the call needs besides the program's buffers: pass \
        fewer elements at a time, or give the processes more memory"
    );
    Error::new(Kind::NoMem, text)
}

impl Error {
    /// An error of `kind`; `text` says what was wrong with which value, and
    /// what to do about it if that is not plain.
    #[cold]
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            text: text.into(),
            place: None,
        }))
    }

    /// This error as one that belongs to `error_place`, whatever object the function
    /// was called on: the communicator of a request, for instance.
    #[must_use]
    pub fn on(mut self, place: impl Into<ErrorPlace>) -> Self {
        self.0.place = Some(place.into());
        self
    }

    /// An error of another kind, or in other words, that belongs to the same
    /// place.
    #[cold]
    #[must_use]
    pub fn reworded(&self, kind: Kind, text: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            text: text.into(),
            place: self.0.place,
        }))
    }

    /// This error, and one of another kind where it says that something is not there at all.
    #[cold]
    #[must_use]
    pub fn where_unsupported(self, kind: Kind) -> Self {
        match self.kind() {
            Kind::Unsupported => self.reworded(kind, self.text()),
            _ => self,
        }
    }

    /// Sort of error.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Cause in words.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The object that it belongs to, if the error knows better than the
    /// function.
    pub fn place(&self) -> Option<ErrorPlace> {
        self.0.place
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl std::error::Error for Error {}

/// Returns an [`Error`] of the named kind from the enclosing function.
#[macro_export]
macro_rules! fail {
    ($kind:ident, $($text:tt)+) => {
        return Err($crate::error::Error::new($crate::error::Kind::$kind, format!($($text)+)))
    };
}
