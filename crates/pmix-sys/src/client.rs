//! A process that a PMIx server serves.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use crate::infos::Infos;
use crate::library::{Library, NotifiedDone, Status};
use crate::types::{
    self, ByteObject, Data, GLOBAL, Info, LOST_CONNECTION, LOST_CONNECTION_BEFORE, NOT_FOUND,
    OPERATION_SUCCEEDED, Proc, Query, RANK_WILDCARD, RawStatus, RawValue, SUCCESS, Value, info,
    keys, kind, yes,
};

/// A process that is known to its server.
#[derive(Debug)]
pub struct Client {
    library: Library,
    me: Proc,
}

/// How long [`Client::fetch`] waits, seconds.
pub const PATIENCE: i32 = 30;

/// How a fence that was begun stands.
#[derive(Debug, Default)]
struct Progress {
    status: Mutex<Option<RawStatus>>,
    over: Condvar,
}

impl Progress {
    fn end(&self, status: RawStatus) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
        self.over.notify_all();
    }
}

/// A fence that was begun.
#[derive(Debug)]
pub struct Fence(Arc<Progress>);

/// Called when a fence is over.
///
/// # Safety
/// `at` is one count of an `Arc<Progress>`.
unsafe extern "C" fn fenced(status: RawStatus, at: *mut c_void) {
    // SAFETY: as promised; called once.
    unsafe { Arc::from_raw(at.cast_const().cast::<Progress>()) }.end(status);
}

/// What is called when the server is gone.
static LOST: OnceLock<fn()> = OnceLock::new();

/// Called by the library's thread of an event.
///
/// # Safety
/// `done`, if there is one, is to be called once, with `data` last.
unsafe extern "C" fn lost(
    _: usize,
    _: RawStatus,
    _: *const Proc,
    _: *mut Info,
    _: usize,
    _: *mut Info,
    _: usize,
    done: Option<NotifiedDone>,
    data: *mut c_void,
) {
    if let Some(tell) = LOST.get() {
        tell();
    }
    if let Some(done) = done {
        // SAFETY: as promised; there are no results.
        unsafe { done(SUCCESS, ptr::null_mut(), 0, None, ptr::null_mut(), data) };
    }
}

/// Called once a handler of events is registered.
unsafe extern "C" fn registered(_: RawStatus, _: usize, _: *mut c_void) {}

type QueryInfo = unsafe extern "C" fn(*const Query, usize, *mut *mut Info, *mut usize) -> RawStatus;

/// Asks the server for `key`, and reads the answer.
fn ask<T>(
    query: QueryInfo,
    key: &CStr,
    qualifiers: &[Info],
    read: impl Fn(&RawValue) -> Option<T>,
) -> Option<T> {
    let keys = [key.as_ptr(), ptr::null()];
    let question = Query {
        keys: keys.as_ptr(),
        qualifiers: match qualifiers {
            // Else the library looks for an end that it can see.
            [] => ptr::null(),
            some => some.as_ptr(),
        },
        qualifier_count: qualifiers.len(),
    };
    let (mut answers, mut count) = (ptr::null_mut::<Info>(), 0);
    // SAFETY: the question outlives the call; the answers are the caller's, and
    // keys end in 0.
    unsafe {
        if query(&question, 1, &mut answers, &mut count) != SUCCESS || answers.is_null() {
            return None;
        }
        let list = std::slice::from_raw_parts(answers, count);
        let mut with = list
            .iter()
            .filter(|info| CStr::from_ptr(info.key.as_ptr()) == key);
        let answer = with.find_map(|info| read(&info.value));
        types::free_infos(answers, count);
        answer
    }
}

/// What a fence is to do besides waiting: bring what was put.
fn collect() -> &'static Info {
    struct Shared(Info);
    // SAFETY: never written to, and its value is no pointer.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    static COLLECT: std::sync::OnceLock<Shared> = std::sync::OnceLock::new();
    &COLLECT.get_or_init(|| Shared(yes(c"pmix.collect"))).0
}

impl Client {
    /// Connects to the server that the environment names.
    ///
    /// # Errors
    /// If there is none, or it does not take this process.
    pub fn init(library: Library) -> Result<Client, Status> {
        let mut me = Proc {
            nspace: [0; 256],
            rank: 0,
        };
        // SAFETY: `me` is writable; no arguments.
        let status = unsafe { (library.init)(&mut me, ptr::null(), 0) };
        let client = Client { library, me };
        client.check("PMIx_Init", status)?;
        Ok(client)
    }

    /// The library that is used.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Rank of this process in its job.
    pub fn rank(&self) -> u32 {
        self.me.rank
    }

    fn check(&self, of: &'static str, status: RawStatus) -> Result<(), Status> {
        match status {
            SUCCESS => Ok(()),
            status => Err(self.library.status(of, status)),
        }
    }

    /// Offers bytes to all ranks, from the next [`Client::fence`] on.
    ///
    /// # Errors
    /// If the library refuses them.
    pub fn put(&self, key: &CStr, bytes: &[u8]) -> Result<(), Status> {
        let value = RawValue {
            kind: kind::BYTE_OBJECT,
            data: Data {
                bytes: ByteObject {
                    bytes: bytes.as_ptr().cast::<c_char>().cast_mut(),
                    size: bytes.len(),
                },
            },
        };
        // SAFETY: the value is read and copied during the call.
        self.check("PMIx_Put", unsafe {
            (self.library.put)(GLOBAL, key.as_ptr(), &value)
        })
    }

    /// Begins to wait until all ranks of the job have come so far.
    ///
    /// # Errors
    /// If the server is gone.
    pub fn fence(&self) -> Result<Fence, Status> {
        // SAFETY: no arguments.
        self.check("PMIx_Commit", unsafe { (self.library.commit)() })?;
        let progress = Arc::new(Progress::default());
        let theirs = Arc::into_raw(Arc::clone(&progress));
        // SAFETY: no processes means all of the job; the argument lives as long
        // as the process; `fenced` gets the count that it is told of.
        let status = unsafe {
            (self.library.fence_nb)(
                ptr::null(),
                0,
                collect(),
                1,
                fenced,
                theirs.cast_mut().cast(),
            )
        };
        if status != SUCCESS {
            // SAFETY: nobody else will be told of it.
            drop(unsafe { Arc::from_raw(theirs) });
            if status != OPERATION_SUCCEEDED {
                return Err(self.library.status("PMIx_Fence_nb", status));
            }
            progress.end(SUCCESS);
        }
        Ok(Fence(progress))
    }

    /// Whether a fence is over; waits for it if `wait` is set.
    ///
    /// # Errors
    /// If it failed.
    pub fn fence_done(&self, fence: &Fence, wait: bool) -> Result<bool, Status> {
        let Progress { status, over } = &*fence.0;
        let mut status = status.lock().unwrap_or_else(PoisonError::into_inner);
        while wait && status.is_none() {
            status = over.wait(status).unwrap_or_else(PoisonError::into_inner);
        }
        match *status {
            None => Ok(false),
            Some(SUCCESS | OPERATION_SUCCEEDED) => Ok(true),
            Some(status) => Err(self.library.status("PMIx_Fence_nb", status)),
        }
    }

    /// What the server has under `key` of `rank`, or of the job (`None`). Does
    /// not wait for a rank to put it.
    ///
    /// # Errors
    /// If the server is gone.
    pub fn get(&self, rank: Option<u32>, key: &CStr) -> Result<Option<Value>, Status> {
        self.get_with(rank.unwrap_or(RANK_WILDCARD), key, &yes(c"pmix.immediate"))
    }

    /// What `rank` has put under `key`, brought from its server if this one
    /// lacks it. Waits for `rank` to put it, but at most [`PATIENCE`].
    ///
    /// # Errors
    /// If the server is gone, or all that time went by.
    pub fn fetch(&self, rank: u32, key: &CStr) -> Result<Option<Value>, Status> {
        let mut limit = Data { words: [0; 3] };
        limit.int32 = PATIENCE;
        self.get_with(rank, key, &info(c"pmix.timeout", kind::INT, limit))
    }

    fn get_with(&self, rank: u32, key: &CStr, how: &Info) -> Result<Option<Value>, Status> {
        let of = Proc { rank, ..self.me };
        let mut value = ptr::null_mut();
        // SAFETY: all arguments outlive the call.
        let status = unsafe { (self.library.get)(&of, key.as_ptr(), how, 1, &mut value) };
        if status == NOT_FOUND || (status == SUCCESS && value.is_null()) {
            return Ok(None);
        }
        self.check("PMIx_Get", status)?;
        // SAFETY: a value that the library gave away, read and then freed.
        unsafe {
            let read = Value::read(&*value);
            types::free(value);
            Ok(read)
        }
    }

    /// The process sets that the server knows of, with their ranks in this job,
    /// ascending; none if it does not tell.
    pub fn process_sets(&self) -> Vec<(String, Vec<u32>)> {
        // SAFETY: the type is that of the standard. Old libraries lack it.
        let query = unsafe { self.library.function::<QueryInfo>(c"PMIx_Query_info") };
        let Ok(query) = query else { return Vec::new() };
        let names = ask(query, keys::PSET_NAMES, &[], |value| {
            // SAFETY: the value is what its kind says.
            unsafe { Value::read(value) }.and_then(Value::text)
        });
        let names = names.unwrap_or_default();
        let names = names.split(',').filter(|name| !name.is_empty());
        let set = |name: &str| {
            let mut of = Infos::default();
            of.text(keys::PSET_NAME, name);
            let ranks = ask(query, keys::PSET_MEMBERS, of.as_slice(), |value| {
                // SAFETY: as above.
                let procs = unsafe { types::procs(value) }.iter();
                let mine = procs.filter(|proc| proc.nspace == self.me.nspace);
                let mut ranks: Vec<u32> = mine.map(|proc| proc.rank).collect();
                ranks.sort_unstable();
                ranks.dedup();
                Some(ranks)
            });
            Some((name.to_string(), ranks?))
        };
        names.filter_map(set).collect()
    }

    /// Has `tell` called, by another thread, if the server ends before this process has parted from
    /// it. For the first client of a process alone.
    pub fn when_lost(&self, tell: fn()) {
        if LOST.set(tell).is_err() {
            return;
        }
        let codes = [LOST_CONNECTION, LOST_CONNECTION_BEFORE];
        // SAFETY: the codes are copied; no arguments. One that takes no handlers says nothing of
        // its end.
        unsafe {
            (self.library.register_events)(
                codes.as_ptr(),
                codes.len(),
                ptr::null(),
                0,
                lost,
                registered,
                ptr::null_mut(),
            )
        };
    }

    /// Has all processes of the job ended.
    pub fn abort(&self, code: i32) {
        // SAFETY: no message; no processes means all of the job. If it fails,
        // the launcher learns from this process's status.
        unsafe { (self.library.abort)(code, ptr::null(), ptr::null(), 0) };
    }

    /// Parts from the server, once.
    ///
    /// # Errors
    /// If the server is gone.
    pub fn finalize(&self) -> Result<(), Status> {
        // SAFETY: no arguments.
        let status = unsafe { (self.library.finalize)(ptr::null(), 0) };
        self.check("PMIx_Finalize", status)
    }
}
