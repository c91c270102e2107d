//! What processes on other hosts have said before something is judged.
//!
//! Whom a failure touches depends on who has parted from whom. The words of processes on other hosts
//! about that may be under way, though these processes have gone on: so all daemons are asked first, and
//! what each of them has heard arrives before its answer.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use catena_job::NodeCommand;

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

/// Verdicts that wait for words.
#[derive(Default)]
pub struct Hearing {
    last: u32,
    /// By their numbers: the nodes whose answers are awaited, and what comes then.
    waiting: Vec<(u32, BTreeSet<u32>, Verdict)>,
}

impl Hearing {
    /// Asks all other hosts what was said there. Gives the verdict back if there is none: all processes were heard then.
    pub fn ask(&mut self, verdict: Verdict, nodes: &mut Nodes) -> Option<Verdict> {
        nodes.tree.serve();
        let up: BTreeSet<u32> = nodes.tree.nodes_up().collect();
        if up.is_empty() {
            return Some(verdict);
        }
        self.last = self.last.wrapping_add(1);
        let number = self.last;
        self.waiting.push((number, up, verdict));
        nodes.command(&NodeCommand::Hear { number });
        None
    }

    /// A node has told all that was said there before it was asked.
    pub fn answered(&mut self, node: u32, number: u32) {
        let mut waiting = self.waiting.iter_mut();
        if let Some((_, nodes, _)) = waiting.find(|it| it.0 == number) {
            nodes.remove(&node);
        }
    }

    /// The next verdict that waits for nobody any more: some nodes may be lost.
    pub fn take_heard(&mut self, nodes: &Nodes) -> Option<Verdict> {
        let (_, awaited, _) = self.waiting.first_mut()?;
        let up: BTreeSet<u32> = nodes.tree.nodes_up().collect();
        awaited.retain(|node| up.contains(node));
        match awaited.is_empty() {
            true => Some(self.waiting.remove(0).2),
            false => None,
        }
    }

    /// All verdicts, whatever is still under way.
    pub fn take_all(&mut self) -> Vec<Verdict> {
        let all = std::mem::take(&mut self.waiting);
        all.into_iter().map(|(.., verdict)| verdict).collect()
    }

    /// Whether the failure of one of these processes is to be judged: whom it touches is known as long as its job is.
    pub fn is_about(&self, numbers: &Range<u32>) -> bool {
        self.waiting.iter().any(|(.., verdict)| match verdict {
            Verdict::Failed(failure, _) => failure.rank.is_some_and(|it| numbers.contains(&it)),
            Verdict::LostLauncher(..) | Verdict::FailedAbroad(..) => false,
        })
    }
}
