//! Jobs that processes spawn: the launcher starts them, and tells who has spawned them
//! once all of their processes have called MPI_Init, or why they have not.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use catena_boot::server::ports::{SpawnCall, SpawnCaller};
use catena_boot::{ElasticSet, LAUNCH_TIMEOUT, SpawnAnswer, SpawnRequest};
use catena_job::{App, Brief, Exit, NewJob, NodeCommand, setting};

use super::{Job, Process, Task};
use crate::node::{Node, Vars};
use crate::report;

/// Who has spawned a job.
#[derive(Clone, Copy, Debug)]
pub(super) enum Caller {
    /// A process, which may have ended by the time that there is an answer.
    Process(SpawnCaller),
    /// Who has the job grow.
    User,
}

/// A job of which not all processes have called MPI_Init.
pub(super) struct Spawning {
    job: u64,
    /// The numbers of its processes.
    numbers: Range<u32>,
    /// Where those who have spawned it wait.
    port: String,
    caller: Caller,
    /// How many processes run each program.
    counts: Vec<u32>,
}

impl Spawning {
    /// Whether the process with that number is in it.
    pub fn has(&self, number: u32) -> bool {
        self.numbers.contains(&number)
    }

    /// The number of its first process, if the user has the job grow by it.
    pub fn growth(&self) -> Option<u32> {
        matches!(self.caller, Caller::User).then_some(self.numbers.start)
    }
}

/// A job that was spawned and that some node still knows.
pub(super) struct Living {
    new: Arc<NewJob>,
    /// The process that has spawned it.
    spawner: Option<SpawnCaller>,
    /// The nodes that have not told all of it, once it is to be forgotten.
    pub leaving: Option<BTreeSet<u32>>,
    /// The nodes whose ranks wait in its fence, and what they have brought.
    fencing: BTreeSet<u32>,
    parts: Vec<u8>,
}

impl Living {
    /// Whether the process with that number is in it.
    pub fn has(&self, number: u32) -> bool {
        self.new.numbers().contains(&number)
    }

    /// Its random number.
    pub fn job(&self) -> u64 {
        self.new.plan.job_id
    }

    /// The numbers of its processes.
    pub fn numbers(&self) -> Range<u32> {
        self.new.numbers()
    }
}

impl Job {
    /// Starts what processes have spawned.
    pub(super) fn take_spawns(&mut self) {
        self.take_given_up();
        let calls = self.tree.with_node(|node| node.take_spawn_calls());
        for call in calls.unwrap_or_default() {
            let SpawnCall { caller, request } = call;
            let caller = Caller::Process(caller);
            if let Err(text) = self.spawn(&request, caller) {
                self.answer(caller, Err(text));
            }
        }
    }

    /// Ends jobs that those who have spawned them have not met.
    pub(super) fn take_given_up(&mut self) {
        let given_up = self.tree.with_node(|node| node.take_given_up());
        for (number, port) in given_up.unwrap_or_default() {
            self.give_up_spawned(number, Some(&port));
        }
    }

    fn answer(&mut self, caller: Caller, outcome: Result<SpawnAnswer, String>) {
        match caller {
            Caller::Process(caller) => drop(
                self.tree
                    .with_node(|node| node.answer_spawn(caller, outcome)),
            ),
            Caller::User => self.grown = Some(outcome),
        }
    }

    /// Starts a job.
    pub(super) fn spawn(&mut self, request: &SpawnRequest, caller: Caller) -> Result<(), String> {
        if self.ending || self.failure.is_some() {
            return Err("the job is about to end".to_string());
        }
        let plan = self.plan_of(request)?;
        let size = plan.node_of.len() as u32;
        let Some(first) = self.tree.with_node(|node| node.reserve(size)) else {
            return Err("mpirun serves no processes".to_string());
        };
        let running = self.processes.iter().filter(|it| it.running).count() as u32;
        let programs = &request.programs;
        let new = Arc::new(NewJob {
            first,
            runs: false,
            universe: plan.universe_size(running),
            port: match caller {
                Caller::Process(..) => format!("spawn:{:016x}", plan.job_id),
                Caller::User => ElasticSet::port(plan.job_id),
            },
            paths: programs.iter().map(|it| it.path.clone()).collect(),
            appnums: programs.iter().map(|it| it.appnum).collect(),
            plan,
        });
        self.take_in(&new, caller);
        self.tree.learn(&new);
        self.add_nodes(&new);
        self.command(&NodeCommand::StartJob(new.clone()));
        self.living.push(Living {
            new: new.clone(),
            spawner: match caller {
                Caller::Process(caller) => Some(caller),
                Caller::User => None,
            },
            leaving: None,
            fencing: BTreeSet::new(),
            parts: Vec::new(),
        });
        let inherited: Vars = std::env::vars_os().collect();
        self.tree.start_job(&new, &inherited, &self.base);
        self.learn();
        let limit = setting(&LAUNCH_TIMEOUT, &self.plan.env);
        if self.spawning_at(first).is_some() {
            self.at(limit, Task::CheckSpawn(first, limit));
        }
        Ok(())
    }

    /// Starts a daemon on each host of a new job that has none.
    fn add_nodes(&mut self, new: &NewJob) {
        let nodes: BTreeSet<u32> = new.plan.node_of.iter().copied().collect();
        for node in nodes {
            if self.tree.reaches(node) {
                continue;
            }
            let command = self
                .reach
                .command(&[self.plan.hosts[node as usize].as_str()]);
            let brief = Brief {
                plan: self.plan.clone(),
                means: self.reach.means.clone(),
                env: std::env::vars_os().collect(),
                directory: std::env::current_dir().unwrap_or_default().into(),
                late: true,
            };
            // Those that leave it could not be told to forget.
            let stay = self.living.iter().filter(|it| it.leaving.is_none());
            let jobs: Vec<_> = stay.map(|it| it.new.clone()).collect();
            let base = &self.base;
            self.tree.add_node(node, command, &brief, &jobs, base);
        }
    }

    /// All ranks of a spawned job that are on a node wait in a fence.
    pub(super) fn job_fenced(&mut self, node: u32, first: u32, parts: &[u8]) {
        if let Some(of) = self.living.iter_mut().find(|it| it.new.first == first) {
            of.fencing.insert(node);
            of.parts.extend_from_slice(parts);
        }
        self.check_job_fences();
    }

    /// Ends the fences of spawned jobs that wait for nobody any more.
    pub(super) fn check_job_fences(&mut self) {
        for at in 0..self.living.len() {
            let of = &self.living[at];
            let mut numbers = of.new.numbers();
            let waits = |number: u32| {
                let process = &self.processes[number as usize];
                !process.running || of.fencing.contains(&process.node)
            };
            if of.fencing.is_empty() || !numbers.all(waits) {
                continue;
            }
            let first = of.new.first;
            self.living[at].fencing.clear();
            let parts = std::mem::take(&mut self.living[at].parts).into();
            self.command(&NodeCommand::EndJobFence { first, parts });
        }
    }

    /// Takes in the processes of a job that was spawned.
    fn take_in(&mut self, new: &NewJob, caller: Caller) {
        self.spawned += 1;
        let plan = &new.plan;
        let apps: Vec<Rc<App>> = plan.apps.iter().cloned().map(Rc::new).collect();
        for ((rank, app), &node) in (0..).zip(plan.appnums()).zip(&plan.node_of) {
            let tag = self.output.tag(&format!("{}.{rank}", self.spawned));
            let number = new.first + rank;
            let app = apps[app as usize].clone();
            let mut process = Process::new(app, node, number, &tag);
            (process.job, process.rank) = (self.spawned, rank);
            match self.processes.get_mut(number as usize) {
                Some(vacant) => *vacant = process,
                None => self.processes.push(process),
            }
        }
        self.spawning.push(Spawning {
            job: plan.job_id,
            numbers: new.numbers(),
            port: new.port.clone(),
            caller,
            counts: plan.apps.iter().filter_map(|app| app.count).collect(),
        });
    }

    /// A process has called MPI_Init: if it was the last one of its job, those who have
    /// spawned that are told.
    pub(super) fn spawn_joined(&mut self, number: u32) {
        let Some(at) = self.spawning_at(number) else {
            return;
        };
        let mut numbers = self.spawning[at].numbers.clone();
        let is_there = |number| match self.spawning[at].caller {
            Caller::Process(..) => self.processes[number as usize].joined.is_some(),
            // Nobody meets them at a port first.
            Caller::User => self.is_ready(number),
        };
        if numbers.all(is_there) {
            let Spawning {
                job,
                numbers,
                caller,
                counts,
                ..
            } = self.spawning.swap_remove(at);
            self.drop_tasks_of(&numbers);
            self.answer(caller, Ok(SpawnAnswer { job, counts }));
        }
    }

    /// A process has ended; whether it was one of a job that comes to nothing then.
    pub(super) fn spawn_ended(&mut self, number: u32, exit: Exit) -> bool {
        let text = report::ended(&self.who(number), exit).text;
        let text = text.unwrap_or_default();
        if self.spawning_at(number).is_some() {
            let text = match self.processes[number as usize].joined {
                Some(_) => format!("{text} while others of its job had not called MPI_Init"),
                None => format!("{text} and had not called MPI_Init"),
            };
            self.spawn_failed(number, &text);
        } else if let Some(port) = self.is_met_at(number) {
            let text = format!("{text} in MPI_Init");
            self.abandon_spawned(&port, &text);
        }
        self.processes[number as usize].abandoned
    }

    /// A process fails, and why; whether it is of a job that comes to nothing then, as those who have spawned it have not met it.
    pub(super) fn spawn_aborted(&mut self, number: u32, why: &str) -> bool {
        self.take_given_up();
        if let Some(port) = self.is_met_at(number) {
            self.abandon_spawned(&port, why);
        }
        let process = &self.processes[number as usize];
        process.job > 0 && process.abandoned
    }

    /// The port at which the job of a process is being met by those who have spawned it, if it is.
    fn is_met_at(&mut self, number: u32) -> Option<String> {
        let of = self.living.iter().find(|of| of.has(number))?;
        of.spawner?;
        let port = of.new.port.clone();
        let is_met = self.tree.with_node(|node| node.is_awaited_at(&port)) == Some(true);
        is_met.then_some(port)
    }

    /// Ends a job that those who have spawned it do not meet, and tells them why.
    fn abandon_spawned(&mut self, port: &str, why: &str) {
        let of = self.living.iter().find(|of| of.new.port == port);
        if let Some(numbers) = of.map(Living::numbers) {
            self.abandon(numbers, port, why);
        }
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
        self.abandon(numbers, &port, why);
        self.answer(caller, Err(why.to_string()));
        true
    }

    /// The job does not grow by the one with that random number, whose processes would wait for the others.
    pub(super) fn give_up_growth(&mut self, job: u64, why: &str) {
        let of = self.living.iter().find(|of| of.job() == job);
        if let Some((numbers, port)) = of.map(|of| (of.numbers(), of.new.port.clone())) {
            self.abandon(numbers, &port, why);
        }
    }

    /// Ends the processes of a job that comes to nothing.
    fn abandon(&mut self, numbers: Range<u32>, port: &str, why: &str) {
        for number in numbers.clone() {
            self.processes[number as usize].abandoned = true;
        }
        self.tree.with_node(|node| node.close_port(port, why));
        let signal = libc::SIGKILL;
        self.command(&NodeCommand::SignalJob { numbers, signal });
    }

    /// A process does not come to the jobs that it has spawned, whose processes would wait for it: to the one with
    /// that port, as its call has failed, or to any, as it has ended.
    pub(super) fn give_up_spawned(&mut self, number: u32, port: Option<&str>) {
        let name = self.tree.with_node(|node| node.name_of(number)).flatten();
        let is_it = |it: SpawnCaller| it.number == number && name.is_some_and(|of| of.0 == it.job);
        let is_meant = |of: &&Living| {
            of.spawner.is_some_and(is_it) && port.is_none_or(|port| of.new.port == port)
        };
        let port_is_given = port.is_some();
        let jobs = self.living.iter().filter(is_meant);
        for new in jobs.map(|of| of.new.clone()).collect::<Vec<_>>() {
            let port = &new.port;
            let is_awaited = |node: &mut Node| node.is_awaited_at(port);
            if port_is_given || self.tree.with_node(is_awaited) == Some(true) {
                let why = "those who have spawned this job do not come to meet it";
                self.abandon(new.numbers(), port, why);
            }
        }
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
            limit.as_secs_f64()
        );
        self.spawn_failed(first, &text);
    }

    fn spawning_at(&self, number: u32) -> Option<usize> {
        let has = |it: &Spawning| it.numbers.contains(&number);
        self.spawning.iter().position(has)
    }
}
