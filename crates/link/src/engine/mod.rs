//! What arriving packets do. Nothing here calls the [`Net`], so a transport may
//! deliver from within its poll; what must be sent in answer is left in the
//! send queues and the work lists, which the endpoint empties right after.

mod arrive;
pub(crate) mod assemblies;
mod control;
mod deliver;
mod lifetime;
mod window;

use std::collections::{HashMap, HashSet, VecDeque};

use catena_base::clock;
use catena_fabric::{Moved, OpId, Peer, PeerLost, RmaError};

use crate::active::Handlers;
use crate::compression::{Class, Compression, Packing, Unpacking};
use crate::counters::Counters;
use crate::key::MatchKey;
use crate::matching::{Index, Store, Wilds};
use crate::net::{Net, RemoteKeys, Sink};
use crate::peer_state::{Comm, Mark, PeerState};
use crate::pool::Pool;
use crate::protocol::Recv;
use crate::reorder::ReorderBuffer;
use crate::request::{Buffer, Fate, Operation, Phase, Request};
use crate::send_queue::{Item, SendQueues};
use crate::slab::{NIL, Slab};
use crate::types::{Cid, Context, Failure, ReqId};
use crate::watch::Watch;
use assemblies::{Assemblies, First};

/// The bits of a request's generation that the id of its operation has room for.
const GENERATION: u32 = (1 << 24) - 1;

#[derive(Debug)]
pub(crate) struct Engine<N: Net, K: MatchKey> {
    pub comms: Vec<Comm<K>>,
    /// How many communicators lead to each peer.
    pub leads: Vec<u32>,
    pub requests: Slab<Request<N, K>>,
    pub posted: Index<0>,
    pub wilds: Wilds,
    pub unexpected: Store<K>,
    /// Post number of the next receive.
    pub number: u64,
    pub send_queues: SendQueues,
    /// One of the lists below, or a send queue, has entries.
    pub work: bool,
    /// Who is to be called once it has what is queued for it.
    pub calls: Vec<Peer>,
    /// Requests that may have to be acted on while the program computes, and others that are done.
    pub unfinished: Vec<ReqId>,
    /// How many there are before those that are done go.
    pub most_unfinished: usize,
    /// Matched announcements whose way is to be chosen.
    pub starting: Vec<ReqId>,
    /// Remote reads under way.
    pub gets: VecDeque<ReqId>,
    /// Shared messages of which one part is left to the sender while others wait: at
    /// most [`Parts::AHEAD`], in the order in which they were opened.
    pub left: VecDeque<ReqId>,
    /// Sends of which parts may be written into the receiver's memory.
    pub puts: VecDeque<ReqId>,
    /// Messages that were lent, and when, ticks.
    pub lent: VecDeque<(ReqId, u64)>,
    /// Since when there has been nothing else to do, ticks, and whether there was something last.
    pub rests_since: u64,
    pub is_busy: bool,
    /// Messages that may be lent and have come: from whom, their bytes, and whether they were lent.
    pub came: Vec<(Peer, u64, bool)>,
    /// Lent messages that nobody here receives: from whom, their senders' requests, and what names
    /// their packets.
    pub unwanted: Vec<(Peer, ReqId, First)>,
    /// Bytes of the messages that are registered: their receivers read them, or will.
    pub registered: u64,
    /// RemoteKeys messages that nobody reads any more.
    pub deregistrations: Vec<(Peer, RemoteKeys)>,
    /// Messages for which there was a choice and that are there.
    pub moved: Vec<(Peer, Moved)>,
    /// Messages of ours that could be read and were asked for: their bytes, and whether to be
    /// streamed.
    pub asked: Vec<(Peer, u64, bool)>,
    pub assemblies: Assemblies,
    /// Marks that are answered once no packets of earlier messages are missing.
    pub marks: Vec<Mark>,
    pub reorder: ReorderBuffer,
    pub pool: Pool,
    pub losses: HashMap<Peer, PeerLost>,
    /// Those of them that have ended, and have not died as far as is known.
    pub no_deaths: HashSet<Peer>,
    /// How many have become known so far, those among them that were forgotten since then.
    pub losses_so_far: usize,
    /// Whether a peer is gone or a communicator was revoked: then receives are looked at closer.
    pub troubled: bool,
    /// Whether receives that any may match outlive the loss of a peer.
    pub tolerant: bool,
    /// The context that somebody has probed in vain, and for which source.
    pub sought: Option<(Context, Option<u32>)>,
    /// Ranks of communicators that send nothing any more, as far as somebody has asked.
    pub finalized: HashSet<(Cid, u32)>,
    /// Whether messages of the program have seals; that of the message that is handled now, or 0;
    /// and those of messages that are kept, by their places.
    pub has_seals: bool,
    pub seal: u32,
    pub kept_seals: HashMap<u32, u32>,
    /// Contexts that are closed, and whose requests were not counted yet.
    pub closing: Vec<Cid>,
    /// Contexts that are closed but not drained.
    pub draining: u32,
    pub counters: Counters,
    /// Which messages are compressed, and how.
    pub compression: Compression,
    /// What packs and unpacks them.
    pub packing: Packing,
    pub unpacking: Unpacking,
    /// Messages that came on [`Plane::Control`](crate::types::Plane::Control).
    pub control: u64,
    pub watch: Watch<K::Tag>,
    /// Requests with a word that became complete: that, and which.
    pub completions: VecDeque<(u64, ReqId)>,
    pub handlers: Handlers,
    /// Operations of requests that have ended, by number.
    pub ended: VecDeque<(u64, Result<u64, RmaError>)>,
    /// How many have not.
    pub operations: usize,
}

impl<N: Net, K: MatchKey> Engine<N, K> {
    pub fn new() -> Self {
        Engine {
            comms: Vec::new(),
            leads: Vec::new(),
            requests: Slab::new(),
            posted: Index::new(),
            wilds: Wilds::new(),
            unexpected: Store::new(),
            number: 0,
            send_queues: SendQueues::default(),
            work: false,
            calls: Vec::new(),
            unfinished: Vec::new(),
            most_unfinished: 0,
            starting: Vec::new(),
            gets: VecDeque::new(),
            left: VecDeque::new(),
            puts: VecDeque::new(),
            lent: VecDeque::new(),
            rests_since: 0,
            is_busy: false,
            came: Vec::new(),
            unwanted: Vec::new(),
            registered: 0,
            deregistrations: Vec::new(),
            moved: Vec::new(),
            asked: Vec::new(),
            assemblies: Assemblies::new(),
            marks: Vec::new(),
            reorder: ReorderBuffer::default(),
            pool: Pool::default(),
            losses: HashMap::new(),
            no_deaths: HashSet::new(),
            losses_so_far: 0,
            troubled: false,
            tolerant: false,
            sought: None,
            finalized: HashSet::new(),
            has_seals: false,
            seal: 0,
            kept_seals: HashMap::new(),
            closing: Vec::new(),
            draining: 0,
            counters: Counters::default(),
            compression: Compression::default(),
            packing: Packing::default(),
            unpacking: Unpacking::default(),
            control: 0,
            watch: Watch::new(),
            completions: VecDeque::new(),
            handlers: Handlers::default(),
            ended: VecDeque::new(),
            operations: 0,
        }
    }

    #[inline]
    pub fn id(&self, at: u32) -> ReqId {
        ReqId {
            index: at,
            generation: self.requests.generation(at),
        }
    }

    /// The id of the operation of a request.
    pub fn operation_id(&self, at: u32) -> OpId {
        let generation = self.requests.generation(at) & GENERATION;
        let number = u64::from(generation) << 32 | u64::from(at);
        OpId::new(OpId::MESSAGES, number)
    }

    /// The request whose operation has that number, if it is still there.
    pub fn by_operation(&self, number: u64) -> Option<u32> {
        let (at, generation) = (number as u32, (number >> 32) as u32);
        let there = at < self.requests.capacity();
        (there && self.requests.generation(at) & GENERATION == generation).then_some(at)
    }

    /// The communicator of that id: open, or expected to be opened.
    #[inline]
    pub fn comm(&self, cid: Cid) -> Option<&Comm<K>> {
        self.comms.get(cid.index()).filter(|comm| comm.cid == cid)
    }

    /// See [`Engine::comm`].
    #[inline]
    pub fn comm_mut(&mut self, cid: Cid) -> Option<&mut Comm<K>> {
        let comm = self.comms.get_mut(cid.index());
        comm.filter(|comm| comm.cid == cid)
    }

    /// Those of a communicator, by rank.
    pub fn peer_states(&self, context: Context) -> &[PeerState] {
        let comm = self.comm(context.cid());
        comm.map_or(&[], |comm| &comm.peer_states)
    }

    pub fn peer_state(&self, context: Context, source: u32) -> Option<&PeerState> {
        self.peer_states(context).get(source as usize)
    }

    /// Queues a packet of the protocol.
    pub fn control(&mut self, peer: Peer, item: Item) {
        self.send_queues.push(peer, item);
        self.work = true;
    }

    /// Puts a receive into the matching queues.
    #[inline(always)]
    pub fn post(&mut self, at: u32, selector: K::Selector) {
        let request = self.requests.get_mut(at);
        request.phase = Phase::Posted;
        request.number = self.number;
        self.number += 1;
        if K::is_specific(selector) {
            self.posted.push(&mut self.requests, at);
        } else {
            self.post_wild(at);
        }
    }

    /// Apart, so that receives without wildcards are posted where they are made.
    #[inline(never)]
    fn post_wild(&mut self, at: u32) {
        let context = self.requests.get(at).link.key.context();
        let wild = &mut self.comms[context.index()].wild[context.plane() as usize];
        self.wilds.push(&mut self.requests, wild, at);
    }

    /// Takes a posted receive out of the matching queues.
    pub fn unpost(&mut self, at: u32) {
        let key = self.requests.get(at).link.key;
        let context = key.context();
        if K::is_specific(key.selector()) {
            self.posted.remove(&mut self.requests, at);
        } else {
            let wild = &mut self.comms[context.index()].wild[context.plane() as usize];
            self.wilds.remove(&mut self.requests, wild, at);
        }
    }

    /// Takes the receive that a message matches where wildcards are posted:
    /// whichever of the two candidates was posted first.
    pub fn match_among_wild(&mut self, key: K) -> u32 {
        let context = key.context();
        let wild = &mut self.comms[context.index()].wild[context.plane() as usize];
        let at = self.wilds.first(&mut self.requests, wild, &key);
        let specific = self.posted.first(&self.requests, key);
        let earlier = |a: u32, b: u32| self.requests.get(a).number < self.requests.get(b).number;
        if at == NIL || (specific != NIL && earlier(specific, at)) {
            return self.posted.pop(&mut self.requests, key);
        }
        self.wilds.remove(&mut self.requests, wild, at);
        at
    }

    /// Writes into a receive what it matched.
    #[inline(always)]
    pub fn note_match(&mut self, at: u32, key: K, len: u64) {
        let request = self.requests.get_mut(at);
        request.link.key = key;
        let Buffer::Sink(sink) = &request.buffer else {
            return;
        };
        let capacity = sink.capacity();
        request.len = len.min(capacity);
        if len > capacity {
            request.error = Some(truncated(Failure::Truncated {
                source: key.source(),
                tag: key.tag(),
                sent: len,
                capacity,
            }));
        }
    }

    /// A receive has matched a message with a seal.
    #[inline]
    pub fn check_seal(&self, at: u32, seal: u32, key: K, len: u64) {
        if let Buffer::Sink(sink) = &self.requests.get(at).buffer {
            sink.check_seal(seal, key.source(), len);
        }
    }

    /// Ends a request.
    #[inline(always)]
    pub fn complete(&mut self, at: u32) {
        let request = self.requests.get_mut(at);
        request.buffer = Buffer::None;
        request.phase = Phase::Done;
        if request.fate != Fate::Kept || self.draining != 0 {
            self.complete_slow(at);
        }
    }

    #[inline(never)]
    fn complete_slow(&mut self, at: u32) {
        let request = self.requests.get(at);
        let (context, fate, word) = (request.link.key.context(), request.fate, request.rare.word);
        self.drained(context);
        match fate {
            Fate::Kept => {}
            Fate::Queued => self.completions.push_back((word, self.id(at))),
            Fate::Detached => self.free(at),
        }
    }

    /// Frees a done request.
    #[inline]
    pub fn free(&mut self, at: u32) {
        let request = self.requests.get_mut(at);
        request.phase = Phase::Free;
        request.error = None;
        self.requests.free_slot(at);
    }

    /// All of a message is there: if there was a choice how it moves, the route learns what that
    /// took.
    pub fn note_moved(&mut self, at: u32, streamed: bool) {
        let rare = &mut self.requests.get_mut(at).rare;
        let asked = std::mem::take(&mut rare.asked);
        if asked != 0 {
            let moved = Moved {
                len: rare.total,
                streamed,
                asked,
                ended: clock::ticks(),
            };
            self.moved.push((rare.peer, moved));
            self.work = true;
        }
    }

    /// All of a message is there: if it was chosen whether it is compressed, what that took counts
    /// for the next ones.
    pub fn note_compressed(&mut self, at: u32) {
        let request = self.requests.get_mut(at);
        let rare = &mut request.rare;
        if let Some(codec) = rare.codec.take() {
            let class = Class::new(rare.peer, request.link.key.context(), rare.total);
            self.compression
                .record(class, codec, rare.since, rare.total, rare.came);
        }
    }

    /// The receiver of a message has asked for it: if it could have read it, the route learns how.
    pub fn note_asked(&mut self, at: u32, streamed: bool) {
        let request = self.requests.get(at);
        if request.rare.registered.is_some() {
            self.asked.push((request.rare.peer, request.len, streamed));
            self.work = true;
        }
    }

    /// Ends a send: nobody needs its buffer any more.
    pub fn complete_send(&mut self, at: u32) {
        let rare = &mut self.requests.get_mut(at).rare;
        if let Some(registered) = rare.registered.take() {
            self.deregistrations.push((rare.peer, registered));
            self.registered -= rare.total;
            self.work = true;
        }
        self.complete_when_quiet(at);
    }

    /// Ends a request as soon as no operation uses its buffer.
    pub fn complete_when_quiet(&mut self, at: u32) {
        let rare = &mut self.requests.get_mut(at).rare;
        if rare.operation.is_under_way() {
            rare.ends = true;
        } else {
            rare.operation = Operation::None;
            self.complete(at);
        }
    }

    /// Ends a request whose other end is gone.
    pub fn fail(&mut self, at: u32, lost: &PeerLost) {
        self.fail_with(at, Failure::Lost(lost.clone()));
    }

    /// Ends a request that can never be complete.
    pub fn fail_with(&mut self, at: u32, failure: Failure<K::Tag>) {
        let request = self.requests.get_mut(at);
        request.set_failed(failure);
        if matches!(request.phase, Phase::Send(_)) {
            self.complete_send(at);
        } else {
            self.close_target(at);
            self.complete_when_quiet(at);
        }
    }

    /// Nobody writes into the room of a receive any more.
    pub fn close_target(&mut self, at: u32) {
        let request = self.requests.get_mut(at);
        if request.phase == Phase::Recv(Recv::Sharing) {
            let rare = &request.rare;
            self.deregistrations
                .push((rare.peer, rare.share.offer.target.into()));
            self.work = true;
        }
    }
}

#[cold]
#[inline(never)]
fn truncated<T>(failure: Failure<T>) -> Box<Failure<T>> {
    Box::new(failure)
}
