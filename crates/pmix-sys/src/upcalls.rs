//! What the library calls when a process of the job wants something.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use catena_loader::text;

use crate::infos::Infos;
use crate::types::{
    self, ERROR, Info, NOT_FOUND, NOT_SUPPORTED, OPERATION_SUCCEEDED, OpCallback, Proc,
    RANK_WILDCARD, RawStatus, SUCCESS, Value, keys,
};

/// The host that is told what the processes do, and the job. Set once.
pub(crate) struct Host {
    pub tell: Box<dyn Fn(Upcall) + Send + Sync>,
    pub name: CString,
    pub psets: Vec<(String, Vec<u32>)>,
}

pub(crate) static HOST: OnceLock<Host> = OnceLock::new();

type ModexCallback =
    unsafe extern "C" fn(RawStatus, *const c_char, usize, *mut c_void, Release, *mut c_void);
type InfoCallback =
    unsafe extern "C" fn(RawStatus, *mut Info, usize, *mut c_void, Release, *mut c_void);
type Release = unsafe extern "C" fn(*mut c_void);

type OfClient =
    unsafe extern "C" fn(*const Proc, *mut c_void, Option<OpCallback>, *mut c_void) -> RawStatus;
type Abort = unsafe extern "C" fn(
    *const Proc,
    *mut c_void,
    c_int,
    *const c_char,
    *const Proc,
    usize,
    Option<OpCallback>,
    *mut c_void,
) -> RawStatus;
type Fence = unsafe extern "C" fn(
    *const Proc,
    usize,
    *const Info,
    usize,
    *const c_char,
    usize,
    ModexCallback,
    *mut c_void,
) -> RawStatus;
type Modex =
    unsafe extern "C" fn(*const Proc, *const Info, usize, ModexCallback, *mut c_void) -> RawStatus;
type Spawn = unsafe extern "C" fn(
    *const Proc,
    *const Info,
    usize,
    *const c_void,
    usize,
    *const c_void,
    *mut c_void,
) -> RawStatus;
type Events = unsafe extern "C" fn(
    *const RawStatus,
    usize,
    *const Info,
    usize,
    OpCallback,
    *mut c_void,
) -> RawStatus;
type NoEvents = unsafe extern "C" fn(*const RawStatus, usize, OpCallback, *mut c_void) -> RawStatus;
type Query = unsafe extern "C" fn(
    *const Proc,
    *const types::Query,
    usize,
    InfoCallback,
    *mut c_void,
) -> RawStatus;
type Group = unsafe extern "C" fn(
    u8,
    *const c_char,
    *const Proc,
    usize,
    *const Info,
    usize,
    InfoCallback,
    *mut c_void,
) -> RawStatus;

type JobControl = unsafe extern "C" fn(
    *const Proc,
    *const Proc,
    usize,
    *const Info,
    usize,
    InfoCallback,
    *mut c_void,
) -> RawStatus;

/// A function that is left out, which the library takes for not supported.
type Absent = *const c_void;

/// The upcalls, in the order of the standard. Later versions have more at the
/// end, which stay empty.
#[repr(C)]
pub(crate) struct Module {
    client_connected: OfClient,
    client_finalized: OfClient,
    abort: Abort,
    fence_nb: Fence,
    direct_modex: Modex,
    /// Publish, look up, unpublish.
    names: [Absent; 3],
    spawn: Spawn,
    /// Connect, disconnect.
    unions: [Absent; 2],
    register_events: Events,
    deregister_events: NoEvents,
    listener: Absent,
    notify_event: Absent,
    query: Query,
    /// Tools, log, allocations.
    services: [Absent; 3],
    job_control: JobControl,
    /// Monitoring, credentials, streams.
    more: [Absent; 5],
    group: Group,
    rest: [Absent; 16],
}

// SAFETY: its pointers are null.
unsafe impl Sync for Module {}

/// What the library is given.
pub(crate) static MODULE: Module = Module {
    client_connected: connected,
    client_finalized: finalized,
    abort,
    fence_nb: fence,
    direct_modex: modex,
    names: [ptr::null(); 3],
    spawn,
    unions: [ptr::null(); 2],
    register_events: events,
    deregister_events: no_events,
    listener: ptr::null(),
    notify_event: ptr::null(),
    query,
    services: [ptr::null(); 3],
    job_control,
    more: [ptr::null(); 5],
    group,
    rest: [ptr::null(); 16],
};

/// What a process wants, or all of this node that take part in something.
#[derive(Debug)]
pub enum Upcall {
    /// It has connected.
    Joined {
        /// Its rank.
        rank: u32,
    },
    /// It needs the others no more.
    Finalized {
        /// Its rank.
        rank: u32,
    },
    /// It wants the job to end.
    Abort {
        /// Its rank.
        rank: u32,
        /// Status that the job shall end with.
        code: i32,
        /// Why; may be empty.
        message: String,
    },
    /// All of some ranks that are on this node wait for the others.
    Fence {
        /// The ranks, ascending; none: the whole job.
        ranks: Option<Vec<u32>>,
        /// What they bring: everybody gets that of all nodes, one after the
        /// other.
        data: Vec<u8>,
        /// To be given that.
        reply: Reply,
    },
    /// All of some ranks that are on this node make a group or take it down.
    Group {
        /// Its name.
        name: String,
        /// Whether it is made, not taken down.
        made: bool,
        /// Its ranks, ascending.
        ranks: Vec<u32>,
        /// What they bring, as in a fence.
        data: Vec<u8>,
        /// To be given that of all nodes.
        reply: GroupReply,
    },
    /// It wants more processes, which are refused.
    Spawn {
        /// Its rank.
        rank: u32,
    },
    /// A process asks for what a rank of another node has put.
    Fetch {
        /// That rank.
        rank: u32,
        /// To be given that.
        reply: Reply,
    },
}

/// A caller that waits for what others have put.
#[derive(Debug)]
pub struct Reply {
    callback: ModexCallback,
    data: *mut c_void,
}

/// A caller that waits for a group.
#[derive(Debug)]
pub struct GroupReply {
    callback: InfoCallback,
    data: *mut c_void,
    /// Its ranks.
    ranks: Vec<u32>,
}

// SAFETY: the library takes answers from any thread.
unsafe impl Send for Reply {}
// SAFETY: as above.
unsafe impl Send for GroupReply {}

impl Reply {
    /// Answers; nothing means that there is no answer.
    pub fn give(self, answer: Option<Vec<u8>>) {
        let status = if answer.is_some() { SUCCESS } else { ERROR };
        let bytes = Box::new(answer.unwrap_or_default());
        let (at, len) = (bytes.as_ptr().cast(), bytes.len());
        let kept = Box::into_raw(bytes).cast();
        // SAFETY: the bytes are kept until the library has them freed, and `data`
        // came with the callback.
        unsafe { (self.callback)(status, at, len, self.data, free::<Vec<u8>>, kept) };
    }
}

impl GroupReply {
    /// Answers with the number of the group, unlike that of any other, and with
    /// what its ranks have brought.
    pub fn give(self, number: u64, data: &[u8]) {
        let mut infos = Infos::default();
        infos.size(keys::GROUP_NUMBER, number as usize);
        let name = HOST.get().map(|host| host.name.as_c_str());
        let procs = self
            .ranks
            .iter()
            .map(|&rank| Proc::new(name.unwrap_or(c""), rank));
        infos.procs(keys::GROUP_MEMBERS, procs.collect());
        if !data.is_empty() {
            infos.bytes(keys::GROUP_DATA, data);
        }
        // SAFETY: `data` came with the callback.
        unsafe { give(infos, self.callback, self.data) };
    }
}

/// Answers with arguments.
///
/// # Safety
/// `data` came with `callback`.
unsafe fn give(infos: Infos, callback: InfoCallback, data: *mut c_void) {
    let mut infos = Box::new(infos);
    let (at, len) = (infos.as_mut_ptr(), infos.as_slice().len());
    let kept = Box::into_raw(infos).cast();
    // SAFETY: the arguments are kept until the library has them freed.
    unsafe { callback(SUCCESS, at, len, data, free::<Infos>, kept) };
}

/// Frees what an answer was made of.
///
/// # Safety
/// `kept` is a `Box<T>` that nobody else has.
unsafe extern "C" fn free<T>(kept: *mut c_void) {
    // SAFETY: as promised.
    drop(unsafe { Box::from_raw(kept.cast::<T>()) });
}

/// A copy.
///
/// # Safety
/// `at` has `size` bytes, or is null.
pub(crate) unsafe fn bytes(at: *const c_char, size: usize) -> Vec<u8> {
    match at.is_null() {
        true => Vec::new(),
        // SAFETY: as promised.
        false => unsafe { std::slice::from_raw_parts(at.cast(), size) }.to_vec(),
    }
}

/// A list that the library gives.
///
/// # Safety
/// `at` has `len` elements, or `len` is 0.
unsafe fn slice<'a, T>(at: *const T, len: usize) -> &'a [T] {
    match len {
        0 => &[],
        // SAFETY: as promised.
        _ => unsafe { std::slice::from_raw_parts(at, len) },
    }
}

fn tell(upcall: Upcall) {
    if let Some(host) = HOST.get() {
        (host.tell)(upcall);
    }
}

unsafe extern "C" fn connected(
    proc: *const Proc,
    _: *mut c_void,
    _: Option<OpCallback>,
    _: *mut c_void,
) -> RawStatus {
    // SAFETY: the library gives a process.
    let rank = unsafe { (*proc).rank };
    tell(Upcall::Joined { rank });
    OPERATION_SUCCEEDED
}

unsafe extern "C" fn finalized(
    proc: *const Proc,
    _: *mut c_void,
    _: Option<OpCallback>,
    _: *mut c_void,
) -> RawStatus {
    // SAFETY: the library gives a process.
    let rank = unsafe { (*proc).rank };
    tell(Upcall::Finalized { rank });
    OPERATION_SUCCEEDED
}

unsafe extern "C" fn abort(
    proc: *const Proc,
    _: *mut c_void,
    code: c_int,
    message: *const c_char,
    _: *const Proc,
    _: usize,
    _: Option<OpCallback>,
    _: *mut c_void,
) -> RawStatus {
    // SAFETY: the library gives a process and a text.
    let (rank, message) = unsafe { ((*proc).rank, text(message)) };
    tell(Upcall::Abort {
        rank,
        code,
        message,
    });
    OPERATION_SUCCEEDED
}

/// The ranks of processes, ascending; none if they are the whole job.
///
/// # Safety
/// `procs` has `count` elements.
unsafe fn ranks(procs: *const Proc, count: usize) -> Option<Vec<u32>> {
    // SAFETY: as promised.
    let procs = unsafe { slice(procs, count) };
    let mut ranks: Vec<u32> = procs.iter().map(|proc| proc.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    (!ranks.contains(&RANK_WILDCARD)).then_some(ranks)
}

unsafe extern "C" fn fence(
    procs: *const Proc,
    count: usize,
    _: *const Info,
    _: usize,
    data: *const c_char,
    size: usize,
    callback: ModexCallback,
    at: *mut c_void,
) -> RawStatus {
    // SAFETY: the library gives processes and bytes.
    let (ranks, data) = unsafe { (ranks(procs, count), bytes(data, size)) };
    let reply = Reply { callback, data: at };
    tell(Upcall::Fence { ranks, data, reply });
    SUCCESS
}

unsafe extern "C" fn modex(
    proc: *const Proc,
    _: *const Info,
    _: usize,
    callback: ModexCallback,
    at: *mut c_void,
) -> RawStatus {
    // SAFETY: the library gives a process.
    let rank = unsafe { (*proc).rank };
    let reply = Reply { callback, data: at };
    tell(Upcall::Fetch { rank, reply });
    SUCCESS
}

unsafe extern "C" fn spawn(
    proc: *const Proc,
    _: *const Info,
    _: usize,
    _: *const c_void,
    _: usize,
    _: *const c_void,
    _: *mut c_void,
) -> RawStatus {
    // SAFETY: the library gives a process.
    let rank = unsafe { (*proc).rank };
    tell(Upcall::Spawn { rank });
    NOT_SUPPORTED
}

/// Nobody but the library itself has events.
unsafe extern "C" fn events(
    _: *const RawStatus,
    _: usize,
    _: *const Info,
    _: usize,
    _: OpCallback,
    _: *mut c_void,
) -> RawStatus {
    OPERATION_SUCCEEDED
}

unsafe extern "C" fn no_events(
    _: *const RawStatus,
    _: usize,
    _: OpCallback,
    _: *mut c_void,
) -> RawStatus {
    OPERATION_SUCCEEDED
}

/// The value of an argument that the library gives, if it has this name.
fn argument(info: &Info, name: &CStr) -> Option<Value> {
    // SAFETY: keys end in 0, and values are what their kind says.
    unsafe {
        let of = CStr::from_ptr(info.key.as_ptr()) == name;
        of.then(|| Value::read(&info.value))?
    }
}

/// Answers questions about process sets.
unsafe extern "C" fn query(
    _: *const Proc,
    queries: *const types::Query,
    count: usize,
    callback: InfoCallback,
    at: *mut c_void,
) -> RawStatus {
    let Some(host) = HOST.get() else { return ERROR };
    let mut answers = Infos::default();
    // SAFETY: the library gives queries, whose keys end with a null.
    for query in unsafe { slice(queries, count) } {
        // SAFETY: as above.
        let qualifiers = unsafe { slice(query.qualifiers, query.qualifier_count) };
        let mut wanted = qualifiers.iter();
        let wanted = wanted.find_map(|info| argument(info, keys::PSET_NAME)?.text());
        let mut key = query.keys;
        // SAFETY: as above.
        while let Some(name) = unsafe { key.as_ref() }.filter(|name| !name.is_null()) {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(*name) };
            let sets = &host.psets;
            if name == keys::PSET_COUNT {
                answers.size(name, sets.len());
            } else if name == keys::PSET_NAMES {
                let names: Vec<&str> = sets.iter().map(|(name, _)| name.as_str()).collect();
                answers.text(name, &names.join(","));
            } else if name == keys::PSET_MEMBERS
                && let Some((_, ranks)) = sets.iter().find(|(set, _)| wanted.as_ref() == Some(set))
            {
                let procs = ranks.iter().map(|&rank| Proc::new(&host.name, rank));
                answers.procs(name, procs.collect());
            }
            // SAFETY: the list goes on until the null.
            key = unsafe { key.add(1) };
        }
    }
    if answers.as_slice().is_empty() {
        return NOT_FOUND;
    }
    // SAFETY: the library gives what belongs to its callback.
    unsafe { give(answers, callback, at) };
    SUCCESS
}

/// Files that are to be deleted in the end the library takes care of if there is
/// this function, which is called for all else.
unsafe extern "C" fn job_control(
    _: *const Proc,
    _: *const Proc,
    _: usize,
    _: *const Info,
    _: usize,
    _: InfoCallback,
    _: *mut c_void,
) -> RawStatus {
    NOT_SUPPORTED
}

unsafe extern "C" fn group(
    operation: u8,
    name: *const c_char,
    procs: *const Proc,
    count: usize,
    infos: *const Info,
    info_count: usize,
    callback: InfoCallback,
    at: *mut c_void,
) -> RawStatus {
    // SAFETY: the library gives a text, processes and arguments.
    let (name, ranks, infos) =
        unsafe { (text(name), ranks(procs, count), slice(infos, info_count)) };
    let Some(ranks) = ranks else { return ERROR };
    let made = operation == 0;
    let here = infos
        .iter()
        .any(|info| argument(info, keys::GROUP_HERE).is_some());
    if here && !made {
        // Nobody else is to know. Version 5.0 calls twice if it is to be answered.
        return OPERATION_SUCCEEDED;
    }
    let data = infos
        .iter()
        .find_map(|info| match argument(info, keys::GROUP_DATA)? {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        });
    let reply = GroupReply {
        callback,
        data: at,
        ranks: ranks.clone(),
    };
    tell(Upcall::Group {
        name,
        made,
        ranks,
        data: data.unwrap_or_default(),
        reply,
    });
    SUCCESS
}
