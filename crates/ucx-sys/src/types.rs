//! Structures of `ucp.h`. Each is as long as in version 1.13; the masks say
//! which fields count, so later versions read no further.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// A status: 0 is success, 1 under way, a negative number an error. It has one
/// byte.
pub type Status = i8;

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)+) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Debug)]
            pub struct $name {
                _private: [u8; 0],
            }
        )+
    };
}

opaque! {
    /// `ucp_config_t`: settings.
    ConfigHandle;
    /// `struct ucp_context`: the networks that are in use.
    Context;
    /// `struct ucp_worker`: queues and progress.
    Worker;
    /// `struct ucp_ep`: the way to one peer.
    Ep;
    /// `struct ucp_mem`: registered memory.
    Mem;
    /// `struct ucp_rkey`: the right to a peer's memory.
    Rkey;
    /// An operation under way.
    Request;
}

/// `ucp_params_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Params {
    /// Which fields count.
    pub field_mask: u64,
    /// What is wanted.
    pub features: u64,
    /// Bytes in front of every request.
    pub request_size: usize,
    /// Not used.
    pub request_init: *mut c_void,
    /// Not used.
    pub request_cleanup: *mut c_void,
    /// Not used.
    pub tag_sender_mask: u64,
    /// Whether threads share the context through several workers.
    pub mt_workers_shared: c_int,
    /// Endpoints to be expected.
    pub estimated_num_eps: usize,
    /// Processes of a node to be expected.
    pub estimated_num_ppn: usize,
    /// Name in UCX's own reports.
    pub name: *const c_char,
}

/// `ucp_worker_params_t`.
#[repr(C)]
#[derive(Debug)]
pub struct WorkerParams {
    /// Which fields count.
    pub field_mask: u64,
    /// Threads.
    pub thread_mode: c_int,
    /// Processors on which it will run, a bit each.
    pub cpu_mask: [u64; 16],
    /// Events that wake.
    pub events: c_uint,
    /// Not used.
    pub user_data: *mut c_void,
    /// Not used.
    pub event_fd: c_int,
    /// Not used.
    pub flags: u64,
    /// Name in UCX's own reports.
    pub name: *const c_char,
    /// Alignment of what arrives.
    pub am_alignment: usize,
    /// Not used.
    pub client_id: u64,
}

/// `ucp_ep_params_t`.
#[repr(C)]
#[derive(Debug)]
pub struct EpParams {
    /// Which fields count.
    pub field_mask: u64,
    /// Address of the peer's worker.
    pub address: *const c_void,
    /// What happens when the peer is lost.
    pub err_mode: c_int,
    /// The function that is told of errors.
    pub err_handler: ErrHandler,
    /// Not used.
    pub user_data: *mut c_void,
    /// Not used.
    pub flags: c_uint,
    /// Not used.
    pub sockaddr: SockAddr,
    /// Not used.
    pub conn_request: *mut c_void,
    /// Name in UCX's own reports.
    pub name: *const c_char,
    /// Not used.
    pub local_sockaddr: SockAddr,
}

/// `ucs_sock_addr_t`.
#[repr(C)]
#[derive(Debug)]
pub struct SockAddr {
    /// The address, or null.
    pub addr: *const c_void,
    /// Its length, bytes.
    pub addrlen: u32,
}

/// `ucp_err_handler_t`: called in [`Library::progress`](crate::Library::progress)
/// with its argument, the endpoint and the cause.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ErrHandler {
    /// The function.
    pub cb: Option<unsafe extern "C" fn(*mut c_void, *mut Ep, Status)>,
    /// Its first argument.
    pub arg: *mut c_void,
}

/// `ucp_mem_map_params_t`.
#[repr(C)]
#[derive(Debug)]
pub struct MemMapParams {
    /// Which fields count.
    pub field_mask: u64,
    /// Begin of the memory.
    pub address: *const c_void,
    /// Its length, bytes.
    pub length: usize,
    /// How it is mapped.
    pub flags: c_uint,
    /// What it may be used for.
    pub prot: c_uint,
    /// What kind of memory it is.
    pub memory_type: c_int,
}

/// `ucp_am_recv_callback_t`: argument, header and its length, data and its
/// length, parameters.
pub type AmReceive = unsafe extern "C" fn(
    *mut c_void,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    *const AmRecvParam,
) -> Status;

/// `ucp_am_handler_param_t`.
#[repr(C)]
#[derive(Debug)]
pub struct AmHandlerParam {
    /// Which fields count.
    pub field_mask: u64,
    /// Number of the handler.
    pub id: c_uint,
    /// How it is called.
    pub flags: u32,
    /// The function.
    pub cb: AmReceive,
    /// Its first argument.
    pub arg: *mut c_void,
}

/// `ucp_am_recv_param_t`.
#[repr(C)]
#[derive(Debug)]
pub struct AmRecvParam {
    /// What is known about the message.
    pub recv_attr: u64,
    /// Not used.
    pub reply_ep: *mut Ep,
}

/// `ucp_send_nbx_callback_t`: called in
/// [`Library::progress`](crate::Library::progress) with the operation, its
/// status and `user_data`.
pub type SendDone = unsafe extern "C" fn(*mut Request, Status, *mut c_void);

/// `ucp_request_param_t`.
#[repr(C)]
#[derive(Debug)]
pub struct RequestParam {
    /// Which fields count.
    pub op_attr_mask: u32,
    /// Flags of the operation.
    pub flags: u32,
    /// Not used.
    pub request: *mut c_void,
    /// The function that is told when the operation is done.
    pub cb: Option<SendDone>,
    /// Type of the elements.
    pub datatype: u64,
    /// The callback's last argument.
    pub user_data: *mut c_void,
    /// Where an atomic finds a second operand, and puts what it fetches.
    pub reply_buffer: *mut c_void,
    /// Not used.
    pub memory_type: c_int,
    /// Not used.
    pub recv_info: *mut c_void,
    /// Not used.
    pub memh: *mut Mem,
}

// As the headers of 1.13 have them on 64-bit machines.
const _: () = {
    assert!(size_of::<Params>() == 80);
    assert!(size_of::<WorkerParams>() == 200);
    assert!(size_of::<EpParams>() == 104);
    assert!(size_of::<MemMapParams>() == 40);
    assert!(size_of::<AmHandlerParam>() == 32);
    assert!(size_of::<RequestParam>() == 72);
};
