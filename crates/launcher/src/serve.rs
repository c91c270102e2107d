//! The launcher of a process that nobody has started, which the process has started itself
//! (`own_server` of `boot`): its first job has that one rank, which runs already and is no
//! child of the launcher's. Or that of several processes of one host, which another launcher has
//! started; each of them connects once it spawns or meets others. It serves them until they have
//! closed their connections, and ends once all that they have spawned have ended, too.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;

use catena_boot::own_server::TAKEN;
use catena_job::{ProgramError, USAGE};
use catena_proof::{SECRET, Secret};
use catena_topo::Machine;

use crate::args::{self, Parsed};
use crate::base::Base;
use crate::hosts::tree::Tree;
use crate::hosts::{self, manager::Launcher};
use crate::launch;
use crate::node::Node;
use crate::output::tell;
use crate::supervisor::{Reach, Show, Supervisor};
use crate::sys;

/// What it is called in messages.
const COMMAND: &str = "catena";

/// Serves the process at the other end of the standard input, which has started this one with
/// what [`OPTION`](catena_boot::own_server::OPTION) says; gives the exit status.
pub fn run(args: &[OsString]) -> i32 {
    match serve(args) {
        Ok(status) => status,
        Err(error) => {
            tell!("{COMMAND}: {}", error.text);
            error.status
        }
    }
}

fn serve(args: &[OsString]) -> Result<i32, ProgramError> {
    let wrong = || ProgramError {
        status: USAGE,
        text: "the library has started this command with other words than it knows; install the \
               same version of both"
            .to_string(),
    };
    let [job, size, program] = args else {
        return Err(wrong());
    };
    let job = job
        .to_str()
        .and_then(|text| u64::from_str_radix(text, 16).ok());
    let job = job.ok_or_else(wrong)?;
    let size = size.to_str().and_then(|text| text.parse::<u32>().ok());
    let size = size.ok_or_else(wrong)?;
    let process = sys::take_stdin().map_err(ProgramError::system)?;
    let secret = match size {
        1 => None,
        _ => Some(read_secret(&process).ok_or_else(wrong)?),
    };
    if sys::leave_parent().map_err(ProgramError::system)? {
        return Ok(0);
    }
    let words = ["-n".into(), size.to_string().into(), program.clone()];
    let request = match args::parse(words) {
        Ok(Parsed::Run(request)) => *request,
        _ => return Err(wrong()),
    };
    let settings = Vec::new();
    let means = hosts::means(&request, Launcher::Agent, &settings)?;
    let machine = Machine::here();
    let mut plan = launch::plan(request, settings, None, &machine)?.plan;
    plan.job_id = job;
    plan.secret = secret.or(plan.secret);
    let base = Base::new(machine).map_err(ProgramError::system)?;
    let mut tree = Tree::new(means.clone(), &plan);
    let node = match Node::for_guests(&plan, &base) {
        Ok(node) => node,
        // Another process of the job has been quicker.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            say(&process, &format!("{TAKEN}\n"))?;
            return Ok(0);
        }
        Err(error) => return Err(ProgramError::system(error)),
    };
    let place = node.place(0) + "\n";
    tree.node = Some(node);
    let show = Show {
        command: COMMAND.to_string(),
        output: args::Output::default(),
        notes: Vec::new(),
        verbose: false,
        timeout: None,
        hang_report: None,
        trace_report: None,
        is_checked: false,
        check_report: None,
        is_profiled: false,
        profile_report: None,
        trace: None,
        is_explained: false,
        explain_report: None,
        settings: None,
    };
    let reach = Reach {
        launcher: Launcher::Agent,
        agent: None,
        means,
    };
    let job =
        Supervisor::new(show, plan, tree, base, false, reach).map_err(ProgramError::system)?;
    // The process waits for it, and nothing else is said there.
    say(&process, &place)?;
    drop(process);
    Ok(job.run())
}

/// The secret of a job of several processes, which is the first line that is said.
fn read_secret(process: &OwnedFd) -> Option<Secret> {
    let file = File::from(process.try_clone().ok()?);
    let mut line = String::new();
    let limit = 2 * SECRET as u64 + 1;
    BufReader::new(file.take(limit)).read_line(&mut line).ok()?;
    Secret::from_hex(line.trim_end())
}

fn say(process: &OwnedFd, text: &str) -> Result<(), ProgramError> {
    let mut said = 0;
    while said < text.len() {
        said += sys::write(process, &text.as_bytes()[said..]).map_err(ProgramError::system)?;
    }
    Ok(())
}
