//! Buffers that a program attaches, as accounts of its buffered sends (MPI-5, chapter 3.6).
//!
//! A buffered message is copied to memory of the library. What the program
//! attached is taken as the account of how much may be under way: each message
//! costs its packed size and a little more, which `MPI_BSEND_OVERHEAD` covers.

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use catena_abi::consts;
use catena_link::ReqId;

/// What a message costs besides its bytes. Programs add `MPI_BSEND_OVERHEAD` to them, which is 512
/// in the standard's binary interface, 128 in that of Open MPI and 96 in that of MPICH.
pub(crate) const OVERHEAD: u64 = 96;

/// An attached buffer.
#[derive(Debug)]
pub struct Attached {
    /// Address that the program gave.
    pub addr: usize,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is being detached: somebody waits until its messages have left.
    pub leaves: bool,
    /// In the order in which they were sent.
    pending: Vec<Pending>,
}

#[derive(Debug)]
struct Pending {
    id: ReqId,
    cost: u64,
    number: u64,
}

/// The place for a buffer.
#[derive(Debug, Default)]
pub struct Slot(RefCell<Option<Attached>>);

impl Deref for Slot {
    type Target = RefCell<Option<Attached>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Buffered messages of the process, counted; under the library's lock.
static SENT: AtomicU64 = AtomicU64::new(0);

/// A point in the sequence of buffered sends.
#[derive(Clone, Copy, Debug)]
pub struct Mark(u64);

impl Mark {
    /// Behind everything that was sent so far.
    pub fn now() -> Self {
        Mark(SENT.load(Relaxed))
    }
}

impl Attached {
    /// A buffer with nothing in it.
    pub fn new(addr: usize, size: u64) -> Self {
        Attached {
            addr,
            size,
            leaves: false,
            pending: Vec::new(),
        }
    }

    /// Whether the library finds the memory (`MPI_BUFFER_AUTOMATIC`).
    pub fn automatic(&self) -> bool {
        self.addr == consts::BUFFER_AUTOMATIC
    }

    /// Bytes that its messages cost.
    pub(crate) fn used(&self) -> u64 {
        self.pending.iter().map(|p| p.cost).sum()
    }

    /// Forgets the messages that have left.
    pub(crate) fn settle(&mut self, has_left: impl Fn(ReqId) -> bool) {
        self.pending.retain(|p| !has_left(p.id));
    }

    /// A message of that cost is under way.
    pub(crate) fn add(&mut self, id: ReqId, cost: u64) {
        let number = SENT.load(Relaxed);
        SENT.store(number + 1, Relaxed);
        self.pending.push(Pending { id, cost, number });
    }

    /// The messages before `until` that have not left.
    pub(crate) fn not_left(&self, until: Mark) -> Vec<ReqId> {
        let early = self.pending.iter().filter(|it| it.number < until.0);
        early.map(|it| it.id).collect()
    }

    /// Whether the messages before `until` have left, as far as was [settled](Self::settle).
    pub(crate) fn is_flushed(&self, until: Mark) -> bool {
        self.pending.first().is_none_or(|p| p.number >= until.0)
    }
}
