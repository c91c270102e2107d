//! What files have done in this process, counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::driver::Direction;

/// The counters of a process; any thread adds.
#[derive(Debug, Default)]
pub struct Counters {
    /// Bytes read from files.
    pub read: AtomicU64,
    /// Bytes written to files.
    pub written: AtomicU64,
    /// Runs of bytes that were asked of the file system.
    pub calls: AtomicU64,
    /// Files that were opened.
    pub opened: AtomicU64,
}

/// Those of this process.
pub static COUNTERS: Counters = Counters {
    read: AtomicU64::new(0),
    written: AtomicU64::new(0),
    calls: AtomicU64::new(0),
    opened: AtomicU64::new(0),
};

impl Counters {
    /// Adds bytes that were moved by so many calls.
    pub fn moved(&self, direction: Direction, bytes: u64, calls: u64) {
        let sum = match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.written,
        };
        sum.fetch_add(bytes, Relaxed);
        self.calls.fetch_add(calls, Relaxed);
    }
}
