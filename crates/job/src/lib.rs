//! Row 3: a job, as the launcher's processes tell each other of it. Data and their form on the
//! wire; nothing here starts, asks or waits.
//!
//! | module    | what it has                                                            |
//! |-----------|------------------------------------------------------------------------|
//! | `app`     | [`App`]: one program of the command line                               |
//! | `placement_request`    | [`PlacementRequest`]: how the user wants ranks placed and bound                     |
//! | `plan`    | [`Plan`]: what shall run where                                         |
//! | `new_job` | [`NewJob`]: a job that processes have spawned                          |
//! | [`brief`] | [`Brief`]: what a daemon is told when it starts                        |
//! | `event`   | [`NodeEvent`]: what happens on the nodes, up the tree of hosts         |
//! | `command` | [`NodeCommand`]: what nodes shall do, down the tree                    |
//! | `survey`  | [`Question`]: what all nodes are asked, and how answers are merged      |
//! | `kind`    | [`MessageKind`]: the kinds of frames that these are                    |
//! | `exit`    | [`Exit`] and [`Stage`]: how processes end, and how far they came       |
//! | `error`   | [`UsageError`], [`ProgramError`], and the statuses of the launcher     |
//! | `strings` | strings and variables in messages                                      |
//!
//! Events and commands are frames of `catena_boot::wire`, and a daemon that is of another version
//! is refused by its brief. What comes from another process is not believed: each `decode` refuses
//! numbers of ranks and nodes that the job does not have.
//!
//! # Examples
//!
//! ```
//! use catena_job::{MessageKind, NodeEvent};
//!
//! let event = NodeEvent::Missing { rank: 3 };
//! // Four bytes of length and one of the kind come before the body.
//! let frame = event.encode();
//! let kind = MessageKind::from_byte(frame[4]).unwrap();
//! let (ranks, nodes) = (4, 1);
//! assert_eq!(NodeEvent::decode(kind, &frame[5..], ranks, nodes), Ok(event));
//! // A job of three ranks has none with that number.
//! assert!(NodeEvent::decode(kind, &frame[5..], 3, nodes).is_err());
//! ```

#![forbid(unsafe_code)]

mod app;
pub mod brief;
mod command;
mod error;
mod event;
mod exit;
mod kind;
mod new_job;
mod placement_request;
mod plan;
mod strings;
mod survey;

use std::ffi::OsString;

use catena_settings::{PREFIX, Setting, Value, Var};

pub use app::{App, Inherit};
pub use brief::{Brief, Means};
pub use command::NodeCommand;
pub use error::{NOT_FOUND, NOT_STARTED, ProgramError, USAGE, UsageError};
pub use event::{NodeEvent, WINDOW};
pub use exit::{Exit, Stage};
pub use kind::MessageKind;
pub use new_job::NewJob;
pub use placement_request::{PlacementRequest, Show};
pub use plan::{Plan, app_sets};
pub use strings::{Vars, read_strings, read_vars, write_strings, write_vars};
pub use survey::Question;

/// Most ranks that one command may start.
pub const MAX_RANKS: u32 = 1 << 15;

/// The value of a setting: that of the last of `vars` with its name, else the one that this process
/// finds.
pub fn setting<T: Value>(var: &'static Var<T>, vars: &[(OsString, OsString)]) -> T {
    let name = format!("{PREFIX}{}", var.name());
    let given = vars.iter().rev().find(|(given, _)| *given == *name);
    given
        .and_then(|(_, value)| T::parse(&value.to_string_lossy()).ok())
        .unwrap_or_else(|| var.get())
}
