//! What a window keeps of members that it talks to by messages.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use catena_base::class_lock::{Class, Waiting};
use catena_base::ticket_lock::{Mode, Ticket};
use catena_fabric::Peer;

use super::record::{Head, Trouble};
use crate::exposed::Area;

/// The number on the node of a member that is not there.
pub(crate) const ELSEWHERE: u32 = u32::MAX;

/// What somebody waits for that has asked a member something: the answer to just that.
#[derive(Debug, Default)]
pub(crate) struct Answer(Cell<Option<Trouble>>);

impl Answer {
    /// Whether it has come.
    pub fn has_come(&self) -> bool {
        self.0.get().is_some()
    }

    /// Whether it has come, and says that a death has made what was asked for impossible.
    pub fn is_refused(&self) -> bool {
        self.0.get() == Some(Trouble::Holder)
    }

    /// It has come.
    pub fn come(&self, trouble: Trouble) {
        self.0.set(Some(trouble));
    }
}

/// What a process knows of a target that it sends messages to.
#[derive(Debug, Default)]
pub struct Far {
    /// Operations that have no answer yet.
    pub outstanding: Cell<u32>,
    /// The last question whether all operations before it are complete. Whoever finds that none was
    /// started since then waits for its answer.
    pub flush: RefCell<Option<Arc<Answer>>>,
    /// Long operations whose records have not all been made.
    pub lent: Cell<u32>,
    /// Whether operations without answers have left since the last flush.
    pub dirty: Cell<bool>,
    /// Whether a flush was asked for as an operation left, and the program has not waited for the
    /// answer: the answer comes to a target that is lost, too.
    pub early: Cell<bool>,
    /// Posts of it that named this process, and that no epoch has used.
    pub posts: Cell<u32>,
    /// Completions of it that named this process, and that nobody has waited for.
    pub completions: Cell<u32>,
    /// How this process holds its lock by message.
    pub held: Cell<Option<Mode>>,
    /// What it says of those who hold its lock, and of those inside of the gate that it keeps: by
    /// [`Held`].
    pub holders: [Holders; 2],
    /// Its memory that a network may reach, by address.
    pub areas: RefCell<Vec<Area>>,
    /// Whether it was asked what is attached somewhere, and has not answered.
    pub asks: Cell<bool>,
    /// Whether something has moved that way since a flush of the network was last begun.
    pub moved: Cell<bool>,
    /// Operations and flushes of a network that have not ended.
    pub remote: Cell<u32>,
}

/// What some members have, and others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The lock of a member.
    Lock,
    /// The gate.
    Gate,
}

/// What a member elsewhere says of those who hold something.
#[derive(Debug, Default)]
pub struct Holders {
    /// When it was asked last, nanoseconds of the monotonic clock.
    pub asked: Cell<u64>,
    /// When it has said so, and whom it has named.
    pub told: RefCell<(u64, Vec<u32>)>,
}

impl Far {
    /// Whether something has moved that way and may not be there yet: no flush of it has been
    /// begun, or one that another thread has begun has not ended.
    pub fn is_moving(&self) -> bool {
        self.moved.get() || self.remote.get() != 0
    }
}

/// What hosts have told of meetings.
#[derive(Debug, Default)]
pub struct Meetings {
    /// Meetings that this process has gone to.
    pub gone_to: Cell<u32>,
    /// Meeting, round, and whether somebody has failed.
    pub heard: RefCell<Vec<(u32, u8, bool)>>,
}

/// What is known of a failed meeting beside how many came with an error.
pub(crate) const LOST: u32 = 1 << 31;

/// An origin elsewhere that holds the lock or waits for it.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub peer: Peer,
    /// What it sent.
    pub head: Head,
    pub ticket: Ticket,
    pub has_entered: bool,
    /// The origin is gone: it leaves as soon as it has entered.
    pub is_gone: bool,
}

/// A member elsewhere at the gate that this member keeps.
#[derive(Debug)]
pub(crate) struct GateProxy {
    pub peer: Peer,
    /// What it sent.
    pub head: Head,
    pub class: Class,
    /// `None` if it is inside.
    pub waiting: Option<Waiting>,
    /// It is gone, and leaves as soon as it is inside.
    pub is_gone: bool,
}
