//! How ranks end, what that means for the job, and how a job is ended.

use std::io;
use std::time::{Duration, Instant};

use catena_abi::consts::ERR_PROC_ABORTED;

use super::{GRACE, Job, LATE, Process, SILENT, STRANGE, Task};
use crate::program::NOT_STARTED;
use crate::report::{self, Failure};
use crate::sys::{self, Exit, Stage};

/// What a rank did that used MPI to its end.
const SILENTLY: &str = "ended without MPI_Finalize (or MPI_Session_finalize)";

impl Job {
    /// Names a rank for the user.
    fn who(&self, rank: u32) -> String {
        let process = &self.processes[rank as usize];
        // The process that speaks MPI is the one that the user knows.
        let pid = process.joined.map_or(process.pid as u32, |pid| pid);
        let program = &self.programs[process.app];
        format!("rank {rank} on host {} (pid {pid}, {program})", self.host)
    }

    /// Remembers the first failure, or the cause of what was only hearsay, and
    /// has the ranks asked to end after a while.
    fn fail(&mut self, failure: Failure, after: Duration) {
        let told = |known: &Failure| !known.hearsay || failure.hearsay || self.ending;
        if !self.failure.as_ref().is_some_and(told) {
            self.failure = Some(failure);
            self.at(after, Task::End);
            self.do_tasks();
        }
    }

    /// Ends what was started of a job that cannot be started as a whole; gives
    /// the status.
    pub fn give_up(mut self, text: String) -> i32 {
        self.fail(Failure::new(NOT_STARTED, text), Duration::ZERO);
        self.run()
    }

    fn at(&mut self, after: Duration, task: Task) {
        self.tasks.push((Instant::now() + after, task));
    }

    /// Does what is due.
    pub(super) fn do_tasks(&mut self) {
        let now = Instant::now();
        while let Some(index) = self.tasks.iter().position(|(at, _)| *at <= now) {
            match self.tasks.swap_remove(index).1 {
                Task::Timeout(limit) => self.fail(report::timed_out(limit), Duration::ZERO),
                Task::End => self.end(),
                Task::Kill => self.kill_all(libc::SIGKILL),
                Task::CheckSilent(rank) => self.check_silent(rank),
                Task::CheckStrange(rank) => self.check_strange(rank),
            }
        }
    }

    /// Asks all ranks to end, and has them killed soon.
    fn end(&mut self) {
        if self.ending {
            return;
        }
        self.ending = true;
        let failed = self.failure.as_ref().and_then(|failure| failure.rank);
        for (rank, process) in (0..).zip(&self.processes) {
            self.ended += usize::from(process.running() && failed != Some(rank));
            // One that aborts is about to end, and writes its output first.
            if !process.aborted {
                sys::kill_group(process.pid, libc::SIGTERM);
                // So that one that is stopped gets to know.
                sys::kill_group(process.pid, libc::SIGCONT);
            }
        }
        self.at(GRACE, Task::Kill);
    }

    pub(super) fn kill_all(&self, signal: i32) {
        for process in &self.processes {
            sys::kill_group(process.pid, signal);
        }
    }

    /// A signal to the launcher.
    pub(super) fn signal(&mut self, signal: i32) {
        match signal {
            libc::SIGCHLD => self.children(),
            libc::SIGUSR1 | libc::SIGUSR2 => {
                for process in self.processes.iter().filter(|p| p.running()) {
                    sys::kill(process.pid, signal);
                }
            }
            libc::SIGTSTP => {
                self.kill_all(libc::SIGSTOP);
                sys::stop_self();
            }
            libc::SIGCONT => self.kill_all(libc::SIGCONT),
            _ if self.failure.is_some() => self.kill_all(libc::SIGKILL),
            _ => self.fail(report::interrupted(signal), Duration::ZERO),
        }
    }

    /// Some children may have ended.
    fn children(&mut self) {
        // What they said before comes first.
        self.serve();
        for rank in 0..self.processes.len() {
            let process = &mut self.processes[rank];
            if process.running()
                && let Some(exit) = sys::peek_exit(process.pid)
            {
                process.exit = Some(exit);
                self.ended(rank as u32, exit);
            }
        }
    }

    /// A rank has ended.
    fn ended(&mut self, rank: u32, exit: Exit) {
        let process = &self.processes[rank as usize];
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
            // It may have failed to start its program; that is reported apart.
            Exit::Code(127) if self.take_failures() => {}
            Exit::Signal(libc::SIGPIPE) if self.output_is_unwanted() => {
                self.fail(Failure::silent(128 + libc::SIGPIPE), Duration::ZERO);
            }
            // Others can finish without a rank that has finalized.
            _ => {
                let after = if finalized { LATE } else { Duration::ZERO };
                self.fail(report::ended(&self.who(rank), exit).of(rank), after);
            }
        }
    }

    fn output_is_unwanted(&self) -> bool {
        self.sinks
            .iter()
            .any(|sink| sink.closed() == Some(io::ErrorKind::BrokenPipe))
    }

    /// Reads all reports of processes that could not execute their program;
    /// gives whether there were any.
    fn take_failures(&mut self) -> bool {
        let mut any = false;
        while let Some((rank, stage, error)) = sys::read_failure(&self.failures.0) {
            self.not_started(rank, stage, &error);
            any = true;
        }
        any
    }

    /// A rank could not execute its program.
    pub(super) fn not_started(&mut self, rank: u32, stage: Stage, error: &io::Error) {
        let app = self.processes[rank as usize].app;
        let wdir = self.wdirs[app].as_deref();
        let failure = report::not_started(&self.programs[app], wdir, stage, error);
        self.fail(failure, Duration::ZERO);
    }

    /// A rank wants the job to end.
    pub(super) fn abort(&mut self, rank: u32, code: i32, message: &str) {
        self.processes[rank as usize].aborted = true;
        let failure = report::aborted(&self.who(rank), code, message).of(rank);
        // It may see that another has died before the system tells so here.
        match code == ERR_PROC_ABORTED {
            true => self.fail(failure.hearsay(), LATE),
            false => self.fail(failure, Duration::ZERO),
        }
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
        if !self.processes[rank as usize].finalized {
            self.at(SILENT, Task::CheckSilent(rank));
        }
    }

    /// A rank has left without MPI_Finalize some time ago.
    fn check_silent(&mut self, rank: u32) {
        let others = self.processes.iter().any(Process::running);
        if self.failure.is_none() && others {
            let text = format!("{} {SILENTLY}", self.who(rank));
            self.fail(Failure::new(1, text).of(rank), Duration::ZERO);
        }
    }

    /// A job that is over has done no harm by leaving MPI_Finalize out.
    pub(super) fn mention_silent(&self) {
        let silent = |p: &Process| p.joined.is_some() && !p.finalized;
        if let Some(rank) = self.processes.iter().position(silent) {
            eprintln!("{}: {} {SILENTLY}", self.command, self.who(rank as u32));
        }
    }

    /// A rank has ended without MPI_Init some time ago.
    fn check_strange(&mut self, rank: u32) {
        let waiting = |p: &Process| p.running() && p.joined.is_some() && !p.finalized;
        let other = self.processes.iter().position(waiting);
        if let (Some(other), None) = (other, &self.failure) {
            eprintln!(
                "{}: {} has ended without MPI_Init, while rank {other} uses MPI and may wait for \
                 it for ever",
                self.command,
                self.who(rank)
            );
        }
    }

    /// Ranks that wait in a fence for one that has ended wait for ever.
    pub(super) fn check_fence(&mut self) {
        if !self.server.in_fence() {
            return;
        }
        let gone = |p: &Process| p.exit == Some(Exit::Code(0)) && p.joined.is_none();
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
