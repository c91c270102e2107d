//! What is asked of a provider, and what it offers.

use std::ffi::{c_char, c_int, c_void};

use super::{Domain, Fabric, Fid};

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
