//! What nodes tell the supervisor.

use std::io;
use std::time::{Duration, Instant};

use catena_boot::Ended;
use catena_boot::server::Event;
use catena_job::{Exit, NOT_STARTED, NodeCommand, NodeEvent, Stage};

use super::Supervisor;
use super::nodes::Ties;
use crate::report::{self, Failure};
use crate::stdin::Taken;

impl Supervisor {
    /// Takes in one thing that has happened.
    pub(super) fn take_in(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Placed { text } => self.output.tell(text.trim_end_matches('\n')),
            NodeEvent::Started { rank, pid, cpus } => {
                self.processes[rank].pid = pid;
                self.output.started(&self.processes[rank], &cpus);
            }
            NodeEvent::Output { rank, which, bytes } => self.written(rank, which, &bytes),
            NodeEvent::Said(event) => self.said(event),
            NodeEvent::NotStarted { rank, stage, error } => self.not_started(rank, stage, error),
            NodeEvent::Ended { rank, exit } => self.ended(rank, exit),
            NodeEvent::Missing { rank } => self.missing(rank),
            NodeEvent::JobFailed { first, text } => {
                let (processes, nodes) = (&mut self.processes, &mut self.nodes);
                self.spawner.failed(first, &text, processes, nodes);
            }
            NodeEvent::Forgotten { node, first } => self.spawner.forgotten(node, first),
            NodeEvent::Surveyed { number, answer } => {
                self.take_waits(number, &answer);
                self.take_inquiry(number, &answer);
                if let Some(failure) = self.findings.answered(number, &answer)
                    && !self.finishing
                {
                    self.fail(failure, Duration::ZERO);
                }
                self.traces.answered(number, &answer);
                self.profiling.answered(number, &answer);
                self.timeline.answered(number, &answer);
                if self.timeline.has_more() && !self.finishing {
                    let told = self.timeline.look(&mut self.nodes);
                    told.into_iter().for_each(|text| self.output.say(text));
                }
                self.hearing.answered(number);
                self.judge_heard();
            }
            NodeEvent::Foreign {
                rank,
                library,
                served,
            } => {
                let found = self.faults.foreign(rank, &library, served, &self.processes);
                self.perform(found);
            }
            NodeEvent::Note { text, matters } => self.output.note(text, matters),
            NodeEvent::Fed {
                node,
                slowest,
                fastest,
                more,
            } => self.fed(node, [slowest, fastest], more),
            NodeEvent::Failed { status, text } => {
                self.fail(Failure::new(status, text), Duration::ZERO);
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
                self.faults.set_fencing(true);
                let waiting = self.faults.check_fence(&self.processes);
                self.perform(waiting);
            }
            Event::Fenced { parts } => {
                self.faults.set_fencing(false);
                self.nodes.command(&NodeCommand::EndFence(parts.into()));
            }
            Event::Joined { rank, pid } => {
                let process = &mut self.processes[rank];
                process.joined = Some(pid);
                process.in_mpi = Some(Instant::now());
                // All others may have left before one comes that has been there all the time.
                process.running |= self.nodes.is_guest(rank);
                let complete = self.spawner.joined(rank, &self.processes, &mut self.nodes);
                complete.iter().for_each(|job| self.timers.forget(job));
            }
            Event::Finalized { rank } => {
                let process = &mut self.processes[rank];
                (process.finalized, process.in_mpi) = (true, None);
            }
            Event::Resumed { rank } => {
                let process = &mut self.processes[rank];
                (process.finalized, process.in_mpi) = (false, Some(Instant::now()));
            }
            Event::Abort {
                rank,
                code,
                message,
            } => self.abort(rank, code, &message),
            Event::Fault { rank, message } => {
                let text = format!("{}: {message}", self.processes[rank].who());
                self.faults.go_on(Failure::new(1, text).of(rank), false);
            }
            Event::Broken { rank, cause, .. } => self.broken(rank, &cause),
            Event::Left { rank, .. } => self.left(rank),
            Event::Call { rank, kind, body } => {
                let tree = &mut self.nodes.tree;
                let called = tree.with_node(|node| node.call(rank, kind, &body));
                if let Some(Err(cause)) = called {
                    self.broken(rank, &cause);
                }
            }
            Event::JobFenced { node, first, parts } => {
                let (processes, nodes) = (&self.processes, &mut self.nodes);
                self.spawner.fenced(node, first, &parts, processes, nodes);
            }
            // The tree has passed them on.
            Event::Ask { .. } | Event::Answer { .. } | Event::Tell { .. } => {}
        }
    }

    /// A rank wrote something, or nothing more.
    fn written(&mut self, number: u32, which: usize, bytes: &[u8]) {
        let process = &self.processes[number];
        if self.output.write(number, process, which, bytes) {
            return;
        }
        // The launcher of those that have started this one may have ended before what they have
        // spawned.
        let node = self.nodes.tree.node.as_ref();
        if node.is_none_or(|node| node.gone_guests().is_empty()) {
            self.nodes.command(&NodeCommand::Unwanted { which });
        }
    }

    /// The ranks of a node that read standard input have taken some of it, and may want more or
    /// not.
    fn fed(&mut self, node: u32, [slowest, fastest]: [u32; 2], more: bool) {
        let taken = Taken {
            slowest: slowest.into(),
            fastest: fastest.into(),
        };
        let poller = &self.nodes.base.poller;
        if let Some(held) = self.input.taken(node, taken, more, poller) {
            self.output.say(held);
        }
    }

    /// A rank has ended.
    fn ended(&mut self, number: u32, exit: Exit) {
        let (processes, nodes) = (&mut self.processes, &mut self.nodes);
        let process = &mut processes[number];
        process.running = false;
        process.exit = Some(exit);
        let is_spawned = process.job > 0;
        if is_spawned {
            self.spawner.note_end();
        }
        self.spawner.take_given_up(processes, nodes);
        self.spawner.give_up(number, None, processes, nodes);
        if is_spawned && self.spawner.ended(number, exit, processes, nodes)
            || processes[number].abandoned
        {
            return;
        }
        let unread = self.output.is_unread();
        let actions = self.faults.ended(number, exit, processes, unread);
        self.perform(actions);
        self.check_late();
    }

    /// A rank was never started, and the reason was told.
    fn missing(&mut self, number: u32) {
        let process = &mut self.processes[number];
        process.running = false;
        if process.job > 0 {
            process.exit = Some(Exit::Code(NOT_STARTED));
            self.spawner.note_end();
        }
    }

    /// Nothing is known of a node any more.
    fn lost(&mut self, node: u32, text: Option<String>) {
        let mut dead = self.processes.lose(node);
        self.fed(node, [0, 0], false);
        let Some(text) = text else { return };
        // What was about to start there comes to nothing, and those who wanted it are told.
        for &number in &dead {
            let (processes, nodes) = (&mut self.processes, &mut self.nodes);
            let has_failed = self.spawner.failed(number, &text, processes, nodes);
            if has_failed || self.processes[number].abandoned {
                self.missing(number);
            }
        }
        dead.retain(|&number| !self.processes[number].abandoned);
        let had_ranks = self.processes.had_ranks_on(node);
        if !had_ranks {
            self.spawner.leave_node(node);
        }
        let failure = Failure::new(1, text);
        let Some(&first) = dead.first() else {
            // No rank of the first job is there, or all of them have ended.
            if had_ranks {
                let action = self.faults.lost(failure);
                self.perform(action);
            }
            return;
        };
        let is_first = dead.iter().any(|&number| self.processes[number].job == 0);
        let failure = match is_first {
            true => failure,
            // It ends those that are connected to what ran there.
            false => failure.of(first),
        };
        for &number in &dead {
            if self.processes[number].job > 0 {
                self.processes[number].exit = Some(Exit::Signal(libc::SIGKILL));
                self.spawner.note_end();
            }
            self.died(number, Ended::Lost);
        }
        let action = self.faults.lost(failure);
        self.perform(action);
    }

    /// A rank could not execute its program.
    fn not_started(&mut self, number: u32, stage: Stage, error: i32) {
        let process = &mut self.processes[number];
        process.unstarted = true;
        let app = process.app.clone();
        let program = app.program.to_string_lossy();
        let wdir = app.wdir.as_ref().map(|dir| dir.display().to_string());
        let error = io::Error::from_raw_os_error(error);
        let failure = report::not_started(&program, wdir.as_deref(), stage, &error);
        let why = failure.text.clone().unwrap_or_default();
        let (processes, nodes) = (&mut self.processes, &mut self.nodes);
        if !self.spawner.failed(number, &why, processes, nodes) {
            self.fail(failure, Duration::ZERO);
        }
    }

    /// A rank wants the job to end.
    fn abort(&mut self, number: u32, code: i32, message: &str) {
        let process = &mut self.processes[number];
        process.aborted = true;
        let failure = report::aborted(&process.who(), code, message).of(number);
        let why = failure.text.clone().unwrap_or_default();
        let (processes, nodes) = (&mut self.processes, &mut self.nodes);
        if !self.spawner.aborted(number, &why, processes, nodes) {
            let action = self.faults.aborted(failure, code);
            self.perform([action]);
        }
    }

    /// A rank sent nonsense to the server.
    fn broken(&mut self, number: u32, cause: &str) {
        let action = self.faults.broken(number, cause, &self.processes);
        self.perform([action]);
    }

    /// A rank has closed its connection.
    fn left(&mut self, number: u32) {
        self.nodes.server(|node| node.left(number));
        let node = self.nodes.tree.node.as_ref();
        let Some(node) = node.filter(|node| node.is_guest(number)) else {
            let action = self.faults.left(number, &self.processes);
            return self.perform(action);
        };
        let gone = node.gone_guests();
        self.faults.guest_left(number, &self.processes);
        // All that will be heard of it: it is no child of this process.
        self.ended(number, Exit::Code(0));
        // Others have never come, as they needed no other jobs.
        for number in gone {
            if self.processes[number].running {
                self.missing(number);
            }
        }
    }
}
