//! Where a process is in its epochs (MPI-5, chapter 12.5), and what it may call there.
//!
//! | access epoch | begins                          | ends                              |
//! |--------------|---------------------------------|-----------------------------------|
//! | `Fence`      | `MPI_Win_fence`                 | the next one, or when it was not used: at the next call that begins one |
//! | `Start`      | `MPI_Win_start`                 | `MPI_Win_complete`                |
//! | `Lock`       | the first `MPI_Win_lock`        | the last `MPI_Win_unlock`         |
//! | `LockAll`    | `MPI_Win_lock_all`              | `MPI_Win_unlock_all`              |
//!
//! An operation only asks whether its target is open, or all are.

use catena_abi::consts;
use catena_core::Process;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

use crate::access::Access;
use crate::window::Window;

/// An error of synchronization.
#[cold]
pub(crate) fn sync_error(text: impl Into<String>) -> Error {
    Error::new(Kind::RmaSync, text)
}

/// Checks an assertion: of these bits.
///
/// # Errors
/// `Assert` if it has others.
pub(crate) fn check_assert(assert: i32, allowed: i32) -> Result<()> {
    if assert & !allowed != 0 {
        fail!(
            Assert,
            "the assertion is {assert:#x}, of which this call knows {allowed:#x}"
        );
    }
    Ok(())
}

/// What a fence may assert.
pub(crate) const OF_FENCE: i32 =
    consts::MODE_NOSTORE | consts::MODE_NOPUT | consts::MODE_NOPRECEDE | consts::MODE_NOSUCCEED;
/// What a post may.
pub(crate) const OF_POST: i32 = consts::MODE_NOCHECK | consts::MODE_NOSTORE | consts::MODE_NOPUT;
/// What others may.
pub(crate) const OF_OTHERS: i32 = consts::MODE_NOCHECK;

impl Window {
    /// Checks the rank of a target; `None` for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// `Rank` if the window has no such member.
    #[inline]
    pub fn target_rank(&self, rank: i32) -> Result<Option<u32>> {
        if (rank as u32) < self.size() {
            Ok(Some(rank as u32))
        } else if rank == consts::PROC_NULL {
            Ok(None)
        } else {
            Err(self.bad_rank(rank))
        }
    }

    #[cold]
    fn bad_rank(&self, rank: i32) -> Error {
        let last = self.size() - 1;
        let text = format!(
            "the target is rank {rank}, but the window has ranks 0 to {last} (or MPI_PROC_NULL)"
        );
        Error::new(Kind::Rank, text)
    }

    /// Checks that an epoch is open to a target, and notes that it is used. The first time after
    /// `MPI_Win_start` it waits for the target's post.
    ///
    /// # Errors
    /// `RmaSync` if it is not.
    #[inline]
    pub fn check_open(&self, process: &Process, rank: u32) -> Result<()> {
        if self.epochs.all_open.get() || self.targets[rank as usize].open.get() {
            self.epochs.used.set(true);
            return Ok(());
        }
        self.open_slow(process, rank)
    }

    #[cold]
    #[inline(never)]
    fn open_slow(&self, process: &Process, rank: u32) -> Result<()> {
        let is_started = self.epochs.access.get() == Access::Start
            && self.epochs.started.borrow().contains(&rank);
        if !is_started {
            return Err(self.not_open(rank));
        }
        self.await_post(process, rank)
    }

    fn not_open(&self, rank: u32) -> Error {
        let what = match self.epochs.access.get() {
            Access::Start => "it is not in the group that MPI_Win_start was called with",
            Access::Lock => "it is not locked: call MPI_Win_lock for it first",
            _ => "call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first",
        };
        sync_error(format!(
            "no access epoch is open to rank {rank} of the window: {what}"
        ))
    }

    /// Checks that this process is in a passive epoch, of a target if one is named.
    ///
    /// # Errors
    /// `RmaSync` if it is not.
    #[inline]
    pub fn check_passive(&self, rank: Option<u32>) -> Result<()> {
        match (self.epochs.access.get(), rank) {
            (Access::LockAll, _) | (Access::Lock, None) => Ok(()),
            (Access::Lock, Some(rank)) if self.targets[rank as usize].open.get() => Ok(()),
            _ => Err(self.not_passive(rank)),
        }
    }

    #[cold]
    fn not_passive(&self, rank: Option<u32>) -> Error {
        let text = match rank {
            Some(rank) => {
                format!("rank {rank} of the window is not locked: call MPI_Win_lock first")
            }
            None => "nothing of the window is locked: call MPI_Win_lock or MPI_Win_lock_all first"
                .to_owned(),
        };
        sync_error(text)
    }

    /// Checks that a new access epoch may begin. One of a fence that nothing has used ends.
    ///
    /// # Errors
    /// `RmaSync` if another one is open.
    pub(crate) fn leave_fence(&self, what: &str) -> Result<()> {
        let epochs = &self.epochs;
        let open = match epochs.access.get() {
            Access::None => return Ok(()),
            Access::Fence if !epochs.used.get() => {
                epochs.access.set(Access::None);
                epochs.all_open.set(false);
                return Ok(());
            }
            Access::Fence => "that of MPI_Win_fence: call it with MPI_MODE_NOSUCCEED first",
            Access::Start => "that of MPI_Win_start: call MPI_Win_complete first",
            Access::Lock => "that of MPI_Win_lock: call MPI_Win_unlock first",
            Access::LockAll => "that of MPI_Win_lock_all: call MPI_Win_unlock_all first",
        };
        Err(sync_error(format!(
            "{what} cannot begin while another access epoch is open, {open}"
        )))
    }

    /// Why the window cannot be freed now.
    pub(crate) fn why_busy(&self) -> Option<Error> {
        let text = match self.epochs.access.get() {
            Access::Start => "MPI_Win_complete was not called",
            Access::Lock => "MPI_Win_unlock was not called for every lock",
            Access::LockAll => "MPI_Win_unlock_all was not called",
            Access::None | Access::Fence if self.epochs.exposes.get() => {
                "MPI_Win_wait was not called after MPI_Win_post"
            }
            Access::None | Access::Fence => return None,
        };
        Some(sync_error(format!(
            "an epoch of the window is open: {text}"
        )))
    }
}
