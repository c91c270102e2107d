//! Atomics on words of a peer's memory. UCX has neither the least nor the greatest.
//!
//! From 1.16 on UCX goes by its newer protocols, whose atomics fail where the transport has none of
//! its own: over shared memory `ucp_atomic_op_nbx` never returns, and over TCP a sum of 4 bytes is
//! cancelled (1.16.0, 1.17.0, 1.18.0 and 1.20.1; not if `UCX_PROTO_ENABLE=n`). 1.13.1 and 1.15.0
//! have no such fault. So no atomics are offered from 1.16 on, and the owner's process does them.

use std::ffi::c_int;

use catena_base::PeerBytes;
use catena_fabric::{
    Atomic, AtomicOp, AtomicSet, AtomicType, OpId, Peer, RemoteKey, RmaError, Started,
};
use catena_ucx_sys::consts::{self, atomic_op};

use crate::init::{Ucx, WORDS};

/// UCX's number of what an atomic does.
fn op_of(op: AtomicOp) -> Option<c_int> {
    Some(match op {
        AtomicOp::Sum => atomic_op::ADD,
        AtomicOp::And => atomic_op::AND,
        AtomicOp::Or => atomic_op::OR,
        AtomicOp::Xor => atomic_op::XOR,
        AtomicOp::Swap => atomic_op::SWAP,
        AtomicOp::CompareSwap => atomic_op::CSWAP,
        AtomicOp::Min | AtomicOp::Max => return None,
    })
}

/// The atomics that UCX has.
pub(crate) fn atomics() -> AtomicSet {
    let mut all = AtomicSet::NONE;
    for op in AtomicOp::ALL {
        for ty in AtomicType::ALL {
            if op_of(op).is_some() {
                all = all.with(op, ty, false).with(op, ty, true);
            }
        }
    }
    all
}

impl Ucx {
    /// Implements `Rma::atomic`.
    pub(crate) fn start_atomic(
        &mut self,
        id: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        if !self.objects.has_atomics() {
            return Err(RmaError::Unsupported);
        }
        let op = op_of(atomic.op).ok_or(RmaError::Unsupported)?;
        if !target.addr.is_multiple_of(atomic.ty.size() as u64) {
            return Err(RmaError::OutOfBounds);
        }
        let Some(rkey) = self.right_to(peer, target)? else {
            return Ok(Started::Full);
        };
        let compares = op == atomic_op::CSWAP;
        // Swaps always fetch.
        let replies = atomic.fetches || compares || op == atomic_op::SWAP;
        let fetches = atomic.fetches.then_some(atomic.ty);
        self.start(Some(id), peer, fetches, |ucx, slot, mut param| {
            let words = ucx.memory.at(ucx.words_at + slot * WORDS);
            let both = match compares {
                true => [atomic.compare, atomic.operand],
                false => [atomic.operand, 0],
            };
            for (at, word) in both.into_iter().enumerate() {
                let bytes = word.to_le_bytes();
                // SAFETY: the words of a slot that no operation uses.
                unsafe { PeerBytes::from(&bytes[..]).copy_to(words.add(8 * at)) };
            }
            param.op_attr_mask |= consts::OP_ATTR_DATATYPE | consts::OP_ATTR_FLAG_NO_IMM_CMPL;
            param.datatype = consts::contig(atomic.ty.size());
            if replies {
                param.op_attr_mask |= consts::OP_ATTR_REPLY_BUFFER;
                param.reply_buffer = words.wrapping_add(8).cast();
            }
            let ep = ucx.targets[peer.0 as usize].ep;
            let library = &ucx.objects.library;
            // SAFETY: the words stay until the operation has ended.
            unsafe { library.atomic(ep, op, words, target.addr, rkey, &param) }
        })
    }

    /// What the operation in a slot has fetched; 0 if it fetches nothing.
    pub(crate) fn fetched(&self, slot: usize) -> u64 {
        let Some(Some(ty)) = self.rma.kept(slot).copied() else {
            return 0;
        };
        let at = self.memory.at(self.words_at + slot * WORDS + 8);
        let mut word = [0; 8];
        // SAFETY: UCX has written as many bytes there, and no more.
        unsafe { PeerBytes::new(at, ty.size()) }.read(&mut word[..ty.size()]);
        u64::from_le_bytes(word)
    }
}
