//! Processes that do not reach each other any more, although their hosts answer the launcher: the network between
//! them is gone.
//!
//! Where the job goes on without the dead, one side has to be dead for the other one; and so that all agree which,
//! the launcher says it. A process that has lost another one tells. Shortly after, when others have
//! told as well and those have ended that just die, the launcher gives up hosts until those that are left reach each
//! other, as far as it was told: first the host that most others have lost or that has lost most, of two alike the one
//! with fewer ranks. Its ranks are killed, and all others are told of their deaths.

use std::collections::BTreeSet;
use std::mem;
use std::ops::Range;

use catena_boot::Ended;
use catena_job::NodeCommand;

use super::{Job, LATE, PATIENCE, Process, Task};
use crate::report::Failure;

/// Two hosts that do not reach each other, the lower one first.
type Pair = (u32, u32);

/// Of hosts two of which do not reach each other now, the one to give up; `all` are the pairs that ever did not.
fn least_connected(
    now: &[Pair],
    all: &BTreeSet<Pair>,
    ranks: impl Fn(u32) -> usize,
) -> Option<u32> {
    let from = |node: u32| all.iter().filter(|(a, b)| [*a, *b].contains(&node)).count();
    let order = |node: &u32| (from(*node), usize::MAX - ranks(*node), *node);
    now.iter().flat_map(|(a, b)| [*a, *b]).max_by_key(order)
}

/// Whether it can be missed.
fn is_needed(process: &Process) -> bool {
    process.running && process.joined.is_some() && !process.finalized && !process.abandoned
}

impl Job {
    /// Takes in who does not reach whom any more.
    pub(super) fn take_unreachable(&mut self) {
        let told = self.tree.with_node(|node| node.take_unreachable());
        let told = told.unwrap_or_default();
        if !self.tolerant || told.is_empty() {
            return;
        }
        if self.apart.is_empty() {
            // With two hosts there is no more to be heard.
            let nodes: BTreeSet<u32> = self.processes.iter().map(|it| it.node).collect();
            let patience = if nodes.len() > 2 { PATIENCE } else { LATE };
            self.at(patience, Task::CheckApart);
        }
        self.apart.extend(told);
    }

    /// Forgets what was told of processes that are gone.
    pub(super) fn forget_apart(&mut self, numbers: &Range<u32>) {
        self.apart
            .retain(|(by, of)| !numbers.contains(by) && !numbers.contains(of));
    }

    /// Gives hosts up until those that are left reach each other.
    pub(super) fn check_apart(&mut self) {
        let apart = mem::take(&mut self.apart);
        let node = |number: u32| self.processes[number as usize].node;
        let (near, far): (Vec<_>, Vec<_>) = apart
            .into_iter()
            .partition(|(by, of)| node(*by) == node(*of));
        while let Some(lost) = self.host_to_give_up(&far) {
            self.give_up_host(lost, &far);
        }
        for (by, of) in near {
            if self.are_needed(by, of) {
                let text = format!("{} does not reach {}", self.who(by), self.who(of));
                self.cut_off(vec![of], text);
            }
        }
    }

    fn are_needed(&self, by: u32, of: u32) -> bool {
        let is_needed = |number: u32| is_needed(&self.processes[number as usize]);
        is_needed(by) && is_needed(of)
    }

    fn ranks_on(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let all = (0..).zip(&self.processes);
        let there = all.filter(move |(_, process)| process.node == node && is_needed(process));
        there.map(|(number, _)| number)
    }

    fn host_to_give_up(&mut self, apart: &[(u32, u32)]) -> Option<u32> {
        let needed = apart.iter().filter(|(by, of)| self.are_needed(*by, *of));
        let nodes = needed.map(|(by, of)| [by, of].map(|it| self.processes[*it as usize].node));
        let pairs: Vec<Pair> = nodes.map(|[a, b]| (a.min(b), a.max(b))).collect();
        self.parted.extend(&pairs);
        least_connected(&pairs, &self.parted, |node| self.ranks_on(node).count())
    }

    fn give_up_host(&mut self, lost: u32, apart: &[(u32, u32)]) {
        let node = |number: u32| self.processes[number as usize].node;
        let told = apart
            .iter()
            .find(|(by, of)| self.are_needed(*by, *of) && (node(*by) == lost || node(*of) == lost));
        let host = |node: u32| &self.plan.hosts[node as usize];
        let other = told.map(|(by, of)| if node(*by) == lost { *of } else { *by });
        let text = format!(
            "host {} is lost: its ranks and those on host {} do not reach each other, though mpirun reaches \
            both; see to the network between them",
            host(lost),
            other.map_or("others", |other| host(node(other)))
        );
        let ranks = self.ranks_on(lost).collect();
        // It is used again only where it is named.
        self.plan.room[lost as usize] = 0;
        self.cut_off(ranks, text);
    }

    /// Kills ranks that others have lost, and tells all of their deaths.
    fn cut_off(&mut self, ranks: Vec<u32>, text: String) {
        for rank in ranks {
            self.command(&NodeCommand::SignalJob {
                numbers: rank..rank + 1,
                signal: libc::SIGKILL,
            });
            self.processes[rank as usize].abandoned = true;
            self.died(rank, Ended::Lost);
        }
        self.go_on(Failure::new(1, text), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_that_most_have_lost_goes_first() {
        let ranks = |node: u32| [2, 2, 1, 2][node as usize];
        let after = |before: &[Pair], now: &[Pair]| {
            let all = before.iter().chain(now).copied().collect();
            least_connected(now, &all, ranks)
        };
        let of = |now: &[Pair]| after(&[], now);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(0, 1), (0, 2), (0, 3)]), Some(0));
        assert_eq!(of(&[(0, 1), (1, 3)]), Some(1));
        assert_eq!(of(&[(0, 2)]), Some(2), "it has fewer ranks");
        assert_eq!(of(&[(0, 1)]), Some(1), "the first host stays");
        assert_eq!(
            after(&[(0, 1)], &[(0, 3)]),
            Some(0),
            "it had been lost before"
        );
    }
}
