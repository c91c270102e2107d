//! Put, get and atomics on a peer's memory. All of them are complete when the call returns, at the
//! target, too; so there is never anything to flush.
//!
//! The kernel copies to and from private memory of a peer; memory of the segment is copied straight.
//! Atomics are those of the processor and work on memory of the segment alone, as private memory of
//! a peer can only be copied. A remote key says which it is: [`PRIVATE`] has an address in the
//! owner's address space, [`SEGMENT`] an offset that is good on all ranks of the node.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU32, AtomicU64};

use catena_base::PeerBytes;
use catena_fabric::{
    Access, Atomic, AtomicOp, AtomicSet, AtomicType, OpId, Peer, RemoteKey, Rma, RmaCaps, RmaError,
    RmaStatus, Started, Transport,
};

use crate::init::Shm;

/// Key of memory that only its owner has mapped.
const PRIVATE: u64 = 0;
/// Key of memory of the segment.
const SEGMENT: u64 = 1;

impl Shm {
    /// Implements `Transport::register`.
    pub(crate) fn key_of(
        &self,
        peer: Peer,
        addr: *mut u8,
        len: u64,
        access: Access,
    ) -> Option<RemoteKey> {
        if access.allows(Access::ATOMIC) {
            let addr = self.segment.offset_of(addr, usize::try_from(len).ok()?)?;
            return Some(RemoteKey { addr, key: SEGMENT });
        }
        self.may_read(peer).then_some(RemoteKey {
            addr: addr as u64,
            key: PRIVATE,
        })
    }

    /// Where `len` bytes of the segment lie, which `target` says.
    fn in_segment(&self, target: RemoteKey, len: usize, align: usize) -> Result<*mut u8, RmaError> {
        if target.key != SEGMENT {
            return Err(RmaError::NoRegion);
        }
        let range = self.segment.range(target.addr, len, align);
        range.ok_or(RmaError::OutOfBounds)
    }

    /// Moves `len` bytes of a peer's private memory by calls that move some of the bytes from a
    /// position on.
    fn by_kernel(
        &mut self,
        target: RemoteKey,
        len: usize,
        mut some: impl FnMut(&mut Shm, RemoteKey, usize) -> Result<RmaStatus, RmaError>,
    ) -> Result<Started, RmaError> {
        if target.key != PRIVATE {
            return Err(RmaError::NoRegion);
        }
        let mut at = 0;
        while at < len {
            let addr = target.addr.wrapping_add(at as u64);
            match some(self, RemoteKey { addr, ..target }, at)? {
                RmaStatus::Bytes(0) | RmaStatus::Unable => {
                    let cause = "the kernel does not reach that memory".to_string();
                    return Err(RmaError::Refused(cause));
                }
                RmaStatus::Bytes(n) => at += n,
                RmaStatus::Full if at == 0 => return Ok(Started::Full),
                RmaStatus::Full => {}
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
        }
    }

    unsafe fn put(
        &mut self,
        _op: OpId,
        peer: Peer,
        from: *const u8,
        len: usize,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        self.check_alive(peer)?;
        if target.key == SEGMENT {
            let to = self.in_segment(target, len, 1)?;
            // SAFETY: the caller vouches for `from`; the other is in the mapping, and may be
            // written by all.
            unsafe { PeerBytes::new(from, len).copy_to(to) };
            return Ok(Started::Complete(0));
        }
        self.by_kernel(target, len, |shm, target, at| {
            // SAFETY: `len - at` bytes are left there; the peer has registered the target.
            Ok(unsafe { shm.try_put(peer, from.add(at), target, len - at) }?)
        })
    }

    unsafe fn get(
        &mut self,
        _op: OpId,
        peer: Peer,
        into: *mut u8,
        len: usize,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        self.check_alive(peer)?;
        if target.key == SEGMENT {
            let from = self.in_segment(target, len, 1)?;
            // SAFETY: the caller vouches for `into`; the other is in the mapping.
            unsafe { PeerBytes::new(from, len).copy_to(into) };
            return Ok(Started::Complete(0));
        }
        self.by_kernel(target, len, |shm, target, at| {
            // SAFETY: `len - at` bytes are left there, which the caller lends.
            Ok(unsafe { shm.try_get(peer, target, into.add(at), len - at) }?)
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
        let at = self.in_segment(target, size, size)?;
        // SAFETY: an aligned word in the mapping, which all change by atomics or raw copies.
        let old = unsafe { update(at, atomic) };
        Ok(Started::Complete(if atomic.fetches { old } else { 0 }))
    }

    fn flush(&mut self, _op: OpId, peer: Peer) -> Result<Started, RmaError> {
        self.check_alive(peer)?;
        Ok(Started::Complete(0))
    }
}

/// Carries out an atomic by instructions of the processor; the former word.
///
/// # Safety
/// `at` is a multiple of the word's size, valid, and used by atomics or raw copies alone.
unsafe fn update(at: *mut u8, atomic: Atomic) -> u64 {
    /// Carries out the atomic on a word of one width.
    macro_rules! update {
        ($word:expr, $bits:ty) => {{
            let word = $word;
            let operand = atomic.operand as $bits;
            let is_signed = matches!(atomic.ty, AtomicType::I32 | AtomicType::I64);
            let old = match atomic.op {
                AtomicOp::Sum => word.fetch_add(operand, SeqCst),
                AtomicOp::And => word.fetch_and(operand, SeqCst),
                AtomicOp::Or => word.fetch_or(operand, SeqCst),
                AtomicOp::Xor => word.fetch_xor(operand, SeqCst),
                AtomicOp::Swap => word.swap(operand, SeqCst),
                AtomicOp::CompareSwap => word
                    .compare_exchange(atomic.compare as $bits, operand, SeqCst, SeqCst)
                    .unwrap_or_else(|old| old),
                AtomicOp::Min | AtomicOp::Max if is_signed => {
                    let new = |old| Some(atomic.apply(u64::from(old)) as $bits);
                    word.fetch_update(SeqCst, SeqCst, new)
                        .unwrap_or_else(|old| old)
                }
                AtomicOp::Min => word.fetch_min(operand, SeqCst),
                AtomicOp::Max => word.fetch_max(operand, SeqCst),
            };
            u64::from(old)
        }};
    }
    // SAFETY: as promised, for both widths.
    unsafe {
        match atomic.ty.size() {
            4 => update!(AtomicU32::from_ptr(at.cast()), u32),
            _ => update!(AtomicU64::from_ptr(at.cast()), u64),
        }
    }
}
