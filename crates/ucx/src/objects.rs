//! UCX's objects, opened together and closed in the right order.

use std::ffi::{CStr, c_void};
use std::os::fd::RawFd;
use std::ptr::{null, null_mut};

use catena_fabric::Access;
use catena_ucx_sys::{
    Context, Ep, EpParams, ErrHandler, Library, Mem, MemMapParams, Params, RequestParam, SockAddr,
    Status, Worker, WorkerParams, consts,
};

use crate::error::UcxError;
use crate::inbox::failed;
use crate::wanted::Wanted;

/// Atomics on words of 4 and of 8 bytes.
const AMO: u64 = consts::FEATURE_AMO32 | consts::FEATURE_AMO64;

/// A worker and what it needs.
#[derive(Debug)]
pub(crate) struct Objects {
    pub library: Library,
    pub wanted: Wanted,
    pub context: *mut Context,
    pub worker: *mut Worker,
    /// What one can sleep on.
    pub wait: Option<RawFd>,
}

// SAFETY: UCX's objects belong to no thread; that one thread at a time uses
// them is what `Objects`, owned by one transport, sees to.
unsafe impl Send for Objects {}

impl Objects {
    /// Whether this version of UCX has atomics that can be relied on; see `atomics`.
    pub(crate) fn has_atomics(&self) -> bool {
        let (major, minor, _) = self.library.version();
        (major, minor) < (1, 16)
    }

    /// Opens a worker for messages among `processes` processes. With `sleep` it
    /// can be slept on.
    pub fn open(
        library: Library,
        wanted: &Wanted,
        processes: usize,
        sleep: bool,
    ) -> Result<Objects, UcxError> {
        let mut this = Objects {
            library,
            wanted: wanted.clone(),
            context: null_mut(),
            worker: null_mut(),
            wait: None,
        };
        let amo = match this.has_atomics() {
            true => AMO,
            false => 0,
        };
        let wakeup = if sleep { consts::FEATURE_WAKEUP } else { 0 };
        let params = Params {
            field_mask: consts::PARAM_FEATURES
                | consts::PARAM_MT_WORKERS_SHARED
                | consts::PARAM_ESTIMATED_NUM_EPS,
            features: consts::FEATURE_AM | consts::FEATURE_RMA | amo | wakeup,
            request_size: 0,
            request_init: null_mut(),
            request_cleanup: null_mut(),
            tag_sender_mask: 0,
            mt_workers_shared: 0,
            estimated_num_eps: processes,
            estimated_num_ppn: 0,
            name: null(),
        };
        let (major, minor, _) = library.version();
        let settings = wanted.settings((major, minor));
        let settings: Vec<(&CStr, &CStr)> = settings
            .iter()
            .map(|(name, value)| (*name, value.as_c_str()))
            .collect();
        // SAFETY: texts that end in 0.
        let context = unsafe { library.init(&params, &settings) };
        this.context = context.map_err(|status| this.nothing("ucp_init", status))?;
        let params = WorkerParams {
            field_mask: consts::WORKER_PARAM_THREAD_MODE,
            thread_mode: consts::THREAD_MODE_SERIALIZED,
            cpu_mask: [0; 16],
            events: 0,
            user_data: null_mut(),
            event_fd: 0,
            flags: 0,
            name: null(),
            am_alignment: 0,
            client_id: 0,
        };
        // SAFETY: the context is open.
        let worker = unsafe { library.worker_create(this.context, &params) };
        this.worker = worker.map_err(|status| this.nothing("ucp_worker_create", status))?;
        if sleep {
            // SAFETY: the worker is open.
            this.wait = unsafe { library.descriptor(this.worker) }.ok();
        }
        Ok(this)
    }

    /// What to say if nothing could be opened.
    fn nothing(&self, what: &'static str, status: Status) -> UcxError {
        if status != consts::ERR_NO_DEVICE {
            return self.failure(what, status);
        }
        let (major, minor, release) = self.library.version();
        UcxError::NoTransport {
            wanted: self.wanted.show(),
            version: format!("{major}.{minor}.{release}"),
            words: self.library.words(status),
        }
    }

    /// What to say if a call fails.
    pub fn failure(&self, what: &'static str, status: Status) -> UcxError {
        UcxError::Call {
            what,
            wanted: self.wanted.show(),
            words: self.library.words(status),
        }
    }

    /// The address under which others reach the worker.
    pub fn address(&self) -> Result<Vec<u8>, UcxError> {
        // SAFETY: it is open.
        let address = unsafe { self.library.address(self.worker) };
        address.map_err(|status| self.failure("ucp_worker_get_address", status))
    }

    /// Opens the way to a peer, whose loss is told with `witness`.
    ///
    /// # Errors
    /// UCX's status.
    pub fn connect(&self, address: &[u8], witness: *mut c_void) -> Result<*mut Ep, Status> {
        let none = || SockAddr {
            addr: null(),
            addrlen: 0,
        };
        let params = EpParams {
            field_mask: consts::EP_PARAM_REMOTE_ADDRESS
                | consts::EP_PARAM_ERR_HANDLING_MODE
                | consts::EP_PARAM_ERR_HANDLER,
            address: address.as_ptr().cast(),
            err_mode: consts::ERR_HANDLING_MODE_PEER,
            err_handler: ErrHandler {
                cb: Some(failed),
                arg: witness,
            },
            user_data: null_mut(),
            flags: 0,
            sockaddr: none(),
            conn_request: null_mut(),
            name: null(),
            local_sockaddr: none(),
        };
        // SAFETY: the worker is open; the address is of a worker, as UCX wrote
        // it.
        unsafe { self.library.ep_create(self.worker, &params) }
    }

    /// Closes the way to a peer at once: what is under way to it ends.
    ///
    /// # Safety
    /// The endpoint is open, and is used no more.
    pub unsafe fn disconnect(&self, ep: *mut Ep) {
        let param = RequestParam {
            op_attr_mask: consts::OP_ATTR_FLAGS,
            flags: consts::EP_CLOSE_FLAG_FORCE,
            ..NO_PARAM
        };
        // SAFETY: as promised. What is still to be done needs no witness.
        unsafe {
            if let Ok(request) = self.library.ep_close(ep, &param)
                && !request.is_null()
            {
                self.library.request_free(request);
            }
        }
    }

    /// Registers memory for being read by others, or written and changed atomically, too.
    ///
    /// # Errors
    /// UCX's status.
    pub fn register(&self, at: *const u8, len: usize, access: Access) -> Result<Region, Status> {
        let mut prot = consts::MEM_MAP_PROT_LOCAL_READ | consts::MEM_MAP_PROT_REMOTE_READ;
        if access.allows(Access::WRITE) || access.allows(Access::ATOMIC) {
            prot |= consts::MEM_MAP_PROT_LOCAL_WRITE | consts::MEM_MAP_PROT_REMOTE_WRITE;
        }
        let params = MemMapParams {
            field_mask: consts::MEM_MAP_PARAM_ADDRESS
                | consts::MEM_MAP_PARAM_LENGTH
                | consts::MEM_MAP_PARAM_PROT,
            address: at.cast(),
            length: len,
            flags: 0,
            prot,
            memory_type: 0,
        };
        // SAFETY: the context is open; what the memory is used for is the
        // caller's business.
        let mem = unsafe { self.library.mem_map(self.context, &params)? };
        Ok(Region {
            library: self.library,
            context: self.context,
            mem,
        })
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // SAFETY: open, and closed once; the worker before its context.
        unsafe {
            if !self.worker.is_null() {
                self.library.worker_destroy(self.worker);
            }
            if !self.context.is_null() {
                self.library.cleanup(self.context);
            }
        }
    }
}

/// Registered memory; ends its registration when dropped, before the objects.
#[derive(Debug)]
pub(crate) struct Region {
    library: Library,
    context: *mut Context,
    mem: *mut Mem,
}

// SAFETY: as for `Objects`.
unsafe impl Send for Region {}

impl Region {
    /// What a peer needs to read it.
    ///
    /// # Errors
    /// UCX's status.
    pub fn pack(&self) -> Result<Vec<u8>, Status> {
        // SAFETY: registered.
        unsafe { self.library.rkey_pack(self.context, self.mem) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: registered, and ended once. A failure leaves it registered,
        // which harms nobody.
        let _ = unsafe { self.library.mem_unmap(self.context, self.mem) };
    }
}

/// An operation of which nothing is wanted.
pub(crate) const NO_PARAM: RequestParam = RequestParam {
    op_attr_mask: 0,
    flags: 0,
    request: null_mut(),
    cb: None,
    datatype: 0,
    user_data: null_mut(),
    reply_buffer: null_mut(),
    memory_type: 0,
    recv_info: null_mut(),
    memh: null_mut(),
};
