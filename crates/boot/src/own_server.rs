//! The launcher that a process starts which nobody has started, once it spawns or connects.
//!
//! It is Catena's command, that lies beside the library, with the option that [`OPTION`] is. It
//! has one end of a pair of sockets as its standard input, says there where it is to be
//! reached, and leaves its parent; it ends with the process and all that this has spawned.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use catena_settings::Setting;

use crate::client::Client;
use crate::{BOOT_VAR, BootError, SINGLETON, sys};

/// The option that makes the launcher one for a process that runs; no user gives it. After it
/// come the job's number in hexadecimal digits, and the name of the program.
pub const OPTION: &str = "--catena-server";

/// How long the launcher may take to say where it is.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest line with which it says so, bytes.
const LONGEST: u64 = 4096;

/// Starts a launcher for this process, rank 0 of `job`, and connects to it.
pub(crate) fn start(job: u64) -> Result<Client, BootError> {
    let failed = |cause: String| BootError::NoServer(cause);
    let command = command().ok_or_else(|| {
        failed("there is no bin/catena beside the library, and no catena in PATH".to_string())
    })?;
    let (own, other) = UnixStream::pair()?;
    let program = env::args_os().next().unwrap_or_default();
    let shown = command.display();
    let mut child = Command::new(&command)
        .arg(OPTION)
        .arg(format!("{job:x}"))
        .arg(program)
        // Which its ranks would inherit.
        .env_remove(BOOT_VAR)
        .env_remove(format!("{}{}", catena_settings::PREFIX, SINGLETON.name()))
        .stdin(Stdio::from(OwnedFd::from(other)))
        .spawn()
        .map_err(|error| failed(format!("{shown}: {error}")))?;
    own.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    let read = BufReader::new(own.take(LONGEST)).read_line(&mut line);
    // It has gone on as another process; where the program takes its children's ends itself
    // there is nothing to wait for.
    let _ = child.wait();
    match read {
        Ok(_) if line.ends_with('\n') => Client::connect(line.trim_end()),
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
