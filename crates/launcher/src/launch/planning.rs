//! From the command line to a plan: which ranks run where, and with what.

use std::collections::BTreeSet;
use std::path::Path;

use catena_boot::{CPU_MAPPING, ELASTIC_SET, LAUNCH_FOREIGN, OtherMpi, server};
use catena_job::{
    App, MAX_RANKS, PlacementRequest, Plan, ProgramError, Show, USAGE, Vars, app_sets, setting,
};
use catena_proof::Secret;
use catena_settings::profile::{self, Followed, PROFILE, TUNED};
use catena_settings::{CONF, FILE, Sources};
use catena_topo::{Machine, Policy, Resource};

use super::placing;
use crate::args::Request;
use crate::explain::only_program;
use crate::hosts::names::Names;
use crate::hosts::pool::Pool;
use crate::library;
use crate::place::{self, Places, rankfile};

/// What shall run where.
pub struct Planned {
    pub plan: Plan,
    /// The node that this host is, if it is one.
    pub here: Option<u32>,
}

/// Puts the ranks in their places: on the hosts of `pool`, or all on this one.
///
/// # Errors
/// Why they do not fit, and what to do.
pub fn plan(
    mut request: Request,
    settings: Vars,
    pool: Option<Pool>,
    machine: &Machine,
) -> Result<Planned, ProgramError> {
    let mut placement = request.placement.clone();
    let given = [&request.env[..], &settings[..]].concat();
    placement.cpu_mapping = setting(&CPU_MAPPING, &given).to_string();
    if request.topology.is_some() || request.dry {
        placement.show = Show::Bindings;
    }
    let policy = placement.policy().or_else(usage)?;
    let is_named = pool.is_some();
    let mut pool = match pool {
        Some(pool) => pool,
        None => here_alone(&request, &placement, &policy, machine)?,
    };
    if policy.no_local {
        pool.leave_here();
        if pool.hosts.is_empty() {
            return usage("--nolocal: there is no other host; name some with --host".to_string());
        }
    }
    // Other hosts may have CPUs that this one has not.
    let machine = match (placement.usable(machine.clone()), pool.here) {
        (Ok(usable), _) => usable,
        (Err(why), Some(_)) => return usage(why),
        (Err(_), None) => machine.clone(),
    };
    let (places, sizes) = places(&request, &pool, &placement, &machine)?;
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
    let psets = psets(&request, &sizes)?;
    let mut env = variables(&request, settings)?;
    env.push((TUNED.into(), tuned(&request, &places).to_handed().into()));
    preload_own(&mut request)?;
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
        slots: is_named.then_some(pool.room()),
        room: pool.hosts.iter().map(|host| host.slots).collect(),
        hosts: pool.hosts.into_iter().map(|host| host.name).collect(),
        node_of: places.node_of,
        seats: places.seats,
        slots_of: places.slots_of,
        placement,
        stdin,
        pmix: request.pmix,
        foreign,
    };
    Ok(Planned {
        plan,
        here: pool.here,
    })
}

/// This host alone, or the one that `--topology` describes, with as many slots as ranks have room.
fn here_alone(
    request: &Request,
    placement: &PlacementRequest,
    policy: &Policy,
    machine: &Machine,
) -> Result<Pool, ProgramError> {
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
    let usable = placement.usable(machine.clone()).or_else(usage)?;
    let room = granted.min(usable.of(kind).len() as u32).max(1);
    Ok(Pool::here(name, ppn(request).unwrap_or(room)))
}

/// How many ranks each host is to have, if that was said for the first program.
fn ppn(request: &Request) -> Option<u32> {
    request.named.first().and_then(|named| named.ppn)
}

/// Where the ranks of all programs run, and how many each program has.
fn places(
    request: &Request,
    pool: &Pool,
    placement: &PlacementRequest,
    machine: &Machine,
) -> Result<(Places, Vec<u32>), ProgramError> {
    let hosts = pool.hosts.iter();
    let hosts: Vec<(String, u32)> = hosts.map(|host| (host.name.clone(), host.slots)).collect();
    if let Some(of) = pool.of.as_ref().filter(|_| request.rankfile.is_none()) {
        let programs = placing::Programs {
            apps: &request.apps,
            hosts: &hosts,
            of,
            counted: &pool.counted,
        };
        return placing::each(&programs, placement, machine).or_else(usage);
    }
    let asked = asked(&request.apps)?;
    let more = asked.filter(|size| *size > pool.room());
    if let (Some(ppn), Some(size)) = (ppn(request), more) {
        return usage(no_room(ppn, hosts.len(), size));
    }
    let places = match &request.rankfile {
        Some(path) => by_file(path, &hosts, asked),
        None => place::spots(placement, &hosts, machine, asked),
    };
    let places = places.or_else(usage)?;
    let sizes = match &request.apps[..] {
        [_] => vec![places.node_of.len() as u32],
        apps => apps.iter().map(|app| app.count.unwrap_or(1)).collect(),
    };
    Ok((places, sizes))
}

/// The process sets of a job whose programs have these numbers of ranks.
fn psets(request: &Request, sizes: &[u32]) -> Result<Vec<(String, Vec<u32>)>, ProgramError> {
    let size: u32 = sizes.iter().sum();
    let mut psets = app_sets(sizes);
    if request.elastic {
        psets.push((format!("{ELASTIC_SET}1"), (0..size).collect()));
    }
    for set in &request.psets {
        let ranks = set.ranks(size).or_else(|e| usage(e.0))?;
        psets.push((set.name.clone(), ranks));
    }
    Ok(psets)
}

/// What is made of the profile for all ranks, as they must not differ about it.
fn tuned(request: &Request, places: &Places) -> Followed {
    let used: BTreeSet<u32> = places.node_of.iter().copied().collect();
    let given = request.env.iter().rev().find(|(name, _)| name == PROFILE);
    let given = given.map(|(_, value)| value.clone());
    let named = given.or_else(|| std::env::var_os(PROFILE));
    let program = only_program(&request.apps);
    let job = profile::Job {
        hosts: Some(used.len()),
        program: program.as_deref(),
    };
    Followed::find_named(named.as_deref(), job)
}

/// The variables for the ranks of all programs.
fn variables(request: &Request, settings: Vars) -> Result<Vars, ProgramError> {
    let mut env = request.env.clone();
    let conf = env.iter().rev().find(|(name, _)| name == CONF);
    let conf = conf.map(|(_, path)| path.to_string_lossy());
    env.push((FILE.into(), Sources::handed_on(conf.as_deref()).into()));
    env.extend(settings);
    if let (true, Some(tool)) = (request.check, profiler(request)) {
        let option = tool.option();
        return usage(format!(
            "{option} and --check cannot be had at once: the time of the checks would be counted \
             as that of the program; run it once with each"
        ));
    }
    for (name, is_asked) in [
        (catena_profile::STREAMED, request.trace.is_some()),
        (catena_profile::EXPLAINED, request.explain),
    ] {
        // A rank may have started this launcher, of which another one has asked that.
        match is_asked {
            true => env.push((name.into(), "1".into())),
            false if std::env::var_os(name).is_some() => env.push((name.into(), "".into())),
            false => {}
        }
    }
    if let Some(tool) = tool(request) {
        env.push(library::preload(tool, &env).or_else(usage)?);
    }
    Ok(env)
}

/// The tool that ranks load.
fn tool(request: &Request) -> Option<library::Tool> {
    match request.check {
        true => Some(library::CHECKER),
        false => profiler(request),
    }
}

/// The tool that counts calls, if that is asked for, by the option that asks for it.
fn profiler(request: &Request) -> Option<library::Tool> {
    match (request.profile, &request.trace, request.explain) {
        (true, ..) => Some(library::PROFILER),
        (_, Some(_), _) => Some(library::TRACER),
        (.., true) => Some(library::EXPLAINER),
        _ => None,
    }
}

/// Has programs load that tool, too, which have something of their own to load.
fn preload_own(request: &mut Request) -> Result<(), ProgramError> {
    let Some(tool) = tool(request) else {
        return Ok(());
    };
    for app in &mut request.apps {
        if app.env.iter().any(|(name, _)| name == library::PRELOAD) {
            let both = library::preload(tool, &app.env).or_else(usage)?;
            app.env.push(both);
        }
    }
    Ok(())
}

/// The words for too many ranks on hosts that have a given number of them each.
fn no_room(ppn: u32, hosts: usize, size: u32) -> String {
    let hosts = match hosts {
        1 => "1 host".to_string(),
        n => format!("{n} hosts"),
    };
    let ranks = if ppn == 1 { "rank" } else { "ranks" };
    format!(
        "-ppn {ppn}: {hosts} with {ppn} {ranks} each cannot take {size} ranks; name more hosts, or \
         start fewer ranks"
    )
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

/// What is wrong with the command line.
pub fn usage<T>(text: String) -> Result<T, ProgramError> {
    Err(ProgramError {
        status: USAGE,
        text,
    })
}
