//! Where the processes of jobs that are spawned run.

use std::collections::BTreeMap;

use catena_boot::{SpawnProgram, SpawnRequest, server};
use catena_job::{App, Inherit, MAX_RANKS, PlacementRequest, Plan, app_sets};

use super::process::Processes;
use crate::base::Base;
use crate::heard;
use crate::hosts::list::{Host, Hosts};
use crate::hosts::names::Names;
use crate::node::SPARE_FILES;
use crate::place;

/// What there is for processes to be placed on.
pub struct Space<'a> {
    /// The plan of the first job, whose hosts and their room are those of all jobs. New ones come
    /// to it.
    pub plan: &'a mut Plan,
    /// Those that run already.
    pub processes: &'a Processes,
    /// What this process stands on.
    pub base: &'a Base,
    /// The number of this process's own node.
    pub own: Option<u32>,
}

impl Space<'_> {
    /// The plan of a job to be spawned. Hosts that are named and that the job does not have yet
    /// come to its hosts.
    ///
    /// # Errors
    /// Why it cannot be placed, and what to do.
    pub fn plan_of(&mut self, request: &SpawnRequest) -> Result<Plan, String> {
        let hosts = request.programs.iter().map(hosts_of);
        let hosts: Vec<Vec<Host>> = hosts.collect::<Result<_, _>>()?;
        let there = self.processes.running();
        let mut room = MAX_RANKS;
        if self.plan.hosts.len() == 1 && hosts.iter().all(Vec::is_empty) {
            // Each needs three descriptors here.
            let files = self.base.files.most().saturating_sub(SPARE_FILES) / 3;
            room = room.min(files.min(MAX_RANKS.into()) as u32);
        }
        let counts = fit(&request.programs, room.saturating_sub(there))?;
        // Without a word about it they go from slot to slot.
        let placement = PlacementRequest {
            cpu_set: self.plan.placement.cpu_set.clone(),
            map_by: request.map_by.clone(),
            bind_to: request.bind_to.clone(),
            ..PlacementRequest::default()
        };
        let mut placed = Placed::default();
        match hosts.iter().all(Vec::is_empty) {
            // All together, as on the command line.
            true => self.place(&placement, &[], counts.iter().sum(), &mut placed)?,
            false => {
                for (hosts, &count) in hosts.iter().zip(&counts) {
                    self.place(&placement, hosts, count, &mut placed)?;
                }
            }
        }
        let given: Vec<_> = self.plan.apps.iter().map(|app| &app.env).collect();
        let given = heard::common(&given);
        // What they are not to have, their children are not, either.
        let inherit = match &self.plan.apps[..] {
            [first, rest @ ..] if rest.iter().all(|app| app.inherit == first.inherit) => {
                first.inherit.clone()
            }
            _ => Inherit::All,
        };
        let app = |(it, &count): (&SpawnProgram, &u32)| App {
            count: Some(count),
            program: it.program.clone(),
            args: it.args.clone(),
            env: given.iter().chain(&it.env).cloned().collect(),
            wdir: it.wdir.clone().map(Into::into),
            path: None,
            inherit: inherit.clone(),
        };
        Ok(Plan {
            job_id: server::job_id().map_err(|error| error.to_string())?,
            apps: request.programs.iter().zip(&counts).map(app).collect(),
            placement,
            psets: app_sets(&counts),
            node_of: placed.node_of,
            seats: placed.seats,
            slots_of: Vec::new(),
            stdin: Vec::new(),
            pmix: false,
            ..self.plan.clone()
        })
    }

    /// Places so many more processes of a job on `hosts`, or where the job may run.
    fn place(
        &mut self,
        placement: &PlacementRequest,
        hosts: &[Host],
        count: u32,
        placed: &mut Placed,
    ) -> Result<(), String> {
        let mut nodes = self.nodes_of_hosts(hosts);
        if nodes.is_empty() {
            nodes = self.free_nodes(count, placed);
        }
        let (numbers, hosts): (Vec<u32>, Vec<(String, u32)>) = nodes
            .into_iter()
            .map(|(node, slots)| (node, (self.plan.hosts[node as usize].clone(), slots)))
            .unzip();
        let places =
            place::spots(placement, &hosts, &self.base.machine, Some(count)).map_err(in_keys)?;
        let before = placed.on.clone();
        for (at, seat) in places.node_of.into_iter().zip(places.seats) {
            let node = numbers[at as usize];
            placed.node_of.push(node);
            placed
                .seats
                .push(seat + before.get(&node).copied().unwrap_or(0));
            *placed.on.entry(node).or_insert(0) += 1;
        }
        Ok(())
    }

    /// The nodes that hosts are, each once, and how many processes they have room for; those that
    /// are new come to the hosts of the job.
    fn nodes_of_hosts(&mut self, hosts: &[Host]) -> Vec<(u32, u32)> {
        if hosts.is_empty() {
            return Vec::new();
        }
        let is_new = |host: &Host| !self.plan.hosts.contains(&host.name);
        let known = self.plan.hosts.iter().map(String::as_str);
        let all = known.chain(hosts.iter().map(|host| host.name.as_str()));
        let mut names = Names::new(all, hosts.iter().any(is_new));
        let mut numbers: Vec<u32> = self
            .plan
            .hosts
            .iter()
            .map(|name| names.number(name))
            .collect();
        let own = self.own.filter(|&own| (own as usize) < numbers.len());
        let mut nodes: Vec<(u32, u32)> = Vec::new();
        for host in hosts {
            let number = names.number(&host.name);
            let known = numbers.iter().position(|of| *of == number);
            let node = match own.filter(|_| names.is_here(&host.name)) {
                Some(own) => own,
                None => known.unwrap_or_else(|| {
                    self.plan.hosts.push(host.name.clone());
                    self.plan.room.push(host.slots.unwrap_or(1));
                    numbers.push(number);
                    numbers.len() - 1
                }) as u32,
            };
            let slots = host.slots.unwrap_or(1);
            match nodes.iter_mut().find(|(of, _)| *of == node) {
                Some((_, there)) => *there += slots,
                None => nodes.push((node, slots)),
            }
        }
        nodes
    }

    /// The nodes where processes run that nobody has placed: those with free slots, if they have
    /// enough for all, else all that there are.
    fn free_nodes(&self, count: u32, placed: &Placed) -> Vec<(u32, u32)> {
        let mut busy = placed.on.clone();
        for process in self.processes.iter().filter(|it| it.running) {
            *busy.entry(process.node).or_insert(0) += 1;
        }
        let slots = |node: u32| self.plan.room.get(node as usize).copied().unwrap_or(1);
        let all = 0..self.plan.hosts.len() as u32;
        // Some were named and could not be reached.
        let all: Vec<u32> = all.filter(|&node| slots(node) > 0).collect();
        let free = all.iter().map(|&node| {
            let busy = busy.get(&node).copied().unwrap_or(0);
            (node, slots(node).saturating_sub(busy))
        });
        let free: Vec<(u32, u32)> = free.filter(|(_, slots)| *slots > 0).collect();
        let sum: u64 = free.iter().map(|(_, slots)| u64::from(*slots)).sum();
        match sum >= count.into() {
            true => free,
            false => all.into_iter().map(|node| (node, slots(node))).collect(),
        }
    }
}

/// Processes that have a place.
#[derive(Default)]
struct Placed {
    node_of: Vec<u32>,
    seats: Vec<u32>,
    /// How many are on each node.
    on: BTreeMap<u32, u32>,
}

/// How many processes run each program where there is room for so many: what was asked for,
/// or less where that will do.
///
/// # Errors
/// If there is no room for the fewest that will do.
fn fit(programs: &[SpawnProgram], room: u32) -> Result<Vec<u32>, String> {
    let mut counts: Vec<u32> = programs.iter().map(|it| it.count).collect();
    if counts.is_empty() || counts.contains(&0) {
        return Err("a program is to be run by no process".to_string());
    }
    let all = |counts: &[u32]| counts.iter().map(|&it| u64::from(it)).sum::<u64>();
    let asked = all(&counts);
    // The last programs give way first.
    for (at, program) in programs.iter().enumerate().rev() {
        let others = all(&counts) - u64::from(counts[at]);
        let fits = |&&count: &&u32| others + u64::from(count) <= room.into();
        if all(&counts) > room.into() {
            let fewer = program
                .soft
                .iter()
                .filter(|&&it| it > 0 && it < program.count);
            let best = fewer.clone().filter(fits).max().or(fewer.min());
            counts[at] = best.copied().unwrap_or(counts[at]);
        }
    }
    match all(&counts) <= room.into() {
        true => Ok(counts),
        false => Err(format!(
            "{asked} more processes are too many: there is room for {room} (a launcher can have \
            {MAX_RANKS}, and three open files for each: ulimit -n); ask for fewer, or name \
            smaller numbers that will do with the info key soft"
        )),
    }
}

/// What is wrong with an option of mpirun, said of the info key that says the same.
fn in_keys(wrong: String) -> String {
    let options = [("--map-by ", "map_by"), ("--bind-to ", "bind_to")];
    let named = options.iter().find_map(|(option, key)| {
        let value = wrong.strip_prefix(option)?;
        Some(format!("the info key {key}: {value}"))
    });
    named.unwrap_or(wrong)
}

/// The hosts that a program may run on; none if nothing was said.
///
/// # Errors
/// If they cannot be read.
fn hosts_of(program: &SpawnProgram) -> Result<Vec<Host>, String> {
    let mut hosts = Hosts::default();
    let read = program.hosts.iter().try_for_each(|list| {
        let list = list.to_string_lossy();
        hosts.add_list("the info key host", &list)
    });
    let read = read.and_then(|()| {
        let mut files = program.hostfiles.iter();
        files.try_for_each(|path| hosts.add_file("the info key hostfile", path.as_ref()))
    });
    read.map_err(|error| error.0)?;
    Ok(hosts.as_slice().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(count: u32, soft: &[u32]) -> SpawnProgram {
        SpawnProgram {
            count,
            soft: soft.to_vec(),
            ..SpawnProgram::default()
        }
    }

    #[test]
    fn fewer_processes_run_where_that_will_do() {
        let fit = |programs: &[SpawnProgram], room| fit(programs, room).map_err(|_| ());
        assert_eq!(fit(&[program(4, &[])], 4), Ok(vec![4]));
        assert_eq!(fit(&[program(5, &[])], 4), Err(()));
        assert_eq!(fit(&[program(5, &[1, 3, 9, 0])], 4), Ok(vec![3]));
        let both = [program(5, &[4, 2]), program(6, &[5, 3])];
        assert_eq!(fit(&both, 11), Ok(vec![5, 6]));
        assert_eq!(fit(&both, 10), Ok(vec![5, 5]));
        assert_eq!(fit(&both, 7), Ok(vec![4, 3]));
        assert_eq!(fit(&both, 5), Ok(vec![2, 3]));
        assert_eq!(fit(&both, 4), Err(()));
        assert_eq!(
            fit(&[program(u32::MAX, &[]), program(9, &[])], 100),
            Err(())
        );
        assert_eq!(fit(&[program(0, &[])], 100), Err(()));
    }

    #[test]
    fn hosts_are_read_from_lists() {
        let on = |hosts: &str| SpawnProgram {
            hosts: vec![hosts.into()],
            ..SpawnProgram::default()
        };
        let hosts = hosts_of(&on("a:4,b")).unwrap();
        let hosts: Vec<_> = hosts.iter().map(|it| (&it.name[..], it.slots)).collect();
        assert_eq!(hosts, [("a", Some(4)), ("b", None)]);
        assert_eq!(hosts_of(&SpawnProgram::default()), Ok(Vec::new()));
        assert!(
            hosts_of(&on("a:b:c"))
                .unwrap_err()
                .contains("info key host")
        );
    }
}
