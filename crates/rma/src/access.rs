//! Which epochs of a window a process is in; `epoch` says what they allow.

use std::cell::{Cell, RefCell};

/// The access epoch of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// There is none.
    #[default]
    None,
    /// Between two fences, to all.
    Fence,
    /// To the group of `MPI_Win_start`.
    Start,
    /// To the targets that are locked.
    Lock,
    /// To all, which are locked.
    LockAll,
}

/// Where a process is in the epochs of a window.
#[derive(Debug, Default)]
pub struct Epochs {
    /// Its access epoch.
    pub access: Cell<Access>,
    /// Whether every target is open.
    pub all_open: Cell<bool>,
    /// Whether the epoch since the last fence had an operation.
    pub used: Cell<bool>,
    /// The ranks that `MPI_Win_start` named.
    pub started: RefCell<Vec<u32>>,
    /// Whether `MPI_Win_post` was called, and `MPI_Win_wait` was not.
    pub exposes: Cell<bool>,
    /// The ranks that it named.
    pub posted: RefCell<Vec<u32>>,
    /// How often it has gone to meetings of few members.
    pub meetings: Cell<u32>,
    /// How many targets are locked one by one.
    pub locks: Cell<u32>,
    /// How many threads wait for such a lock.
    pub asking: Cell<u32>,
    /// Whether `MPI_Win_lock_all` has entered the gate.
    pub in_gate: Cell<bool>,
}
