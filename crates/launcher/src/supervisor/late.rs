//! Failures of processes that have called MPI_Finalize.
//!
//! Nobody needs such a process any more to finish. So its failure touches neither those that have
//! finalized as well nor those that have yet to call MPI_Init, however slow their host is, and the
//! status tells of it when all have ended. But programs finalize after an error, too, while others
//! wait for their messages. So the job ends once a process has been in MPI for [`IN_VAIN`] after
//! the failure.

use std::mem;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::nodes::Ties;
use super::process::Processes;
use crate::report::Failure;

/// After that, a process in MPI is taken to wait for one that has failed after MPI_Finalize. What
/// is computed and written between the last message and MPI_Finalize usually takes less.
const IN_VAIN: Duration = Duration::from_secs(10);

/// A process that has failed after MPI_Finalize, while others may finish.
struct LateFailure {
    number: u32,
    at: Instant,
    failure: Failure,
}

/// What becomes of one.
pub enum Judged {
    /// Nobody is left that could wait for it.
    Survived(Failure),
    /// Others may wait for it in vain.
    Awaited(Failure),
}

/// Those that have failed after MPI_Finalize, while others may finish.
#[derive(Default)]
pub struct LateFailures {
    all: Vec<LateFailure>,
}

impl LateFailures {
    /// Takes in the failure of a process that has finalized.
    pub fn add(&mut self, number: u32, failure: Failure) {
        let at = Instant::now();
        self.all.push(LateFailure {
            number,
            at,
            failure,
        });
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What becomes of those that can be judged; and when to judge the others.
    pub fn judge(
        &mut self,
        processes: &Processes,
        ties: &mut dyn Ties,
        now: Instant,
    ) -> (Vec<Judged>, Option<Instant>) {
        let (mut judged, mut next) = (Vec::new(), now + IN_VAIN);
        for late in mem::take(&mut self.all) {
            let of = ties.connected_to(late.number);
            let may_wait = |number| of.is_empty() || of.iter().any(|of| of.contains(&number));
            let others = processes.numbered();
            let others =
                others.filter(|(number, p)| p.running && !p.abandoned && may_wait(*number));
            let others: Vec<Option<Instant>> = others.map(|(_, process)| process.in_mpi).collect();
            let first = others.iter().flatten().min();
            let until = first.map(|since| late.at.max(*since) + IN_VAIN);
            if others.is_empty() {
                judged.push(Judged::Survived(late.failure));
            } else if until.is_some_and(|until| until <= now) {
                judged.push(Judged::Awaited(late.failure));
            } else {
                next = until.into_iter().chain([next]).min().unwrap_or(next);
                self.all.push(late);
            }
        }
        let next = (!self.all.is_empty()).then_some(next);
        (judged, next)
    }

    /// Whether a process among these has failed late and others may still wait for it.
    pub fn has(&self, numbers: &Range<u32>) -> bool {
        self.all.iter().any(|late| numbers.contains(&late.number))
    }

    /// What has failed first.
    pub fn first(&self) -> Option<Failure> {
        self.all.first().map(|late| late.failure.clone())
    }
}
