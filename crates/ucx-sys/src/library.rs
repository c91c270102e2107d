//! Finding and opening UCX.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use catena_loader::{NotFound, Opened, Scope, first, text};

use crate::consts::{self, API};
use crate::signals::Signals;
use crate::types::{
    AmHandlerParam, ConfigHandle, Context, Ep, EpParams, Mem, MemMapParams, Params, Request,
    RequestParam, Rkey, Status, Worker, WorkerParams,
};

/// Declares the functions of the library, and how they are found in it.
macro_rules! functions {
    ($($name:ident: $symbol:literal, fn($($arg:ty),*) $(-> $result:ty)?;)+) => {
        #[derive(Clone, Copy, Debug)]
        struct Functions {
            $($name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)+
        }

        impl Functions {
            fn find(opened: Opened) -> Result<Functions, String> {
                // SAFETY: the types are those of the interface.
                unsafe { Ok(Functions { $($name: opened.function($symbol)?,)+ }) }
            }
        }
    };
}

functions! {
    get_version: c"ucp_get_version", fn(*mut c_uint, *mut c_uint, *mut c_uint);
    status_string: c"ucs_status_string", fn(Status) -> *const c_char;
    config_read: c"ucp_config_read",
        fn(*const c_char, *const c_char, *mut *mut ConfigHandle) -> Status;
    config_modify: c"ucp_config_modify",
        fn(*mut ConfigHandle, *const c_char, *const c_char) -> Status;
    config_release: c"ucp_config_release", fn(*mut ConfigHandle);
    init: c"ucp_init_version",
        fn(c_uint, c_uint, *const Params, *const ConfigHandle, *mut *mut Context) -> Status;
    cleanup: c"ucp_cleanup", fn(*mut Context);
    worker_create: c"ucp_worker_create",
        fn(*mut Context, *const WorkerParams, *mut *mut Worker) -> Status;
    worker_destroy: c"ucp_worker_destroy", fn(*mut Worker);
    get_address: c"ucp_worker_get_address",
        fn(*mut Worker, *mut *mut c_void, *mut usize) -> Status;
    release_address: c"ucp_worker_release_address", fn(*mut Worker, *mut c_void);
    set_handler: c"ucp_worker_set_am_recv_handler",
        fn(*mut Worker, *const AmHandlerParam) -> Status;
    progress: c"ucp_worker_progress", fn(*mut Worker) -> c_uint;
    get_efd: c"ucp_worker_get_efd", fn(*mut Worker, *mut c_int) -> Status;
    arm: c"ucp_worker_arm", fn(*mut Worker) -> Status;
    ep_create: c"ucp_ep_create", fn(*mut Worker, *const EpParams, *mut *mut Ep) -> Status;
    ep_close: c"ucp_ep_close_nbx", fn(*mut Ep, *const RequestParam) -> *mut c_void;
    am_send: c"ucp_am_send_nbx",
        fn(*mut Ep, c_uint, *const c_void, usize, *const c_void, usize, *const RequestParam)
        -> *mut c_void;
    mem_map: c"ucp_mem_map", fn(*mut Context, *const MemMapParams, *mut *mut Mem) -> Status;
    mem_unmap: c"ucp_mem_unmap", fn(*mut Context, *mut Mem) -> Status;
    rkey_pack: c"ucp_rkey_pack",
        fn(*mut Context, *mut Mem, *mut *mut c_void, *mut usize) -> Status;
    rkey_buffer_release: c"ucp_rkey_buffer_release", fn(*mut c_void);
    rkey_unpack: c"ucp_ep_rkey_unpack", fn(*mut Ep, *const c_void, *mut *mut Rkey) -> Status;
    rkey_destroy: c"ucp_rkey_destroy", fn(*mut Rkey);
    get: c"ucp_get_nbx",
        fn(*mut Ep, *mut c_void, usize, u64, *mut Rkey, *const RequestParam) -> *mut c_void;
    put: c"ucp_put_nbx",
        fn(*mut Ep, *const c_void, usize, u64, *mut Rkey, *const RequestParam) -> *mut c_void;
    atomic_op: c"ucp_atomic_op_nbx",
        fn(*mut Ep, c_int, *const c_void, usize, u64, *mut Rkey, *const RequestParam)
        -> *mut c_void;
    ep_flush: c"ucp_ep_flush_nbx", fn(*mut Ep, *const RequestParam) -> *mut c_void;
    request_status: c"ucp_request_check_status", fn(*mut Request) -> Status;
    request_free: c"ucp_request_free", fn(*mut Request);
}

/// UCX, opened. It stays in the process for good, as its own threads and exit
/// handlers expect.
#[derive(Clone, Copy, Debug)]
pub struct Library(Functions);

/// A status as a result.
fn check(status: Status) -> Result<(), Status> {
    if status == consts::OK {
        Ok(())
    } else {
        Err(status)
    }
}

/// What an operation returned: it is done, or under way.
fn started(pointer: *mut c_void) -> Result<*mut Request, Status> {
    // Errors are pointers to the last addresses.
    let number = pointer as isize;
    if (isize::from(consts::ERR_LAST)..0).contains(&number) {
        return Err(number as Status);
    }
    Ok(pointer.cast())
}

/// All functions are unsafe alike: what is handed over must be of this library,
/// open, and used by one thread at a time; memory that an operation is given
/// must stay valid until the operation is done. Errors are UCX's status
/// numbers.
#[allow(clippy::missing_safety_doc, reason = "said above for all")]
impl Library {
    /// Opens the first of `names` that is a UCP library of version 1.13 or
    /// newer. A name with a slash is a path, any other is looked for as the
    /// dynamic loader does.
    ///
    /// # Errors
    /// [`NotFound`] with the cause for each name.
    pub fn open<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Library, NotFound> {
        first(names, Library::open_one)
    }

    fn open_one(name: &str) -> Result<Library, String> {
        let signals = Signals::save();
        let opened = Opened::open(name, "UCX", Scope::Local);
        if let Some(signals) = signals {
            signals.restore();
        }
        let library = Library(Functions::find(opened?)?);
        let (major, minor, _) = library.version();
        if major != API.0 || minor < API.1 {
            return Err(format!(
                "its version is {major}.{minor}; Catena needs 1.13 or a later 1.x"
            ));
        }
        Ok(library)
    }

    /// Version of the library: major, minor, release.
    pub fn version(&self) -> (u32, u32, u32) {
        let (mut major, mut minor, mut release) = (0, 0, 0);
        // SAFETY: writes three numbers.
        unsafe { (self.0.get_version)(&mut major, &mut minor, &mut release) };
        (major, minor, release)
    }

    /// Words for a status.
    pub fn words(&self, status: Status) -> String {
        // SAFETY: any number has a text, which ends in 0 and stays.
        unsafe { text((self.0.status_string)(status)) }
    }

    /// Opens what the user's `UCX_*` variables allow, changed by `changes`
    /// (names without `UCX_`).
    pub unsafe fn init(
        &self,
        params: &Params,
        changes: &[(&CStr, &CStr)],
    ) -> Result<*mut Context, Status> {
        let (mut config, mut context) = (null_mut(), null_mut());
        // SAFETY: all texts end in 0; the settings are released again.
        unsafe {
            check((self.0.config_read)(null(), null(), &mut config))?;
            let changed = changes.iter().try_for_each(|(name, value)| {
                check((self.0.config_modify)(
                    config,
                    name.as_ptr(),
                    value.as_ptr(),
                ))
            });
            let opened = changed
                .and_then(|()| check((self.0.init)(API.0, API.1, params, config, &mut context)));
            (self.0.config_release)(config);
            opened.map(|()| context)
        }
    }

    /// Closes what [`Library::init`] opened.
    pub unsafe fn cleanup(&self, context: *mut Context) {
        // SAFETY: as said above for all; likewise below.
        unsafe { (self.0.cleanup)(context) }
    }

    /// `ucp_worker_create`.
    pub unsafe fn worker_create(
        &self,
        context: *mut Context,
        params: &WorkerParams,
    ) -> Result<*mut Worker, Status> {
        let mut worker = null_mut();
        // SAFETY: as above.
        check(unsafe { (self.0.worker_create)(context, params, &mut worker) })?;
        Ok(worker)
    }

    /// `ucp_worker_destroy`.
    pub unsafe fn worker_destroy(&self, worker: *mut Worker) {
        // SAFETY: as above.
        unsafe { (self.0.worker_destroy)(worker) }
    }

    /// The address under which others reach a worker.
    pub unsafe fn address(&self, worker: *mut Worker) -> Result<Vec<u8>, Status> {
        let (mut at, mut len) = (null_mut(), 0);
        // SAFETY: as above; as long as told, and given back.
        unsafe {
            check((self.0.get_address)(worker, &mut at, &mut len))?;
            let address = std::slice::from_raw_parts(at.cast::<u8>(), len).to_vec();
            (self.0.release_address)(worker, at);
            Ok(address)
        }
    }

    /// `ucp_worker_set_am_recv_handler`.
    pub unsafe fn set_handler(
        &self,
        worker: *mut Worker,
        handler: &AmHandlerParam,
    ) -> Result<(), Status> {
        // SAFETY: as above.
        check(unsafe { (self.0.set_handler)(worker, handler) })
    }

    /// `ucp_worker_progress`: how many things happened.
    #[inline]
    pub unsafe fn progress(&self, worker: *mut Worker) -> u32 {
        // SAFETY: as above.
        unsafe { (self.0.progress)(worker) }
    }

    /// The descriptor that a worker can be slept on.
    pub unsafe fn descriptor(&self, worker: *mut Worker) -> Result<c_int, Status> {
        let mut fd = -1;
        // SAFETY: as above.
        check(unsafe { (self.0.get_efd)(worker, &mut fd) })?;
        Ok(fd)
    }

    /// `ucp_worker_arm`: whether one may sleep on the descriptor now.
    pub unsafe fn arm(&self, worker: *mut Worker) -> bool {
        // SAFETY: as above.
        unsafe { (self.0.arm)(worker) == consts::OK }
    }

    /// `ucp_ep_create`.
    pub unsafe fn ep_create(
        &self,
        worker: *mut Worker,
        params: &EpParams,
    ) -> Result<*mut Ep, Status> {
        let mut ep = null_mut();
        // SAFETY: as above.
        check(unsafe { (self.0.ep_create)(worker, params, &mut ep) })?;
        Ok(ep)
    }

    /// `ucp_ep_close_nbx`: null if it is done, else what is under way.
    pub unsafe fn ep_close(
        &self,
        ep: *mut Ep,
        param: &RequestParam,
    ) -> Result<*mut Request, Status> {
        // SAFETY: as above.
        started(unsafe { (self.0.ep_close)(ep, param) })
    }

    /// `ucp_am_send_nbx` without a header: null if it is done, else what is
    /// under way.
    #[inline(always)]
    pub unsafe fn am_send(
        &self,
        ep: *mut Ep,
        id: u32,
        data: *const u8,
        len: usize,
        param: &RequestParam,
    ) -> Result<*mut Request, Status> {
        // SAFETY: as above.
        started(unsafe { (self.0.am_send)(ep, id, null(), 0, data.cast(), len, param) })
    }

    /// `ucp_mem_map`.
    pub unsafe fn mem_map(
        &self,
        context: *mut Context,
        params: &MemMapParams,
    ) -> Result<*mut Mem, Status> {
        let mut mem = null_mut();
        // SAFETY: as above.
        check(unsafe { (self.0.mem_map)(context, params, &mut mem) })?;
        Ok(mem)
    }

    /// `ucp_mem_unmap`.
    pub unsafe fn mem_unmap(&self, context: *mut Context, mem: *mut Mem) -> Result<(), Status> {
        // SAFETY: as above.
        check(unsafe { (self.0.mem_unmap)(context, mem) })
    }

    /// What a peer needs to reach registered memory.
    pub unsafe fn rkey_pack(
        &self,
        context: *mut Context,
        mem: *mut Mem,
    ) -> Result<Vec<u8>, Status> {
        let (mut at, mut len) = (null_mut(), 0);
        // SAFETY: as above; as long as told, and given back.
        unsafe {
            check((self.0.rkey_pack)(context, mem, &mut at, &mut len))?;
            let key = std::slice::from_raw_parts(at.cast::<u8>(), len).to_vec();
            (self.0.rkey_buffer_release)(at);
            Ok(key)
        }
    }

    /// `ucp_ep_rkey_unpack` of what [`Library::rkey_pack`] made at the peer.
    pub unsafe fn rkey_unpack(&self, ep: *mut Ep, packed: &[u8]) -> Result<*mut Rkey, Status> {
        let mut rkey = null_mut();
        // SAFETY: as above.
        check(unsafe { (self.0.rkey_unpack)(ep, packed.as_ptr().cast(), &mut rkey) })?;
        Ok(rkey)
    }

    /// `ucp_rkey_destroy`.
    pub unsafe fn rkey_destroy(&self, rkey: *mut Rkey) {
        // SAFETY: as above.
        unsafe { (self.0.rkey_destroy)(rkey) }
    }

    /// `ucp_get_nbx`: null if it is done, else what is under way.
    pub unsafe fn get(
        &self,
        ep: *mut Ep,
        into: *mut u8,
        len: usize,
        addr: u64,
        rkey: *mut Rkey,
        param: &RequestParam,
    ) -> Result<*mut Request, Status> {
        // SAFETY: as above.
        started(unsafe { (self.0.get)(ep, into.cast(), len, addr, rkey, param) })
    }

    /// `ucp_put_nbx`: null if the local memory is needed no more, else what is under way.
    pub unsafe fn put(
        &self,
        ep: *mut Ep,
        from: *const u8,
        len: usize,
        addr: u64,
        rkey: *mut Rkey,
        param: &RequestParam,
    ) -> Result<*mut Request, Status> {
        // SAFETY: as above.
        started(unsafe { (self.0.put)(ep, from.cast(), len, addr, rkey, param) })
    }

    /// `ucp_atomic_op_nbx` on one word: null if it is done, else what is under way.
    pub unsafe fn atomic(
        &self,
        ep: *mut Ep,
        op: c_int,
        operand: *const u8,
        addr: u64,
        rkey: *mut Rkey,
        param: &RequestParam,
    ) -> Result<*mut Request, Status> {
        // SAFETY: as above.
        started(unsafe { (self.0.atomic_op)(ep, op, operand.cast(), 1, addr, rkey, param) })
    }

    /// `ucp_ep_flush_nbx`: null if all operations on the endpoint are complete at the peer, else
    /// what is under way.
    pub unsafe fn flush(&self, ep: *mut Ep, param: &RequestParam) -> Result<*mut Request, Status> {
        // SAFETY: as above.
        started(unsafe { (self.0.ep_flush)(ep, param) })
    }

    /// `ucp_request_check_status`: whether an operation is still under way.
    pub unsafe fn is_under_way(&self, request: *mut Request) -> bool {
        // SAFETY: as above.
        unsafe { (self.0.request_status)(request) == consts::INPROGRESS }
    }

    /// `ucp_request_free`: it is watched no more, under way or not.
    pub unsafe fn request_free(&self, request: *mut Request) {
        // SAFETY: as above.
        unsafe { (self.0.request_free)(request) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_was_tried_is_told() {
        let error = Library::open(["/no/such/libucp.so", "libc.so.6"]).unwrap_err();
        let names: Vec<&str> = error.tried.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["/no/such/libucp.so", "libc.so.6"]);
        let text = error.to_string();
        assert!(
            text.contains("cannot open shared object file")
                && text.contains("libc.so.6: it is no usable UCX"),
            "{text}"
        );
    }

    #[test]
    fn errors_are_told_from_operations() {
        assert_eq!(started(null_mut()), Ok(null_mut()));
        let error = isize::from(consts::ERR_NO_RESOURCE) as usize as *mut c_void;
        assert_eq!(started(error), Err(consts::ERR_NO_RESOURCE));
        let last = isize::from(consts::ERR_LAST) as usize as *mut c_void;
        assert_eq!(started(last), Err(consts::ERR_LAST));
        let below = last.wrapping_byte_sub(1);
        assert_eq!(started(below), Ok(below.cast()));
    }
}
