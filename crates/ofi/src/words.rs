//! Atomics in libfabric's terms, and what an operation keeps.

use std::ffi::c_int;

use catena_fabric::{AtomicOp, AtomicSet, AtomicType};
use catena_ofi_sys::calls;
use catena_ofi_sys::consts::{datatype, op};

use crate::objects::{Objects, Region};

/// Bytes of the words of an atomic: its operand, what it compares with, and what it fetches.
pub(crate) const WORDS: usize = 24;

/// What an operation needs until the provider has ended it.
#[derive(Debug)]
pub(crate) struct OpResources {
    /// The registration of its local memory.
    pub _region: Option<Region>,
    /// The type of the word that it fetches.
    pub fetches: Option<AtomicType>,
}

/// Its number of what an atomic does.
pub(crate) fn op_of(op: AtomicOp) -> c_int {
    match op {
        AtomicOp::Sum => op::SUM,
        AtomicOp::And => op::BAND,
        AtomicOp::Or => op::BOR,
        AtomicOp::Xor => op::BXOR,
        AtomicOp::Min => op::MIN,
        AtomicOp::Max => op::MAX,
        AtomicOp::Swap => op::ATOMIC_WRITE,
        AtomicOp::CompareSwap => op::CSWAP,
    }
}

/// Its number of the type of a word.
pub(crate) fn type_of(ty: AtomicType) -> c_int {
    match ty {
        AtomicType::I32 => datatype::INT32,
        AtomicType::U32 => datatype::UINT32,
        AtomicType::I64 => datatype::INT64,
        AtomicType::U64 => datatype::UINT64,
    }
}

/// The atomics that an endpoint has, as it says itself.
pub(crate) fn atomics_of(objects: &Objects) -> AtomicSet {
    let mut all = AtomicSet::NONE;
    if !objects.offer.has_atomics() {
        return all;
    }
    for op in AtomicOp::ALL {
        for ty in AtomicType::ALL {
            // SAFETY: the endpoint is open.
            if unsafe { calls::atomic_valid(objects.ep, op_of(op), type_of(ty)) } {
                all = all.with(op, ty, false).with(op, ty, true);
            }
        }
    }
    all
}
