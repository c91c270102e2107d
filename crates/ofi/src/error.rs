//! What can go wrong when a network is opened.

use std::fmt;

use catena_ofi_sys::NotFound;

/// Why a network cannot be used through libfabric.
#[derive(Debug)]
pub enum OfiError {
    /// libfabric was not found.
    Library(NotFound),
    /// It offers nothing that would do.
    NoProvider {
        /// What was asked for, as in `CATENA_LINK`.
        wanted: String,
        /// Version of the library.
        version: String,
        /// Names of providers that would do.
        offered: Vec<String>,
    },
    /// A call failed.
    Call {
        /// Which.
        what: &'static str,
        /// Of which provider.
        provider: String,
        /// libfabric's words.
        words: String,
    },
    /// There is no memory for buffers.
    Memory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// A peer's address is of no use here.
    Address {
        /// Rank of the peer in the world.
        rank: u32,
        /// Of which provider.
        provider: String,
    },
}

impl fmt::Display for OfiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OfiError::Library(error) => write!(
                f,
                "libfabric cannot be opened ({error}); install it (on Debian: apt-get install \
                 libfabric1), or let CATENA_OFI_LIBRARY name it"
            ),
            OfiError::NoProvider {
                wanted,
                version,
                offered,
            } => {
                let offered = match offered.join(", ") {
                    none if none.is_empty() => "no usable provider at all".to_string(),
                    names => format!("these: {names}"),
                };
                write!(
                    f,
                    "libfabric {version} has nothing for \"{wanted}\" in CATENA_LINK; it has \
                     {offered}"
                )
            }
            OfiError::Call {
                what,
                provider,
                words,
            } => write!(
                f,
                "{what} of libfabric's provider {provider} failed: {words}; another provider \
                 can be chosen with CATENA_LINK"
            ),
            OfiError::Memory { bytes } => {
                write!(f, "no memory for the buffers of a network ({bytes} bytes)")
            }
            OfiError::Address { rank, provider } => write!(
                f,
                "libfabric's provider {provider} does not take the address of rank {rank}"
            ),
        }
    }
}

impl std::error::Error for OfiError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OfiError::Library(error) => Some(error),
            _ => None,
        }
    }
}
