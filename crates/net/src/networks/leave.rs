//! Who may end without having died. A process tells those that it has talked with before it may end, so that
//! the end of its connections is no death; and it tells them if it needs them again after all.

use std::collections::HashSet;

use catena_fabric::{Peer, Posted};

use super::{Networks, Stage};

impl Networks {
    /// Begins to tell all that this process has talked with that it may end from now on without having died
    /// (`leaves`): the next polls do. Else it needs them again, which it tells those that it talks with. Processes of a
    /// job that leave together know it.
    pub fn say_leaving(&mut self, leaves: bool) {
        let knows = self.stage != Stage::Active && !self.exchange.judges_ends();
        match leaves {
            true => self.untold.leave(self.ways.talked().filter(|_| !knows)),
            false => self.untold.stay(),
        }
    }

    /// Whether all were told, as far as they can be.
    pub fn has_said_leaving(&self) -> bool {
        self.untold.is_empty()
    }

    /// Tells those that can be told now.
    #[cold]
    pub(super) fn tell_leaving(&mut self) {
        let late = self.untold.is_late();
        let (members, left) = (&mut self.members, &self.left);
        self.untold.peers.retain(|&(peer, number, leaves)| {
            let header = catena_link::leaving(leaves);
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
