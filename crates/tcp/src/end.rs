//! Why a connection ends.

use std::io;
use std::time::Duration;

use crate::greeting::Refused;

/// Why a connection is of no more use.
#[derive(Debug)]
pub(crate) enum End {
    /// The other end has closed the connection.
    Closed,
    /// The other end has removed this process.
    Left,
    /// The connection has failed.
    Failed(io::Error),
    /// What has arrived is none of ours.
    Nonsense,
    /// The other end is none of ours.
    Refused(Refused),
    /// Nobody has answered for so long.
    Silent(Duration),
}

impl End {
    /// Whether the other end has closed a connection before it has read what was sent.
    pub fn is_reset(&self) -> bool {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
        let kinds = [BrokenPipe, ConnectionAborted, ConnectionReset];
        matches!(self, End::Failed(error) if kinds.contains(&error.kind()))
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Closed => f.write_str("it closed the connection"),
            End::Left => f.write_str("it has removed this process"),
            End::Failed(error) => write!(f, "the connection failed: {error}"),
            End::Refused(why) => why.fmt(f),
            End::Silent(time) => write!(f, "no answer within {} s", time.as_secs()),
            End::Nonsense => f.write_str("what arrived is no message of Catena's"),
        }
    }
}
