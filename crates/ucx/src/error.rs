//! What can go wrong when a network is opened.

use std::fmt;

use catena_ucx_sys::NotFound;

/// Why a network cannot be used through UCX.
#[derive(Debug)]
pub enum UcxError {
    /// UCX was not found.
    Library(NotFound),
    /// It has nothing that would do.
    NoTransport {
        /// What was asked for, as in `CATENA_LINK`.
        wanted: String,
        /// Version of the library.
        version: String,
        /// UCX's words.
        words: String,
    },
    /// A call failed.
    Call {
        /// Which.
        what: &'static str,
        /// For what, as in `CATENA_LINK`.
        wanted: String,
        /// UCX's words.
        words: String,
    },
    /// There is no memory for buffers.
    Memory {
        /// Bytes asked for.
        bytes: usize,
    },
}

impl fmt::Display for UcxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UcxError::Library(error) => write!(
                f,
                "UCX cannot be opened ({error}); install it (on Debian: apt-get install \
                 libucx0), or let CATENA_UCX_LIBRARY name it"
            ),
            UcxError::NoTransport {
                wanted,
                version,
                words,
            } => write!(
                f,
                "UCX {version} has nothing for \"{wanted}\" in CATENA_LINK ({words}); what it has \
                 is shown by: ucx_info -d"
            ),
            UcxError::Call {
                what,
                wanted,
                words,
            } => write!(
                f,
                "{what} of UCX failed for \"{wanted}\" in CATENA_LINK: {words}; with \
                 UCX_LOG_LEVEL=warn UCX says more"
            ),
            UcxError::Memory { bytes } => {
                write!(f, "no memory for the buffers of a network ({bytes} bytes)")
            }
        }
    }
}

impl std::error::Error for UcxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            UcxError::Library(error) => Some(error),
            _ => None,
        }
    }
}
