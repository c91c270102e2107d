//! Completion queues.

use std::collections::VecDeque;
use std::ffi::{CString, c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::host;
use crate::object::{NOTHING, begun, free, made, of};
use crate::signal::Signal;
use crate::sys::{Addr, CqAttr, CqEntry, CqErrEntry, CqOps, Fid, FidCq, FidOps, class, err, num};

/// Something of which a call for completions asks for them: an endpoint.
pub trait Progress: Send + Sync {
    /// Moves messages, and hands over what has been completed; whether something has happened.
    fn progress(&self) -> bool;

    /// As [`Progress::progress`], in a call on an object of any domain; one at a time.
    fn visit(&self) -> bool;

    /// The program is about to wait: somebody else is to make progress for it.
    fn stand_in(&self);

    /// Hands what it has for a queue to who reads that, after progress where that is asked for or
    /// nothing is there.
    fn tell(&self, queue: &Queue, reader: &mut Reader);

    /// Takes what it has for a queue, if that begins with an error.
    fn take_fault(&self, queue: &Queue) -> Option<(Entry, Fault)>;

    /// Whether it has something for a queue.
    fn has_told(&self, queue: &Queue) -> bool;
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

    /// As [`Movers::progress`], of endpoints of any domain.
    pub fn visit(&self) -> bool {
        let all = lock(&self.0);
        all.iter().fold(false, |any, it| it.visit() | any)
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

/// A completion; it begins as the longest one of libfabric's does ([`CqEntry`]).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    pub context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub at: *mut c_void,
    pub data: u64,
    pub tag: u64,
    /// Whom it came from.
    pub source: Addr,
    /// Whether the operation has failed.
    pub is_fault: bool,
}

const _: () = assert!(
    offset_of!(Entry, context) == offset_of!(CqEntry, op_context)
        && offset_of!(Entry, flags) == offset_of!(CqEntry, flags)
        && offset_of!(Entry, len) == offset_of!(CqEntry, len)
        && offset_of!(Entry, at) == offset_of!(CqEntry, buf)
        && offset_of!(Entry, data) == offset_of!(CqEntry, data)
        && offset_of!(Entry, tag) == offset_of!(CqEntry, tag)
);

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

/// The completions of an endpoint for a queue that nobody has taken.
pub struct Waiting {
    pub queue: Arc<Queue>,
    told: Told,
}

/// Completions in their order.
#[derive(Default)]
pub struct Told {
    /// Those from `from` on wait.
    entries: Vec<Entry>,
    from: usize,
    /// How those have failed that have, in their order.
    faults: VecDeque<Fault>,
}

impl Told {
    #[inline]
    fn first(&self) -> Option<&Entry> {
        self.entries.get(self.from)
    }

    // Inlined, so that the entry is written where it stays: a copy of what has just been written
    // waits for that.
    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        // Where some always wait, the room of those that were taken serves again all the same.
        if self.from > 64 && 2 * self.from > self.entries.len() {
            self.entries.drain(..self.from);
            self.from = 0;
        }
        self.entries.push(entry);
    }

    /// The first ones were taken.
    #[inline]
    fn pop(&mut self, count: usize) {
        self.from += count;
        if self.from == self.entries.len() {
            self.entries.clear();
            self.from = 0;
        }
    }

    /// Takes the first one if it is an error.
    fn pop_fault(&mut self) -> Option<(Entry, Fault)> {
        let first = *self.first().filter(|it| it.is_fault)?;
        self.pop(1);
        Some((first, self.faults.pop_front()?))
    }

    /// Those of another endpoint follow.
    fn append(&mut self, mut others: Told) {
        let left = others.entries.drain(others.from..);
        left.for_each(|it| self.push(it));
        self.faults.append(&mut others.faults);
    }
}

impl Waiting {
    /// None yet.
    pub fn new(queue: Arc<Queue>) -> Waiting {
        let told = Told::default();
        Waiting { queue, told }
    }

    /// Whether they are for that queue.
    #[inline]
    pub fn is_for(&self, queue: &Queue) -> bool {
        std::ptr::eq(&*self.queue, queue)
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.told.entries.is_empty()
    }

    /// An operation has ended well.
    #[inline(always)]
    pub fn push(&mut self, entry: Entry) {
        self.told.push(entry);
        self.queue.signal.raise();
    }

    /// An operation has failed.
    pub fn push_fault(&mut self, entry: Entry, fault: Fault) {
        self.told.faults.push_back(fault);
        self.push(Entry {
            is_fault: true,
            ..entry
        });
    }

    /// Takes the first one if it is an error.
    pub fn take_fault(&mut self) -> Option<(Entry, Fault)> {
        self.told.pop_fault()
    }

    /// The endpoint is gone: they wait in the queue itself.
    pub fn leave(self) {
        let mut left = lock(&self.queue.left);
        left.append(self.told);
        self.queue.has_left.store(left.first().is_some(), Release);
    }
}

/// Who reads a queue, and what it has read so far.
pub struct Reader {
    to: *mut u8,
    sources: *mut Addr,
    format: c_int,
    room: usize,
    taken: usize,
    /// Whether the first that waits is an error.
    is_fault: bool,
    /// Whether progress is asked for, whatever is there.
    pub moves: bool,
}

impl Reader {
    /// Whether it wants no more.
    #[inline]
    fn is_full(&self) -> bool {
        self.taken == self.room || self.is_fault
    }

    /// Takes completions up to the first error.
    #[inline]
    pub fn read(&mut self, from: &mut Waiting) {
        self.read_all(&mut from.told);
    }

    #[inline]
    fn read_all(&mut self, from: &mut Told) {
        let before = self.taken;
        for entry in &from.entries[from.from..] {
            if self.taken == self.room {
                break;
            }
            if entry.is_fault {
                self.is_fault = true;
                break;
            }
            self.take(entry);
        }
        from.pop(self.taken - before);
    }

    #[inline]
    fn take(&mut self, entry: &Entry) {
        let from: *const u8 = std::ptr::from_ref(entry).cast();
        let size = size(self.format);
        // SAFETY: room for as many entries and sources as `Queue::read` was promised; the formats
        // are beginnings of the longest one.
        unsafe {
            let to = self.to.add(self.taken * size);
            match self.format {
                num::CQ_TAGGED => to.copy_from_nonoverlapping(from, size_of::<CqEntry>()),
                _ => to.copy_from_nonoverlapping(from, size),
            }
            if !self.sources.is_null() {
                *self.sources.add(self.taken) = entry.source;
            }
        }
        self.taken += 1;
    }
}

/// A completion queue itself: completions wait in the endpoints that have them.
#[derive(Default)]
pub struct Queue {
    movers: Movers,
    /// The only one of these, if there is only one: one of those that are kept.
    sole: AtomicPtr<Arc<dyn Progress>>,
    /// All that were the only one, as long as the queue is there: a thread may ask one that leaves.
    #[allow(
        clippy::vec_box,
        reason = "`sole` leads to one, which stays where it is"
    )]
    kept: Mutex<Vec<Box<Arc<dyn Progress>>>>,
    /// What closed endpoints have left, and whether there is something.
    left: Mutex<Told>,
    has_left: AtomicBool,
    /// Of the error that was read last.
    cause: Mutex<Option<CString>>,
    pub signal: Signal,
    signaled: AtomicBool,
}

// SAFETY: contexts and buffers are the program's, and only handed through.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    /// An endpoint has completions for it from now on.
    pub fn add(&self, mover: &Arc<dyn Progress>) {
        self.movers.add(mover);
        self.find_sole();
    }

    /// An endpoint has none any more.
    pub fn remove(&self, mover: &Arc<dyn Progress>) {
        self.movers.remove(mover);
        self.find_sole();
    }

    fn find_sole(&self) {
        let all = lock(&self.movers.0);
        let sole = match &all[..] {
            [sole] => {
                let mut kept = lock(&self.kept);
                kept.push(Box::new(Arc::clone(sole)));
                kept.last_mut().map_or(null_mut(), |it| &raw mut **it)
            }
            _ => null_mut(),
        };
        self.sole.store(sole, Release);
    }

    /// Has all of its endpoints do something, in turn.
    #[inline]
    fn each(&self, mut what: impl FnMut(&dyn Progress)) {
        // SAFETY: kept as long as the queue is there, and not changed.
        match unsafe { self.sole.load(Acquire).as_ref() } {
            Some(sole) => what(&**sole),
            None => lock(&self.movers.0).iter().for_each(|it| what(&**it)),
        }
    }

    /// Has all of its endpoints make progress; whether something has happened.
    pub fn progress(&self) -> bool {
        let mut any = false;
        self.each(|it| any |= it.progress());
        any
    }

    /// Whether there are no completions.
    pub fn is_empty(&self) -> bool {
        let mut any = self.has_left.load(Acquire);
        self.each(|it| any |= it.has_told(self));
        !any
    }

    /// Whether the program may wait for the descriptor: nothing is here, and what comes raises it.
    pub fn may_wait(&self) -> bool {
        self.signal.clear();
        self.progress();
        let may = self.is_empty() && !self.signaled.load(Relaxed);
        if may {
            self.movers.stand_in();
        }
        may
    }

    /// Takes completions, after progress where none are there or none are asked for.
    ///
    /// # Safety
    /// `to` has room for `room` entries of that format, and `sources` for as many addresses unless
    /// it is null.
    #[inline]
    unsafe fn read(
        &self,
        format: c_int,
        to: *mut c_void,
        room: usize,
        sources: *mut Addr,
    ) -> isize {
        let mut reader = Reader {
            to: to.cast(),
            sources,
            format,
            room,
            taken: 0,
            is_fault: false,
            moves: room == 0,
        };
        if self.has_left.load(Acquire) {
            let mut left = lock(&self.left);
            reader.read_all(&mut left);
            self.has_left.store(left.first().is_some(), Release);
        }
        self.each(|it| {
            if reader.moves || !reader.is_full() {
                it.tell(self, &mut reader);
            }
        });
        match reader.taken {
            0 if reader.is_fault => err::AVAIL as isize,
            0 if room > 0 || self.is_empty() => err::AGAIN as isize,
            taken => taken as isize,
        }
    }

    fn take_fault(&self) -> Option<(Entry, Fault)> {
        let mut fault = {
            let mut left = lock(&self.left);
            let fault = left.pop_fault();
            self.has_left.store(left.first().is_some(), Release);
            fault
        };
        self.each(|it| {
            if fault.is_none() {
                fault = it.take_fault(self);
            }
        });
        fault
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
        object.queue.read(object.format, to, count, sources)
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
        until(timeout, || queue.progress(), is_over);
        queue.read(object.format, to, count, sources)
    }
}

unsafe extern "C" fn readerr(cq: *mut FidCq, to: *mut CqErrEntry, _flags: u64) -> isize {
    // SAFETY: as the manual page says.
    unsafe {
        let object = of::<CqObject, _>(cq);
        let Some((entry, fault)) = object.queue.take_fault() else {
            return err::AGAIN as isize;
        };
        let to = &mut *to;
        (to.op_context, to.flags, to.len, to.buf) =
            (entry.context, entry.flags, entry.len, entry.at);
        (to.data, to.tag, to.olen) = (entry.data, entry.tag, fault.left);
        (to.err, to.prov_errno) = (fault.error, fault.error);
        let mut last = lock(&object.queue.cause);
        *last = CString::new(fault.cause).ok();
        let (cause, len) = last.as_ref().map_or((null_mut(), 0), |it| {
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
