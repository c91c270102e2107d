//! The calls of those above: everything that needs both the engine and the [`Net`].

mod active;
mod cancel;
mod completed;
mod lending;
mod needs;
mod operations;
mod post;
mod progress;
mod share;
mod tagged;

pub use completed::Completed;
pub use needs::Needs;

use std::collections::BTreeSet;
use std::ops::Range;

use catena_fabric::{Header, Peer, PeerLost};

use crate::counters::{Counters, Traffic};
use crate::engine::Engine;
use crate::key::MatchKey;
use crate::mpi_key::MpiKey;
use crate::net::Net;
use crate::request::{Fate, Phase};
use crate::slab::NIL;
use crate::types::{Awaited, Cid, Completion, Context, ReqId};
use crate::watch::Arrival;
use crate::wire::{Note, kind};

/// One process's end of all its routes: matching, protocols and requests.
///
/// Plain single-threaded code; its owner serialises the calls. Nothing here
/// blocks, and messages move only within [`Endpoint::progress`] and, where
/// there is room, within [`Endpoint::send`] and [`Endpoint::recv`].
///
/// A request id stays valid until [`Endpoint::take`] or, after
/// [`Endpoint::detach`], until its request is done. Calls that take an id
/// panic on one that was never given out, and in debug builds on a stale one:
/// ask [`Endpoint::valid`] about ids from outside.
///
/// # Examples
/// Matching by ranks and tags, as MPI has it; `Routes` of `catena_net` has an example that runs:
/// ```
/// use catena_fabric::Peer;
/// use catena_link::{Cid, Endpoint, Net, Plane, Selector};
///
/// /// Receives a message of rank 1 in a communicator of two, whose rank 0 this process is; how long it is.
/// fn receive<N: Net>(net: N, into: N::Sink) -> u64 {
///     let mut link = Endpoint::new(net);
///     link.open(Cid(0), 0, vec![(Peer(0), Cid(0)), (Peer(1), Cid(0))]);
///     let selector = Selector { source: 1, tag: 7 };
///     let request = link.recv(Cid(0), Plane::User, selector, into);
///     while !link.is_done(request) {
///         link.progress();
///     }
///     link.take(request).len
/// }
/// ```
///
/// Matching by tags of 64 bits and by peers, for those who have no ranks;
/// `examples/tagged_messages.rs` of `catena_net` is two processes that do so:
/// ```
/// use catena_fabric::Peer;
/// use catena_link::{Endpoint, Net, TagKey, TagSelector};
///
/// /// Receives the next message whose tag begins with `topic`, from anybody: its tag.
/// fn next<N: Net>(link: &mut Endpoint<N, TagKey>, topic: u32, into: N::Sink) -> u64 {
///     let selector = TagSelector {
///         source: None,
///         tag: u64::from(topic) << 32,
///         ignore: u32::MAX.into(),
///     };
///     let request = link.recv_tagged(selector, into);
///     while !link.is_done(request) {
///         link.progress();
///     }
///     link.take(request).tag
/// }
/// ```
#[derive(Debug)]
pub struct Endpoint<N: Net, K: MatchKey = MpiKey> {
    net: N,
    engine: Engine<N, K>,
}

impl<N: Net> Endpoint<N> {
    /// An endpoint without communicators, which matches as MPI does.
    pub fn new(net: N) -> Self {
        Endpoint::matching(net)
    }
}

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// An endpoint without communicators, which matches by keys that are a `K`.
    pub fn matching(net: N) -> Self {
        Endpoint {
            net,
            engine: Engine::new(),
        }
    }

    /// The routes.
    pub fn net(&mut self) -> &mut N {
        &mut self.net
    }

    /// What happened so far.
    pub fn counters(&self) -> &Counters {
        &self.engine.counters
    }

    /// Messages of a communicator; of all there ever were for `None`.
    pub fn traffic(&self, cid: Option<Cid>) -> Traffic {
        match cid {
            Some(cid) => self
                .engine
                .comm(cid)
                .map_or_else(Traffic::default, |it| it.traffic),
            None => {
                let mut sum = self.engine.counters.past;
                let comms = &self.engine.comms;
                comms.iter().for_each(|it| sum.absorb(&it.traffic));
                sum
            }
        }
    }

    /// From now on messages of the program carry the [seals](crate::Source::seal) of their sources,
    /// which the sinks that match them [check](crate::Sink::check_seal). To be called before any is
    /// sent. Messages of 4 GiB and more have none.
    pub fn seal_messages(&mut self) {
        self.engine.has_seals = true;
    }

    /// From now on receivers try whether long messages that cross a network come sooner compressed,
    /// and ask for them as was best. What their senders know the [numbers](crate::Source::numbers)
    /// of is compressed.
    pub fn compress_messages(&mut self) {
        self.engine.compression.is_on = true;
    }

    /// Whether to note the unexpected messages of the user.
    pub fn watch(&mut self, on: bool) {
        self.engine.watch.on = on;
    }

    /// The unexpected messages since this was last called, and how many more
    /// there were that could not be kept.
    pub fn take_arrivals(&mut self) -> (Vec<Arrival<K::Tag>>, u64) {
        self.engine.watch.take()
    }

    /// Receives that wait for a message, of one communicator or of all.
    /// Cost: all requests.
    pub fn posted(&self, cid: Option<Cid>) -> u64 {
        let posted = |&at: &u32| {
            let request = self.engine.requests.get(at);
            request.phase == Phase::Posted
                && cid.is_none_or(|cid| cid == request.link.key.context().cid())
        };
        self.engine.requests.taken().filter(posted).count() as u64
    }

    /// Messages that wait for a receive, of one communicator or of all.
    /// Cost: all of the communicator.
    pub fn unexpected(&self, cid: Option<Cid>) -> u64 {
        let store = &self.engine.unexpected;
        match cid.map(|cid| self.engine.comm(cid)) {
            None => store.length(),
            Some(None) => 0,
            Some(Some(comm)) => {
                let arrivals = comm.unexpected.iter();
                arrivals.map(|it| store.count(it)).sum()
            }
        }
    }

    /// Bytes that are kept of messages without a receive.
    /// Cost: all such messages.
    pub fn unexpected_bytes(&self) -> u64 {
        let entries = &self.engine.unexpected.entries;
        entries.taken().map(|at| entries.get(at).kept()).sum()
    }

    /// How many control messages have come so far, whole or not.
    pub fn control_arrivals(&self) -> u64 {
        self.engine.control
    }

    /// The most messages that waited for a receive since this was last called.
    pub fn unexpected_peak(&mut self) -> u64 {
        self.engine.unexpected.take_peak()
    }

    /// Requests that exist. Cost: all there ever were at once.
    pub fn requests(&self) -> u64 {
        self.engine.requests.taken().count() as u64
    }

    /// Says that a communicator of that id will be [opened](Endpoint::open), or else
    /// [closed](Endpoint::close): packets that come for it are kept until then. Those for an id of
    /// which this was not said are taken for late ones of an earlier communicator and thrown away,
    /// so it is said before anybody is told the id.
    ///
    /// # Panics
    /// If that id is in use; see [`Endpoint::in_use`].
    pub fn expect(&mut self, cid: Cid) {
        self.engine.expect(cid);
    }

    /// Makes a communicator known: this process is `me` in it, and rank *r* of
    /// its (remote) group is process `members[r].0`, which calls it `members[r].1`.
    /// Packets that came for it already are handled now, in order.
    ///
    /// # Panics
    /// If that id is in use; see [`Endpoint::in_use`].
    pub fn open(&mut self, cid: Cid, me: u32, members: Vec<(Peer, Cid)>) {
        self.engine.open(cid, me, members);
        self.settle();
    }

    /// Closes a communicator, or expects it no longer. Messages in it that nobody received are
    /// dropped. Requests under way complete as if it were still open; until then its id stays in
    /// use. Afterwards everything that is known by the id is forgotten.
    pub fn close(&mut self, cid: Cid) {
        self.engine.close(cid);
    }

    /// Whether a communicator of that id, or of another one of its slot, is expected, open, or
    /// closed with requests still under way.
    pub fn in_use(&self, cid: Cid) -> bool {
        let comm = self.engine.comms.get(cid.index());
        comm.is_some_and(|comm| comm.cid != Cid::NONE)
    }

    /// The ranks of the (remote) group of a communicator: each one's process, and how that one
    /// calls it. Empty if there is none of that id.
    pub fn members(&self, cid: Cid) -> impl Iterator<Item = (Peer, Cid)> + '_ {
        let comm = self.engine.comm(cid);
        let members = comm.filter(|it| it.open).map(|it| it.peer_states.iter());
        members
            .into_iter()
            .flatten()
            .map(|peer_state| (peer_state.peer, peer_state.remote.cid()))
    }

    /// Whether a communicator leads to one of these peers, or did and has requests under way.
    /// Cost: the peers.
    pub fn leads_to(&self, peers: &Range<u32>) -> bool {
        let leads = self.engine.leads.iter();
        let mut those = leads.take(peers.end as usize).skip(peers.start as usize);
        those.any(|&count| count > 0)
    }

    /// The requests of a communicator that are under way.
    /// Cost: all requests.
    pub fn pending(&self, cid: Cid) -> Vec<ReqId> {
        let all = self.engine.requests.taken();
        let of = |id: &ReqId| self.cid(*id) == cid && self.is_under_way(*id);
        all.map(|at| self.engine.id(at)).filter(of).collect()
    }

    /// The communicators of all requests, under way or complete, and of all messages that are here.
    /// Cost: [`Endpoint::slots`].
    pub fn cids(&self) -> impl Iterator<Item = Cid> + '_ {
        let engine = &self.engine;
        let requests = engine.requests.taken();
        let requests = requests.map(|at| engine.requests.get(at).link.key.context());
        let entries = &engine.unexpected.entries;
        let entries = entries.taken().map(|at| entries.get(at).key().context());
        requests.chain(entries).map(Context::cid)
    }

    /// Requests and messages that there ever were at once.
    pub fn slots(&self) -> u32 {
        self.engine.requests.capacity() + self.engine.unexpected.entries.capacity()
    }

    /// Whether that request exists and is not complete.
    pub fn is_under_way(&self, id: ReqId) -> bool {
        self.valid(id) && !self.is_done(id)
    }

    /// The communicator that a request belongs to.
    #[inline]
    pub fn cid(&self, id: ReqId) -> Cid {
        self.engine.requests.get(id.index).link.key.context().cid()
    }

    /// The rank that a receive names, or got its message from, or that a send
    /// goes to.
    pub fn partner(&self, id: ReqId) -> u32 {
        self.engine.requests.get(id.index).link.key.source()
    }

    /// The request in a slot, if there is one.
    pub fn live(&self, index: u32) -> Option<ReqId> {
        let there = index < self.engine.requests.capacity();
        there
            .then(|| self.engine.id(index))
            .filter(|&id| self.valid(id))
    }

    /// Whether that request exists.
    #[inline]
    pub fn valid(&self, id: ReqId) -> bool {
        self.engine.requests.holds(id.index, id.generation)
    }

    /// Whether that request is complete.
    #[inline]
    pub fn is_done(&self, id: ReqId) -> bool {
        debug_assert!(self.valid(id), "stale request {id:?}");
        matches!(self.engine.requests.get(id.index).phase, Phase::Done)
    }

    /// Whether that request is a receive that waits for its message.
    pub fn is_posted(&self, id: ReqId) -> bool {
        matches!(self.engine.requests.get(id.index).phase, Phase::Posted)
    }

    /// Frees a complete request and tells how it ended.
    #[inline]
    pub fn take(&mut self, id: ReqId) -> Completion<K::Tag> {
        debug_assert!(self.is_done(id), "request {id:?} is under way");
        let request = self.engine.requests.get_mut(id.index);
        request.phase = Phase::Free;
        let completion = request.take_completion();
        self.engine.requests.free_slot(id.index);
        completion
    }

    /// How a request ended, if it did; it stays valid (`MPI_Request_get_status`).
    pub fn peek(&self, id: ReqId) -> Option<Completion<K::Tag>> {
        self.is_done(id)
            .then(|| self.engine.requests.get(id.index).completion())
    }

    /// Gives a request up: it frees itself when it is done (`MPI_Request_free`).
    pub fn detach(&mut self, id: ReqId) {
        if self.is_done(id) {
            self.engine.free(id.index);
            return;
        }
        let request = self.engine.requests.get_mut(id.index);
        request.fate = Fate::Detached;
        if request.rare.dropped && matches!(request.phase, Phase::Send(_)) {
            self.engine.end_dropped(id.index);
        }
    }

    /// The processes that requests wait for, or that a message was sought from since
    /// the last call. Cost: all requests, and for one that any may send to all
    /// members of its communicator.
    pub fn awaited(&mut self) -> Awaited {
        let (mut named, mut any) = (BTreeSet::new(), BTreeSet::new());
        let mut receives = Vec::from_iter(self.engine.sought.take());
        let engine = &self.engine;
        for at in engine.requests.taken() {
            let request = engine.requests.get(at);
            match request.phase {
                Phase::Free | Phase::Done => {}
                Phase::Send(_) | Phase::Recv(_) => _ = named.insert(request.rare.peer),
                Phase::Posted => {
                    let key = request.link.key;
                    receives.push((key.context(), K::named(key.selector())));
                }
            }
        }
        for (context, source) in receives {
            let members = engine.peer_states(context);
            match source {
                // Numbers that are no members have none.
                None => any.extend(members.iter().map(|it| it.peer).filter(|it| it.0 != NIL)),
                Some(source) => named.extend(
                    members
                        .get(source as usize)
                        .map(|peer_state| peer_state.peer),
                ),
            }
        }
        Awaited { named, any }
    }

    /// Finds out whether there is a way to a peer, unless something is about to
    /// leave to it anyway; if there is none, requests with it fail.
    pub fn ping(&mut self, peer: Peer) {
        if self.engine.send_queues.has_no_items_for(peer) {
            let header = Header {
                kind: kind::PING,
                ..Header::default()
            };
            self.control(peer, header, Note::Empty);
        }
    }

    /// Learns from elsewhere, the launcher say, that a peer is gone. Requests
    /// with it fail; messages that arrived as a whole can still be received.
    pub fn peer_lost(&mut self, lost: PeerLost) {
        self.engine.peer_died(lost);
        self.settle();
    }

    /// Learns that a peer is gone which may have ended: requests with it alone fail, and if it has
    /// died, it is told again.
    pub fn peer_ended(&mut self, end: PeerLost) {
        self.engine.peer_ended(end);
        self.settle();
    }

    /// Whether [`Endpoint::progress`] would do nothing, told by a few loads;
    /// `false` if that cannot be told so cheaply.
    #[inline(always)]
    pub fn is_silent(&self) -> bool {
        !self.engine.work && self.net.is_silent()
    }

    /// Whether nothing is left to do here until a packet arrives or a call is
    /// made, so that the caller may sleep.
    pub fn is_idle(&self) -> bool {
        !self.engine.work && self.engine.operations == 0
    }

    /// Whether a message is under way on one of these communicators or on one that is closed, also
    /// one whose request was given up: from here, unless its receiver has thrown it away, or to a
    /// receive here that has matched it. Cost: all requests.
    pub fn has_under_way(&self, of: impl Fn(Cid) -> bool) -> bool {
        let engine = &self.engine;
        engine.requests.taken().any(|at| {
            let request = engine.requests.get(at);
            let moves = match request.phase {
                Phase::Send(_) => !request.rare.dropped,
                Phase::Recv(_) => true,
                Phase::Free | Phase::Posted | Phase::Done => false,
            };
            let cid = request.link.key.context().cid();
            moves && (of(cid) || engine.comm(cid).is_none_or(|comm| comm.closed))
        })
    }

    /// The program receives nothing any more on these communicators and on those that are closed:
    /// messages of its own that no receive here matches are thrown away, and their senders told,
    /// who may wait for one.
    pub fn stop_receiving(&mut self, of: impl Fn(Cid) -> bool) {
        self.engine.stop_receiving(of);
        self.settle();
    }

    /// Does at once what a call has given rise to.
    #[inline]
    fn settle(&mut self) {
        if self.engine.work {
            self.work(false);
        }
    }
}
