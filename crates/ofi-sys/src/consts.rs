//! Flags and enumerations, named as in the manual pages without `FI_`.

use std::ffi::c_int;

/// The version of the programming interface that is asked for: 1.17.
pub const API: u32 = version(1, 17);

/// `FI_VERSION`.
pub const fn version(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}

/// Major and minor number of a version.
pub const fn version_parts(version: u32) -> (u32, u32) {
    (version >> 16, version & 0xffff)
}

/// Capability: messages.
pub const MSG: u64 = 1 << 1;
/// `FI_ORDER_SAS`: sends arrive in their order.
pub const ORDER_SAS: u64 = 1 << 8;
/// Capability: remote memory access.
pub const RMA: u64 = 1 << 2;
/// Capability: atomics.
pub const ATOMIC: u64 = 1 << 4;
/// Capability, access right: reads.
pub const READ: u64 = 1 << 8;
/// Capability, access right: writes.
pub const WRITE: u64 = 1 << 9;
/// Capability, access right, completion flag: receives.
pub const RECV: u64 = 1 << 10;
/// Capability, access right, completion flag: sends.
pub const SEND: u64 = 1 << 11;
/// Binding flag: the same bit as [`SEND`].
pub const TRANSMIT: u64 = SEND;
/// Capability, access right: being read.
pub const REMOTE_READ: u64 = 1 << 12;
/// Capability, access right: being written.
pub const REMOTE_WRITE: u64 = 1 << 13;
/// Operation flag: complete when the data are at the target.
pub const DELIVERY_COMPLETE: u64 = 1 << 28;
/// Capability, operation and completion flag: one buffer for many messages.
pub const MULTI_RECV: u64 = 1 << 16;

/// Mode: an operation needs a context of four words.
pub const CONTEXT: u64 = 1 << 59;
/// Mode: an operation needs a context of eight words.
pub const CONTEXT2: u64 = 1 << 52;

/// Memory: local buffers must be registered.
pub const MR_LOCAL: c_int = 1 << 2;
/// Memory: remote addresses are virtual addresses, not offsets.
pub const MR_VIRT_ADDR: c_int = 1 << 4;
/// Memory: registered memory must be there.
pub const MR_ALLOCATED: c_int = 1 << 5;
/// Memory: the provider chooses the keys.
pub const MR_PROV_KEY: c_int = 1 << 6;
/// Memory: a registration is bound to an endpoint and enabled.
pub const MR_ENDPOINT: c_int = 1 << 9;

/// Endpoint type: reliable datagrams.
pub const EP_RDM: c_int = 3;
/// Threading: the caller serialises what belongs to one domain.
pub const THREAD_DOMAIN: c_int = 3;
/// Progress: happens in calls.
pub const PROGRESS_MANUAL: c_int = 2;
/// Resources: the provider guards its queues.
pub const RM_ENABLED: c_int = 2;
/// Address vector: whatever the provider likes.
pub const AV_UNSPEC: c_int = 0;

/// Completion format: with flags, length, buffer and data.
pub const CQ_FORMAT_DATA: c_int = 3;
/// Waiting: not supported.
pub const WAIT_NONE: c_int = 0;
/// Waiting: a file descriptor.
pub const WAIT_FD: c_int = 3;

/// Control: the wait object of a queue.
pub const GETWAIT: c_int = 5;
/// Control: enable an endpoint or a registration.
pub const ENABLE: c_int = 6;

/// Level of endpoint options.
pub const OPT_ENDPOINT: c_int = 0;
/// Endpoint option: room below which a [`MULTI_RECV`] buffer is given back.
pub const OPT_MIN_MULTI_RECV: c_int = 0;

/// Types of words that atomics work on.
pub mod datatype {
    use std::ffi::c_int;

    /// Signed, 4 bytes.
    pub const INT32: c_int = 4;
    /// Unsigned, 4 bytes.
    pub const UINT32: c_int = 5;
    /// Signed, 8 bytes.
    pub const INT64: c_int = 6;
    /// Unsigned, 8 bytes.
    pub const UINT64: c_int = 7;
}

/// What atomics do.
pub mod op {
    use std::ffi::c_int;

    /// The lesser.
    pub const MIN: c_int = 0;
    /// The greater.
    pub const MAX: c_int = 1;
    /// The sum.
    pub const SUM: c_int = 2;
    /// Bitwise or.
    pub const BOR: c_int = 6;
    /// Bitwise and.
    pub const BAND: c_int = 7;
    /// Bitwise exclusive or.
    pub const BXOR: c_int = 9;
    /// The operand.
    pub const ATOMIC_WRITE: c_int = 11;
    /// The operand, if the word equals what it is compared with.
    pub const CSWAP: c_int = 12;
}

/// Text of: a protocol.
pub const TYPE_PROTOCOL: c_int = 12;

/// An address that cannot be used.
pub const ADDR_NOTAVAIL: u64 = u64::MAX;
/// From anybody.
pub const ADDR_UNSPEC: u64 = u64::MAX;
/// A key that is not known yet.
pub const KEY_NOTAVAIL: u64 = u64::MAX;

/// Error: what was asked for does not exist.
pub const ENODATA: isize = libc::ENODATA as isize;
/// Error: try again after reading completions.
pub const EAGAIN: isize = libc::EAGAIN as isize;
/// Error: an error is waiting to be read from the queue.
pub const EAVAIL: isize = 259;
/// Error: a registration cannot have that key.
pub const ENOKEY: i32 = 266;
/// Error: the operation was taken back.
pub const ECANCELED: isize = libc::ECANCELED as isize;
