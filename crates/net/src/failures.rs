//! What is known of processes that have died, and of contexts that were revoked: facts,
//! kept in one place, for whatever waits for a process or uses a context.
//!
//! The launcher tells each process of deaths in one order, and counts them: the count is
//! the *failure epoch*, by which a process sees in one load whether there is news.

use std::collections::BTreeSet;

use catena_fabric::ProcessName;
use catena_link::Cid;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody can tell: its host cannot be reached any more.
    Lost,
}

/// A process that died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadProcess {
    /// Which one.
    pub name: ProcessName,
    /// The failure epoch that its death began, as the launcher counts.
    pub epoch: u32,
    /// How it ended.
    pub how: HowEnded,
}

/// The failures that a process knows of.
///
/// # Examples
/// ```
/// use catena_fabric::ProcessName;
/// use catena_net::{DeadProcess, Failures, HowEnded};
///
/// let mut failures = Failures::default();
/// let seen = failures.epoch();
/// let name = ProcessName { job: 7, rank: 2 };
/// failures.add(DeadProcess { name, epoch: 1, how: HowEnded::Signal(9) });
/// assert_ne!(failures.epoch(), seen);
/// assert_eq!(failures.of(name).map(|dead| dead.how), Some(HowEnded::Signal(9)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Failures {
    epoch: u32,
    /// In the order of their deaths.
    dead: Vec<DeadProcess>,
    revoked: BTreeSet<Cid>,
}

impl Failures {
    /// The failure epoch: 0 as long as nobody has died, and more with each death that
    /// becomes known.
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// A process has died; whether that was not known.
    pub fn add(&mut self, dead: DeadProcess) -> bool {
        if self.of(dead.name).is_some() {
            return false;
        }
        self.epoch = self.epoch.max(dead.epoch);
        self.dead.push(dead);
        true
    }

    /// Those that have died, in the order in which that became known.
    pub fn dead(&self) -> &[DeadProcess] {
        &self.dead
    }

    /// What is known of the end of a process; `None` if it is not known to have died.
    /// Cost: O(deaths).
    pub fn of(&self, name: ProcessName) -> Option<DeadProcess> {
        self.dead.iter().find(|dead| dead.name == name).copied()
    }

    /// Forgets those of a job that has gone; the epoch stays.
    pub fn forget_job(&mut self, job: u64) {
        self.dead.retain(|dead| dead.name.job != job);
    }

    /// A context was revoked; whether it was not before.
    pub fn revoke(&mut self, cid: Cid) -> bool {
        self.revoked.insert(cid)
    }

    /// Whether a context was revoked.
    pub fn is_revoked(&self, cid: Cid) -> bool {
        self.revoked.contains(&cid)
    }

    /// The number of a context that is closed may be that of another one later.
    pub fn forget_context(&mut self, cid: Cid) {
        self.revoked.remove(&cid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(rank: u32, epoch: u32) -> DeadProcess {
        DeadProcess {
            name: ProcessName { job: 1, rank },
            epoch,
            how: HowEnded::Code(3),
        }
    }

    #[test]
    fn each_death_is_kept_once_and_the_epoch_never_falls() {
        let mut failures = Failures::default();
        assert_eq!(failures.epoch(), 0);
        assert!(failures.add(dead(4, 2)) && failures.add(dead(2, 1)));
        assert!(!failures.add(dead(4, 5)), "it cannot die twice");
        assert_eq!(failures.epoch(), 2);
        assert_eq!(failures.dead(), [dead(4, 2), dead(2, 1)]);
        assert_eq!(failures.of(dead(3, 0).name), None);
    }

    #[test]
    fn revocation_ends_with_the_context() {
        let mut failures = Failures::default();
        assert!(failures.revoke(Cid(3)) && !failures.revoke(Cid(3)));
        assert!(failures.is_revoked(Cid(3)) && !failures.is_revoked(Cid(4)));
        failures.forget_context(Cid(3));
        assert!(!failures.is_revoked(Cid(3)));
    }
}
