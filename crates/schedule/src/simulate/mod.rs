//! All ranks of a collective in one process.
//!
//! * [`check`] moves real bytes and finds deadlocks, messages of wrong length
//!   and messages nobody receives.
//! * [`cost`] moves nothing and tells how long it would take on a modelled
//!   [`Machine`].

mod check;
mod cost;
mod machine;

pub use check::{Failure, Op, Sends, Traffic, check};
pub use cost::{cost, repeats};
pub use machine::{Link, Machine, RankPlace, Shared};
