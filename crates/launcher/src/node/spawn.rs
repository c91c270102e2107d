//! Starting one more job on a node, which processes have spawned.

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;

use catena_boot::server::ports::SpawnCall;
use catena_boot::{Job as World, SpawnAnswer};

use super::start::{self, How, Input, Starter, Vars};
use super::{Local, Node};
use crate::base::Base;
use crate::launch::system;
use crate::library;
use crate::message::NodeEvent;
use crate::place::Binding;
use crate::plan::Plan;
use crate::program::{self, ProgramError};
use crate::sys::{self, Strings};
use crate::takeover::Home;

/// How a job differs that was spawned.
pub struct Spawned<'a> {
    /// The port at which those who have spawned it wait.
    pub port: &'a str,
    /// Where the program of each app is looked for, if not in `PATH`.
    pub paths: Vec<Option<&'a OsStr>>,
    /// What the processes of each app find as `MPI_APPNUM`, if not its number.
    pub appnums: Vec<Option<u32>>,
}

impl Node {
    /// What processes here want that only the launcher as a whole can do.
    pub fn take_spawn_calls(&mut self) -> Vec<SpawnCall> {
        self.server.take_spawn_calls()
    }

    /// Answers a process that has spawned: with the job, or why there is none.
    pub fn answer_spawn(&mut self, number: u32, ticket: u32, outcome: Result<SpawnAnswer, String>) {
        self.server.spawned(number, ticket, outcome);
        self.notify();
    }

    /// A job that was spawned comes to nothing: nobody meets it, and its processes are
    /// killed with their children.
    pub fn abandon(&mut self, numbers: &Range<u32>, port: &str, why: &str) {
        self.server.close_port(port, why);
        self.notify();
        self.signal_job(numbers, libc::SIGKILL);
    }

    /// Whether rank 0 has started this launcher, and is no child of it.
    pub fn has_guest(&self) -> bool {
        self.guest.is_some()
    }

    /// The numbers of the jobs that are connected to that of a process.
    pub fn connected_to(&self, number: u32) -> Vec<Range<u32>> {
        self.server.connected_to(number)
    }

    /// Sends a signal to processes with these numbers and their children.
    pub fn signal_job(&self, numbers: &Range<u32>, signal: i32) {
        if numbers.contains(&0) {
            self.signal_guest(signal);
        }
        let of = |it: &&Local| numbers.contains(&it.rank);
        for process in self.processes.iter().flatten().filter(of) {
            sys::kill_group(process.pid, signal);
            if signal == libc::SIGTERM {
                // So that one that is stopped gets to know.
                sys::kill_group(process.pid, libc::SIGCONT);
            }
        }
    }

    /// Forgets a job that was spawned, all of whose processes have ended, with their children
    /// and what there is of their output; false if nobody takes that yet, or somebody has
    /// met the job and still asks for it.
    pub fn forget(
        &mut self,
        numbers: &Range<u32>,
        base: &Base,
        events: &mut Vec<NodeEvent>,
    ) -> bool {
        if self.server.is_awaited(numbers.start) {
            return false;
        }
        self.signal_job(numbers, libc::SIGKILL);
        let of = |it: &Option<Local>| it.as_ref().is_some_and(|it| numbers.contains(&it.rank));
        let places = (0..self.processes.len()).filter(|&at| of(&self.processes[at]));
        for at in places.collect::<Vec<_>>() {
            for which in 0..2 {
                while !self.paused[which] && self.read(at, which, &base.poller, events) {}
                if self.paused[which] {
                    return false;
                }
            }
            let Some(process) = self.processes[at].take() else {
                continue;
            };
            // Others may have inherited these, and write no more.
            for pipe in process.pipes.iter().flatten() {
                let _ = base.poller.remove(pipe);
            }
            base.watchdog.forget(process.pid);
            process.bury();
        }
        while self.processes.pop_if(|last| last.is_none()).is_some() {}
        self.notifiers.retain(|(of, _)| of != numbers);
        self.server.forget(numbers.start);
        self.notify();
        true
    }

    /// Starts the processes of one more job, all of which are to run here; `inherited` is
    /// what their environment begins with.
    ///
    /// Gives the number of its rank 0, and what went wrong once the first was started, if
    /// something did.
    ///
    /// # Errors
    /// If the programs cannot be found, or the system is short of something, before any
    /// process was started.
    pub fn start_job(
        &mut self,
        plan: &Plan,
        how: &Spawned<'_>,
        inherited: &Vars,
        base: &Base,
        events: &mut Vec<NodeEvent>,
    ) -> Result<(u32, Option<String>), ProgramError> {
        let own_path = inherited.iter().find(|(name, _)| name == "PATH");
        let own_path = own_path.map_or(OsStr::new(start::PATH), |(_, path)| path);
        let count = (self.processes.iter().flatten().count() + plan.node_of.len()) as u64;
        let (files, most) = (count * 3 + start::SPARE_FILES, base.files.most());
        if most < files {
            let text = format!(
                "{count} processes need {files} open files, but the limit is {most}; raise it \
                 (ulimit -n) or start fewer"
            );
            return Err(ProgramError { status: 1, text });
        }
        let home = Home::find();
        let names = start::own_names(None);
        let mut programs = Vec::new();
        for (app, (given, ranks)) in plan.apps.iter().zip(plan.ranks_of_apps()).enumerate() {
            let program = program::find(given, how.paths[app].unwrap_or(own_path))?;
            let mut vars = start::variables(plan, app, inherited, &names);
            let choice = start::choose(plan, &program, &vars, home.as_ref());
            for note in choice.notes {
                let (text, matters) = (note.text, note.matters);
                events.push(NodeEvent::Note { text, matters });
            }
            if home.is_some() {
                library::set_search(&mut vars, choice.search);
            }
            let env = start::environment(&vars, &program.name, names.len())?;
            let args = Strings::new(program.args.clone());
            let shell_args = Strings::new(start::shell_args(&program));
            programs.push((ranks, program, env, args, shell_args));
        }
        let null = File::open("/dev/null").map_err(system)?;
        let cpus = catena_boot::available_cpus();
        let size = plan.node_of.len() as u32;
        let world = World {
            size,
            universe_size: plan.universe_size(self.processes.iter().flatten().count() as u32),
            job_id: plan.job_id,
            secret: plan.secret.clone(),
            node_of: plan.node_of.clone().into(),
            hosts: plan.hosts.clone().into(),
            psets: plan.psets.clone(),
            parent: Some(how.port.to_string()),
            ..World::singleton(String::new(), cpus)
        };
        let appnum = |app: u32| how.appnums[app as usize].unwrap_or(app);
        let appnums = plan.appnums().into_iter().map(appnum).collect();
        let wish = &plan.wish;
        let bound = match wish.map_by.is_empty() && wish.bind_to.is_empty() {
            // With others that run here, too.
            true => Vec::new(),
            false => {
                let binding = Binding::new(plan, self.number, base.machine.clone(), None);
                let binding = binding.map_err(|text| ProgramError { status: 1, text })?;
                binding.cpus
            }
        };
        let first = self.server.add_spawned(world, appnums).map_err(system)?;
        let starter = Starter {
            base,
            plan,
            null,
            input: Input::Inherited,
            cpus: bound,
            first,
            spawned: true,
        };
        for (ranks, program, env, args, shell_args) in &mut programs {
            for rank in ranks {
                let one = How {
                    rank,
                    program,
                    args,
                    shell_args,
                };
                if let Err(error) = starter.start(self, &one, env, events) {
                    let text = format!("rank {rank} of {size} could not be started: {error}");
                    let missing = first + rank..first + size;
                    events.extend(missing.map(|rank| NodeEvent::Missing { rank }));
                    return Ok((first, Some(text)));
                }
            }
        }
        Ok((first, None))
    }
}
