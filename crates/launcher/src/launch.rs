//! From the command line to a running job.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use catena_boot::{CPU_MAPPING, ELASTIC_SET, LAUNCH_FOREIGN, OtherMpi, server};
use catena_proof::Secret;
use catena_settings::{COMMAND_LINE, CONF, FILE, PREFIX, Registry, Sources};
use catena_topo::{Machine, Resource};

use crate::args::{self, App, Request};
use crate::base::Base;
use crate::heard::heard;
use crate::hosts::Means;
use crate::hosts::brief::Brief;
use crate::hosts::list::{Hosts, is_here};
use crate::hosts::manager::Launcher;
use crate::hosts::tree::Tree;
use crate::job::{Job, Reach, Show};
use crate::library;
use crate::node::{Input, Node};
use crate::place::{self, Binding, Places, rankfile};
use crate::plan::{Plan, app_sets};
use crate::program::ProgramError;
use crate::stdin::Source;
use crate::{MAX_RANKS, USAGE};

/// The variable for a time limit, the one that scripts for Hydra set.
const TIMEOUT: &str = "MPIEXEC_TIMEOUT";

/// Runs what was asked for; gives the status.
pub fn launch(
    command: &str,
    mut request: Request,
    registry: &Registry,
) -> Result<i32, ProgramError> {
    let own = std::env::var_os(CONF);
    let apps: Vec<_> = request.apps.iter().map(|app| &app.env).collect();
    let heard = heard(&request.env, &apps, own.as_deref()).or_else(usage)?;
    let conf = heard.iter().find(|(name, _)| name == CONF);
    if let Some(path) = conf.and_then(|(_, path)| path.to_str()) {
        // No setting was looked up so far.
        crate::sys::set_variable(CONF, path);
    }
    request.env.extend(heard);
    let settings = check_settings(&request.settings, registry)?;
    let timeout = match (request.timeout, std::env::var_os(TIMEOUT)) {
        (None, Some(text)) => Some(args::seconds(TIMEOUT, &text).or_else(|e| usage(e.0))?),
        (given, _) => given,
    };
    let launcher = request.launcher.unwrap_or_else(|| match request.agent {
        Some(_) => Launcher::Agent,
        None => Launcher::detect(variable),
    });
    let hosts = hosts(&request, launcher)?;
    let agent = request.agent.is_some();
    let means = Means::new(&request, &settings)?;
    let reach = Reach {
        launcher,
        agent: agent.then(|| means.agent.clone()),
        means: means.clone(),
    };
    let show = Show {
        command: command.to_string(),
        tag: request.tag,
        verbose: request.verbose,
        timeout,
    };
    let topology = request.topology.clone();
    let elastic = request.elastic;
    let machine = match &topology {
        Some(path) => read_topology(path)?,
        None => Machine::here(),
    };
    let plan = plan(request, settings, hosts, &machine)?;
    if topology.is_some() {
        print!("{}", drawn(&plan, &machine)?);
        return Ok(0);
    }

    let base = Base::new(machine).map_err(system)?;
    let (here, others) = nodes(&plan);
    let mut tree = Tree::new(means.clone(), &plan);
    let env = std::env::vars_os();
    if !others.is_empty() {
        let brief = Brief {
            plan: plan.clone(),
            means,
            env: env.collect(),
            directory: std::env::current_dir().map_err(system)?.into(),
            late: false,
        };
        let brief: Arc<[u8]> = brief.encode();
        let names = others
            .iter()
            .map(|&node| plan.hosts[node as usize].as_str());
        match reach.command(&names.collect::<Vec<_>>()) {
            None => tree.grow(&others, &brief, &base),
            Some(command) => tree.hire(&others, command, &brief, &base).map_err(system)?,
        }
        tree.flush(&base.poller);
    }
    let reader = plan.stdin.map(|rank| plan.node_of[rank as usize]);
    let typed = reader.is_some_and(|node| Some(node) != here || Source::is_typed());
    if let Some(node) = here {
        let input = match typed {
            true => Input::Passed,
            false => Input::Inherited,
        };
        let mut events = Vec::new();
        match Node::start(
            &plan,
            node,
            std::env::vars_os().collect(),
            input,
            &base,
            &mut events,
        ) {
            Ok(node) => tree.node = Some(node),
            Err(error) => {
                tree.close(&base);
                base.watchdog.stop();
                return Err(error);
            }
        }
        tree.add(events);
    } else {
        // Its server keeps what all nodes have in common.
        tree.node = Some(Node::without_ranks(&plan, u32::MAX, &base).map_err(system)?);
    }
    let mut job = Job::new(show, plan, tree, base, typed, reach).map_err(system)?;
    if elastic {
        job.make_elastic();
    }
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

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The hosts that were named, or those that a resource manager has given.
fn hosts(request: &Request, launcher: Launcher) -> Result<Option<Hosts>, ProgramError> {
    let mut hosts = Hosts::default();
    for (option, list) in &request.hosts {
        hosts.add_list(option, list).or_else(|e| usage(e.0))?;
    }
    for (option, path) in &request.hostfiles {
        hosts.add_file(option, path).or_else(|e| usage(e.0))?;
    }
    if hosts.as_slice().is_empty() {
        match launcher.hosts(variable).or_else(|e| usage(e.0))? {
            Some(given) => hosts = given,
            None => return Ok(None),
        }
    }
    if let Some(ppn) = request.ppn {
        hosts.set_slots(ppn);
    }
    Ok(Some(hosts))
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
    let own: Vec<_> = std::env::vars_os().collect();
    let vars = plan.apps.iter().map(|app| &app.env);
    let threads = vars.filter_map(|vars| place::threads(own.iter().chain(&plan.env).chain(vars)));
    let threads = threads.max();
    let mut text = String::new();
    for node in 0..plan.hosts.len() as u32 {
        if plan.ranks_on(node).next().is_some() {
            let binding = Binding::new(plan, node, machine.clone(), threads).or_else(usage)?;
            text += &binding.text;
        }
    }
    Ok(text)
}

/// Puts the ranks in their places.
pub fn plan(
    request: Request,
    settings: Vec<(OsString, OsString)>,
    hosts: Option<Hosts>,
    machine: &Machine,
) -> Result<Plan, ProgramError> {
    let mut wish = request.wish;
    let given = [&request.env[..], &settings[..]].concat();
    wish.cpu_mapping = crate::hosts::setting(&CPU_MAPPING, &given).to_string();
    if request.topology.is_some() {
        wish.show = place::Show::Bindings;
    }
    let machine = wish.usable(machine.clone()).or_else(usage)?;
    let named = hosts.is_some();
    let hosts: Vec<(String, u32)> = match hosts {
        Some(hosts) => {
            let hosts = hosts.as_slice().iter();
            hosts.map(|host| (host.name.clone(), host.slots)).collect()
        }
        None => {
            let name = match &request.topology {
                Some(path) => path.file_stem().unwrap_or_default().display().to_string(),
                None => catena_boot::host_name(),
            };
            let cores = machine.of(Resource::Core).len() as u32;
            let granted = match request.topology {
                // A group of processes may be granted less than all of it.
                None => cores.min(catena_boot::available_cpus()),
                Some(_) => cores,
            };
            vec![(name, request.ppn.unwrap_or(granted))]
        }
    };
    let room = hosts
        .iter()
        .fold(0u32, |sum, host| sum.saturating_add(host.1));
    let asked = asked(&request.apps)?;
    if let Some(ppn) = request.ppn
        && asked.is_some_and(|size| size > room)
    {
        return usage(format!(
            "-ppn {ppn}: {} {} so many have no room for {} ranks; name more hosts, or start fewer \
             ranks",
            hosts.len(),
            if hosts.len() == 1 {
                "host with"
            } else {
                "hosts with"
            },
            asked.unwrap_or(room)
        ));
    }
    let places = match &request.rankfile {
        Some(path) => by_file(path, &hosts, asked),
        None => place::spots(&wish, &hosts, &machine, asked),
    };
    let places = places.or_else(usage)?;
    let size = places.node_of.len() as u32;
    if size > MAX_RANKS {
        return usage(too_many(size.into()));
    }
    let sizes: Vec<u32> = match &request.apps[..] {
        [_] => vec![size],
        apps => apps.iter().map(|app| app.count.unwrap_or(1)).collect(),
    };
    if let Some(rank) = request.stdin.filter(|rank| *rank >= size && *rank != 0) {
        return usage(format!("--stdin {rank}: there are only {size} ranks"));
    }
    let mut psets = app_sets(&sizes);
    if request.elastic {
        psets.push((format!("{ELASTIC_SET}1"), (0..size).collect()));
    }
    for set in &request.psets {
        let ranks = set.ranks(size).or_else(|e| usage(e.0))?;
        psets.push((set.name.clone(), ranks));
    }
    let mut env = request.env;
    let conf = env.iter().rev().find(|(name, _)| name == CONF);
    let conf = conf.map(|(_, path)| path.to_string_lossy());
    env.push((FILE.into(), Sources::handed_on(conf.as_deref()).into()));
    env.extend(settings);
    if request.check {
        env.push(library::checked(&env).or_else(usage)?);
    }
    let foreign = match crate::hosts::setting(&LAUNCH_FOREIGN, &env) {
        // One rank alone is what its library makes of it, too.
        OtherMpi::Stop if size == 1 => OtherMpi::Warn,
        given => given,
    };
    let apps = request.apps.into_iter().zip(sizes);
    Ok(Plan {
        job_id: server::job_id().map_err(system)?,
        secret: Some(Secret::random().map_err(system)?),
        apps: apps
            .map(|(app, size)| App {
                count: Some(size),
                ..app
            })
            .collect(),
        env,
        psets,
        room: hosts.iter().map(|host| host.1).collect(),
        hosts: hosts.into_iter().map(|host| host.0).collect(),
        node_of: places.node_of,
        slots: named.then_some(room),
        seats: places.seats,
        slots_of: places.slots_of,
        wish,
        stdin: request.stdin,
        pmix: request.pmix,
        foreign,
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

/// How many ranks are asked for; `None`: as many as there is room for.
fn asked(apps: &[App]) -> Result<Option<u32>, ProgramError> {
    if let [App { count: None, .. }] = apps {
        return Ok(None);
    }
    let total: u64 = apps
        .iter()
        .map(|app| u64::from(app.count.unwrap_or(1)))
        .sum();
    match u32::try_from(total) {
        Ok(total) if total <= MAX_RANKS => Ok(Some(total)),
        _ => usage(too_many(total)),
    }
}

fn too_many(ranks: u64) -> String {
    format!("{ranks} ranks are too many; there can be at most {MAX_RANKS}")
}

/// Where a rankfile puts the ranks.
fn by_file(path: &Path, hosts: &[(String, u32)], ranks: Option<u32>) -> Result<Places, String> {
    let wrong = |why: String| format!("--rankfile {}: {why}", path.display());
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let names: Vec<&str> = hosts.iter().map(|host| host.0.as_str()).collect();
    let places = rankfile::read(&text, &names, ranks).map_err(wrong)?;
    Ok(Places {
        seats: vec![0; places.len()],
        node_of: places.iter().map(|place| place.node).collect(),
        slots_of: places.into_iter().map(|place| place.slot).collect(),
    })
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
