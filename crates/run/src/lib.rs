//! Row 6: the launcher, `mpirun` = `mpiexec` = `catena run`.
//!
//! | module    | what it does                                                   |
//! |-----------|----------------------------------------------------------------|
//! | `args`    | understands the command line                                   |
//! | `program` | finds the programs, before anything is started                 |
//! | `launch`  | starts the ranks                                               |
//! | `job`     | serves them, passes their output on, ends them                 |
//! | `output`  | keeps the lines of the ranks apart                             |
//! | `stdin`   | passes on what is typed                                        |
//! | `report`  | failures in words                                              |
//! | `sys`     | system calls; all `unsafe` of this crate                       |
//!
//! One thread, one loop: nothing here blocks but the wait for the next event.

#![deny(unsafe_code)]

pub mod args;
mod job;
mod launch;
mod output;
mod program;
mod pset;
mod report;
mod stdin;
#[allow(unsafe_code)]
mod sys;

use std::ffi::OsString;

use catena_settings::Registry;

use args::Parsed;

/// Most ranks that one command may start.
pub const MAX_RANKS: u32 = 1 << 15;

/// Status if the command line cannot be understood.
pub const USAGE: i32 = 2;

/// Runs `command`, the name that the user called, with `args`; gives the exit
/// status. `--set` knows the settings of `registry`.
///
/// To be called from a process with one thread.
pub fn run(command: &str, args: impl IntoIterator<Item = OsString>, registry: &Registry) -> i32 {
    match args::parse(args) {
        Ok(Parsed::Help) => {
            print!("{}", args::HELP);
            0
        }
        Ok(Parsed::Version) => {
            println!("{command} (Catena) {}", env!("CARGO_PKG_VERSION"));
            0
        }
        Ok(Parsed::Run(request)) => match launch::launch(command, request, registry) {
            Ok(status) => status,
            Err(error) => {
                eprintln!("{command}: {}", error.text);
                error.status
            }
        },
        Err(error) => {
            eprintln!("{command}: {error}");
            USAGE
        }
    }
}
