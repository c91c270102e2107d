//! The launcher that a process starts which nobody has started, once it spawns or connects; and the
//! one of Catena's that the processes on a host have in common which another launcher has started.
//!
//! It is Catena's command, that lies beside the library, with the option that [`OPTION`] is. It
//! has one end of a pair of sockets as its standard input, says there where it is to be
//! reached, and leaves its parent; it ends with the processes and all that they have spawned.
//!
//! What has been spawned writes to where the process writes, through its launcher. So a process
//! that was alone waits at its end, once it has finalized, until its launcher has ended: then all
//! is written. It waits for as long as `CATENA_LAUNCH_GRACE` says, as what it has parted from may
//! go on for good; in a container, where the end of the first process is that of all, it waits
//! until they have ended.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use catena_base::StandardStreams;
use catena_proof::Secret;
use catena_settings::{FILE, Setting, Sources, profile};

use crate::client::{Client, LauncherAddress};
use crate::sys::{self, AtExit};
use crate::{BOOT_VAR, BootError, Job, LAUNCH_GRACE, SINGLETON};

/// The option that makes the launcher one for processes that run; no user gives it. After it
/// come the job's number in hexadecimal digits, how many processes it has, and the name of the
/// program. Where they are several it reads a line first, with the job's secret in hexadecimal
/// digits.
pub const OPTION: &str = "--catena-server";

/// How long the launcher may take to say where it is.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much longer a launcher may take to end than what it serves, at the end of the process.
const MARGIN: Duration = Duration::from_millis(500);

/// Longest line with which it says so, bytes.
const LONGEST: u64 = 4096;

/// What it says where another one is there already.
pub const TAKEN: &str = "taken";

/// The launcher that this process has started for itself alone.
struct Own {
    /// Tells when it has ended.
    launcher: OwnedFd,
    /// The connection to it.
    socket: UnixStream,
    /// Whether the process has finalized.
    finalized: bool,
}

static OWN: Mutex<Option<Own>> = Mutex::new(None);

fn own() -> MutexGuard<'static, Option<Own>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a launcher for this process, rank 0 of `job`, and connects to it.
pub(crate) fn start(job: u64) -> Result<Client, BootError> {
    let _standard = StandardStreams::keep();
    let client = Client::connect(launch(job, 1, None)?.trim_end())?;
    if let Some((launcher, socket)) = client.watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(sys::at_exit::<End>);
        *own() = Some(Own {
            launcher,
            socket,
            finalized: false,
        });
    }
    Ok(client)
}

/// Says whether the process has finalized: only then it has said all to its launcher when it ends.
pub(crate) fn set_finalized(finalized: bool) {
    if let Some(own) = own().as_mut() {
        own.finalized = finalized;
    }
}

/// Parts from the launcher of a process that has finalized.
struct End;

impl AtExit for End {
    fn last() {
        if own().as_ref().is_some_and(|own| own.finalized) {
            leave();
        }
    }
}

/// Says no more to the launcher of this process alone, if it has one, and waits until that has
/// passed on what the processes have written that this one has spawned.
pub(crate) fn leave() {
    let Some(own) = own().take() else {
        return;
    };
    // What this process has written comes first.
    sys::flush_streams();
    let _ = own.socket.shutdown(Shutdown::Both);
    let limit = match process::id() {
        1 => None,
        // It ends them after that time itself where the job has failed.
        _ => Some(LAUNCH_GRACE.get() + MARGIN),
    };
    sys::await_process(&own.launcher, limit);
}

/// Connects to the launcher that the processes on this host have in common of a job that another
/// launcher has started; the first of them that wants it starts it.
pub(crate) fn share(job: &Job) -> Result<Client, BootError> {
    let none = || BootError::NoServer("the job has no secret".to_string());
    let _standard = StandardStreams::keep();
    let secret = job.secret.as_ref().ok_or_else(none)?;
    let place = LauncherAddress::of_guests(job.job_id, job.rank, secret).to_text();
    let end = Instant::now() + PATIENCE;
    loop {
        match Client::connect(&place) {
            // It is not there yet, or about to end with others that it has served.
            Err(BootError::Unreachable(_) | BootError::LauncherGone) if Instant::now() < end => {}
            known => return known,
        }
        launch(job.job_id, job.size, Some(secret))?;
    }
}

/// Starts a launcher for a job of `size` processes, and returns the line that it says.
fn launch(job: u64, size: u32, secret: Option<&Secret>) -> Result<String, BootError> {
    let failed = |cause: String| BootError::NoServer(cause);
    let command = command().ok_or_else(|| {
        failed("there is no bin/catena beside the library, and no catena in PATH".to_string())
    })?;
    let (mut own, other) = UnixStream::pair()?;
    let program = env::args_os().next().unwrap_or_default();
    let shown = command.display();
    let mut child = Command::new(&command)
        .arg(OPTION)
        .arg(format!("{job:x}"))
        .arg(size.to_string())
        .arg(program)
        // Which its ranks would inherit.
        .env_remove(BOOT_VAR)
        .env_remove(format!("{}{}", catena_settings::PREFIX, SINGLETON.name()))
        // A relative name of the file may mean another one by now.
        .env(FILE, Sources::of_process().handed())
        .env(profile::TUNED, Sources::of_process().tuned_on())
        .stdin(Stdio::from(OwnedFd::from(other)))
        .spawn()
        .map_err(|error| failed(format!("{shown}: {error}")))?;
    if let Some(secret) = secret {
        // Others see its arguments. One that has ended is noticed below.
        let _ = writeln!(own, "{}", secret.to_hex());
    }
    own.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    let read = BufReader::new(own.take(LONGEST)).read_line(&mut line);
    // It has gone on as another process; where the program takes its children's ends itself
    // there is nothing to wait for.
    let _ = child.wait();
    match read {
        Ok(_) if line.ends_with('\n') => Ok(line),
        Ok(_) => Err(failed(format!("{shown} has ended without a word"))),
        Err(error) => Err(failed(format!("{shown} does not answer: {error}"))),
    }
}

/// Catena's command: the one that belongs to this library, else the first in `PATH`.
fn command() -> Option<PathBuf> {
    let library = sys::own_file().and_then(|file| file.canonicalize().ok());
    let beside = library.as_deref().into_iter().flat_map(Path::ancestors);
    let beside = beside
        .skip(1)
        .take(4)
        .map(|folder| folder.join("bin/catena"));
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|folder| folder.join("catena"));
    let in_path: Vec<PathBuf> = in_path.collect();
    beside.chain(in_path).find(|file| file.is_file())
}
