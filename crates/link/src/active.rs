//! Active messages: packets that go to a handler instead of being matched, for windows, files and
//! control. The same handler is told of the operations on peers' memory that its class has started.
//!
//! * **Class.** Each packet names one of [`CLASSES`] classes, whose handler takes it.
//! * **Size.** One packet: a route may carry as little as 16 bytes in it, see
//!   [`Endpoint::max_active`](crate::Endpoint::max_active).
//! * **Order.** None is promised, neither among active messages nor between them and matched ones,
//!   as routes may be unordered. A user that needs order numbers its packets.
//! * **Back-pressure.** A packet leaves at once or not at all: nothing is queued here.
//! * **Loss.** Each packet arrives once unless its peer is lost, of which every handler is told.

use std::fmt::Debug;
use std::ops::Range;

use catena_base::PeerBytes;
use catena_fabric::{Header, OpId, Peer, PeerLost, RmaError};

use crate::wire::kind;

/// How many classes of active messages there are.
pub const CLASSES: usize = 8;

/// Which handler an active message is for; less than [`CLASSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class(pub u8);

/// What an active message says in its header. All but the class belongs to the user of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveHeader {
    /// Which handler it is for.
    pub class: Class,
    /// Which object of the receiver it is about, say.
    pub context: u32,
    /// What it asks for, say.
    pub what: i32,
    /// An argument.
    pub argument: u64,
}

impl ActiveHeader {
    pub(crate) fn encode(self) -> Header {
        Header {
            kind: kind::ACTIVE,
            context: self.context,
            source: self.class.0.into(),
            tag: self.what,
            len: self.argument,
            ..Header::default()
        }
    }

    fn decode(header: &Header) -> Option<ActiveHeader> {
        let class = u8::try_from(header.source).ok()?;
        Some(ActiveHeader {
            class: Class(class),
            context: header.context,
            what: header.tag,
            argument: header.len,
        })
    }
}

/// Takes the active messages of one class.
///
/// # Examples
/// One that counts what comes from each peer:
/// ```
/// use std::collections::HashMap;
/// use std::ops::Range;
///
/// use catena_base::PeerBytes;
/// use catena_fabric::{Peer, PeerLost};
/// use catena_link::{ActiveHeader, Class, Handler};
///
/// #[derive(Debug, Default)]
/// struct Counter(HashMap<Peer, u64>);
///
/// impl Handler for Counter {
///     fn deliver(&mut self, from: Peer, _: ActiveHeader, payload: PeerBytes<'_>) {
///         *self.0.entry(from).or_default() += payload.len() as u64;
///     }
///     fn lost(&mut self, lost: &PeerLost) {
///         self.0.remove(&lost.peer);
///     }
///     fn forget(&mut self, peers: &Range<u32>) {
///         self.0.retain(|peer, _| !peers.contains(&peer.0));
///     }
/// }
///
/// let (mut counter, class) = (Counter::default(), Class(0));
/// let header = ActiveHeader { class, context: 0, what: 1, argument: 0 };
/// counter.deliver(Peer(1), header, PeerBytes::from(&b"hello"[..]));
/// counter.forget(&(1..2));
/// assert!(counter.0.is_empty());
/// ```
pub trait Handler: Debug + Send {
    /// Takes one. `payload` is only there during the call; nothing in it can be trusted.
    ///
    /// The call comes from within a poll, so it cannot call the endpoint; what is to be sent in
    /// answer the handler keeps for its owner.
    fn deliver(&mut self, from: Peer, header: ActiveHeader, payload: PeerBytes<'_>);

    /// Learns that a peer is gone.
    fn lost(&mut self, lost: &PeerLost);

    /// Forgets all that it knows of some peers: from now on these numbers are those of other
    /// processes, which have sent nothing yet, and to which nothing has been sent. There is no
    /// default, as what has come from peers is kept by peer.
    fn forget(&mut self, peers: &Range<u32>);

    /// Learns how operation `number` on a peer's memory has ended, whose id says that it is this
    /// class's: see [`OpId::new`]. The value is the former word of a fetching atomic, else 0. Each
    /// operation that is under way is told once.
    ///
    /// The call comes from within a poll, as that of [`Handler::deliver`].
    fn completed(&mut self, _number: u64, _result: Result<u64, RmaError>) {}
}

/// The handlers of all classes. They stand apart: the engine that holds them keeps what each
/// matched message needs close together.
#[derive(Debug, Default)]
pub(crate) struct Handlers(Box<[Option<Box<dyn Handler>>; CLASSES]>);

impl Handlers {
    /// Sets the handler of a class, and gives back the one before.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn set(
        &mut self,
        class: Class,
        handler: Option<Box<dyn Handler>>,
    ) -> Option<Box<dyn Handler>> {
        std::mem::replace(&mut self.0[usize::from(class.0)], handler)
    }

    /// Hands a packet to its handler; `false` if there is none.
    pub fn deliver(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        let header = ActiveHeader::decode(header);
        let handler = header.and_then(|it| self.0.get_mut(usize::from(it.class.0))?.as_deref_mut());
        if let (Some(header), Some(handler)) = (header, handler) {
            handler.deliver(from, header, payload);
            return true;
        }
        false
    }

    /// Tells the handler of a class that an operation of its has ended.
    pub fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        let handler = self.0.get_mut(usize::from(op.owner()));
        if let Some(handler) = handler.and_then(|it| it.as_deref_mut()) {
            handler.completed(op.number(), result);
        }
    }

    /// Tells all handlers that peers are other processes from now on.
    pub fn forget(&mut self, peers: &Range<u32>) {
        for handler in self.0.iter_mut().flatten() {
            handler.forget(peers);
        }
    }

    /// Tells all handlers that a peer is gone.
    pub fn lost(&mut self, lost: &PeerLost) {
        for handler in self.0.iter_mut().flatten() {
            handler.lost(lost);
        }
    }
}
