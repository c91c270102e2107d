//! Who may end without having died. A process tells those that it has talked with before it may end, so that
//! the end of its connections is no death; and it tells them if it needs them again after all.

use std::collections::HashSet;

use catena_fabric::{Peer, Posted};

use super::untold::Untold;
use super::{Networks, Stage};

impl Networks {
    /// Begins to tell all that this process has talked with that it may end from now on without having died
    /// (`leaves`), or that it needs them again: the next polls do. Processes of a job that leave together know it.
    pub fn say_leaving(&mut self, leaves: bool) {
        let knows = self.stage != Stage::Active && !self.exchange.judges_ends();
        let peers = self.ways.talked().filter(|_| !knows).collect();
        self.untold = Untold::new(peers, leaves);
    }

    /// Whether all were told, as far as they can be.
    pub fn has_said_leaving(&self) -> bool {
        self.untold.is_empty()
    }

    /// Tells those that can be told now.
    #[cold]
    pub(super) fn tell_leaving(&mut self) {
        let header = catena_link::leaving(self.untold.leaves);
        let late = self.untold.is_late();
        let (members, left) = (&mut self.members, &self.left);
        self.untold.peers.retain(|&(peer, number)| {
            let rails = &mut members[number].rails;
            // What is kept leaves before, so this has to wait for as long.
            rails.is_joined(peer, left.contains(&peer))
                && (!late || rails.keeps())
                && matches!(
                    rails.try_send(peer, header, [].as_slice()),
                    Ok(Posted::Full)
                )
        });
    }

    /// A peer says that it may end from now on, or that it does not.
    #[cold]
    pub(super) fn note_leaving(left: &mut HashSet<Peer>, peer: Peer, leaves: bool) {
        match leaves {
            true => left.insert(peer),
            false => left.remove(&peer),
        };
    }

    /// Whether a peer that is gone may have ended without having died.
    pub(super) fn may_end(&self, peer: Peer) -> bool {
        self.exchange.judges_ends() || self.left.contains(&peer)
    }
}
