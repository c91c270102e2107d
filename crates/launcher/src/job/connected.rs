//! Jobs of one launcher that are not connected: the failure of one ends those that are
//! connected to it, and a job that has ended is forgotten, whatever becomes of others.

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use catena_job::{Exit, NodeCommand};

use super::{Job, Process, Task};
use crate::output::Tag;
use crate::report::Failure;

/// A failure of jobs while others go on.
pub(super) struct Partial {
    /// Which of them: no other one has that number. The process that has failed may be forgotten before those that it ends
    /// have ended, and its number be that of another one.
    id: u32,
    failure: Failure,
    /// Whether its text was shown and its processes were asked to end.
    ended: bool,
    /// The numbers of the processes that it ends, by job.
    numbers: Vec<Range<u32>>,
}

impl Partial {
    fn has(&self, number: u32) -> bool {
        self.numbers.iter().any(|of| of.contains(&number))
    }
}

/// Failures of jobs while others go on.
#[derive(Default)]
pub(super) struct Partials {
    all: Vec<Partial>,
    last: u32,
}

impl Partials {
    /// Whether the process with that number is to be ended, and was not asked to end yet.
    fn will_end(&self, number: u32) -> bool {
        self.all.iter().any(|it| it.has(number) && !it.ended)
    }

    /// Nobody has these numbers any more.
    fn vacate(&mut self, numbers: &Range<u32>) {
        for it in &mut self.all {
            it.numbers.retain(|of| of != numbers);
        }
        self.all.retain(|it| !it.numbers.is_empty());
    }
}

impl Job {
    /// Takes in a failure of a process that some of those that run are not connected to, and
    /// has only the others ended after a while. Gives back any other failure.
    pub(super) fn fail_some(&mut self, failure: Failure, after: Duration) -> Option<Failure> {
        let Some(number) = failure.rank else {
            return Some(failure);
        };
        let mut known = self.partials.all.iter_mut();
        if let Some(known) = known.find(|it| it.has(number)) {
            if known.failure.hearsay && !failure.hearsay && !known.ended {
                known.failure = failure;
            }
            return None;
        }
        let numbers = self.tree.with_node(|node| node.connected_to(number));
        let numbers = numbers.unwrap_or_default();
        let id = self.partials.last.wrapping_add(1);
        let partial = Partial {
            id,
            failure,
            ended: false,
            numbers,
        };
        let goes_on = |(number, process): (u32, &Process)| {
            let process = process.running && !process.abandoned;
            process && !partial.has(number)
        };
        if partial.numbers.is_empty() || self.failure.is_some() || !self.numbered().any(goes_on) {
            return Some(partial.failure);
        }
        self.partials.last = id;
        self.partials.all.push(partial);
        self.at(after, Task::EndSome(id, libc::SIGTERM));
        self.do_tasks();
        None
    }

    fn numbered(&self) -> impl Iterator<Item = (u32, &Process)> {
        (0..).zip(&self.processes)
    }

    /// Whether the end of a process says nothing.
    pub(super) fn is_abandoned(&self, number: u32) -> bool {
        self.processes[number as usize].abandoned
    }

    /// Asks the processes to end that are connected to one that has failed, or kills them.
    pub(super) fn end_some(&mut self, id: u32, signal: i32) {
        let Some(partial) = self.partials.all.iter_mut().find(|it| it.id == id) else {
            return;
        };
        let numbers = partial.numbers.clone();
        if !std::mem::replace(&mut partial.ended, true) {
            let failure = partial.failure.clone();
            if let Some(number) = failure.rank {
                self.tell_failure(number, failure.text.as_deref());
            }
            let mut ended = 0;
            for number in numbers.iter().cloned().flatten() {
                let process = &mut self.processes[number as usize];
                ended += usize::from(process.running && Some(number) != failure.rank);
                process.abandoned = true;
            }
            if let Some(text) = &failure.text {
                let size: usize = numbers.iter().map(|of| of.len()).sum();
                let rest = crate::report::rest(ended, Some(size - 1));
                self.sinks
                    .tell(format_args!("{}: {text}{rest}", self.command));
            }
            // It was told; only the status is left.
            self.go_on(Failure::silent(failure.status), false);
            self.at(self.grace, Task::EndSome(id, libc::SIGKILL));
        }
        for numbers in numbers {
            self.command(&NodeCommand::SignalJob { numbers, signal });
        }
    }

    /// Forgets what was to be done about these processes.
    pub(super) fn drop_tasks_of(&mut self, numbers: &Range<u32>) {
        let of = |task: &Task| match task {
            Task::CheckSilent(number)
            | Task::CheckStrange(number)
            | Task::CheckSpawn(number, _) => numbers.contains(number),
            Task::EndSome(..)
            | Task::Timeout(_)
            | Task::End
            | Task::MentionWait
            | Task::Kill
            | Task::Abandon
            | Task::CheckLate
            | Task::CheckApart => false,
        };
        self.tasks.retain(|(_, task)| !of(task));
    }

    /// Forgets spawned jobs that have ended, so that those that come and go leave nothing.
    pub(super) fn forget_ended(&mut self) {
        if !std::mem::take(&mut self.some_ended) || self.ending {
            return;
        }
        let jobs: Vec<u32> = self.processes.iter().map(|it| it.job).collect();
        let mut start = 0;
        for of in jobs.chunk_by(|a, b| a == b) {
            let numbers = start..start + of.len() as u32;
            start = numbers.end;
            if of[0] > 0 {
                self.forget_if_ended(&numbers);
            }
        }
    }

    /// Forgets a job, if there is nothing left to be said about its processes.
    fn forget_if_ended(&mut self, numbers: &Range<u32>) {
        let all = numbers.start as usize..numbers.end as usize;
        let settled = |p: &Process| {
            // One that left without MPI_Finalize is judged after a while.
            let well = p.finalized || p.joined.is_none() || p.exit != Some(Exit::Code(0));
            p.exit.is_some() && (p.abandoned || well)
        };
        let number = numbers.start;
        let is_spawning = self.spawning.iter().any(|it| it.has(number));
        let is_ending = self.partials.will_end(number);
        let is_failing = is_ending || self.is_late(numbers) || self.hearing.is_about(numbers);
        if is_spawning || is_failing || !self.processes[all.clone()].iter().all(settled) {
            return;
        }
        let Some(at) = self.living.iter().position(|it| it.has(number)) else {
            return;
        };
        if self.living[at].leaving.is_none() {
            if self.tree.with_node(|node| node.is_awaited(number)) == Some(true) {
                self.some_ended = true;
                return;
            }
            // Those that have had its processes tell first what they have not told yet. The others know its numbers, too,
            // and would take those of the next job that has them for its own.
            self.living[at].leaving = Some(self.tree.nodes_reached().collect());
            let numbers = numbers.clone();
            self.command(&NodeCommand::ForgetJob { numbers });
            self.tree.forget_jobs(&self.base);
        }
        let left = self.living[at].leaving.as_mut();
        let is_left = left.is_none_or(|left| {
            left.retain(|node| self.tree.reaches(*node));
            left.is_empty()
        });
        if is_left {
            self.living.swap_remove(at);
            self.vacate(numbers);
        }
    }

    /// A node has told all of a job.
    pub(super) fn forgotten(&mut self, node: u32, first: u32) {
        let mut living = self.living.iter_mut();
        if let Some(living) = living.find(|it| it.has(first)) {
            if let Some(nodes) = &mut living.leaving {
                nodes.remove(&node);
            }
            self.some_ended = true;
        }
    }

    /// The numbers of a job that all nodes have forgotten are for others.
    fn vacate(&mut self, numbers: &Range<u32>) {
        let all = numbers.start as usize..numbers.end as usize;
        for process in &mut self.processes[all.clone()] {
            let lines = process.streams.iter_mut().map(|it| &mut it.lines);
            self.sinks.end_lines(lines, self.output.merge);
        }
        let free = numbers.clone();
        self.tree.with_node(|node| node.give_numbers_back(free));
        self.drop_tasks_of(numbers);
        self.forget_apart(numbers);
        self.partials.vacate(numbers);
        for number in numbers.clone() {
            let none = Rc::default();
            let vacant = Process::new(none, 0, number, &Tag::default());
            self.processes[number as usize] = Process {
                running: false,
                ..vacant
            };
        }
    }
}
