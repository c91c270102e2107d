//! What processes on other hosts have said before something is judged.
//!
//! Whom a failure touches depends on who has parted from whom. The words of processes on other
//! hosts about that may be under way, though these processes have gone on: so all daemons are asked
//! first, and what each of them has heard arrives before its answer.

use std::ops::Range;
use std::time::Duration;

use catena_job::Question;

use super::nodes::Nodes;
use crate::report::Failure;

/// What is judged once all is heard that was said before.
pub enum Verdict {
    /// A process has failed; after that time the others are asked to end.
    Failed(Failure, Duration),
    /// The launcher with that number is there no more, and why.
    LostLauncher(u32, String),
    /// That job of another launcher has failed, and why.
    FailedAbroad(u64, String),
}

/// A verdict that waits for words.
struct Waiting {
    /// The number of the question to all nodes.
    question: u32,
    /// Whether all have answered.
    is_heard: bool,
    verdict: Verdict,
}

/// Verdicts that wait for words.
#[derive(Default)]
pub struct PendingVerdicts {
    waiting: Vec<Waiting>,
}

impl PendingVerdicts {
    /// Asks all other hosts what was said there. Gives the verdict back if there is none: all
    /// processes were heard then.
    pub fn ask(&mut self, verdict: Verdict, nodes: &mut Nodes) -> Option<Verdict> {
        nodes.tree.serve();
        if nodes.tree.nodes_up().next().is_none() {
            return Some(verdict);
        }
        self.waiting.push(Waiting {
            question: nodes.ask(Question::Hear),
            is_heard: false,
            verdict,
        });
        None
    }

    /// All nodes have told what was said there before they were asked the question with that
    /// number.
    pub fn answered(&mut self, question: u32) {
        let mut waiting = self.waiting.iter_mut();
        if let Some(waiting) = waiting.find(|it| it.question == question) {
            waiting.is_heard = true;
        }
    }

    /// The next verdict that waits for nobody any more.
    pub fn take_heard(&mut self) -> Option<Verdict> {
        let is_heard = self.waiting.first()?.is_heard;
        is_heard.then(|| self.waiting.remove(0).verdict)
    }

    /// All verdicts, whatever is still under way.
    pub fn take_all(&mut self) -> Vec<Verdict> {
        let all = std::mem::take(&mut self.waiting);
        all.into_iter().map(|it| it.verdict).collect()
    }

    /// Whether the failure of one of these processes is to be judged: whom it touches is known as
    /// long as its job is.
    pub fn is_about(&self, numbers: &Range<u32>) -> bool {
        self.waiting.iter().any(|it| match &it.verdict {
            Verdict::Failed(failure, _) => failure.rank.is_some_and(|it| numbers.contains(&it)),
            Verdict::LostLauncher(..) | Verdict::FailedAbroad(..) => false,
        })
    }
}
