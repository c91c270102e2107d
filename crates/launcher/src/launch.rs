//! From the command line to a running job.

mod placing;
mod planning;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use catena_job::{Brief, Plan, ProgramError, Vars};
use catena_settings::{COMMAND_LINE, CONF, PREFIX, Registry};
use catena_topo::Machine;

use crate::args::{self, Request};
use crate::base::Base;
use crate::explain;
use crate::heard::heard;
use crate::hosts::pool::Pool;
use crate::hosts::tree::Tree;
use crate::hosts::{self, manager::Launcher};
use crate::node::{Input, Node};
use crate::place::{self, Binding};
use crate::result_file;
use crate::stdin::Source;
use crate::supervisor::{Reach, Show, Supervisor, TraceFile, check_profile_files};
use crate::sys::Watchdog;
use planning::usage;
pub use planning::{Planned, plan};

/// The variable for a time limit, the one that scripts for Hydra set.
const TIMEOUT: &str = "MPIEXEC_TIMEOUT";

/// Runs what was asked for; gives the status.
///
/// # Errors
/// Why nothing was started.
pub fn launch(
    command: &str,
    mut request: Request,
    registry: &Registry,
) -> Result<i32, ProgramError> {
    heed(&mut request)?;
    let settings = check_settings(&request.settings, registry)?;
    let known = explain::Settings::new(registry, &with_exported(&request.env, &settings));
    let launcher = request.launcher.unwrap_or_else(|| match request.agent {
        Some(_) => Launcher::Agent,
        None => Launcher::detect(variable),
    });
    let means = hosts::means(&request, launcher, &settings)?;
    let reach = Reach {
        launcher,
        agent: request.agent.is_some().then(|| means.agent.clone()),
        means,
    };
    let mut show = shown(command, &request)?;
    show.settings = Some(known);
    let machine = match &request.topology {
        Some(path) => read_topology(path)?,
        None => Machine::here(),
    };
    let dry = request.dry || request.topology.is_some();
    let (elastic, allocation) = (request.elastic, request.allocation);
    // Threads look names up, and the watchdog begins as a copy of a process with one.
    let watchdog = Watchdog::start().map_err(ProgramError::system)?;
    let pool = Pool::new(&request.named, launcher, variable).or_else(|e| usage(e.0));
    let planned = pool.and_then(|pool| plan(request, settings, pool, &machine));
    if dry || planned.is_err() {
        watchdog.stop();
    }
    let Planned { plan, here } = planned?;
    if allocation {
        for (host, slots) in plan.hosts.iter().zip(&plan.room) {
            let words = if *slots == 1 { "slot" } else { "slots" };
            show.notes.push(format!("host {host}: {slots} {words}"));
        }
    }
    if dry {
        let notes = show.notes.iter().map(|note| format!("{note}\n"));
        print!("{}{}", notes.collect::<String>(), drawn(&plan, &machine)?);
        return Ok(0);
    }
    if let Some(known) = &mut show.settings {
        known.follow(&plan);
    }
    let base = Base::with(watchdog, machine).map_err(ProgramError::system)?;
    let (tree, typed) = start(&plan, here, &reach, &base)?;
    let job = Supervisor::new(show, plan, tree, base, typed, reach);
    let mut job = job.map_err(ProgramError::system)?;
    job.make_known();
    if elastic {
        job.make_elastic();
    }
    Ok(job.run())
}

/// Heeds the settings that are given to all programs: mpirun follows them as well.
pub fn heed(request: &mut Request) -> Result<(), ProgramError> {
    let own = std::env::var_os(CONF);
    let apps: Vec<_> = request.apps.iter().map(|app| &app.env).collect();
    let heard = heard(&request.env, &apps, own.as_deref()).or_else(usage)?;
    let conf = heard.iter().find(|(name, _)| name == CONF);
    if let Some(path) = conf.and_then(|(_, path)| path.to_str()) {
        // No setting was looked up so far.
        crate::sys::set_variable(CONF, path);
    }
    request.env.extend(heard);
    Ok(())
}

/// Settings that the command line gives to the ranks as variables, and by name, which count more.
fn with_exported(env: &[(std::ffi::OsString, std::ffi::OsString)], settings: &Vars) -> Vars {
    let env = env
        .iter()
        .filter(|(name, _)| name.to_string_lossy().starts_with(PREFIX));
    let env = env.map(|(name, value)| (name.clone(), value.clone()));
    env.chain(settings.iter().cloned()).collect()
}

/// What the user wants to see, and how long.
fn shown(command: &str, request: &Request) -> Result<Show, ProgramError> {
    let timeout = match (request.timeout, std::env::var_os(TIMEOUT)) {
        (None, Some(text)) if !text.is_empty() => {
            Some(args::seconds(TIMEOUT, &text).or_else(|e| usage(e.0))?)
        }
        (given, _) => given,
    };
    let warnings = request.warnings.iter();
    if let Some(name) = &request.profile_report {
        check_profile_files(name).or_else(usage)?;
    }
    if let Some(path) = &request.explain_report {
        result_file::check("--explain-report", path).or_else(usage)?;
    }
    let opened = |path: &PathBuf| -> Result<TraceFile, String> {
        let mut file = result_file::open("--trace", path)?;
        result_file::lock("--trace", &file, path)?;
        result_file::try_device("--trace", &mut file, path)?;
        let path = path.clone();
        Ok(TraceFile { path, file })
    };
    let trace = request.trace.as_ref().map(opened);
    Ok(Show {
        notes: warnings.map(|text| format!("{command}: {text}")).collect(),
        command: command.to_string(),
        output: request.output.clone(),
        verbose: request.verbose,
        timeout,
        hang_report: request.hang_report.clone(),
        trace_report: request.trace_report.clone(),
        is_checked: request.check,
        check_report: request.check_report.clone(),
        is_profiled: request.profile,
        profile_report: request.profile_report.clone(),
        trace: trace.transpose().or_else(usage)?,
        is_explained: request.explain,
        explain_report: request.explain_report.clone(),
        settings: None,
    })
}

/// Starts the daemons on other hosts, then the ranks on this one; whether standard input is passed
/// on to ranks.
fn start(
    plan: &Plan,
    here: Option<u32>,
    reach: &Reach,
    base: &Base,
) -> Result<(Tree, bool), ProgramError> {
    let (here, others) = nodes(plan, here);
    let mut tree = Tree::new(reach.means.clone(), plan);
    if !others.is_empty() {
        let brief = Brief {
            plan: plan.clone(),
            means: reach.means.clone(),
            env: std::env::vars_os().collect(),
            directory: std::env::current_dir()
                .map_err(ProgramError::system)?
                .into(),
            late: false,
        };
        let brief: Arc<[u8]> = brief.encode();
        let names = others.iter();
        let names = names.map(|&node| plan.hosts[node as usize].as_str());
        match reach.command(&names.collect::<Vec<_>>()) {
            None => tree.grow(&others, &brief, base),
            Some(command) => tree
                .hire(&others, command, &brief, base)
                .map_err(ProgramError::system)?,
        }
        tree.flush(&base.poller);
    }
    let typed = match plan.stdin[..] {
        [] => false,
        [rank] => Some(plan.node_of[rank as usize]) != here || Source::is_typed(),
        // They cannot all inherit it.
        _ => true,
    };
    let Some(node) = here else {
        // Its server keeps what all nodes have in common.
        let node = Node::without_ranks(plan, u32::MAX, base);
        tree.node = Some(node.map_err(ProgramError::system)?);
        return Ok((tree, typed));
    };
    let input = match typed {
        true => Input::Passed,
        false => Input::Inherited,
    };
    let (env, mut events) = (std::env::vars_os().collect(), Vec::new());
    match Node::start(plan, node, env, input, base, &mut events) {
        Ok(node) => tree.node = Some(node),
        Err(error) => {
            tree.close(base);
            base.watchdog.stop();
            return Err(error);
        }
    }
    tree.add(events);
    Ok((tree, typed))
}

/// The node of this host, if it has ranks, and the others that have.
fn nodes(plan: &Plan, here: Option<u32>) -> (Option<u32>, Vec<u32>) {
    let used = |&node: &u32| plan.node_of.contains(&node);
    let here = here.filter(used);
    let others = (0..plan.hosts.len() as u32).filter(|node| Some(*node) != here);
    (here, others.filter(used).collect())
}

pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The machine that a file of hwloc describes.
fn read_topology(path: &Path) -> Result<Machine, ProgramError> {
    let wrong = |why: String| usage(format!("--topology {}: {why}", path.display()));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return wrong(format!("it cannot be read: {error}")),
    };
    Machine::from_xml(&text).or_else(|error| wrong(error.to_string()))
}

/// Where the ranks would run if all hosts were such machines.
fn drawn(plan: &Plan, machine: &Machine) -> Result<String, ProgramError> {
    let own = std::env::vars_os().collect();
    let threads = place::most_threads(plan, &own, plan.apps.iter());
    let mut text = String::new();
    for node in 0..plan.hosts.len() as u32 {
        if plan.ranks_on(node).next().is_some() {
            let binding = Binding::new(plan, node, machine.clone(), threads).or_else(usage)?;
            text += &binding.text;
        }
    }
    Ok(text)
}

/// The variables that `--set` stands for.
pub fn check_settings(
    given: &[(String, String)],
    registry: &Registry,
) -> Result<Vars, ProgramError> {
    let mut vars = Vars::new();
    let mut names = Vec::new();
    for (name, value) in given {
        let Some(setting) = registry.find(name) else {
            let hint = match registry.nearest(name) {
                Some(near) => format!("did you mean {near}?"),
                None => "`catena info` lists them".to_string(),
            };
            return usage(format!("--set {name}: there is no such setting; {hint}"));
        };
        if let Err(cause) = setting.check_text(value) {
            return usage(format!("--set {name}={value}: {cause}"));
        }
        names.push(setting.name());
        vars.push((format!("{PREFIX}{}", setting.name()).into(), value.into()));
    }
    if !names.is_empty() {
        vars.push((COMMAND_LINE.into(), names.join(",").into()));
    }
    Ok(vars)
}
