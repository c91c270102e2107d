//! What a server keeps of groups that have met and have not both confirmed it.

use std::collections::BTreeSet;

use super::tables::{Waiter, Who};

/// One of two groups that have met.
#[derive(Debug)]
pub(super) struct End {
    pub who: Who,
    pub group: Vec<u32>,
    pub jobs: Vec<u64>,
    pub has_confirmed: bool,
}

impl From<Waiter> for End {
    fn from(waiter: Waiter) -> End {
        End {
            who: waiter.who,
            group: waiter.group,
            jobs: waiter.jobs,
            has_confirmed: false,
        }
    }
}

/// Two groups that have met, by the side from which they have come.
#[derive(Debug)]
pub(super) struct Met {
    pub port: String,
    pub ends: [End; 2],
}

impl Met {
    pub fn has(&self, who: Who) -> bool {
        self.ends.iter().any(|end| end.who == who)
    }

    /// Each two jobs of which one is in each group.
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        let [one, other] = &self.ends;
        pairs(&one.jobs, &other.jobs)
    }
}

pub(super) fn pair(one: u64, other: u64) -> (u64, u64) {
    (one.min(other), one.max(other))
}

pub(super) fn pairs(one: &[u64], other: &[u64]) -> Vec<(u64, u64)> {
    let with = |a: &u64| other.iter().map(move |b| pair(*a, *b)).collect::<Vec<_>>();
    let pairs = one.iter().flat_map(with);
    pairs.filter(|(a, b)| a != b).collect()
}

/// The meetings that are not confirmed.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    pub all: Vec<Met>,
    /// Jobs of which processes are tied to each other, but by no meeting that was confirmed.
    pub strangers: BTreeSet<(u64, u64)>,
}

impl Meetings {
    /// Whether two jobs are not connected although processes of them are tied to each other.
    pub fn are_strangers(&self, one: u64, other: u64) -> bool {
        self.strangers.contains(&pair(one, other))
    }

    /// A job is gone.
    pub fn forget_job(&mut self, job: u64) {
        self.strangers.retain(|&(a, b)| a != job && b != job);
    }
}
