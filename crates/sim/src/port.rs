//! One process's end of the network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use catena_base::{End, PayloadRoom, PeerBytes};
use catena_fabric::{
    Access, Atomic, AtomicSet, Buf, Caps, Deliver, Header, Kinds, Load, LocalKey, NodeLocal, OpId,
    Payload, Peer, PeerLost, Posted, RailCounters, RemoteKey, Rendezvous, Rma, RmaCaps, RmaError,
    Started, Transport,
};

use crate::faults::Reads;
use crate::operation::{Operation, Region, Work};
use crate::wire::{Packet, Wire, lost};

/// Packets delivered per poll, at most.
const BURST: usize = 16;

/// One process's end of the network.
#[derive(Debug)]
pub struct Port {
    me: u32,
    wire: Arc<Mutex<Wire>>,
    /// Those that are lost as was said from outside.
    marked: BTreeMap<u32, String>,
    pub(crate) counters: RailCounters,
    /// Memory that is registered for its own operations, by number.
    local: BTreeMap<u64, Buf>,
    next_local: u64,
    without_key: usize,
}

impl Port {
    pub(crate) fn new(me: u32, wire: Arc<Mutex<Wire>>) -> Self {
        Port {
            me,
            wire,
            marked: BTreeMap::new(),
            counters: RailCounters::default(),
            local: BTreeMap::new(),
            next_local: 0,
            without_key: 0,
        }
    }

    /// Declares a peer dead: what is sent to it from now on fails, and so does what is to be done
    /// with its memory.
    pub fn mark_lost(&mut self, peer: Peer, cause: String) {
        self.marked.entry(peer.0).or_insert(cause);
    }

    /// Whether a peer is there, as far as this process knows.
    fn check(&self, peer: Peer) -> Result<(), PeerLost> {
        match self.marked.get(&peer.0) {
            Some(cause) => Err(PeerLost {
                peer,
                cause: cause.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The process at this end.
    pub fn peer(&self) -> Peer {
        Peer(self.me)
    }

    /// Ends this process: the others learn of it when they have received what
    /// it sent before.
    pub fn die(&mut self) {
        self.wire().kill(self.me);
    }

    /// Memory that is registered and not deregistered, over all processes.
    pub fn registrations(&self) -> usize {
        self.wire().regions.len()
    }

    /// Memory that is registered for operations of this end now.
    pub fn local_registrations(&self) -> usize {
        self.local.len()
    }

    /// Puts and gets of this end for which their memory would have been registered apart, as no key
    /// came with it: see [`Sim::needs_local_keys`](crate::Sim::needs_local_keys).
    pub fn without_local_key(&self) -> usize {
        self.without_key
    }

    /// Looks at the key that comes with memory.
    fn check_key(&mut self, buf: Buf) {
        if !self.wire().faults.local_keys {
            return;
        }
        let (from, to) = (buf.at.addr(), buf.at.addr() + buf.len);
        match self.local.get(&buf.local.0) {
            Some(all) => assert!(
                all.at.addr() <= from && to <= all.at.addr() + all.len,
                "the key is that of other memory"
            ),
            None => {
                assert_eq!(buf.local, LocalKey::NONE, "the key has ended");
                self.without_key += 1;
            }
        }
    }

    fn wire(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Port {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn caps(&self, _: Peer) -> Caps {
        let faults = self.wire().faults;
        Caps {
            max_packet: faults.max_packet,
            whole: faults.max_packet,
            eager_max: faults.eager_max,
            ordered: faults.ordered,
            kinds: Kinds::HOST,
        }
    }

    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        self.check(peer)?;
        let mut wire = self.wire();
        if wire.dead[peer.0 as usize] {
            return Err(lost(peer));
        }
        assert!(
            payload.len() <= wire.faults.max_packet,
            "the packet is too long"
        );
        if wire.is_full(self.me, peer.0) {
            drop(wire);
            self.counters.full += 1;
            return Ok(Posted::Full);
        }
        let mut copy = vec![0; payload.len()];
        // SAFETY: a vector of exactly that length, ours alone.
        payload.write(unsafe { PayloadRoom::new(copy.as_mut_ptr(), copy.len()) });
        // The stamp is the transport's own.
        let header = Header {
            stamp: wire.rng.any() as u8,
            ..header
        };
        wire.put(
            peer.0,
            Packet {
                from: self.me,
                header,
                payload: copy,
            },
        );
        drop(wire);
        self.counters.packets += 1;
        Ok(Posted::Done)
    }

    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        let burst = 1 + self.wire().rng.below(BURST);
        let mut n = 0;
        while n < burst {
            let Some(packet) = self.wire().take(self.me) else {
                break;
            };
            let payload = PeerBytes::from(packet.payload.as_slice());
            deliver.deliver(Peer(packet.from), packet.header, payload);
            n += 1;
        }
        loop {
            let Some(who) = self.wire().next_loss(self.me) else {
                break;
            };
            if !self.marked.contains_key(&who) {
                deliver.lost(lost(Peer(who)));
            }
        }
        loop {
            let Some((op, result)) = self.wire().next_completion(self.me) else {
                break;
            };
            deliver.completed(op, result);
        }
        n
    }

    fn rendezvous(&self, _: Peer, _: u64, load: Load) -> Rendezvous {
        let faults = self.wire().faults;
        match (faults.reads, faults.part) {
            (Reads::Never, _) => Rendezvous::Stream,
            (Reads::Whole | Reads::Flaky, part) if part > 0 && load != Load::Exchange => {
                Rendezvous::Share { part }
            }
            (Reads::Whole | Reads::Flaky, _) => Rendezvous::Get,
        }
    }

    fn register(&mut self, _: Option<Peer>, buf: Buf, access: Access) -> Option<RemoteKey> {
        let mut wire = self.wire();
        if wire.faults.reads == Reads::Never || !buf.kind.is_host() {
            return None;
        }
        let key = wire.next_key;
        wire.next_key += 1;
        let base = buf.at as u64;
        let region = Region {
            owner: self.me,
            base,
            len: buf.len,
            access,
        };
        wire.regions.insert(key, region);
        Some(RemoteKey { addr: base, key })
    }

    fn deregister(&mut self, remote: RemoteKey) {
        let mut wire = self.wire();
        let owner = wire.regions.remove(&remote.key).map(|it| it.owner);
        assert!(
            owner == Some(self.me) || wire.dead[self.me as usize],
            "deregistered what is not registered"
        );
    }

    fn register_local(&mut self, buf: Buf) -> Option<LocalKey> {
        if !self.wire().faults.local_keys {
            return None;
        }
        self.next_local += 1;
        self.local.insert(self.next_local, buf);
        Some(LocalKey(self.next_local))
    }

    fn deregister_local(&mut self, key: LocalKey) {
        let ended = self.local.remove(&key.0);
        assert!(ended.is_some(), "deregistered what is not registered");
    }

    /// Nothing happens in the simulator while somebody sleeps.
    fn sleep(&mut self, _: Duration) {}
}

impl NodeLocal for Port {
    fn streams(&mut self, _: Peer, _: u64) -> bool {
        let mut wire = self.wire();
        let n = wire.faults.streams_one_in;
        wire.rng.one_in(n)
    }

    fn lends(&mut self, _: Peer, _: u64, _: usize) -> bool {
        let mut wire = self.wire();
        let n = wire.faults.lends_one_in;
        let in_order = wire.faults.ordered && wire.faults.duplicate_one_in == 0;
        in_order && wire.rng.one_in(n)
    }

    fn patience(&mut self) -> Duration {
        match self.wire().rng.one_in(3) {
            true => Duration::ZERO,
            false => Duration::MAX,
        }
    }

    fn open_claim(&mut self, id: u64) -> bool {
        let me = self.me;
        self.wire().claims.insert((me, id))
    }

    fn take_claim(&mut self, owner: Option<Peer>, id: u64) -> bool {
        let owner = owner.map_or(self.me, |peer| peer.0);
        self.wire().claims.remove(&(owner, id))
    }

    fn open_parts(&mut self, peer: Peer) -> u32 {
        let wire = self.wire();
        wire.parts[wire.at(peer.0, self.me)].open()
    }

    fn take_part(&mut self, peer: Peer, end: End, number: u32, parts: u32) -> Option<u32> {
        let wire = self.wire();
        let at = match end {
            End::Front => wire.at(peer.0, self.me),
            End::Back => wire.at(self.me, peer.0),
        };
        wire.parts[at].take(number, end, parts)
    }
}

impl Rma for Port {
    fn rma_caps(&self, _: Peer) -> RmaCaps {
        match self.wire().faults.reads {
            Reads::Never => RmaCaps::NONE,
            Reads::Whole | Reads::Flaky => RmaCaps {
                put: true,
                get: true,
                atomics: AtomicSet::ALL,
                max_len: usize::MAX,
                piece: 1000,
            },
        }
    }

    unsafe fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        from: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let from = from.in_host()?;
        self.check_key(from);
        self.start(op, peer, target, Work::Put(from.at as u64, from.len))
    }

    unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        into: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let into = into.in_host()?;
        self.check_key(into);
        self.start(op, peer, target, Work::Get(into.at as u64, into.len))
    }

    fn atomic(
        &mut self,
        op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        self.start(op, peer, target, Work::Atomic(atomic))
    }

    fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        self.start(op, peer, RemoteKey::default(), Work::Flush)
    }
}

impl Port {
    fn start(
        &mut self,
        op: OpId,
        peer: Peer,
        key: RemoteKey,
        work: Work,
    ) -> Result<Started, RmaError> {
        self.check(peer)?;
        let mut wire = self.wire();
        if wire.dead[peer.0 as usize] {
            return Err(lost(peer).into());
        }
        wire.start(Operation {
            number: 0,
            origin: self.me,
            target: peer.0,
            op,
            key,
            work,
        })
    }
}
