//! What a transport does besides where both ends see the same memory.

use std::time::Duration;

use catena_base::End;

use crate::peer::Peer;
use crate::transport::Transport;

/// What it took to move a message for which there was a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its bytes.
    pub len: u64,
    /// Whether it was streamed.
    pub streamed: bool,
    /// When its receiver was ready and it could begin, ticks of the clock.
    pub asked: u64,
    /// When all of it was there.
    pub ended: u64,
}

/// The longest message that is never lent, bytes.
pub const NEVER_LENT: u64 = 8 << 10;

/// What transports do besides whose two ends see the same memory: they tell how far a peer is,
/// learn which way messages move the fastest, and lead both ends through a message that they copy
/// together ([`Rendezvous::Share`](crate::Rendezvous::Share)).
///
/// # Examples
/// How both ends of a message take its parts, until they have met:
/// ```
/// use catena_base::End;
/// use catena_fabric::{NodeLocal, Peer};
///
/// fn parts_of_mine<T: NodeLocal>(way: &mut T, peer: Peer, end: End, number: u32, parts: u32) -> Vec<u32> {
///     std::iter::from_fn(|| way.take_part(peer, end, number, parts)).collect()
/// }
/// ```
pub trait NodeLocal: Transport {
    /// Whether `peer` has most likely not taken all that was sent to it: then a message is better
    /// sent in few packets than soon in part. A guess; cost: a few loads of this process's own
    /// memory.
    fn is_behind(&self, _peer: Peer) -> bool {
        false
    }

    /// Whether packets of `peer` are there that were not taken: it sends itself, and has no time to
    /// take any. A guess; cost: as for [`NodeLocal::is_behind`].
    fn sends(&self, _peer: Peer) -> bool {
        false
    }

    /// Whether a message of `len` bytes from `peer`, which could be moved as
    /// [`Transport::rendezvous`] says, is streamed all the same, because that is faster. Called
    /// once for each such message, by its receiver: a transport may try the other way now and then.
    fn streams(&mut self, _peer: Peer, _len: u64) -> bool {
        false
    }

    /// A message from `peer` about which [`NodeLocal::streams`] was asked is there.
    fn moved(&mut self, _peer: Peer, _moved: Moved) {}

    /// `peer` has asked for a message of `len` bytes from here, which it could have read: that it
    /// is streamed, or not. What messages cost that come from there may depend on it.
    fn asked(&mut self, _peer: Peer, _len: u64, _streamed: bool) {}

    /// Whether a message of `len` bytes to `peer`, which is short enough to be sent ahead, is
    /// better lent: announced, for its receiver to read where it lies. Called once for each such
    /// message; so many before it have not left. A transport says so only where packets keep their
    /// order.
    fn lends(&mut self, _peer: Peer, _len: u64, _under_way: usize) -> bool {
        false
    }

    /// A message of `len` bytes, more than [`NEVER_LENT`], has come from `peer`, which has lent it
    /// or sent it ahead. What those cost that go there may depend on it.
    fn came(&mut self, _peer: Peer, _len: u64, _is_lent: bool) {}

    /// How long the receiver of a lent message has to begin to read it, before its sender takes it
    /// back: several times what an answer takes from one that waits, or reads another message.
    fn patience(&mut self) -> Duration {
        Duration::from_micros(20)
    }

    /// Opens the claim on message `id` of this end; `false` if there is no room for it.
    fn open_claim(&mut self, _id: u64) -> bool {
        false
    }

    /// Takes the claim on message `id` of `owner`, or of this end; `true` for who takes it first.
    fn take_claim(&mut self, _owner: Option<Peer>, _id: u64) -> bool {
        false
    }

    /// Begins to share a message from `peer` with it; its number. Only after all parts of the one
    /// [`Parts::AHEAD`](catena_base::Parts::AHEAD) before were taken.
    fn open_parts(&mut self, peer: Peer) -> u32;

    /// Takes one of the `parts` parts of message `number` that is shared with
    /// `peer`: from the front as its receiver, from the back as its sender. `None` if all are
    /// taken.
    fn take_part(&mut self, peer: Peer, end: End, number: u32, parts: u32) -> Option<u32>;
}
