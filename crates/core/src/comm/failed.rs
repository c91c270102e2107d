//! What a communicator keeps of failures among its members.

use std::cell::{Cell, RefCell};

use catena_objects::error::Error;

/// The members of a communicator that are known to have died, and whether it was revoked.
/// Touched inside the library only.
#[derive(Debug, Default)]
pub struct FailedMembers {
    /// Their ranks, those of a remote group behind the local ones, in the order in which their
    /// deaths became known here.
    pub(crate) ranks: RefCell<Vec<u32>>,
    /// How many losses were known, of any process, when the ranks were last brought up to date.
    pub(crate) seen: Cell<usize>,
    /// How many of the ranks the program has acknowledged.
    pub(crate) acked: Cell<usize>,
    /// Whether `MPI_Comm_revoke` was called somewhere, as far as is known here.
    pub(crate) revoked: Cell<bool>,
    /// Why no more collectives are run on it, although no member is known here to have died: one
    /// has failed.
    pub(crate) ended: RefCell<Option<Error>>,
    /// The first agreement of all members in which this one takes no part, nor in any later one.
    pub(crate) absent_from: Cell<Option<u32>>,
    /// Agreements of the program that have begun here, and of those the ones whose way is known.
    begun: Cell<u32>,
    under_way: Cell<u32>,
}

impl FailedMembers {
    /// How many of those known the program has acknowledged, in the order in which they became
    /// known.
    pub fn acknowledged(&self) -> usize {
        self.acked.get()
    }

    /// Takes a turn for an agreement: members begin them in one order, and each goes its way after
    /// the one before.
    pub fn take_turn(&self) -> u32 {
        let turn = self.begun.get();
        self.begun.set(turn.wrapping_add(1));
        turn
    }

    /// Whether it is the turn of an agreement.
    pub fn is_turn(&self, turn: u32) -> bool {
        turn == self.under_way.get()
    }

    /// The way of the agreement in turn is known.
    pub fn end_turn(&self) {
        self.under_way.set(self.under_way.get().wrapping_add(1));
    }

    /// Whether no agreement waits for its turn, or has it.
    #[inline]
    pub fn is_nobodys_turn(&self) -> bool {
        self.begun == self.under_way
    }

    /// Whether the communicator was revoked.
    #[inline]
    pub fn is_revoked(&self) -> bool {
        self.revoked.get()
    }
}
