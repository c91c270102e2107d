//! How each process that this one knows is reached.

mod looks;

use std::marker::PhantomData;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::Duration;

use catena_base::End;
use catena_fabric::{
    Access, Buf, Caps, Deliver, Header, Load, Moved, NodeLocal, OpId, Payload, Peer, PeerLost,
    Posted, RemoteKey, Rendezvous, Rma, RmaError, Started, Transport,
};
use catena_link::{Net, RemoteKeys, Sink, Source, Tally};
use catena_shm::{Shm, ShmError};

use crate::alone::Alone;
use crate::bridge::{Bridge, Pair};
use crate::failures::Failures;
use crate::guests::Looks;
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
/// struct Buffer(Rc<RefCell<[u8; 5]>>);
/// impl Sink for Buffer {
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
/// let routes = Routes::<Message, Buffer>::new(me, peers, &[me], None, None);
/// let mut link = Endpoint::new(routes);
/// link.open(Cid(0), 0, vec![(me, Cid(0))]);
///
/// let received = Rc::new(RefCell::new([0; 5]));
/// let selector = Selector { source: 0, tag: 7 };
/// let request = link.recv(Cid(0), Plane::User, selector, Buffer(Rc::clone(&received)));
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
    pub(crate) table: Vec<Route>,
    pub(crate) peers: PeerTable,
    pub(crate) failures: Failures,
    pub(crate) loopback: Loopback,
    pub(crate) shm: Option<Shm>,
    /// To the other processes of this process's own job.
    pub(crate) networks: Option<Box<Networks>>,
    /// To those of other jobs.
    pub(crate) bridges: Vec<Bridge>,
    /// Of a process that is alone, and adds others.
    pub(crate) alone: Option<Box<Alone>>,
    /// When to look at processes of other jobs in shared memory next.
    guest_looks: Looks,
    /// Whether this process has said since it began to leave that it stays.
    pub(crate) stays: bool,
    buffers: PhantomData<fn(S) -> R>,
}

impl<S, R> Routes<S, R> {
    /// Routes of process `me` to those of its own job, `peers`: `local` are reached through `shm`,
    /// if there is any, others over `networks`.
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
            bridges: Vec::new(),
            alone: None,
            guest_looks: Looks::new(),
            stays: false,
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

    /// A peer is reached so from now on.
    pub(crate) fn set_route(&mut self, peer: Peer, route: Route) {
        self.table[peer.0 as usize] = route;
    }

    /// Which process each peer is.
    #[inline]
    pub fn peers(&self) -> &PeerTable {
        &self.peers
    }

    /// This process is connected to a job or not, from now on; whether that is new. What is known
    /// of the job stays; where it has parted nobody misses its processes.
    pub fn set_connected(&mut self, job: u64, connected: bool) -> bool {
        let bridges = self.bridges.iter_mut().filter(|bridge| bridge.job == job);
        bridges.for_each(|bridge| bridge.set_connected(connected));
        self.peers.set_connected(job, connected)
    }

    /// Who is known to have died, and which contexts were revoked.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    /// The failures, to add to them.
    pub fn failures_mut(&mut self) -> &mut Failures {
        &mut self.failures
    }

    /// The shared memory by which a peer is reached.
    #[inline]
    fn near(&self, peer: Peer) -> Option<&Shm> {
        self.shm.as_ref().filter(|_| self.route(peer) == Route::Shm)
    }

    #[inline]
    fn near_mut(&mut self, peer: Peer) -> Option<&mut Shm> {
        let is_near = self.route(peer) == Route::Shm;
        self.shm.as_mut().filter(|_| is_near)
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
    /// Its processes on this node are reached through `segment`, theirs, and all others over
    /// `far`, the networks that join the two jobs.
    ///
    /// # Errors
    /// As [`Shm::attach_other`]; the job is not taken in then.
    pub fn add_job(
        &mut self,
        job: u64,
        node_of: &[u32],
        segment: Option<OwnedFd>,
        far: Option<(Pair, Box<Networks>)>,
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
        if let Some((pair, networks)) = far {
            self.table[peers.start as usize..peers.end as usize].fill(Route::Network);
            let bridge = Bridge::new(job, peers.clone(), &pair, networks);
            self.bridges.push(bridge);
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
        self.bridges.retain(|bridge| bridge.job != job);
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

    /// Whether this process has networks: where shared memory does not lead everywhere.
    #[inline]
    pub fn has_networks(&self) -> bool {
        self.networks.is_some() || !self.bridges.is_empty()
    }

    /// The networks, those to other jobs last.
    pub fn networks(&self) -> impl Iterator<Item = &Networks> {
        let others = self.bridges.iter().map(|bridge| &*bridge.networks);
        self.networks.as_deref().into_iter().chain(others)
    }

    /// The networks, to change them.
    pub fn networks_mut(&mut self) -> impl Iterator<Item = &mut Networks> {
        let others = self.bridges.iter_mut().map(|bridge| &mut *bridge.networks);
        self.networks.as_deref_mut().into_iter().chain(others)
    }

    /// The networks to a peer whose route they are, and its number there.
    #[inline]
    pub(crate) fn far(&self, peer: Peer) -> Option<(&Networks, Peer)> {
        if self.bridges.is_empty() || self.peers.is_own(peer) {
            return Some((self.networks.as_deref()?, peer));
        }
        let bridge = self.bridges.iter().find(|it| it.peers.contains(&peer.0))?;
        Some((&bridge.networks, bridge.number(peer)))
    }

    /// As [`Routes::far`], to use them.
    #[inline]
    pub(crate) fn far_mut(&mut self, peer: Peer) -> Option<(&mut Networks, Peer)> {
        if self.bridges.is_empty() || self.peers.is_own(peer) {
            return Some((self.networks.as_deref_mut()?, peer));
        }
        let mut bridges = self.bridges.iter_mut();
        let bridge = bridges.find(|it| it.peers.contains(&peer.0))?;
        let number = bridge.number(peer);
        Some((&mut bridge.networks, number))
    }

    /// Messages that this process sent over networks.
    pub fn over_network(&self) -> Tally {
        let mut all = Tally::default();
        for networks in self.networks() {
            let sent = networks.sent();
            all.messages += sent.messages;
            all.bytes += sent.bytes;
        }
        all
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
    ($self:ident, $peer:expr, $t:ident => $call:expr, $n:ident, $at:ident => $far:expr,
        else $none:expr) => {
        match $self.route($peer) {
            Route::Shm => match &mut $self.shm {
                Some($t) => $call,
                None => $none,
            },
            Route::Loopback => {
                let $t = &mut $self.loopback;
                $call
            }
            Route::Network => match $self.far_mut($peer) {
                Some(($n, $at)) => $far,
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
        match (self.route(peer), &self.shm) {
            (Route::Shm, Some(shm)) => shm.caps(peer),
            (Route::Network, _) => match self.far(peer) {
                Some((networks, at)) => networks.caps(at),
                None => self.loopback.caps(peer),
            },
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
            n, at => n.try_send(at, header, payload).map_err(|lost| PeerLost { peer, ..lost }),
            else Err(unreachable(peer)))
    }

    #[inline(always)]
    fn is_silent(&self) -> bool {
        self.loopback.is_silent()
            && self.shm.as_ref().is_none_or(Shm::is_silent)
            && !self.has_networks()
            && !self.has_guests()
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
        let beside = self.shm.is_some() || self.networks.is_some();
        for bridge in &mut self.bridges {
            moved += bridge.poll_beside(beside, deliver);
        }
        moved
    }

    fn is_behind(&self, peer: Peer) -> bool {
        self.near(peer).is_some_and(|shm| shm.is_behind(peer))
    }

    fn crosses_network(&self, peer: Peer) -> bool {
        self.route(peer) == Route::Network
    }

    fn sends(&self, peer: Peer) -> bool {
        self.near(peer).is_some_and(|shm| shm.sends(peer))
    }

    #[inline]
    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        match (self.route(peer), &self.shm) {
            (Route::Shm, Some(shm)) => shm.rendezvous(peer, len, load),
            (Route::Network, _) => match self.far(peer) {
                Some((networks, at)) => networks.rendezvous(at, len, load),
                None => self.loopback.rendezvous(peer, len, load),
            },
            _ => self.loopback.rendezvous(peer, len, load),
        }
    }

    fn streams(&mut self, peer: Peer, len: u64) -> bool {
        self.near_mut(peer).is_some_and(|it| it.streams(peer, len))
    }

    fn moved(&mut self, peer: Peer, moved: Moved) {
        if let (Route::Shm, Some(shm)) = (self.route(peer), &mut self.shm) {
            shm.moved(peer, moved);
        }
    }

    fn asked(&mut self, peer: Peer, len: u64, streamed: bool) {
        if let (Route::Shm, Some(shm)) = (self.route(peer), &mut self.shm) {
            shm.asked(peer, len, streamed);
        }
    }

    fn register(&mut self, peer: Peer, source: &S) -> Option<RemoteKeys> {
        let buf = source.run()?;
        by_route!(self, peer, t => t.register(Some(peer), buf, Access::READ).map(RemoteKeys::from),
            n, there => n.register(there, buf), else None)
    }

    fn is_elsewhere(&self, peer: Peer, registered: &RemoteKeys) -> bool {
        matches!(self.route(peer), Route::Shm) && Shm::is_elsewhere(registered.first())
    }

    fn deregister(&mut self, peer: Peer, registered: RemoteKeys) {
        by_route!(self, peer, t => t.deregister(registered.first()),
            n, at => n.deregister(at, registered), else ());
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
        let into = sink.run().and_then(|run| part(run, at, len));
        let into = self.taken(peer, into)?;
        // SAFETY: `[at, at + len)` is within the room that the program lends until the end of the
        // operation.
        unsafe { Routes::get(self, op, peer, into, registered.at(at)) }
    }

    fn register_writable(&mut self, peer: Peer, sink: &mut R, len: u64) -> Option<RemoteKey> {
        let buf = part(sink.run()?, 0, len)?;
        by_route!(self, peer, t => t.register(Some(peer), buf, Access::WRITE), _n, _at => None,
            else None)
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
        let from = source.run().and_then(|run| part(run, at, len));
        let from = self.taken(peer, from)?;
        let to = RemoteKeys::from(remote).at(at);
        // SAFETY: `[at, at + len)` is within the message that the program lends until the end of
        // the operation.
        unsafe { Routes::put(self, op, peer, from, to) }
    }

    fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        Routes::flush(self, op, peer)
    }

    fn lends(&mut self, peer: Peer, len: u64, under_way: usize) -> bool {
        self.near_mut(peer)
            .is_some_and(|shm| shm.lends(peer, len, under_way))
    }

    fn came(&mut self, peer: Peer, len: u64, is_lent: bool) {
        if let Some(shm) = self.near_mut(peer) {
            shm.came(peer, len, is_lent);
        }
    }

    fn patience(&mut self) -> Duration {
        self.shm.as_mut().map_or(Duration::ZERO, Shm::patience)
    }

    fn open_claim(&mut self, id: u64) -> bool {
        self.shm.as_mut().is_some_and(|shm| shm.open_claim(id))
    }

    fn take_claim(&mut self, owner: Option<Peer>, id: u64) -> bool {
        let is_near = owner.is_none_or(|peer| self.route(peer) == Route::Shm);
        let shm = self.shm.as_mut().filter(|_| is_near);
        shm.is_some_and(|shm| shm.take_claim(owner, id))
    }

    fn call(&self, peer: Peer, softly: bool) {
        if let Some(shm) = self.near(peer) {
            shm.call(peer, softly);
        }
    }

    fn is_away(&self, peer: Peer) -> bool {
        self.near(peer).is_some_and(|shm| shm.is_away(peer))
    }

    fn open_parts(&mut self, peer: Peer) -> u32 {
        self.near_mut(peer).map_or(0, |shm| shm.open_parts(peer))
    }

    fn take_part(&mut self, peer: Peer, end: End, number: u32, parts: u32) -> Option<u32> {
        self.near_mut(peer)?.take_part(peer, end, number, parts)
    }
}

impl<S: Source, R: Sink> Routes<S, R> {
    /// Memory, if there is any and the way to a peer takes that kind.
    fn taken(&self, peer: Peer, buf: Option<Buf>) -> Result<Buf, RmaError> {
        let buf = buf.ok_or(RmaError::Unsupported)?;
        match buf.kind.is_host() || self.caps(peer).kinds.has(buf.kind) {
            true => Ok(buf),
            false => Err(RmaError::Memory(buf.kind)),
        }
    }
}

/// `[at, at + len)` of memory, if it is within.
fn part(run: Buf, at: u64, len: u64) -> Option<Buf> {
    let (at, len) = (usize::try_from(at).ok()?, usize::try_from(len).ok()?);
    let end = at.checked_add(len)?;
    (end <= run.len).then(|| run.slice(at, len))
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
        one.add_job(11, &[3, 4], Some(of_two), None)
            .expect("the other job");
        two.add_job(10, &[4], Some(of_one), None)
            .expect("the other job");
        one.add_job(11, &[3, 4], None, None).expect("it is known");

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
