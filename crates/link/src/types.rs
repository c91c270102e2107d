//! The words in which `core` and the engine talk.

use std::collections::BTreeSet;
use std::fmt;

use catena_fabric::{Load, Peer, PeerLost};

/// Matches every source (MPI-5.0 section 3.2.4).
pub const ANY_SOURCE: i32 = -1;
/// Matches every tag.
pub const ANY_TAG: i32 = -2;

/// Local id of a communicator: a slot of this process's table of communicators, and which of those
/// that have had the slot one after another it is.
///
/// Ids of one slot differ until [`Cid::GENERATIONS`] communicators have had it, so that what was
/// sent to one of them is not taken for a message of a later one.
///
/// # Examples
/// ```
/// use catena_link::Cid;
///
/// let (first, second) = (Cid::new(7, 0), Cid::new(7, 1));
/// assert_eq!((first.slot(), second.slot()), (7, 7));
/// assert_eq!(second.generation(), 1);
/// assert_ne!(first, second);
/// assert_eq!(first, Cid(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cid(pub u32);

impl Cid {
    /// Bits of the slot, the low ones.
    const SLOT_BITS: u32 = 20;
    /// How many communicators a process may have at once.
    pub const SLOTS: u32 = 1 << Cid::SLOT_BITS;
    /// How many ids a slot has.
    pub const GENERATIONS: u32 = (Context::MAX_CID.0 >> Cid::SLOT_BITS) + 1;
    /// No communicator's.
    pub(crate) const NONE: Cid = Cid(u32::MAX);

    /// An id of a slot, which is below [`Cid::SLOTS`]; generations count on and begin anew.
    #[inline]
    pub const fn new(slot: u32, generation: u32) -> Self {
        debug_assert!(slot < Cid::SLOTS);
        Cid((generation % Cid::GENERATIONS) << Cid::SLOT_BITS | slot)
    }

    /// The slot.
    #[inline]
    pub const fn slot(self) -> u32 {
        self.0 & (Cid::SLOTS - 1)
    }

    /// Which of those that have had the slot it is, below [`Cid::GENERATIONS`].
    #[inline]
    pub const fn generation(self) -> u32 {
        self.0 >> Cid::SLOT_BITS
    }

    /// The slot as an index.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.slot() as usize
    }
}

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

/// The spaces of messages of a communicator. Messages of different planes never
/// match each other; they share the order in which they are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Plane {
    /// Point to point: what the program sends.
    User = 0,
    /// Inside collectives.
    Collective = 1,
    /// Inside windows and files: one process acts for another.
    Remote = 2,
    /// What members tell each other about the communicator itself.
    Control = 3,
}

impl Plane {
    /// All of them, in the order of their numbers.
    pub const ALL: [Plane; 4] = [
        Plane::User,
        Plane::Collective,
        Plane::Remote,
        Plane::Control,
    ];

    /// A collective keeps its members busy with many messages.
    pub(crate) const fn load(self) -> Load {
        match self {
            Plane::Collective => Load::Heavy,
            Plane::User | Plane::Remote | Plane::Control => Load::Light,
        }
    }
}

/// Where a message belongs: a communicator, by the number that the process has
/// for it at which the message arrives, and one of its planes. It is what
/// envelopes carry.
///
/// # Examples
/// ```
/// use catena_link::{Cid, Context, Plane};
///
/// let context = Context::new(Cid(7), Plane::Collective);
/// assert_eq!(context.cid(), Cid(7));
/// assert_eq!(context.plane(), Plane::Collective);
/// assert_ne!(context, Context::new(Cid(7), Plane::User));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Context(u32);

impl Context {
    /// Low bits that tell the plane.
    const PLANE_BITS: u32 = 2;
    /// The largest [`Cid`] of which there are contexts.
    pub const MAX_CID: Cid = Cid(u32::MAX >> Context::PLANE_BITS);

    /// A plane of a communicator, which is at most [`Context::MAX_CID`].
    #[inline]
    pub const fn new(cid: Cid, plane: Plane) -> Self {
        debug_assert!(cid.0 <= Context::MAX_CID.0);
        Context(cid.0 << Context::PLANE_BITS | plane as u32)
    }

    /// The context whose number stands in a packet's header.
    #[inline]
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Context(bits)
    }

    /// The number in a packet's header.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Another plane of the communicator of which this is [`Plane::User`].
    #[inline]
    pub(crate) const fn on(self, plane: Plane) -> Self {
        debug_assert!(matches!(self.plane(), Plane::User));
        Context(self.0 | plane as u32)
    }

    /// The communicator.
    #[inline]
    pub const fn cid(self) -> Cid {
        Cid(self.0 >> Context::PLANE_BITS)
    }

    /// The slot of the communicator as an index.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.cid().index()
    }

    /// The plane.
    #[inline]
    pub const fn plane(self) -> Plane {
        match self.0 & ((1 << Context::PLANE_BITS) - 1) {
            0 => Plane::User,
            1 => Plane::Collective,
            2 => Plane::Remote,
            _ => Plane::Control,
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
///
/// # Examples
/// ```
/// use catena_link::{ANY_TAG, Selector};
///
/// let of_two = Selector { source: 2, tag: ANY_TAG };
/// assert!(of_two.accepts(2, 99) && !of_two.accepts(3, 99));
/// ```
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
}

/// What a probe tells of a message, whose tag is a `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<T = i32> {
    /// Rank of the sender in the communicator.
    pub source: u32,
    /// Tag.
    pub tag: T,
    /// Length in bytes.
    pub len: u64,
}

/// How a request ended, whose tag is a `T`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion<T = i32> {
    /// Receives: rank of the sender, as matched, or -1 if nothing has matched one from anybody.
    /// Sends: the destination.
    pub source: i32,
    /// Tag, as matched.
    pub tag: T,
    /// Receives: bytes placed. Sends: bytes of the message.
    pub len: u64,
    /// Nothing was or will be transferred.
    pub cancelled: bool,
    /// What went wrong, if something did.
    pub error: Option<Box<Failure<T>>>,
}

/// Why a request failed, whose tag is a `T`.
///
/// # Examples
/// ```
/// use catena_fabric::{Peer, PeerLost};
/// use catena_link::Failure;
///
/// fn explain(failure: &Failure) -> String {
///     match failure {
///         Failure::Lost(PeerLost { peer, cause }) => format!("process {} is gone: {cause}", peer.0),
///         other => format!("{other:?}"),
///     }
/// }
///
/// let lost = PeerLost { peer: Peer(3), cause: "its host is down".into() };
/// assert_eq!(explain(&Failure::Lost(lost)), "process 3 is gone: its host is down");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure<T = i32> {
    /// The message was longer than the capacity for it. The part that fits is there.
    Truncated {
        /// Rank of the sender.
        source: u32,
        /// Tag of the message.
        tag: T,
        /// Length of the message in bytes.
        sent: u64,
        /// Length of the capacity in bytes.
        capacity: u64,
    },
    /// A piece of the message, which was [compressed](crate::Endpoint::compress_messages), could
    /// not be restored.
    Damaged(catena_compress::Error),
    /// The process at the other end is gone.
    Lost(PeerLost),
    /// A receive from any source was taken back, as one of those that might have sent is gone: see
    /// [`Endpoint::interrupt`](crate::Endpoint::interrupt).
    Interrupted,
    /// The communicator was revoked: see [`Endpoint::revoke`](crate::Endpoint::revoke).
    Revoked,
    /// Nobody who could send it sends anything any more: that rank, or all; see
    /// [`Endpoint::end_in_vain`](crate::Endpoint::end_in_vain).
    Finalized {
        /// Who was to send it, if it was one.
        rank: Option<u32>,
        /// A message from there that it does not match, if one has come.
        other: Option<Envelope<T>>,
    },
    /// The receiver has thrown it away; see
    /// [`Endpoint::end_in_vain`](crate::Endpoint::end_in_vain).
    Unreceived {
        /// The receiver.
        rank: u32,
    },
}

impl<T: fmt::Display> fmt::Display for Failure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Truncated {
                source,
                tag,
                sent,
                capacity,
            } => write!(
                f,
                "message of {sent} bytes from rank {source} with tag {tag} \
                 does not fit into a receive buffer of {capacity} bytes"
            ),
            Failure::Damaged(error) => write!(f, "{error}"),
            Failure::Lost(lost) => write!(f, "process {} is gone: {}", lost.peer.0, lost.cause),
            Failure::Interrupted => f.write_str("a process that might have sent is gone"),
            Failure::Revoked => f.write_str("the communicator was revoked"),
            Failure::Finalized {
                rank: Some(rank), ..
            } => {
                write!(f, "rank {rank} sends nothing any more")
            }
            Failure::Finalized { rank: None, .. } => f.write_str("nobody sends anything any more"),
            Failure::Unreceived { rank } => write!(f, "rank {rank} has thrown the message away"),
        }
    }
}

impl<T: fmt::Debug + fmt::Display> std::error::Error for Failure<T> {}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_tell_communicator_and_plane() {
        for cid in [Cid(0), Cid(1), Cid(12_345), Context::MAX_CID] {
            let base = Context::new(cid, Plane::User);
            for plane in Plane::ALL {
                let context = Context::new(cid, plane);
                assert_eq!((context.cid(), context.plane()), (cid, plane));
                assert_eq!(context.index(), cid.slot() as usize);
                assert_eq!(base.on(plane), context);
            }
        }
    }

    #[test]
    fn ids_of_a_slot_begin_anew_when_all_were_used() {
        for slot in [0, 1, Cid::SLOTS - 1] {
            let last = Cid::new(slot, Cid::GENERATIONS - 1);
            assert!(last <= Context::MAX_CID);
            assert_eq!(
                (last.slot(), last.generation()),
                (slot, Cid::GENERATIONS - 1)
            );
            assert_eq!(Cid::new(slot, Cid::GENERATIONS), Cid::new(slot, 0));
        }
    }

    #[test]
    fn every_number_on_the_wire_is_one_context() {
        for bits in [0, 1, 2, 3, 4, 0x8000_0001, u32::MAX - 1, u32::MAX] {
            let context = Context::from_bits(bits);
            assert_eq!(context, Context::new(context.cid(), context.plane()));
            assert_eq!(context.bits(), bits);
            assert_eq!(Plane::ALL[context.plane() as usize], context.plane());
        }
    }
}
