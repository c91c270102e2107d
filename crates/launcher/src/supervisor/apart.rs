//! Processes that do not reach each other any more, although their hosts answer the launcher: the
//! network between them is gone.
//!
//! Where the job goes on without the dead, one side has to be dead for the other one; and so that
//! all agree which, the launcher says it. A process that has lost another one tells. Shortly after,
//! when others have told as well and those have ended that just die, the launcher gives up hosts
//! until those that are left reach each other, as far as it was told: first the host that most
//! others have lost or that has lost most, of two alike the one with fewer ranks. Where there are
//! two alike and others that may still tell which of them it is, these get more time. Its ranks are
//! killed, and all others are told of their deaths.

use std::collections::BTreeSet;
use std::mem;
use std::ops::Range;
use std::time::Duration;

use super::process::Processes;

/// How long the ranks may go on when one of two hosts says that it does not reach the other.
const LATE: Duration = Duration::from_millis(400);

/// How long others may take to tell where there are more than two hosts.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often they get as much again, where it cannot be told yet which of two hosts is cut off: a
/// process finds out by a time limit of its own, which began when it last heard of the other one.
const AGAIN: u32 = 3;

/// Two hosts that do not reach each other, the lower one first.
type Pair = (u32, u32);

/// Processes that are cut off: they are killed, and all others are told of their deaths.
#[derive(Debug, PartialEq)]
pub struct CutOff {
    /// Their numbers.
    pub numbers: Vec<u32>,
    /// Their node, if that is given up as a whole.
    pub node: Option<u32>,
    /// Why.
    pub text: String,
}

/// Who does not reach whom.
#[derive(Debug, Default)]
pub struct Apart {
    /// Processes that have lost others, and whom, until that is judged.
    told: Vec<(u32, u32)>,
    /// Those of them that are being judged: on one node, and on different ones.
    near: Vec<(u32, u32)>,
    far: Vec<(u32, u32)>,
    /// Nodes whose processes did not reach each other.
    parted: BTreeSet<Pair>,
    /// How often the verdict was put off.
    put_off: u32,
}

impl Apart {
    /// Takes in who does not reach whom any more. After which time to judge that, if it is the
    /// first that is told.
    pub fn add(&mut self, told: Vec<(u32, u32)>, processes: &Processes) -> Option<Duration> {
        let is_first = self.told.is_empty() && !told.is_empty();
        self.told.extend(told);
        // With two hosts there is no more to be heard.
        is_first.then(|| match has_others(processes) {
            true => PATIENCE,
            false => LATE,
        })
    }

    /// After which time to judge instead, if it cannot be told now which of two hosts is cut off,
    /// and others may still tell.
    pub fn put_off(&mut self, processes: &Processes) -> Option<Duration> {
        let pairs = pairs(&self.told, processes);
        let all = self.parted.iter().chain(&pairs).copied().collect();
        let is_open = is_tied(&pairs, &all) && has_others(processes);
        let puts_off = is_open && self.put_off < AGAIN;
        self.put_off = if puts_off { self.put_off + 1 } else { 0 };
        puts_off.then_some(PATIENCE)
    }

    /// Forgets what was told of processes that are gone.
    pub fn forget(&mut self, numbers: &Range<u32>) {
        self.told
            .retain(|(by, of)| !numbers.contains(by) && !numbers.contains(of));
    }

    /// Begins to judge all that was told.
    pub fn begin(&mut self, processes: &Processes) {
        let node = |number: u32| processes[number].node;
        (self.near, self.far) = mem::take(&mut self.told)
            .into_iter()
            .partition(|(by, of)| node(*by) == node(*of));
    }

    /// The next processes to cut off, where those before were abandoned: first hosts, until those
    /// that are left reach each other, then single processes.
    pub fn next(&mut self, processes: &Processes) -> Option<CutOff> {
        if let Some(lost) = self.host_to_give_up(processes) {
            return Some(self.host_given_up(lost, processes));
        }
        while !self.near.is_empty() {
            let (by, of) = self.near.remove(0);
            if are_needed(processes, by, of) {
                let [by, whom] = [by, of].map(|it| processes[it].who());
                return Some(CutOff {
                    numbers: vec![of],
                    node: None,
                    text: format!("{by} does not reach {whom}"),
                });
            }
        }
        self.far.clear();
        None
    }

    fn host_to_give_up(&mut self, processes: &Processes) -> Option<u32> {
        let pairs = pairs(&self.far, processes);
        self.parted.extend(&pairs);
        least_connected(&pairs, &self.parted, |node| {
            needed_on(processes, node).count()
        })
    }

    fn host_given_up(&self, lost: u32, processes: &Processes) -> CutOff {
        let node = |number: u32| processes[number].node;
        let is_there = |(by, of): &&(u32, u32)| {
            are_needed(processes, *by, *of) && (node(*by) == lost || node(*of) == lost)
        };
        let told = self.far.iter().find(is_there);
        let other = told.map(|(by, of)| if node(*by) == lost { *of } else { *by });
        let other = other.map_or("others", |other| &*processes[other].host);
        let mut all = processes.iter();
        let host = all.find(|it| it.node == lost).map_or("", |it| &*it.host);
        CutOff {
            numbers: needed_on(processes, lost).collect(),
            node: Some(lost),
            text: format!(
                "host {host} is lost: its ranks and those on host {other} do not reach each other, \
                 though mpirun reaches both; see to the network between them"
            ),
        }
    }
}

/// The hosts of processes that have lost others, all of which are needed, and are on another host.
fn pairs(told: &[(u32, u32)], processes: &Processes) -> Vec<Pair> {
    let needed = told
        .iter()
        .filter(|(by, of)| are_needed(processes, *by, *of));
    let nodes = needed.map(|&(by, of)| [by, of].map(|it| processes[it].node));
    let apart = nodes.filter(|[a, b]| a != b);
    apart.map(|[a, b]| (a.min(b), a.max(b))).collect()
}

/// Whether the job is on more than two hosts.
fn has_others(processes: &Processes) -> bool {
    let nodes: BTreeSet<u32> = processes.iter().map(|it| it.node).collect();
    nodes.len() > 2
}

/// How many others a host has been apart from.
fn apart_from(node: u32, all: &BTreeSet<Pair>) -> usize {
    all.iter().filter(|(a, b)| [*a, *b].contains(&node)).count()
}

/// Whether of hosts two of which do not reach each other several have lost as many as any.
fn is_tied(now: &[Pair], all: &BTreeSet<Pair>) -> bool {
    let nodes: BTreeSet<u32> = now.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let counts = || nodes.iter().map(|&node| apart_from(node, all));
    let most = counts().max();
    counts().filter(|&count| Some(count) == most).count() > 1
}

/// Of hosts two of which do not reach each other now, the one to give up; `all` are the pairs that
/// ever did not.
fn least_connected(
    now: &[Pair],
    all: &BTreeSet<Pair>,
    ranks: impl Fn(u32) -> usize,
) -> Option<u32> {
    let order = |node: &u32| (apart_from(*node, all), usize::MAX - ranks(*node), *node);
    now.iter().flat_map(|(a, b)| [*a, *b]).max_by_key(order)
}

/// Whether neither of two processes can be missed.
fn are_needed(processes: &Processes, by: u32, of: u32) -> bool {
    processes[by].is_needed() && processes[of].is_needed()
}

/// The processes on a node that cannot be missed.
fn needed_on(processes: &Processes, node: u32) -> impl Iterator<Item = u32> {
    let all = processes.numbered();
    let there = all.filter(move |(_, process)| process.node == node && process.is_needed());
    there.map(|(number, _)| number)
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

    #[test]
    fn of_two_hosts_it_cannot_be_told_which_is_cut_off() {
        let tied = |before: &[Pair], now: &[Pair]| {
            let all = before.iter().chain(now).copied().collect();
            is_tied(now, &all)
        };
        assert!(tied(&[], &[(0, 1)]) && tied(&[], &[(0, 1), (2, 3)]));
        assert!(!tied(&[], &[(0, 1), (0, 2)]) && !tied(&[(0, 2)], &[(0, 1)]));
        assert!(!tied(&[], &[]));
    }
}
