//! All ranks of a collective in one process.
//!
//! * [`check`] moves real bytes and finds deadlocks, messages of wrong length
//!   and messages nobody receives.
//! * [`cost`] moves nothing and tells how long it would take on a modelled
//!   machine.

mod check;
mod cost;

pub use check::{Failure, Op, Sends, Traffic, check};
pub use cost::{Machine, Wire, cost};
