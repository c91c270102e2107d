//! The launcher of a process that nobody has started, which the process has started itself
//! (`own_server` of `boot`): its first job has that one rank, which runs already and is no
//! child of the launcher's. It serves the process until that has closed its connection, and
//! ends once all that it has spawned have ended, too.

use std::ffi::OsString;

use catena_topo::Machine;

use crate::args::{self, Parsed};
use crate::base::Base;
use crate::hosts::Means;
use crate::hosts::manager::Launcher;
use crate::hosts::tree::Tree;
use crate::job::{Job, Reach, Show};
use crate::launch::{self, system};
use crate::node::Node;
use crate::program::ProgramError;
use crate::sys;

/// What it is called in messages.
const COMMAND: &str = "catena";

/// Serves the process at the other end of the standard input, which has started this one with
/// the number of its job and its program's name; gives the exit status.
pub fn run(args: &[OsString]) -> i32 {
    match serve(args) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("{COMMAND}: {}", error.text);
            error.status
        }
    }
}

fn serve(args: &[OsString]) -> Result<i32, ProgramError> {
    let wrong = || ProgramError {
        status: crate::USAGE,
        text: "the library has started this command with other words than it knows; install the \
               same version of both"
            .to_string(),
    };
    let [job, program] = args else {
        return Err(wrong());
    };
    let job = job
        .to_str()
        .and_then(|text| u64::from_str_radix(text, 16).ok());
    let job = job.ok_or_else(wrong)?;
    let process = sys::take_stdin().map_err(system)?;
    if sys::leave_parent().map_err(system)? {
        return Ok(0);
    }
    let words = ["-n", "1"].map(OsString::from).into_iter();
    let request = match args::parse(words.chain([program.clone()])) {
        Ok(Parsed::Run(request)) => *request,
        _ => return Err(wrong()),
    };
    let settings = Vec::new();
    let means = Means::new(&request, &settings)?;
    let machine = Machine::here();
    let mut plan = launch::plan(request, settings, None, &machine)?;
    plan.job_id = job;
    let base = Base::new(machine).map_err(system)?;
    let mut tree = Tree::new(means.clone(), &plan);
    let node = Node::for_guest(&plan, &base).map_err(system)?;
    let place = node.place(0) + "\n";
    tree.node = Some(node);
    let show = Show {
        command: COMMAND.to_string(),
        tag: false,
        verbose: false,
        timeout: None,
    };
    let reach = Reach {
        launcher: Launcher::Agent,
        agent: None,
        means,
    };
    let job = Job::new(show, plan, tree, base, false, reach).map_err(system)?;
    // The process waits for it, and nothing else is said there.
    let mut said = 0;
    while said < place.len() {
        said += sys::write(&process, &place.as_bytes()[said..]).map_err(system)?;
    }
    drop(process);
    Ok(job.run())
}
