//! Messages made of vectors, and the engine over the simulator.
#![allow(dead_code)]

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use catena_base::{End, PeerBytes};
use catena_fabric::{
    Access, Buf, Caps, Deliver, Header, Load, NodeLocal, OpId, Payload, Peer, PeerLost, Posted,
    RemoteKey, Rendezvous, Rma, RmaError, Started, Transport,
};
use catena_link::{
    Bound, Cid, Completion, Element, Endpoint, Net, Numbers, Plane, RemoteKeys, ReqId, Selector,
    Sink, Source,
};
use catena_sim::{Port, Sim};

/// A message.
#[derive(Clone, Debug)]
pub struct Bytes(pub Rc<[u8]>);

impl Source for Bytes {
    type Part<'a> = &'a [u8];

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn part(&self, from: u64, len: usize) -> &[u8] {
        &self.0[from as usize..from as usize + len]
    }

    fn run(&self) -> Option<Buf> {
        Some(Buf::from(&*self.0))
    }

    fn numbers(&self) -> Option<Numbers> {
        Some(Numbers {
            element: Element::I32,
            bound: Bound::Exact,
        })
    }

    fn seal(&self) -> u32 {
        self.0.iter().map(|&byte| u32::from(byte) + 1).sum()
    }
}

/// Room, shared with the test. What is not written stays 0xee; nothing may be
/// written twice. The last is the seal that has come.
#[derive(Clone, Debug)]
pub struct Into(
    pub Rc<RefCell<Vec<u8>>>,
    Rc<RefCell<Vec<bool>>>,
    pub Rc<Cell<u32>>,
);

impl Into {
    pub fn room(len: usize) -> Self {
        Into(
            Rc::new(RefCell::new(vec![0xee; len])),
            Rc::new(RefCell::new(vec![false; len])),
            Rc::default(),
        )
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }

    fn mark(&self, from: usize, to: usize) {
        let mut written = self.1.borrow_mut();
        assert!(
            written[from..to].iter().all(|there| !there),
            "written twice"
        );
        written[from..to].fill(true);
    }
}

impl Sink for Into {
    fn capacity(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        assert!(!bytes.is_empty(), "nothing to place");
        let mut room = self.0.borrow_mut();
        let from = (at as usize).min(room.len());
        let to = (from + bytes.len()).min(room.len());
        bytes.read(&mut room[from..to]);
        self.mark(from, to);
    }

    fn check_seal(&self, seal: u32, _source: u32, _len: u64) {
        self.2.set(seal);
    }
}

/// The simulator as the union of all routes, and the reads that are under way. Sequence numbers
/// have so many bits.
#[derive(Debug)]
pub struct SimNet<const BITS: u32 = 16>(pub Port, HashMap<OpId, (Into, Range<usize>)>);

impl<const BITS: u32> SimNet<BITS> {
    pub fn new(port: Port) -> SimNet<BITS> {
        SimNet(port, HashMap::new())
    }
}

/// Marks what reads have written.
struct Marking<'a, D>(&'a mut HashMap<OpId, (Into, Range<usize>)>, &'a mut D);

impl<D: Deliver> Deliver for Marking<'_, D> {
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        self.1.deliver(from, header, payload);
    }

    fn lost(&mut self, lost: PeerLost) {
        self.1.lost(lost);
    }

    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        if let Some((sink, range)) = self.0.remove(&op)
            && result.is_ok()
        {
            sink.mark(range.start, range.end);
        }
        self.1.completed(op, result);
    }
}

impl<const BITS: u32> Net for SimNet<BITS> {
    type Source = Bytes;
    type Sink = Into;

    const SEQUENCE_BITS: u32 = BITS;

    fn caps(&self, peer: Peer) -> Caps {
        self.0.caps(peer)
    }

    fn crosses_network(&self, _peer: Peer) -> bool {
        true
    }

    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        self.0.try_send(peer, header, payload)
    }

    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        self.0.poll(&mut Marking(&mut self.1, deliver))
    }

    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        self.0.rendezvous(peer, len, load)
    }

    fn register(&mut self, peer: Peer, source: &Bytes) -> Option<RemoteKeys> {
        let registered = self
            .0
            .register(Some(peer), Buf::from(&*source.0), Access::READ);
        registered.map(RemoteKeys::from)
    }

    fn deregister(&mut self, _: Peer, registered: RemoteKeys) {
        self.0.deregister(registered.first());
    }

    fn piece(&self, peer: Peer) -> u64 {
        self.0.rma_caps(peer).piece as u64
    }

    fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        registered: RemoteKeys,
        sink: &mut Into,
        at: u64,
        len: u64,
    ) -> Result<Started, RmaError> {
        let range = at as usize..(at + len) as usize;
        let room = sink.0.borrow_mut()[range.clone()].as_mut_ptr();
        let from = registered.at(at).first();
        // SAFETY: as long as the room, which the sink keeps where it is.
        let started = unsafe { self.0.get(op, peer, Buf::host(room, range.len()), from) };
        match started {
            Ok(Started::Complete(_)) => sink.mark(range.start, range.end),
            Ok(Started::UnderWay) => _ = self.1.insert(op, (sink.clone(), range)),
            Ok(Started::Full) | Err(_) => {}
        }
        started
    }

    fn register_writable(&mut self, peer: Peer, sink: &mut Into, _: u64) -> Option<RemoteKey> {
        let mut room = sink.0.borrow_mut();
        self.0
            .register(Some(peer), Buf::from(&mut **room), Access::WRITE)
    }

    // What is put is not marked: it is streamed, too, if the receiver finds
    // out that it cannot read the rest.
    fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        source: &Bytes,
        remote: RemoteKey,
        at: u64,
        len: u64,
    ) -> Result<Started, RmaError> {
        let from = &source.0[at as usize..(at + len) as usize];
        let to = RemoteKey {
            addr: remote.addr.wrapping_add(at),
            ..remote
        };
        // SAFETY: `from` is a slice of that length, which the message keeps.
        unsafe { self.0.put(op, peer, Buf::from(from), to) }
    }

    fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        self.0.flush(op, peer)
    }

    fn lends(&mut self, peer: Peer, len: u64, under_way: usize) -> bool {
        self.0.lends(peer, len, under_way)
    }

    fn came(&mut self, peer: Peer, len: u64, is_lent: bool) {
        self.0.came(peer, len, is_lent);
    }

    fn patience(&mut self) -> Duration {
        self.0.patience()
    }

    fn open_claim(&mut self, id: u64) -> bool {
        self.0.open_claim(id)
    }

    fn take_claim(&mut self, owner: Option<Peer>, id: u64) -> bool {
        self.0.take_claim(owner, id)
    }

    fn open_parts(&mut self, peer: Peer) -> u32 {
        self.0.open_parts(peer)
    }

    fn take_part(&mut self, peer: Peer, end: End, number: u32, parts: u32) -> Option<u32> {
        self.0.take_part(peer, end, number, parts)
    }
}

pub type Rank<const BITS: u32 = 16> = Endpoint<SimNet<BITS>>;

/// The communicator that everyone has from the start; rank `r` calls it
/// `WORLD + r`, so that mixed-up ids are noticed.
pub const WORLD: u32 = 3;

pub fn world(rank: usize) -> Cid {
    Cid(WORLD + rank as u32)
}

pub fn members(n: usize, first: u32) -> Vec<(Peer, Cid)> {
    (0..n as u32).map(|r| (Peer(r), Cid(first + r))).collect()
}

pub fn ranks<const BITS: u32>(sim: Sim, n: usize) -> Vec<Rank<BITS>> {
    let mut ranks: Vec<Rank<BITS>> = sim
        .ports(n as u32)
        .into_iter()
        .map(|port| Endpoint::new(SimNet::new(port)))
        .collect();
    for (r, rank) in ranks.iter_mut().enumerate() {
        rank.open(world(r), r as u32, members(n, WORLD));
    }
    ranks
}

/// `len` bytes that depend on `seed`.
pub fn pattern(seed: u64, len: usize) -> Bytes {
    let mut rng = catena_sim::Rng::new(catena_sim::Seed(seed));
    let first = rng.any();
    // A fourth of all messages can be made shorter.
    let step = if first.is_multiple_of(4) { 0 } else { u8::MAX };
    Bytes(
        (0..len)
            .map(|_| first as u8 ^ (rng.any() as u8 & step))
            .collect(),
    )
}

/// Progress of all ranks until the test holds.
#[track_caller]
pub fn until<const BITS: u32>(
    ranks: &mut [Rank<BITS>],
    mut test: impl FnMut(&mut [Rank<BITS>]) -> bool,
) {
    for _ in 0..200_000 {
        if test(ranks) {
            return;
        }
        for rank in &mut *ranks {
            rank.progress();
        }
    }
    panic!("it never happens: {ranks:#?}");
}

/// Progress of all ranks until nothing can be left under way. (Packets that
/// come twice never end, so it is not enough that nothing moves.)
pub fn quiesce<const BITS: u32>(ranks: &mut [Rank<BITS>]) {
    let mut quiet = 0;
    for _ in 0..100_000 {
        for rank in &mut *ranks {
            rank.progress();
        }
        quiet = if ranks.iter().all(Endpoint::is_idle) {
            quiet + 1
        } else {
            0
        };
        if quiet == 200 {
            return;
        }
    }
    panic!("no end of it: {ranks:#?}");
}

#[track_caller]
pub fn wait<const BITS: u32>(ranks: &mut [Rank<BITS>], at: usize, id: ReqId) -> Completion {
    until(ranks, |ranks| ranks[at].is_done(id));
    ranks[at].take(id)
}

pub fn selector(source: i32, tag: i32) -> Selector {
    Selector { source, tag }
}

/// Posts a receive at rank `at`.
pub fn recv<const BITS: u32>(
    ranks: &mut [Rank<BITS>],
    at: usize,
    source: i32,
    tag: i32,
    room: usize,
) -> (ReqId, Into) {
    let into = Into::room(room);
    let id = ranks[at].recv(world(at), Plane::User, selector(source, tag), into.clone());
    (id, into)
}
