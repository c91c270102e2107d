//! Jobs that processes spawn: the launcher starts them, and tells who has spawned them
//! once all of their processes have called MPI_Init, or why they have not.

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use catena_boot::server::ports::SpawnCall;
use catena_boot::{LAUNCH_TIMEOUT, SpawnRequest, server};

use super::{Job, Process, Task};
use crate::MAX_RANKS;
use crate::args::App;
use crate::node::Vars;
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

    fn answer(&mut self, number: u32, ticket: u32, outcome: Result<u64, String>) {
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
        let paths: Vec<_> = call
            .request
            .programs
            .iter()
            .map(|it| it.path.as_deref())
            .collect();
        let mut events = Vec::new();
        let Some(node) = &mut self.tree.node else {
            return Err("no process runs on the host of mpirun".to_string());
        };
        let inherited: Vars = std::env::vars_os().collect();
        let started = node.start_job(&plan, (&port, &paths), &inherited, &self.base, &mut events);
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
        let counts: Vec<u32> = request.programs.iter().map(|it| it.count).collect();
        let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let there = self.processes.len() as u64;
        if counts.contains(&0) || all == 0 {
            return Err("a program is to be run by no process".to_string());
        }
        if all + there > MAX_RANKS.into() {
            return Err(format!(
                "{all} more processes are too many: a launcher can have at most {MAX_RANKS}"
            ));
        }
        let app = |it: &catena_boot::SpawnProgram| App {
            count: Some(it.count),
            program: it.program.clone(),
            args: it.args.clone(),
            env: it.env.clone(),
            wdir: it.wdir.clone().map(Into::into),
        };
        Ok(Plan {
            job_id: server::job_id().map_err(|error| error.to_string())?,
            apps: request.programs.iter().map(app).collect(),
            psets: app_sets(&counts),
            node_of: vec![here; all as usize],
            seats: vec![0; all as usize],
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
                ..
            } = self.spawning.swap_remove(at);
            self.drop_tasks_of(&numbers);
            self.answer(caller.0, caller.1, Ok(job));
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
