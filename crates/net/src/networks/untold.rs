//! Whom a process has to tell that it may end, or needs them again.

use std::time::{Duration, Instant};

use catena_fabric::Peer;

/// How long a process that may end tries to say so over networks whose room is not its own.
const TRY: Duration = Duration::from_secs(1);

/// Whom this process has to tell.
#[derive(Debug, Default)]
pub(super) struct Untold {
    /// Each with the number of the network that leads there.
    pub(super) peers: Vec<(Peer, usize)>,
    /// What is to be said: that it may end, or that it does not.
    pub(super) leaves: bool,
    until: Option<Instant>,
}

impl Untold {
    /// These are to be told from now on.
    pub(super) fn new(peers: Vec<(Peer, usize)>, leaves: bool) -> Untold {
        Untold {
            peers,
            leaves,
            until: Some(Instant::now() + TRY),
        }
    }

    /// Whether it was tried for long enough.
    pub(super) fn is_late(&self) -> bool {
        self.until.is_some_and(|it| Instant::now() > it)
    }

    /// Whether there is nobody.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }
}
