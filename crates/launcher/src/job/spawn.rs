//! Jobs that processes spawn: the launcher starts them, and tells who has spawned them
//! once all of their processes have called MPI_Init, or why they have not.

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use catena_boot::server::ports::SpawnCall;
use catena_boot::{LAUNCH_TIMEOUT, SpawnAnswer, SpawnProgram, SpawnRequest, server};

use super::{Job, Process, Task};
use crate::MAX_RANKS;
use crate::args::App;
use crate::hosts::list::{Hosts, is_here};
use crate::node::{SPARE_FILES, Spawned, Vars};
use crate::place::{self, Wish};
use crate::plan::{Plan, app_sets};
use crate::report;
use crate::sys::Exit;

/// A job of which not all processes have called MPI_Init.
pub(super) struct Spawning {
    job: u64,
    /// The numbers of its processes.
    numbers: Range<u32>,
    /// Where those who have spawned it wait.
    port: String,
    /// Who has spawned it, and what its answer is known by.
    caller: (u32, u32),
    /// How many processes run each program.
    counts: Vec<u32>,
}

impl Spawning {
    /// Whether the process with that number is in it.
    pub fn has(&self, number: u32) -> bool {
        self.numbers.contains(&number)
    }
}

impl Job {
    /// Starts what processes have spawned.
    pub(super) fn take_spawns(&mut self) {
        let node = self.tree.node.as_mut();
        for call in node.map(|node| node.take_spawn_calls()).unwrap_or_default() {
            let (number, ticket) = (call.number, call.ticket);
            if let Err(text) = self.spawn(call) {
                self.answer(number, ticket, Err(text));
            }
        }
    }

    fn answer(&mut self, number: u32, ticket: u32, outcome: Result<SpawnAnswer, String>) {
        if let Some(node) = &mut self.tree.node {
            node.answer_spawn(number, ticket, outcome);
        }
    }

    /// Starts a job.
    fn spawn(&mut self, call: SpawnCall) -> Result<(), String> {
        let here = self.tree.node.as_ref().map(|node| node.number());
        let Some(here) = here.filter(|here| self.plan.node_of.iter().all(|node| node == here))
        else {
            return Err(
                "the job runs on several hosts, and processes can be spawned only where \
                 all of it is on the host of mpirun so far: start it on one host"
                    .to_string(),
            );
        };
        if self.ending || self.failure.is_some() {
            return Err("the job is about to end".to_string());
        }
        let plan = self.plan_of(&call.request, here)?;
        let port = format!("spawn:{:016x}", plan.job_id);
        let programs = &call.request.programs;
        let how = Spawned {
            port: &port,
            paths: programs.iter().map(|it| it.path.as_deref()).collect(),
            appnums: programs.iter().map(|it| it.appnum).collect(),
        };
        let mut events = Vec::new();
        let Some(node) = &mut self.tree.node else {
            return Err("no process runs on the host of mpirun".to_string());
        };
        let inherited: Vars = std::env::vars_os().collect();
        let started = node.start_job(&plan, &how, &inherited, &self.base, &mut events);
        let (first, wrong) = started.map_err(|error| error.text)?;
        let numbers = first..first + plan.node_of.len() as u32;
        self.take_in(plan, &numbers, call);
        self.tree.add(events);
        self.learn();
        if let Some(text) = wrong {
            self.spawn_failed(numbers.start, &text);
        }
        let limit = crate::hosts::setting(&LAUNCH_TIMEOUT, &self.plan.env);
        self.at(limit, Task::CheckSpawn(first, limit));
        Ok(())
    }

    /// The plan of a job to be spawned on a node.
    fn plan_of(&self, request: &SpawnRequest, here: u32) -> Result<Plan, String> {
        let there = self.processes.iter().filter(|it| it.running).count() as u32;
        // Each needs three descriptors here.
        let files = (self.base.files.most().saturating_sub(SPARE_FILES) / 3).min(MAX_RANKS.into());
        let room = (files as u32).min(MAX_RANKS).saturating_sub(there);
        let counts = fit(&request.programs, room)?;
        let all: u32 = counts.iter().sum();
        for program in &request.programs {
            check_hosts(program)?;
        }
        let mut wish = self.plan.wish.clone();
        let mut seats = vec![0; all as usize];
        if !(request.map_by.is_empty() && request.bind_to.is_empty()) {
            wish = Wish {
                map_by: request.map_by.clone(),
                bind_to: request.bind_to.clone(),
                ..Wish::default()
            };
            let host = (self.plan.hosts[here as usize].clone(), all);
            seats = place::spots(&wish, &[host], &self.base.machine, Some(all))?.seats;
        }
        let app = |(it, &count): (&SpawnProgram, &u32)| App {
            count: Some(count),
            program: it.program.clone(),
            args: it.args.clone(),
            env: it.env.clone(),
            wdir: it.wdir.clone().map(Into::into),
        };
        Ok(Plan {
            job_id: server::job_id().map_err(|error| error.to_string())?,
            apps: request.programs.iter().zip(&counts).map(app).collect(),
            wish,
            psets: app_sets(&counts),
            node_of: vec![here; all as usize],
            seats,
            slots_of: Vec::new(),
            stdin: None,
            pmix: false,
            ..self.plan.clone()
        })
    }

    /// Takes in the processes of a job that was spawned.
    fn take_in(&mut self, plan: Plan, numbers: &Range<u32>, call: SpawnCall) {
        self.spawned += 1;
        let apps: Vec<Rc<App>> = plan.apps.iter().cloned().map(Rc::new).collect();
        for ((rank, app), &node) in (0..).zip(plan.appnums()).zip(&plan.node_of) {
            let tag = match self.tag {
                true => format!("[{}.{rank}] ", self.spawned),
                false => String::new(),
            };
            let number = numbers.start + rank;
            let app = apps[app as usize].clone();
            let mut process = Process::new(app, node, number, tag.as_bytes());
            (process.job, process.rank) = (self.spawned, rank);
            match self.processes.get_mut(number as usize) {
                Some(vacant) => *vacant = process,
                None => self.processes.push(process),
            }
        }
        self.spawning.push(Spawning {
            job: plan.job_id,
            numbers: numbers.clone(),
            port: format!("spawn:{:016x}", plan.job_id),
            caller: (call.number, call.ticket),
            counts: plan.apps.iter().filter_map(|app| app.count).collect(),
        });
    }

    /// A process has called MPI_Init: if it was the last one of its job, those who have
    /// spawned that are told.
    pub(super) fn spawn_joined(&mut self, number: u32) {
        let Some(at) = self.spawning_at(number) else {
            return;
        };
        let numbers = self.spawning[at].numbers.clone();
        let mut of = numbers.map(|number| &self.processes[number as usize]);
        if of.all(|process| process.joined.is_some()) {
            let Spawning {
                job,
                numbers,
                caller,
                counts,
                ..
            } = self.spawning.swap_remove(at);
            self.drop_tasks_of(&numbers);
            self.answer(caller.0, caller.1, Ok(SpawnAnswer { job, counts }));
        }
    }

    /// A process has ended; whether it was one of a job that comes to nothing then.
    pub(super) fn spawn_ended(&mut self, number: u32, exit: Exit) -> bool {
        let who = self.who(number);
        if self.spawning_at(number).is_some() {
            let text = report::ended(&who, exit).text.unwrap_or_default();
            let text = match self.processes[number as usize].joined {
                Some(_) => format!("{text} while others of its job had not called MPI_Init"),
                None => format!("{text} and had not called MPI_Init"),
            };
            self.spawn_failed(number, &text);
        }
        self.processes[number as usize].abandoned
    }

    /// A process of a job that is being spawned could not be started, or ended: the whole
    /// job comes to nothing, and those who have spawned it are told. Whether it was one.
    pub(super) fn spawn_failed(&mut self, number: u32, why: &str) -> bool {
        let Some(at) = self.spawning_at(number) else {
            return false;
        };
        let Spawning {
            numbers,
            port,
            caller,
            ..
        } = self.spawning.swap_remove(at);
        for number in numbers.clone() {
            self.processes[number as usize].abandoned = true;
        }
        if let Some(node) = &mut self.tree.node {
            node.abandon(&numbers, &port, why);
        }
        self.answer(caller.0, caller.1, Err(why.to_string()));
        true
    }

    /// The processes of a job have had this long to call MPI_Init.
    pub(super) fn check_spawn(&mut self, first: u32, limit: Duration) {
        let Some(at) = self.spawning_at(first) else {
            return;
        };
        let mut numbers = self.spawning[at].numbers.clone();
        let late = numbers.find(|&number| self.processes[number as usize].joined.is_none());
        let who = self.who(late.unwrap_or(first));
        let text = format!(
            "{who} has not called MPI_Init for {} s; a program that takes longer needs a higher \
             CATENA_LAUNCH_TIMEOUT",
            limit.as_secs()
        );
        self.spawn_failed(first, &text);
    }

    fn spawning_at(&self, number: u32) -> Option<usize> {
        let has = |it: &Spawning| it.numbers.contains(&number);
        self.spawning.iter().position(has)
    }
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

/// Whether a program may run on this host.
///
/// # Errors
/// If it shall run on others.
fn check_hosts(program: &SpawnProgram) -> Result<(), String> {
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
    let hosts = hosts.as_slice();
    match hosts.iter().find(|host| !is_here(&host.name)) {
        None => Ok(()),
        Some(host) => Err(format!(
            "the info keys name host {}, but processes can be spawned only on the host of mpirun \
            ({}) so far",
            host.name,
            catena_boot::host_name()
        )),
    }
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
    fn other_hosts_are_refused_by_name() {
        let on = |hosts: &str| SpawnProgram {
            hosts: vec![hosts.into()],
            ..SpawnProgram::default()
        };
        let here = format!("localhost:4,{}", catena_boot::host_name());
        assert_eq!(check_hosts(&on(&here)), Ok(()));
        let error = check_hosts(&on("localhost,elsewhere:2")).unwrap_err();
        assert!(error.contains("host elsewhere"), "{error}");
        assert!(check_hosts(&on("a:b:c")).is_err());
    }
}
