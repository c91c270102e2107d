//! What can go wrong when opening.

use std::{fmt, io};

/// Why there is no transport over TCP.
#[derive(Debug)]
pub enum TcpError {
    /// The job has no secret by which its processes tell each other from strangers.
    NoSecret,
    /// The kernel does not let this process listen.
    Listen(io::Error),
    /// No interface is up, or not the one that was asked for.
    Interface {
        /// Its name, if one was asked for.
        wanted: Option<String>,
        /// Names of those that are up.
        up: Vec<String>,
    },
    /// A peer's address is none.
    Address {
        /// Rank of the peer in the world.
        rank: u32,
    },
}

impl fmt::Display for TcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TcpError::NoSecret => f.write_str(
                "the launcher has given this job no secret, and without one anybody could join it \
                 over TCP; start it with Catena's mpirun, or with a launcher that speaks PMI or \
                 PMIx",
            ),
            TcpError::Listen(error) => write!(f, "no TCP port can be opened: {error}"),
            TcpError::Interface { wanted: None, .. } => {
                f.write_str("no network interface with an address is up")
            }
            TcpError::Interface {
                wanted: Some(wanted),
                up,
            } => write!(
                f,
                "no network interface \"{wanted}\" with an address is up; these are: {}",
                up.join(", ")
            ),
            TcpError::Address { rank } => write!(f, "the address of rank {rank} is damaged"),
        }
    }
}

impl std::error::Error for TcpError {}
