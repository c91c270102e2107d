//! Failures that touch some jobs of the launcher while others go on: the failure of a process ends
//! those that are connected to it.

use std::ops::Range;

use super::nodes::Ties;
use super::process::{Process, Processes};
use crate::report::Failure;

/// A failure of jobs while others go on.
struct Partial {
    /// Which of them: no other one has that number. The process that has failed may be forgotten
    /// before those that it ends have ended, and its number be that of another one.
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

/// What becomes of a failure.
pub enum Taken {
    /// It is one of all.
    All(Failure),
    /// What it touches ends anyway.
    Known,
    /// It ends some, and has this number.
    New(u32),
}

/// Those that a failure ends.
pub struct Ending {
    /// The numbers of the processes, by job.
    pub numbers: Vec<Range<u32>>,
    /// Why, the first time that this is asked for.
    pub failure: Option<Failure>,
}

/// Failures of jobs while others go on.
#[derive(Default)]
pub struct Partials {
    all: Vec<Partial>,
    last: u32,
}

impl Partials {
    /// Takes in a failure, if it is that of a process, and some of those that run are not connected
    /// to it. Where all are about to end (`ending`), only what is known already matters.
    pub fn take(
        &mut self,
        failure: Failure,
        processes: &Processes,
        ties: &mut dyn Ties,
        ending: bool,
    ) -> Taken {
        let Some(number) = failure.rank else {
            return Taken::All(failure);
        };
        if let Some(known) = self.all.iter_mut().find(|it| it.has(number)) {
            if known.failure.hearsay && !failure.hearsay && !known.ended {
                known.failure = failure;
            }
            return Taken::Known;
        }
        if ending {
            return Taken::All(failure);
        }
        let id = self.last.wrapping_add(1);
        let partial = Partial {
            id,
            failure,
            ended: false,
            numbers: ties.connected_to(number),
        };
        let goes_on = |(number, process): (u32, &Process)| {
            process.running && !process.abandoned && !partial.has(number)
        };
        if partial.numbers.is_empty() || !processes.numbered().any(goes_on) {
            return Taken::All(partial.failure);
        }
        self.last = id;
        self.all.push(partial);
        Taken::New(id)
    }

    /// The processes that the failure with that number ends.
    pub fn end(&mut self, id: u32) -> Option<Ending> {
        let partial = self.all.iter_mut().find(|it| it.id == id)?;
        let was_ended = std::mem::replace(&mut partial.ended, true);
        Some(Ending {
            numbers: partial.numbers.clone(),
            failure: (!was_ended).then(|| partial.failure.clone()),
        })
    }

    /// Whether the process with that number is to be ended, and was not asked to end yet.
    pub fn will_end(&self, number: u32) -> bool {
        self.all.iter().any(|it| it.has(number) && !it.ended)
    }

    /// Nobody has these numbers any more.
    pub fn vacate(&mut self, numbers: &Range<u32>) {
        for it in &mut self.all {
            it.numbers.retain(|of| of != numbers);
        }
        self.all.retain(|it| !it.numbers.is_empty());
    }
}
