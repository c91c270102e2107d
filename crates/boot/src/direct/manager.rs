//! A process manager, and what it tells of its own accord.

use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::BootError;

/// Most ranks that make sense, more than any machine has had cores. A process
/// manager that names a larger number shall not make this process reserve
/// memory for each.
pub(super) const MAX_SIZE: u32 = 1 << 24;

/// What a process manager tells of its own accord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct About {
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) appnum: u32,
    /// `None` if it does not say.
    pub(super) universe_size: Option<u32>,
    /// Node of each rank, by any numbers; `None` if it does not say.
    pub(super) nodes: Option<Vec<u32>>,
    /// Process sets, sorted.
    pub(super) psets: Vec<(String, Vec<u32>)>,
}

impl About {
    pub(super) fn new(rank: u32, size: u32) -> Result<About, BootError> {
        if rank >= size || size > MAX_SIZE {
            let cause = format!("it says that this is rank {rank} of {size}");
            return Err(BootError::Manager(cause));
        }
        Ok(About {
            rank,
            size,
            appnum: 0,
            universe_size: None,
            nodes: None,
            psets: Vec::new(),
        })
    }
}

/// A connection to a process manager: a key-value space with fences.
///
/// # Errors
/// All methods: if it is gone, refuses or talks nonsense.
pub(super) trait Manager: Send {
    fn about(&self) -> &About;

    /// Protocol, versions, and what else is known of the other side.
    fn describe(&self) -> Vec<(&'static str, String)>;

    /// Offers a value to all ranks. A key is put once.
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), BootError>;

    /// What `rank` has put under `key` before the last fence.
    fn get(&mut self, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError>;

    /// Says that this rank has come to the fence.
    fn begin_fence(&mut self) -> Result<(), BootError>;

    /// Whether all ranks have; waits for it if `wait` is set.
    fn fence_done(&mut self, wait: bool) -> Result<bool, BootError>;

    /// See [`Boot::descriptor`](crate::Boot::descriptor).
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    /// Whether a process that ends without a goodbye may go unnoticed, although the manager
    /// means to end the job for it.
    fn misses_silent_ends(&self) -> bool {
        false
    }

    /// Has the other ranks ended.
    fn abort(&mut self, code: i32, message: &str);

    /// Parts for good. Again: does nothing.
    fn depart(&mut self) -> Result<(), BootError>;
}

/// A manager that the end of the process may find too.
pub(super) type Shared = Arc<Mutex<Box<dyn Manager>>>;

pub(super) fn lock(manager: &Shared) -> MutexGuard<'_, Box<dyn Manager>> {
    manager.lock().unwrap_or_else(PoisonError::into_inner)
}
