//! Flags, enumerations and errors of libfabric.

/// Flags, named as in the manual pages without `FI_`.
pub mod flag {
    pub const MSG: u64 = 1 << 1;
    pub const RMA: u64 = 1 << 2;
    pub const TAGGED: u64 = 1 << 3;
    pub const ATOMIC: u64 = 1 << 4;
    pub const READ: u64 = 1 << 8;
    pub const WRITE: u64 = 1 << 9;
    pub const RECV: u64 = 1 << 10;
    pub const SEND: u64 = 1 << 11;
    pub const REMOTE_READ: u64 = 1 << 12;
    pub const REMOTE_WRITE: u64 = 1 << 13;
    pub const MULTI_RECV: u64 = 1 << 16;
    pub const REMOTE_CQ_DATA: u64 = 1 << 17;
    pub const MORE: u64 = 1 << 18;
    pub const PEEK: u64 = 1 << 19;
    pub const COMPLETION: u64 = 1 << 24;
    pub const INJECT: u64 = 1 << 25;
    pub const INJECT_COMPLETE: u64 = 1 << 26;
    pub const TRANSMIT_COMPLETE: u64 = 1 << 27;
    pub const DELIVERY_COMPLETE: u64 = 1 << 28;
    pub const MATCH_COMPLETE: u64 = 1 << 31;
    /// Of address vectors: events tell of insertions.
    pub const EVENT: u64 = COMPLETION;
    pub const AV_USER_ID: u64 = 1 << 41;
    pub const LOCAL_COMM: u64 = 1 << 51;
    pub const REMOTE_COMM: u64 = 1 << 52;
    pub const RMA_EVENT: u64 = 1 << 56;
    pub const SOURCE: u64 = 1 << 57;
    pub const DISCARD: u64 = 1 << 58;
    pub const SYNC_ERR: u64 = 1 << 58;
    pub const DIRECTED_RECV: u64 = 1 << 59;
    pub const CLAIM: u64 = 1 << 59;
    pub const SELECTIVE_COMPLETION: u64 = 1 << 59;
    pub const FETCH_ATOMIC: u64 = 1 << 58;
    pub const COMPARE_ATOMIC: u64 = 1 << 59;
    /// A utility provider asks for what it may stand on: libfabric's own flags for that.
    pub const ASKED_BY_LAYERS: u64 = 1 << 58 | 1 << 59 | 1 << 61;
    /// Modes: operations have contexts of the caller's for the provider to write to.
    pub const CONTEXT: u64 = 1 << 59;
    pub const CONTEXT2: u64 = 1 << 52;
    /// Order among sends.
    pub const ORDER_SAS: u64 = 1 << 8;
    /// Order among atomics, whether they read or write.
    pub const ORDER_ATOMIC: u64 = 0xf << 36;
}

/// Bits of `mr_mode`.
pub mod mr {
    use std::ffi::c_int;

    pub const BASIC: c_int = 1 << 0;
    pub const SCALABLE: c_int = 1 << 1;
    pub const VIRT_ADDR: c_int = 1 << 4;
    pub const PROV_KEY: c_int = 1 << 6;
    /// All that a caller may be asked for in an offer for the link to stand on.
    pub const ANY: c_int = 1 << 2 | VIRT_ADDR | 1 << 5 | PROV_KEY | 1 << 9;
}

/// Classes of objects.
pub mod class {
    pub const FABRIC: usize = 1;
    pub const DOMAIN: usize = 2;
    pub const EP: usize = 3;
    pub const AV: usize = 11;
    pub const MR: usize = 12;
    pub const EQ: usize = 13;
    pub const CQ: usize = 14;
    pub const CNTR: usize = 15;
    pub const POLL: usize = 17;
}

/// Other enumerations.
pub mod num {
    use std::ffi::c_int;

    pub const EP_RDM: c_int = 3;
    pub const AV_MAP: c_int = 1;
    pub const AV_TABLE: c_int = 2;
    /// The event that addresses were inserted.
    pub const AV_COMPLETE: u32 = 5;
    pub const THREAD_SAFE: c_int = 1;
    pub const THREAD_DOMAIN: c_int = 3;
    pub const THREAD_ENDPOINT: c_int = 5;
    pub const PROGRESS_AUTO: c_int = 1;
    pub const PROGRESS_MANUAL: c_int = 2;
    /// Since 1.20.
    pub const PROGRESS_UNIFIED: c_int = 3;
    pub const RM_ENABLED: c_int = 2;
    pub const CQ_CONTEXT: c_int = 1;
    pub const CQ_MSG: c_int = 2;
    pub const CQ_DATA: c_int = 3;
    pub const CQ_TAGGED: c_int = 4;
    pub const WAIT_NONE: c_int = 0;
    pub const WAIT_UNSPEC: c_int = 1;
    pub const WAIT_FD: c_int = 3;
    pub const WAIT_YIELD: c_int = 5;
    pub const GETWAIT: c_int = 5;
    pub const ENABLE: c_int = 6;
    pub const GETWAITOBJ: c_int = 16;
    pub const GETOPSFLAG: c_int = 2;
    pub const SETOPSFLAG: c_int = 3;
    pub const OPT_ENDPOINT: c_int = 0;
    pub const OPT_MIN_MULTI_RECV: c_int = 0;
    /// An address that cannot be told, or any.
    pub const ADDR_NONE: u64 = u64::MAX;
}

/// Errors, negative, as calls return them.
pub mod err {
    use std::ffi::c_int;

    pub const AGAIN: c_int = -libc::EAGAIN;
    pub const INVAL: c_int = -libc::EINVAL;
    pub const NOSYS: c_int = -libc::ENOSYS;
    pub const NOEQ: c_int = -261;
    pub const NODATA: c_int = -libc::ENODATA;
    pub const NOCQ: c_int = -263;
    pub const NOMSG: c_int = -libc::ENOMSG;
    pub const BUSY: c_int = -libc::EBUSY;
    pub const NOENT: c_int = -libc::ENOENT;
    pub const MSGSIZE: c_int = -libc::EMSGSIZE;
    pub const NOTSUP: c_int = -libc::EOPNOTSUPP;
    pub const UNREACH: c_int = -libc::EHOSTUNREACH;
    pub const CONNABORTED: c_int = -libc::ECONNABORTED;
    pub const TIMEDOUT: c_int = -libc::ETIMEDOUT;
    pub const TOOSMALL: c_int = -257;
    pub const OPBADSTATE: c_int = -258;
    pub const AVAIL: c_int = -259;
    pub const BADFLAGS: c_int = -260;
    pub const TRUNC: c_int = -265;
    pub const NOKEY: c_int = -266;
    pub const NOAV: c_int = -267;
}
