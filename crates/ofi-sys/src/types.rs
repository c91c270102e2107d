//! Structures and tables of functions of `fi_domain(3)`, `fi_endpoint(3)`,
//! `fi_cq(3)`, `fi_getinfo(3)` and their neighbours. Fields that Catena never
//! touches keep their place and lose their type. First what is asked
//! of a provider and what it offers, then the objects with their tables of functions.

use std::ffi::{c_char, c_int, c_void};

/// `struct fi_info`: a way to communicate that a provider offers.
#[repr(C)]
#[derive(Debug)]
pub struct Info {
    /// The next offer, or null.
    pub next: *mut Info,
    /// Capabilities.
    pub caps: u64,
    /// What the caller must do.
    pub mode: u64,
    /// Format of addresses.
    pub addr_format: u32,
    /// Length of `src_addr`, bytes.
    pub src_addrlen: usize,
    /// Length of `dest_addr`, bytes.
    pub dest_addrlen: usize,
    /// Own address.
    pub src_addr: *mut c_void,
    /// Address of the other side.
    pub dest_addr: *mut c_void,
    /// Handle of a connection.
    pub handle: *mut Fid,
    /// Sending.
    pub tx_attr: *mut TxAttr,
    /// Receiving.
    pub rx_attr: *mut RxAttr,
    /// The endpoint.
    pub ep_attr: *mut EpAttr,
    /// The domain: usually an interface.
    pub domain_attr: *mut DomainAttr,
    /// The fabric: usually a network.
    pub fabric_attr: *mut FabricAttr,
    /// The device.
    pub nic: *mut c_void,
}

/// `struct fi_tx_attr`.
#[repr(C)]
#[derive(Debug)]
pub struct TxAttr {
    /// Capabilities.
    pub caps: u64,
    /// What the caller must do.
    pub mode: u64,
    /// Flags of every operation.
    pub op_flags: u64,
    /// Order of messages.
    pub msg_order: u64,
    /// Order of completions.
    pub comp_order: u64,
    /// Largest injected message, bytes.
    pub inject_size: usize,
    /// Operations under way.
    pub size: usize,
    /// Parts of a message.
    pub iov_limit: usize,
    /// Parts of remote memory.
    pub rma_iov_limit: usize,
    /// Traffic class.
    pub tclass: u32,
}

/// `struct fi_rx_attr`.
#[repr(C)]
#[derive(Debug)]
pub struct RxAttr {
    /// Capabilities.
    pub caps: u64,
    /// What the caller must do.
    pub mode: u64,
    /// Flags of every operation.
    pub op_flags: u64,
    /// Order of messages.
    pub msg_order: u64,
    /// Order of completions.
    pub comp_order: u64,
    /// Bytes buffered for messages that find no receive.
    pub total_buffered_recv: usize,
    /// Operations under way.
    pub size: usize,
    /// Parts of a message.
    pub iov_limit: usize,
}

/// `struct fi_ep_attr`.
#[repr(C)]
#[derive(Debug)]
pub struct EpAttr {
    /// Type of endpoint.
    pub kind: c_int,
    /// What is spoken on the wire.
    pub protocol: u32,
    /// Its version.
    pub protocol_version: u32,
    /// Longest message or remote read, bytes.
    pub max_msg_size: usize,
    /// Room in front of every message, bytes.
    pub msg_prefix_size: usize,
    /// Ordered reads after writes, bytes.
    pub max_order_raw_size: usize,
    /// Ordered writes after reads, bytes.
    pub max_order_war_size: usize,
    /// Ordered writes after writes, bytes.
    pub max_order_waw_size: usize,
    /// Bits of a tag.
    pub mem_tag_format: u64,
    /// Transmit contexts.
    pub tx_ctx_cnt: usize,
    /// Receive contexts.
    pub rx_ctx_cnt: usize,
    /// Length of `auth_key`, bytes.
    pub auth_key_size: usize,
    /// Proof of membership.
    pub auth_key: *mut u8,
}

/// `struct fi_domain_attr`; libfabric allocates it, and more may follow.
#[repr(C)]
#[derive(Debug)]
pub struct DomainAttr {
    /// A domain that is open already.
    pub domain: *mut Domain,
    /// Name, for example of an interface; freed by libfabric.
    pub name: *mut c_char,
    /// Who serialises what.
    pub threading: c_int,
    /// How connections progress.
    pub control_progress: c_int,
    /// How data progresses.
    pub data_progress: c_int,
    /// Who guards the queues.
    pub resource_mgmt: c_int,
    /// Kind of address vector.
    pub av_type: c_int,
    /// `MR_*` bits.
    pub mr_mode: c_int,
    /// Length of a key, bytes.
    pub mr_key_size: usize,
}

/// `struct fi_fabric_attr`.
#[repr(C)]
#[derive(Debug)]
pub struct FabricAttr {
    /// A fabric that is open already.
    pub fabric: *mut Fabric,
    /// Name, for example of a network.
    pub name: *mut c_char,
    /// Name of the provider, layers joined by `;`; freed by libfabric.
    pub prov_name: *mut c_char,
    /// Version of the provider.
    pub prov_version: u32,
    /// Version of the interface.
    pub api_version: u32,
}

/// `struct fi_av_attr`.
#[repr(C)]
#[derive(Debug)]
pub struct AvAttr {
    /// Kind of address vector.
    pub kind: c_int,
    /// Bits for receive contexts.
    pub rx_ctx_bits: c_int,
    /// Addresses, about.
    pub count: usize,
    /// Endpoints on a node, about.
    pub ep_per_node: usize,
    /// Name, if it is shared.
    pub name: *const c_char,
    /// Where it is mapped.
    pub map_addr: *mut c_void,
    /// Flags.
    pub flags: u64,
}

/// `struct fi_cq_attr`.
#[repr(C)]
#[derive(Debug)]
pub struct CqAttr {
    /// Completions that fit.
    pub size: usize,
    /// Flags.
    pub flags: u64,
    /// What a completion looks like.
    pub format: c_int,
    /// What one can sleep on.
    pub wait_obj: c_int,
    /// Processor for interrupts.
    pub signaling_vector: c_int,
    /// When a wait ends.
    pub wait_cond: c_int,
    /// A wait set.
    pub wait_set: *mut c_void,
}

/// A function that is never called.
pub type Unused = Option<unsafe extern "C" fn()>;

/// What every object begins with.
#[repr(C)]
#[derive(Debug)]
pub struct Fid {
    /// Class of the object.
    pub class: usize,
    /// The opener's own.
    pub context: *mut c_void,
    /// Operations of every object.
    pub ops: *mut FidOps,
}

/// `struct fi_ops`.
#[repr(C)]
#[derive(Debug)]
pub struct FidOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Closes the object.
    pub close: unsafe extern "C" fn(*mut Fid) -> c_int,
    /// Binds another object to it.
    pub bind: unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int,
    /// Commands.
    pub control: unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int,
}

/// `struct fid_fabric`.
#[repr(C)]
#[derive(Debug)]
pub struct Fabric {
    /// As object.
    pub fid: Fid,
    /// Operations.
    pub ops: *mut FabricOps,
}

/// `struct fi_ops_fabric`.
#[repr(C)]
#[derive(Debug)]
pub struct FabricOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Opens a domain.
    pub domain:
        unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Domain, *mut c_void) -> c_int,
    /// Not used.
    pub passive_ep: Unused,
    /// Not used.
    pub eq_open: Unused,
    /// Not used.
    pub wait_open: Unused,
    /// Whether one may sleep on the wait objects of these.
    pub trywait: unsafe extern "C" fn(*mut Fabric, *mut *mut Fid, c_int) -> c_int,
}

/// `struct fid_domain`.
#[repr(C)]
#[derive(Debug)]
pub struct Domain {
    /// As object.
    pub fid: Fid,
    /// Operations.
    pub ops: *mut DomainOps,
    /// Registration of memory.
    pub mr: *mut MrOps,
}

/// `struct fi_ops_domain`.
#[repr(C)]
#[derive(Debug)]
pub struct DomainOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Opens an address vector.
    pub av_open: unsafe extern "C" fn(*mut Domain, *mut AvAttr, *mut *mut Av, *mut c_void) -> c_int,
    /// Opens a completion queue.
    pub cq_open: unsafe extern "C" fn(*mut Domain, *mut CqAttr, *mut *mut Cq, *mut c_void) -> c_int,
    /// Opens an endpoint.
    pub endpoint: unsafe extern "C" fn(*mut Domain, *mut Info, *mut *mut Ep, *mut c_void) -> c_int,
}

/// `struct fi_ops_mr`.
#[repr(C)]
#[derive(Debug)]
pub struct MrOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Registers memory: object, address, length, access, offset, key, flags,
    /// result, context.
    pub reg: unsafe extern "C" fn(
        *mut Fid,
        *const c_void,
        usize,
        u64,
        u64,
        u64,
        u64,
        *mut *mut Mr,
        *mut c_void,
    ) -> c_int,
}

/// `struct fid_mr`.
#[repr(C)]
#[derive(Debug)]
pub struct Mr {
    /// As object.
    pub fid: Fid,
    /// Descriptor for local use.
    pub desc: *mut c_void,
    /// Key for remote use.
    pub key: u64,
}

/// `struct fid_av`.
#[repr(C)]
#[derive(Debug)]
pub struct Av {
    /// As object.
    pub fid: Fid,
    /// Operations.
    pub ops: *mut AvOps,
}

/// `struct fi_ops_av`.
#[repr(C)]
#[derive(Debug)]
pub struct AvOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Adds addresses; returns how many.
    pub insert:
        unsafe extern "C" fn(*mut Av, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int,
    /// Adds an address by names.
    pub insertsvc: *mut c_void,
    /// Adds addresses by names.
    pub insertsym: *mut c_void,
    /// Removes addresses.
    pub remove: unsafe extern "C" fn(*mut Av, *mut u64, usize, u64) -> c_int,
}

/// `struct fi_cq_data_entry`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CqEntry {
    /// Context of the operation.
    pub op_context: *mut c_void,
    /// What was completed.
    pub flags: u64,
    /// Bytes received.
    pub len: usize,
    /// Where they lie.
    pub buf: *mut c_void,
    /// Immediate data.
    pub data: u64,
}

/// `struct fi_cq_err_entry`, as long as any version ever made it: newer ones
/// fill in the source.
#[repr(C)]
#[derive(Debug)]
pub struct CqErrEntry {
    /// Context of the operation.
    pub op_context: *mut c_void,
    /// What failed.
    pub flags: u64,
    /// Bytes received.
    pub len: usize,
    /// Where they lie.
    pub buf: *mut c_void,
    /// Immediate data.
    pub data: u64,
    /// Tag.
    pub tag: u64,
    /// Bytes that found no room.
    pub olen: usize,
    /// Error number, positive.
    pub err: c_int,
    /// The provider's own.
    pub prov_errno: c_int,
    /// More about it.
    pub err_data: *mut c_void,
    /// Length of that, bytes; 0 lets the provider lend its own.
    pub err_data_size: usize,
    /// Source of the message.
    pub src_addr: u64,
    /// Room for fields to come.
    pub reserved: [u64; 7],
}

/// `struct fid_cq`.
#[repr(C)]
#[derive(Debug)]
pub struct Cq {
    /// As object.
    pub fid: Fid,
    /// Operations.
    pub ops: *mut CqOps,
}

/// `struct fi_ops_cq`.
#[repr(C)]
#[derive(Debug)]
pub struct CqOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Takes completions; returns how many.
    pub read: unsafe extern "C" fn(*mut Cq, *mut c_void, usize) -> isize,
    /// Not used.
    pub readfrom: Unused,
    /// Takes an error.
    pub readerr: unsafe extern "C" fn(*mut Cq, *mut CqErrEntry, u64) -> isize,
    /// Not used.
    pub sread: Unused,
    /// Not used.
    pub sreadfrom: Unused,
    /// Not used.
    pub signal: Unused,
    /// Words for an error of the provider.
    pub strerror:
        unsafe extern "C" fn(*mut Cq, c_int, *const c_void, *mut c_char, usize) -> *const c_char,
}

/// `struct fid_ep`.
#[repr(C)]
#[derive(Debug)]
pub struct Ep {
    /// As object.
    pub fid: Fid,
    /// Options.
    pub ops: *mut EpOps,
    /// Addresses.
    pub cm: *mut CmOps,
    /// Messages.
    pub msg: *mut MsgOps,
    /// Remote memory.
    pub rma: *mut RmaOps,
    /// Not used.
    pub tagged: *mut c_void,
    /// Atomics.
    pub atomic: *mut AtomicOps,
}

/// `struct fi_ops_ep`.
#[repr(C)]
#[derive(Debug)]
pub struct EpOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Not used.
    pub cancel: Unused,
    /// Not used.
    pub getopt: Unused,
    /// Sets an option: object, level, name, value, length.
    pub setopt: unsafe extern "C" fn(*mut Fid, c_int, c_int, *const c_void, usize) -> c_int,
}

/// `struct fi_ops_cm`.
#[repr(C)]
#[derive(Debug)]
pub struct CmOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Not used.
    pub setname: Unused,
    /// Own address: object, room, its length in and out.
    pub getname: unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int,
}

/// `struct fi_ops_msg`.
#[repr(C)]
#[derive(Debug)]
pub struct MsgOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Not used.
    pub recv: Unused,
    /// Not used.
    pub recvv: Unused,
    /// Posts a receive with flags.
    pub recvmsg: unsafe extern "C" fn(*mut Ep, *const Msg, u64) -> isize,
    /// Sends: endpoint, address, length, descriptor, destination, context.
    pub send:
        unsafe extern "C" fn(*mut Ep, *const c_void, usize, *mut c_void, u64, *mut c_void) -> isize,
    /// Not used.
    pub sendv: Unused,
    /// Not used.
    pub sendmsg: Unused,
    /// Sends a short message; the buffer is free on return, and no completion
    /// follows.
    pub inject: unsafe extern "C" fn(*mut Ep, *const c_void, usize, u64) -> isize,
}

/// `struct fi_msg`.
#[repr(C)]
#[derive(Debug)]
pub struct Msg {
    /// Parts.
    pub iov: *const libc::iovec,
    /// Their descriptors.
    pub desc: *mut *mut c_void,
    /// How many.
    pub iov_count: usize,
    /// Other side.
    pub addr: u64,
    /// Of the operation.
    pub context: *mut c_void,
    /// Immediate data.
    pub data: u64,
}

/// `struct fi_ops_rma`.
#[repr(C)]
#[derive(Debug)]
pub struct RmaOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Reads: endpoint, local address, length, descriptor, source, remote
    /// address, key, context.
    pub read: unsafe extern "C" fn(
        *mut Ep,
        *mut c_void,
        usize,
        *mut c_void,
        u64,
        u64,
        u64,
        *mut c_void,
    ) -> isize,
    /// Not used.
    pub readv: Unused,
    /// Not used.
    pub readmsg: Unused,
    /// Not used.
    pub write: Unused,
    /// Not used.
    pub writev: Unused,
    /// Writes with flags.
    pub writemsg: unsafe extern "C" fn(*mut Ep, *const MsgRma, u64) -> isize,
}

/// An atomic that fetches: endpoint, operand, count, descriptor, result, descriptor, target, remote
/// address, key, type, operation, context.
pub type FetchAtomic = unsafe extern "C" fn(
    *mut Ep,
    *const c_void,
    usize,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;

/// An atomic that compares and fetches: as [`FetchAtomic`], with what it compares with and its
/// descriptor in front of the result.
pub type CompareAtomic = unsafe extern "C" fn(
    *mut Ep,
    *const c_void,
    usize,
    *mut c_void,
    *const c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;

/// Whether there is such an atomic: endpoint, type, operation, most words at once.
pub type AtomicValid = unsafe extern "C" fn(*mut Ep, c_int, c_int, *mut usize) -> c_int;

/// `struct fi_ops_atomic`.
#[repr(C)]
#[derive(Debug)]
pub struct AtomicOps {
    /// Bytes that the provider filled in.
    pub size: usize,
    /// Not used.
    pub write: Unused,
    /// Not used.
    pub writev: Unused,
    /// Not used.
    pub writemsg: Unused,
    /// Not used.
    pub inject: Unused,
    /// Changes a word and fetches what it was.
    pub readwrite: FetchAtomic,
    /// Not used.
    pub readwritev: Unused,
    /// Not used.
    pub readwritemsg: Unused,
    /// Compares, and changes a word.
    pub compwrite: CompareAtomic,
    /// Not used.
    pub compwritev: Unused,
    /// Not used.
    pub compwritemsg: Unused,
    /// Not used.
    pub writevalid: Unused,
    /// Of `readwrite`.
    pub readwritevalid: AtomicValid,
    /// Of `compwrite`.
    pub compwritevalid: AtomicValid,
}

/// `struct fi_rma_iov`.
#[repr(C)]
#[derive(Debug)]
pub struct RmaIov {
    /// Address or offset at the target.
    pub addr: u64,
    /// Bytes.
    pub len: usize,
    /// Key of the region.
    pub key: u64,
}

/// `struct fi_msg_rma`.
#[repr(C)]
#[derive(Debug)]
pub struct MsgRma {
    /// Local parts.
    pub iov: *const libc::iovec,
    /// Their descriptors.
    pub desc: *mut *mut c_void,
    /// How many.
    pub iov_count: usize,
    /// Other side.
    pub addr: u64,
    /// Parts there.
    pub rma_iov: *const RmaIov,
    /// How many.
    pub rma_iov_count: usize,
    /// Of the operation.
    pub context: *mut c_void,
    /// Immediate data.
    pub data: u64,
}

/// Memory that an operation lends to the provider: `struct fi_context2`, which
/// serves where `struct fi_context` is asked for too.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Context2 {
    /// The provider's.
    pub internal: [*mut c_void; 8],
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    // As a C compiler lays out the headers of 1.17.
    assert!(size_of::<Info>() == 120 && size_of::<TxAttr>() == 80);
    assert!(size_of::<RxAttr>() == 64 && size_of::<EpAttr>() == 96);
    assert!(size_of::<FabricAttr>() == 32 && size_of::<AvAttr>() == 48);
    assert!(size_of::<CqAttr>() == 40 && size_of::<CqEntry>() == 40);
    assert!(size_of::<MsgRma>() == 64 && size_of::<RmaIov>() == 24);
    assert!(size_of::<Msg>() == 48 && size_of::<Context2>() == 64);
    assert!(std::mem::offset_of!(CqErrEntry, src_addr) == 80);
    assert!(std::mem::offset_of!(DomainAttr, mr_key_size) == 40);
};
