//! What the networks need of whoever started the processes.

use std::os::fd::RawFd;

use catena_fabric::Peer;

/// The exchange of address records between the processes of a job, and on which
/// host each of them runs.
///
/// Errors are texts that say what failed and what to do.
pub trait Exchange {
    /// Name of the host of a process.
    fn host_of(&self, process: Peer) -> String;

    /// Number of the host of a process: the same for processes of one host.
    fn node_of(&self, process: Peer) -> u32;

    /// Offers this process's record to all others. It is called once and never
    /// waits for others.
    ///
    /// # Errors
    /// If it cannot be offered.
    fn publish(&mut self, record: &[u8]) -> Result<(), String>;

    /// The record that a process has published, or `None` while that is not known
    /// here; an empty one if the process has ended. Never blocks: the first call asks, later
    /// ones look whether the answer has come.
    ///
    /// # Errors
    /// If the process will never be known.
    fn ask(&mut self, process: Peer) -> Result<Option<Vec<u8>>, String>;

    /// A descriptor that can be read when what was asked for may have come, if
    /// there is one.
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    /// Whether [`Exchange::descriptor`] can be read also when a process has died, and that matters.
    fn tells_of_deaths(&self) -> bool {
        false
    }

    /// Whether somebody tells of each process that died: then a process that has only ended, as its host says, is
    /// none that died.
    fn judges_ends(&self) -> bool {
        false
    }

    /// Says that this process needs the others no more. It is called once, when
    /// [`Exchange::ask`] knows this process's own record.
    ///
    /// # Errors
    /// If the others cannot be told.
    fn begin_fence(&mut self) -> Result<(), String>;

    /// Whether all processes have begun the fence. Never blocks.
    ///
    /// # Errors
    /// If that cannot be found out any more.
    fn fence_done(&mut self) -> Result<bool, String>;
}
