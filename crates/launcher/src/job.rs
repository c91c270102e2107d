//! A running job: one loop that learns what happens on the nodes, passes output
//! on, judges how ranks end, and ends what has to be ended.

mod abroad;
mod apart;
mod begun;
mod connected;
mod elastic;
mod files;
mod hearing;
mod late;
mod lifecycle;
mod placing;
mod spawn;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use catena_boot::server::Event;
use catena_boot::server::names::Directory;
use catena_boot::{
    FAULT_STATUS, FAULT_TOLERANCE, FaultStatus, Interest, LAUNCH_GRACE, NAMES, OtherMpi,
    SpawnAnswer,
};
use catena_job::{App, Exit, Means, NodeCommand, NodeEvent, Plan, WINDOW, setting};

use crate::args::Output;
use crate::base::Base;
use crate::hosts::manager::Launcher;
use crate::hosts::tree::Tree;
use crate::output::{Lines, Sink, Sinks, Tag, own_stream};
use crate::report::Failure;
use crate::stdin::{Source, Taken};
use abroad::Abroad;
use begun::Begun;
use connected::Partials;
use elastic::Elastic;
use files::Files;
use hearing::Hearing;
use late::LateFailure;
use spawn::{Living, Spawning};

/// How long the ranks may go on when one of two hosts says that it does not reach the other.
const LATE: Duration = Duration::from_millis(400);

/// How long the ranks may go on when one says that another is gone. The cause, which ends them at once, may have to come
/// from a busy host.
const HEARSAY: Duration = Duration::from_secs(2);

/// How long a rank may take from closing its connection without a word to
/// ending, or the others from its end to theirs. Leaving out MPI_Finalize is
/// wrong, but programs do it, and their ranks end one after the other: those of
/// the OSU latency test with threads a second apart.
const SILENT: Duration = Duration::from_secs(2);

/// How often to look whether the launcher is in the foreground again.
const FOREGROUND: Duration = Duration::from_millis(200);

/// How long a job that was interrupted, or has taken too long, waits for somebody to read its output.
const PATIENCE: Duration = Duration::from_secs(1);

/// After that, it is strange that a rank has ended without MPI while others
/// use it.
const STRANGE: Duration = Duration::from_secs(1);

/// How long hosts may take to tell the rest once their ranks were killed.
const ABANDON: Duration = Duration::from_secs(3);

/// So much output of a node is taken before it is told.
const TAKEN: usize = WINDOW / 4;

/// Tokens of the poller; smaller ones belong to the tree.
mod token {
    pub const FIRST: u64 = u64::MAX - 7;
    pub const SIGNALS: u64 = FIRST;
    pub const STDIN: u64 = FIRST + 1;
    /// Those who want the job to grow or shrink, and the one of them that is served.
    pub const CONTROL: u64 = FIRST + 2;
    pub const CALLER: u64 = FIRST + 3;
    pub const FILES: u64 = FIRST + 4;
    /// And the next one for stderr.
    pub const SINK: u64 = FIRST + 5;
}

/// After that, the user is told whom an interrupted job waits for.
const WAITING: Duration = Duration::from_secs(1);

/// A rank's stdout or stderr.
struct Stream {
    lines: Lines,
    /// When its unfinished line is to be shown.
    due: Option<Instant>,
    /// Whether it is among those that are looked at then.
    is_listed: bool,
    /// Bytes that came of it.
    read: u64,
}

/// One process.
struct Process {
    /// Its job: 0, or the how-manieth that was spawned; and its rank there.
    job: u32,
    rank: u32,
    /// Once it was started.
    pid: u32,
    /// Its node, and what it runs.
    node: u32,
    app: Rc<App>,
    running: bool,
    exit: Option<Exit>,
    /// The process that has called MPI_Init: this one or a child of it.
    joined: Option<u32>,
    finalized: bool,
    /// Since when it is between MPI_Init and MPI_Finalize, if it is.
    in_mpi: Option<Instant>,
    /// Whether it wanted the end, and so has told more than its status does.
    aborted: bool,
    /// Whether it could not execute its program, which was told.
    unstarted: bool,
    /// Whether it is to end, as its job was to be spawned and came to nothing, or a process
    /// that it is connected to has failed: how it ends says nothing.
    abandoned: bool,
    streams: [Stream; 2],
}

impl Process {
    /// One that is to be started on a node. `tag` is what its lines begin with.
    fn new(app: Rc<App>, node: u32, rank: u32, tag: &Tag) -> Process {
        let first = u64::from(rank) * 2;
        Process {
            job: 0,
            rank,
            pid: 0,
            node,
            app,
            running: true,
            exit: None,
            joined: None,
            finalized: false,
            in_mpi: None,
            aborted: false,
            unstarted: false,
            abandoned: false,
            streams: [first, first + 1].map(|id| Stream {
                lines: Lines::new(id, tag.clone()),
                due: None,
                is_listed: false,
                read: 0,
            }),
        }
    }
}

/// What to do at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// End the job, as it has taken too long.
    Timeout(Duration),
    /// Ask the ranks to end.
    End,
    /// Tell the user whom the job waits for that was interrupted.
    MentionWait,
    /// Kill the ranks that are left.
    Kill,
    /// Give up hosts that do not say that they have done so.
    Abandon,
    /// See whether a rank that closed its connection has ended properly.
    CheckSilent(u32),
    /// See whether all processes of the spawned job with that first one have called
    /// MPI_Init, for which they had this long.
    CheckSpawn(u32, Duration),
    /// See whether others use MPI while a rank has ended without.
    CheckStrange(u32),
    /// See whether others may wait for those that have failed after MPI_Finalize.
    CheckLate,
    /// Send the processes that a failure ends a signal; which failure, its number among those tells.
    EndSome(u32, i32),
    /// See who does not reach whom.
    CheckApart,
}

/// Everything about a running job.
pub struct Job {
    /// The command that the user called, for messages.
    command: String,
    plan: Plan,
    /// By rank.
    processes: Vec<Process>,
    /// The nodes.
    tree: Tree,
    base: Base,
    /// Standard input, if it is passed on.
    source: Option<Source>,
    /// Whether to say what is started where.
    verbose: bool,
    /// Where what ranks write goes, and how.
    output: Output,
    /// The files that it goes to.
    files: Files,
    /// One of these that did not take what was to go there, when the user lost patience.
    lost: Option<PathBuf>,
    /// The lines that were begun and not shown yet.
    begun: Begun,
    /// How many jobs were spawned, and those of which not all have called MPI_Init.
    spawned: u32,
    spawning: Vec<Spawning>,
    /// The jobs that were spawned and that some node still knows.
    living: Vec<Living>,
    /// How hosts are reached that have no part in the job yet.
    reach: Reach,
    /// The launchers with whose jobs processes connect.
    abroad: Abroad,
    /// What is judged once all was heard that processes have said.
    hearing: Hearing,
    /// How it grows and shrinks, if it may.
    elastic: Option<Elastic>,
    /// What has become of the job by which it grows, until that is taken in.
    grown: Option<Result<SpawnAnswer, String>>,
    /// Jobs that have failed while others go on.
    partials: Partials,
    /// Whether a process of a job that was spawned has ended just now.
    some_ended: bool,
    /// Processes that have lost others, and whom, until that is judged.
    apart: Vec<(u32, u32)>,
    /// Nodes whose processes did not reach each other.
    parted: BTreeSet<(u32, u32)>,
    /// What was said already.
    notes: Vec<String>,
    sinks: Sinks,
    /// Bytes of output of each node that were taken and not told yet.
    taken: Vec<[usize; 2]>,
    tasks: Vec<(Instant, Task)>,
    failure: Option<Failure>,
    /// Those that have failed after MPI_Finalize, while others may finish.
    late: Vec<LateFailure>,
    /// What has failed without ending the job.
    fault: Option<Failure>,
    /// The first of those that is no death.
    fault_of_living: Option<Failure>,
    /// The first of those that have started this launcher that has left without MPI_Finalize.
    first_gone: Option<u32>,
    /// What to do about the next rank that has another MPI in it.
    foreign: OtherMpi,
    /// Whether the job goes on when a rank dies, and how many have.
    tolerant: bool,
    /// Whose end the status tells of then.
    fault_status: FaultStatus,
    deaths: u32,
    /// Whether ranks wait in a fence.
    fencing: bool,
    /// How many ranks were still running when the job was ended.
    ended: usize,
    /// How long ranks that were asked to end may take, before they are killed.
    grace: Duration,
    /// The last signal that was to end the job, and when it came.
    interrupted: Option<(i32, Instant)>,
    /// Whether the job is to end although nobody may read what is left of its output.
    hurried: bool,
    /// Whether the ranks were asked to end.
    ending: bool,
    /// Whether all have ended.
    finishing: bool,
}

/// How hosts are reached that have no part in the job yet.
#[derive(Clone, Debug)]
pub struct Reach {
    /// An agent starts a daemon on each, or a resource manager does.
    pub launcher: Launcher,
    /// What takes the place of the resource manager's command.
    pub agent: Option<Vec<OsString>>,
    pub means: Means,
}

impl Reach {
    /// The command of the resource manager that starts daemons on these hosts; none if the agent does.
    pub fn command(&self, hosts: &[&str]) -> Option<Vec<OsString>> {
        match self.launcher.agent() {
            Some(_) => None,
            None => Some(self.launcher.command(self.agent.as_deref(), hosts)),
        }
    }
}

/// What the user wants to see, and how long.
pub struct Show {
    /// The command that the user called.
    pub command: String,
    /// Where what ranks write goes, and how.
    pub output: Output,
    /// Whether to say what is started where.
    pub verbose: bool,
    /// What is to be said first of all.
    pub notes: Vec<String>,
    /// After which time everything is ended.
    pub timeout: Option<Duration>,
}

impl Job {
    /// One whose ranks `tree` has started or will start; it has standard input
    /// passed on if `typed`.
    pub fn new(
        show: Show,
        plan: Plan,
        mut tree: Tree,
        base: Base,
        typed: bool,
        reach: Reach,
    ) -> io::Result<Job> {
        let poller = &base.poller;
        poller.add(&base.signals, token::SIGNALS, Interest::Read)?;
        let mut sinks = Sinks::new([own_stream(false), own_stream(true)], token::SINK, poller)?;
        show.notes.iter().for_each(|text| sinks.tell(text));
        let timeout = show
            .timeout
            .map(|limit| (Instant::now() + limit, Task::Timeout(limit)));
        let names = setting(&NAMES, &plan.env);
        let names = Directory::of_setting(&names);
        tree.with_node(|node| node.set_names(names));
        let grace = setting(&LAUNCH_GRACE, &plan.env);
        let apps: Vec<Rc<App>> = plan.apps.iter().cloned().map(Rc::new).collect();
        let readers = plan.stdin.iter().map(|&rank| plan.node_of[rank as usize]);
        let readers: BTreeSet<u32> = readers.collect();
        let process = |((rank, app), &node): ((u32, u32), &u32)| {
            let tag = show.output.tag(&rank.to_string());
            Process::new(apps[app as usize].clone(), node, rank, &tag)
        };
        let files = Files::new(&show.output, plan.node_of.len(), token::FILES, poller)?;
        let processes = (0..).zip(plan.appnums()).zip(&plan.node_of).map(process);
        Ok(Job {
            command: show.command,
            processes: processes.collect(),
            taken: vec![[0; 2]; plan.hosts.len()],
            source: typed.then(|| Source::new(readers, token::STDIN, poller)),
            foreign: plan.foreign,
            tolerant: setting(&FAULT_TOLERANCE, &plan.env),
            fault_status: setting(&FAULT_STATUS, &plan.env),
            deaths: 0,
            plan,
            tree,
            base,
            verbose: show.verbose,
            files,
            lost: None,
            output: show.output,
            begun: Begun::default(),
            spawned: 0,
            spawning: Vec::new(),
            living: Vec::new(),
            reach,
            abroad: Abroad::default(),
            hearing: Hearing::default(),
            elastic: None,
            grown: None,
            partials: Partials::default(),
            some_ended: false,
            apart: Vec::new(),
            parted: BTreeSet::new(),
            notes: Vec::new(),
            sinks,
            tasks: timeout.into_iter().collect(),
            failure: None,
            late: Vec::new(),
            fault: None,
            fault_of_living: None,
            first_gone: None,
            fencing: false,
            ended: 0,
            grace,
            interrupted: None,
            hurried: false,
            ending: false,
            finishing: false,
        })
    }

    /// Works until all ranks have ended and all is written; gives the status.
    pub fn run(mut self) -> i32 {
        self.learn();
        while self.processes.iter().any(|p| p.running) {
            self.turn(None);
        }
        self.finish()
    }

    /// Waits for something to happen, but no longer than until `patience` ends,
    /// and handles it. Gives whether something happened.
    fn turn(&mut self, patience: Option<Instant>) -> bool {
        let limit = self.next_time().into_iter().chain(patience).min();
        let limit = match self.tree.has_events() {
            // Output that was taken has let nodes tell more.
            true => Some(Duration::ZERO),
            false => limit.map(|at| at.saturating_duration_since(Instant::now())),
        };
        let ready = self.base.poller.wait(limit).unwrap_or_default();
        for &ready in &ready {
            match ready {
                token::SIGNALS => {
                    let next = || self.base.signals.next();
                    let mut signals: Vec<i32> = std::iter::from_fn(next).collect();
                    // They come by number, and SIGHUP is sent behind SIGTERM, which says more.
                    signals.sort_by_key(|signal| *signal == libc::SIGHUP);
                    signals.into_iter().for_each(|signal| self.signal(signal));
                }
                token::STDIN => self.read_stdin(),
                token::FILES => self.hear_files(),
                token::CONTROL | token::CALLER => self.hear_caller(ready),
                // Both sinks are flushed below.
                sink if sink >= token::SINK => {}
                token if token >= crate::abroad::FIRST => self.handle_abroad(token),
                token => self.tree.handle(token, &self.base),
            }
        }
        if let Some(source) = &mut self.source {
            source.resume(&self.base.poller);
            if source.is_ready() {
                self.read_stdin();
            }
        }
        self.tree.tick();
        self.tick_abroad();
        self.tree.forget_jobs(&self.base);
        self.learn();
        self.do_tasks();
        self.show_begun();
        self.files.check();
        self.flush();
        !ready.is_empty()
    }

    /// Has all nodes do something.
    fn command(&mut self, command: &NodeCommand) {
        self.tree.command(command, &self.base.poller);
    }

    fn read_stdin(&mut self) {
        let source = self.source.as_mut();
        if let Some(bytes) = source.and_then(|source| source.read(&self.base.poller)) {
            self.command(&NodeCommand::Stdin(bytes));
        }
    }

    /// The ranks of a node that read standard input have taken some of it, and may want more or not.
    fn fed(&mut self, node: u32, [slowest, fastest]: [u64; 2], more: bool) {
        let taken = Taken { slowest, fastest };
        let source = self.source.as_mut();
        let held = source.and_then(|source| source.taken(node, taken, more, &self.base.poller));
        if let Some(node) = held {
            let host = &self.plan.hosts[node as usize];
            self.sinks.tell(format_args!(
                "{}: a rank on host {host} has not read 64 MiB of the standard input, and all others wait for it now: \
                 --stdin RANKS says who reads it",
                self.command
            ));
        }
    }

    /// When something is to be done next.
    fn next_time(&self) -> Option<Instant> {
        let tasks = self.tasks.iter().map(|(at, _)| *at);
        let suspended = self.source.as_ref().is_some_and(Source::is_suspended);
        let resume = suspended.then(|| Instant::now() + FOREGROUND);
        let ready = self.source.as_ref().is_some_and(Source::is_ready);
        let ready = ready.then(Instant::now);
        let tree = self.tree.next_time();
        let abroad = self.next_time_abroad();
        tasks
            .chain(self.begun.next_time())
            .chain(self.files.next_time())
            .chain(resume)
            .chain(ready)
            .chain(tree)
            .chain(abroad)
            .min()
    }

    /// Takes in what has happened.
    fn learn(&mut self) {
        loop {
            let events = self.tree.take_events();
            if events.is_empty() {
                self.take_spawns();
                self.take_unreachable();
                self.serve_abroad();
                self.check_growth();
                self.take_growth();
                self.forget_ended();
                self.judge_heard();
                if !self.tree.has_events() {
                    return;
                }
            }
            for event in events {
                self.judge(event);
            }
        }
    }

    /// A rank wrote something, or nothing more.
    fn output(&mut self, rank: u32, which: usize, bytes: &[u8]) {
        let process = &mut self.processes[rank as usize];
        self.taken[process.node as usize][which] += bytes.len();
        let to = self.output.target(which);
        self.files.write(process, &self.plan.hosts, to, bytes);
        if !self.output.is_shown(to) {
            return;
        }
        let process = &mut self.processes[rank as usize];
        let (stream, sink) = (&mut process.streams[which], self.sinks.of(to));
        if bytes.is_empty() {
            stream.lines.flush(sink);
            stream.due = None;
            return;
        }
        if sink.closed().is_some() {
            // The launcher of those that have started this one may have ended before what they have spawned.
            let node = self.tree.node.as_ref();
            return match node.is_some_and(|node| !node.gone_guests().is_empty()) {
                true => {}
                false => self.command(&NodeCommand::Unwanted { which }),
            };
        }
        stream.lines.push(bytes, sink);
        self.note_begun(rank, which, bytes.len());
    }

    /// Something was written to files, or cannot be.
    fn hear_files(&mut self) {
        if let Some(error) = self.files.hear() {
            self.fail(Failure::new(1, error), Duration::ZERO);
        }
    }

    /// Writes what can be written, lets the nodes wait while that is too
    /// little, and sends them what they are told.
    fn flush(&mut self) {
        for which in 0..2 {
            let sink = self.sinks.of(self.output.target(which));
            sink.flush(&self.base.poller);
            if sink.is_full() || self.files.is_full() {
                continue;
            }
            for node in 0..self.taken.len() {
                let bytes = self.taken[node][which];
                if bytes >= TAKEN {
                    self.taken[node][which] = 0;
                    let (node, bytes) = (node as u32, bytes as u32);
                    self.command(&NodeCommand::Taken { node, which, bytes });
                }
            }
        }
        self.tree.flush(&self.base.poller);
    }

    /// All ranks have ended: takes what is left of their output and of their children, tells why the job has failed if it
    /// has, and waits until all is written; or drops what is left if the user loses patience.
    fn finish(mut self) -> i32 {
        self.finishing = true;
        self.check_late();
        self.judge_unheard();
        self.leave_abroad();
        self.find_cause();
        self.command(&NodeCommand::Finish);
        self.work_until(|job| job.tree.is_done() && !job.tree.has_events());
        // What ranks wrote whose children still hold their streams.
        for process in &mut self.processes {
            let lines = process.streams.iter_mut().map(|it| &mut it.lines);
            self.sinks.end_lines(lines, self.output.merge);
        }
        // Files may take long: who waits knows why the job has failed.
        let failed = self.failure.is_some();
        let told = !self.files.is_empty() && self.tell_cause();
        self.work_until(|job| job.files.is_empty());
        self.hear_files();
        let is_survived = self.is_survived();
        self.tree.close(&self.base);
        self.base.watchdog.stop();
        if !told {
            self.tell_cause();
        } else if !failed && let Some(text) = self.failure.as_ref().and_then(|it| it.text.as_ref())
        {
            self.sinks.tell(format_args!("{}: {text}", self.command));
        }
        if self.cause().is_none() {
            let first = self.first_gone;
            let silent =
                lifecycle::mention_silent(&self.command, &self.plan, &self.processes, first);
            silent.into_iter().for_each(|text| self.sinks.tell(text));
        }
        let fault = self.cause().map(|failure| failure.status);
        let was_told = self.failure.is_some();
        self.work_until(|job| job.sinks.iter().all(Sink::is_empty));
        let lost = self.sinks.iter().find_map(Sink::closed);
        if let Some(kind) = lost.filter(|&kind| kind != io::ErrorKind::BrokenPipe) {
            // The time may have run out, or a signal have come, only then.
            let late = self.failure.as_ref().filter(|_| !was_told);
            if let Some(text) = late.and_then(|failure| failure.text.as_ref()) {
                self.sinks
                    .of(1)
                    .tell_at_once(&format!("{}: {text}", self.command));
            }
            self.sinks
                .of(1)
                .tell_at_once(&format!("{}: output was lost: {kind}", self.command));
            self.failure.get_or_insert(Failure::silent(1));
        }
        if let Some(path) = &self.lost {
            self.sinks.of(1).tell_at_once(&format!(
                "{}: output was lost: {} does not take it",
                self.command,
                path.display()
            ));
            self.failure.get_or_insert(Failure::silent(1));
        }
        match (fault, &self.failure) {
            (_, Some(failure)) => failure.status,
            (Some(_), None) if is_survived => 0,
            (status, None) => status.unwrap_or(0),
        }
    }

    /// What the job has failed by, if it has.
    fn cause(&self) -> Option<&Failure> {
        self.failure.as_ref().or(match self.fault_status {
            FaultStatus::First => self.fault.as_ref(),
            FaultStatus::Survivors => self.fault_of_living.as_ref().or(self.fault.as_ref()),
        })
    }

    /// Tells why the job has failed; whether it has.
    fn tell_cause(&mut self) -> bool {
        let Some(failure) = self.cause() else {
            return false;
        };
        if let Some(text) = &failure.text {
            let others = failure.rank.map(|_| self.processes.len() - 1);
            let rest = crate::report::rest(self.ended, others);
            let text = format!("{}: {text}{rest}", self.command);
            self.sinks.tell(text);
        }
        true
    }

    /// Works until something is so, or nobody reads what a job has written that is to end.
    fn work_until(&mut self, is_so: impl Fn(&Job) -> bool) {
        loop {
            // To take output lets nodes tell the rest: they are done before that is taken in here.
            self.learn();
            self.flush();
            if is_so(self) {
                return;
            }
            let is_behind = self.sinks.iter().any(|sink| !sink.is_empty());
            let is_stuck = self.hurried && (is_behind || !self.files.is_empty());
            let patience = is_stuck.then(|| Instant::now() + PATIENCE);
            let is_late = !self.turn(patience) && patience.is_some_and(|at| Instant::now() >= at);
            if is_late {
                self.drop_output();
            }
        }
    }

    /// Drops what is left of the job's output.
    fn drop_output(&mut self) {
        self.sinks.iter_mut().for_each(Sink::give_up);
        if !self.files.is_empty() {
            self.lost = self.files.give_up();
        }
    }

    /// Takes in one thing that has happened.
    fn judge(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Placed { text } => self.sinks.tell(text.trim_end_matches('\n')),
            NodeEvent::Started { rank, pid, cpus } => self.started(rank, pid, &cpus),
            NodeEvent::Output { rank, which, bytes } => self.output(rank, which, &bytes),
            NodeEvent::Said(event) => self.said(event),
            NodeEvent::NotStarted { rank, stage, error } => self.not_started(rank, stage, error),
            NodeEvent::Ended { rank, exit } => self.ended(rank, exit),
            NodeEvent::Missing { rank } => self.missing(rank),
            NodeEvent::JobFailed { first, text } => drop(self.spawn_failed(first, &text)),
            NodeEvent::Forgotten { node, first } => self.forgotten(node, first),
            NodeEvent::Heard { node, number } => self.heard(node, number),
            NodeEvent::Foreign {
                rank,
                library,
                served,
            } => self.foreign(rank, &library, served),
            NodeEvent::Note { text, matters } => self.note(text, matters),
            NodeEvent::Fed {
                node,
                slowest,
                fastest,
                more,
            } => self.fed(node, [slowest, fastest].map(u64::from), more),
            NodeEvent::Failed { status, text } => {
                self.fail(Failure::new(status, text), Duration::ZERO)
            }
            NodeEvent::Lost { node, text } => self.lost(node, text),
            // The tree has passed it on.
            NodeEvent::ServerMessage { .. } | NodeEvent::Done { .. } => {}
        }
    }

    /// Takes in what ranks told their server.
    fn said(&mut self, event: Event) {
        match event {
            Event::Fencing => {
                self.fencing = true;
                self.check_fence();
            }
            Event::Fenced { parts } => {
                self.fencing = false;
                self.command(&NodeCommand::EndFence(parts.into()));
            }
            Event::Joined { rank, pid } => {
                let node = self.tree.node.as_ref();
                let process = &mut self.processes[rank as usize];
                process.joined = Some(pid);
                process.in_mpi = Some(Instant::now());
                // All others may have left before one comes that has been there all the time.
                process.running |= node.is_some_and(|node| node.is_guest(rank));
                self.spawn_joined(rank);
            }
            Event::Finalized { rank } => {
                let process = &mut self.processes[rank as usize];
                (process.finalized, process.in_mpi) = (true, None);
            }
            Event::Resumed { rank } => {
                let process = &mut self.processes[rank as usize];
                (process.finalized, process.in_mpi) = (false, Some(Instant::now()));
            }
            Event::Abort {
                rank,
                code,
                message,
            } => self.abort(rank, code, &message),
            Event::Fault { rank, message } => self.fault(rank, &message),
            Event::Broken { rank, cause, .. } => self.broken(rank, &cause),
            Event::Left { rank, .. } => self.left(rank),
            Event::Call { rank, kind, body } => {
                let called = self.tree.with_node(|node| node.call(rank, kind, &body));
                if let Some(Err(cause)) = called {
                    self.broken(rank, &cause);
                }
            }
            Event::JobFenced { node, first, parts } => self.job_fenced(node, first, &parts),
            // The tree has passed them on.
            Event::Ask { .. } | Event::Answer { .. } | Event::Tell { .. } => {}
        }
    }
}
