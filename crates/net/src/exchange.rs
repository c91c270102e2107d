//! What the networks need of whoever started the processes.

use std::os::fd::RawFd;

use catena_fabric::Peer;

/// The exchange of address records between the processes of a job, and on which
/// host each of them runs.
///
/// Errors are texts that say what failed and what to do.
///
/// # Examples
/// Threads that play processes, with a table of records that all hold:
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use catena_fabric::Peer;
/// use catena_net::Exchange;
///
/// #[derive(Default)]
/// struct Table {
///     records: Vec<Option<Vec<u8>>>,
///     leaving: usize,
/// }
///
/// struct Seat(Peer, Arc<Mutex<Table>>);
///
/// impl Exchange for Seat {
///     fn host_of(&self, _: Peer) -> String {
///         "here".to_string()
///     }
///     fn node_of(&self, _: Peer) -> u32 {
///         0
///     }
///     fn publish(&mut self, record: &[u8]) -> Result<(), String> {
///         let mut table = self.1.lock().map_err(|_| "a thread has panicked")?;
///         table.records[self.0.0 as usize] = Some(record.to_vec());
///         Ok(())
///     }
///     fn ask(&mut self, process: Peer) -> Result<Option<Vec<u8>>, String> {
///         let table = self.1.lock().map_err(|_| "a thread has panicked")?;
///         Ok(table.records[process.0 as usize].clone())
///     }
///     fn begin_fence(&mut self) -> Result<(), String> {
///         self.1.lock().map_err(|_| "a thread has panicked")?.leaving += 1;
///         Ok(())
///     }
///     fn fence_done(&mut self) -> Result<bool, String> {
///         let table = self.1.lock().map_err(|_| "a thread has panicked")?;
///         Ok(table.leaving == table.records.len())
///     }
/// }
///
/// let table = Arc::new(Mutex::new(Table { records: vec![None; 2], leaving: 0 }));
/// let mut seats = [0, 1].map(|at| Seat(Peer(at), Arc::clone(&table)));
/// assert_eq!(seats[1].ask(Peer(0))?, None, "not yet");
/// seats[0].publish(b"a record")?;
/// assert_eq!(seats[1].ask(Peer(0))?.as_deref(), Some(&b"a record"[..]));
/// # Ok::<(), String>(())
/// ```
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

    /// Whether somebody tells of each process that died: then a process that has only ended, as its
    /// host says, is none that died.
    fn judges_ends(&self) -> bool {
        false
    }

    /// Whether nobody tells of processes that died, so that one counts as lost where nobody listens
    /// any more.
    fn is_nobody(&self) -> bool {
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
