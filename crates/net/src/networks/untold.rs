//! Whom a process has told that it may end, and whom it has to tell that, or that it needs them again.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use catena_fabric::Peer;

/// How long a process that may end tries to say so over networks whose room is not its own.
const TRY: Duration = Duration::from_secs(1);

/// Whom this process has told what, and has to tell.
#[derive(Debug, Default)]
pub(super) struct Untold {
    /// Whom it has to tell, over which network, and what: that it may end, or that it does not.
    pub(super) peers: Vec<(Peer, usize, bool)>,
    /// Those that know that it may end.
    told: HashSet<Peer>,
    /// Whether it may.
    leaves: bool,
    until: Option<Instant>,
}

impl Untold {
    /// The process may end from now on: these are told, as far as they do not know it already.
    pub(super) fn leave(&mut self, talked: impl Iterator<Item = (Peer, usize)>) {
        self.peers.clear();
        for (peer, number) in talked {
            if self.told.insert(peer) {
                self.peers.push((peer, number, true));
            }
        }
        self.until = Some(Instant::now() + TRY);
        self.leaves = true;
    }

    /// The process needs others again. It tells those that it sends something: who knows of no more than that it may
    /// end does not mind if it does.
    pub(super) fn stay(&mut self) {
        for (peer, ..) in self.peers.drain(..) {
            self.told.remove(&peer);
        }
        self.leaves = false;
    }

    /// Something is sent to a peer.
    #[inline]
    pub(super) fn talks(&mut self, peer: Peer, number: usize) {
        if !self.told.is_empty() && !self.leaves && self.told.remove(&peer) {
            self.peers.push((peer, number, false));
        }
    }

    /// Whether nobody has to be told anything.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// Whether it was tried for long enough to say that it may end.
    pub(super) fn is_late(&self) -> bool {
        self.leaves && self.until.is_some_and(|it| Instant::now() > it)
    }
}
