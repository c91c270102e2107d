//! One request: a receive, or a send that could not complete at once.

use std::ops::Range;

use catena_compress::Codec;
use catena_fabric::{Header, Peer};

use crate::entry::Link;
use crate::key::MatchKey;
use crate::matching::{Nodes, Posted};
use crate::net::{Net, RemoteKeys};
use crate::protocol::{Coverage, Recv, Send};
use crate::slab::{NIL, Slab};
use crate::types::{Completion, Failure, ReqId};
use crate::wire::Offer;

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not a request.
    Free,
    /// A receive in the matching queues.
    Posted,
    /// A matched receive whose message is not all there.
    Recv(Recv),
    /// A send under way.
    Send(Send),
    /// Complete.
    Done,
}

/// What becomes of a request when it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is kept until somebody asks.
    Kept,
    /// It is kept, and enters the completions with [`Rare::word`].
    Queued,
    /// It frees itself.
    Detached,
}

#[derive(Debug)]
pub(crate) enum Buffer<N: Net> {
    None,
    Sink(N::Sink),
    Source(N::Source),
}

/// A message that both ends copy, as one of them sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    /// Names it among those of the two processes; 0 until it is open.
    pub number: u32,
    pub offer: Offer,
    /// What is left of the part that this end copies now.
    pub part: Range<u64>,
    /// One of the two ends cannot do its share.
    pub refused: bool,
}

/// What the request does with the peer's memory at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Operation {
    #[default]
    None,
    /// That many bytes are read into its buffer.
    Get(u64),
    /// That many bytes are written out of its buffer.
    Put(u64),
    /// That many bytes have been written, and may not be there yet.
    Written(u64),
    /// They are flushed.
    Flush(u64),
}

impl Operation {
    /// Whether the route will tell of its end.
    #[inline]
    pub fn is_under_way(self) -> bool {
        !matches!(self, Operation::None | Operation::Written(_))
    }
}

/// What short messages never touch.
#[derive(Debug)]
pub(crate) struct Rare<K> {
    /// The process at the other end.
    pub peer: Peer,
    /// The other end's request.
    pub other: ReqId,
    /// Sends: header of the first packet.
    pub header: Header,
    /// Sends: where the message is registered. Receives: where it can be read.
    pub registered: Option<RemoteKeys>,
    /// Messages that both ends copy.
    pub share: Share,
    /// Sends: bytes that are registered, if any are. Receives: bytes that will come.
    pub total: u64,
    /// Receives: when it was asked for, ticks, if there was a choice how it moves; else 0.
    pub asked: u64,
    /// Receives: bytes that came in packets or in parts.
    pub coverage: Coverage,
    /// The operation that it has on the peer's memory: one at once.
    pub operation: Operation,
    /// It ends with the operation, which uses its buffer.
    pub ends: bool,
    /// Receives: the message is lent, and nobody has taken the claim on it as far as is known.
    pub lent: bool,
    /// Sends: what the receiver has asked it to be compressed by. Receives: what was asked for,
    /// where that was chosen.
    pub codec: Option<Codec>,
    /// Sends with a codec: pieces in a row that did not become shorter.
    pub in_vain: u32,
    /// Receives with a codec: when it was asked for, ticks, and bytes that have come in packets.
    pub since: u64,
    pub came: u64,
    /// Sends: the receiver was asked to drop the message.
    pub cancelling: bool,
    /// Sends: the receiver has dropped the message.
    pub dropped: bool,
    /// What its user calls it among the completions.
    pub word: u64,
    /// Receives with wildcards: the place in their index.
    pub wild: Link<K>,
}

/// The key in `link` says what a receive accepts and, once it is matched, what
/// it got; of a send it holds the context, the destination and the tag.
///
/// The order of the fields keeps what a short message touches together.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Request<N: Net, K: MatchKey> {
    pub link: Link<K>,
    pub fate: Fate,
    pub cancelled: bool,
    pub phase: Phase,
    /// Order among posted receives.
    pub number: u64,
    /// As in [`Completion::len`], from the match or the send on.
    pub len: u64,
    pub buffer: Buffer<N>,
    pub error: Option<Box<Failure<K::Tag>>>,
    /// Apart, so that many requests fit into the nearest cache; allocated once
    /// per slot.
    pub rare: Box<Rare<K>>,
}

impl<N: Net, K: MatchKey> Default for Request<N, K> {
    fn default() -> Self {
        Request {
            phase: Phase::Free,
            link: Link::default(),
            fate: Fate::Kept,
            cancelled: false,
            number: 0,
            len: 0,
            buffer: Buffer::None,
            error: None,
            rare: Box::new(Rare {
                peer: Peer(NIL),
                other: ReqId {
                    index: NIL,
                    generation: 0,
                },
                header: Header::default(),
                registered: None,
                share: Share::default(),
                total: 0,
                asked: 0,
                coverage: Coverage::default(),
                operation: Operation::None,
                ends: false,
                lent: false,
                codec: None,
                in_vain: 0,
                since: 0,
                came: 0,
                cancelling: false,
                dropped: false,
                word: 0,
                wild: Link::default(),
            }),
        }
    }
}

impl<N: Net, K: MatchKey> Request<N, K> {
    /// How a done request ended; takes the error along.
    #[inline]
    pub fn take_completion(&mut self) -> Completion<K::Tag> {
        Completion {
            error: self.error.take(),
            ..self.envelope()
        }
    }

    /// How a done request ended.
    pub fn completion(&self) -> Completion<K::Tag> {
        Completion {
            error: self.error.clone(),
            ..self.envelope()
        }
    }

    #[inline]
    fn envelope(&self) -> Completion<K::Tag> {
        Completion {
            source: self.link.key.source() as i32,
            tag: self.link.key.tag(),
            len: self.len,
            cancelled: self.cancelled,
            error: None,
        }
    }

    /// Records why nothing is transferred.
    pub fn set_failed(&mut self, failure: Failure<K::Tag>) {
        self.error = Some(Box::new(failure));
        self.len = 0;
    }
}

impl<N: Net, K: MatchKey> Nodes<K, 0> for Slab<Request<N, K>> {
    #[inline]
    fn link(&self, at: u32) -> &Link<K> {
        &self.get(at).link
    }

    #[inline]
    fn link_mut(&mut self, at: u32) -> &mut Link<K> {
        &mut self.get_mut(at).link
    }
}

impl<N: Net, K: MatchKey> Nodes<K, 1> for Slab<Request<N, K>> {
    #[inline]
    fn link(&self, at: u32) -> &Link<K> {
        &self.get(at).rare.wild
    }

    #[inline]
    fn link_mut(&mut self, at: u32) -> &mut Link<K> {
        &mut self.get_mut(at).rare.wild
    }
}

impl<N: Net, K: MatchKey> Posted<K> for Slab<Request<N, K>> {
    #[inline]
    fn number(&self, at: u32) -> u64 {
        self.get(at).number
    }
}
