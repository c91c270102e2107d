//! What the supervisor does at some time.

use std::ops::Range;
use std::time::{Duration, Instant};

/// What to do at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// End the job, as it has taken too long.
    Timeout(Duration),
    /// Ask the ranks to end.
    End,
    /// Tell the user whom the job waits for that was interrupted.
    MentionWait,
    /// Kill the ranks that are left.
    Kill,
    /// Give up hosts that do not say that they have done so.
    Abandon,
    /// See whether a rank that closed its connection has ended properly.
    CheckSilent(u32),
    /// See whether all processes of the spawned job with that first one have called
    /// MPI_Init, for which they had this long.
    CheckSpawn(u32, Duration),
    /// See whether others use MPI while a rank has ended without.
    CheckStrange(u32),
    /// See whether others may wait for those that have failed after MPI_Finalize.
    CheckLate,
    /// Send the processes that a failure ends a signal; which failure, its number among those
    /// tells.
    EndSome(u32, i32),
    /// See who does not reach whom.
    CheckApart,
    /// See whether the job hangs.
    CheckHang,
    /// See whether checked mode has found an error.
    CheckFindings,
    /// Ask for the calls of ranks since the last time.
    TakeTimeline,
    /// See again what the job does, for somebody who asks.
    LookAgain,
}

impl Task {
    /// Whether it is about one of these processes.
    fn is_about(self, numbers: &Range<u32>) -> bool {
        match self {
            Task::CheckSilent(number)
            | Task::CheckStrange(number)
            | Task::CheckSpawn(number, _) => numbers.contains(&number),
            Task::EndSome(..)
            | Task::Timeout(_)
            | Task::End
            | Task::MentionWait
            | Task::Kill
            | Task::Abandon
            | Task::CheckLate
            | Task::CheckHang
            | Task::CheckFindings
            | Task::LookAgain
            | Task::TakeTimeline
            | Task::CheckApart => false,
        }
    }
}

/// Tasks and their times.
#[derive(Debug, Default)]
pub struct Timers {
    tasks: Vec<(Instant, Task)>,
}

impl Timers {
    /// Has a task done after some time.
    pub fn after(&mut self, time: Duration, task: Task) {
        self.tasks.push((Instant::now() + time, task));
    }

    /// Has a task done at one time, whenever it was to be done before, or never.
    pub fn set(&mut self, task: Task, at: Option<Instant>) {
        self.tasks.retain(|(_, known)| *known != task);
        self.tasks.extend(at.map(|at| (at, task)));
    }

    /// When the next task is due.
    pub fn next_time(&self) -> Option<Instant> {
        self.tasks.iter().map(|(at, _)| *at).min()
    }

    /// A task that is due, which leaves the list.
    pub fn take_due(&mut self, now: Instant) -> Option<Task> {
        let due = self.tasks.iter().position(|(at, _)| *at <= now)?;
        Some(self.tasks.swap_remove(due).1)
    }

    /// Forgets what was to be done about these processes.
    pub fn forget(&mut self, numbers: &Range<u32>) {
        self.tasks.retain(|(_, task)| !task.is_about(numbers));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_due_in_time_and_forgotten_with_their_processes() {
        let (mut timers, start) = (Timers::default(), Instant::now());
        timers.after(Duration::from_secs(5), Task::CheckSilent(3));
        timers.after(Duration::from_secs(6), Task::CheckStrange(4));
        timers.set(Task::CheckLate, Some(start + Duration::from_secs(1)));
        timers.set(Task::CheckLate, Some(start + Duration::from_secs(2)));
        assert_eq!(timers.next_time(), Some(start + Duration::from_secs(2)));
        assert_eq!(timers.take_due(start + Duration::from_secs(1)), None);
        let due = timers.take_due(start + Duration::from_secs(3));
        assert_eq!(due, Some(Task::CheckLate));
        timers.forget(&(3..4));
        let later = start + Duration::from_secs(60);
        assert_eq!(timers.take_due(later), Some(Task::CheckStrange(4)));
        assert_eq!(timers.take_due(later), None);
    }
}
