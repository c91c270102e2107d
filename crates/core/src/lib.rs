//! Row 6: communicators, point to point, requests, and calls of collectives: the MPI library
//! without its C interface, above the objects that are mere data.
//!
//! What a thing *is* stands in a file of its own, which knows no process: `comm/communicator`,
//! `comm/communicators`, `coll/state`, `message`, `session_object`, `attached`. What a process
//! *does* with it is a method of that type in the files beside it, which takes the process as an
//! argument. So data files use each other one way, files of calls use data files and `process`, and
//! calls find each other as methods. `Process` itself has methods only for what a process is:
//! progress, waiting, its peers, the way to its parts.
//!
//! | module     | what                                                               |
//! |------------|--------------------------------------------------------------------|
//! | `process`  | the state of the process, the ways into it: read it first          |
//! | `object`   | its tables of handles                                              |
//! | `life`, `init`, `phase`, `session`, `environment` | how it comes up, and who uses it |
//! | `wait`     | how it waits; the work is done in crate `process`                  |
//! | `abroad`   | what ranks that wait long tell those of other nodes                |
//! | `p2p`, `bsend`, `buffer` | messages, and the program's buffers                  |
//! | `memory_at` | memory that is named by its address alone                          |
//! | `request`  | requests: a trait, and a file for each kind                        |
//! | `comm`     | communicators, and how processes agree on new ones                 |
//! | `topology` | grids and graphs                                                   |
//! | `compress` | which messages are compressed, and how exact they have to arrive   |
//! | `coll`     | collectives: checks, choice, boards, schedules                     |
//! | `events`, `variables` | what tools are told, and what they can read             |
//! | `components`, `listing` | what crates above this one do, and what they list     |
//!
//! `crates/core/README.md` tells how requests, communicators and collectives work, and what stands
//! above this crate.

#![allow(
    clippy::arc_with_non_send_sync,
    reason = "objects are shared under the library's lock, which the compiler cannot see"
)]

mod abroad;
mod attached;
pub mod beside;
pub mod bsend;
pub mod buffer;
pub mod check;
pub mod coll;
pub mod comm;
pub mod components;
pub mod compress;
mod environment;
pub mod events;
mod failure;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
pub mod init;
pub mod life;
pub mod listing;
mod loss;
pub mod memory_at;
mod memory_kinds;
mod message;
pub mod needs;
mod object;
pub mod p2p;
pub mod peers;
mod phase;
pub mod process;
mod process_set;
mod reduce_local;
pub mod request;
pub mod session;
mod session_object;
pub mod settings;
pub mod topology;
mod trouble;
pub mod variables;
pub mod wait;
mod window;

/// What a process carries on besides transfers: see [`catena_process::Hook`].
pub mod hooks {
    pub use catena_process::{Alarm, Hook, Hooked};
}

pub use loss::kind_of_death;
pub use memory_kinds::takes_cuda;
pub use object::AnyTime;
pub use process::{Objects, Process, any_time, enter, enter_any, is_locked, look, observe};
pub use reduce_local::reduce_local;
