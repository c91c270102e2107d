//! Row 1: where the time of a program goes that uses MPI: what `mpirun --profile` counts and tells,
//! and what `mpirun --trace` writes.
//!
//! Each thread of a rank counts its calls in memory that the processes of a node share with their
//! launcher (the tool `catena-profiler`). The launcher's process of that node makes a [`Sheet`] of
//! each, with places in the program and times in nanoseconds, which travels to `mpirun`. There all
//! sheets become one [`Profile`], which is told as a text, as JSON and as a page.
//!
//! | file     | what                                                     |
//! |----------|----------------------------------------------------------|
//! | `layout` | where things lie in the memory of a thread               |
//! | `table`  | the side of who reads it                                 |
//! | `sheet`  | what a thread has counted, and as bytes                  |
//! | `bytes`  | numbers and texts as bytes                               |
//! | `sums`   | [`Profile`]: sums over all ranks                         |
//! | `waits`  | which rank has waited for which one                      |
//! | `words`  | numbers as users read them                               |
//! | `text`   | the profile as a text                                    |
//! | `json`   | the profile for programs                                 |
//! | `page`   | the profile as a page of HTML, with a picture            |
//! | `explain` | how messages and collectives went                       |
//! | `plan`   | what settings, the model and a profile say of a job      |
//! | `candidates` | settings that would change most, and what to expect  |
//! | `explain_json` | that for programs                                  |
//! | `record` | what a thread writes of each call, for a trace           |
//! | [`timeline`] | a job in time, as a trace for Perfetto               |

#![forbid(unsafe_code)]

mod bytes;
mod candidates;
mod explain;
mod explain_json;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod json;
pub mod layout;
mod page;
mod plan;
pub mod record;
mod sheet;
mod sums;
mod table;
mod text;
pub mod timeline;
mod waits;
mod words;

/// The variable by which the launcher tells ranks to write each call.
pub const STREAMED: &str = "CATENA_STREAMED";

/// The variable by which the launcher tells ranks to note what the library counts.
pub const EXPLAINED: &str = "CATENA_EXPLAINED";

pub use bytes::Malformed;
pub use candidates::Candidate;
pub use explain::{Explanation, Moment};
pub use plan::{Asked, Given, Plan, Way};
pub use sheet::{Count, Group, GroupKind, Peer, Sheet, Timed};
pub use sums::Profile;
pub use table::{Name, Reading, is_any, is_streamed, read_tables};
