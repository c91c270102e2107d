//! The memory in which calls are counted: tables in the file that the processes of a node share
//! with their launcher.

use std::os::fd::{AsFd, AsRawFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use catena_profile::layout::{TABLE, TABLES, WRITTEN, at};
use catena_trace::{PROFILES_AT, StreamWriter};

use crate::phase;

const PAGE: usize = 4096;

/// What a thread writes to.
pub struct Memory {
    /// Its table, all zero.
    pub table: *mut u8,
    /// The ring for its calls, if these are to be written one by one.
    pub stream: Option<StreamWriter>,
}

/// Memory that no other thread has; `None` if there is no launcher, or no room. Its pages are
/// there: where memory is short, this says so, and no touch does. Cost: some hundred microseconds.
pub fn take() -> Option<Memory> {
    // It is looked for anew: programs close files.
    let file = catena_tool::node::node()?;
    let fd = file.as_raw_fd();
    let provide = |at: u64, bytes: usize| {
        // SAFETY: plain numbers; the file does not grow by it.
        let done = unsafe {
            let flags = libc::FALLOC_FL_KEEP_SIZE;
            libc::fallocate(fd, flags, at as libc::off_t, bytes as libc::off_t)
        };
        done == 0
    };
    let map = |at: u64, bytes: usize| {
        // SAFETY: a new mapping, nowhere in particular, of a file that is as long.
        let memory = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            libc::mmap(ptr::null_mut(), bytes, access, flags, fd, at as libc::off_t)
        };
        (memory != libc::MAP_FAILED).then_some(memory)
    };
    if !provide(PROFILES_AT, PAGE) {
        return None;
    }
    let head = map(PROFILES_AT, PAGE)?;
    // SAFETY: a page of zeros at first, which is used as an atomic number by all.
    let number = unsafe { (*head.cast::<AtomicU64>()).fetch_add(1, Relaxed) };
    // SAFETY: it was mapped here.
    unsafe { libc::munmap(head, PAGE) };
    if number >= TABLES || !provide(at(number), WRITTEN) {
        return None;
    }
    let table = map(at(number), TABLE)?.cast();
    let stream = match phase::is_streamed() {
        true => StreamWriter::map(file.as_fd(), number).ok(),
        false => None,
    };
    Some(Memory { table, stream })
}
