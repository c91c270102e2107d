//! Several hosts: which there are, and the launcher's processes on them.
//!
//! | module   | what it does                                                  |
//! |----------|---------------------------------------------------------------|
//! | `list`   | hosts and their slots, as the user writes them                |
//! | `names`  | which names and addresses are of one host                     |
//! | `pool`   | the hosts of the job, and of each of its programs             |
//! | `agent`  | starts something on another host, and explains what failed    |
//! | `link`   | frames to another process of the launcher                     |
//! | `tree`   | this host and the daemons below: their events and commands    |
//! | `daemon` | the launcher on another host                                  |
//! | `manager`| resource managers: which hosts they give, how they start      |
//! | `call`   | how daemons that those have started reach mpirun              |

pub mod agent;
pub mod call;
pub mod daemon;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
pub mod link;
pub mod list;
pub mod manager;
pub mod names;
pub mod pool;
pub mod tree;

use std::ffi::OsString;

use catena_boot::{HOST_TIMEOUT, LAUNCH_FANOUT, LAUNCH_PATH, LAUNCH_TIMEOUT};
use catena_job::{Means, ProgramError, USAGE, setting};

use crate::args::Request;
use crate::hosts::manager::Launcher;

/// The option that makes this program a daemon; no user gives it.
pub const DAEMON: &str = "--catena-daemon";

/// How daemons are started and kept, as the user wants it; `settings` are those of `--set`.
///
/// # Errors
/// If the agent that was named is no command.
pub fn means(
    request: &Request,
    launcher: Launcher,
    settings: &[(OsString, OsString)],
) -> Result<Means, ProgramError> {
    let agent: Vec<OsString> = match &request.agent {
        None => {
            let words = launcher.agent().unwrap_or(&agent::SSH);
            words.iter().map(OsString::from).collect()
        }
        Some(given) => {
            let given = given.to_string_lossy();
            given.split_whitespace().map(OsString::from).collect()
        }
    };
    if agent.is_empty() {
        let text = "--launcher-agent: the command is empty".to_string();
        let status = USAGE;
        return Err(ProgramError { status, text });
    }
    let settings = &[&request.env[..], settings].concat();
    let path = setting(&LAUNCH_PATH, settings);
    let program = match path.is_empty() {
        true => std::env::current_exe()
            .map_err(ProgramError::system)?
            .into(),
        false => OsString::from(&*path),
    };
    Ok(Means {
        agent,
        daemon: vec![program, DAEMON.into()],
        fanout: setting(&LAUNCH_FANOUT, settings),
        start: setting(&LAUNCH_TIMEOUT, settings),
        silence: setting(&HOST_TIMEOUT, settings),
    })
}
