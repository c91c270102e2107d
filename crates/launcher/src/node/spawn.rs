//! Starting one more job on a node, which processes have spawned.

use std::fs::File;
use std::ops::Range;

use catena_boot::server::Event;
use catena_boot::server::far::{Heard, Opening, RemoteConnect};
use catena_boot::server::names::Directory;
use catena_boot::server::ports::{SpawnCall, SpawnCaller};
use catena_boot::{
    ElasticSet, Job as World, LAUNCH_ALIASES, LAUNCH_FOREIGN, OtherMpi, SpawnAnswer, Word,
};
use catena_job::{NewJob, NodeEvent, Plan, ProgramError, Vars, setting};
use catena_proof::Secret;
use catena_topo::{Cpus, Resource};

use super::start::{self, Input, Starter};
use super::{Local, Node};
use crate::base::Base;
use crate::foreign;
use crate::library;
use crate::place::{self, Binding};
use crate::sys;
use crate::takeover::Home;

impl Node {
    /// As [`Server::take_unreachable`](catena_boot::server::Server::take_unreachable).
    pub fn take_unreachable(&mut self) -> Vec<(u32, u32)> {
        self.server.take_unreachable()
    }

    /// What processes here want that only the launcher as a whole can do.
    pub fn take_spawn_calls(&mut self) -> Vec<SpawnCall> {
        self.server.take_spawn_calls()
    }

    /// As [`Server::take_given_up`](catena_boot::server::Server::take_given_up).
    pub fn take_given_up(&mut self) -> Vec<(u32, String)> {
        self.server.take_given_up()
    }

    /// As [`Server::is_awaited_at`](catena_boot::server::Server::is_awaited_at).
    pub fn is_awaited_at(&self, port: &str) -> bool {
        self.server.is_awaited_at(port)
    }

    /// Answers a process that has spawned: with the job, or why there is none.
    pub fn answer_spawn(&mut self, caller: SpawnCaller, outcome: Result<SpawnAnswer, String>) {
        self.server.spawned(caller, outcome);
        self.notify();
    }

    /// The process with that number is connected to a job, of which it may not have learnt yet.
    pub fn tie(&mut self, number: u32, job: u64) {
        self.server.tie(number, job);
    }

    /// Whether the process with that number has called MPI_Init in a job that may grow.
    pub fn has_world(&self, number: u32) -> bool {
        self.server.has_world(number)
    }

    /// Whether other jobs can meet the process with that number.
    pub fn is_ready(&self, number: u32) -> bool {
        self.server.is_ready(number)
    }

    /// Tells processes, by their numbers, of a version of the process set of an elastic job.
    pub fn tell_set(&mut self, to: &[u32], set: &ElasticSet) {
        self.server.tell_set(to, set);
        self.notify();
    }

    /// The job and the rank there of the process with that number, if there is one.
    pub fn name_of(&self, number: u32) -> Option<(u64, u32)> {
        self.server.name_of(number)
    }

    /// Closes a port: all who wait there are told why.
    pub fn close_port(&mut self, port: &str, why: &str) {
        self.server.close_port(port, why);
        self.notify();
    }

    /// Numbers for the processes of a job that comes: the first of them.
    pub fn reserve(&mut self, size: u32) -> u32 {
        self.server.reserve(size)
    }

    /// Nobody has these numbers any more.
    pub fn give_numbers_back(&mut self, numbers: Range<u32>) {
        self.server.give_numbers_back(numbers);
    }

    /// Whether a process that has met the job of the process with this number has not learnt of it
    /// yet.
    pub fn is_awaited(&self, number: u32) -> bool {
        self.server.is_awaited(number)
    }

    /// Takes in what a process of another node wants of this one's server.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn call(&mut self, number: u32, kind: u8, body: &[u8]) -> Result<(), String> {
        let taken = self.server.call(number, kind, body);
        self.notify();
        taken.map_err(|malformed| malformed.to_string())
    }

    /// A process of another node has closed its connection.
    pub fn left(&mut self, number: u32) {
        self.server.left(number);
        self.notify();
    }

    /// What the server here has for processes of other nodes.
    pub fn take_outward(&mut self) -> impl Iterator<Item = NodeEvent> + use<> {
        let outward = self.server.take_outward().into_iter();
        outward.map(|(rank, frame)| {
            let frame = frame.to_vec();
            NodeEvent::Said(Event::Tell { rank, frame })
        })
    }

    /// The ports that processes want to be opened.
    pub fn take_openings(&mut self) -> Vec<Opening> {
        self.server.take_openings()
    }

    /// Opens a port, whose name says the way to this launcher.
    pub fn port_opened(&mut self, opening: Opening, way: Option<&str>) {
        self.server.port_opened(opening, way);
        self.notify();
    }

    /// Those who want to meet somebody at a port of another launcher.
    pub fn take_visits(&mut self) -> Vec<RemoteConnect> {
        self.server.take_visits()
    }

    /// Somebody goes to a port of a launcher that was reached.
    pub fn visit(&mut self, visit: RemoteConnect, launcher: u32) {
        self.server.visit(visit, launcher);
        self.notify();
    }

    /// Somebody cannot go there.
    pub fn refuse_visit(&mut self, visit: &RemoteConnect, why: String) {
        self.server.refuse(visit, why);
        self.notify();
    }

    /// What is to be told to other launchers.
    pub fn take_words(&mut self) -> Vec<(u32, Word)> {
        self.server.take_words()
    }

    /// Another launcher was reached, or has come; what both know, and nobody else.
    pub fn greet(&mut self, launcher: u32, secret: Secret) {
        self.server.greet(launcher, secret);
    }

    /// Takes in what another launcher says.
    pub fn hear_abroad(&mut self, launcher: u32, word: Word, events: &mut Vec<NodeEvent>) -> Heard {
        let mut asked = Vec::new();
        let heard = self.server.hear_abroad(launcher, word, &mut asked);
        events.extend(asked.into_iter().map(NodeEvent::Said));
        self.notify();
        heard
    }

    /// Another launcher is there no more; the processes that are connected to its jobs.
    pub fn lose_launcher(&mut self, launcher: u32, why: &str) -> Vec<u32> {
        let tied = self.server.lose_launcher(launcher, why);
        self.notify();
        tied
    }

    /// The processes that are connected to a job of another launcher.
    pub fn tied_to(&self, job: u64) -> Vec<u32> {
        self.server.tied_to(job)
    }

    /// The launchers of jobs that are connected to that of a process are to hear that it has
    /// failed.
    pub fn tell_failure(&mut self, number: u32, text: &str) {
        self.hear_of_parting();
        self.server.tell_failure(number, text);
    }

    /// Has services published in a directory, too.
    pub fn set_names(&mut self, names: Option<Directory>) {
        self.server.set_names(names);
    }

    /// Whether the process with that number is of those that have started this launcher, and no
    /// child of it.
    pub fn is_guest(&self, number: u32) -> bool {
        (number as usize) < self.guests.len()
    }

    /// Whether there are such processes, connected or not.
    pub fn has_guests(&self) -> bool {
        !self.guests.is_empty()
    }

    /// The numbers of such processes, where none of them is connected.
    pub fn gone_guests(&self) -> Range<u32> {
        match self.guests.iter().any(Option::is_some) {
            true => 0..0,
            false => 0..self.guests.len() as u32,
        }
    }

    /// The numbers of the jobs that are connected to that of a process.
    pub fn connected_to(&mut self, number: u32) -> Vec<Range<u32>> {
        self.hear_of_parting();
        self.server.connected_to(number)
    }

    /// Sends a signal to processes with these numbers and their children.
    pub fn signal_job(&self, numbers: &Range<u32>, signal: i32) {
        if numbers.contains(&0) {
            self.signal_guests(signal);
        }
        self.signal_ranks(signal, |it| numbers.contains(&it.rank));
        if signal == libc::SIGTERM {
            // So that one that is stopped gets to know.
            self.signal_ranks(libc::SIGCONT, |it| numbers.contains(&it.rank));
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
        self.find_traces();
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
        self.keep_profile(numbers);
        self.keep_timeline(numbers);
        self.keep_findings(numbers);
        self.server.forget(numbers.start);
        self.notify();
        true
    }

    /// Takes in one more job, and starts those of its processes that are to run here; `inherited`
    /// is what their environment begins with. What goes wrong is an event.
    pub fn start_job(
        &mut self,
        new: &NewJob,
        inherited: &Vars,
        base: &Base,
        events: &mut Vec<NodeEvent>,
    ) {
        let here: Vec<u32> = new.plan.ranks_on(self.number).collect();
        let mut started = 0;
        if let Err(error) = self.try_start(new, inherited, base, events, &mut started) {
            let (first, text) = (new.first, error.text);
            events.push(NodeEvent::JobFailed { first, text });
            let missing = here[started..].iter();
            events.extend(missing.map(|rank| NodeEvent::Missing { rank: first + rank }));
        }
    }

    fn try_start(
        &mut self,
        new: &NewJob,
        inherited: &Vars,
        base: &Base,
        events: &mut Vec<NodeEvent>,
        started: &mut usize,
    ) -> Result<(), ProgramError> {
        let plan = &new.plan;
        self.admit(new)?;
        if new.runs || plan.ranks_on(self.number).next().is_none() {
            return Ok(());
        }
        let running = self.processes.iter().flatten().count();
        let count = running + plan.ranks_on(self.number).count();
        start::spare_files(count, "processes", base)?;
        let home = Home::find();
        let settings: Vars = inherited.iter().chain(&plan.env).cloned().collect();
        let aliases = setting(&LAUNCH_ALIASES, &settings);
        let stop = setting(&LAUNCH_FOREIGN, &settings) == OtherMpi::Stop;
        let names = start::own_names(None, aliases);
        let (mut ready, mut threads) = (Vec::new(), None);
        for found in start::find(plan, self.number, inherited, &new.paths)? {
            let mut vars = start::variables(plan, found.app, inherited, &names);
            threads = threads.max(place::threads(vars.iter()));
            let choice = start::choose(plan, &found.program, &vars, home.as_ref());
            for note in choice.notes {
                let (text, matters) = (note.text, note.matters);
                events.push(NodeEvent::Note { text, matters });
            }
            if home.is_some() {
                library::set_search(&mut vars, choice.search);
            }
            if stop && plan.node_of.len() > 1 {
                foreign::forbid_alone(&mut vars);
            } else {
                foreign::let_be_alone(&mut vars);
            }
            ready.push(found.ready(&vars, names.len())?);
        }
        let bound = self.bound_beside(plan, base, threads);
        let bound = bound.map_err(|text| ProgramError { status: 1, text })?;
        let starter = Starter {
            base,
            plan,
            null: File::open("/dev/null").map_err(ProgramError::system)?,
            input: Input::Inherited,
            cpus: bound,
            first: new.first,
            spawned: true,
            aliases,
        };
        let begun = starter.start_all(self, &mut ready, events, started);
        begun.map_err(|(rank, error)| {
            let size = plan.node_of.len();
            let text = format!("rank {rank} of {size} could not be started: {error}");
            ProgramError { status: 1, text }
        })
    }

    /// What the processes of a job that comes are bound to: cores that those which run here leave
    /// free. Where there are too few, nothing, unless something was said about it.
    fn bound_beside(
        &self,
        plan: &Plan,
        base: &Base,
        threads: Option<u32>,
    ) -> Result<Vec<Option<Cpus>>, String> {
        let running = self.processes.iter().flatten().filter(|it| it.running);
        let guests = self.guests.iter().flatten().map(|pid| *pid as i32);
        let pids = running.map(|it| it.pid).chain(guests);
        let taken: Vec<Cpus> = pids.filter_map(sys::affinity).collect();
        let usable = place::usable_on(plan, self.number, base.machine.clone())?;
        let free = place::free(&usable, &taken);
        let count = plan.ranks_on(self.number).count();
        let binding = |machine| Binding::among(plan, self.number, machine, threads);
        if free.of(Resource::Core).len() >= count
            && let Ok(binding) = binding(free)
        {
            return Ok(binding.cpus);
        }
        let placement = &plan.placement;
        match placement.map_by.is_empty() && placement.bind_to.is_empty() {
            // Where the user has said which CPUs there are for ranks, they stay there all the same.
            true if placement.cpu_set.is_empty() => Ok(Vec::new()),
            true => Ok(vec![Some(usable.cpus()); count]),
            false => Ok(binding(usable)?.cpus),
        }
    }

    /// Has the server take in a job.
    fn admit(&mut self, new: &NewJob) -> Result<(), ProgramError> {
        let plan = &new.plan;
        let world = World {
            size: plan.node_of.len() as u32,
            universe_size: new.universe,
            job_id: plan.job_id,
            secret: plan.secret.clone(),
            node_of: plan.node_of.clone().into(),
            hosts: plan.hosts.clone().into(),
            psets: plan.psets.clone(),
            parent: Some(new.port.clone()),
            ..World::singleton(String::new(), catena_boot::available_cpus())
        };
        let appnum = |app: u32| new.appnums[app as usize].unwrap_or(app);
        let appnums = plan.appnums().into_iter().map(appnum).collect();
        let added = self.server.add_spawned(new.first, world, appnums);
        added.map_err(ProgramError::system)
    }

    /// Has [`Node::forget_all`] forget a job that was spawned.
    pub fn forget_later(&mut self, numbers: Range<u32>) {
        self.forgetting.push(numbers);
    }

    /// Forgets jobs that were to be forgotten, as soon as all is told of them.
    pub fn forget_all(&mut self, base: &Base, events: &mut Vec<NodeEvent>) {
        for numbers in std::mem::take(&mut self.forgetting) {
            match self.forget(&numbers, base, events) {
                true => events.push(NodeEvent::Forgotten {
                    node: self.number,
                    first: numbers.start,
                }),
                false => self.forgetting.push(numbers),
            }
        }
    }
}
