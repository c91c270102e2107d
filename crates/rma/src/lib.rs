//! Row 7: windows, one-sided communication (MPI-5, chapter 12), and partitioned point to point,
//! without their C interface.
//!
//! | module           | what                                                             |
//! |------------------|------------------------------------------------------------------|
//! | `window`         | a window and its targets                                         |
//! | `create`         | making and freeing them                                          |
//! | `tell`           | what members tell each other meanwhile                           |
//! | `attach`, `attached` | memory of dynamic windows                                    |
//! | `plan`           | the checked arguments of a call that makes a window              |
//! | `rows`           | what members tell each other when a window is made               |
//! | `region`         | the memory of a window's members on a node                       |
//! | `regions`        | what is attached, as others see it                               |
//! | `meeting`        | how all members come together                                    |
//! | `query`          | memory that is loaded and stored                                 |
//! | `registry`, `numbers` | windows by their handles                                    |
//! | `hints`          | their hints                                                      |
//! | `access`         | which epochs a process is in                                     |
//! | `epoch`          | what may be called in them                                       |
//! | `active_target`  | fences; post, start, complete, wait                              |
//! | `passive_target` | locks and flushes                                                |
//! | `lost`           | members that have died                                           |
//! | `operation`      | an operation and its buffers                                     |
//! | `operations`     | put, get, accumulate and their relatives, on the path to a target |
//! | `place`          | which path that is, and where in the target's memory it ends     |
//! | `transfer`       | copies                                                           |
//! | `accumulate`     | combining elements, under their lock                             |
//! | `control`        | what the members of a node share besides memory                  |
//! | `partitioned`    | partitioned point to point (chapter 4)                           |
//! | `mailbox`, `letters` | short operations on memory that only the kernel reaches      |
//! | `message`        | targets that carry operations out themselves                     |
//! | `exposed`        | memory that networks reach, and the keys of the others'          |
//! | `remote`         | put and get through them                                         |
//! | `areas`          | what is attached, as networks reach it                           |
//! | `notify`         | operations that notify their target (an extension)               |
//! | `notices`        | the counters of notifications                                    |
//! | `settings`       | the settings of windows                                          |
//! | `sparse`         | what few targets need                                            |
//! | `heap`, `pool`   | memory that neighbours can map                                   |
//!
//! What neighbours can write is reached by atomics and raw copies alone.
//!
//! `crates/rma/README.md` tells how windows and partitioned messages work.

#![allow(
    clippy::arc_with_non_send_sync,
    reason = "objects are shared under the library's lock, which the compiler cannot see"
)]

mod access;
mod accumulate;
mod active_target;
mod areas;
mod attach;
mod attached;
mod control;
mod create;
mod epoch;
mod exposed;
pub mod heap;
mod hints;
mod letters;
mod lost;
mod mailbox;
mod meeting;
mod message;
mod notices;
mod notify;
mod numbers;
mod operation;
mod operations;
pub mod partitioned;
mod passive_target;
mod place;
mod plan;
mod pool;
mod query;
mod region;
mod regions;
pub mod registry;
mod remote;
mod rows;
pub mod settings;
mod sparse;
mod tell;
mod transfer;
mod window;

pub use create::{create, free};
pub use hints::Hints;
pub use message::token::requested;
pub use operation::At;
pub use operations::is_compared;
pub use passive_target::lock_mode;
pub use plan::Plan;
pub use query::Part;
pub use transfer::copy_bytes;
pub use window::{Flavor, Reach, Target, Window};

use catena_core::listing::Listing;

/// What this crate lists.
pub const LISTING: Listing = Listing {
    settings: settings::SETTINGS,
    ..Listing::NOTHING
};
