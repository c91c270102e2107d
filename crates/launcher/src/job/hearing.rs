//! What processes on other hosts have said before something is judged.
//!
//! Whom a failure touches depends on who has parted from whom. The words of processes on other hosts
//! about that may be under way, though these processes have gone on: so all daemons are asked first, and
//! what each of them has heard arrives before its answer.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use catena_job::NodeCommand;

use super::Job;
use crate::report::Failure;

/// What is judged once all is heard that was said before.
pub(super) enum Verdict {
    /// A process has failed; after that time the others are asked to end.
    Failed(Failure, Duration),
    /// The launcher with that number is there no more, and why.
    LostLauncher(u32, String),
    /// That job of another launcher has failed, and why.
    FailedAbroad(u64, String),
}

/// Verdicts that wait for words.
#[derive(Default)]
pub(super) struct Hearing {
    last: u32,
    /// By their numbers: the nodes whose answers are awaited, and what comes then.
    waiting: Vec<(u32, BTreeSet<u32>, Verdict)>,
}

impl Hearing {
    /// Whether the failure of one of these processes is to be judged: whom it touches is known as long as its job is.
    pub fn is_about(&self, numbers: &Range<u32>) -> bool {
        self.waiting.iter().any(|(.., verdict)| match verdict {
            Verdict::Failed(failure, _) => failure.rank.is_some_and(|it| numbers.contains(&it)),
            Verdict::LostLauncher(..) | Verdict::FailedAbroad(..) => false,
        })
    }
}

impl Job {
    /// Whether a failure of a process may leave others untouched.
    pub(super) fn may_spare(&self, failure: &Failure) -> bool {
        failure.rank.is_some()
            && self.failure.is_none()
            && self.processes.iter().any(|it| it.job > 0)
    }

    /// Judges once all processes were heard; at once where all of them are on this host.
    pub(super) fn hear_first(&mut self, verdict: Verdict) {
        self.tree.serve();
        let nodes: BTreeSet<u32> = self.tree.nodes_up().collect();
        if nodes.is_empty() {
            return self.judge_all(verdict);
        }
        self.hearing.last = self.hearing.last.wrapping_add(1);
        let number = self.hearing.last;
        self.hearing.waiting.push((number, nodes, verdict));
        self.command(&NodeCommand::Hear { number });
    }

    /// A node has told all that was said there before it was asked.
    pub(super) fn heard(&mut self, node: u32, number: u32) {
        let mut waiting = self.hearing.waiting.iter_mut();
        if let Some((_, nodes, _)) = waiting.find(|it| it.0 == number) {
            nodes.remove(&node);
        }
        self.judge_heard();
    }

    /// Judges what waits for nobody any more: some nodes may be lost.
    pub(super) fn judge_heard(&mut self) {
        let up: BTreeSet<u32> = match self.hearing.waiting.is_empty() {
            true => return,
            false => self.tree.nodes_up().collect(),
        };
        while let Some((_, nodes, _)) = self.hearing.waiting.first_mut() {
            nodes.retain(|node| up.contains(node));
            if !nodes.is_empty() {
                return;
            }
            let (.., verdict) = self.hearing.waiting.remove(0);
            self.some_ended = true;
            self.judge_all(verdict);
        }
    }

    /// Judges all that waits, whatever is still under way.
    pub(super) fn judge_unheard(&mut self) {
        for (.., verdict) in std::mem::take(&mut self.hearing.waiting) {
            self.judge_all(verdict);
        }
    }

    fn judge_all(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Failed(failure, after) => self.fail_now(failure, after),
            Verdict::LostLauncher(launcher, why) => self.launcher_lost(launcher, &why),
            Verdict::FailedAbroad(job, text) => self.failed_abroad(job, &text),
        }
    }
}
