//! One process's end of the network.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use catena_base::{End, PeerBytes, Room};
use catena_fabric::{
    Caps, Deliver, Header, Load, Payload, Peer, PeerLost, Posted, RemoteKey, Rendezvous, RmaStatus,
    Transport,
};

use crate::Reads;
use crate::wire::{Packet, Readable, Wire, Writable};

/// Packets delivered per poll, at most.
const BURST: usize = 16;

/// One process's end of the network.
#[derive(Debug)]
pub struct Port {
    me: u32,
    wire: Arc<Mutex<Wire>>,
}

impl Port {
    pub(crate) fn new(me: u32, wire: Arc<Mutex<Wire>>) -> Self {
        Port { me, wire }
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
        let wire = self.wire();
        wire.registered.len() + wire.rooms.len()
    }

    fn wire(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lost(peer: Peer) -> PeerLost {
    PeerLost {
        peer,
        cause: "it died in the simulator".into(),
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
            eager_max: faults.eager_max,
            ordered: faults.ordered,
        }
    }

    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let mut wire = self.wire();
        if wire.dead[peer.0 as usize] {
            return Err(lost(peer));
        }
        assert!(
            payload.len() <= wire.faults.max_packet,
            "the packet is too long"
        );
        if wire.is_full(self.me, peer.0) {
            return Ok(Posted::Full);
        }
        let mut copy = vec![0; payload.len()];
        // SAFETY: a vector of exactly that length, ours alone.
        payload.write(unsafe { Room::new(copy.as_mut_ptr(), copy.len()) });
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
            deliver.lost(lost(Peer(who)));
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

    fn announces(&mut self, _: Peer, _: u64) -> bool {
        let mut wire = self.wire();
        let n = wire.faults.announces_one_in;
        wire.rng.one_in(n)
    }

    #[expect(clippy::not_unsafe_ptr_arg_deref, reason = "the trait's signature")]
    fn register(&mut self, _: Peer, addr: *const u8, len: u64) -> Option<RemoteKey> {
        let mut wire = self.wire();
        if wire.faults.reads == Reads::Never {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        // SAFETY: the caller registers `len` bytes at `addr`, and does not change
        // them until the deregistration.
        unsafe { PeerBytes::new(addr, bytes.len()) }.read(&mut bytes);
        let key = wire.next_key;
        wire.next_key += 1;
        let base = addr as u64;
        wire.registered.insert(
            key,
            Readable {
                owner: self.me,
                base,
                bytes,
            },
        );
        Some(RemoteKey { addr: base, key })
    }

    fn deregister(&mut self, _: Peer, remote: RemoteKey) {
        let mut wire = self.wire();
        let message = wire.registered.remove(&remote.key).map(|it| it.owner);
        let owner = message.or_else(|| wire.rooms.remove(&remote.key).map(|it| it.owner));
        assert!(
            owner == Some(self.me) || wire.dead[self.me as usize],
            "deregistered what is not registered"
        );
    }

    unsafe fn try_get(
        &mut self,
        peer: Peer,
        remote: RemoteKey,
        into: *mut u8,
        len: usize,
    ) -> Result<RmaStatus, PeerLost> {
        let mut wire = self.wire();
        if wire.dead[peer.0 as usize] {
            return Err(lost(peer));
        }
        let len = match wire.mood(len) {
            RmaStatus::Bytes(len) => len,
            other => return Ok(other),
        };
        let Some(registered) = wire
            .registered
            .get(&remote.key)
            .filter(|it| it.owner == peer.0)
        else {
            return Ok(RmaStatus::Unable);
        };
        let from = remote.addr.wrapping_sub(registered.base) as usize;
        let Some(bytes) = from
            .checked_add(len)
            .and_then(|end| registered.bytes.get(from..end))
        else {
            return Ok(RmaStatus::Unable);
        };
        // SAFETY: the caller vouches for `len` or more bytes at `into`.
        unsafe { PeerBytes::from(bytes).copy_to(into) };
        Ok(RmaStatus::Bytes(len))
    }

    fn register_writable(&mut self, _: Peer, addr: *mut u8, len: u64) -> Option<RemoteKey> {
        let mut wire = self.wire();
        if wire.faults.reads == Reads::Never {
            return None;
        }
        let key = wire.next_key;
        wire.next_key += 1;
        let base = addr as u64;
        let room = Writable {
            owner: self.me,
            base,
            len: usize::try_from(len).ok()?,
        };
        wire.rooms.insert(key, room);
        Some(RemoteKey { addr: base, key })
    }

    unsafe fn try_put(
        &mut self,
        peer: Peer,
        from: *const u8,
        remote: RemoteKey,
        len: usize,
    ) -> Result<RmaStatus, PeerLost> {
        let mut wire = self.wire();
        if wire.dead[peer.0 as usize] {
            return Err(lost(peer));
        }
        let len = match wire.mood(len) {
            RmaStatus::Bytes(len) => len,
            other => return Ok(other),
        };
        let room = wire.rooms.get(&remote.key);
        let Some(room) = room.filter(|it| it.owner == peer.0) else {
            return Ok(RmaStatus::Unable);
        };
        let at = remote.addr.wrapping_sub(room.base) as usize;
        if at.checked_add(len).is_none_or(|end| end > room.len) {
            return Ok(RmaStatus::Unable);
        }
        // SAFETY: the caller vouches for `from`, and its owner for the room
        // until it is deregistered; `at + len` bytes are within it.
        unsafe { std::ptr::copy(from, (room.base as *mut u8).add(at), len) };
        Ok(RmaStatus::Bytes(len))
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

    /// Nothing happens in the simulator while somebody sleeps.
    fn sleep(&mut self, _: Duration) {}
}
