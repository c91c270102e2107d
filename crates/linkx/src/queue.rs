//! Completion queues.

use std::collections::VecDeque;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::host;
use crate::object::{NOTHING, begun, free, made, of};
use crate::signal::Signal;
use crate::sys::{Addr, CqAttr, CqEntry, CqErrEntry, CqOps, Fid, FidCq, FidOps, class, err, num};

/// Something of which a call for completions has to ask for them: an endpoint.
pub trait Progress: Send + Sync {
    /// Moves messages, and hands over what has been completed; whether something has happened.
    fn progress(&self) -> bool;

    /// The program is about to wait: somebody else is to make progress for it.
    fn stand_in(&self);
}

/// Those that are to make progress.
#[derive(Default)]
pub struct Movers(Mutex<Vec<Arc<dyn Progress>>>);

/// Locks what no panic leaves half done.
#[inline]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All endpoints of this process that are enabled: who waits in a call that closes something makes
/// progress for all of them, as the one that it waits for may be among them.
pub static EVERYWHERE: Movers = Movers(Mutex::new(Vec::new()));

impl Movers {
    /// Takes one in; nothing happens if it is there.
    pub fn add(&self, mover: &Arc<dyn Progress>) {
        let mut all = lock(&self.0);
        if !all.iter().any(|it| Arc::ptr_eq(it, mover)) {
            all.push(Arc::clone(mover));
        }
    }

    /// Lets one go.
    pub fn remove(&self, mover: &Arc<dyn Progress>) {
        lock(&self.0).retain(|it| !Arc::ptr_eq(it, mover));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }

    /// Has all of them make progress; whether something has happened.
    pub fn progress(&self) -> bool {
        let all = lock(&self.0);
        all.iter().fold(false, |any, it| it.progress() | any)
    }

    /// The program is about to wait.
    pub fn stand_in(&self) {
        lock(&self.0).iter().for_each(|it| it.stand_in());
    }
}

/// Makes progress until `done`, at most for `timeout` milliseconds, for ever if that is negative;
/// whether it is done.
pub fn until(timeout: c_int, progress: impl Fn() -> bool, mut done: impl FnMut() -> bool) -> bool {
    let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
    let end = limit.map(|limit| Instant::now() + limit);
    loop {
        let moved = progress();
        if done() {
            return true;
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            return false;
        }
        if !moved {
            std::thread::yield_now();
        }
    }
}

/// A completion.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub at: *mut c_void,
    pub data: u64,
    pub tag: u64,
    /// Whom it came from.
    pub source: Addr,
}

/// How an operation failed.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Positive.
    pub error: c_int,
    /// Bytes that found no room.
    pub left: usize,
    /// Why, for people.
    pub cause: String,
}

/// Completions that nobody has taken.
#[derive(Default)]
struct Waiting {
    entries: VecDeque<(Entry, Option<Box<Fault>>)>,
    /// Of the error that was read last.
    cause: Option<CString>,
}

// SAFETY: contexts and buffers are the program's, and only handed through.
unsafe impl Send for Waiting {}

/// A completion queue itself.
#[derive(Default)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    /// How many wait.
    len: AtomicUsize,
    pub movers: Movers,
    pub signal: Signal,
    signaled: AtomicBool,
}

impl Queue {
    /// An operation has ended well.
    pub fn push(&self, entry: Entry) {
        self.put(entry, None);
    }

    /// An operation has failed.
    pub fn push_fault(&self, entry: Entry, fault: Fault) {
        self.put(entry, Some(Box::new(fault)));
    }

    fn put(&self, entry: Entry, fault: Option<Box<Fault>>) {
        let mut waiting = lock(&self.waiting);
        waiting.entries.push_back((entry, fault));
        self.len.store(waiting.entries.len(), Release);
        drop(waiting);
        self.signal.raise();
    }

    /// Whether there are no completions.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len.load(Acquire) == 0
    }

    /// Whether the program may wait for the descriptor: nothing is here, and what comes raises it.
    pub fn may_wait(&self) -> bool {
        self.signal.clear();
        self.movers.progress();
        let may = self.is_empty() && !self.signaled.load(Relaxed);
        if may {
            self.movers.stand_in();
        }
        may
    }

    /// Takes completions.
    ///
    /// # Safety
    /// `to` has room for `count` entries of that format, and `sources` for as many addresses unless
    /// it is null.
    unsafe fn take(
        &self,
        format: c_int,
        to: *mut c_void,
        count: usize,
        sources: *mut Addr,
    ) -> isize {
        if self.is_empty() {
            return err::AGAIN as isize;
        }
        let mut waiting = lock(&self.waiting);
        let size = size(format);
        let mut taken = 0;
        while taken < count {
            match waiting.entries.front() {
                Some((_, None)) => {}
                Some((_, Some(_))) if taken == 0 => return err::AVAIL as isize,
                _ => break,
            }
            let Some((entry, _)) = waiting.entries.pop_front() else {
                break;
            };
            let full = CqEntry {
                op_context: entry.context,
                flags: entry.flags,
                len: entry.len,
                buf: entry.at,
                data: entry.data,
                tag: entry.tag,
            };
            // SAFETY: as promised; the formats are beginnings of the longest one.
            unsafe {
                let to = to.cast::<u8>().add(taken * size);
                to.copy_from_nonoverlapping((&raw const full).cast(), size);
                if !sources.is_null() {
                    *sources.add(taken) = entry.source;
                }
            }
            taken += 1;
        }
        self.len.store(waiting.entries.len(), Release);
        match taken {
            0 if count > 0 || waiting.entries.is_empty() => err::AGAIN as isize,
            taken => taken as isize,
        }
    }
}

/// Bytes of a completion of a format.
fn size(format: c_int) -> usize {
    match format {
        num::CQ_CONTEXT => 8,
        num::CQ_MSG => 24,
        num::CQ_DATA => 40,
        _ => 48,
    }
}

/// A completion queue as an object.
#[repr(C)]
pub struct CqObject {
    fid: FidCq,
    pub queue: Arc<Queue>,
    format: c_int,
    /// Whether errors tell whom they come from.
    has_source: bool,
}

static FID_OPS: FidOps = FidOps {
    close,
    control,
    ..NOTHING
};

static OPS: CqOps = CqOps {
    size: size_of::<CqOps>(),
    read,
    readfrom,
    readerr,
    sread,
    sreadfrom,
    signal,
    strerror,
};

/// Opens a queue; an error number, negative, if it cannot be had.
///
/// # Safety
/// Null, or attributes of the version that the domain was opened with.
pub unsafe fn open(
    attr: *const CqAttr,
    api: u32,
    context: *mut c_void,
) -> Result<*mut FidCq, c_int> {
    let (mut format, mut signal) = (num::CQ_CONTEXT, Signal::default());
    // SAFETY: as promised.
    if let Some(attr) = unsafe { attr.as_ref() } {
        signal = Signal::of(attr.wait_obj)?;
        format = match attr.format {
            0 => num::CQ_CONTEXT,
            format @ num::CQ_CONTEXT..=num::CQ_TAGGED => format,
            _ => return Err(err::INVAL),
        };
    }
    Ok(made(CqObject {
        fid: FidCq {
            fid: begun(class::CQ, context, &FID_OPS),
            ops: &OPS,
        },
        queue: Arc::new(Queue {
            signal,
            ..Queue::default()
        }),
        format,
        has_source: api >= 1 << 16 | 20,
    }))
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: libfabric's callers close open queues.
    unsafe {
        if !of::<CqObject, _>(fid).queue.movers.is_empty() {
            return err::BUSY;
        }
        free::<CqObject, _>(fid);
    }
    0
}

unsafe extern "C" fn read(cq: *mut FidCq, to: *mut c_void, count: usize) -> isize {
    // SAFETY: as the manual page says.
    unsafe { readfrom(cq, to, count, null_mut()) }
}

unsafe extern "C" fn readfrom(
    cq: *mut FidCq,
    to: *mut c_void,
    count: usize,
    sources: *mut Addr,
) -> isize {
    // SAFETY: as the manual page says.
    unsafe {
        let object = of::<CqObject, _>(cq);
        // A call that takes nothing is one for progress.
        if count == 0 || object.queue.is_empty() {
            object.queue.movers.progress();
        }
        object.queue.take(object.format, to, count, sources)
    }
}

unsafe extern "C" fn sread(
    cq: *mut FidCq,
    to: *mut c_void,
    count: usize,
    cond: *const c_void,
    timeout: c_int,
) -> isize {
    // SAFETY: as the manual page says.
    unsafe { sreadfrom(cq, to, count, null_mut(), cond, timeout) }
}

unsafe extern "C" fn sreadfrom(
    cq: *mut FidCq,
    to: *mut c_void,
    count: usize,
    sources: *mut Addr,
    _cond: *const c_void,
    timeout: c_int,
) -> isize {
    // SAFETY: as the manual page says.
    unsafe {
        let object = of::<CqObject, _>(cq);
        let queue = &object.queue;
        let is_over = || !queue.is_empty() || queue.signaled.swap(false, Relaxed);
        until(timeout, || queue.movers.progress(), is_over);
        queue.take(object.format, to, count, sources)
    }
}

unsafe extern "C" fn readerr(cq: *mut FidCq, to: *mut CqErrEntry, _flags: u64) -> isize {
    // SAFETY: as the manual page says.
    unsafe {
        let object = of::<CqObject, _>(cq);
        let mut waiting = lock(&object.queue.waiting);
        let Some((entry, Some(_))) = waiting.entries.front() else {
            return err::AGAIN as isize;
        };
        let entry = *entry;
        let fault = waiting.entries.pop_front().and_then(|it| it.1);
        object.queue.len.store(waiting.entries.len(), Release);
        let fault = fault.expect("it was just there");
        let to = &mut *to;
        (to.op_context, to.flags, to.len, to.buf) =
            (entry.context, entry.flags, entry.len, entry.at);
        (to.data, to.tag, to.olen) = (entry.data, entry.tag, fault.left);
        (to.err, to.prov_errno) = (fault.error, fault.error);
        waiting.cause = CString::new(fault.cause).ok();
        let cause = waiting.cause.as_ref();
        let (cause, len) = cause.map_or((null_mut(), 0), |it| {
            (it.as_ptr().cast_mut(), it.as_bytes_with_nul().len())
        });
        // A loan until the next error is read. Where the caller has room for a copy it has none:
        // the domain says so (`max_err_data`), and callers leave these fields as they were.
        if to.err_data_size > 0 {
            to.err_data_size = 0;
        } else {
            (to.err_data, to.err_data_size) = (cause.cast(), len);
        }
        if object.has_source {
            to.src_addr = entry.source;
        }
    }
    1
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, arg: *mut c_void) -> c_int {
    // SAFETY: an open queue, and an argument as the command says.
    unsafe { of::<CqObject, _>(fid).queue.signal.control(command, arg) }
}

unsafe extern "C" fn signal(cq: *mut FidCq) -> c_int {
    // SAFETY: an open queue.
    let queue = &unsafe { of::<CqObject, _>(cq) }.queue;
    queue.signaled.store(true, Relaxed);
    queue.signal.raise();
    0
}

unsafe extern "C" fn strerror(
    _cq: *mut FidCq,
    error: c_int,
    data: *const c_void,
    to: *mut c_char,
    len: usize,
) -> *const c_char {
    // SAFETY: what `readerr` has told is a text that ends in 0; the room is the caller's.
    unsafe {
        let text = match data.is_null() {
            true => host::strerror(error),
            false => data.cast(),
        };
        if !to.is_null() && len > 0 {
            libc::strncpy(to, text, len - 1);
            *to.add(len - 1) = 0;
        }
        text
    }
}
