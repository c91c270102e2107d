//! From the command line to a running job.

mod placing;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use catena_boot::{CPU_MAPPING, ELASTIC_SET, LAUNCH_FOREIGN, OtherMpi, server};
use catena_job::{
    App, Brief, MAX_RANKS, Plan, ProgramError, Show as Shown, USAGE, app_sets, setting,
};
use catena_proof::Secret;
use catena_settings::{COMMAND_LINE, CONF, FILE, PREFIX, Registry, Sources};
use catena_topo::{Machine, Resource};

use crate::args::{self, Request};
use crate::base::Base;
use crate::heard::heard;
use crate::hosts::names::Names;
use crate::hosts::pool::Pool;
use crate::hosts::tree::Tree;
use crate::hosts::{self, manager::Launcher};
use crate::library;
use crate::node::{Input, Node};
use crate::place::{self, Binding, Places, rankfile};
use crate::stdin::Source;
use crate::supervisor::{Reach, Show, Supervisor};
use crate::sys::Watchdog;

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
        (None, Some(text)) if !text.is_empty() => {
            Some(args::seconds(TIMEOUT, &text).or_else(|e| usage(e.0))?)
        }
        (given, _) => given,
    };
    let launcher = request.launcher.unwrap_or_else(|| match request.agent {
        Some(_) => Launcher::Agent,
        None => Launcher::detect(variable),
    });
    let agent = request.agent.is_some();
    let means = hosts::means(&request, launcher, &settings)?;
    let reach = Reach {
        launcher,
        agent: agent.then(|| means.agent.clone()),
        means: means.clone(),
    };
    let warnings = request.warnings.iter();
    let mut show = Show {
        notes: warnings.map(|text| format!("{command}: {text}")).collect(),
        command: command.to_string(),
        output: request.output.clone(),
        verbose: request.verbose,
        timeout,
    };
    let topology = request.topology.clone();
    let elastic = request.elastic;
    let machine = match &topology {
        Some(path) => read_topology(path)?,
        None => Machine::here(),
    };
    let (dry, allocation) = (request.dry || topology.is_some(), request.allocation);
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

    let base = Base::with(watchdog, machine).map_err(ProgramError::system)?;
    let (here, others) = nodes(&plan, here);
    let mut tree = Tree::new(means.clone(), &plan);
    let env = std::env::vars_os();
    if !others.is_empty() {
        let brief = Brief {
            plan: plan.clone(),
            means,
            env: env.collect(),
            directory: std::env::current_dir()
                .map_err(ProgramError::system)?
                .into(),
            late: false,
        };
        let brief: Arc<[u8]> = brief.encode();
        let names = others
            .iter()
            .map(|&node| plan.hosts[node as usize].as_str());
        match reach.command(&names.collect::<Vec<_>>()) {
            None => tree.grow(&others, &brief, &base),
            Some(command) => tree
                .hire(&others, command, &brief, &base)
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
        tree.node =
            Some(Node::without_ranks(&plan, u32::MAX, &base).map_err(ProgramError::system)?);
    }
    let mut job =
        Supervisor::new(show, plan, tree, base, typed, reach).map_err(ProgramError::system)?;
    if elastic {
        job.make_elastic();
    }
    Ok(job.run())
}

/// The node of this host, if it has ranks, and the others that have.
fn nodes(plan: &Plan, here: Option<u32>) -> (Option<u32>, Vec<u32>) {
    let used = |&node: &u32| plan.node_of.contains(&node);
    let here = here.filter(used);
    let others = (0..plan.hosts.len() as u32).filter(|node| Some(*node) != here);
    (here, others.filter(used).collect())
}

fn variable(name: &str) -> Option<String> {
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

/// What shall run where.
pub struct Planned {
    pub plan: Plan,
    /// The node that this host is, if it is one.
    pub here: Option<u32>,
}

/// Puts the ranks in their places: on the hosts of `pool`, or all on this one.
pub fn plan(
    request: Request,
    settings: Vec<(OsString, OsString)>,
    pool: Option<Pool>,
    machine: &Machine,
) -> Result<Planned, ProgramError> {
    let mut wish = request.wish;
    let given = [&request.env[..], &settings[..]].concat();
    wish.cpu_mapping = setting(&CPU_MAPPING, &given).to_string();
    if request.topology.is_some() || request.dry {
        wish.show = Shown::Bindings;
    }
    let policy = wish.policy().or_else(usage)?;
    let named = pool.is_some();
    let ppn = request.named.first().and_then(|named| named.ppn);
    let mut pool = match pool {
        Some(pool) => pool,
        None => {
            let (name, granted) = match &request.topology {
                // A group of processes may be granted less than all of it.
                None => (catena_boot::host_name(), catena_boot::available_cpus()),
                Some(path) => {
                    let name = path.file_stem().unwrap_or_default().display().to_string();
                    (name, u32::MAX)
                }
            };
            let kind = match policy.threads_are_cores {
                true => Resource::Pu,
                false => Resource::Core,
            };
            let usable = wish.usable(machine.clone()).or_else(usage)?;
            let room = granted.min(usable.of(kind).len() as u32).max(1);
            Pool::here(name, ppn.unwrap_or(room))
        }
    };
    if policy.no_local {
        pool.leave_here();
        if pool.hosts.is_empty() {
            return usage("--nolocal: there is no other host; name some with --host".to_string());
        }
    }
    // Other hosts may have CPUs that this one has not.
    let machine = match (wish.usable(machine.clone()), pool.here) {
        (Ok(usable), _) => usable,
        (Err(why), Some(_)) => return usage(why),
        (Err(_), None) => machine.clone(),
    };
    let hosts: Vec<(String, u32)> = {
        let hosts = pool.hosts.iter();
        hosts.map(|host| (host.name.clone(), host.slots)).collect()
    };
    let room = pool.room();
    let (places, sizes) = match &pool.of {
        Some(of) if request.rankfile.is_none() => {
            let programs = placing::Programs {
                apps: &request.apps,
                hosts: &hosts,
                of,
                counted: &pool.counted,
            };
            placing::each(&programs, &wish, &machine).or_else(usage)?
        }
        _ => {
            let asked = asked(&request.apps)?;
            if let (Some(ppn), Some(size)) = (ppn, asked.filter(|size| *size > room)) {
                return usage(no_room(ppn, hosts.len(), size));
            }
            let places = match &request.rankfile {
                Some(path) => by_file(path, &hosts, asked),
                None => place::spots(&wish, &hosts, &machine, asked),
            };
            let places = places.or_else(usage)?;
            let sizes = match &request.apps[..] {
                [_] => vec![places.node_of.len() as u32],
                apps => apps.iter().map(|app| app.count.unwrap_or(1)).collect(),
            };
            (places, sizes)
        }
    };
    let size = places.node_of.len() as u32;
    if size > MAX_RANKS {
        return usage(too_many(size.into()));
    }
    placing::check_room(&places.node_of, &pool.hosts, policy.no_oversubscribe).or_else(usage)?;
    let stdin = request.stdin.ranks(size).or_else(|rank| {
        let ranks = if size == 1 { "rank" } else { "ranks" };
        let verb = if size == 1 { "is" } else { "are" };
        usage(format!("--stdin {rank}: there {verb} only {size} {ranks}"))
    })?;
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
    let foreign = match setting(&LAUNCH_FOREIGN, &env) {
        // One rank alone is what its library makes of it, too.
        OtherMpi::Stop if size == 1 => OtherMpi::Warn,
        given => given,
    };
    let apps = request.apps.into_iter().zip(sizes);
    let plan = Plan {
        job_id: server::job_id().map_err(ProgramError::system)?,
        secret: Some(Secret::random().map_err(ProgramError::system)?),
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
        stdin,
        pmix: request.pmix,
        foreign,
    };
    Ok(Planned {
        plan,
        here: pool.here,
    })
}

/// The words for too many ranks on hosts that have a given number of them each.
fn no_room(ppn: u32, hosts: usize, size: u32) -> String {
    let hosts = match hosts {
        1 => "1 host".to_string(),
        n => format!("{n} hosts"),
    };
    let ranks = if ppn == 1 { "rank" } else { "ranks" };
    format!(
        "-ppn {ppn}: {hosts} with {ppn} {ranks} each cannot take {size} ranks; name more hosts, or start fewer ranks"
    )
}

fn usage<T>(text: String) -> Result<T, ProgramError> {
    Err(ProgramError {
        status: USAGE,
        text,
    })
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
    let written = rankfile::names(&text);
    let unknown = written.iter().any(|name| !names.contains(&name.as_str()));
    let all = names
        .iter()
        .copied()
        .chain(written.iter().map(String::as_str));
    let mut known = Names::new(all, unknown);
    let numbers: Vec<u32> = names.iter().map(|name| known.number(name)).collect();
    let mut find = |name: &str| {
        let number = known.number(name);
        numbers.iter().position(|of| *of == number)
    };
    let places = rankfile::read(&text, &names, &mut find, ranks).map_err(wrong)?;
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
