//! Masks, flags and status numbers, named as in the interface without `UCP_`
//! and `UCS_`.

use std::ffi::c_int;

use crate::types::Status;

/// The version of the programming interface that is asked for: 1.13.
pub const API: (u32, u32) = (1, 13);

/// Feature: remote memory access.
pub const FEATURE_RMA: u64 = 1 << 1;
/// Feature: atomics on words of 4 bytes.
pub const FEATURE_AMO32: u64 = 1 << 2;
/// Feature: atomics on words of 8 bytes.
pub const FEATURE_AMO64: u64 = 1 << 3;
/// Feature: a descriptor that one can sleep on.
pub const FEATURE_WAKEUP: u64 = 1 << 4;
/// Feature: active messages.
pub const FEATURE_AM: u64 = 1 << 6;

/// [`Params`](crate::Params): `features` counts.
pub const PARAM_FEATURES: u64 = 1 << 0;
/// [`Params`](crate::Params): `mt_workers_shared` counts.
pub const PARAM_MT_WORKERS_SHARED: u64 = 1 << 5;
/// [`Params`](crate::Params): `estimated_num_eps` counts.
pub const PARAM_ESTIMATED_NUM_EPS: u64 = 1 << 6;

/// [`WorkerParams`](crate::WorkerParams): `thread_mode` counts.
pub const WORKER_PARAM_THREAD_MODE: u64 = 1 << 0;
/// Several threads, one at a time.
pub const THREAD_MODE_SERIALIZED: c_int = 1;

/// [`EpParams`](crate::EpParams): `address` counts.
pub const EP_PARAM_REMOTE_ADDRESS: u64 = 1 << 0;
/// [`EpParams`](crate::EpParams): `err_mode` counts.
pub const EP_PARAM_ERR_HANDLING_MODE: u64 = 1 << 1;
/// [`EpParams`](crate::EpParams): `err_handler` counts.
pub const EP_PARAM_ERR_HANDLER: u64 = 1 << 2;
/// The loss of a peer is told, and ends what is under way to it.
pub const ERR_HANDLING_MODE_PEER: c_int = 1;
/// Closing: at once, without the peer.
pub const EP_CLOSE_FLAG_FORCE: u32 = 1 << 0;

/// [`MemMapParams`](crate::MemMapParams): `address` counts.
pub const MEM_MAP_PARAM_ADDRESS: u64 = 1 << 0;
/// [`MemMapParams`](crate::MemMapParams): `length` counts.
pub const MEM_MAP_PARAM_LENGTH: u64 = 1 << 1;
/// [`MemMapParams`](crate::MemMapParams): `prot` counts.
pub const MEM_MAP_PARAM_PROT: u64 = 1 << 3;
/// Memory: may be read here.
pub const MEM_MAP_PROT_LOCAL_READ: u32 = 1 << 0;
/// Memory: may be written here.
pub const MEM_MAP_PROT_LOCAL_WRITE: u32 = 1 << 1;
/// Memory: may be written by others.
pub const MEM_MAP_PROT_REMOTE_WRITE: u32 = 1 << 9;
/// Memory: may be read by others.
pub const MEM_MAP_PROT_REMOTE_READ: u32 = 1 << 8;

/// [`AmHandlerParam`](crate::AmHandlerParam): `id` counts.
pub const AM_HANDLER_PARAM_ID: u64 = 1 << 0;
/// [`AmHandlerParam`](crate::AmHandlerParam): `flags` counts.
pub const AM_HANDLER_PARAM_FLAGS: u64 = 1 << 1;
/// [`AmHandlerParam`](crate::AmHandlerParam): `cb` counts.
pub const AM_HANDLER_PARAM_CB: u64 = 1 << 2;
/// [`AmHandlerParam`](crate::AmHandlerParam): `arg` counts.
pub const AM_HANDLER_PARAM_ARG: u64 = 1 << 3;
/// Handler: called once for a whole message.
pub const AM_FLAG_WHOLE_MSG: u32 = 1 << 0;
/// Send: without asking the receiver first.
pub const AM_SEND_FLAG_EAGER: u32 = 1 << 1;
/// Arrival: the message waits at its sender; there is no data yet.
pub const AM_RECV_ATTR_FLAG_RNDV: u64 = 1 << 17;

/// [`RequestParam`](crate::RequestParam): `cb` counts.
pub const OP_ATTR_CALLBACK: u32 = 1 << 1;
/// [`RequestParam`](crate::RequestParam): `user_data` counts.
pub const OP_ATTR_USER_DATA: u32 = 1 << 2;
/// [`RequestParam`](crate::RequestParam): `datatype` counts.
pub const OP_ATTR_DATATYPE: u32 = 1 << 3;
/// [`RequestParam`](crate::RequestParam): `reply_buffer` counts.
pub const OP_ATTR_REPLY_BUFFER: u32 = 1 << 5;
/// The operation ends by its callback, never at once.
pub const OP_ATTR_FLAG_NO_IMM_CMPL: u32 = 1 << 16;
/// [`RequestParam`](crate::RequestParam): `flags` counts.
pub const OP_ATTR_FLAGS: u32 = 1 << 4;

/// What atomics do.
pub mod atomic_op {
    use std::ffi::c_int;

    /// The sum.
    pub const ADD: c_int = 0;
    /// The operand.
    pub const SWAP: c_int = 1;
    /// What the reply buffer has, if the word equals the operand.
    pub const CSWAP: c_int = 2;
    /// Bitwise and.
    pub const AND: c_int = 3;
    /// Bitwise or.
    pub const OR: c_int = 4;
    /// Bitwise exclusive or.
    pub const XOR: c_int = 5;
}

/// The datatype of contiguous elements of that many bytes: `ucp_dt_make_contig`.
pub const fn contig(size: usize) -> u64 {
    (size as u64) << 3
}

/// Status: done.
pub const OK: Status = 0;
/// Status: under way.
pub const INPROGRESS: Status = 1;
/// Status: nothing is free.
pub const ERR_NO_RESOURCE: Status = -2;
/// Status: no memory.
pub const ERR_NO_MEMORY: Status = -4;
/// Status: nothing leads there.
pub const ERR_UNREACHABLE: Status = -6;
/// Status: no such thing.
pub const ERR_NO_ELEM: Status = -12;
/// Status: no such device.
pub const ERR_NO_DEVICE: Status = -14;
/// Status: there is something to do.
pub const ERR_BUSY: Status = -15;
/// Status: taken back.
pub const ERR_CANCELED: Status = -16;
/// The lowest status.
pub const ERR_LAST: Status = -100;
