//! What files have done in this process, counted. The crate `io` adds, and tools read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counters of a process. Any thread adds.
#[derive(Debug, Default)]
pub struct FileCounters {
    /// Bytes read from files.
    pub read: AtomicU64,
    /// Bytes written to files.
    pub written: AtomicU64,
    /// Runs of bytes that were asked of the file system: system calls, but for those that finish short
    /// transfers.
    pub calls: AtomicU64,
    /// Bytes that were read because they lie between those that were asked for.
    pub gaps: AtomicU64,
    /// Time that threads spent in reading and writing, nanoseconds.
    pub time: AtomicU64,
    /// Files that were opened.
    pub opened: AtomicU64,
}

/// The counters of this process.
pub static FILES: FileCounters = FileCounters {
    read: AtomicU64::new(0),
    written: AtomicU64::new(0),
    calls: AtomicU64::new(0),
    gaps: AtomicU64::new(0),
    time: AtomicU64::new(0),
    opened: AtomicU64::new(0),
};

/// Adds to a counter.
pub fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Relaxed);
}

/// What a counter says.
pub fn read(counter: &AtomicU64) -> u64 {
    counter.load(Relaxed)
}
