//! Reports: a member whose collective fails tells all others, so that nobody waits for it.

use std::sync::Arc;

use catena_link::Cid;

use super::aside::{Aside, Kind, LONGEST};
use crate::comm::Comm;
use crate::error::Error;
use crate::world::World;

impl World {
    /// Tells all other members that this one gave a call up.
    pub(super) fn report(&self, comm: &Comm, place: u32, text: &str) {
        match &comm.remote {
            None => self.tell_all(comm.cid, comm.size(), Some(comm.rank), place, text),
            Some(remote) => {
                self.tell_all(comm.cid, comm.peers, None, place, text);
                let local = remote.local.cid;
                self.tell_all(local, comm.size(), Some(comm.rank), place, text);
            }
        }
    }

    /// Tells the ranks of a context, but for this process.
    fn tell_all(&self, cid: Cid, ranks: u32, me: Option<u32>, place: u32, text: &str) {
        for rank in (0..ranks).filter(|&rank| Some(rank) != me) {
            self.report_to((cid, rank), place, text);
        }
    }

    /// Tells one rank of a context.
    pub(super) fn report_to(&self, whom: (Cid, u32), place: u32, text: &str) {
        let text = &text.as_bytes()[..text.len().min(LONGEST)];
        let aside = Aside {
            kind: Kind::Report,
            place,
        };
        self.tell_aside(whom, aside, text);
    }

    /// A collective failed here, which the others know: who waits on the board for this member
    /// would do so for ever, so it is of no more use.
    #[cold]
    pub(super) fn lose_board(&self, comm: &Arc<Comm>, error: &Error) {
        match comm.coll.node.try_borrow_mut() {
            Ok(_) if !self.can_meet(comm) => {}
            Ok(mut membership) if comm.coll.queued.get() == 0 => membership.fail(error),
            // Who waits there now sees to it.
            _ => *comm.coll.lost.borrow_mut() = Some(error.clone()),
        }
    }
}
