//! What another rank of this host has told already.
//!
//! The processes of a node share a file in memory with their launcher, in which areas of the trace
//! lie; all have it open. The last page of these, which no process has, holds sums of what was
//! told. Where there is no such file each rank tells for itself.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use catena_tool::node::node;
use catena_trace::Findings;

const PAGE: u64 = 4096;

/// Sums, each zero as long as nothing stands there.
type Sums = [AtomicU64; PAGE as usize / 8];

/// Whether nobody on this host has told what has this sum; from now on somebody has.
pub fn is_first(sum: u64) -> bool {
    static SUMS: OnceLock<Option<&'static Sums>> = OnceLock::new();
    let Some(sums) = SUMS.get_or_init(shared) else {
        return true;
    };
    let sum = sum.max(1);
    let from = sum as usize % sums.len();
    let places = (0..sums.len()).map(|i| &sums[(from + i) % sums.len()]);
    for place in places {
        match place.compare_exchange(0, sum, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(other) if other == sum => return false,
            Err(_) => {}
        }
    }
    true
}

/// The page, if there is one.
fn shared() -> Option<&'static Sums> {
    let file = node()?;
    let at = (catena_trace::OFFSET + catena_trace::NODE_AREAS - PAGE) as libc::off_t;
    // SAFETY: a file of that length. Where memory is short, this says so, and no touch does.
    if unsafe { libc::posix_fallocate(file.as_raw_fd(), at, PAGE as libc::off_t) } != 0 {
        return None;
    }
    // SAFETY: new memory of a file that stays as long as it is mapped.
    let page = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let fd = file.as_raw_fd();
        libc::mmap(
            std::ptr::null_mut(),
            PAGE as usize,
            access,
            libc::MAP_SHARED,
            fd,
            at,
        )
    };
    match page == libc::MAP_FAILED {
        true => None,
        // SAFETY: it is mapped for ever, and consists of atomics.
        false => Some(unsafe { &*page.cast::<Sums>() }),
    }
}

/// Notes what was told for the launcher, which reads it when the job is over.
pub fn note(finding: &[u8]) {
    static LOG: OnceLock<Option<Findings>> = OnceLock::new();
    let log = LOG.get_or_init(|| Findings::map(node()?.as_fd()).ok());
    if let Some(log) = log {
        log.add(finding);
    }
}
