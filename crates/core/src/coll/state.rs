//! Where the collectives of a communicator stand.

use std::cell::{Cell, OnceCell, RefCell};

use catena_base::slab::Key;
use catena_coll::Nodes;
use catena_objects::error::Error;

use super::edges::Edges;
use super::membership::Membership;
use super::schedules::Schedules;
use super::signature::CallSignature;
use super::tag::{Numbers, Slots};
use crate::topology::Neighborhood;

/// Where the collectives of a communicator stand.
#[derive(Debug, Default)]
pub struct CollState {
    pub(super) numbers: Numbers,
    /// The slots of persistent operations.
    pub(super) slots: Slots,
    pub(super) schedules: RefCell<Schedules>,
    pub(super) node: RefCell<Membership>,
    /// Blocking calls that the board had seen when an operation that does not block began there.
    pub(super) seen_on_board: Cell<u32>,
    /// The last calls that were started or have schedules, by their places: others may wait in them
    /// when this member has long done its part, or had none.
    pub(super) last: [Cell<Option<(u32, CallSignature)>>; 4],
    /// Operations under way that wait for their turn on it, or have it.
    pub(super) queued: Cell<u32>,
    /// Where they wait, among the queues of all communicators.
    pub(super) queue: Cell<Option<Key>>,
    /// Persistent barriers that count, or counted, their rounds on it, and those that are left.
    pub(super) barriers: Cell<usize>,
    pub(super) counting: Cell<u32>,
    /// Whether the communicator was freed while there were some.
    pub(super) is_free: Cell<bool>,
    /// Why its board is of no more use, until the call that uses it knows.
    pub(super) lost: RefCell<Option<Error>>,
    /// The nodes of its members, where these are on several.
    pub(super) map: OnceCell<Option<Nodes>>,
    pub(super) neighborhood: OnceCell<Neighborhood>,
    /// What its board needs of it; nothing if it cannot be used for that.
    pub(super) edges: OnceCell<Option<Edges>>,
    /// Calls in which no member had anything for another one, so that nobody waited.
    pub(super) voids: Cell<u32>,
    /// Operations that ran on it.
    pub calls: Cell<u64>,
}

impl CollState {
    /// An operation waits for its turn on the board.
    pub(crate) fn enqueue(&self) {
        self.queued.set(self.queued.get() + 1);
    }

    /// One has left the board.
    pub(crate) fn dequeue(&self) {
        self.queued.set(self.queued.get() - 1);
    }

    /// Blocking calls that its board has seen.
    pub(super) fn on_board(&self) -> u32 {
        // A thread that has borrowed it while others look is in an operation that does not block,
        // and does not count.
        match self.node.try_borrow() {
            Ok(node) => node.calls(),
            Err(_) => self.seen_on_board.get(),
        }
    }

    /// Place of the next call among all on the communicator; see `control`. Its board has seen so
    /// many that block.
    pub(super) fn place(&self, on_board: u32) -> u32 {
        let others = self.numbers.begun().wrapping_add(self.slots.begun());
        let others = others.wrapping_add(self.voids.get());
        others.wrapping_add(on_board)
    }

    /// Whether nothing is under way on it, nor kept, that has messages.
    pub(super) fn is_idle(&self) -> bool {
        self.numbers.are_over() && self.slots.are_free() && self.queued.get() == 0
    }

    /// Keeps what is said of a call in which nobody waits.
    pub(super) fn note_void(&self, signature: CallSignature) {
        self.note(self.place(self.on_board()), signature);
        self.voids.set(self.voids.get().wrapping_add(1));
    }

    /// Keeps what is said of a call that begins.
    pub(super) fn note(&self, place: u32, signature: CallSignature) {
        self.last[place as usize % self.last.len()].set(Some((place, signature)));
    }

    /// Says on its board how far this member is, unless it is in a call there, which does.
    pub(super) fn tell_board(&self) {
        if let Ok(mut membership) = self.node.try_borrow_mut() {
            membership.tell();
        }
    }
}
