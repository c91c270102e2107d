//! How each process that this one knows is reached.

use std::marker::PhantomData;
use std::ops::Range;
use std::os::fd::OwnedFd;

use catena_base::End;
use catena_fabric::{
    Access, Caps, Deliver, Header, Load, OpId, Payload, Peer, PeerLost, Posted, RemoteKey,
    Rendezvous, Rma, RmaError, Started, Transport,
};
use catena_link::{Net, RemoteKeys, Sink, Source, Tally};
use catena_shm::{Shm, ShmError};

use crate::failures::Failures;
use crate::loopback::Loopback;
use crate::networks::Networks;
use crate::peer_table::PeerTable;

/// How a peer is reached; fixed at wire-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It is this process.
    Loopback,
    /// It lives on this node and its segment is attached.
    Shm,
    /// Over a network.
    Network,
    /// There is no way to it.
    None,
}

/// The routes to every process that is known, for messages that are an `S` where they
/// are sent and go into an `R` where they are received.
///
/// # Examples
/// A process that is alone sends itself a message:
/// ```
/// use std::{cell::RefCell, rc::Rc};
/// use catena_base::PeerBytes;
/// use catena_fabric::Peer;
/// use catena_link::{Cid, Endpoint, Mode, Plane, Selector, Sent, Sink, Source};
/// use catena_net::{PeerTable, Routes};
///
/// #[derive(Debug)]
/// struct Message(&'static [u8]);
/// impl Source for Message {
///     type Part<'a> = &'a [u8];
///     fn len(&self) -> u64 {
///         self.0.len() as u64
///     }
///     fn part(&self, from: u64, len: usize) -> &[u8] {
///         &self.0[from as usize..][..len]
///     }
/// }
///
/// #[derive(Debug)]
/// struct Room(Rc<RefCell<[u8; 5]>>);
/// impl Sink for Room {
///     fn capacity(&self) -> u64 {
///         5
///     }
///     fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
///         bytes.read(&mut self.0.borrow_mut()[at as usize..][..bytes.len()]);
///     }
/// }
///
/// let me = Peer(0);
/// let peers = PeerTable::new(0, [0]);
/// let routes = Routes::<Message, Room>::new(me, peers, &[me], None, None);
/// let mut link = Endpoint::new(routes);
/// link.open(Cid(0), 0, vec![(me, Cid(0))]);
///
/// let received = Rc::new(RefCell::new([0; 5]));
/// let selector = Selector { source: 0, tag: 7 };
/// let request = link.recv(Cid(0), Plane::User, selector, Room(Rc::clone(&received)));
/// let sent = link.send(Cid(0), Plane::User, 0, 7, Mode::Standard, Message(b"hello"));
/// assert_eq!(sent, Sent::Done);
/// while !link.is_done(request) {
///     link.progress();
/// }
/// assert_eq!(link.take(request).len, 5);
/// assert_eq!(&*received.borrow(), b"hello");
/// ```
#[derive(Debug)]
pub struct Routes<S, R> {
    /// By peer.
    table: Vec<Route>,
    peers: PeerTable,
    failures: Failures,
    pub(crate) loopback: Loopback,
    pub(crate) shm: Option<Shm>,
    pub(crate) networks: Option<Box<Networks>>,
    buffers: PhantomData<fn(S) -> R>,
}

impl<S, R> Routes<S, R> {
    /// Routes of process `me` to those of its own job, `peers`: `local` are reached through `shm`, if there is
    /// any, others over `networks`.
    pub fn new(
        me: Peer,
        peers: PeerTable,
        local: &[Peer],
        shm: Option<Shm>,
        networks: Option<Box<Networks>>,
    ) -> Self {
        let far = if networks.is_some() {
            Route::Network
        } else {
            Route::None
        };
        let mut table = vec![far; peers.len()];
        if shm.is_some() {
            for peer in local {
                table[peer.0 as usize] = Route::Shm;
            }
        }
        table[me.0 as usize] = Route::Loopback;
        Routes {
            table,
            peers,
            failures: Failures::default(),
            loopback: Loopback::new(me),
            shm,
            networks,
            buffers: PhantomData,
        }
    }

    /// How `peer` is reached.
    #[inline]
    pub fn route(&self, peer: Peer) -> Route {
        self.table
            .get(peer.0 as usize)
            .copied()
            .unwrap_or(Route::None)
    }

    /// Which process each peer is.
    #[inline]
    pub fn peers(&self) -> &PeerTable {
        &self.peers
    }

    /// The table, to say which jobs this process is connected to.
    pub fn peers_mut(&mut self) -> &mut PeerTable {
        &mut self.peers
    }

    /// Who is known to have died, and which contexts were revoked.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    /// The failures, to add to them.
    pub fn failures_mut(&mut self) -> &mut Failures {
        &mut self.failures
    }

    /// Whether a peer of this process's own job shares memory with it, its segment and all
    /// that lies there, or is this process.
    pub fn shares_segment(&self, peer: Peer) -> bool {
        match self.route(peer) {
            Route::Loopback => true,
            Route::Shm => self.shm().is_some_and(|shm| shm.shares_segment(peer)),
            Route::Network | Route::None => false,
        }
    }

    /// Takes in shared memory that was attached later, as other jobs are reached through it.
    /// This process is the only one of its job there.
    ///
    /// # Panics
    /// If there is some.
    pub fn adopt(&mut self, shm: Shm) {
        assert!(self.shm.is_none(), "a process is at home in one segment");
        self.shm = Some(shm);
    }

    /// Takes in another job, whose rank `r` is on node `node_of[r]`, unless it is known.
    /// Its processes on this node are reached through `segment`, theirs; there is no way to
    /// others yet, as networks join the processes of one job.
    ///
    /// # Errors
    /// As [`Shm::attach_other`]; the job is not taken in then.
    pub fn add_job(
        &mut self,
        job: u64,
        node_of: &[u32],
        segment: Option<OwnedFd>,
    ) -> Result<(), ShmError> {
        if self.peers.peers_of(job).is_some() {
            return Ok(());
        }
        let own_job = self.peers.own_job();
        let here = self.peers.node(self.loopback.me);
        let peers = self.peers.add(job, node_of);
        let near = |peer: &Peer| self.peers.node(*peer) == here;
        let near: Vec<Peer> = peers.clone().map(Peer).filter(near).collect();
        if self.table.len() < peers.end as usize {
            self.table.resize(peers.end as usize, Route::None);
        }
        if let (Some(segment), Some(shm), false) = (segment, &mut self.shm, near.is_empty()) {
            if let Err(error) = shm.attach_other(segment, (own_job, job), &near) {
                self.remove_job(job);
                return Err(error);
            }
            for peer in near {
                self.table[peer.0 as usize] = Route::Shm;
            }
        }
        Ok(())
    }

    /// Forgets another job and lets go of its segment; gives the peers that its processes
    /// were, which others may be from now on.
    pub fn remove_job(&mut self, job: u64) -> Option<Range<u32>> {
        let peers = self.peers.remove(job)?;
        self.failures.forget_job(job);
        if let Some(shm) = &mut self.shm {
            shm.detach_other(job);
        }
        for peer in peers.clone() {
            self.table[peer as usize] = Route::None;
        }
        self.table.truncate(self.peers.len());
        Some(peers)
    }

    /// The shared-memory transport, if the node has other ranks.
    pub fn shm(&self) -> Option<&Shm> {
        self.shm.as_ref()
    }

    /// The shared-memory transport, to change it.
    pub fn shm_mut(&mut self) -> Option<&mut Shm> {
        self.shm.as_mut()
    }

    /// The networks, if shared memory does not lead everywhere.
    pub fn networks(&self) -> Option<&Networks> {
        self.networks.as_deref()
    }

    /// The networks, to change them.
    pub fn networks_mut(&mut self) -> Option<&mut Networks> {
        self.networks.as_deref_mut()
    }

    /// Messages that this process sent over networks.
    pub fn over_network(&self) -> Tally {
        self.networks().map_or_else(Tally::default, Networks::sent)
    }

    /// Messages that this process sent to itself.
    pub fn to_itself(&self) -> Tally {
        self.loopback.sent
    }
}

#[cold]
pub(crate) fn unreachable(peer: Peer) -> PeerLost {
    PeerLost {
        peer,
        cause: "no route leads there: shared memory ends at this node, and CATENA_LINK names \
            no network"
            .into(),
    }
}

/// Calls a method on what leads to a peer: a transport, the networks, or
/// nothing.
macro_rules! by_route {
    ($self:ident, $peer:expr, $t:ident => $call:expr, $n:ident => $far:expr, else $none:expr) => {
        match $self.route($peer) {
            Route::Shm => match &mut $self.shm {
                Some($t) => $call,
                None => $none,
            },
            Route::Loopback => {
                let $t = &mut $self.loopback;
                $call
            }
            Route::Network => match &mut $self.networks {
                Some($n) => $far,
                None => $none,
            },
            Route::None => $none,
        }
    };
}

impl<S: Source, R: Sink> Net for Routes<S, R> {
    type Source = S;
    type Sink = R;

    #[inline]
    fn caps(&self, peer: Peer) -> Caps {
        match (self.route(peer), &self.shm, &self.networks) {
            (Route::Shm, Some(shm), _) => shm.caps(peer),
            (Route::Network, _, Some(networks)) => networks.caps(peer),
            _ => self.loopback.caps(peer),
        }
    }

    #[inline]
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        by_route!(self, peer, t => t.try_send(peer, header, payload),
            n => n.try_send(peer, header, payload),
            else Err(unreachable(peer)))
    }

    #[inline(always)]
    fn is_silent(&self) -> bool {
        self.loopback.is_silent()
            && self.shm.as_ref().is_none_or(Shm::is_silent)
            && self.networks.is_none()
    }

    #[inline]
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        let mut moved = 0;
        if let Some(shm) = &mut self.shm {
            moved += shm.poll(deliver);
        }
        if !self.loopback.is_silent() {
            moved += self.loopback.poll(deliver);
        }
        if let Some(networks) = &mut self.networks {
            moved += networks.poll_beside(self.shm.is_some(), deliver);
        }
        moved
    }

    #[inline]
    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        match (self.route(peer), &self.shm, &self.networks) {
            (Route::Shm, Some(shm), _) => shm.rendezvous(peer, len, load),
            (Route::Network, _, Some(networks)) => networks.rendezvous(peer, len, load),
            _ => self.loopback.rendezvous(peer, len, load),
        }
    }

    fn announces(&mut self, peer: Peer, len: u64) -> bool {
        match (self.route(peer), &mut self.shm) {
            (Route::Shm, Some(shm)) => shm.announces(peer, len),
            _ => false,
        }
    }

    fn register(&mut self, peer: Peer, source: &S) -> Option<RemoteKeys> {
        let (at, len) = (source.contiguous()?.cast_mut(), source.len());
        by_route!(self, peer, t => t.register(Some(peer), at, len, Access::READ).map(RemoteKeys::from),
            n => n.register(peer, at, len), else None)
    }

    fn deregister(&mut self, peer: Peer, registered: RemoteKeys) {
        by_route!(self, peer, t => t.deregister(registered.first()),
            n => n.deregister(peer, registered), else ());
    }

    fn piece(&self, peer: Peer) -> u64 {
        let caps = match (self.route(peer), &self.shm) {
            (Route::Shm, Some(shm)) => shm.rma_caps(peer),
            (Route::Loopback, _) => self.loopback.rma_caps(peer),
            // Networks cut what is long.
            _ => return u64::MAX,
        };
        caps.piece as u64
    }

    fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        registered: RemoteKeys,
        sink: &mut R,
        at: u64,
        len: u64,
    ) -> Result<Started, RmaError> {
        let end = at.checked_add(len).filter(|&end| end <= sink.capacity());
        let (Some(base), Some(_)) = (sink.contiguous(), end) else {
            return Err(RmaError::Unsupported);
        };
        let into = (base.wrapping_add(at as usize), len as usize);
        // SAFETY: `[at, at + len)` is within the room that the program lends until the end of the
        // operation.
        unsafe { Routes::get(self, op, peer, into, registered.at(at)) }
    }

    fn register_writable(&mut self, peer: Peer, sink: &mut R) -> Option<RemoteKey> {
        let (at, len) = (sink.contiguous()?, sink.capacity());
        by_route!(self, peer, t => t.register(Some(peer), at, len, Access::WRITE), _n => None, else None)
    }

    fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        source: &S,
        remote: RemoteKey,
        at: u64,
        len: u64,
    ) -> Result<Started, RmaError> {
        let end = at.checked_add(len).filter(|&end| end <= source.len());
        let (Some(base), Some(_)) = (source.contiguous(), end) else {
            return Err(RmaError::Unsupported);
        };
        let from = (base.wrapping_add(at as usize), len as usize);
        let to = RemoteKeys::from(remote).at(at);
        // SAFETY: `[at, at + len)` is within the message that the program lends until the end of the
        // operation.
        unsafe { Routes::put(self, op, peer, from, to) }
    }

    fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        Routes::flush(self, op, peer)
    }

    fn open_parts(&mut self, peer: Peer) -> u32 {
        by_route!(self, peer, t => t.open_parts(peer), _n => 0, else 0)
    }

    fn take_part(&mut self, peer: Peer, end: End, number: u32, parts: u32) -> Option<u32> {
        by_route!(self, peer, t => t.take_part(peer, end, number, parts), _n => None,
            else None)
    }
}

#[cfg(test)]
mod tests {
    use catena_base::PeerBytes;
    use catena_fabric::{OpId, ProcessName, RmaError};
    use catena_shm::{Config, create_segment};

    use super::*;

    /// No program sends anything here.
    #[derive(Debug)]
    enum Nothing {}

    impl Source for Nothing {
        type Part<'a> = &'a [u8];
        fn len(&self) -> u64 {
            match *self {}
        }
        fn part(&self, _from: u64, _len: usize) -> &[u8] {
            match *self {}
        }
    }

    impl Sink for Nothing {
        fn capacity(&self) -> u64 {
            match *self {}
        }
        fn place(&mut self, _at: u64, _bytes: PeerBytes<'_>) {
            match *self {}
        }
    }

    /// What was delivered, and from whom.
    #[derive(Debug, Default)]
    struct Got(Vec<(Peer, i32)>);

    impl Deliver for Got {
        fn deliver(&mut self, from: Peer, header: Header, _payload: PeerBytes<'_>) {
            self.0.push((from, header.tag));
        }
        fn lost(&mut self, lost: PeerLost) {
            panic!("{lost:?}");
        }
        fn completed(&mut self, op: OpId, outcome: Result<u64, RmaError>) {
            panic!("{op:?}: {outcome:?}");
        }
    }

    type Own = Routes<Nothing, Nothing>;

    #[test]
    fn a_process_meets_another_job_on_its_node() {
        // A process that is alone in its job, and rank 1 of a job that has rank 0 elsewhere.
        let fds = [(); 2].map(|()| create_segment().expect("a file"));
        let shm = |at: usize, peer| {
            let fd = fds[at].try_clone().expect("a descriptor");
            Shm::attach_with(fd, 0, &[peer], Config::tiny()).expect("a segment")
        };
        let mut one = Own::new(Peer(0), PeerTable::new(10, [4]), &[Peer(0)], None, None);
        one.adopt(shm(0, Peer(0)));
        let table = PeerTable::new(11, [3, 4]);
        let mut two = Own::new(Peer(1), table, &[Peer(1)], Some(shm(1, Peer(1))), None);
        let [of_one, of_two] = fds;
        one.add_job(11, &[3, 4], Some(of_two))
            .expect("the other job");
        two.add_job(10, &[4], Some(of_one)).expect("the other job");
        one.add_job(11, &[3, 4], None).expect("it is known");

        let name = |job, rank| ProcessName { job, rank };
        assert_eq!(one.peers().peer(name(11, 1)), Some(Peer(2)));
        assert_eq!(
            [one.route(Peer(1)), one.route(Peer(2)), two.route(Peer(2))],
            [Route::None, Route::Shm, Route::Shm]
        );
        assert!(one.shares_segment(Peer(0)) && !one.shares_segment(Peer(2)));
        let header = |tag| Header {
            tag,
            ..Header::default()
        };
        let mut got = Got::default();
        let sent = one.try_send(Peer(2), header(7), [].as_slice());
        assert_eq!(sent, Ok(Posted::Done));
        let sent = two.try_send(Peer(2), header(8), [].as_slice());
        assert_eq!(sent, Ok(Posted::Done));
        while one.poll(&mut got) + two.poll(&mut got) > 0 {}
        got.0.sort_unstable();
        assert_eq!(got.0, [(Peer(2), 7), (Peer(2), 8)]);

        assert_eq!(one.remove_job(11), Some(1..3));
        assert_eq!(one.route(Peer(2)), Route::None);
        let lost = one.try_send(Peer(2), header(9), [].as_slice());
        assert!(lost.is_err());
    }
}
