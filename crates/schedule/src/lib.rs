//! Row 2: the schedule that every collective is compiled to.
//!
//! A [`Schedule`] is what one rank has to do in one collective operation: sends,
//! receives, reductions and copies over byte [`Region`]s of packed data. The
//! order in which they must happen is not written down by the algorithm; it
//! follows from the regions (a step waits for the earlier steps whose bytes it
//! touches) and from one rule of matching: all messages of an operation share
//! one tag, so those of one pair of ranks are posted in the order of the schedule.
//!
//! A schedule is immutable and can be run any number of times, which is what the
//! persistent collectives do. A [`Run`] is one execution; it never blocks and
//! performs no I/O of its own, everything happens through an [`Exec`].
//!
//! Read `schedule` first, which has the steps, then `build`, which writes them down, and `run`.
//!
//! [`simulate`] runs the schedules of all ranks in one process, with real bytes to
//! check the result or with a model of the machine to learn the cost.

#![forbid(unsafe_code)]

mod build;
mod region;
mod run;
mod schedule;
pub mod simulate;
#[cfg(test)]
mod tests;
mod track;

pub use build::Builder;
pub use region::{Buf, Region};
pub use run::{Exec, Run};
pub use schedule::{Order, Schedule, Step, StepId};
