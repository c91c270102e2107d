//! What `catena doctor` asks of a command line of mpirun: which hosts a job would use, and what
//! stands in the way of its programs on this host. Nothing is started.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

use catena_job::{Exit, Plan, ProgramError, Vars, setting};
use catena_settings::Registry;
use catena_topo::Machine;

use crate::args::{self, Parsed, Request};
use crate::hosts::manager::Launcher;
use crate::hosts::pool::Pool;
use crate::hosts::{self, agent};
use crate::launch::{check_settings, heed, plan, variable};
use crate::linked::{Listing, Origin};
use crate::node::{choose, find, own_names, variables};
use crate::takeover::{self, Home};
use crate::{library, place, report};

/// A job as it would be, and what is the matter with it.
pub struct Subject {
    /// The name of this host.
    pub here: String,
    /// How many ranks run on it.
    pub ranks_here: u32,
    /// Threads of each rank, as far as variables say.
    pub threads: u32,
    /// The other hosts, with their numbers of ranks.
    pub others: Vec<(String, u32)>,
    /// What is wrong, each with its remedy, and whether it stands in the way.
    pub troubles: Vec<(String, bool)>,
    /// The command that starts something on another host, as ssh does; empty if there is none.
    agent: Vec<OsString>,
    /// Catena's command on other hosts.
    catena: OsString,
}

impl Subject {
    /// The command that has the command `catena` on `host` run with `args`; `None` if there is no
    /// way to run anything on a host of one's choice.
    pub fn on(&self, host: &str, args: &[OsString]) -> Option<Command> {
        let words = [std::slice::from_ref(&self.catena), args].concat();
        (!self.agent.is_empty()).then(|| agent::command(&self.agent, host, &words))
    }

    /// Why what [`Subject::on`] runs on `host` did not answer, and what to do: how it ended
    /// (`None`: it runs), and what it said.
    pub fn why_no_answer(&self, host: &str, ended: Option<ExitStatus>, said: &str) -> String {
        let exit = ended.map(|status| match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(0)),
        });
        let catena = std::slice::from_ref(&self.catena);
        agent::why_no_answer(exit, said, host, &self.agent, catena)
    }

    fn note(&mut self, text: String, matters: bool) {
        self.troubles.push((text, matters));
    }
}

/// Understands the options of mpirun, with or without a program, and looks at what they ask for.
///
/// # Errors
/// If they cannot be understood.
pub fn examine(
    args: impl IntoIterator<Item = OsString>,
    registry: &Registry,
) -> Result<Subject, String> {
    let mut request = match args::parse_options(args).map_err(|error| error.to_string())? {
        Parsed::Run(request) => *request,
        Parsed::Help(_) | Parsed::Version => return Err("it is asked with options of a run".into()),
    };
    let text = |error: ProgramError| error.text;
    heed(&mut request).map_err(text)?;
    let settings = check_settings(&request.settings, registry).map_err(text)?;
    let launcher = request.launcher.unwrap_or_else(|| match request.agent {
        Some(_) => Launcher::Agent,
        None => Launcher::detect(variable),
    });
    let means = hosts::means(&request, launcher, &settings).map_err(text)?;
    let agent = match request.agent {
        Some(_) => means.agent,
        None => launcher.for_one().unwrap_or_default(),
    };
    let mut subject = Subject {
        here: catena_boot::host_name(),
        ranks_here: 0,
        threads: 1,
        others: Vec::new(),
        troubles: Vec::new(),
        agent,
        catena: means.daemon[0].clone(),
    };
    let pool = Pool::new(&request.named, launcher, variable).map_err(|error| error.0)?;
    if let Some(pool) = &pool {
        let here = pool.here.map(|here| here as usize);
        let others = pool.hosts.iter().enumerate();
        let others = others.filter(|(number, _)| Some(*number) != here);
        subject.others = others.map(|(_, host)| (host.name.clone(), 0)).collect();
    }
    look(request, settings, pool, &mut subject);
    Ok(subject)
}

/// Looks at where ranks would run, and at their programs.
fn look(request: Request, settings: Vars, pool: Option<Pool>, subject: &mut Subject) {
    let has_program = request.apps.iter().any(|app| !app.program.is_empty());
    let planned = match plan(request, settings, pool, &Machine::here()) {
        Ok(planned) => planned,
        Err(error) => return subject.note(error.text, true),
    };
    let (plan, here) = (planned.plan, planned.here);
    let ranks_on = |host: &str| {
        let node = plan.hosts.iter().position(|name| name == host);
        node.map_or(0, |node| plan.ranks_on(node as u32).count() as u32)
    };
    for (host, ranks) in &mut subject.others {
        *ranks = ranks_on(host);
    }
    let own = std::env::vars_os().collect();
    subject.threads = place::most_threads(&plan, &own, plan.apps.iter()).unwrap_or(1);
    subject.ranks_here = here.map_or(0, |node| plan.ranks_on(node).count() as u32);
    if has_program {
        // As far as can be seen here, other hosts have the same files.
        programs(&plan, here.unwrap_or(0), subject);
    }
}

/// Looks at the programs of a node, as if it were this one.
fn programs(plan: &Plan, node: u32, subject: &mut Subject) {
    let inherited: Vars = std::env::vars_os().collect();
    let paths: Vec<_> = plan.apps.iter().map(|app| app.path.clone()).collect();
    let found = match find(plan, node, &inherited, &paths) {
        Ok(found) => found,
        Err(error) => return subject.note(error.text, true),
    };
    let home = Home::find();
    for found in found {
        let mut vars = variables(plan, found.app, &inherited, &own_names(None, false));
        let program = found.program;
        let choice = choose(plan, &program, &vars, home.as_ref());
        for note in choice.notes {
            subject.note(note.text, note.matters);
        }
        if home.is_some() {
            library::set_search(&mut vars, choice.search);
        }
        let own = home.as_ref().map(|home| &*home.own);
        if let Some(other) = program.foreign(&vars, own) {
            let other = other.display().to_string();
            let own = takeover::in_place_of(&other);
            let takeover = setting(&catena_boot::LAUNCH_TAKEOVER, &vars);
            let ranks = found.ranks.len();
            let text = report::foreign(
                &program.name,
                &other,
                own.as_deref(),
                takeover,
                false,
                ranks,
            );
            subject.note(text, true);
        }
        let wdir = Path::new(".").join(program.wdir());
        for file in program.files() {
            let listing = Listing::of((&file, Origin::Argument), &wdir, &vars, false);
            let missing = listing.unwrap_or_default().libraries;
            let missing = missing.into_iter().filter(|(_, file)| file.is_none());
            let missing: Vec<String> = missing.map(|(name, _)| name).collect();
            if !missing.is_empty() {
                let text = format!(
                    "{} needs {}, which the loader does not find; install what has it, or add its \
                     folder (-x LD_LIBRARY_PATH=...)",
                    file.display(),
                    missing.join(", ")
                );
                subject.note(text, true);
            }
        }
    }
}
