//! The place of an operation among those of its communicator, and how long it keeps its number.

use std::sync::Arc;

use catena_link::Cid;

use super::tag::{Cut, Label, Number};
use crate::comm::Comm;

/// The place of an operation among those of its communicator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    /// Among all calls on the communicator; see `control`.
    pub place: u32,
    /// Its messages on the communicator.
    pub comm: Ticket,
    /// Those among the local group of an intercommunicator.
    pub local: Ticket,
}

/// Number and tag; see `tag`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ticket {
    pub number: Number,
    pub tag: i32,
}

impl Ticket {
    pub fn new(cut: Cut, label: Label, number: Number) -> Self {
        let tag = cut.tag(label, number);
        Ticket { number, tag }
    }
}

/// How tags on that communicator are cut.
pub fn cut(comm: &Comm) -> Cut {
    Cut::new(comm.size().max(comm.peers))
}

/// The numbers of an operation, which are its own here until this is dropped: no other operation of
/// this member has messages with its tags meanwhile.
///
/// Others may be ahead by as much as they like: what a member sends arrives in the order in which
/// it was sent, so of two messages with one tag the earlier call's comes first, and is received
/// first.
#[derive(Debug)]
pub struct Lease {
    comm: Arc<Comm>,
    turn: Turn,
}

impl Lease {
    /// The numbers of `turn`, which were taken for this one.
    pub fn new(comm: Arc<Comm>, turn: Turn) -> Self {
        Lease { comm, turn }
    }

    /// The place of its operation.
    pub fn turn(&self) -> Turn {
        self.turn
    }

    /// Whether an operation of that kind with these numbers may send and receive: all earlier ones
    /// whose messages may have the same tags are over.
    #[inline]
    pub fn may_begin(&self, label: Label) -> bool {
        let cut = cut(&self.comm);
        let is_free = |comm: &Comm, ticket: Ticket| {
            let Number { count, persistent } = ticket.number;
            persistent || comm.coll.numbers.is_alone(cut, label.what, count)
        };
        is_free(&self.comm, self.turn.comm)
            && self
                .comm
                .remote
                .as_ref()
                .is_none_or(|remote| is_free(&remote.local, self.turn.local))
    }

    /// How the tags of its operation's messages in that context are cut, and its ticket there.
    pub fn tickets(&self) -> impl Iterator<Item = (Cid, Ticket)> + use<> {
        let local = self
            .comm
            .remote
            .as_ref()
            .map(|it| (it.local.cid, self.turn.local));
        [Some((self.comm.cid, self.turn.comm)), local]
            .into_iter()
            .flatten()
    }
}

impl Drop for Lease {
    #[inline]
    fn drop(&mut self) {
        let Number { count, persistent } = self.turn.comm.number;
        if persistent {
            self.comm.coll.slots.give_back(count);
            return;
        }
        self.comm.coll.numbers.end(count);
        if let Some(remote) = &self.comm.remote {
            remote.local.coll.numbers.end(self.turn.local.number.count);
        }
    }
}
