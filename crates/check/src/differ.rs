//! Messages whose types are not those of their receives. The library sees that, as in checked mode
//! each message brings a fingerprint of its elements.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::guard::Inside;
use crate::requests;
use crate::site::Site;
use crate::tell::{Finding, Kind};

/// A message that does not fit.
#[derive(Debug)]
struct Message {
    /// The address of the buffer of its receive.
    buffer: usize,
    text: String,
}

/// Those that nobody has been told of yet.
static NEW: Mutex<Vec<Message>> = Mutex::new(Vec::new());

/// Whether there are any.
static ANY: AtomicBool = AtomicBool::new(false);

/// Has the library of this process compare types: for before it begins.
pub fn begin() {
    // SAFETY: names that end; the program is in its call that initializes MPI.
    unsafe { libc::setenv(c"CATENA_CHECK".as_ptr(), c"true".as_ptr(), 0) };
}

/// The library tells of a message: it holds its lock, so this only notes it.
///
/// # Safety
/// The texts end.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
unsafe extern "C" fn catena_check_types_differ(
    buffer: usize,
    source: c_int,
    bytes: u64,
    sent: *const c_char,
    expected: *const c_char,
) {
    let _inside = Inside::enter();
    // SAFETY: the caller's promise.
    let text = |it: *const c_char| unsafe { CStr::from_ptr(it) }.to_string_lossy().into_owned();
    let text = format!(
        "the message of {bytes} bytes from rank {source} has {}, but its receive has {}",
        text(sent),
        text(expected)
    );
    let mut new = NEW.lock().unwrap_or_else(PoisonError::into_inner);
    new.push(Message { buffer, text });
    ANY.store(true, Relaxed);
}

/// Messages that were noted since this was last asked.
pub fn find(site: impl Fn() -> Site) -> Vec<Finding> {
    if !ANY.load(Relaxed) || !ANY.swap(false, Relaxed) {
        return Vec::new();
    }
    let new = std::mem::take(&mut *NEW.lock().unwrap_or_else(PoisonError::into_inner));
    let finding = |message: Message| {
        let finding = Finding::error(Kind::Type, site(), message.text);
        let finding = match requests::of_buffer(message.buffer) {
            Some(receive) => finding.besides("the receive began in", &receive),
            None => finding,
        };
        finding.remedy("send and receive the same basic types, or MPI_PACKED")
    };
    new.into_iter().map(finding).collect()
}
