//! The route to oneself.

use std::collections::VecDeque;
use std::time::Duration;

use catena_base::{PayloadRoom, PeerBytes};
use catena_fabric::{
    Access, Atomic, AtomicSet, Buf, Caps, Deliver, Header, Kinds, Load, OpId, Payload, Peer,
    PeerLost, Posted, RemoteKey, Rendezvous, Rma, RmaCaps, RmaError, Started, Transport,
};
use catena_link::Tally;

/// Bytes that one call copies if its caller has other things to do.
const PIECE: usize = 1 << 19;

/// Memory that is registered.
#[derive(Clone, Copy, Debug)]
struct Own {
    addr: u64,
    len: u64,
    access: Access,
}

/// A queue of packets. Long messages are read in place.
#[derive(Debug)]
pub(super) struct Loopback {
    pub me: Peer,
    queue: VecDeque<(Header, Box<[u8]>)>,
    /// By key, which is the number here and one more.
    regions: Vec<Option<Own>>,
    /// Numbers of regions that ended.
    free: Vec<usize>,
    /// Messages that this process sent to itself.
    pub sent: Tally,
}

impl Loopback {
    pub fn new(me: Peer) -> Self {
        Loopback {
            me,
            queue: VecDeque::new(),
            regions: Vec::new(),
            free: Vec::new(),
            sent: Tally::default(),
        }
    }

    /// `len` bytes of registered memory.
    fn find(&self, key: RemoteKey, len: usize, access: Access) -> Result<*mut u8, RmaError> {
        let number = key.key.wrapping_sub(1) as usize;
        let region = self.regions.get(number).copied().flatten();
        let region = region.ok_or(RmaError::NoRegion)?;
        let end = key.addr.checked_sub(region.addr);
        let end = end.and_then(|at| at.checked_add(len as u64));
        match end {
            Some(end) if end <= region.len => {}
            _ => return Err(RmaError::OutOfBounds),
        }
        match region.access.allows(access) {
            true => Ok(key.addr as *mut u8),
            false => Err(RmaError::Forbidden),
        }
    }

    /// Where `len` bytes of registered memory lie; `None` if not all of them are registered.
    pub fn own_memory(&self, key: RemoteKey, len: usize) -> Option<*mut u8> {
        self.find(key, len, Access::default()).ok()
    }

    /// Whether a poll would find nothing.
    #[inline(always)]
    pub fn is_silent(&self) -> bool {
        self.queue.is_empty()
    }
}

impl Transport for Loopback {
    fn name(&self) -> &'static str {
        "self"
    }

    fn caps(&self, _: Peer) -> Caps {
        Caps {
            max_packet: 64 << 10,
            whole: 64 << 10,
            eager_max: 16 << 10,
            ordered: true,
            kinds: Kinds::HOST,
        }
    }

    fn try_send<P: Payload>(
        &mut self,
        _: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        if let Some(len) = catena_link::begins(&header) {
            self.sent.add(len);
        }
        let mut copy = vec![0; payload.len()].into_boxed_slice();
        // SAFETY: a slice of exactly that length, ours alone.
        payload.write(unsafe { PayloadRoom::new(copy.as_mut_ptr(), copy.len()) });
        self.queue.push_back((header, copy));
        Ok(Posted::Done)
    }

    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        // What the deliveries cause to be sent waits for the next call.
        let there = self.queue.len();
        for (header, payload) in self.queue.drain(..) {
            deliver.deliver(self.me, header, PeerBytes::from(&payload[..]));
        }
        there
    }

    fn rendezvous(&self, _: Peer, _: u64, _: Load) -> Rendezvous {
        Rendezvous::Get
    }

    fn register(&mut self, _: Option<Peer>, buf: Buf, access: Access) -> Option<RemoteKey> {
        if !buf.kind.is_host() {
            return None;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.regions.push(None);
            self.regions.len() - 1
        });
        let (addr, len) = (buf.at as u64, buf.len as u64);
        self.regions[number] = Some(Own { addr, len, access });
        let key = number as u64 + 1;
        Some(RemoteKey { addr, key })
    }

    fn deregister(&mut self, remote: RemoteKey) {
        let number = remote.key.wrapping_sub(1) as usize;
        if self
            .regions
            .get_mut(number)
            .and_then(Option::take)
            .is_some()
        {
            self.free.push(number);
        }
    }

    fn sleep(&mut self, limit: Duration) {
        // Nobody can wake us.
        std::thread::park_timeout(limit.min(Duration::from_millis(1)));
    }
}

impl Rma for Loopback {
    fn rma_caps(&self, _: Peer) -> RmaCaps {
        RmaCaps {
            put: true,
            get: true,
            atomics: AtomicSet::ALL,
            max_len: usize::MAX,
            piece: PIECE,
        }
    }

    unsafe fn put(
        &mut self,
        _: OpId,
        _: Peer,
        from: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let from = from.in_host()?;
        let to = self.find(target, from.len, Access::WRITE)?;
        // SAFETY: the caller vouches for `from`, and our registration for `to`; they may overlap.
        unsafe { std::ptr::copy(from.at, to, from.len) };
        Ok(Started::Complete(0))
    }

    unsafe fn get(
        &mut self,
        _: OpId,
        _: Peer,
        into: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let into = into.in_host()?;
        let from = self.find(target, into.len, Access::READ)?;
        // SAFETY: the caller vouches for `into`, and our registration for `from`; they may overlap.
        unsafe { std::ptr::copy(from, into.at, into.len) };
        Ok(Started::Complete(0))
    }

    fn atomic(
        &mut self,
        _: OpId,
        _: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let size = atomic.ty.size();
        let at = self.find(target, size, Access::ATOMIC)?;
        if !at.addr().is_multiple_of(size) {
            return Err(RmaError::OutOfBounds);
        }
        // SAFETY: an aligned word that is registered for atomics.
        let old = unsafe { atomic.update(at) };
        Ok(Started::Complete(if atomic.fetches { old } else { 0 }))
    }

    fn flush(&mut self, _: OpId, _: Peer) -> Result<Started, RmaError> {
        Ok(Started::Complete(0))
    }
}
