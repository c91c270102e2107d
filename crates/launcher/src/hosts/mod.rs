//! Several hosts: which there are, and the launcher's processes on them.
//!
//! | module   | what it does                                                  |
//! |----------|---------------------------------------------------------------|
//! | `list`   | hosts and their slots, as the user writes them                |
//! | `names`  | which names and addresses are of one host                     |
//! | `pool`   | the hosts of the job, and of each of its programs             |
//! | `agent`  | starts something on another host, and explains what failed    |
//! | `brief`  | what a daemon is told at first                                |
//! | `link`   | frames to another process of the launcher                     |
//! | `tree`   | this host and the daemons below: their events and commands    |
//! | `daemon` | the launcher on another host                                  |
//! | `manager`| resource managers: which hosts they give, how they start      |
//! | `call`   | how daemons that those have started reach mpirun              |

pub mod agent;
pub mod brief;
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
use std::time::Duration;

use catena_boot::{HOST_TIMEOUT, LAUNCH_FANOUT, LAUNCH_PATH, LAUNCH_TIMEOUT};
use catena_settings::{PREFIX, Value, Var};

use crate::USAGE;
use crate::args::Request;
use crate::hosts::manager::Launcher;
use crate::launch::system;
use crate::program::ProgramError;

/// How daemons are started and kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    /// The command that starts something on another host: `AGENT HOST COMMAND`.
    pub agent: Vec<OsString>,
    /// What it is to start there.
    pub daemon: Vec<OsString>,
    /// Most daemons that one process starts.
    pub fanout: u32,
    /// How long a daemon may take to answer.
    pub start: Duration,
    /// How long a host may be silent; zero: for ever.
    pub silence: Duration,
}

impl Means {
    /// As the user wants it; `settings` are those of `--set`.
    pub fn new(
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
            true => std::env::current_exe().map_err(system)?.into(),
            false => OsString::from(&*path),
        };
        Ok(Means {
            agent,
            daemon: vec![program, daemon::OPTION.into()],
            fanout: setting(&LAUNCH_FANOUT, settings),
            start: setting(&LAUNCH_TIMEOUT, settings),
            silence: setting(&HOST_TIMEOUT, settings),
        })
    }
}

/// The value of a setting, first of all from the command line.
pub fn setting<T: Value>(var: &'static Var<T>, settings: &[(OsString, OsString)]) -> T {
    use catena_settings::Setting;
    let name = format!("{PREFIX}{}", var.name());
    let given = settings.iter().rev().find(|(given, _)| *given == *name);
    given
        .and_then(|(_, value)| T::parse(&value.to_string_lossy()).ok())
        .unwrap_or_else(|| var.get())
}
