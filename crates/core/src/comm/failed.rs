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
    /// Why no more collectives are run on it, although no member is known here to have died: one has failed for a
    /// death of which others had heard.
    pub(crate) ended: RefCell<Option<Error>>,
    /// Whether those were told that wait for this member in the first agreement in which it takes no part.
    pub(crate) told: Cell<bool>,
}

impl FailedMembers {
    /// How many of those known the program has acknowledged, in the order in which they became
    /// known.
    pub fn acknowledged(&self) -> usize {
        self.acked.get()
    }

    /// Whether the communicator was revoked.
    #[inline]
    pub fn is_revoked(&self) -> bool {
        self.revoked.get()
    }
}
