//! Checked mode (`mpirun --check`): where in the program a call stands that an error is raised of,
//! that it is raised, which messages are never received, and who asks what an error means.
//!
//! The tool that ranks then load (`crates/check`) has functions for that; without it nothing is
//! done.

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;

use catena_abi::Comm;
use catena_core::init::Unmatched;

/// Most bytes of a place.
const LONGEST: usize = 512;

/// Writes where the call stands, at most that many bytes, and tells how many it has written.
type Place = unsafe extern "C" fn(*mut u8, usize) -> usize;

/// The place of the call that is under way, as the end of a sentence; empty outside of checked
/// mode. Cost: some milliseconds, so it is for errors that end the job.
pub(crate) fn place() -> String {
    let Some(found) = find(c"catena_check_place") else {
        return String::new();
    };
    let mut text = [0; LONGEST];
    // SAFETY: the function of the tool has this type, and writes at most that many bytes.
    let len = unsafe { transmute::<*mut c_void, Place>(found)(text.as_mut_ptr(), LONGEST) };
    match &text[..len.min(LONGEST)] {
        [] => String::new(),
        place => format!(", called from {}", String::from_utf8_lossy(place)),
    }
}

/// Tells the tool the code that an error handler is called with, which may never return.
pub(crate) fn raised(code: c_int) {
    if let Some(found) = find(c"catena_check_raised") {
        // SAFETY: the function of the tool has this type.
        unsafe { transmute::<*mut c_void, extern "C" fn(c_int)>(found)(code) }
    }
}

/// Whether it is a tool that calls, and not the program: checked mode, or another one that is made
/// from `catena-tool`.
pub(crate) fn asks() -> bool {
    find(c"catena_tool_asks").is_some_and(|found| {
        // SAFETY: the function of the tools has this type.
        unsafe { transmute::<*mut c_void, extern "C" fn() -> c_int>(found)() != 0 }
    })
}

/// Is told a message that was never received: its communicator, source, tag and bytes.
type TellUnmatched = extern "C" fn(Comm, c_int, c_int, u64);

/// Does something with what the tool has to be told of messages that are never received.
pub(crate) fn with_unmatched<T>(f: impl FnOnce(Option<&Unmatched>) -> T) -> T {
    let Some(found) = find(c"catena_check_unmatched") else {
        return f(None);
    };
    // SAFETY: the function of the tool has this type.
    let told = unsafe { transmute::<*mut c_void, TellUnmatched>(found) };
    f(Some(&move |comm, message| {
        told(comm, message.source as c_int, message.tag, message.len);
    }))
}

/// A function of the tool.
fn find(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a name that ends.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
