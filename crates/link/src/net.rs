//! What the engine needs from below: the union of all routes, and the user's
//! buffers. The crate `net` is that union over real transports, `core` has the
//! buffers of MPI; the tests have the simulator and vectors.

use std::fmt::Debug;
use std::time::Duration;

use catena_base::{End, PeerBytes};
pub use catena_compress::{Bound, Element, Error as Damage};
use catena_fabric::{
    Buf, Caps, Deliver, Header, Load, Moved, OpId, Payload, Peer, PeerLost, Posted, RemoteKey,
    Rendezvous, RmaError, Started,
};

/// What a message consists of, and how exact each number of it has to arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// The predefined type of all its elements, or bytes.
    pub element: Element,
    /// Counts for floating-point elements.
    pub bound: Bound,
}

/// A message to send: knows its length and can produce any part of it.
///
/// # Examples
/// A message that lies in one run:
/// ```
/// use catena_fabric::Buf;
/// use catena_link::Source;
///
/// #[derive(Debug)]
/// struct Message(Box<[u8]>);
///
/// impl Source for Message {
///     type Part<'a> = &'a [u8];
///
///     fn len(&self) -> u64 {
///         self.0.len() as u64
///     }
///     fn part(&self, from: u64, len: usize) -> &[u8] {
///         &self.0[from as usize..][..len]
///     }
///     fn run(&self) -> Option<Buf> {
///         Some(Buf::from(&*self.0))
///     }
/// }
///
/// assert_eq!(Message((*b"hello").into()).part(1, 3), b"ell");
/// ```
pub trait Source: Debug {
    /// A part of the message on its way out.
    type Part<'a>: Payload
    where
        Self: 'a;

    /// Length of the packed message in bytes.
    fn len(&self) -> u64;

    /// Whether it has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes `[from, from + len)` of the packed message.
    fn part(&self, from: u64, len: usize) -> Self::Part<'_>;

    /// Where the message lies, if it is one run of bytes that others may read there, in memory of
    /// whichever kind: routes that do not take that kind get parts.
    fn run(&self) -> Option<Buf> {
        None
    }

    /// What its user says of it to the receiver's user beside its envelope, if anything, where
    /// [messages have seals](crate::Endpoint::seal_messages).
    fn seal(&self) -> u32 {
        0
    }

    /// What the message consists of, and how exact it has to arrive, if it may be compressed where
    /// [messages are](crate::Endpoint::compress_messages).
    fn numbers(&self) -> Option<Numbers> {
        None
    }
}

/// Room for a message to receive.
///
/// # Examples
/// A vector that grows with what comes:
/// ```
/// use catena_base::PeerBytes;
/// use catena_link::Sink;
///
/// #[derive(Debug, Default)]
/// struct Growing(Vec<u8>);
///
/// impl Sink for Growing {
///     fn capacity(&self) -> u64 {
///         1 << 20
///     }
///     fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
///         let (at, end) = (at as usize, at as usize + bytes.len());
///         if end <= 1 << 20 {
///             self.0.resize(self.0.len().max(end), 0);
///             bytes.read(&mut self.0[at..end]);
///         }
///     }
/// }
///
/// let mut room = Growing::default();
/// room.place(5, PeerBytes::from(&b" there"[..]));
/// room.place(0, PeerBytes::from(&b"hello"[..]));
/// assert_eq!(room.0, b"hello there");
/// ```
pub trait Sink: Debug {
    /// Bytes that it can take, packed.
    fn capacity(&self) -> u64;

    /// Places `bytes` at offset `at` of the packed message. Bytes beyond the
    /// capacity are dropped.
    fn place(&mut self, at: u64, bytes: PeerBytes<'_>);

    /// Places one of several parts of a message, which come in any order; the last one that comes
    /// says so. What was placed before may be stored as late as then.
    fn place_part(&mut self, at: u64, bytes: PeerBytes<'_>, is_last: bool) {
        let _ = is_last;
        self.place(at, bytes);
    }

    /// It has been matched with a message that has a [seal](Source::seal), from that rank, of `len`
    /// bytes. Called before anything is placed, from within a delivery: it calls nothing of the
    /// engine.
    fn check_seal(&self, _seal: u32, _source: u32, _len: u64) {}

    /// Where the room lies, if it is one run of bytes that others may write there, in memory of
    /// whichever kind; see [`Source::run`].
    fn run(&mut self) -> Option<Buf> {
        None
    }
}

pub use catena_fabric::RAILS;

/// Where a whole message lies in its sender's memory, and the key by which each
/// rail of the route reads it.
///
/// # Examples
/// ```
/// use catena_fabric::RemoteKey;
/// use catena_link::RemoteKeys;
///
/// let keys = RemoteKeys { addr: 0x1000, key: 7, more: [8, 0, 0] };
/// assert_eq!(keys.at(0x20).on(1), Some(RemoteKey { addr: 0x1020, key: 8 }));
/// assert_eq!(keys.on(2), None, "that rail does not read it");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteKeys {
    /// As in [`RemoteKey`], on every rail.
    pub addr: u64,
    /// Key of the first rail.
    pub key: u64,
    /// Keys of the others; 0 for one that does not read it.
    pub more: [u64; RAILS - 1],
}

impl RemoteKeys {
    /// The message on rail `number`, if that reads it.
    #[inline]
    pub fn on(&self, number: usize) -> Option<RemoteKey> {
        let key = match number.checked_sub(1) {
            None => self.key,
            Some(other) => *self.more.get(other).filter(|&&key| key != 0)?,
        };
        Some(RemoteKey {
            addr: self.addr,
            key,
        })
    }

    /// The message from that byte on.
    #[inline]
    #[must_use]
    pub fn at(self, byte: u64) -> RemoteKeys {
        RemoteKeys {
            addr: self.addr.wrapping_add(byte),
            ..self
        }
    }

    /// The message on the first rail.
    #[inline]
    pub fn first(&self) -> RemoteKey {
        RemoteKey {
            addr: self.addr,
            key: self.key,
        }
    }
}

impl From<RemoteKey> for RemoteKeys {
    #[inline]
    fn from(RemoteKey { addr, key }: RemoteKey) -> RemoteKeys {
        RemoteKeys {
            addr,
            key,
            ..RemoteKeys::default()
        }
    }
}

/// All routes of this process, seen as one.
///
/// # Examples
/// `Routes` of `catena_net` is the one of real transports. What uses any is generic, as the
/// endpoint itself:
/// ```
/// use catena_link::{Cid, Endpoint, Mode, Net, Plane, Sent};
///
/// /// Sends a message to a rank, and waits until it has left.
/// fn send<N: Net>(link: &mut Endpoint<N>, to: u32, tag: i32, message: N::Source) {
///     if let Sent::Pending(request) = link.send(Cid(0), Plane::User, to, tag, Mode::Standard, message) {
///         while !link.is_done(request) {
///             link.progress();
///         }
///         link.take(request);
///     }
/// }
/// ```
pub trait Net {
    /// Messages going out.
    type Source: Source;
    /// Room for messages coming in.
    type Sink: Sink;

    /// Bits of the numbers in which packets to one rank of a communicator are handled, 3 to 16. All
    /// processes that talk to each other have the same. Tests have fewer, so that they wrap.
    const SEQUENCE_BITS: u32 = 16;

    /// See [`catena_fabric::Transport::caps`].
    fn caps(&self, peer: Peer) -> Caps;

    /// See [`catena_fabric::NodeLocal::is_behind`].
    fn is_behind(&self, _peer: Peer) -> bool {
        false
    }

    /// See [`catena_fabric::NodeLocal::sends`].
    fn sends(&self, _peer: Peer) -> bool {
        false
    }

    /// See [`catena_fabric::Transport::try_send`].
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone.
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost>;

    /// Whether a poll would find nothing, told by a few loads; `false` if that
    /// cannot be told so cheaply.
    fn is_silent(&self) -> bool {
        false
    }

    /// See [`catena_fabric::Transport::poll`]; polls every route.
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize;

    /// See [`catena_fabric::Transport::rendezvous`].
    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous;

    /// Whether messages from a peer cross a network, which they may be compressed for.
    fn crosses_network(&self, _peer: Peer) -> bool {
        false
    }

    /// See [`catena_fabric::NodeLocal::streams`].
    fn streams(&mut self, _peer: Peer, _len: u64) -> bool {
        false
    }

    /// See [`catena_fabric::NodeLocal::moved`].
    fn moved(&mut self, _peer: Peer, _moved: Moved) {}

    /// See [`catena_fabric::NodeLocal::asked`].
    fn asked(&mut self, _peer: Peer, _len: u64, _streamed: bool) {}

    /// Registers a whole message for remote reads, if it is [one run](Source::run) and the route
    /// can read it.
    fn register(&mut self, peer: Peer, source: &Self::Source) -> Option<RemoteKeys>;

    /// Whether what a peer has registered is memory of another kind than the host's: it is read as
    /// a whole, and only that is quick.
    fn is_elsewhere(&self, _peer: Peer, _registered: &RemoteKeys) -> bool {
        false
    }

    /// Ends what [`Net::register`] or [`Net::register_writable`] began.
    fn deregister(&mut self, peer: Peer, registered: RemoteKeys);

    /// Bytes of one read or write, at most: a call that copies must not take long.
    fn piece(&self, _peer: Peer) -> u64 {
        u64::MAX
    }

    /// Starts to read message bytes `[at, at + len)` of `registered` into `sink` at `at`. The sink
    /// stays where it is until the operation has ended.
    ///
    /// # Errors
    /// See [`RmaError`]; among them if the sink is not [one run](Sink::run) or the route cannot
    /// read.
    fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        registered: RemoteKeys,
        sink: &mut Self::Sink,
        at: u64,
        len: u64,
    ) -> Result<Started, RmaError>;

    /// Registers room for the first `len` bytes of a message for remote writes, if it lies in
    /// [one run](Sink::run) that is as long, and the route can write there.
    fn register_writable(
        &mut self,
        _peer: Peer,
        _sink: &mut Self::Sink,
        _len: u64,
    ) -> Option<RemoteKey> {
        None
    }

    /// Starts to write message bytes `[at, at + len)` into `remote` at `at`. The source stays as it
    /// is until the operation has ended.
    ///
    /// # Errors
    /// See [`RmaError`]; among them if the source is not [one run](Source::run) or the route cannot
    /// write.
    fn put(
        &mut self,
        _op: OpId,
        _peer: Peer,
        _source: &Self::Source,
        _remote: RemoteKey,
        _at: u64,
        _len: u64,
    ) -> Result<Started, RmaError> {
        Err(RmaError::Unsupported)
    }

    /// See [`catena_fabric::Rma::flush`].
    ///
    /// # Errors
    /// See [`RmaError`].
    fn flush(&mut self, _op: OpId, _peer: Peer) -> Result<Started, RmaError> {
        Err(RmaError::Unsupported)
    }

    /// See [`catena_fabric::NodeLocal::lends`].
    fn lends(&mut self, _peer: Peer, _len: u64, _under_way: usize) -> bool {
        false
    }

    /// See [`catena_fabric::NodeLocal::came`].
    fn came(&mut self, _peer: Peer, _len: u64, _is_lent: bool) {}

    /// See [`catena_fabric::NodeLocal::patience`].
    fn patience(&mut self) -> Duration {
        Duration::ZERO
    }

    /// See [`catena_fabric::NodeLocal::open_claim`].
    fn open_claim(&mut self, _id: u64) -> bool {
        false
    }

    /// See [`catena_fabric::NodeLocal::take_claim`].
    fn take_claim(&mut self, _owner: Option<Peer>, _id: u64) -> bool {
        false
    }

    /// Calls a peer, for which something has left that has to be acted on though its program may
    /// compute. `softly` for what takes hardly longer than to wake somebody: a peer that has just
    /// left the library looks for it by itself, a while later.
    fn call(&self, _peer: Peer, _softly: bool) {}

    /// Whether the program of a peer computes, as far as that is known.
    fn is_away(&self, _peer: Peer) -> bool {
        false
    }

    /// See [`catena_fabric::NodeLocal::open_parts`].
    fn open_parts(&mut self, _peer: Peer) -> u32 {
        0
    }

    /// See [`catena_fabric::NodeLocal::take_part`].
    fn take_part(&mut self, _peer: Peer, _end: End, _number: u32, _parts: u32) -> Option<u32> {
        None
    }
}
