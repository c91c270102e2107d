//! Event queues: what a program writes there itself, and that addresses were inserted.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::host;
use crate::object::{NOTHING, begun, close, made, of};
use crate::queue::lock;
use crate::signal::Signal;
use crate::sys::{EqAttr, EqEntry, EqErrEntry, EqOps, Fid, FidEq, FidOps, class, err, flag};

/// One event: its number and its bytes.
type Event = (u32, Vec<u8>);

/// An event queue itself.
#[derive(Default)]
pub struct Events {
    waiting: Mutex<Waiting>,
    signal: Signal,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<Event>,
    /// The errors of addresses that could not be inserted.
    errors: VecDeque<EqErrEntry>,
}

// SAFETY: contexts and objects are the program's, and only handed through.
unsafe impl Send for Waiting {}

impl Events {
    /// Something has happened.
    pub fn push(&self, event: u32, entry: &EqEntry) {
        let at: *const EqEntry = entry;
        // SAFETY: a structure without gaps.
        let bytes = unsafe { std::slice::from_raw_parts(at.cast(), size_of::<EqEntry>()) };
        self.write(event, bytes);
    }

    /// Something has failed.
    pub fn push_error(&self, error: EqErrEntry) {
        lock(&self.waiting).errors.push_back(error);
        self.signal.raise();
    }

    fn write(&self, event: u32, bytes: &[u8]) {
        lock(&self.waiting)
            .events
            .push_back((event, bytes.to_vec()));
        self.signal.raise();
    }

    /// Whether the program may wait for the descriptor.
    pub fn may_wait(&self) -> bool {
        self.signal.clear();
        let waiting = lock(&self.waiting);
        waiting.events.is_empty() && waiting.errors.is_empty()
    }
}

/// An event queue as an object.
#[repr(C)]
pub struct EqObject {
    fid: FidEq,
    pub events: Arc<Events>,
    /// Whether the program may write to it.
    is_writable: bool,
}

static FID_OPS: FidOps = FidOps {
    close: close::<EqObject>,
    control,
    ..NOTHING
};

static OPS: EqOps = EqOps {
    size: size_of::<EqOps>(),
    read,
    readerr,
    write,
    sread,
    strerror,
};

/// Opens a queue; an error number, negative, if it cannot be had.
///
/// # Safety
/// Null, or attributes.
pub unsafe fn open(attr: *const EqAttr, context: *mut c_void) -> Result<*mut FidEq, c_int> {
    // SAFETY: as promised.
    let attr = unsafe { attr.as_ref() };
    let signal = attr.map_or(Ok(Signal::default()), |it| Signal::of(it.wait_obj))?;
    Ok(made(EqObject {
        fid: FidEq {
            fid: begun(class::EQ, context, &FID_OPS),
            ops: &OPS,
        },
        events: Arc::new(Events {
            signal,
            ..Events::default()
        }),
        is_writable: attr.is_some_and(|it| it.flags & flag::WRITE != 0),
    }))
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, arg: *mut c_void) -> c_int {
    // SAFETY: an open queue, and an argument as the command says.
    unsafe { of::<EqObject, _>(fid).events.signal.control(command, arg) }
}

unsafe extern "C" fn read(
    eq: *mut FidEq,
    event: *mut u32,
    to: *mut c_void,
    len: usize,
    flags: u64,
) -> isize {
    // SAFETY: an open queue, and as much room as `len` says.
    unsafe {
        let mut waiting = lock(&of::<EqObject, _>(eq).events.waiting);
        if !waiting.errors.is_empty() {
            return err::AVAIL as isize;
        }
        let Some((number, bytes)) = waiting.events.front() else {
            return err::AGAIN as isize;
        };
        if bytes.len() > len {
            return err::TOOSMALL as isize;
        }
        if !event.is_null() {
            *event = *number;
        }
        let len = bytes.len();
        if len > 0 {
            to.cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), len);
        }
        if flags & flag::PEEK == 0 {
            waiting.events.pop_front();
        }
        len as isize
    }
}

unsafe extern "C" fn readerr(eq: *mut FidEq, to: *mut c_void, _: u64) -> isize {
    // SAFETY: an open queue, and room for an error.
    unsafe {
        match lock(&of::<EqObject, _>(eq).events.waiting)
            .errors
            .pop_front()
        {
            Some(error) => {
                *to.cast::<EqErrEntry>() = error;
                size_of::<EqErrEntry>() as isize
            }
            None => err::AGAIN as isize,
        }
    }
}

unsafe extern "C" fn write(
    eq: *mut FidEq,
    event: u32,
    from: *const c_void,
    len: usize,
    _: u64,
) -> isize {
    // SAFETY: an open queue, and as many bytes as `len` says.
    unsafe {
        let object = of::<EqObject, _>(eq);
        if !object.is_writable {
            return err::INVAL as isize;
        }
        let bytes = match len {
            0 => &[],
            _ => std::slice::from_raw_parts(from.cast::<u8>(), len),
        };
        object.events.write(event, bytes);
        len as isize
    }
}

unsafe extern "C" fn sread(
    eq: *mut FidEq,
    event: *mut u32,
    to: *mut c_void,
    len: usize,
    timeout: c_int,
    flags: u64,
) -> isize {
    let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
    let end = limit.map(|limit| Instant::now() + limit);
    loop {
        // SAFETY: as the manual page says.
        let done = unsafe { read(eq, event, to, len, flags) };
        let is_late = end.is_some_and(|end| Instant::now() >= end);
        if done != err::AGAIN as isize || is_late {
            return done;
        }
        std::thread::yield_now();
    }
}

unsafe extern "C" fn strerror(
    _: *mut FidEq,
    error: c_int,
    _: *const c_void,
    _: *mut c_char,
    _: usize,
) -> *const c_char {
    host::strerror(error)
}
