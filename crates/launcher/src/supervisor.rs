//! The supervisor of a running job: one loop that learns what happens on the nodes, passes output
//! on, judges how ranks end, and ends what has to be ended.
//!
//! It has parts, each with a state of its own. A part is given what it needs of the others as
//! arguments; what it wants done that it cannot do itself comes back as a value. So each can be
//! read alone, and none calls the supervisor.
//!
//! | part       | state                                                       | gives back            |
//! |------------|-------------------------------------------------------------|-----------------------|
//! | `process`  | the processes of all jobs, and how far each is              |                       |
//! | `nodes`    | the tree of hosts, and the first server                     | events                |
//! | `output`   | lines, files and sinks; what the user was told              | commands for nodes    |
//! | `input`    | standard input that is passed on                            | commands for nodes    |
//! | `timers`   | what to do at some time                                     | [`Task`]s             |
//! | `faults`   | how the job fails, and how far it is with its end           | [`Action`]s           |
//! | `pending_verdicts`  | what is judged once other hosts were heard                  | [`Verdict`]s          |
//! | `hangs`    | who waits for whom                                          | lines                 |
//! | `findings` | what checked mode has found                                 | [`Failure`]s          |
//! | `profile`  | where the time of the program goes                          | lines                 |
//! | `timeline` | the calls of the program one by one                         | lines                 |
//! | `apart`    | who does not reach whom                                     | whom to cut off       |
//! | `spawner`  | jobs that were spawned                                      | numbers               |
//! | `control`  | who asks from outside                                       | lines                 |
//! | `inquiries` | what is asked about the job                                | lines                 |
//! | `elastic`  | the process set of a job that grows and shrinks             | words                 |
//! | `remote`   | other launchers                                             | [`Verdict`]s          |
//!
//! | file       | what the supervisor does there                              |
//! |------------|-------------------------------------------------------------|
//! | this one   | the loop, what it does in time, and the end                 |
//! | `events`   | what nodes tell                                             |
//! | `jobs`     | jobs that come and go, and other launchers                  |

mod action;
mod apart;
mod begun;
mod control;
mod elastic;
mod events;
mod faults;
mod files;
mod findings;
mod hangs;
mod input;
mod inquiries;
mod interrupts;
mod jobs;
mod late;
mod nodes;
mod output;
mod partial;
mod pending_verdicts;
mod placing;
mod process;
mod profile;
mod remote;
mod spawner;
mod timeline;
mod timers;
mod token;
mod traces;

use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use catena_boot::server::names::Directory;
use catena_boot::{Ended, Interest, NAMES};
use catena_job::{App, NodeCommand, Plan, setting};

use crate::base::Base;
use crate::hosts::tree::Tree;
use crate::report::Failure;
use crate::sys;
use action::Action;
use apart::Apart;
use control::Control;
use elastic::Elastic;
use faults::Faults;
use findings::Findings;
#[cfg(any(test, fuzzing))]
pub use findings::fuzz as findings_fuzz;
use hangs::{Found, Hangs};
use input::Input;
use inquiries::Inquiries;
use late::Judged;
use nodes::Nodes;
use output::Output;
pub use output::Show;
use pending_verdicts::{PendingVerdicts, Verdict};
use process::{Process, Processes};
use profile::Profiling;
pub use profile::check_files as check_profile_files;
use remote::RemoteLaunchers;
pub use spawner::Reach;
use spawner::Spawner;
use timeline::Timeline;
pub use timeline::TraceFile;
use timers::{Task, Timers};
use traces::Traces;

/// How long a job that was interrupted, or has taken too long, waits for somebody to read its
/// output.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long hosts may take to tell the rest once their ranks were killed.
const ABANDON: Duration = Duration::from_secs(3);

/// A running job, with all that it has spawned.
pub struct Supervisor {
    processes: Processes,
    nodes: Nodes,
    output: Output,
    input: Input,
    timers: Timers,
    faults: Faults,
    hearing: PendingVerdicts,
    hangs: Hangs,
    traces: Traces,
    findings: Findings,
    profiling: Profiling,
    timeline: Timeline,
    apart: Apart,
    spawner: Spawner,
    /// Who asks from outside, if somebody may.
    control: Option<Control>,
    /// Answers whoever asks what the job does; none where nobody may ask.
    questions: Option<Control>,
    inquiries: Inquiries,
    /// How the job grows and shrinks, if it may.
    elastic: Option<Elastic>,
    remote: RemoteLaunchers,
    /// Whether all have ended.
    finishing: bool,
}

impl Supervisor {
    /// That of a job whose ranks `tree` has started or will start; it has standard input
    /// passed on if `typed`.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub fn new(
        mut show: Show,
        plan: Plan,
        mut tree: Tree,
        base: Base,
        typed: bool,
        reach: Reach,
    ) -> io::Result<Supervisor> {
        let poller = &base.poller;
        poller.add(&base.signals, token::SIGNALS, Interest::Read)?;
        let mut timers = Timers::default();
        if let Some(limit) = show.timeout {
            timers.after(limit, Task::Timeout(limit));
        }
        let hangs = Hangs::new(&plan, show.hang_report.clone());
        if hangs.is_watching() {
            timers.after(hangs::EVERY, Task::CheckHang);
        }
        let traces = Traces::new(show.trace_report.clone());
        let findings = Findings::new(&plan, show.is_checked, show.check_report.clone());
        let profiling = Profiling::new(&mut show);
        if findings.is_watching() {
            timers.after(findings::EVERY, Task::CheckFindings);
        }
        let own = tree.node.as_ref().map(|it| it.number());
        let timeline = Timeline::new(show.trace.take(), own)?;
        if timeline.is_watching() {
            timers.after(timeline.pause(), Task::TakeTimeline);
        }
        let names = Directory::of_setting(&setting(&NAMES, &plan.env));
        tree.with_node(|node| node.set_names(names));
        let mut output = Output::new(show, plan.node_of.len(), &plan.stdin, poller)?;
        let apps: Vec<Rc<App>> = plan.apps.iter().cloned().map(Rc::new).collect();
        let hosts: Vec<Rc<str>> = plan.hosts.iter().map(|host| host.as_str().into()).collect();
        let process = |((rank, app), &node): ((u32, u32), &u32)| {
            let (app, host) = (apps[app as usize].clone(), hosts[node as usize].clone());
            Process::new(app, node, host, 0, rank)
        };
        let all = (0..).zip(plan.appnums()).zip(&plan.node_of).map(process);
        let processes: Processes = all.collect();
        for (number, process) in processes.numbered() {
            output.add(number, process);
        }
        Ok(Supervisor {
            processes,
            output,
            input: Input::new(&plan, typed, poller),
            timers,
            faults: Faults::new(&plan),
            hearing: PendingVerdicts::default(),
            hangs,
            traces,
            findings,
            profiling,
            timeline,
            apart: Apart::default(),
            control: None,
            questions: None,
            inquiries: Inquiries::default(),
            elastic: None,
            remote: RemoteLaunchers::new(&plan),
            spawner: Spawner::new(plan, reach),
            nodes: Nodes::new(tree, base),
            finishing: false,
        })
    }

    /// Works until all ranks have ended and all is written; gives the status.
    pub fn run(mut self) -> i32 {
        self.learn();
        while self.processes.any_running() {
            self.turn(None);
        }
        self.finish()
    }

    /// Waits for something to happen, but no longer than until `patience` ends,
    /// and handles it. Gives whether something happened.
    fn turn(&mut self, patience: Option<Instant>) -> bool {
        let limit = self.next_time().into_iter().chain(patience).min();
        let limit = match self.nodes.tree.has_events() {
            // Output that was taken has let nodes tell more.
            true => Some(Duration::ZERO),
            false => limit.map(|at| at.saturating_duration_since(Instant::now())),
        };
        let ready = self.nodes.base.poller.wait(limit).unwrap_or_default();
        for &ready in &ready {
            match ready {
                token::SIGNALS => self.take_signals(),
                token::STDIN => {
                    let more = self.input.read(&self.nodes.base.poller);
                    self.command_all(more);
                }
                token::FILES => self.hear_files(),
                // Both sinks are flushed below.
                sink if sink >= token::SINK => {}
                token if token >= token::CONTROL => self.hear_caller(token),
                token if token >= crate::remote::FIRST => self.handle_abroad(token),
                token => self.nodes.tree.handle(token, &self.nodes.base),
            }
        }
        let more = self.input.tick(&self.nodes.base.poller);
        self.command_all(more);
        self.nodes.tree.tick();
        let lost = self.remote.tick(&mut self.nodes);
        self.hear_all(lost);
        self.nodes.tree.forget_jobs(&self.nodes.base);
        self.learn();
        self.do_tasks();
        self.output.tick();
        self.flush();
        !ready.is_empty()
    }

    /// When something is to be done next.
    fn next_time(&self) -> Option<Instant> {
        let parts = [
            self.timers.next_time(),
            self.output.next_time(),
            self.input.next_time(),
            self.nodes.tree.next_time(),
            self.remote.next_time(),
        ];
        parts.into_iter().flatten().min()
    }

    /// Takes in what has happened.
    fn learn(&mut self) {
        loop {
            let events = self.nodes.tree.take_events();
            if events.is_empty() {
                self.take_spawns();
                self.take_unreachable();
                self.serve_abroad();
                self.check_growth();
                self.take_growth();
                self.forget_ended();
                self.judge_heard();
                if !self.nodes.tree.has_events() {
                    return;
                }
            }
            for event in events {
                self.take_in(event);
            }
        }
    }

    /// Does what is due.
    fn do_tasks(&mut self) {
        let now = Instant::now();
        while let Some(task) = self.timers.take_due(now) {
            let (processes, nodes) = (&mut self.processes, &mut self.nodes);
            match task {
                Task::Timeout(limit) => {
                    let action = self.faults.time_out(limit);
                    self.perform([action]);
                }
                Task::End => {
                    let actions = self.faults.end(processes, nodes);
                    self.perform(actions);
                }
                Task::MentionWait => {
                    let action = self.faults.mention_wait(processes);
                    self.perform(action);
                }
                Task::Kill => {
                    nodes.kill_all(libc::SIGKILL);
                    self.timers.after(ABANDON, Task::Abandon);
                }
                Task::Abandon if processes.any_running() => {
                    nodes.tree.abandon();
                    self.learn();
                }
                Task::Abandon => {}
                Task::CheckSilent(number) => {
                    let action = self.faults.check_silent(number, processes, nodes);
                    self.spawner.note_end();
                    self.perform(action);
                }
                Task::CheckStrange(number) => {
                    let action = self.faults.check_strange(number, processes);
                    self.perform(action);
                }
                Task::CheckSpawn(first, _) => self.spawner.check_start(first, processes, nodes),
                Task::EndSome(id, signal) => {
                    let actions = self.faults.end_some(id, signal, processes);
                    self.perform(actions);
                }
                Task::CheckLate => self.check_late(),
                Task::CheckApart => self.check_apart(),
                // What comes to its end has no need of it, and would not come to rest.
                Task::CheckHang if self.finishing || self.faults.has_failed() => {}
                Task::CheckFindings if self.finishing || self.faults.has_failed() => {}
                Task::CheckFindings => {
                    self.findings.look(nodes);
                    self.timers.after(findings::EVERY, Task::CheckFindings);
                }
                // What is left is asked for at the end.
                Task::TakeTimeline if self.finishing => {}
                Task::TakeTimeline => {
                    let told = self.timeline.look(nodes);
                    told.into_iter().for_each(|text| self.output.say(text));
                    self.timers.after(self.timeline.pause(), Task::TakeTimeline);
                }
                Task::LookAgain => self.inquiries.look_again(nodes),
                Task::CheckHang => {
                    self.hangs.look(nodes);
                    self.timers.after(hangs::EVERY, Task::CheckHang);
                }
            }
        }
    }

    /// Does what parts want done, one thing after the other.
    fn perform(&mut self, actions: impl IntoIterator<Item = Action>) {
        for action in actions {
            match action {
                Action::Command(command) => self.nodes.command(&command),
                Action::Say(text) => self.output.say(text),
                Action::Flush => self.flush(),
                Action::DropOutput => self.output.give_up(),
                Action::After(time, task) => self.timers.after(time, task),
                Action::Died(number, how) => self.died(number, how),
                Action::Fail(failure, after) => self.fail(failure, after),
                Action::TellAbroad(numbers, text) => {
                    for number in numbers {
                        let text = text.as_deref();
                        let lost = self.remote.tell_failure(number, text, &mut self.nodes);
                        self.hear_all(lost);
                    }
                }
            }
        }
    }

    /// All nodes have told what their ranks wait for.
    fn take_waits(&mut self, number: u32, answer: &[u8]) {
        match self.hangs.answered(number, answer, &self.processes) {
            Found::Nothing => {}
            Found::More => self.hangs.look_closer(&mut self.nodes),
            Found::Tell(lines, status) => {
                let (first, rest) = lines
                    .split_first()
                    .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
                self.output.say(first);
                rest.iter().for_each(|line| self.output.tell(line));
                if let Some(status) = status {
                    self.fail(
                        Failure::new(
                            status,
                            "the job is ended, as it hangs (ON_HANG)".to_string(),
                        ),
                        Duration::ZERO,
                    );
                }
            }
        }
    }

    /// Has all nodes do several things.
    fn command_all(&mut self, commands: impl IntoIterator<Item = NodeCommand>) {
        for command in commands {
            self.nodes.command(&command);
        }
    }

    /// The job has failed. Where that may leave some processes untouched, all of them are heard
    /// first.
    fn fail(&mut self, failure: Failure, after: Duration) {
        match self.faults.may_spare(&failure, &self.processes) {
            true => self.hear_first(Verdict::Failed(failure, after)),
            false => self.fail_now(failure, after),
        }
    }

    /// The job has failed, whatever processes may have said that was not heard yet.
    fn fail_now(&mut self, failure: Failure, after: Duration) {
        let (processes, nodes) = (&mut self.processes, &mut self.nodes);
        let actions = self.faults.fail(failure, after, processes, nodes);
        self.perform(actions);
    }

    /// A process has died: all others are told.
    fn died(&mut self, number: u32, how: Ended) {
        let command = self.faults.died(number, how);
        self.nodes.command(&command);
        self.spawner.check_fences(&self.processes, &mut self.nodes);
    }

    /// Ends the job for those that may be waited for in vain, although they have failed after
    /// MPI_Finalize.
    fn check_late(&mut self) {
        let judged = self.faults.judge_late(&self.processes, &mut self.nodes);
        let Some((judged, next)) = judged else {
            return;
        };
        self.timers.set(Task::CheckLate, next);
        for judged in judged {
            match judged {
                Judged::Survived(failure) => self.faults.go_on(failure, false),
                Judged::Awaited(failure) => self.fail(failure, Duration::ZERO),
            }
            self.spawner.note_end();
        }
    }

    /// Signals have come.
    fn take_signals(&mut self) {
        let next = || self.nodes.base.signals.next();
        let mut signals: Vec<i32> = std::iter::from_fn(next).collect();
        // They come by number, and SIGHUP is sent behind SIGTERM, which says more.
        signals.sort_by_key(|signal| *signal == libc::SIGHUP);
        signals.into_iter().for_each(|signal| self.signal(signal));
    }

    /// A signal to the launcher.
    fn signal(&mut self, signal: i32) {
        match signal {
            libc::SIGCHLD => self.nodes.tree.children(),
            libc::SIGUSR1 | libc::SIGUSR2 => {
                let groups = false;
                self.nodes.command(&NodeCommand::Signal { signal, groups });
            }
            libc::SIGTSTP => {
                self.nodes.kill_all(libc::SIGSTOP);
                self.flush();
                sys::stop_self();
            }
            libc::SIGCONT => self.nodes.kill_all(libc::SIGCONT),
            _ => {
                let action = self.faults.interrupt(signal, self.finishing);
                self.perform(action);
            }
        }
    }

    /// Something was written to files, or cannot be.
    fn hear_files(&mut self) {
        if let Some(error) = self.output.hear_files() {
            self.fail(Failure::new(1, error), Duration::ZERO);
        }
    }

    /// Writes what can be written, lets the nodes wait while that is too
    /// little, and sends them what they are told.
    fn flush(&mut self) {
        let taken = self.output.flush(&self.nodes.base.poller);
        self.command_all(taken);
        self.nodes.flush();
    }

    /// All ranks have ended: takes what is left of their output and of their children, tells why
    /// the job has failed if it has, and waits until all is written; or drops what is left if the
    /// user loses patience.
    fn finish(mut self) -> i32 {
        self.finishing = true;
        self.check_late();
        for verdict in self.hearing.take_all() {
            self.judge(verdict);
        }
        let lost = self.remote.leave(&mut self.nodes);
        self.hear_all(lost);
        self.faults.find_cause(&self.processes, &mut self.nodes);
        self.ask_for_traces();
        self.ask_for_findings();
        self.ask_for_profile();
        self.ask_for_timeline();
        self.nodes.command(&NodeCommand::Finish);
        self.work_until(|it| it.nodes.tree.is_done() && !it.nodes.tree.has_events());
        // What ranks wrote whose children still hold their streams.
        self.output.end_all_lines();
        // Files may take long: whoever waits knows why the job has failed.
        let failed = self.faults.has_failed();
        let told = !self.output.is_filed() && self.tell_cause();
        self.work_until(|it| it.output.is_filed());
        self.hear_files();
        let survived = self.faults.is_survived(&self.processes);
        self.nodes.tree.close(&self.nodes.base);
        self.nodes.base.watchdog.stop();
        if !told {
            self.tell_cause();
        } else if !failed && let Some(text) = self.faults.failure_in_words() {
            self.output.say(text);
        }
        if self.faults.cause().is_none() {
            let silent = self.faults.mention_silent(&self.processes);
            silent.into_iter().for_each(|text| self.output.say(text));
        }
        self.findings
            .write()
            .into_iter()
            .for_each(|text| self.output.say(text));
        self.tell_profile();
        self.write_timeline();
        let told = self.timeline.tell();
        told.into_iter().for_each(|text| self.output.say(text));
        let fault = self.faults.cause().map(|failure| failure.status);
        let was_told = self.faults.has_failed();
        let found = self.findings.failure();
        if let Some((text, _)) = found.as_ref().filter(|_| !was_told) {
            self.output.say(text);
        }
        self.work_until(|it| it.output.is_shown());
        // The time may have run out, or a signal have come, only then.
        let late = self.faults.failure_in_words().filter(|_| !was_told);
        if self.output.tell_losses(late) {
            self.faults.output_was_lost();
        }
        let status = self.faults.status(survived, fault);
        match found.filter(|_| status == 0) {
            Some((_, found)) => found,
            None => status,
        }
    }

    /// Asks for the last calls of ranks, while there are nodes, if the job has failed and they are
    /// to be told.
    fn ask_for_traces(&mut self) {
        self.traces.ask(self.faults.cause(), &mut self.nodes);
        let until = Instant::now() + traces::PATIENCE;
        while self.traces.is_waiting() && Instant::now() < until {
            self.learn();
            self.flush();
            if self.traces.is_waiting() {
                self.turn(Some(until));
            }
        }
    }

    /// Asks for what checked mode has found, while there are nodes.
    fn ask_for_findings(&mut self) {
        self.findings.ask_at_end(&mut self.nodes);
        let until = Instant::now() + findings::PATIENCE;
        while self.findings.is_waiting() && Instant::now() < until {
            self.learn();
            self.flush();
            if self.findings.is_waiting() {
                self.turn(Some(until));
            }
        }
    }

    /// Asks for what ranks have counted, while there are nodes.
    fn ask_for_profile(&mut self) {
        self.profiling.ask(&mut self.nodes);
        let until = Instant::now() + profile::PATIENCE;
        while self.profiling.is_waiting() && Instant::now() < until {
            self.learn();
            self.flush();
            if self.profiling.is_waiting() {
                self.turn(Some(until));
            }
        }
    }

    /// Asks for all calls that ranks have made since they were asked last, while there are nodes.
    fn ask_for_timeline(&mut self) {
        if !self.timeline.is_watching() {
            return;
        }
        let until = Instant::now() + timeline::PATIENCE;
        // The first answer is to the last question that was asked while the job ran.
        let mut is_last = false;
        loop {
            while self.timeline.is_waiting() && Instant::now() < until {
                self.learn();
                self.flush();
                if self.timeline.is_waiting() {
                    self.turn(Some(until));
                }
            }
            if Instant::now() >= until || is_last && !self.timeline.has_more() {
                break;
            }
            self.timeline.ask_at_end(&mut self.nodes);
            is_last = true;
        }
        self.timeline.complete();
    }

    /// Waits until the trace is written: as long as its file takes anything, and the user has
    /// patience.
    fn write_timeline(&mut self) {
        const PAUSE: Duration = Duration::from_millis(2);
        self.timeline.end();
        let (mut left, mut since) = (usize::MAX, Instant::now());
        while !self.timeline.is_written() {
            let now = Instant::now();
            let waiting = self.timeline.waiting();
            if waiting != left {
                (left, since) = (waiting, now);
            }
            let patience = match self.faults.is_hurried() {
                true => timeline::STUCK_IN_HASTE,
                false => timeline::STUCK,
            };
            if now >= since + patience {
                return;
            }
            self.learn();
            self.flush();
            self.turn(Some(now + PAUSE));
        }
    }

    /// Tells where the time has gone, if that was counted.
    fn tell_profile(&mut self) {
        if let Some(text) = self.profiling.explain() {
            let (first, more) = text.split_once('\n').unwrap_or((&text, ""));
            self.output.say(format!("explain: {first}"));
            if !more.is_empty() {
                self.output.tell(more.trim_end());
            }
        }
        let written = self.profiling.report_explanation();
        written.into_iter().for_each(|text| self.output.say(text));
        let Some(told) = self.profiling.tell() else {
            return;
        };
        self.output.say(format!("profile: {}", told.first));
        if !told.more.is_empty() {
            self.output.tell(&told.more);
        }
        told.files.iter().for_each(|text| self.output.say(text));
    }

    /// Tells why the job has failed; whether it has.
    fn tell_cause(&mut self) -> bool {
        if let Some(text) = self.faults.cause_in_words(&self.processes) {
            self.output.say(text);
        }
        if let Some(failure) = self.faults.cause() {
            let told = self.traces.tell(failure, &self.processes);
            told.iter().for_each(|line| self.output.tell(line));
        }
        self.faults.cause().is_some()
    }

    /// Works until something is so, or nobody reads what a job has written that is to end.
    fn work_until(&mut self, is_so: impl Fn(&Supervisor) -> bool) {
        loop {
            // To take output lets nodes tell the rest: they are done before that is taken in here.
            self.learn();
            self.flush();
            if is_so(self) {
                return;
            }
            let is_behind = !self.output.is_shown() || !self.output.is_filed();
            let is_stuck = self.faults.is_hurried() && is_behind;
            let patience = is_stuck.then(|| Instant::now() + PATIENCE);
            let is_late = !self.turn(patience) && patience.is_some_and(|at| Instant::now() >= at);
            if is_late {
                self.output.give_up();
            }
        }
    }
}
