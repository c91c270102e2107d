//! From the command line to a running job.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use catena_boot::server;
use catena_settings::{COMMAND_LINE, PREFIX, Registry};

use crate::args::{self, App, Request};
use crate::base::Base;
use crate::hosts::Means;
use crate::hosts::brief::Brief;
use crate::hosts::list::{Hosts, is_here};
use crate::hosts::tree::Tree;
use crate::job::{Job, Show};
use crate::node::{Input, Node};
use crate::plan::Plan;
use crate::program::ProgramError;
use crate::stdin::Source;
use crate::{MAX_RANKS, USAGE};

/// The variable for a time limit, the one that scripts for Hydra set.
const TIMEOUT: &str = "MPIEXEC_TIMEOUT";

/// Runs what was asked for; gives the status.
pub fn launch(command: &str, request: Request, registry: &Registry) -> Result<i32, ProgramError> {
    let settings = check_settings(&request.settings, registry)?;
    let timeout = match (request.timeout, std::env::var_os(TIMEOUT)) {
        (None, Some(text)) => Some(args::seconds(TIMEOUT, &text).or_else(|e| usage(e.0))?),
        (given, _) => given,
    };
    let hosts = hosts(&request)?;
    let means = Means::new(&request, &settings)?;
    let show = Show {
        command: command.to_string(),
        tag: request.tag,
        verbose: request.verbose,
        timeout,
    };
    let plan = plan(request, settings, hosts)?;

    let base = Base::new().map_err(system)?;
    let (here, others) = nodes(&plan);
    let mut tree = Tree::new(means.clone(), &plan);
    let env = std::env::vars_os();
    if !others.is_empty() {
        let brief = Brief {
            plan: plan.clone(),
            means,
            env: env.collect(),
            directory: std::env::current_dir().map_err(system)?.into(),
        };
        let brief: Arc<[u8]> = brief.encode();
        tree.grow(&others, &brief, &base);
        tree.flush(&base.poller);
    }
    let reader = plan.stdin.map(|rank| plan.node_of[rank as usize]);
    let typed = reader.is_some_and(|node| Some(node) != here || Source::is_typed());
    if let Some(node) = here {
        let input = match typed {
            true => Input::Passed,
            false => Input::Inherited,
        };
        let mut news = Vec::new();
        match Node::start(
            &plan,
            node,
            std::env::vars_os().collect(),
            input,
            &base,
            &mut news,
        ) {
            Ok(node) => tree.node = Some(node),
            Err(error) => {
                tree.close(&base);
                base.warden.stop();
                return Err(error);
            }
        }
        tree.add(news);
    }
    let job = Job::new(show, plan, tree, base, typed).map_err(system)?;
    Ok(job.run())
}

/// The node of this host, if it has ranks, and the others that have.
fn nodes(plan: &Plan) -> (Option<u32>, Vec<u32>) {
    let used = |&node: &u32| plan.node_of.contains(&node);
    let here = match plan.slots {
        Some(_) => plan.hosts.iter().position(|host| is_here(host)),
        None => Some(0),
    };
    let here = here.map(|node| node as u32).filter(used);
    let others = (0..plan.hosts.len() as u32).filter(|node| Some(*node) != here);
    (here, others.filter(used).collect())
}

/// The hosts that were named.
fn hosts(request: &Request) -> Result<Option<Hosts>, ProgramError> {
    let mut hosts = Hosts::default();
    for (option, list) in &request.hosts {
        hosts.add_list(option, list).or_else(|e| usage(e.0))?;
    }
    for (option, path) in &request.hostfiles {
        hosts.add_file(option, path).or_else(|e| usage(e.0))?;
    }
    if hosts.as_slice().is_empty() {
        return Ok(None);
    }
    if let Some(ppn) = request.ppn {
        hosts.set_slots(ppn);
    }
    Ok(Some(hosts))
}

/// Puts the ranks in their places.
fn plan(
    request: Request,
    settings: Vec<(OsString, OsString)>,
    hosts: Option<Hosts>,
) -> Result<Plan, ProgramError> {
    let room = hosts.as_ref().map_or_else(
        || request.ppn.unwrap_or_else(catena_boot::available_cpus),
        Hosts::slots,
    );
    let sizes = sizes(&request.apps, room)?;
    let size: u32 = sizes.iter().sum();
    if let Some(ppn) = request.ppn
        && size > room
    {
        let hosts = hosts.map_or(1, |hosts| hosts.as_slice().len());
        return usage(format!(
            "-ppn {ppn}: {hosts} {} so many have no room for {size} ranks; name more hosts, or \
             start fewer ranks",
            if hosts == 1 {
                "host with"
            } else {
                "hosts with"
            }
        ));
    }
    if let Some(rank) = request.stdin.filter(|rank| *rank >= size && *rank != 0) {
        return usage(format!("--stdin {rank}: there are only {size} ranks"));
    }
    let mut psets = app_sets(&sizes);
    for set in &request.psets {
        let ranks = set.ranks(size).or_else(|e| usage(e.0))?;
        psets.push((set.name.clone(), ranks));
    }
    let (names, counts) = match &hosts {
        Some(hosts) => (
            hosts.as_slice().iter().map(|h| h.name.clone()).collect(),
            hosts.spread(size),
        ),
        None => (vec![catena_boot::host_name()], vec![size]),
    };
    let node_of = (0..)
        .zip(&counts)
        .flat_map(|(node, &count)| std::iter::repeat_n(node, count as usize));
    let mut env = request.env;
    env.extend(settings);
    let apps = request.apps.into_iter().zip(sizes);
    Ok(Plan {
        job_id: server::job_id().map_err(system)?,
        apps: apps
            .map(|(app, size)| App {
                count: Some(size),
                ..app
            })
            .collect(),
        env,
        psets,
        hosts: names,
        node_of: node_of.collect(),
        slots: hosts.is_some().then_some(room),
        bind: request.bind,
        stdin: request.stdin,
    })
}

fn usage<T>(text: String) -> Result<T, ProgramError> {
    Err(ProgramError {
        status: USAGE,
        text,
    })
}

/// The words for a failure of the system before anything was started.
pub fn system(error: io::Error) -> ProgramError {
    ProgramError {
        status: 1,
        text: format!("the job cannot be set up: {error}"),
    }
}

/// Number of ranks of each program; there is room for so many.
fn sizes(apps: &[App], room: u32) -> Result<Vec<u32>, ProgramError> {
    let default = if apps.len() == 1 { room } else { 1 };
    let sizes: Vec<u32> = apps
        .iter()
        .map(|app| app.count.unwrap_or(default))
        .collect();
    let total: u64 = sizes.iter().map(|&n| u64::from(n)).sum();
    if total > u64::from(MAX_RANKS) {
        return usage(format!(
            "{total} ranks are too many; there can be at most {MAX_RANKS}"
        ));
    }
    Ok(sizes)
}

/// The variables that `--set` stands for.
fn check_settings(
    given: &[(String, String)],
    registry: &Registry,
) -> Result<Vec<(OsString, OsString)>, ProgramError> {
    let mut vars: Vec<(OsString, OsString)> = Vec::new();
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

/// The ranks of each program as a process set.
fn app_sets(sizes: &[u32]) -> Vec<(String, Vec<u32>)> {
    let mut first = 0;
    let set = |(app, &count): (usize, &u32)| {
        let ranks = (first..first + count).collect();
        first += count;
        (format!("app://{app}"), ranks)
    };
    sizes.iter().enumerate().map(set).collect()
}
