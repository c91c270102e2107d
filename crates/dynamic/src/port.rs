//! Ports, at which groups of processes of different jobs connect (MPI-5, chapter 11.9).

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use catena_abi as abi;
use catena_boot::server::ports::MAX_PORT;
use catena_boot::{CONNECT_TIMEOUT, Side};
use catena_core::Process;
use catena_core::comm::{Comm, PortEndpoint};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_objects::info::Info;
use catena_proof::Secret;

use crate::keys::{Hints, MEET};
use crate::spawn::check_root;

/// What names of ports begin with.
const PREFIX: &str = "catena:";
/// Bytes of a port's name that nobody can guess.
const UNGUESSABLE: usize = 16;

/// The ports that this process has opened and not closed.
fn opened_here() -> MutexGuard<'static, HashSet<String>> {
    static OPENED: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `MPI_Open_port`: its name, which has a part that nobody can guess, and says the way to the
/// launcher. Local, but it asks the launcher.
///
/// # Errors
/// `Port` if Catena's own launcher has not started this process; `Other` if it is gone.
pub fn open(process: &Process) -> Result<String> {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let me = process.name_of(process.me);
    let secret = Secret::random().map_err(|e| Error::new(Kind::Other, e.to_string()))?;
    let number = LAST.fetch_add(1, Relaxed);
    let mut port = format!("{PREFIX}{:016x}:{}:{number}:", me.job, me.rank);
    for byte in &secret.bytes()[..UNGUESSABLE] {
        let _ = write!(port, "{byte:02x}");
    }
    let opened = process.with_jobs(|jobs| jobs.open_port(&port));
    let ticket = opened.map_err(|e| e.where_unsupported(Kind::Port))?;
    let port = process.outcome(ticket, Kind::Port)?;
    let port = String::from_utf8_lossy(&port).into_owned();
    opened_here().insert(port.clone());
    Ok(port)
}

/// A name that a program gives for a port's.
///
/// # Errors
/// `Port` if no port has a name of that length.
pub(crate) fn check_name(port: &str) -> Result<()> {
    match port.len() {
        1..=MAX_PORT => Ok(()),
        len => fail!(
            Port,
            "'{}' is not the name of a port: it has {len} bytes, and those of MPI_Open_port 1 to \
             {MAX_PORT}",
            port.chars().take(40).collect::<String>()
        ),
    }
}

/// `MPI_Close_port`: who waits there waits in vain. Local.
///
/// # Errors
/// `Port` for a name that [`open`] has not given to this process, or that was closed; as there.
pub fn close(process: &Process, port: &str) -> Result<()> {
    check_name(port)?;
    if !port.starts_with(PREFIX) {
        fail!(
            Port,
            "'{port}' is not the name of a port: give the one that MPI_Open_port has returned"
        );
    }
    if !opened_here().remove(port) {
        fail!(
            Port,
            "the port '{port}' was closed already, or another process has opened it, which alone \
             can close it"
        );
    }
    let closed = process.with_jobs(|jobs| jobs.close_port(port));
    closed.map_err(|e| e.where_unsupported(Kind::Port))
}

/// `MPI_Comm_accept` ([`Side::Host`]) and `MPI_Comm_connect` ([`Side::Guest`]): collective
/// over `comm`; only rank `root` looks at `port` and the hints. Waits until another group
/// comes from the other side, or as long as the key `timeout` says, in seconds; one that
/// connects waits for `CATENA_CONNECT_TIMEOUT` if it does not say.
///
/// # Errors
/// `Root` for a bad root, `Comm` for an intercommunicator, `Port` if there is no such port,
/// it closes, or nobody comes in time; `InfoValue` for a time that is none.
pub fn meet(
    process: &Process,
    comm: &Arc<Comm>,
    root: i32,
    side: Side,
    port: impl FnOnce() -> Result<(String, Option<Arc<Info>>)>,
) -> Result<abi::Comm> {
    let root = check_root(comm, root)?;
    let (call, limit) = match side {
        Side::Host => ("MPI_Comm_accept", None),
        Side::Guest => ("MPI_Comm_connect", Some(CONNECT_TIMEOUT.get())),
    };
    let meeting = match root == comm.rank {
        true => port().and_then(|(port, info)| {
            check_name(&port)?;
            let hints = Hints::new(info.as_ref(), call, MEET)?;
            let timeout = hints.seconds("timeout")?.or(limit);
            Ok(Some(PortEndpoint {
                port,
                side,
                timeout,
            }))
        }),
        false => Ok(None),
    };
    comm.connect(process, root, meeting, Kind::Port)
}
