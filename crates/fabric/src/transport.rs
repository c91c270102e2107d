//! The trait of a transport, and what it takes and says.

use std::time::Duration;

use catena_base::PeerBytes;

use catena_memory::Kinds;

use crate::buf::{Buf, LocalKey};
use crate::operation::{Access, OpId, RmaError};
use crate::packet::{Header, Payload, Posted};
use crate::peer::{Peer, PeerLost, RemoteKey};

/// What the two ranks have to do besides a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Nothing: both may work on this one.
    Light,
    /// Other messages, or the program computes: the less work the better.
    Heavy,
    /// The receiver sends, and as much is to be read there: each end has its own to
    /// read.
    Exchange,
}

/// How a long message to a peer is best moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendezvous {
    /// The receiver reads it out of the sender's memory.
    Get,
    /// The sender streams it in packets once the receiver is ready.
    Stream,
    /// Both copy: the receiver reads parts of it and the sender, if it has
    /// time, writes others. Only [`NodeLocal`](crate::NodeLocal) transports say so.
    Share {
        /// Bytes of a part.
        part: u64,
    },
}

/// What a route to a peer can do. Constant from the first contact on.
///
/// # Examples
/// How many packets a message leaves in that is sent without asking:
/// ```
/// use catena_fabric::{Caps, Kinds};
///
/// let caps = Caps {
///     max_packet: 4096,
///     whole: 1024,
///     eager_max: 65_536,
///     ordered: true,
///     kinds: Kinds::HOST,
/// };
/// let packets = |len: u64| len.div_ceil(caps.max_packet as u64).max(1);
/// assert!(10_000 <= caps.eager_max);
/// assert_eq!(packets(10_000), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Largest payload of one packet, bytes.
    pub max_packet: usize,
    /// Longest message that leaves as one packet in any case, bytes; at most `max_packet`. Of a
    /// longer one the receiver copies the first packet while the sender copies the second, unless
    /// it [is behind](crate::NodeLocal::is_behind).
    pub whole: usize,
    /// Largest message sent without asking the receiver first, bytes; may
    /// exceed `max_packet`, the message is then cut into several packets.
    pub eager_max: u64,
    /// Packets to one peer arrive in the order in which they were posted.
    pub ordered: bool,
    /// Kinds of memory that operations on this peer's memory take directly, on this side and as
    /// registered memory on the other one. The host's is among them. What lies in other memory is
    /// staged through the host's.
    pub kinds: Kinds,
}

/// Takes what a transport has received.
///
/// # Examples
/// One that keeps all packets, and who is lost:
/// ```
/// use catena_base::PeerBytes;
/// use catena_fabric::{Deliver, Header, OpId, Peer, PeerLost, RmaError};
///
/// #[derive(Debug, Default)]
/// struct Inbox {
///     packets: Vec<(Peer, Header, Vec<u8>)>,
///     lost: Vec<PeerLost>,
///     completed: Vec<OpId>,
/// }
///
/// impl Deliver for Inbox {
///     fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
///         self.packets.push((from, header, payload.to_vec()));
///     }
///     fn lost(&mut self, lost: PeerLost) {
///         self.lost.push(lost);
///     }
///     fn completed(&mut self, op: OpId, _: Result<u64, RmaError>) {
///         self.completed.push(op);
///     }
/// }
///
/// let mut inbox = Inbox::default();
/// inbox.deliver(Peer(2), Header::default(), PeerBytes::from(&b"hello"[..]));
/// assert_eq!(inbox.packets[0].2, b"hello");
/// ```
pub trait Deliver {
    /// Takes one packet. `payload` is only there during the call; its bytes
    /// may change under it (a peer may go mad), but its length does not.
    ///
    /// Never calls the transport back.
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>);

    /// Learns that a peer is gone.
    fn lost(&mut self, lost: PeerLost);

    /// Learns that a peer has ended, as its host says: all that it had sent has been delivered.
    /// Whether it died is for others to say, the launcher for one; until somebody does it counts as
    /// lost.
    fn ended(&mut self, lost: PeerLost) {
        self.lost(lost);
    }

    /// Learns that a peer has [removed](crate::Rail::remove_peer) this process: to this one it has
    /// ended in good order, and it is no death.
    fn left(&mut self, end: PeerLost) {
        self.ended(end);
    }

    /// Learns that a peer waits for an answer of the transport's own, which does not know the way
    /// to it yet. Told in each poll until it does.
    ///
    /// Never calls the transport back.
    fn wanted(&mut self, _by: Peer) {}

    /// Learns that an operation of this process is complete at the origin, or has failed. The value
    /// is the former word of a fetching atomic, else 0. Each operation that is under way is told
    /// once.
    ///
    /// Never calls the transport back.
    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>);
}

/// One way to reach other processes.
///
/// # Examples
/// The smallest one leads to this process itself. What sends and receives through any transport is
/// generic:
/// ```
/// use std::collections::VecDeque;
/// use std::time::Duration;
///
/// use catena_base::{PayloadRoom, PeerBytes};
/// use catena_fabric::*;
///
/// #[derive(Debug, Default)]
/// struct Loop(VecDeque<(Header, Vec<u8>)>);
///
/// impl Transport for Loop {
///     fn name(&self) -> &'static str {
///         "loop"
///     }
///     fn caps(&self, _: Peer) -> Caps {
///         Caps {
///             max_packet: 4096,
///             whole: 4096,
///             eager_max: 4096,
///             ordered: true,
///             kinds: Kinds::HOST,
///         }
///     }
///     fn try_send<P: Payload>(&mut self, _: Peer, header: Header, payload: P) -> Result<Posted, PeerLost> {
///         if self.0.len() == 16 {
///             return Ok(Posted::Full);
///         }
///         let mut copy = vec![0; payload.len()];
///         // SAFETY: a vector of exactly that length, ours alone.
///         payload.write(unsafe { PayloadRoom::new(copy.as_mut_ptr(), copy.len()) });
///         self.0.push_back((header, copy));
///         Ok(Posted::Done)
///     }
///     fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
///         let Some((header, payload)) = self.0.pop_front() else { return 0 };
///         deliver.deliver(Peer(0), header, PeerBytes::from(&*payload));
///         1
///     }
///     fn rendezvous(&self, _: Peer, _: u64, _: Load) -> Rendezvous {
///         Rendezvous::Stream
///     }
///     fn register(&mut self, _: Option<Peer>, _: Buf, _: Access) -> Option<RemoteKey> {
///         None
///     }
///     fn deregister(&mut self, _: RemoteKey) {}
///     fn sleep(&mut self, _: Duration) {}
/// }
///
/// /// Sends a packet as soon as there is room.
/// fn send<T: Transport, D: Deliver>(
///     way: &mut T, to: Peer, header: Header, bytes: &[u8], deliver: &mut D,
/// ) -> Result<(), PeerLost> {
///     while way.try_send(to, header, bytes)? == Posted::Full {
///         way.poll(deliver);
///     }
///     Ok(())
/// }
///
/// # #[derive(Default)]
/// # struct Count(usize);
/// # impl Deliver for Count {
/// #     fn deliver(&mut self, _: Peer, _: Header, _: PeerBytes<'_>) { self.0 += 1; }
/// #     fn lost(&mut self, _: PeerLost) {}
/// #     fn completed(&mut self, _: OpId, _: Result<u64, RmaError>) {}
/// # }
/// let (mut way, mut count) = (Loop::default(), Count::default());
/// for _ in 0..40 {
///     send(&mut way, Peer(0), Header::default(), b"hello", &mut count)?;
/// }
/// while way.poll(&mut count) > 0 {}
/// assert_eq!(count.0, 40);
/// # Ok::<(), PeerLost>(())
/// ```
pub trait Transport {
    /// Name as in `CATENA_LINK` and in every report.
    fn name(&self) -> &'static str;

    /// What the route to `peer` can do. Cost: a few loads.
    fn caps(&self, peer: Peer) -> Caps;

    /// Posts one packet to `peer`; `payload` is copied before return.
    ///
    /// * Size: at most [`Caps::max_packet`] bytes.
    /// * Completion: local. `Done` does not mean delivered, and some networks
    ///   deliver only while the sender goes on polling.
    /// * Cost: O(payload); never blocks or calls back.
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone; every later call repeats it.
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost>;

    /// Receives what is there, up to a bounded number of packets; returns how
    /// many were delivered.
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize;

    /// How a message of `len` bytes to or from `peer` is best moved.
    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous;

    /// Registers memory so that `peer`, or every peer for `None`, may access it in these ways;
    /// `None` if the route cannot offer all of them, or does not take memory of that
    /// [kind](Caps::kinds). A peer that is named can use the key at once; another may have to ask
    /// for what the key stands for, by itself, when it first uses it. The registration lives until
    /// [`Transport::deregister`], and the memory must stay valid as long.
    fn register(&mut self, peer: Option<Peer>, buf: Buf, access: Access) -> Option<RemoteKey>;

    /// Ends what [`Transport::register`] began.
    fn deregister(&mut self, remote: RemoteKey);

    /// Registers memory for several operations of this process, so that it is not registered for
    /// each of them: their [`Buf`]s carry the key. `None` where operations need no registered
    /// memory, or it is refused; they go without a key then. It lives until
    /// [`Transport::deregister_local`].
    fn register_local(&mut self, _buf: Buf) -> Option<LocalKey> {
        None
    }

    /// Ends what [`Transport::register_local`] began; no operation is under way there.
    fn deregister_local(&mut self, _key: LocalKey) {}

    /// Sleeps until a packet may have arrived or `limit` has passed. May wake
    /// for no reason.
    fn sleep(&mut self, limit: Duration);
}
