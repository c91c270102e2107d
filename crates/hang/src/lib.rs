//! Row 1: who waits for whom, who will wait for ever, and whose doing that is.
//!
//! Each process tells in its area of the trace what its threads have waited for long
//! ([`WaitsFor`]). Whoever looks at all processes of a job ([`Rank`]) at two moments finds out who
//! cannot be released by anybody any more ([`find`]), and how that is said to the user
//! ([`Finding`]).
//!
//! | file        | what                                                  |
//! |-------------|-------------------------------------------------------|
//! | `waits_for` | what a thread waits for, in bytes                     |
//! | `rank`      | what is seen of a process                             |
//! | `graph`     | who can be released, and who cannot                   |
//! | `cause`     | the culprit, and the cause in one sentence            |
//! | `watch`     | looks at a job again and again                        |
//! | `look`      | a look at a process of this host                      |
//! | `glance`    | a process of this host with what is counted of it     |
//! | `host`      | the jobs of this host                                 |
//! | `report`    | what is wrong, for the user                           |
//! | `words`     | waits and calls in words                              |
//! | `calls`     | entries of the trace in words                         |
//! | `bytes`     | numbers and texts as bytes                            |
//!
//! # What is definite
//!
//! A rank that waits may be released by those that it needs: all of them, or any one of them where
//! it receives from any source. Those that run (they compute, read a file, poll) may do anything.
//! From these on, it is computed who can still be released; a circle alone proves nothing (E. G.
//! Coffman et al., *System Deadlocks*, 1971; the AND–OR model of E. Knapp, *Deadlock detection in
//! distributed databases*, 1987). Who is left waits for ever, unless a message that somebody has
//! sent is still under way: so all have waited without any progress for a while.

#![forbid(unsafe_code)]

mod bytes;
mod calls;
mod cause;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod glance;
mod graph;
mod host;
mod look;
mod rank;
mod report;
mod waits_for;
mod watch;
mod words;

pub use bytes::Malformed;
pub use calls::{call, function_name, functions, trace_lines};
pub use cause::{Finding, Group, find};
pub use glance::{Glance, Usage};
pub use host::{HostJob, Seen, jobs, seen};
pub use look::{look, state_of};
pub use rank::{Rank, State, Thread, note_calls};
pub use waits_for::{Envelope, FRAMES, Member, Need, Sent, WaitsFor, What};
pub use watch::Watch;
pub use words::Names;
