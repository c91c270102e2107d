//! Jobs that processes spawn: they are started, and those who have spawned them are told
//! once all of their processes have called MPI_Init, or why they have not.
//!
//! | module    | what it has                                        |
//! |-----------|----------------------------------------------------|
//! | `placing` | where their processes run                          |

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::mem;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use catena_boot::server::ports::{SpawnCall, SpawnCaller};
use catena_boot::{ElasticSet, LAUNCH_TIMEOUT, SpawnAnswer, SpawnRequest};
use catena_job::{App, Brief, Exit, Means, NewJob, NodeCommand, Plan, Vars, setting};

use super::nodes::Nodes;
use super::placing::Space;
use super::process::{Process, Processes};
use crate::hosts::manager::Launcher;
use crate::node::Node;
use crate::report;

/// How hosts are reached that have no part in the job yet.
#[derive(Clone, Debug)]
pub struct Reach {
    /// An agent starts a daemon on each, or a resource manager does.
    pub launcher: Launcher,
    /// What takes the place of the resource manager's command.
    pub agent: Option<Vec<OsString>>,
    /// How daemons are started and kept.
    pub means: Means,
}

impl Reach {
    /// The command of the resource manager that starts daemons on these hosts; none if the agent
    /// does.
    pub fn command(&self, hosts: &[&str]) -> Option<Vec<OsString>> {
        match self.launcher.agent() {
            Some(_) => None,
            None => Some(self.launcher.command(self.agent.as_deref(), hosts)),
        }
    }
}

/// Who has spawned a job.
#[derive(Clone, Copy, Debug)]
pub enum Caller {
    /// A process, which may have ended by the time that there is an answer.
    Process(SpawnCaller),
    /// Who has the job grow.
    User,
}

/// A job of which not all processes have called MPI_Init.
struct Spawning {
    job: u64,
    /// The numbers of its processes.
    numbers: Range<u32>,
    /// Where those who have spawned it wait.
    port: String,
    caller: Caller,
    /// How many processes run each program.
    counts: Vec<u32>,
}

/// A job that was spawned and that some node still knows.
struct Living {
    new: Arc<NewJob>,
    /// The process that has spawned it.
    spawner: Option<SpawnCaller>,
    /// The nodes that have not told all of it, once it is to be forgotten.
    leaving: Option<BTreeSet<u32>>,
    /// The nodes whose ranks wait in its fence, and what they have brought.
    fencing: BTreeSet<u32>,
    parts: Vec<u8>,
}

impl Living {
    /// Whether the process with that number is in it.
    fn has(&self, number: u32) -> bool {
        self.new.numbers().contains(&number)
    }
}

/// Starts jobs, and knows those that were spawned.
pub struct Spawner {
    /// The plan of the first job, with all hosts that have come since.
    plan: Plan,
    /// How hosts are reached that have no part in the job yet.
    reach: Reach,
    /// How long a job's processes may take to call MPI_Init.
    limit: Duration,
    /// How many jobs were spawned, and those of which not all have called MPI_Init.
    spawned: u32,
    spawning: Vec<Spawning>,
    /// The jobs that were spawned and that some node still knows.
    living: Vec<Living>,
    /// What has become of the job by which the user has this one grow, until that is taken in.
    grown: Option<Result<SpawnAnswer, String>>,
    /// Whether a process of a job that was spawned has ended, or a failure was judged, since ended
    /// jobs were looked for.
    some_ended: bool,
}

impl Spawner {
    /// One for a job by that plan.
    pub fn new(plan: Plan, reach: Reach) -> Spawner {
        Spawner {
            limit: setting(&LAUNCH_TIMEOUT, &plan.env),
            plan,
            reach,
            spawned: 0,
            spawning: Vec::new(),
            living: Vec::new(),
            grown: None,
            some_ended: false,
        }
    }

    /// The numbers of the jobs, the first one first.
    pub fn job_ids(&self) -> impl Iterator<Item = u64> {
        let living = self.living.iter().map(|it| it.new.plan.job_id);
        std::iter::once(self.plan.job_id).chain(living)
    }

    /// The plan of the first job, with all hosts that have come since.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How long a job's processes may take to call MPI_Init.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// A node is used again only where it is named.
    pub fn leave_node(&mut self, node: u32) {
        self.plan.room[node as usize] = 0;
    }

    /// What processes want to have spawned, where those that they have given up before were ended.
    pub fn take_calls(&mut self, processes: &mut Processes, nodes: &mut Nodes) -> Vec<SpawnCall> {
        self.take_given_up(processes, nodes);
        nodes.server(Node::take_spawn_calls)
    }

    /// Ends jobs that those who have spawned them have not met.
    pub fn take_given_up(&mut self, processes: &mut Processes, nodes: &mut Nodes) {
        for (number, port) in nodes.server(Node::take_given_up) {
            self.give_up(number, Some(&port), processes, nodes);
        }
    }

    /// Tells who has spawned a job what has become of it.
    pub fn answer(
        &mut self,
        caller: Caller,
        outcome: Result<SpawnAnswer, String>,
        nodes: &mut Nodes,
    ) {
        match caller {
            Caller::Process(caller) => nodes.server(|node| node.answer_spawn(caller, outcome)),
            Caller::User => self.grown = Some(outcome),
        }
    }

    /// What has become of the job by which the user has this one grow, once.
    pub fn take_grown(&mut self) -> Option<Result<SpawnAnswer, String>> {
        self.grown.take()
    }

    /// Starts a job, and gives the numbers of its processes, which come to `processes`.
    ///
    /// # Errors
    /// Why it cannot be placed, and what to do.
    pub fn spawn(
        &mut self,
        request: &SpawnRequest,
        caller: Caller,
        processes: &mut Processes,
        nodes: &mut Nodes,
    ) -> Result<Range<u32>, String> {
        let mut space = Space {
            plan: &mut self.plan,
            processes,
            own: nodes.tree.node.as_ref().map(Node::number),
            base: &nodes.base,
        };
        let plan = space.plan_of(request)?;
        let size = plan.node_of.len() as u32;
        let Some(first) = nodes.tree.with_node(|node| node.reserve(size)) else {
            return Err("mpirun serves no processes".to_string());
        };
        let programs = &request.programs;
        let new = Arc::new(NewJob {
            first,
            runs: false,
            universe: plan.universe_size(processes.running()),
            port: match caller {
                Caller::Process(..) => format!("spawn:{:016x}", plan.job_id),
                Caller::User => ElasticSet::port(plan.job_id),
            },
            paths: programs.iter().map(|it| it.path.clone()).collect(),
            appnums: programs.iter().map(|it| it.appnum).collect(),
            plan,
        });
        self.take_in(&new, caller, processes);
        nodes.tree.learn(&new);
        self.add_nodes(&new, nodes);
        nodes.command(&NodeCommand::StartJob(new.clone()));
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
        nodes.tree.start_job(&new, &inherited, &nodes.base);
        Ok(new.numbers())
    }

    /// Starts a daemon on each host of a new job that has none.
    fn add_nodes(&self, new: &NewJob, nodes: &mut Nodes) {
        let on: BTreeSet<u32> = new.plan.node_of.iter().copied().collect();
        for node in on {
            if nodes.tree.reaches(node) {
                continue;
            }
            let host = self.plan.hosts[node as usize].as_str();
            let command = self.reach.command(&[host]);
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
            let base = &nodes.base;
            nodes.tree.add_node(node, command, &brief, &jobs, base);
        }
    }

    /// Takes in the processes of a job that was spawned.
    fn take_in(&mut self, new: &NewJob, caller: Caller, processes: &mut Processes) {
        self.spawned += 1;
        let plan = &new.plan;
        let apps: Vec<Rc<App>> = plan.apps.iter().cloned().map(Rc::new).collect();
        for ((rank, app), &node) in (0..).zip(plan.appnums()).zip(&plan.node_of) {
            let app = apps[app as usize].clone();
            let host = plan.hosts[node as usize].as_str().into();
            let process = Process::new(app, node, host, self.spawned, rank);
            processes.put(new.first + rank, process);
        }
        self.spawning.push(Spawning {
            job: plan.job_id,
            numbers: new.numbers(),
            port: new.port.clone(),
            caller,
            counts: plan.apps.iter().filter_map(|app| app.count).collect(),
        });
    }

    /// All ranks of a spawned job that are on a node wait in a fence.
    pub fn fenced(
        &mut self,
        node: u32,
        first: u32,
        parts: &[u8],
        processes: &Processes,
        nodes: &mut Nodes,
    ) {
        if let Some(of) = self.living.iter_mut().find(|it| it.new.first == first) {
            of.fencing.insert(node);
            of.parts.extend_from_slice(parts);
        }
        self.check_fences(processes, nodes);
    }

    /// Ends the fences of spawned jobs that wait for nobody any more.
    pub fn check_fences(&mut self, processes: &Processes, nodes: &mut Nodes) {
        for of in &mut self.living {
            let waits = |number: u32| {
                let process = &processes[number];
                !process.running || of.fencing.contains(&process.node)
            };
            if of.fencing.is_empty() || !of.new.numbers().all(waits) {
                continue;
            }
            of.fencing.clear();
            let first = of.new.first;
            let parts = mem::take(&mut of.parts).into();
            nodes.command(&NodeCommand::EndJobFence { first, parts });
        }
    }

    /// A process has called MPI_Init: if it was the last one of its job, those who have
    /// spawned that are told. The numbers of that job then.
    pub fn joined(
        &mut self,
        number: u32,
        processes: &Processes,
        nodes: &mut Nodes,
    ) -> Option<Range<u32>> {
        let at = self.spawning_at(number)?;
        let mut numbers = self.spawning[at].numbers.clone();
        let is_there = |number| match self.spawning[at].caller {
            Caller::Process(..) => processes[number].joined.is_some(),
            // Nobody meets them at a port first.
            Caller::User => nodes.is_ready(number),
        };
        if !numbers.all(is_there) {
            return None;
        }
        let Spawning {
            job,
            numbers,
            caller,
            counts,
            ..
        } = self.spawning.swap_remove(at);
        self.answer(caller, Ok(SpawnAnswer { job, counts }), nodes);
        Some(numbers)
    }

    /// The processes of a job that was started so that this one grows may be ready by now: the
    /// numbers of that job then.
    pub fn check_growth(&mut self, processes: &Processes, nodes: &mut Nodes) -> Option<Range<u32>> {
        let by_user = |it: &&Spawning| matches!(it.caller, Caller::User);
        let first = self.spawning.iter().find(by_user)?.numbers.start;
        self.joined(first, processes, nodes)
    }

    /// A process has ended; whether it was one of a job that comes to nothing then.
    pub fn ended(
        &mut self,
        number: u32,
        exit: Exit,
        processes: &mut Processes,
        nodes: &mut Nodes,
    ) -> bool {
        let text = report::ended(&processes[number].who(), exit).text;
        let text = text.unwrap_or_default();
        if self.is_spawning(number) {
            let text = match processes[number].joined {
                Some(_) => format!("{text} while others of its job had not called MPI_Init"),
                None => format!("{text} and had not called MPI_Init"),
            };
            self.failed(number, &text, processes, nodes);
        } else if let Some(port) = self.is_met_at(number, nodes) {
            let text = format!("{text} in MPI_Init");
            self.abandon_spawned(&port, &text, processes, nodes);
        }
        processes[number].abandoned
    }

    /// A process fails, and why; whether it is of a job that comes to nothing then, as those who
    /// have spawned it have not met it.
    pub fn aborted(
        &mut self,
        number: u32,
        why: &str,
        processes: &mut Processes,
        nodes: &mut Nodes,
    ) -> bool {
        self.take_given_up(processes, nodes);
        if let Some(port) = self.is_met_at(number, nodes) {
            self.abandon_spawned(&port, why, processes, nodes);
        }
        let process = &processes[number];
        process.job > 0 && process.abandoned
    }

    /// The port at which the job of a process is being met by those who have spawned it, if it is.
    fn is_met_at(&self, number: u32, nodes: &mut Nodes) -> Option<String> {
        let of = self.living.iter().find(|of| of.has(number))?;
        of.spawner?;
        let port = of.new.port.clone();
        let is_met = nodes.server(|node| node.is_awaited_at(&port));
        is_met.then_some(port)
    }

    /// Ends a job that those who have spawned it do not meet, and tells them why.
    fn abandon_spawned(&self, port: &str, why: &str, processes: &mut Processes, nodes: &mut Nodes) {
        let of = self.living.iter().find(|of| of.new.port == port);
        if let Some(of) = of {
            abandon(of.new.numbers(), port, why, processes, nodes);
        }
    }

    /// A process of a job that is being spawned could not be started, or ended: the whole
    /// job comes to nothing, and those who have spawned it are told. Whether it was one.
    pub fn failed(
        &mut self,
        number: u32,
        why: &str,
        processes: &mut Processes,
        nodes: &mut Nodes,
    ) -> bool {
        let Some(at) = self.spawning_at(number) else {
            return false;
        };
        let Spawning {
            numbers,
            port,
            caller,
            ..
        } = self.spawning.swap_remove(at);
        abandon(numbers, &port, why, processes, nodes);
        self.answer(caller, Err(why.to_string()), nodes);
        true
    }

    /// The job does not grow by the one with that random number, whose processes would wait for the
    /// others.
    pub fn give_up_growth(
        &mut self,
        job: u64,
        why: &str,
        processes: &mut Processes,
        nodes: &mut Nodes,
    ) {
        let of = self.living.iter().find(|of| of.new.plan.job_id == job);
        if let Some(of) = of {
            abandon(of.new.numbers(), &of.new.port, why, processes, nodes);
        }
    }

    /// A process does not come to the jobs that it has spawned, whose processes would wait for it:
    /// to the one with that port, as its call has failed, or to any, as it has ended.
    pub fn give_up(
        &mut self,
        number: u32,
        port: Option<&str>,
        processes: &mut Processes,
        nodes: &mut Nodes,
    ) {
        let name = nodes.server(|node| node.name_of(number));
        let is_it = |it: SpawnCaller| it.number == number && name.is_some_and(|of| of.0 == it.job);
        let is_meant = |of: &&Living| {
            of.spawner.is_some_and(is_it) && port.is_none_or(|port| of.new.port == port)
        };
        for of in self.living.iter().filter(is_meant) {
            let own = &of.new.port;
            if port.is_some() || nodes.server(|node| node.is_awaited_at(own)) {
                let why = "those who have spawned this job do not come to meet it";
                abandon(of.new.numbers(), own, why, processes, nodes);
            }
        }
    }

    /// The processes of the job with that first number have had [`Spawner::limit`] to call
    /// MPI_Init.
    pub fn check_start(&mut self, first: u32, processes: &mut Processes, nodes: &mut Nodes) {
        let Some(at) = self.spawning_at(first) else {
            return;
        };
        let mut numbers = self.spawning[at].numbers.clone();
        let late = numbers.find(|&number| processes[number].joined.is_none());
        let text = format!(
            "{} has not called MPI_Init for {} s; a program that takes longer needs a higher \
             CATENA_LAUNCH_TIMEOUT",
            processes[late.unwrap_or(first)].who(),
            self.limit.as_secs_f64()
        );
        self.failed(first, &text, processes, nodes);
    }

    fn spawning_at(&self, number: u32) -> Option<usize> {
        let has = |it: &Spawning| it.numbers.contains(&number);
        self.spawning.iter().position(has)
    }

    /// Whether not all processes of a process's job have called MPI_Init.
    pub fn is_spawning(&self, number: u32) -> bool {
        self.spawning_at(number).is_some()
    }

    /// The numbers of the job with that random number.
    pub fn numbers_of(&self, job: u64) -> Range<u32> {
        let of = self.living.iter().find(|it| it.new.plan.job_id == job);
        of.map(|it| it.new.numbers()).unwrap_or_default()
    }

    /// Something has happened after which a spawned job may be over.
    pub fn note_end(&mut self) {
        self.some_ended = true;
    }

    /// Whether something has happened after which a spawned job may be over, since this was asked
    /// last.
    pub fn take_end(&mut self) -> bool {
        mem::take(&mut self.some_ended)
    }

    /// Forgets a job about whose processes there is nothing left to be said, so that those that
    /// come and go leave nothing. Whether all nodes have: its numbers are for others then.
    pub fn forget(&mut self, numbers: &Range<u32>, nodes: &mut Nodes) -> bool {
        let number = numbers.start;
        let Some(at) = self.living.iter().position(|it| it.has(number)) else {
            return false;
        };
        if self.living[at].leaving.is_none() {
            if nodes.server(|node| node.is_awaited(number)) {
                self.some_ended = true;
                return false;
            }
            // Those that have had its processes tell first what they have not told yet. The others
            // know its numbers, too, and would take those of the next job that has them for its
            // own.
            self.living[at].leaving = Some(nodes.tree.nodes_reached().collect());
            let numbers = numbers.clone();
            nodes.command(&NodeCommand::ForgetJob { numbers });
            nodes.tree.forget_jobs(&nodes.base);
        }
        let is_left = self.living[at].leaving.as_mut().is_none_or(|left| {
            left.retain(|node| nodes.tree.reaches(*node));
            left.is_empty()
        });
        if is_left {
            self.living.swap_remove(at);
        }
        is_left
    }

    /// A node has told all of a job.
    pub fn forgotten(&mut self, node: u32, first: u32) {
        if let Some(living) = self.living.iter_mut().find(|it| it.has(first)) {
            if let Some(nodes) = &mut living.leaving {
                nodes.remove(&node);
            }
            self.some_ended = true;
        }
    }
}

/// Ends the processes of a job that comes to nothing, and tells those who wait for it at its port.
fn abandon(
    numbers: Range<u32>,
    port: &str,
    why: &str,
    processes: &mut Processes,
    nodes: &mut Nodes,
) {
    processes.abandon(numbers.clone());
    nodes.server(|node| node.close_port(port, why));
    nodes.kill(numbers, libc::SIGKILL);
}
