//! Row 11: the launcher, `mpirun` = `mpiexec` = `catena run`.
//!
//! | module    | what it does                                                   |
//! |-----------|----------------------------------------------------------------|
//! | `args`    | understands the command line                                   |
//! | `program` | finds the programs, before anything is started                 |
//! | `launch`  | from the command line to a running job                         |
//! | `place`   | where ranks run, and what they are bound to                     |
//! | `node`    | starts and serves the ranks of one host, and ends them         |
//! | `library` | offers the ranks Catena's own library                          |
//! | `takeover` | programs of other MPIs that run on Catena's libraries            |
//! | `foreign` | notices ranks that have another MPI in them                    |
//! | `linked`  | which libraries a program is linked to                         |
//! | `pmix`    | the place of ranks that are programs of Open MPI               |
//! | `hosts`   | a job on several hosts: a tree of daemons                      |
//! | `supervisor` | judges what happens, passes output on, ends the job          |
//! | `output`  | keeps the lines of the ranks apart                             |
//! | `stdin`   | passes on what is typed                                        |
//! | `report`  | failures in words                                              |
//! | `result_file` | files that are written when a job is over, or meanwhile      |
//! | `clock`   | ticks of this process as nanoseconds                           |
//! | `elastic` | `catena grow` and `catena shrink`                              |
//! | `explain` | what settings and the model say of a job                       |
//! | `examine` | what `catena doctor` asks of a command line               |
//! | `inquiry` | `catena ps`, `hang`, `explain`, `trace` and `top`               |
//! | `glance`  | what `catena top` is answered                                   |
//! | `summary` | what `catena ps` is answered                                    |
//! | `remote`  | the way to other launchers, whose jobs connect with those here |
//! | `serve`   | the launcher of a process that nobody has started              |
//! | `sys`     | system calls; all `unsafe` of this crate                       |
//!
//! One thread, one loop: nothing here blocks but the wait for the next event.
//! So it is in a daemon on another host, where the tree below it takes the
//! place of the job.
//!
//! `crates/launcher/README.md` tells how a command line becomes ranks on several hosts.

#![deny(unsafe_code)]

pub mod args;
mod base;
mod clock;
mod elastic;
mod examine;
mod explain;
mod foreign;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod glance;
mod heard;
mod hosts;
mod inquiry;
mod launch;
mod library;
mod linked;
mod node;
mod outdated;
mod output;
mod place;
mod places;
mod pmix;
mod program;
mod pset;
mod remote;
mod report;
mod result_file;
mod serve;
mod stdin;
mod summary;
mod supervisor;
#[allow(unsafe_code)]
mod sys;
mod takeover;

use std::ffi::OsString;

use crate::output::tell;
use catena_boot::own_server;
use catena_settings::Registry;

use args::Parsed;
pub use catena_job::{Exit, MAX_RANKS, USAGE};
pub use elastic::{change, usage as elastic_usage};
pub use examine::{Subject, examine};
pub use glance::{JobGlance, ProcessGlance};
pub use inquiry::{Inquiry, Launched, Untold, launched, launchers};
pub use places::Places;
pub use summary::Summary;
pub use sys::{end_with_reader, own_addresses, user};

/// What `mpirun --help` says.
pub fn help() -> String {
    args::general()
}

/// The page about all options of mpirun: `docs/options.md`.
pub fn options_page() -> String {
    args::page()
}

/// Serves as a part of the launcher if `args` say so; gives the exit status. To
/// be called first of all, from a process with one thread.
pub fn daemon(args: &[OsString]) -> Option<i32> {
    let option = args.first()?;
    let daemon = (option == hosts::DAEMON).then(hosts::daemon::run);
    let daemon = daemon.or_else(|| (option == pmix::OPTION).then(pmix::helper::run));
    daemon.or_else(|| (option == own_server::OPTION).then(|| serve::run(&args[1..])))
}

/// Runs `command`, the name that the user called, with `args`; gives the exit
/// status. `--set` knows the settings of `registry`.
///
/// To be called from a process with one thread.
pub fn run(command: &str, args: impl IntoIterator<Item = OsString>, registry: &Registry) -> i32 {
    match args::parse(args) {
        Ok(Parsed::Help(topic)) => {
            print!("{}", topic.text());
            0
        }
        Ok(Parsed::Version) => {
            println!("{command} (Catena) {}", env!("CARGO_PKG_VERSION"));
            0
        }
        Ok(Parsed::Run(request)) => match launch::launch(command, *request, registry) {
            Ok(status) => status,
            Err(error) => {
                tell!("{command}: {}", error.text);
                error.status
            }
        },
        Err(error) => {
            tell!("{command}: {error}");
            USAGE
        }
    }
}
