//! Put, get and atomics on a peer's memory. All of them are complete when the call returns, at the
//! target, too; so there is never anything to flush.
//!
//! The kernel copies to and from private memory of a peer; memory of the segment is copied
//! straight. Atomics are those of the processor and work on memory of the segment alone, as private
//! memory of a peer can only be copied. A remote key says which it is: [`PRIVATE`] has an address
//! in the owner's address space, [`SEGMENT`] an offset in the segment of the owner's job. Memory of
//! devices can be read: see [`device`](crate::device).

use catena_base::PeerBytes;
use catena_fabric::{
    Access, Atomic, AtomicSet, Buf, OpId, Peer, RemoteKey, Rma, RmaCaps, RmaError, Started,
};

use crate::device::is_device;
use crate::init::Shm;
use crate::rma::Copied;
use crate::segment::{PRIVATE, SEGMENT};
use crate::settings::SingleCopy;

/// Bytes that one call copies if its caller has other things to do.
const PIECE: usize = 1 << 19;

impl Shm {
    /// Implements `Transport::register`.
    pub(crate) fn key_of(&self, peer: Option<Peer>, buf: Buf, access: Access) -> Option<RemoteKey> {
        if let Some(addr) = self.segment.offset_of(buf.at, buf.len) {
            return Some(RemoteKey { addr, key: SEGMENT });
        }
        let reads = match peer {
            Some(peer) => self.may_read(peer),
            None => self.config.single_copy != SingleCopy::Never,
        };
        (reads && !access.allows(Access::ATOMIC)).then_some(RemoteKey {
            addr: buf.at as u64,
            key: PRIVATE,
        })
    }

    /// The address here of `len` bytes of a peer's memory; `None` if they are not all in the
    /// segment of its job.
    pub fn map(&self, peer: Peer, remote: RemoteKey, len: usize) -> Option<*mut u8> {
        self.in_segment(peer, remote, len, 1).ok()
    }

    /// Moves `len` bytes of a peer's private memory by calls that move some of the bytes from a
    /// position on.
    fn by_kernel(
        &mut self,
        target: RemoteKey,
        len: usize,
        mut some: impl FnMut(&mut Shm, RemoteKey, usize) -> Result<Copied, RmaError>,
    ) -> Result<Started, RmaError> {
        if target.key != PRIVATE {
            return Err(RmaError::NoRegion);
        }
        let mut at = 0;
        while at < len {
            let addr = target.addr.wrapping_add(at as u64);
            match some(self, RemoteKey { addr, ..target }, at)? {
                Copied::Bytes(0) | Copied::Unable => {
                    let cause = "the kernel does not reach that memory".to_string();
                    return Err(RmaError::Refused(cause));
                }
                Copied::Bytes(n) => at += n,
                Copied::Again if at == 0 => return Ok(Started::Full),
                Copied::Again => {}
            }
        }
        Ok(Started::Complete(0))
    }

    /// Whether a peer is there.
    fn check_alive(&self, peer: Peer) -> Result<(), RmaError> {
        match self.peer_states[self.number(peer)].lost() {
            Some(lost) => Err(lost.clone().into()),
            None => Ok(()),
        }
    }
}

impl Rma for Shm {
    fn rma_caps(&self, peer: Peer) -> RmaCaps {
        let copies = self.may_read(peer);
        RmaCaps {
            put: copies,
            get: copies,
            atomics: AtomicSet::ALL,
            max_len: usize::MAX,
            piece: PIECE,
        }
    }

    unsafe fn put(
        &mut self,
        _op: OpId,
        peer: Peer,
        from: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        self.check_alive(peer)?;
        let from = from.in_host()?;
        if target.key == SEGMENT {
            let to = self.in_segment(peer, target, from.len, 1)?;
            // SAFETY: the caller vouches for `from`; the other is in the mapping, and may be
            // written by all.
            unsafe { PeerBytes::new(from.at, from.len).copy_to(to) };
            return Ok(Started::Complete(0));
        }
        self.by_kernel(target, from.len, |shm, target, at| {
            // SAFETY: `len - at` bytes are left there; the peer has registered the target.
            Ok(unsafe { shm.write(peer, from.at.add(at), target, from.len - at) }?)
        })
    }

    unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        into: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        self.check_alive(peer)?;
        if is_device(target.key) {
            // SAFETY: as the caller promised.
            return unsafe { self.get_from_device(op, peer, into, target) };
        }
        let into = into.in_host()?;
        if target.key == SEGMENT {
            let from = self.in_segment(peer, target, into.len, 1)?;
            // SAFETY: the caller vouches for `into`; the other is in the mapping.
            unsafe { PeerBytes::new(from, into.len).copy_to(into.at) };
            return Ok(Started::Complete(0));
        }
        self.by_kernel(target, into.len, |shm, target, at| {
            // SAFETY: `len - at` bytes are left there, which the caller lends.
            Ok(unsafe { shm.read(peer, target, into.at.add(at), into.len - at) }?)
        })
    }

    fn atomic(
        &mut self,
        _op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        self.check_alive(peer)?;
        let size = atomic.ty.size();
        let at = self.in_segment(peer, target, size, size)?;
        // SAFETY: an aligned word in the mapping, which all change by atomics or raw copies.
        let old = unsafe { atomic.update(at) };
        Ok(Started::Complete(if atomic.fetches { old } else { 0 }))
    }

    fn flush(&mut self, _op: OpId, peer: Peer) -> Result<Started, RmaError> {
        self.check_alive(peer)?;
        Ok(Started::Complete(0))
    }
}
