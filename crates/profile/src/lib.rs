//! Row 1: where the time of a program goes that uses MPI: what `mpirun --profile` counts and tells.
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

#![forbid(unsafe_code)]

mod bytes;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod json;
pub mod layout;
mod page;
mod sheet;
mod sums;
mod table;
mod text;
mod waits;
mod words;

pub use bytes::Malformed;
pub use sheet::{Count, Group, GroupKind, Peer, Sheet, Timed};
pub use sums::Profile;
pub use table::{Name, Reading, is_any, read_tables};
