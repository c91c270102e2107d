//! The words in which `core` and the engine talk.

use std::collections::BTreeSet;
use std::fmt;

use catena_fabric::{Load, Peer, PeerLost};

/// Matches every source (MPI-5.0 section 3.2.4).
pub const ANY_SOURCE: i32 = -1;
/// Matches every tag.
pub const ANY_TAG: i32 = -2;

/// Local id of a communicator: an index into this process's table of contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cid(pub u32);

/// Names a request. The generation tells it from earlier and later requests in
/// the same slot, so an id never comes to mean another request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReqId {
    /// Slot.
    pub index: u32,
    /// Generation of the slot; at least 1.
    pub generation: u32,
}

impl ReqId {
    /// As one number for the wire.
    pub(crate) const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// Inverse of [`ReqId::to_bits`].
    pub(crate) const fn from_bits(bits: u64) -> Self {
        ReqId {
            index: bits as u32,
            generation: (bits >> 32) as u32,
        }
    }
}

/// Names a message taken out of the queues by a matched probe, until it is
/// received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId {
    /// Slot.
    pub index: u32,
    /// Generation of the slot; at least 1.
    pub generation: u32,
}

/// The two spaces of messages of a communicator. They never match each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Plane {
    /// Point to point.
    User = 0,
    /// Inside collectives.
    Collective = 1,
}

impl Plane {
    /// That of a context as it is in an envelope: a [`Cid`], twice, and the
    /// plane.
    pub(crate) fn of(context: u32) -> Self {
        if context & 1 == 0 {
            Plane::User
        } else {
            Plane::Collective
        }
    }

    /// A collective keeps its members busy with many messages.
    pub(crate) fn load(self) -> Load {
        match self {
            Plane::User => Load::Light,
            Plane::Collective => Load::Heavy,
        }
    }
}

/// When a send completes (MPI-5.0 section 3.4). Ready mode is standard mode;
/// buffered mode is made above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When the buffer may be used again.
    Standard,
    /// When, in addition, the receiver has matched the message.
    Synchronous,
}

/// Which messages a receive or a probe accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Rank in the communicator, or [`ANY_SOURCE`].
    pub source: i32,
    /// Tag, or [`ANY_TAG`].
    pub tag: i32,
}

impl Selector {
    /// Whether a message from `source` with `tag` is accepted.
    #[inline]
    pub const fn accepts(self, source: u32, tag: i32) -> bool {
        (self.source == ANY_SOURCE || self.source == source as i32)
            && (self.tag == ANY_TAG || self.tag == tag)
    }

    /// Whether neither part is a wildcard.
    #[inline]
    pub(crate) const fn is_specific(self) -> bool {
        self.source != ANY_SOURCE && self.tag != ANY_TAG
    }
}

/// What a probe tells of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Rank of the sender in the communicator.
    pub source: u32,
    /// Tag.
    pub tag: i32,
    /// Length in bytes.
    pub len: u64,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Receives: rank of the sender, as matched. Sends: the destination.
    pub source: i32,
    /// Tag, as matched.
    pub tag: i32,
    /// Receives: bytes placed. Sends: bytes of the message.
    pub len: u64,
    /// Nothing was or will be transferred.
    pub cancelled: bool,
    /// What went wrong, if something did.
    pub error: Option<Box<Failure>>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The message was longer than the room for it. The part that fits is there.
    Truncated {
        /// Rank of the sender.
        source: u32,
        /// Tag of the message.
        tag: i32,
        /// Length of the message in bytes.
        sent: u64,
        /// Length of the room in bytes.
        room: u64,
    },
    /// The process at the other end is gone.
    Lost(PeerLost),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Truncated {
                source,
                tag,
                sent,
                room,
            } => write!(
                f,
                "message of {sent} bytes from rank {source} with tag {tag} \
                 does not fit into a receive buffer of {room} bytes"
            ),
            Failure::Lost(lost) => write!(f, "process {} is gone: {}", lost.peer.0, lost.cause),
        }
    }
}

impl std::error::Error for Failure {}

/// Whom requests wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Awaited {
    /// Processes that have to send or take something.
    pub named: BTreeSet<Peer>,
    /// Processes any of which may send.
    pub any: BTreeSet<Peer>,
}

/// What became of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Sent {
    /// It is complete; there is no request.
    Done,
    /// This request completes it (it may be done already, when it failed).
    Pending(ReqId),
}
