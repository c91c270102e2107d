//! What a process keeps of the segments of other jobs.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::segment::Segment;

/// The segment of another job.
#[derive(Debug)]
pub(crate) struct OtherSegment {
    pub(crate) segment: Segment,
    /// The job.
    pub(crate) job: u64,
    /// What this process is called there: its own job and its number on the node.
    pub(crate) me: (u64, u32),
    /// The numbers of its processes here.
    pub(crate) numbers: Range<u32>,
    /// This process's entries in the lists of guests of each of them, and theirs in its own, if
    /// their rings were seen.
    pub(crate) entries: Vec<u64>,
    pub(crate) heard: Vec<Option<u64>>,
}

/// The guests of this process.
#[derive(Debug, Default)]
pub(crate) struct Guests {
    /// The head of the list when it was last read.
    pub(crate) seen: u64,
    /// Guests that came before their jobs were attached: offsets of their entries.
    pub(crate) waiting: Vec<u64>,
    /// Those of processes that were removed and have not let go yet.
    pub(crate) orphans: BTreeSet<u64>,
    /// Where this process's own segment is, as those are told that it calls.
    pub(crate) place: [u64; 2],
}
