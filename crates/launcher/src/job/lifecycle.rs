//! How ranks end, what that means for the job, and how a job is ended.

use std::io;
use std::mem;
use std::time::{Duration, Instant};

use catena_abi::consts::ERR_PROC_ABORTED;
use catena_boot::{Ended, FaultStatus, LAUNCH_TAKEOVER, OtherMpi};
use catena_job::{Exit, NOT_STARTED, NodeCommand, Plan, Stage, setting};

use super::hearing::Verdict;
use super::late::Judged;
use super::{ABANDON, HEARSAY, Job, Process, SILENT, STRANGE, Task, WAITING};
use crate::library;
use crate::node::Node;
use crate::report::{self, Failure};
use crate::sys;
use crate::takeover::Home;

/// What a rank of Open MPI ends the job with when a connection to another is lost
/// (its MPI_ERR_UNKNOWN).
const OPEN_MPI_LOST: i32 = 14;

/// What a rank did that used MPI to its end.
const SILENTLY: &str = "ended without MPI_Finalize (or MPI_Session_finalize)";

/// Of one that has started this launcher no more is known.
const OR_KILLED: &str = ", or was killed: the launcher that has started it knows";

/// Whether a signal, so long after another one, is that one again. `timeout` and batch systems send theirs to the launcher and
/// to its group, and some SIGHUP behind SIGTERM, while a user who presses Ctrl-C again means it.
fn is_again(signal: i32, last: i32, since: Duration) -> bool {
    let kind = |signal| match signal {
        libc::SIGHUP => libc::SIGTERM,
        other => other,
    };
    let limit = match signal {
        libc::SIGINT => Duration::from_millis(100),
        _ => Duration::from_secs(1),
    };
    kind(signal) == kind(last) && since < limit
}

/// Names a rank for the user.
fn name(plan: &Plan, process: &Process) -> String {
    // The process that speaks MPI is the one that the user knows.
    let pid = process.joined.unwrap_or(process.pid);
    let program = process.app.program.display();
    let host = &plan.hosts[process.node as usize];
    let rank = process.rank;
    match process.job {
        0 => format!("rank {rank} on host {host} (pid {pid}, {program})"),
        job => format!("rank {rank} of spawned job {job} on host {host} (pid {pid}, {program})"),
    }
}

/// What is said of a job that is over, and has done no harm by leaving MPI_Finalize out. `first` is the first to have done
/// so of those that have started this launcher.
pub(super) fn mention_silent(
    command: &str,
    plan: &Plan,
    processes: &[Process],
    first: Option<u32>,
) -> Option<String> {
    if let Some(first) = first {
        let who = name(plan, &processes[first as usize]);
        return Some(format!("{command}: {who} {SILENTLY}{OR_KILLED}"));
    }
    let silent = |p: &&Process| p.joined.is_some() && !p.finalized && !p.abandoned;
    let process = processes.iter().find(silent)?;
    Some(format!("{command}: {} {SILENTLY}", name(plan, process)))
}

impl Job {
    /// Names a rank for the user.
    pub(super) fn who(&self, rank: u32) -> String {
        name(&self.plan, &self.processes[rank as usize])
    }

    /// Remembers the first failure, or the cause of what was only hearsay, and
    /// has the ranks asked to end after a while: those that are connected to the one that
    /// has failed, if one has, else all.
    pub(super) fn fail(&mut self, failure: Failure, after: Duration) {
        match self.may_spare(&failure) {
            true => self.hear_first(Verdict::Failed(failure, after)),
            false => self.fail_now(failure, after),
        }
    }

    /// As [`Job::fail`], whatever processes may have said that was not heard yet.
    pub(super) fn fail_now(&mut self, failure: Failure, after: Duration) {
        let Some(failure) = self.fail_some(failure, after) else {
            return;
        };
        let told = |known: &Failure| !known.hearsay || failure.hearsay || self.ending;
        if !self.failure.as_ref().is_some_and(told) {
            self.failure = Some(failure);
            // Whoever is gone may have said how.
            self.find_cause();
            let is_known = self.failure.as_ref().is_some_and(|known| !known.hearsay);
            let after = if is_known { Duration::ZERO } else { after };
            self.at(after, Task::End);
            self.do_tasks();
        }
    }

    pub(super) fn at(&mut self, after: Duration, task: Task) {
        self.tasks.push((Instant::now() + after, task));
    }

    /// Does what is due.
    pub(super) fn do_tasks(&mut self) {
        let now = Instant::now();
        while let Some(index) = self.tasks.iter().position(|(at, _)| *at <= now) {
            match self.tasks.swap_remove(index).1 {
                Task::Timeout(limit) => {
                    self.hurried = true;
                    self.fail(report::timed_out(limit), Duration::ZERO);
                }
                Task::End => self.end(),
                Task::MentionWait => self.mention_wait(),
                Task::Kill => {
                    self.kill_all(libc::SIGKILL);
                    self.at(ABANDON, Task::Abandon);
                }
                Task::Abandon if self.processes.iter().any(|p| p.running) => {
                    self.tree.abandon();
                    self.learn();
                }
                Task::Abandon => {}
                Task::CheckSilent(rank) => self.check_silent(rank),
                Task::CheckStrange(rank) => self.check_strange(rank),
                Task::CheckSpawn(first, limit) => self.check_spawn(first, limit),
                Task::EndSome(id, signal) => self.end_some(id, signal),
                Task::CheckLate => self.check_late(),
                Task::CheckApart => self.check_apart(),
            }
        }
    }

    /// Asks all ranks to end, and has them killed soon.
    fn end(&mut self) {
        if self.ending {
            return;
        }
        self.find_cause();
        self.ending = true;
        let failed = self.failure.as_ref().and_then(|failure| failure.rank);
        for (rank, process) in (0..).zip(&self.processes) {
            let was_there = process.running && process.pid != 0;
            self.ended += usize::from(was_there && failed != Some(rank));
        }
        let text = self
            .failure
            .as_ref()
            .and_then(|failure| failure.text.clone());
        for number in 0..self.processes.len() as u32 {
            self.tell_failure(number, text.as_deref());
        }
        if self.tree.node.as_ref().is_some_and(Node::has_guests) {
            // Once these have ended, their launcher may take no more output.
            self.take_cause()
                .into_iter()
                .for_each(|text| self.sinks.tell(text));
            self.flush();
        }
        // Whoever has interrupted the job has chosen how; a terminal that is closed, or a session that ends, is no wish of
        // anybody's, and programs save their work for SIGTERM.
        let signal = match self.interrupted {
            Some((signal @ (libc::SIGINT | libc::SIGQUIT), _)) => signal,
            _ => libc::SIGTERM,
        };
        self.command(&NodeCommand::End { signal });
        if signal == libc::SIGINT {
            self.at(WAITING, Task::MentionWait);
        }
        self.at(self.grace, Task::Kill);
    }

    /// Why the job fails, as the user is told once.
    fn take_cause(&mut self) -> Option<String> {
        let failure = self.failure.as_mut()?;
        let others = failure.rank.map(|_| self.processes.len() - 1);
        let rest = report::rest(self.ended, others);
        let text = failure.text.take()?;
        Some(format!("{}: {text}{rest}", self.command))
    }

    /// Who is said to be gone may have left without MPI_Finalize: the others
    /// notice that first. Or it has failed after MPI_Finalize.
    pub(super) fn find_cause(&mut self) {
        let by = self.failure.as_ref().filter(|known| known.hearsay);
        if !self.ending
            && let Some(by) = by.map(|known| known.rank)
        {
            let silent = self.who_is_gone(by).map(|rank| self.silent(rank));
            self.failure = silent.or(self.first_late()).or(self.failure.take());
        }
    }

    /// The process that has left without MPI_Finalize, as far as it can be told when `by` says that somebody is gone. Among the
    /// processes that have started this launcher it is the first one that left, because their own launcher ends the others for it.
    fn who_is_gone(&mut self, by: Option<u32>) -> Option<u32> {
        let guest = self.first_gone.filter(|guest| {
            let circle = self.tree.with_node(|node| node.connected_to(*guest));
            by.is_some_and(|by| circle.iter().flatten().any(|of| of.contains(&by)))
        });
        let is_silent = |(number, p): &(u32, &Process)| {
            let left = p.exit == Some(Exit::Code(0)) && p.joined.is_some() && !p.finalized;
            left && !p.aborted && (p.job > 0 || guest.is_none() || guest == Some(*number))
        };
        let found = (0..).zip(&self.processes).find(is_silent);
        found.map(|(number, _)| number)
    }

    /// The fault of a rank that left without MPI_Finalize.
    fn silent(&self, rank: u32) -> Failure {
        let node = self.tree.node.as_ref();
        let how = match node.is_some_and(|node| node.is_guest(rank)) {
            true => OR_KILLED,
            false => "",
        };
        Failure::new(1, format!("{} {SILENTLY}{how}", self.who(rank))).of(rank)
    }

    /// Sends a signal to all ranks and their children.
    fn kill_all(&mut self, signal: i32) {
        let groups = true;
        self.command(&NodeCommand::Signal { signal, groups });
    }

    /// A signal to the launcher.
    pub(super) fn signal(&mut self, signal: i32) {
        match signal {
            libc::SIGCHLD => self.tree.children(),
            libc::SIGUSR1 | libc::SIGUSR2 => {
                let groups = false;
                self.command(&NodeCommand::Signal { signal, groups });
            }
            libc::SIGTSTP => {
                self.kill_all(libc::SIGSTOP);
                self.flush();
                sys::stop_self();
            }
            libc::SIGCONT => self.kill_all(libc::SIGCONT),
            _ => self.interrupt(signal),
        }
    }

    /// A signal that is to end the job. The first one is passed on to the ranks, a second one kills them.
    fn interrupt(&mut self, signal: i32) {
        let now = Instant::now();
        if self
            .interrupted
            .is_some_and(|(last, at)| is_again(signal, last, now - at))
        {
            return;
        }
        self.interrupted = Some((signal, now));
        let was_hurried = std::mem::replace(&mut self.hurried, true);
        if self.finishing {
            self.failure.get_or_insert(report::interrupted(signal));
            if was_hurried {
                self.drop_output();
            }
        } else if was_hurried || self.ending {
            self.kill_all(libc::SIGKILL);
        } else {
            self.fail(report::interrupted(signal), Duration::ZERO);
        }
    }

    /// Tells the user who presses Ctrl-C whom the job still waits for.
    fn mention_wait(&mut self) {
        let running = self.processes.iter().filter(|p| p.running && p.pid != 0);
        let ranks = match running.count() {
            0 => return,
            1 => "1 rank has".to_string(),
            n => format!("{n} ranks have"),
        };
        self.sinks.tell(format_args!(
            "{}: {ranks} not ended yet and will be killed {} s after the interrupt (CATENA_LAUNCH_GRACE); a second \
             Ctrl-C kills at once",
            self.command,
            self.grace.as_secs_f64()
        ));
    }

    /// A rank was started.
    pub(super) fn started(&mut self, rank: u32, pid: u32, cpus: &str) {
        self.processes[rank as usize].pid = pid;
        self.files
            .create(&self.processes[rank as usize], &self.plan.hosts);
        if self.verbose {
            let place = match cpus {
                "" => "not bound".to_string(),
                _ if cpus.bytes().all(|digit| digit.is_ascii_digit()) => {
                    format!("bound to CPU {cpus}")
                }
                _ => format!("bound to CPUs {cpus}"),
            };
            let process = &self.processes[rank as usize];
            self.sinks.tell(format_args!(
                "{}: rank {} is {} on host {}, pid {pid}, {place}",
                self.command,
                process.rank,
                process.app.program.display(),
                self.plan.hosts[process.node as usize]
            ));
        }
    }

    /// A node has something to say, which may be the same as others have said.
    pub(super) fn note(&mut self, text: String, matters: bool) {
        if (matters || self.verbose) && !self.notes.contains(&text) {
            self.sinks.tell(format_args!("{}: {text}", self.command));
            self.notes.push(text);
        }
    }

    /// A rank was never started, and the reason was told.
    pub(super) fn missing(&mut self, rank: u32) {
        let process = &mut self.processes[rank as usize];
        process.running = false;
        if process.job > 0 {
            process.exit = Some(Exit::Code(NOT_STARTED));
            self.some_ended = true;
        }
    }

    /// Nothing is known of a node any more.
    pub(super) fn lost(&mut self, node: u32, text: Option<String>) {
        let mut dead = Vec::new();
        for (rank, process) in (0..).zip(&mut self.processes) {
            if process.node == node && std::mem::replace(&mut process.running, false) {
                dead.push(rank);
            }
        }
        self.fed(node, [0, 0], false);
        let Some(text) = text else { return };
        // What was about to start there comes to nothing, and those who wanted it are told.
        for &rank in &dead {
            if self.spawn_failed(rank, &text) || self.processes[rank as usize].abandoned {
                self.missing(rank);
            }
        }
        dead.retain(|&rank| !self.processes[rank as usize].abandoned);
        if !self.processes.iter().any(|p| p.job == 0 && p.node == node) {
            // It is used again only where it is named.
            self.plan.room[node as usize] = 0;
        }
        let Some(&first) = dead.first() else {
            // No rank of the first job is there, or all of them have ended.
            let had_ranks = self.processes.iter().any(|p| p.job == 0 && p.node == node);
            let failure = Failure::new(1, text);
            return match (had_ranks, self.tolerant) {
                (true, true) => self.go_on(failure, true),
                (true, false) => self.fail(failure, Duration::ZERO),
                (false, _) => {}
            };
        };
        let is_first = dead
            .iter()
            .any(|&rank| self.processes[rank as usize].job == 0);
        let failure = match is_first {
            true => Failure::new(1, text),
            // It ends those that are connected to what ran there.
            false => Failure::new(1, text).of(first),
        };
        for &rank in &dead {
            if self.processes[rank as usize].job > 0 {
                self.processes[rank as usize].exit = Some(Exit::Signal(libc::SIGKILL));
                self.some_ended = true;
            }
            self.died(rank, Ended::Lost);
        }
        match self.tolerant {
            true => self.go_on(failure, true),
            false => self.fail(failure, Duration::ZERO),
        }
    }

    /// A rank has ended.
    pub(super) fn ended(&mut self, rank: u32, exit: Exit) {
        let process = &mut self.processes[rank as usize];
        process.running = false;
        process.exit = Some(exit);
        self.some_ended |= process.job > 0;
        self.take_given_up();
        self.give_up_spawned(rank, None);
        let process = &self.processes[rank as usize];
        if process.job > 0 && self.spawn_ended(rank, exit) || self.is_abandoned(rank) {
            return;
        }
        let process = &mut self.processes[rank as usize];
        let (joined, finalized) = (process.joined.is_some(), process.finalized);
        match exit {
            Exit::Code(0) if finalized => {}
            Exit::Code(0) if joined => self.at(SILENT, Task::CheckSilent(rank)),
            Exit::Code(0) => {
                self.at(STRANGE, Task::CheckStrange(rank));
                self.check_fence();
            }
            // It has said more than its status does.
            _ if process.aborted => {}
            _ if process.unstarted => {}
            Exit::Signal(libc::SIGPIPE) if self.output_is_unwanted() => {
                self.fail(Failure::silent(128 + libc::SIGPIPE), Duration::ZERO);
            }
            _ => {
                let failure = report::ended(&self.who(rank), exit).of(rank);
                self.died(rank, exit.into());
                // Where nobody uses MPI, nobody waits for it.
                let is_missed = || self.processes.iter().any(|p| p.joined.is_some());
                match (self.tolerant && (joined || !is_missed()), finalized) {
                    (true, _) => self.go_on(failure, !finalized),
                    // Others can finish without it.
                    (false, true) => self.fail_late(rank, failure),
                    (false, false) => self.fail(failure, Duration::ZERO),
                }
            }
        }
        self.check_late();
    }

    /// Ends the job for those that may be waited for in vain, although they have failed after MPI_Finalize.
    pub(super) fn check_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        for judged in self.judge_late() {
            match judged {
                Judged::Survived(failure) => self.go_on(failure, false),
                Judged::Awaited(failure) => self.fail(failure, Duration::ZERO),
            }
            self.some_ended = true;
        }
    }

    /// The job goes on after a failure, of which its status tells: after a death, or something else.
    pub(super) fn go_on(&mut self, failure: Failure, is_death: bool) {
        if !is_death {
            self.fault_of_living.get_or_insert_with(|| failure.clone());
        }
        self.fault.get_or_insert(failure);
    }

    /// Whether nothing was at fault but those that have died, and that does not count as some are left that have ended well.
    pub(super) fn is_survived(&self) -> bool {
        let well = |process: &Process| process.exit == Some(Exit::Code(0));
        self.fault_status == FaultStatus::Survivors
            && self.fault_of_living.is_none()
            && self.processes.iter().any(well)
    }

    /// A rank has died: all processes are told.
    pub(super) fn died(&mut self, rank: u32, how: Ended) {
        self.deaths += 1;
        let epoch = self.deaths;
        self.command(&NodeCommand::Died { rank, epoch, how });
        self.check_job_fences();
    }

    fn output_is_unwanted(&self) -> bool {
        self.sinks
            .iter()
            .any(|sink| sink.closed() == Some(io::ErrorKind::BrokenPipe))
    }

    /// A rank could not execute its program.
    pub(super) fn not_started(&mut self, rank: u32, stage: Stage, error: i32) {
        let process = &mut self.processes[rank as usize];
        process.unstarted = true;
        let app = process.app.clone();
        let program = app.program.to_string_lossy();
        let wdir = app.wdir.as_ref().map(|dir| dir.display().to_string());
        let error = io::Error::from_raw_os_error(error);
        let failure = report::not_started(&program, wdir.as_deref(), stage, &error);
        let why = failure.text.clone().unwrap_or_default();
        if !self.spawn_failed(rank, &why) {
            self.fail(failure, Duration::ZERO);
        }
    }

    /// A rank has the library of another MPI in it, which could have found its place by PMIx if it is `served`.
    pub(super) fn foreign(&mut self, rank: u32, library: &str, served: bool) {
        let program = &self.processes[rank as usize].app.program;
        let name = library.rsplit('/').next().unwrap_or_default();
        let own = Home::find().and_then(|home| home.library(library::asked_for(name)));
        let ranks = self.processes.len();
        let text = report::foreign(
            &program.to_string_lossy(),
            library,
            own.as_deref(),
            setting(&LAUNCH_TAKEOVER, &self.plan.env),
            served,
            ranks,
        );
        // Once for all ranks.
        match mem::replace(&mut self.foreign, OtherMpi::Allow) {
            OtherMpi::Stop => self.fail(Failure::new(1, text), Duration::ZERO),
            OtherMpi::Warn => self.sinks.tell(format_args!("{}: {text}", self.command)),
            OtherMpi::Allow => {}
        }
    }

    /// A rank wants the job to end.
    pub(super) fn abort(&mut self, rank: u32, code: i32, message: &str) {
        self.processes[rank as usize].aborted = true;
        let failure = report::aborted(&self.who(rank), code, message).of(rank);
        if self.spawn_aborted(rank, failure.text.as_deref().unwrap_or_default()) {
            return;
        }
        // It may see that another has died before the system tells so here.
        match [ERR_PROC_ABORTED, OPEN_MPI_LOST].contains(&code) {
            true => self.fail(failure.hearsay(), HEARSAY),
            false => self.fail(failure, Duration::ZERO),
        }
    }

    /// A rank says that the job has failed, and goes on.
    pub(super) fn fault(&mut self, rank: u32, message: &str) {
        let text = format!("{}: {message}", self.who(rank));
        let fault = Failure::new(1, text).of(rank);
        self.go_on(fault, false);
    }

    /// A rank sent nonsense to the server.
    pub(super) fn broken(&mut self, rank: u32, cause: &str) {
        let text = format!(
            "{} sent what mpirun cannot read ({cause}); use the mpirun that belongs to its library",
            self.who(rank)
        );
        self.fail(Failure::new(1, text).of(rank), Duration::ZERO);
    }

    /// A rank has closed its connection.
    pub(super) fn left(&mut self, rank: u32) {
        self.tree.with_node(|node| node.left(rank));
        let node = self.tree.node.as_ref();
        if let Some(node) = node.filter(|node| node.is_guest(rank)) {
            let gone = node.gone_guests();
            let process = &self.processes[rank as usize];
            if !process.finalized && !process.aborted {
                // Its launcher ends the others for it.
                self.first_gone.get_or_insert(rank);
            }
            // All that will be heard of it: it is no child of this process.
            self.ended(rank, Exit::Code(0));
            // Others have never come, as they needed no other jobs.
            for rank in gone {
                if self.processes[rank as usize].running {
                    self.missing(rank);
                }
            }
            return;
        }
        let process = &self.processes[rank as usize];
        if !process.finalized && !process.abandoned {
            self.at(SILENT, Task::CheckSilent(rank));
        }
    }

    /// A rank has left without MPI_Finalize some time ago.
    fn check_silent(&mut self, rank: u32) {
        let others = self.processes.iter().any(|p| p.running);
        if self.failure.is_some() || !others {
            return;
        }
        match (self.tolerant, self.processes[rank as usize].exit) {
            (false, _) | (true, None) => self.fail(self.silent(rank), Duration::ZERO),
            (true, Some(Exit::Code(0))) => {
                self.died(rank, Ended::Code(0));
                self.processes[rank as usize].abandoned = true;
                self.some_ended = true;
                let failure = self.silent(rank);
                self.go_on(failure, true);
            }
            // Its death was told.
            (true, Some(_)) => {}
        }
    }

    /// A rank has ended without MPI_Init some time ago.
    fn check_strange(&mut self, rank: u32) {
        let waiting = |p: &Process| p.running && p.joined.is_some() && !p.finalized;
        let other = self.processes.iter().position(waiting);
        if let (Some(other), None) = (other, &self.failure) {
            let who = self.who(rank);
            self.sinks.tell(format_args!(
                "{}: {who} has ended without MPI_Init, while rank {other} uses MPI and may wait for \
                 it for ever",
                self.command
            ));
        }
    }

    /// Ranks that wait in a fence for one that has ended wait for ever.
    pub(super) fn check_fence(&mut self) {
        if !self.fencing {
            return;
        }
        let gone = |p: &Process| p.job == 0 && p.exit.is_some() && p.joined.is_none();
        if let Some(rank) = self.processes.iter().position(gone) {
            let rank = rank as u32;
            let text = format!(
                "{} ended without MPI_Init, and others wait for it",
                self.who(rank)
            );
            self.fail(Failure::new(1, text).of(rank), Duration::ZERO);
        }
    }
}
