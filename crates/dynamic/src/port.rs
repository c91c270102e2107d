//! Ports, at which groups of processes of different jobs connect (MPI-5, chapter 11.9).

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use catena_abi as abi;
use catena_boot::Side;
use catena_core::Process;
use catena_core::comm::{Comm, Meeting};
use catena_objects::error::{Error, Kind, Result};
use catena_proof::Secret;

use crate::spawn::check_root;

/// Bytes of a port's name that nobody can guess.
const UNGUESSABLE: usize = 16;

/// `MPI_Open_port`: its name, which has a part that nobody can guess. Local.
///
/// # Errors
/// `Unsupported` if Catena's own launcher has not started this process; `Other` if it is
/// gone.
pub fn open(process: &Process) -> Result<String> {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let me = process.name_of(process.me);
    let secret = Secret::random().map_err(|e| Error::new(Kind::Other, e.to_string()))?;
    let number = LAST.fetch_add(1, Relaxed);
    let mut port = format!("catena:{:016x}:{}:{number}:", me.job, me.rank);
    for byte in &secret.bytes()[..UNGUESSABLE] {
        let _ = write!(port, "{byte:02x}");
    }
    process.with_jobs(|jobs| jobs.open_port(&port))?;
    Ok(port)
}

/// `MPI_Close_port`: who waits there waits in vain. Local.
///
/// # Errors
/// As [`open`].
pub fn close(process: &Process, port: &str) -> Result<()> {
    process.with_jobs(|jobs| jobs.close_port(port))
}

/// `MPI_Comm_accept` ([`Side::Host`]) and `MPI_Comm_connect` ([`Side::Guest`]): collective
/// over `comm`; only rank `root` looks at `port`. Waits until another group comes from the
/// other side.
///
/// # Errors
/// `Root` for a bad root, `Comm` for an intercommunicator, `Port` if there is no such port,
/// or it closes.
pub fn meet(
    process: &Process,
    comm: &Arc<Comm>,
    root: i32,
    side: Side,
    port: impl FnOnce() -> Result<String>,
) -> Result<abi::Comm> {
    let root = check_root(comm, root)?;
    let meeting = match root == comm.rank {
        true => port().map(|port| Some(Meeting { port, side })),
        false => Ok(None),
    };
    process.connect(comm, root, meeting, Kind::Port)
}
